"""A list of the open browsers and running servers, whose state is printed when a test fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol


class Witness(Protocol):
    def report(self) -> str: ...


_witnesses: list[Witness] = []


def enter(witness: Witness) -> None:
    if witness not in _witnesses:
        _witnesses.append(witness)


def leave(witness: Witness) -> None:
    if witness in _witnesses:
        _witnesses.remove(witness)


def hear() -> Iterator[tuple[str, str]]:
    """(kind, report) of each open browser and running server."""
    for witness in _witnesses:
        yield type(witness).__name__.lower(), witness.report()
