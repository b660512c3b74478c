"""The lesson on patches: its steps, each drawn by the file patches_STEP.py, and what stands in its address."""

from __future__ import annotations

from playground.lessons.settings import Setting, Steps, Written
from playground.lessons.words import patches as said

PATCHES = (8, 14, 16, 20, 32, 48)
_PLACE = r"\d{1,2},\d{1,2}"
TEXT = said.TEXT
STEPS = TEXT.titles
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
    "step": Steps.by(STEPS, **TEXT.settings),
}
