"""A view invented for tests: its record, its words, and one function each for Python and for the browser."""

from playground.figures import bundle
from playground.figures.drawing import maps
from playground.figures.drawing.ways import WAYS, Way

SQUARED = Way(
    "squared", "scores", "brightest", "squared attention", "weight × weight", "the squares of what {who} takes",
    unit="square",
)  # fmt: skip
RECORD = (
    '{"name":"squared","needs":"scores","exposed":"brightest","unit":"square","uses":["ceiling"],"extra":false,\n'
    '"ofHeads":true,"spread":false,"rows":false,"offer":""},\n'
)
WORDS = {  # kind -> words
    "tab": "weight²",
    "hint": "a weight times itself",
    "question": "What is most certain of",
    "end": "?",
    "note": "w²: large weights stand out",
    "sentence": "The largest square stands {within}: {value}.",
}
IN_THE_BROWSER = """export const MADE_OF_WEIGHTS = {
  squared(out, at, weights, count) {
    for (let j = 0; j < count; j++) out[at + j] = weights[at + j] ** 2;
  },
"""


def add_way(monkeypatch) -> None:
    monkeypatch.setitem(WAYS, "squared", SQUARED)
    monkeypatch.setitem(maps.NUMBERS, "squared", lambda asked: maps.weight(asked) ** 2)


def add_way_in_the_browser(monkeypatch) -> None:
    """From now on, bundled scripts contain this view: its record and words, and its function."""
    read_source = bundle._source
    table = read_source("core/waytable.js").replace("\n];", f"\n{RECORD}];", 1)
    for kind, words in WORDS.items():
        table = table.replace(f"\n{kind}:{{\n", f'\n{kind}:{{\n"squared":"{words}",\n', 1)
    changed_sources = {
        "core/waytable.js": table,
        "core/ways.js": read_source("core/ways.js").replace("export const MADE_OF_WEIGHTS = {\n", IN_THE_BROWSER),
    }
    monkeypatch.setattr(bundle, "_source", lambda name: changed_sources.get(name) or read_source(name))
    monkeypatch.setattr(bundle, "bundle", bundle.bundle.__wrapped__)
