"""Checks whether a file in the cache is complete. A damaged file (empty after a full disk, or half written after a
power cut) counts as absent: the app works without the file, and a new download replaces it.

Every start checks each file: a photograph by its digest, and weights, which are large, only by the length that the
header states. `python -m playground doctor` also reads weights completely.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
from functools import lru_cache
from pathlib import Path

from safetensors import SafetensorError, safe_open

from playground.assets import PROGRAM

log = logging.getLogger("playground")


def is_whole(path: Path, digest: str | None = None) -> bool:
    """Whether the file exists and is complete. The file is checked again only after a change."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return False
    is_file = stat.S_ISREG(status.st_mode)
    return is_file and not _damage(path, digest, status.st_ino, status.st_size, status.st_mtime_ns)


@lru_cache(500)
def _damage(path: Path, digest: str | None, inode: int, size: int, changed_at: int) -> str | None:
    """The damage of a file in words; None for a sound file. Cached, so that a damage is logged once."""
    if damage := what_is_wrong(path, digest):
        advice = f"`{PROGRAM} download` fetches it again"
        log.warning("%s is damaged (%s) and counts as absent: %s.", path, damage, advice)
    return damage


def what_is_wrong(path: Path, digest: str | None = None) -> str | None:
    try:
        if path.stat().st_size == 0:
            return "it is empty"
        if path.suffix == ".safetensors":
            with safe_open(path, framework="np"):
                pass  # opening it compares the file's length with its header
        if digest and digest_of(path) != digest:
            return "its SHA-256 is another one"
    except SafetensorError as error:
        return f"it is not what its header says: {error}"
    except OSError as error:
        return f"it can't be read: {error.strerror or error}"
    return None


def digest_of(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
