"""Many random rows: four curves over d_k, with the scale and without."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from playground.analysis import scale as softmax
from playground.analysis.scale import MANY, WIDTHS, Curve
from playground.lessons.questions import Lines, Number, Series
from playground.ui import guess, lesson
from playground.ui.here import Here
from playground.ui.lessons.scale import WITH, WITHOUT
from playground.ui.lessons.scale_row import curve, dials

state = st.session_state
QUANTITIES = {  # name -> title, unit, what a value is called
    "deviation": ("How far apart scores lie", "", "scores lie {:.2f} apart"),
    "entropy": ("Entropy of the row, bits", " bits", "the row has an entropy of {:.2f} bits"),
    "peak": ("Largest of 64 weights", "", "the largest weight is {:.3f}"),
    "gradient": ("Gradient let through to q·k", "", "the derivative by q·k has a norm of {:.2g}"),
}


def guess_gradient() -> None:
    on, off = curve("gradient", 0.5), curve("gradient", 0.0)
    at = WIDTHS.index(64)
    less = next(width for width, a, b in zip(WIDTHS, off.median, on.median, strict=True) if a < b)
    guess.number(
        "scale_gradient",
        f"With 1/√d_k the gradient that comes through falls slowly. **Without** it, at d_k = {WIDTHS[-1]:,}, it is ▢.",
        Number(0.0001, 1, step=0.0001, log=True), float(off.median[-1]),
        f"The two lines cross: at d_k = 64 the median row lets *more* through without the scale, {off.median[at]:.3f} "
        f"against {on.median[at]:.3f}, for the scale itself multiplies the gradient. From d_k = {less} on it is less: "
        "one key has won by chance, and such a row learns next to nothing.",
        prose=f"One row may be an accident: here are {MANY:,} random rows at every d_k, their median. What comes "
        "through is the norm of ∂weights/∂(q·k): what goes back through softmax and scale to queries and keys.",
        tempting=(
            ((0.003, 0.01), "That is what it is *with* the scale."),
            ((0.1, 1), "For few numbers it is so. With many, the softmax gives all to one key, and then it hardly "
             "reacts to anything."),
        ),
        picture=Lines(
            WIDTHS,
            (
                Series("1/√d_k", tuple(on.median.tolist()), WITH),
                Series("no scale", tuple(off.median.tolist()), WITHOUT, shown=4),
            ),
            0.0001, 1, "d_k", at=(1, len(WIDTHS) - 1), title="Gradient let through to q·k, median row", log_x=True,
            log_y=True, x_ticks=(4, 16, 64, 256, 1024),
        ),
    )  # fmt: skip


@st.fragment
def many_rows(here: Here) -> None:
    st.markdown(
        f"One row may be an accident, so here are **{MANY:,} such rows** at every $d_k$. The line is the median, in "
        "the "
        "band lie eight of ten rows, and the diamond is the row whose bars you see."
    )
    dials(here)
    columns = st.columns(4)
    for column, quantity in zip(columns, QUANTITIES, strict=True):
        with column:
            lesson.chart(_curves(quantity, state.dk, state.power, state.row), f"curve_{quantity}", height=260)
    st.caption(
        "Dotted, in the first chart: the theory, $\\sqrt{d_k}$ × scale. For the other three there is no such "
        "formula, but both "
        "ends are known. 64 even weights: 6 bits, 1/64, a gradient of 0.12 × scale. One key that takes all: 0 bits, 1, "
        "no gradient. *Gradient* is the Frobenius norm of ∂weights/∂(q·k): what goes back through softmax and scale to "
        "the queries and keys in training. It is taken by q·k, not by the scaled score, so that both lines compare "
        "alike."
    )

    at, off, on = WIDTHS.index(64), curve("gradient", 0.0), curve("gradient", 0.5)
    less = next(width for width, a, b in zip(WIDTHS, off.median, on.median, strict=True) if a < b)
    lesson.exercise(
        "Turn the scale off, and d_k to the first width at which the median gradient is lower without the scale.",
        f"d_k = {less}. Below it, the median row without the scale lets more through: the scale itself makes every "
        "gradient smaller. Above it, most rows without the scale have one winner, and let next to nothing through.",
        hint="In the fourth chart, where do the two lines cross?",
        done=(state.dk, state.power) == (less, 0.0), id="scale_lower",
    )  # fmt: skip
    lesson.exercise(
        "At d_k = 64 the median row lets *more* gradient through without the scale. Why is the scale there?",
        f"It is so: {off.median[at]:.3f} without the scale, {on.median[at]:.3f} with it, mostly because the scale "
        f"itself multiplies the gradient by 1/8. But look at the lower edge of the band: one row in ten lets less than "
        f"{off.low[at]:.3f} through without the scale, and {on.low[at]:.3f} with it. Such a row, in which one key has "
        f"won by chance, learns slowly. With more numbers it gets worse: from d_k = {less} on the median is lower too, "
        f"and at 1024 it is {off.median[-1]:.4f} against {on.median[-1]:.4f}.",
    )


def _curves(quantity: str, width: int, power: float, row: int) -> go.Figure:
    """With and without the scale, whatever the dial says; the diamond follows the dials."""
    title, _, words = QUANTITIES[quantity]
    figure = go.Figure()
    for power_, name, colour in ((0.0, "no scale", WITHOUT), (0.5, lesson.low("1/√d_k"), WITH)):
        _band(figure, curve(quantity, power_), colour, name, words, quantity == "deviation")
    if quantity == "deviation":
        for power_ in (0.0, 0.5):
            dotted = {"color": "gray", "dash": "dot", "width": 2.5}
            figure.add_scatter(x=WIDTHS, y=softmax.theory(power_), mode="lines", line=dotted, hoverinfo="skip")
    value = softmax.QUANTITIES[quantity](softmax.experiment()[row, WIDTHS.index(width)], softmax.scale_of(width, power))
    figure.add_scatter(
        x=[width], y=[float(value)], mode="markers",
        marker={"symbol": "diamond", "size": 12, "color": "white", "line": {"color": "black", "width": 2}},
        hovertemplate=f"the row of the bars: {words.format(float(value))}<extra></extra>",
    )  # fmt: skip
    figure.update_layout(title={"text": title, "font": {"size": 14}}, showlegend=False)
    ticks = [4, 16, 64, 256, 1024]
    figure.update_xaxes(
        type="log", tickvals=ticks, ticktext=[str(t) for t in ticks], title=lesson.low("d_k"), title_standoff=4
    )
    figure.update_yaxes(**_axis(quantity))
    return figure


def _axis(quantity: str) -> dict:
    if quantity == "deviation":
        return {"type": "log", "tickvals": [0.5, 1, 2, 4, 8, 16, 32], "range": [np.log10(0.4), np.log10(42)]}
    if quantity == "gradient":
        ticks = [0.0001, 0.001, 0.01, 0.1, 1]
        return {"type": "log", "tickvals": ticks, "ticktext": [f"{t:g}" for t in ticks], "range": [-4.4, 0.05]}
    return {"range": [-0.2, 6.2] if quantity == "entropy" else [-0.03, 1.03]}


def _band(figure: go.Figure, curve: Curve, colour: str, name: str, words: str, named: bool) -> None:
    low, high = np.maximum(curve.low, 1e-9), curve.high
    fill = f"rgba({','.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))},0.22)"
    nothing = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    figure.add_scatter(x=WIDTHS, y=high, **nothing)
    figure.add_scatter(x=WIDTHS, y=low, fill="tonexty", fillcolor=fill, **nothing)
    number = words[words.index("{") : words.index("}") + 1]
    said = [
        f"d<sub>k</sub> = {d}, {name}: {words.format(m)}<br>in the median; for eight of ten rows from "
        f"{number.format(a)} "
        f"to {number.format(b)}"
        for d, m, a, b in zip(WIDTHS, curve.median, curve.low, curve.high, strict=True)
    ]
    figure.add_scatter(
        x=WIDTHS, y=np.maximum(curve.median, 1e-9), mode="lines", line={"color": colour, "width": 3},
        text=said, hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip
    if named:
        figure.add_annotation(
            x=np.log10(160), y=np.log10(curve.median[WIDTHS.index(192)] * 1.9), text=name, showarrow=False,
            font={"color": colour, "size": 14}, xanchor="right",
        )  # fmt: skip
