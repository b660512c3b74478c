"""What was measured of the bundled model, beside a filter without a network: read from its card, assets/MODEL.md, which
`python benchmarks/bundled.py --write-card` wrote. README and the lesson *Training* show the same table."""

from __future__ import annotations

import re
from functools import cache

from playground.assets import ASSETS

CARD = ASSETS / "MODEL.md"
FILTER, OURS, LESS = "filter, no network", "`bundled`", "`bundled` − filter"
TOLD, TEACHER = "told where to look", "DINOv2 S"
COLUMNS = (FILTER, OURS, LESS, TOLD, TEACHER)
MARKS = {  # how a line of the card begins, after its dots -> its column
    "of the filter": FILTER, "the head less the filter": LESS, "of told where to look": TOLD,
    "of the model that was told where to look": TOLD, "of DINOv2 S": TEACHER,
}  # fmt: skip
KINDS = {  # how the card begins a measure -> what it is called in the table
    "pairs of parts": "{number} pairs of parts, such as a cat’s eyes: the partner’s share",
    "things before photographs": "things before photographs: their own patches’ share",
    "without the eight neighbours": "… without the eight neighbours",
    "patches away and unlike in colour": "… only those ≥ 3 patches away and unlike in colour",
}


@cache
def rows() -> dict[str, dict[str, str]]:
    """What was measured -> column -> a number with its standard error."""
    found: dict[str, dict[str, str]] = {}
    kind = None
    for line in CARD.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 3 or "±" not in cells[1]:
            continue
        what = re.sub(r"^(… ?)+", "", cells[0])
        if column := next((column for mark, column in MARKS.items() if what.startswith(mark)), None):
            if kind:
                found[kind][column] = cells[1]
        elif begins := next((mark for mark in KINDS if mark in what), None):
            kind = KINDS[begins].format(number=(re.match(r"\d+", what) or [""])[0])
            found[kind] = {OURS: cells[1]}
        elif not cells[0].startswith("…"):
            kind = None
    return found


def table() -> str:
    """As Markdown, the pairs first: they are the main measure."""
    found = rows()
    first = sorted(found, key=lambda kind: "pairs" not in kind)
    lines = [["measured where nothing trained", *COLUMNS], ["---"] * (1 + len(COLUMNS))]
    lines += [[kind, *(found[kind].get(column, "") for column in COLUMNS)] for kind in first]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
