"""One random row under two dials: how many numbers a vector has, and the scale."""

from __future__ import annotations

from functools import cache

import numpy as np
import streamlit as st

from playground.analysis import scale as softmax
from playground.analysis.scale import MANY, ROWS, WIDTHS, Curve
from playground.lessons.questions import Bars, Number
from playground.ui import guess, lesson
from playground.ui.components import component
from playground.ui.here import Here
from playground.ui.lessons.scale import POWERS, SETTINGS
from playground.ui.navigation import write_address

state = st.session_state


def guess_spread() -> None:
    """One row with the scale; what becomes of it without?"""
    at = WIDTHS.index(64)
    peaks = softmax.peak(softmax.softmax(softmax.experiment()[:, at]))  # (rows,) without the scale
    scores = softmax.experiment()[int(np.argsort(peaks)[ROWS // 2]), at]  # of a row in the middle
    scaled, plain = (100 * softmax.softmax(scores * softmax.scale_of(64, power)) for power in (0.5, 0.0))
    median = 100 * float(curve("peak", 0.0).median[at])
    guess.number(
        "scale_spread",
        "One random query among 64 random keys, vectors of 64 numbers, scores ÷ √64. **Without the division**, the "
        "largest weight is ▢.",
        Number(0, 100, " %"), float(plain.max()),
        f"Undivided, the same scores lie 8 times as far apart. In the median of {MANY:,} random rows the largest "
        f"weight "
        f"is {median:.0f} %; an even row would have {100 / 64:.1f} %.",
        tempting=(
            ((float(scaled.max()) - 2, float(scaled.max()) + 3), "That is where it is now. The softmax is not blind to "
             "a common factor, only to a common summand."),
        ),
        picture=Bars(
            tuple(str(n) for n in range(64)), tuple(scaled.tolist()), 100, later=tuple(plain.tolist()),
            title="64 weights of one row, scaled", x="keys", unit=" %",
        ),
    )  # fmt: skip


@st.fragment
def one_row(here: Here) -> None:
    st.markdown("**One random query among 64 random keys.** Turn the dials.")
    dials(here)
    at = WIDTHS.index(64)
    scores = softmax.experiment()[state.row, WIDTHS.index(state.dk)]
    peak = float(softmax.QUANTITIES["peak"](scores, softmax.scale_of(state.dk, state.power)))
    lesson.exercise(
        "Make one key take more than 99 % of the weight.",
        "Many numbers in a vector, and no scale: then the scores lie so far apart that the largest is far ahead. e to "
        "a difference of 5 is already 148.",
        hint="Both dials: more numbers, less scale.",
        done=peak > 0.99, id="scale_one_key",
    )  # fmt: skip
    lesson.exercise(
        "Leave the scale at 1/√d_k and turn d_k from 4 to 1024. Then once more with no scale. What is different?",
        "With 1/√d_k the scores keep a standard deviation of about 1, and the row keeps its shape: a few keys ahead. "
        "Without it, the same turn leads to one single key. At d_k = 64, as in most ViTs, the median row's largest "
        f"weight is {curve('peak', 0.0).median[at]:.0%}; with the scale it is {curve('peak', 0.5).median[at]:.0%}.",
    )


def dials(here: Here) -> None:
    at = softmax.experiment()[state.row]  # (widths, keys)
    data = {
        "widths": WIDTHS, "powers": POWERS, "scores": at.round(4).tolist(), "row": state.row,
        "dk": state.dk, "power": state.power, "view_id": here.view_id,
    }  # fmt: skip
    component("softmax", "lessons/softmaxbars.js", "lessons/softmaxbars.css")(
        key="softmax", data=data, default={"dials": ""}, on_dials_change=_on_dials
    )


def _on_dials() -> None:
    words = str(state.softmax.dials or "").split()
    try:
        dk, power, row = words[0], str(float(words[1])), int(words[2]) % ROWS
    except (IndexError, ValueError):  # a browser may say anything
        return
    state.dk, state.power, state.row = SETTINGS["dk"].read(dk), SETTINGS["power"].read(power), row
    write_address()


@cache
def curve(quantity: str, power: float) -> Curve:
    return softmax.curve(quantity, power)  # of POWERS: there are no more than 21 × 4
