"""Simulates a folder that another process deletes just when it is listed."""

import os
import shutil
from pathlib import Path

import pytest


def vanish(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on, scandir and listdir delete this folder before they list it."""
    for name in ("scandir", "listdir"):
        monkeypatch.setattr(os, name, _deleting(folder, getattr(os, name)))


def _deleting(folder: Path, list_folder):
    def delete_and_list(path="."):
        if isinstance(path, str | os.PathLike) and Path(path) == folder:
            shutil.rmtree(folder, ignore_errors=True)
        return list_folder(path)

    return delete_and_list
