"""A view invented for tests: its record, its words and its function in Python."""

from playground.figures.drawing import maps
from playground.figures.drawing.way_words import ENGLISH
from playground.figures.drawing.ways import WAYS, Way

SQUARED = Way("squared", "scores", "brightest", "square", uses=("ceiling",), extra=False)
WORDS = {
    "squared.title": "squared attention",
    "squared.bar": "weight × weight",
    "squared.caption": "the squares of what {who} takes",
    "squared.tab": "weight²",
    "squared.hint": "a weight times itself",
    "squared.question": "What is most certain of",
    "squared.end": "?",
    "squared.note": "w²: large weights stand out",
    "squared.sentence": "The largest square stands {within}: {value}.",
}


def add_way(monkeypatch) -> None:
    monkeypatch.setitem(WAYS, "squared", SQUARED)
    monkeypatch.setitem(maps.NUMBERS, "squared", lambda asked: maps.weight(asked) ** 2)
    for key, words in WORDS.items():
        monkeypatch.setitem(ENGLISH, key, words)
