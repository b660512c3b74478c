"""How the person for whom the server works right now is told what happens behind their page.

The server knows no pages. `ui/messages.py` sets `find` once, as the app starts; until then, and for work that no page
waits for (a warm-up, a test, a training in the background), nobody is told anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Asker(Protocol):
    def waits(self, before: int) -> None:
        """`before` others have to finish first; 0 ends a wait. Raises when the person has left the page."""

    def hears(self, sentence: str) -> None:
        """Something that they should know, such as: the graphics card is full."""


class Nobody:
    def waits(self, before: int) -> None:
        pass

    def hears(self, sentence: str) -> None:
        pass


find: Callable[[], Asker] = Nobody  # gives the person for whom the calling thread works


def current() -> Asker:
    return find()
