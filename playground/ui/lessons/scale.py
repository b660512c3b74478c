"""The lesson on the scale: one random row under two dials, four curves over many rows, and a real model without it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from playground.analysis import scale as softmax
from playground.analysis.scale import ROWS, WIDTHS, Curve
from playground.names import plain_name
from playground.serving import queue, traces
from playground.serving.cache import MB, Cache
from playground.serving.session import Session
from playground.serving.traces import Wish
from playground.ui import lesson
from playground.ui.components import component
from playground.ui.navigation import Setting, write_address

POWERS = tuple(step / 20 for step in range(20, -1, -1))  # from 1/d_k to no scale, as on the microscope's dial
EACH, WHOLE = "each layer alone", "the whole pass"
SETTINGS = {
    "dk": Setting.of(64, WIDTHS),
    "power": Setting.of(0.5, POWERS),
    "row": Setting.of(0, range(ROWS)),
    "off": Setting.of(EACH, (EACH, WHOLE)),
}
WITH, WITHOUT = "#B63679", "#E8963A"
BELOW = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0.5, "xanchor": "center"}
HAIR = "rgba(128,128,128,0.35)"

IDEA = (
    "A score is q·k: a sum of d_k products, one for each number in the two vectors. The longer the vectors, the "
    "further apart the scores lie, and the softmax, which turns scores into weights, lets *one key take all*. Dividing "
    "by √d_k keeps the scores 1 apart, however long the vectors are."
)
QUANTITIES = {  # name -> title, unit, what a value is called
    "deviation": ("How far apart scores lie", "", "scores lie {:.2f} apart"),
    "entropy": ("Entropy of the row, bits", " bits", "the row has an entropy of {:.2f} bits"),
    "peak": ("Largest of 64 weights", "", "the largest weight is {:.3f}"),
    "gradient": ("Gradient let through", "", "the softmax's derivative has a norm of {:.2g}"),
}

state = st.session_state

# Random rows ----------------------------------------------------------------------------------------------------------


@st.fragment
def random_rows(here: Session) -> None:
    st.markdown("**One random query among 64 random keys.** Turn the dials.")
    at = softmax.experiment()[state.row]  # (widths, keys)
    data = {
        "widths": WIDTHS, "powers": POWERS, "scores": at.round(4).tolist(), "row": state.row,
        "dk": state.dk, "power": state.power, "view_id": here.view_id,
    }  # fmt: skip
    component("softmax", "lessons/softmaxbars.js", "lessons/softmaxbars.css")(
        key="softmax", data=data, default={"dials": ""}, on_dials_change=_on_dials
    )
    st.markdown(
        f"**{ROWS} such rows** at every d_k: the line is the median, in the band lie eight of ten rows, "
        "the diamond is the row above."
    )
    columns = st.columns(4)
    for column, quantity in zip(columns, QUANTITIES, strict=True):
        with column:
            lesson.chart(_curves(quantity, state.dk, state.power, state.row), f"curve_{quantity}", height=260)
    st.caption(
        "Dotted: the theory, √d_k × scale. It speaks of the first chart alone: for the other three there is no such "
        "formula, only the ends (64 even weights: 6 bits, 1/64, a gradient of 0.12; one key takes all: 0 bits, 1, "
        "none). *Gradient* is the Frobenius norm of ∂weights/∂scores, what goes back through the softmax in training."
    )


def exercises() -> None:
    lesson.exercise(
        "Leave the scale at 1/√d_k and turn d_k from 4 to 1024. Then once more with no scale. What is different?",
        "With 1/√d_k the scores stay 1 apart and the row stays what it is: soft, a few keys ahead. Without, the same "
        "turn takes it from soft to one single key. By d_k = 64, the width of a head in most ViTs, the largest weight "
        "has passed 80 % in half of the rows.",
    )
    lesson.exercise(
        "Without the scale the gradient first rises. Why is that no reason to leave the scale out?",
        "A choice between two or three keys moves most when the scores change: that is the hump. But look at the lower "
        "edge of the band: already at d_k = 64 one row in ten lets almost nothing through, and at 1024 half of them. "
        "Such a row can't be taught another choice: whichever key won by chance has won.",
    )


def _on_dials() -> None:
    words = (state.softmax.dials or "").split()
    if len(words) != 3:
        return
    state.dk, state.power = SETTINGS["dk"].read(words[0]), SETTINGS["power"].read(str(float(words[1])))
    state.row = int(words[2]) % ROWS
    write_address()


@cache
def _curve(quantity: str, power: float) -> Curve:
    return softmax.curve(quantity, power)  # of POWERS: there are no more than 21 × 4


def _curves(quantity: str, width: int, power: float, row: int) -> go.Figure:
    """With and without the scale, whatever the dial says; the diamond follows the dials."""
    title, _, words = QUANTITIES[quantity]
    figure = go.Figure()
    for power_, name, colour in ((0.0, "no scale", WITHOUT), (0.5, "1/√d_k", WITH)):
        _band(figure, _curve(quantity, power_), colour, name, words, quantity == "deviation")
    if quantity == "deviation":
        for power_ in (0.0, 0.5):
            dotted = {"color": "gray", "dash": "dot", "width": 2.5}
            figure.add_scatter(x=WIDTHS, y=softmax.theory(power_), mode="lines", line=dotted, hoverinfo="skip")
    value = softmax.QUANTITIES[quantity](
        softmax.experiment()[row, WIDTHS.index(width)] * softmax.scale_of(width, power)
    )
    figure.add_scatter(
        x=[width], y=[float(value)], mode="markers",
        marker={"symbol": "diamond", "size": 12, "color": "white", "line": {"color": "black", "width": 2}},
        hovertemplate=f"the row above: {words.format(float(value))}<extra></extra>",
    )  # fmt: skip
    figure.update_layout(title={"text": title, "font": {"size": 14}}, showlegend=False)
    ticks = [4, 16, 64, 256, 1024]
    figure.update_xaxes(type="log", tickvals=ticks, ticktext=[str(t) for t in ticks], title="d_k", title_standoff=4)
    figure.update_yaxes(**_axis(quantity))
    return figure


def _axis(quantity: str) -> dict:
    if quantity == "deviation":
        return {"type": "log", "tickvals": [0.5, 1, 2, 4, 8, 16, 32], "range": [np.log10(0.4), np.log10(42)]}
    if quantity == "gradient":
        ticks = [0.001, 0.01, 0.1, 1]
        return {"type": "log", "tickvals": ticks, "ticktext": [f"{t:g}" for t in ticks], "range": [-3.6, 0.05]}
    return {"range": [-0.2, 6.2] if quantity == "entropy" else [-0.03, 1.03]}


def _band(figure: go.Figure, curve: Curve, colour: str, name: str, words: str, named: bool) -> None:
    low, high = np.maximum(curve.low, 1e-9), curve.high
    fill = f"rgba({','.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))},0.22)"
    nothing = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    figure.add_scatter(x=WIDTHS, y=high, **nothing)
    figure.add_scatter(x=WIDTHS, y=low, fill="tonexty", fillcolor=fill, **nothing)
    number = words[words.index("{") : words.index("}") + 1]
    said = [
        f"d_k = {d}, {name}: {words.format(m)}<br>in the median; for eight of ten rows from {number.format(a)} "
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


# The real model -------------------------------------------------------------------------------------------------------

_numbers = Cache(8 * MB, size=lambda numbers: sum(array.nbytes for pair in numbers for array in pair) + 1000)


def real_model(here: Session) -> None:
    st.subheader("The same on a real model", anchor=False)
    where = st.empty()
    with where, st.spinner("Running the network with the scale and without …"):
        on = traces.trace(here.picture, here.wish, here.own)
        off = traces.trace(here.picture, replace(here.wish, scale=1.0), here.own)
        alone = _sharpness(here, here.wish, on, 1.0)
        scaled = _sharpness(here, here.wish, on, on.native_scale)
        whole = _sharpness(here, replace(here.wish, scale=1.0), off, 1.0)
    where.empty()
    d = round(on.native_scale**-2)
    st.markdown(
        f"Your picture in **{plain_name(here.wish.model)}**, d_k = {d}: each dot is a head, the mean over its "
        f"patches' rows. **{EACH.capitalize()}** takes the queries and keys of the trained pass and leaves out 1/√{d} "
        f"where they meet; in **{WHOLE}** every layer leaves it out, and later ones get what earlier ones made of it."
    )
    st.segmented_control("Without the scale", (EACH, WHOLE), key="off", required=True)
    without = alone if state.off == EACH else whole
    left, right = st.columns(2)
    with left:
        title = f"Entropy, bits (at most {np.log2(on.tokens):.1f})"
        lesson.chart(_heads(title, scaled[0], without[0], "{:.2f} bits"), "heads_entropy", name="entropy per head")
    with right:
        lesson.chart(_heads("Largest weight", scaled[1], without[1], "{:.3f}"), "heads_peak", name="peak per head")
    _verdicts(here, softmax.verdicts(on, off))


def _sharpness(here: Session, wish: Wish, seen, scale: float) -> tuple[np.ndarray, np.ndarray]:
    def count() -> tuple[np.ndarray, np.ndarray]:
        with queue.turn():
            return softmax.sharpness(seen, scale)

    return _numbers.get((here.picture.id, wish, scale), count)


def _heads(title: str, on: np.ndarray, off: np.ndarray, words: str) -> go.Figure:
    """Layers from left to right, a dot for each head with the scale and one without, tied together."""
    layers, heads = on.shape
    x = np.arange(layers)[:, None] + (np.arange(heads) - (heads - 1) / 2) * 0.7 / heads  # (layers, heads)
    figure = go.Figure()
    gaps = np.full_like(on, np.nan)
    ties = {"x": np.stack([x, x, x], -1).ravel(), "y": np.stack([on, off, gaps], -1).ravel()}
    figure.add_scatter(**ties, mode="lines", line={"color": HAIR, "width": 1}, hoverinfo="skip", showlegend=False)
    for values, name, colour in ((on, "with 1/√d_k", WITH), (off, "without", WITHOUT)):
        said = [
            f"layer {layer}, head {head}<br>with the scale {words.format(on[layer, head])}, "
            f"without {words.format(off[layer, head])}"
            for layer, head in np.ndindex(layers, heads)
        ]
        figure.add_scatter(
            x=x.ravel(), y=values.ravel(), mode="markers", name=name, text=said,
            marker={"color": colour, "size": 8 if heads * layers < 100 else 6}, hovertemplate="%{text}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(title={"text": title, "font": {"size": 14}}, legend=BELOW)
    figure.update_xaxes(title="layer", dtick=1 if layers <= 16 else 4, showgrid=False, range=[-0.6, layers - 0.4])
    figure.update_yaxes(rangemode="tozero")
    return figure


def _verdicts(here: Session, verdicts: list[softmax.Verdict]) -> None:
    st.markdown("**What the whole network then predicts**")
    if not verdicts:
        st.info(
            f"Having no classifier, {plain_name(here.wish.model)} predicts nothing: only its rows change.",
            icon=":material/label_off:",
        )
        return
    figure = go.Figure()
    labels = [v.label for v in verdicts]
    for values, name, colour in (
        ([v.off for v in verdicts], "without, in every layer", WITHOUT),
        ([v.on for v in verdicts], "with 1/√d_k", WITH),
    ):
        figure.add_bar(
            y=labels, x=values, orientation="h", name=name, marker_color=colour, text=[f"{p:.0%}" for p in values],
            textposition="outside", cliponaxis=False, hovertemplate="%{y}: %{text} " + name + "<extra></extra>",
        )  # fmt: skip
    figure.update_layout(barmode="group", bargap=0.25, legend=BELOW | {"traceorder": "reversed"})
    figure.update_xaxes(range=[0, 1.08], tickformat=".0%")
    figure.update_yaxes(autorange="reversed", type="category", ticksuffix="  ")
    lesson.chart(figure, "verdicts", height=120 + 44 * len(labels), name="predictions with and without the scale")
