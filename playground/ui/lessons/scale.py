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
from playground.serving import kept, queue, traces
from playground.serving.session import Session
from playground.serving.traces import Wish
from playground.ui import guess, lesson
from playground.ui.components import component
from playground.ui.navigation import Setting, Steps, write_address

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
BELOW = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0.5, "xanchor": "center"}
HAIR = "rgba(128,128,128,0.35)"

IDEA = (
    "A score is q·k: a sum of d_k products, one for each number in the two vectors. The more numbers they have, the "
    "further apart the scores lie. The softmax, which turns scores into weights, then gives *nearly everything to one "
    "key*. Dividing by √d_k undoes this: if the numbers are independent, with mean 0 and variance 1, the scores have a "
    "standard deviation of 1, whatever d_k is."
)
QUANTITIES = {  # name -> title, unit, what a value is called
    "deviation": ("How far apart scores lie", "", "scores lie {:.2f} apart"),
    "entropy": ("Entropy of the row, bits", " bits", "the row has an entropy of {:.2f} bits"),
    "peak": ("Largest of 64 weights", "", "the largest weight is {:.3f}"),
    "gradient": ("Gradient let through to q·k", "", "the derivative by q·k has a norm of {:.2g}"),
}

state = st.session_state

# Random rows ----------------------------------------------------------------------------------------------------------


def guess_spread() -> bool:
    def truth() -> guess.Truth:
        peak = _curve("peak", 0.0).median[WIDTHS.index(64)]
        return guess.Truth(
            round(100 * float(peak)), f" The median of {ROWS} random rows; an even row would have {1 / 64:.1%}."
        )

    return guess.number(
        "scale_spread", "64 random keys, vectors of 64 numbers, no scale: how large is the largest weight of a row?",
        0, 100, " %", truth,
    )  # fmt: skip


@st.fragment
def one_row(here: Session) -> None:
    st.markdown("**One random query among 64 random keys.** Turn the dials.")
    _dials(here)
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
        f"weight is {_curve('peak', 0.0).median[at]:.0%}; with the scale it is {_curve('peak', 0.5).median[at]:.0%}.",
    )


def _dials(here: Session) -> None:
    at = softmax.experiment()[state.row]  # (widths, keys)
    data = {
        "widths": WIDTHS, "powers": POWERS, "scores": at.round(4).tolist(), "row": state.row,
        "dk": state.dk, "power": state.power, "view_id": here.view_id,
    }  # fmt: skip
    component("softmax", "lessons/softmaxbars.js", "lessons/softmaxbars.css")(
        key="softmax", data=data, default={"dials": ""}, on_dials_change=_on_dials
    )


@st.fragment
def many_rows(here: Session) -> None:
    st.markdown(
        f"One row may be an accident, so here are **{ROWS} such rows** at every d_k. The line is the median, in the "
        "band lie eight of ten rows, and the diamond is the row above."
    )
    _dials(here)
    columns = st.columns(4)
    for column, quantity in zip(columns, QUANTITIES, strict=True):
        with column:
            lesson.chart(_curves(quantity, state.dk, state.power, state.row), f"curve_{quantity}", height=260)
    st.caption(
        "Dotted, in the first chart: the theory, √d_k × scale. For the other three there is no such formula, but both "
        "ends are known. 64 even weights: 6 bits, 1/64, a gradient of 0.12 × scale. One key that takes all: 0 bits, 1, "
        "no gradient. *Gradient* is the Frobenius norm of ∂weights/∂(q·k): what goes back through softmax and scale to "
        "the queries and keys in training. It is taken by q·k, not by the scaled score, so that both lines compare "
        "alike."
    )

    at, off, on = WIDTHS.index(64), _curve("gradient", 0.0), _curve("gradient", 0.5)
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
    value = softmax.QUANTITIES[quantity](softmax.experiment()[row, WIDTHS.index(width)], softmax.scale_of(width, power))
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


def _passes(here: Session):
    """The pass with the model's own scale, and the one that has another scale in every layer."""
    on = traces.trace(here.picture, here.wish, here.own)
    scale = softmax.scale_of(_width(on), state.instead)
    return on, traces.trace(here.picture, replace(here.wish, scale=scale), here.own), scale


def _width(seen) -> int:
    return round(seen.native_scale**-2)


def _instead(d: int) -> None:
    named = {power: words.replace("d_k", str(d)) for power, words in INSTEAD.items()}
    st.segmented_control(f"Instead of 1/√{d}", INSTEAD, key="instead", format_func=named.get, required=True)


def real_model(here: Session) -> None:
    where = st.empty()
    with where, st.spinner("Running the network with the scale and without …"):
        on, off, scale = _passes(here)
        d = _width(on)
        scaled = _sharpness(here, here.wish, on, on.native_scale)
        if state.off == EACH:
            without = _sharpness(here, here.wish, on, scale)
        else:
            without = _sharpness(here, replace(here.wish, scale=scale), off, scale)
    where.empty()
    trained = not on.vit.random_weights
    st.markdown(
        f"Your picture in **{plain_name(here.wish.model)}**, d_k = {d}: each dot is a head, the mean over the rows of "
        f"its patches. **{EACH.capitalize()}** keeps the queries and keys of the pass with 1/√{d} and changes the "
        f"scale where they meet; in **{WHOLE}** every layer uses the other scale, and later layers get what earlier "
        "ones made of it."
    )
    where_to, instead = st.columns(2)
    where_to.segmented_control("Change the scale in", (EACH, WHOLE), key="off", required=True)
    with instead:
        _instead(d)
    columns = st.columns(3)
    charts = (
        (f"Entropy, bits (at most {np.log2(on.tokens):.1f})", "{:.2f} bits", "entropy per head"),
        ("Largest weight", "{:.3f}", "peak per head"),
        ("How far apart scaled scores lie", "{:.2f}", "deviation per head"),
    )
    for i, (column, (title, words, name)) in enumerate(zip(columns, charts, strict=True)):
        with column:
            figure = _heads(title, scaled[i], without[i], words, d, log=i == 2)
            lesson.chart(figure, f"heads_{name.split()[0]}", name=name)
    st.markdown(_apart_words(scaled[2], d, trained))


def _apart_words(apart: np.ndarray, d: int, trained: bool) -> str:
    layer, head = np.unravel_index(apart.argmax(), apart.shape)
    low, high = f"{apart.min():.2g}", f"{apart.max():.2g}"
    if not trained:
        return (
            "Nothing is trained here. The first weights are so small that queries and keys are short: even scaled, the "
            f"scores have standard deviations from {low} to {high}, so every row is nearly even. Leaving out "
            f"1/√{d}, a factor of {d**0.5:.1f}, hardly changes that. Take a larger factor to see it."
        )
    return (
        "The rule “standard deviation 1” is about independent numbers. Training makes queries and keys that depend on "
        f"each other: here the scaled scores have standard deviations from **{low} to {high}** (the largest in layer "
        f"{layer}, head {head}). Training can enlarge the scores of a head; the scale only sets the size that they "
        "start from."
    )


def _sharpness(here: Session, wish: Wish, seen, scale: float) -> tuple[np.ndarray, ...]:
    def count() -> tuple[np.ndarray, ...]:
        with queue.turns() as give_way:
            return softmax.sharpness(seen, scale, give_way)

    return kept.about(here.picture, wish, here.worked, ("sharpness", scale), count)


def _heads(title: str, on: np.ndarray, off: np.ndarray, words: str, d: int, log: bool) -> go.Figure:
    """Layers from left to right, a dot for each head with the scale and one without, tied together."""
    layers, heads = on.shape
    x = np.arange(layers)[:, None] + (np.arange(heads) - (heads - 1) / 2) * 0.7 / heads  # (layers, heads)
    figure = go.Figure()
    gaps = np.full_like(on, np.nan)
    ties = {"x": np.stack([x, x, x], -1).ravel(), "y": np.stack([on, off, gaps], -1).ravel()}
    figure.add_scatter(**ties, mode="lines", line={"color": HAIR, "width": 1}, hoverinfo="skip", showlegend=False)
    changed = "without" if state.instead == 0 else f"with {INSTEAD[state.instead]}".replace("d_k", str(d))
    for values, name, colour in ((on, f"with 1/√{d}", WITH), (off, changed, WITHOUT)):
        said = [
            f"layer {layer}, head {head}<br>with 1/√{d} {words.format(on[layer, head])}, "
            f"{changed} {words.format(off[layer, head])}"
            for layer, head in np.ndindex(layers, heads)
        ]
        figure.add_scatter(
            x=x.ravel(), y=values.ravel(), mode="markers", name=name, text=said,
            marker={"color": colour, "size": 8 if heads * layers < 100 else 6}, hovertemplate="%{text}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(title={"text": title, "font": {"size": 14}}, legend=BELOW)
    figure.update_xaxes(title="layer", dtick=1 if layers <= 16 else 4, showgrid=False, range=[-0.6, layers - 0.4])
    if log:
        figure.update_yaxes(type="log", dtick=1)
        figure.add_hline(y=1, line={"color": "gray", "dash": "dot", "width": 2})
    else:
        figure.update_yaxes(rangemode="tozero")
    return figure


def predictions(here: Session) -> None:
    """What the whole network predicts with the other scale in every layer."""
    where = st.empty()
    with where, st.spinner("Running the network with the scale and without …"):
        on, off, _ = _passes(here)
    where.empty()
    d, verdicts = _width(on), softmax.verdicts(on, off)
    st.markdown(
        f"Every layer of {plain_name(here.wish.model)} uses the other scale, and nothing is trained anew. What becomes "
        "of the answer?"
    )
    _instead(d)
    if not verdicts:
        st.info(
            f"Having no classifier, {plain_name(here.wish.model)} predicts nothing: only its rows change.",
            icon=":material/label_off:",
        )
        return
    figure = go.Figure()
    labels = [v.label for v in verdicts]
    for values, name, colour in (
        ([v.off for v in verdicts], f"with {INSTEAD[state.instead]}, in every layer".replace("d_k", str(d)), WITHOUT),
        ([v.on for v in verdicts], f"with 1/√{d}", WITH),
    ):
        figure.add_bar(
            y=labels, x=values, orientation="h", name=name, marker_color=colour, text=[f"{p:.0%}" for p in values],
            textposition="outside", cliponaxis=False, hovertemplate="%{y}: %{text} " + name + "<extra></extra>",
        )  # fmt: skip
    figure.update_layout(barmode="group", bargap=0.25, legend=BELOW | {"traceorder": "reversed"})
    figure.update_xaxes(range=[0, 1.08], tickformat=".0%", title="probability")
    figure.update_yaxes(autorange="reversed", type="category", ticksuffix="  ")
    lesson.chart(figure, "verdicts", height=120 + 44 * len(labels), name="predictions with and without the scale")
    most = softmax.changed(on, off)[:3]
    said = ", ".join(f"*{v.label}* from {v.on:.0%} to {v.off:.0%}" for v in most)
    st.markdown(f"Most changed, of all classes: {said}.")
