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
from playground.ui.navigation import write_address

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
    st.markdown("**One random query among 64 random keys.** Turn the dials.")
    dials(here)
    scores = softmax.experiment()[state.row, WIDTHS.index(state.dk)]
    peak = float(softmax.QUANTITIES["peak"](scores, softmax.scale_of(state.dk, state.power)))
    lesson.exercises(said.text(measured()).steps["row"], {"scale_one_key": peak > 0.99})


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


def measured() -> said.Measured:
    """The numbers in the page's exercises."""
    at, peaks, gradients = (
        WIDTHS.index(64),
        *({power: curve(quantity, power) for power in (0.5, 0.0)} for quantity in ("peak", "gradient")),
    )
    on, off = gradients[0.5], gradients[0.0]
    return said.Measured(
        peak_on=peaks[0.5].median[at], peak_off=peaks[0.0].median[at], on=on.median[at], off=off.median[at],
        on_low=on.low[at], off_low=off.low[at], on_last=on.median[-1], off_last=off.median[-1],
        less=next(width for width, a, b in zip(WIDTHS, off.median, on.median, strict=True) if a < b),
    )  # fmt: skip
