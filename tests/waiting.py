"""Waits for a state, however busy the machine is."""

import time
from collections.abc import Callable

PATIENCE = 240  # seconds; on a very busy machine a process that imports torch takes minutes to start


def until(condition: Callable[[], object], complaint: str) -> None:
    """Waits until the condition holds; `complaint` is the message if it never does."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"after {PATIENCE} seconds: {complaint}"
        time.sleep(0.01)
