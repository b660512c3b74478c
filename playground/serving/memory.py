"""Gives large blocks of memory back to the operating system as soon as they are free."""

from __future__ import annotations

import ctypes
import platform

LARGE = 8 * 2**20  # bytes: a picture's are larger, nearly all of a forward pass's are smaller and are used again
THRESHOLD = -3  # glibc's M_MMAP_THRESHOLD


def give_back() -> bool:
    """glibc learns from the first large block that is freed to keep such blocks, in each of its arenas, of which there
    are eight to a core. Twenty people's pictures of 4096² left 1.3 GB of free blocks behind so. A fixed threshold stops
    that. False where there is no glibc: others give back by themselves."""
    if platform.libc_ver()[0] != "glibc":
        return False
    return ctypes.CDLL(None).mallopt(THRESHOLD, LARGE) == 1
