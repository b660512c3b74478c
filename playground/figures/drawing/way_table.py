"""Writes the ways to look for the browser: python -m playground.figures.drawing.way_table

The records of playground/figures/drawing/ways.py and their words become playground/microscope/core/waytable.js, which
is committed; a test fails where it is not what Python gives."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from textwrap import wrap

from playground.assets import PACKAGE
from playground.figures.drawing.way_words import TABLES
from playground.figures.drawing.ways import WAYS, Way

TABLE = PACKAGE / "microscope" / "core" / "waytable.js"
DERIVED = ("of_heads", "coloured", "spread", "rows", "offer")
OF_PYTHON = ("whole",)  # the browser asks for `rows`
FIGURES = ("title", "bar", "caption", "made", "unit")  # words that the browser never says


def record(way: Way) -> dict:
    """As the browser has it, in its spelling."""
    names = (*(field.name for field in fields(Way) if field.name not in OF_PYTHON), *DERIVED)
    return {_camel(name): getattr(way, name) for name in names}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def words() -> dict[str, dict[str, str]]:
    return {
        language: {key: text for key, text in table.items() if key.split(".")[1] not in FIGURES}
        for language, table in TABLES.items()
    }


def _short(way: Way) -> str:
    """A record in few bytes: every living figure contains the table."""
    lines = wrap(json.dumps(record(way), separators=(", ", ":")), 118, break_long_words=False)
    return "\n".join(lines).replace(', "', ',"')


def text() -> str:
    records = ",\n".join(map(_short, WAYS.values()))
    said = re.sub(r'": "(?=.{90})', '":\n    "', json.dumps(words(), ensure_ascii=False, indent=2))  # no longer lines
    return (
        "// Written by `python -m playground.figures.drawing.way_table`: change playground/figures/drawing/ways.py.\n\n"
        f"export const WAY_RECORDS = [\n{records},\n];\n\nexport const WAY_WORDS = {said};\n"
    )


if __name__ == "__main__":
    TABLE.write_text(text(), encoding="utf-8")
    print(TABLE)
