"""Writes the ways to look for the browser: python -m playground.figures.drawing.way_table

The records of playground/figures/drawing/ways.py and their words become playground/microscope/core/waytable.js, which
is committed; a test fails where it is not what Python gives."""

from __future__ import annotations

import json
from dataclasses import fields
from textwrap import wrap

from playground.assets import PACKAGE
from playground.figures.drawing.way_words import TABLES
from playground.figures.drawing.ways import WAYS, Way

TABLE = PACKAGE / "microscope" / "core" / "waytable.js"
DERIVED = ("of_heads", "coloured", "spread", "rows", "offer")
OF_PYTHON = ("whole",)  # the browser asks for `rows`
FIGURES = ("title", "bar", "caption", "made", "unit", "figure")  # words that the browser never says


def record(way: Way) -> dict:
    """As the browser has it, in its spelling."""
    names = (*(field.name for field in fields(Way) if field.name not in OF_PYTHON), *DERIVED)
    return {_camel(name): getattr(way, name) for name in names}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def words() -> dict[str, dict[str, dict[str, str]]]:
    """language -> kind -> name, or name.case -> its words: in few bytes, as every living figure contains them."""
    said: dict[str, dict[str, dict[str, str]]] = {}
    for language, table in TABLES.items():
        for key, text in table.items():
            name, kind, *cases = key.split(".")
            if kind not in FIGURES:
                said.setdefault(language, {}).setdefault(kind, {})[".".join([name, *cases])] = text
    return said


def usual() -> dict:
    """What most ways have: a record says only what differs."""
    records = [record(way) for way in WAYS.values()]
    most = {}
    for key in records[0].keys() - {"name"}:
        values = [one[key] for one in records]
        most[key] = max(values, key=values.count)
    return {key: most[key] for key in records[0] if key in most}


def foretold() -> dict[str, dict[str, float]]:
    """model -> what the table of faithfulness says of the maps that the browser shows, by the names of their ways."""
    from playground.analysis.foretold import usual
    from playground.relevance import DEFAULT

    found = {}
    for model, of in usual().items():
        shown = {way.name: of[DEFAULT if "method" in way.uses else way.name] for way in WAYS.values() if way.attributes}
        any_ = next(iter(shown.values()))
        numbers = {name: round(one.correlation, 2) for name, one in shown.items()}
        found[model] = numbers | {"random": round(any_.random, 2), "constant": 0, "pictures": any_.pictures}
    return found


def _short(said: dict) -> str:
    lines = wrap(json.dumps(said, separators=(", ", ":")), 118, break_long_words=False)
    return "\n".join(lines).replace(', "', ',"')


def _line(key: str, text: str) -> str:
    """A text of the table, on lines that are no longer than others."""
    pieces = wrap(text, 100, drop_whitespace=False, break_long_words=False, break_on_hyphens=False) or [""]
    written = " +\n".join(json.dumps(piece, ensure_ascii=False) for piece in pieces)
    return f'"{key}":{written},\n'


def text() -> str:
    most = usual()
    differs = ({key: value for key, value in record(way).items() if value != most.get(key)} for way in WAYS.values())
    records = ",\n".join(map(_short, differs))
    kinds = (
        f'"{language}":{{\n'
        + "".join(f"{kind}:{{\n{''.join(map(_line, said, said.values()))}}},\n" for kind, said in table.items())
        + "},\n"
        for language, table in words().items()
    )
    return (
        "// Written by `python -m playground.figures.drawing.way_table`: change playground/figures/drawing/ways.py.\n\n"
        f"export const WAY_USUAL =\n{_short(most)};\n\nexport const WAY_RECORDS = [\n{records},\n];\n\n"
        f"export const FORETOLD =\n{_short(foretold())};\n\n"
        f"export const WAY_WORDS = {{\n{''.join(kinds)}}};\n"
    )


if __name__ == "__main__":
    TABLE.write_text(text(), encoding="utf-8")
    print(TABLE)
