"""Waits for a state, however busy the machine is."""

import time
from collections.abc import Callable

PATIENCE = 240  # seconds; on a very busy machine a process that imports torch takes minutes to start


def until(condition: Callable[[], object], what: str) -> None:
    """`what` is the sentence of the failure, if it never comes."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"after {PATIENCE} seconds: {what}"
        time.sleep(0.01)
