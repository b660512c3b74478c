"""One random row under two dials: how many numbers a vector has, and the scale."""

from __future__ import annotations

from functools import cache

import numpy as np
import streamlit as st

from playground.analysis import scale as softmax
from playground.analysis.scale import MANY, ROWS, WIDTHS, Curve
from playground.lessons.words import scale as said
from playground.ui import guess, lesson
from playground.ui.components import component
from playground.ui.here import Here
from playground.ui.lessons.scale import POWERS, SETTINGS
from playground.ui.navigation import tell_settings

state = st.session_state


def guess_spread() -> None:
    """One row with the scale; what becomes of it without?"""
    at = WIDTHS.index(64)
    peaks = softmax.peak(softmax.softmax(softmax.experiment()[:, at]))  # (rows,) without the scale
    scores = softmax.experiment()[int(np.argsort(peaks)[ROWS // 2]), at]  # of a row in the middle
    scaled, plain = (100 * softmax.softmax(scores * softmax.scale_of(64, power)) for power in (0.5, 0.0))
    median = 100 * float(curve("peak", 0.0).median[at])
    guess.ask(said.spread(scaled.tolist(), plain.tolist(), median, MANY))


@st.fragment
def one_row(here: Here) -> None:
    lesson.say(said.TEXT.steps["row"].prose)
    dials(here)
    scores = softmax.experiment()[state.row, WIDTHS.index(state.dk)]
    peak = float(softmax.QUANTITIES["peak"](scores, softmax.scale_of(state.dk, state.power)))
    tempting = "few" if state.power == 0 else "scaled" if state.dk == WIDTHS[-1] and state.power >= 0.5 else False
    lesson.exercises(said.TEXT.steps["row"], {"scale_one_key": peak > 0.99 or tempting}, **measured())


def dials(here: Here) -> None:
    at = softmax.experiment()[state.row]  # (widths, keys)
    data = {
        "widths": WIDTHS, "powers": POWERS, "scores": at.round(4).tolist(), "row": state.row,
        "dk": state.dk, "power": state.power, "view_id": here.view_id,
    }  # fmt: skip
    component("softmax", "lessons/softmaxbars.js", "lessons/softmaxbars.css")(
        key="softmax", data=data, default={"dials": ""}, on_dials_change=_on_dials
    )
    tell_settings("softmax")


def _on_dials() -> None:
    words = str(state.softmax.dials or "").split()
    try:
        dk, power, row = words[0], str(float(words[1])), int(words[2]) % ROWS
    except (IndexError, ValueError):  # a browser may say anything
        return
    state.dk, state.power, state.row = SETTINGS["dk"].read(dk), SETTINGS["power"].read(power), row


@cache
def curve(quantity: str, power: float) -> Curve:
    return softmax.curve(quantity, power)  # of POWERS: there are no more than 21 × 4


def measured() -> dict[str, float]:
    """Of many random rows: at d_k = 64, with the scale (on) and without (off), the median row's largest weight and
    gradient, and the gradient of one row in ten (low); at the largest d_k (last); and the first d_k at which the median
    gradient is lower without the scale (less)."""
    at = WIDTHS.index(64)
    (off_peak, on_peak), (off, on) = ([curve(what, power) for power in (0.0, 0.5)] for what in ("peak", "gradient"))
    return {
        "peak_on": on_peak.median[at], "peak_off": off_peak.median[at], "on": on.median[at], "off": off.median[at],
        "on_low": on.low[at], "off_low": off.low[at], "on_last": on.median[-1], "off_last": off.median[-1],
        "less": next(width for width, a, b in zip(WIDTHS, off.median, on.median, strict=True) if a < b),
    }  # fmt: skip
