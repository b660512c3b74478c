"""A made file put on the disk."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from playground.errors import PlaygroundError


def keep(path: Path, data: bytes) -> Path:
    """Writes the file, and makes its folder where there is none. A run that is stopped leaves no half of a file."""
    part = path.with_name(f".playground-{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        raise PlaygroundError(f"{path} can't be written: {error.strerror or error}.") from None
    finally:
        with suppress(OSError):
            part.unlink()  # where it was not renamed
    return path
