"""Checks whether a file in the cache is complete. A damaged file (empty after a full disk, or half written after a
power cut) counts as absent: the app works without the file, and a new download replaces it.

Every start checks each file: a photograph by its digest, and weights, which are large, only by the length that the
header states. `python -m playground doctor` also reads weights completely.
"""

from __future__ import annotations

import json
import logging
import os
import stat
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from playground.assets import PROGRAM

LONGEST_HEADER = 4 * 2**20  # bytes of a safetensors file's header

log = logging.getLogger("playground")


def is_whole(path: Path, digest: str | None = None) -> bool:
    """Whether the file exists and is complete. The file is checked again only after a change."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return False
    if not stat.S_ISREG(status.st_mode):
        return False
    damage = _damage(path, digest, status.st_ino, status.st_size, status.st_mtime_ns)
    return damage is None


@lru_cache(500)
def _damage(path: Path, digest: str | None, inode: int, size: int, changed_at: int) -> str | None:
    """The damage of a file in words; None for a sound file. Cached, so that a damage is logged once."""
    damage = what_is_wrong(path, digest)
    if damage:
        log.warning(
            "%s is damaged (%s) and counts as absent: `%s doctor --repair` fetches it again.",
            path, damage, PROGRAM,
        )  # fmt: skip
    return damage


def what_is_wrong(path: Path, digest: str | None = None) -> str | None:
    try:
        size = path.stat().st_size
        if size == 0:
            return "it is empty"
        if path.suffix == ".safetensors" and (stated_length := length_of_weights(path)) != size:
            return f"it has {size:,} bytes" + (
                f" of {stated_length:,}" if stated_length else ", and no header that can be read"
            )
        if digest and digest_of(path) != digest:
            return "its SHA-256 is another one"
    except OSError as error:
        return f"it can't be read: {error.strerror or error}"
    return None


def length_of_weights(path: Path) -> int | None:
    """The length that a safetensors file should have by its header; None if the header can't be read."""
    try:
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > LONGEST_HEADER:
                return None
            header = json.loads(file.read(length))
        data_ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
        return 8 + length + max(data_ends, default=0)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return None


def digest_of(path: Path) -> str:
    digest = sha256()
    with open(path, "rb") as file:
        while chunk := file.read(2**20):
            digest.update(chunk)
    return digest.hexdigest()
