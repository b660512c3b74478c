"""A view invented for tests: its record, its words, and one function each for Python and for the browser."""

from playground.figures import bundle
from playground.figures.drawing import maps, ways
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
IN_THE_BROWSER = """export const MADE_OF_WEIGHTS = {
  squared(out, at, weights, count) {
    for (let j = 0; j < count; j++) out[at + j] = weights[at + j] ** 2;
  },
"""


def add_way(monkeypatch) -> None:
    monkeypatch.setitem(WAYS, "squared", SQUARED)
    monkeypatch.setitem(maps.NUMBERS, "squared", lambda asked: maps.weight(asked) ** 2)
    for key, words in WORDS.items():
        monkeypatch.setitem(ENGLISH, key, words)


def add_way_in_the_browser(monkeypatch) -> None:
    """From now on, bundled scripts contain this view: its record, in the table that Python writes, and its function."""
    read_source = bundle._source
    changed_sources = {
        "core/waytable.js": ways.text(),
        "core/ways.js": read_source("core/ways.js").replace("export const MADE_OF_WEIGHTS = {\n", IN_THE_BROWSER),
    }
    monkeypatch.setattr(bundle, "_source", lambda name: changed_sources.get(name) or read_source(name))
    monkeypatch.setattr(bundle, "bundle", bundle.bundle.__wrapped__)
