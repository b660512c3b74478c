"""Many random rows: four curves over d_k, with the scale and without."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from playground.analysis import scale as softmax
from playground.analysis.scale import MANY, WIDTHS, Curve
from playground.lessons.colours import CHANGED, WEIGHTS
from playground.lessons.words import scale as said
from playground.ui import guess, lesson
from playground.ui.here import Here
from playground.ui.lessons.scale_row import curve, dials, measured

state = st.session_state
STEP = said.TEXT.steps["rows"]
QUANTITIES = {  # name -> title, unit, what a value is called
    "deviation": ("How far apart scores lie", "", "scores lie {:.2f} apart"),
    "entropy": ("Entropy of the row, bits", " bits", "the row has an entropy of {:.2f} bits"),
    "peak": ("Largest of 64 weights", "", "the largest weight is {:.3f}"),
    "gradient": ("Gradient let through to q·k", "", "the derivative by q·k has a norm of {:.2g}"),
}


def guess_gradient() -> None:
    on, off = (curve("gradient", power).median.tolist() for power in (0.5, 0.0))
    guess.ask(said.gradient(WIDTHS, on, off, MANY))


@st.fragment
def many_rows(here: Here) -> None:
    lesson.say(STEP.prose, many=MANY)
    dials(here)
    columns = st.columns(4)
    for column, quantity in zip(columns, QUANTITIES, strict=True):
        with column:
            lesson.chart(_curves(quantity, state.dk, state.power, state.row), f"curve_{quantity}", height=260)
    st.caption(lesson.mathematics(STEP.said["curves"]))
    numbers = measured()
    done: bool | str = state.power == 0
    if done and state.dk != numbers["less"]:
        done = "later" if state.dk > numbers["less"] else "higher"
    lesson.exercises(STEP, {"scale_lower": done}, **numbers)


def _curves(quantity: str, width: int, power: float, row: int) -> go.Figure:
    """With and without the scale, whatever the dial says; the diamond follows the dials."""
    title, _, words = QUANTITIES[quantity]
    figure = go.Figure()
    for power_, name, colour in ((0.0, "no scale", CHANGED), (0.5, lesson.low("1/√d_k"), WEIGHTS)):
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
