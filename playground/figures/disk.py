"""A made file put on the disk."""

from __future__ import annotations

from pathlib import Path

from playground.errors import PlaygroundError


def keep(path: Path, data: bytes) -> Path:
    """Writes the file, and makes its folder where there is none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise PlaygroundError(f"{path} can't be written: {error.strerror or error}.") from None
    return path
