"""The lesson on the scale: its steps, each drawn by the file scale_STEP.py, and what stands in its address."""

from __future__ import annotations

from playground.analysis.scale import ROWS, WIDTHS
from playground.lessons.words.scale import TEXT
from playground.ui.navigation import Setting, Steps

POWERS = tuple(step / 20 for step in range(20, -1, -1))  # from 1/d_k to no scale, as on the microscope's dial
EACH, WHOLE = "each layer alone", "the whole pass"
INSTEAD = {0.0: "1, no scale", -0.5: "√d_k", -1.0: "d_k"}  # 1/d_k^power of a real model
STEPS = TEXT.titles
SETTINGS = {
    "dk": Setting.of(64, WIDTHS),
    "power": Setting.of(0.5, POWERS),
    "row": Setting.of(0, range(ROWS)),
    "off": Setting.of(EACH, (EACH, WHOLE)),
    "instead": Setting.of(0.0, INSTEAD),
    "step": Steps.by(STEPS, **TEXT.settings),
}
