"""The ways to look, that is, what a map can show of each patch. Each is one record, which Python and the browser read.

To add a way, add its record here, its words in way_words.py, the function that computes its numbers in maps.py, and
the browser's function in microscope/core/ways.js (of heads) or lens/features.js (of features); then
`python -m playground.figures.drawing.ways` writes the table for the browser. Colours, legend, captions, notes, menu,
options and files follow from the record."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from textwrap import wrap

from playground.assets import PACKAGE
from playground.figures.drawing.way_words import WORDS_BY_LANGUAGE, words


@dataclass(frozen=True)
class Way:
    name: str  # the name in an address, on the command line and in a file of numbers
    needs: str  # what the numbers are made of: "scores" of queries and keys, "features" after a layer, "flows" through
    #             all layers, or the "network" with its weights
    exposed: str  # which value is drawn brightest: "brightest": a high quantile, as in a photograph; "largest": the
    #               largest value; "spread": the same, and the smallest is darkest; "colours": each patch has a colour
    unit: str = ""  # "share" is written in %
    unit_of_label: str = ""  # the unit where a label is explained, if it differs
    asks_a_patch: bool = True  # False: the map is the same for all queries
    through_layers: bool = False  # whether the map is about the whole network, not about one layer
    whole: bool = False  # whether the numbers of patches and prefix tokens add up to a whole
    raw: bool = False  # whether numbers are from before the softmax: a column then needs no other rows
    explains: str = ""  # what a map explains. "patch": a patch's feature, or the label if one is chosen; "label": the
    #                     chosen or the likeliest label; "text": a text that somebody types
    attributes: bool = False  # whether a map claims to show what matters: figures then say how far to trust it
    resembles: bool = False  # whether the numbers are similarities to the query, also across pictures
    uses: tuple[str, ...] = ()  # options of a figure that only some ways use
    sentence: str = "most"  # how the browser's sentence is made: see FORMS in microscope/core/sentence.js
    extra: bool = True  # whether the menu lists this way to look only under “more”
    pack: str = ""  # the section of a pack (playground/pack) that holds the numbers

    @property
    def of_heads(self) -> bool:
        return self.needs == "scores"

    @property
    def coloured(self) -> bool:
        """Whether each patch has a colour instead of a number on a scale."""
        return self.exposed == "colours"

    @property
    def spread(self) -> bool:
        """Whether colours go from the smallest number to the largest, because the numbers are not shares of a whole."""
        return self.exposed == "spread"

    @property
    def rows(self) -> bool:
        """Whether the way's rows are weights that sum to 1, and so have an entropy."""
        return self.of_heads and self.whole

    @property
    def offer(self) -> str:
        """What the browser's source of numbers must be able to compute for this way; "": nothing."""
        return {"scores": "", "flows": "rollout", "network": self.name}.get(self.needs, self.needs)

    def words(self, kind: str, *cases: str) -> str:
        """The way's words of this kind, for the first of `cases` that has its own: words("caption", "column")."""
        return words(self.name, kind, *cases)


WAYS = {
    way.name: way
    for way in (  # in the order of the menu
        Way("weight", "scores", "brightest", "share", whole=True, uses=("ceiling",), sentence="looks", extra=False),
        Way(
            "value", "scores", "brightest", "length",
            uses=("ceiling",), sentence="arrives", extra=False, pack="value_norms",
        ),
        Way("similarity", "features", "spread", "cosine", resembles=True, sentence="resembles", extra=False),
        Way("components", "features", "colours", asks_a_patch=False, sentence="coloured", extra=False),
        Way("parts", "features", "colours", asks_a_patch=False, sentence="parts"),
        Way("score", "scores", "spread", raw=True, sentence="best"),
        Way("norm", "features", "spread", "length", asks_a_patch=False, uses=("typical",)),
        Way(
            "rollout", "flows", "largest", "share",
            through_layers=True, whole=True, attributes=True, sentence="flows",
        ),
        Way(
            "relevance", "network", "largest", "share", through_layers=True, whole=True,
            explains="patch", attributes=True, uses=("label", "method", "signed"), sentence="moves",
        ),
        Way(
            "occlusion", "network", "largest", "share", "logits", through_layers=True,
            explains="patch", uses=("label", "blank"), sentence="blanked",
        ),
        Way(
            "text", "network", "spread", "cosine",
            asks_a_patch=False, explains="text", uses=("text",), extra=False,
        ),
        Way("label", "network", "largest", "share", asks_a_patch=False, explains="label", uses=("label",)),
    )
}  # fmt: skip
FIRST_WAY = next(iter(WAYS))  # the default way to look


# The table for the browser: the records and their words become microscope/core/waytable.js, which is committed. A test
# fails if that file differs from what this module writes.

BROWSER_TABLE = PACKAGE / "microscope" / "core" / "waytable.js"
DERIVED_PROPERTIES = ("of_heads", "coloured", "spread", "rows", "offer")
PYTHON_FIELDS = ("whole",)  # fields that the browser does not read: it reads `rows`
FIGURE_KINDS = ("title", "bar", "caption", "made", "unit", "figure")  # kinds of words that the browser does not use


def record(way: Way) -> dict:
    """The way's record for the browser, with its names in camelCase."""
    names = (*(field.name for field in fields(Way) if field.name not in PYTHON_FIELDS), *DERIVED_PROPERTIES)
    return {_camel(name): getattr(way, name) for name in names}


def _camel(name: str) -> str:
    first_word, *other_words = name.split("_")
    return first_word + "".join(map(str.capitalize, other_words))


def browser_words() -> dict[str, dict[str, dict[str, str]]]:
    """{language: {kind: {name or name.case: words}}}. Nested to save bytes, since every living figure contains it."""
    words_by_language: dict[str, dict[str, dict[str, str]]] = {}
    for language, table in WORDS_BY_LANGUAGE.items():
        for key, text in table.items():
            name, kind, *cases = key.split(".")
            if kind not in FIGURE_KINDS:
                words_by_language.setdefault(language, {}).setdefault(kind, {})[".".join([name, *cases])] = text
    return words_by_language


def most_frequent_values() -> dict:
    """The most frequent value of each field: the table writes only fields that differ from it."""
    records = [record(way) for way in WAYS.values()]
    usual_values = {}
    for key in records[0].keys() - {"name"}:
        values = [entry[key] for entry in records]
        usual_values[key] = max(values, key=values.count)
    return {key: usual_values[key] for key in records[0] if key in usual_values}


def correlations_by_model() -> dict[str, dict[str, float]]:
    """{model: {way to look: its maps' rank correlation with blanking}}, with that of random and of constant maps."""
    from playground.analysis.faithfulness import foretold_table
    from playground.relevance import DEFAULT_METHOD

    rows = {}
    for model, scores_by_map in foretold_table().items():
        ways = [way for way in WAYS.values() if way.attributes]
        scores = {way.name: scores_by_map[DEFAULT_METHOD if "method" in way.uses else way.name] for way in ways}
        some_score = next(iter(scores.values()))
        numbers = {name: round(score.correlation, 2) for name, score in scores.items()}
        rows[model] = numbers | {"random": round(some_score.random, 2), "constant": 0, "pictures": some_score.pictures}
    return rows


def _json(entry: dict) -> str:
    lines = wrap(json.dumps(entry, separators=(", ", ":")), 118, break_long_words=False)
    return "\n".join(lines).replace(', "', ',"')


def _line(key: str, text: str) -> str:
    """A text of the table, broken into short lines."""
    pieces = wrap(text, 100, drop_whitespace=False, break_long_words=False, break_on_hyphens=False) or [""]
    literals = " +\n".join(json.dumps(piece, ensure_ascii=False) for piece in pieces)
    return f'"{key}":{literals},\n'


def text() -> str:
    usual_values = most_frequent_values()
    differing_fields = (
        {key: value for key, value in record(way).items() if value != usual_values.get(key)} for way in WAYS.values()
    )
    records = ",\n".join(map(_json, differing_fields))
    word_tables = (
        f'"{language}":{{\n'
        + "".join(
            f"{kind}:{{\n{''.join(map(_line, words_by_key, words_by_key.values()))}}},\n"
            for kind, words_by_key in table.items()
        )
        + "},\n"
        for language, table in browser_words().items()
    )
    return (
        "// Written by `python -m playground.figures.drawing.ways`: change playground/figures/drawing/ways.py.\n\n"
        f"export const WAY_USUAL =\n{_json(usual_values)};\n\nexport const WAY_RECORDS = [\n{records},\n];\n\n"
        f"export const FORETOLD =\n{_json(correlations_by_model())};\n\n"
        f"export const WAY_WORDS = {{\n{''.join(word_tables)}}};\n"
    )


if __name__ == "__main__":
    BROWSER_TABLE.write_text(text(), encoding="utf-8")
    print(BROWSER_TABLE)
