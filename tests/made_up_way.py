"""A view invented for tests: its record and its function in Python."""

from playground.figures.drawing import maps
from playground.figures.drawing.ways import WAYS, Way

SQUARED = Way(
    "squared", "scores", "brightest", "squared attention", "weight × weight", "the squares of what {who} takes",
    unit="square",
)  # fmt: skip


def add_way(monkeypatch) -> None:
    monkeypatch.setitem(WAYS, "squared", SQUARED)
    monkeypatch.setitem(maps.NUMBERS, "squared", lambda asked: maps.weight(asked) ** 2)
