"""Gives memory back to the operating system, or to the next person, as soon as it is free; and looks for garbage where
there may be some."""

from __future__ import annotations

import ctypes
import gc
import platform

THRESHOLD, LARGE = -3, 8 * 2**20  # glibc's M_MMAP_THRESHOLD; a picture is larger, most of a forward pass is smaller
LOOKS = (10_000, 10, 25)  # new objects until Python looks for garbage among them, and how many looks until a wider one
ARENA_MAX, ARENAS = -8, 2  # M_ARENA_MAX


def give_back() -> bool:
    """glibc learns from the first large block that is freed to keep such blocks, and what a thread frees stays in one
    of eight arenas to a core, for threads of the same one. Twenty people's pictures of 4096² left 1.3 GB of free blocks
    behind so. A fixed threshold and few arenas stop that: what computes stands in one queue, so that nobody waits for
    an arena. False where there is no glibc: others give back by themselves."""
    if platform.libc_ver()[0] != "glibc":
        return False
    libc = ctypes.CDLL(None)
    return libc.mallopt(THRESHOLD, LARGE) == 1 and libc.mallopt(ARENA_MAX, ARENAS) == 1


def trim() -> None:
    """Gives back what lies free between blocks in use: after a class has left, some 50 to 100 MB."""
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)


def settle() -> None:
    """Python no longer looks for garbage among the objects that exist now: torch and Streamlit have hundreds of
    thousands. Each look at them stopped the server for 0.27 s, every five seconds while many people came and went."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*LOOKS)
