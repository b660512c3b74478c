"""A folder that another process deletes at the moment in which it is looked into."""

import os
import shutil
from pathlib import Path

import pytest


def vanish(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the folder is deleted as soon as somebody lists what is in it."""
    for name in ("scandir", "listdir"):
        monkeypatch.setattr(os, name, _deleting(folder, getattr(os, name)))


def _deleting(folder: Path, listing):
    def listed(path="."):
        if isinstance(path, str | os.PathLike) and Path(path) == folder:
            shutil.rmtree(folder, ignore_errors=True)
        return listing(path)

    return listed
