"""The lesson on the scale: its steps, each drawn by the file scale_STEP.py, and what stands in its address."""

from __future__ import annotations

from playground.analysis.scale import ROWS, WIDTHS
from playground.ui.navigation import Setting, Steps

POWERS = tuple(step / 20 for step in range(20, -1, -1))  # from 1/d_k to no scale, as on the microscope's dial
EACH, WHOLE = "each layer alone", "the whole pass"
INSTEAD = {0.0: "1, no scale", -0.5: "√d_k", -1.0: "d_k"}  # 1/d_k^power of a real model
STEPS = {
    "row": "1 · One random row",
    "rows": "2 · Many rows",
    "model": "3 · A real model",
    "answer": "4 · What it then predicts",
}
SETTINGS = {
    "dk": Setting.of(64, WIDTHS),
    "power": Setting.of(0.5, POWERS),
    "row": Setting.of(0, range(ROWS)),
    "off": Setting.of(EACH, (EACH, WHOLE)),
    "instead": Setting.of(0.0, INSTEAD),
    "step": Steps.by(STEPS, row=("dk", "power", "row"), model=("off", "instead")),
}
WITH, WITHOUT = "#B63679", "#E8963A"

IDEA = (
    "A score q·k is a sum of d_k products. The more there are, the further apart scores lie, and the softmax gives "
    "*nearly everything to one key*. Divided by √d_k, scores of independent numbers (mean 0, variance 1) have a "
    "standard deviation of 1."
)
