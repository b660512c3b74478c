"""The lesson on patches: its steps, each drawn by the file patches_STEP.py, and what stands in its address."""

from __future__ import annotations

from playground.ui.lessons.drawings import Written
from playground.ui.navigation import Setting, Steps

PATCHES = (8, 14, 16, 20, 32, 48)
_PLACE = r"\d{1,2},\d{1,2}"
STEPS = {
    "cut": "1 · The picture falls apart",
    "filters": "2 · What the matrix looks for",
    "extra": "3 · Tokens that are no patches",
    "positions": "4 · Where a patch lies",
    "shuffle": "5 · Without positions",
}
SETTINGS = {
    "patch": Setting.of(16, PATCHES),
    "at": Written("", pattern=_PLACE),
    "number": Setting.of(0, range(2048)),
    "pictures": Setting.of("filters", ("filters", "components")),
    "filter": Setting.of(0, range(200)),
    "table": Setting.of("learned", ("learned", "sinusoidal", "rotary")),
    "place": Written("", pattern=_PLACE),
    "positions": Setting.of("off", ("off", "on")),
    "order": Setting.of(1, range(1, 100)),
    "after": Setting.of(1, range(64)),
    "asker": Written("", pattern=_PLACE),
    "step": Steps.by(
        STEPS, cut=("patch", "at", "number"), filters=("pictures", "filter"), positions=("table", "place"),
        shuffle=("positions", "order", "after", "asker"),
    ),
}  # fmt: skip
