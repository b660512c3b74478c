"""A made file put on the disk."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from playground.errors import PlaygroundError


def keep(path: Path, data: bytes) -> Path:
    """Writes the file. A run that is stopped leaves no half of a file."""
    if not path.parent.exists():
        raise PlaygroundError(f"{path} can't be written: there is no folder {path.parent}.")
    part = path.with_name(f".playground-{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        raise PlaygroundError(f"{path} can't be written: {error.strerror or error}.") from None
    finally:
        with suppress(OSError):
            part.unlink()  # where it was not renamed
    return path
