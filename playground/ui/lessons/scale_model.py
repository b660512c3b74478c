"""What its rows become when the scale is changed: each head by its numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from playground.analysis import scale as softmax
from playground.lessons.questions import Lines, Number, Series
from playground.models.names import plain_name
from playground.serving import lesson_results, queue
from playground.serving.traces import Wish
from playground.ui import guess, lesson
from playground.ui.here import Here
from playground.ui.lessons import scale_start
from playground.ui.lessons.scale import EACH, INSTEAD, WHOLE, WITH, WITHOUT
from playground.ui.lessons.scale_passes import BELOW, choose_instead, passes, width

state = st.session_state
HAIR = "rgba(128,128,128,0.35)"


def real_model(here: Here) -> None:
    where = st.empty()
    with where, st.spinner("Running the network with the scale and without …"):
        on, off, scale = passes(here)
        d = width(on)
        scaled = _sharpness(here, here.wish, on, on.native_scale)
        if state.off == EACH:
            without = _sharpness(here, here.wish, on, scale)
        else:
            without = _sharpness(here, replace(here.wish, scale=scale), off, scale)
    where.empty()
    trained = not on.vit.random_weights
    _guess(here, scaled[2], d, trained)
    with guess.after("scale_trained"):
        _compared(here, on, scaled, without, d, trained)


def _guess(here: Here, apart: np.ndarray, d: int, trained: bool) -> None:
    """How far apart the scaled scores of each layer's widest head lie."""
    widest, layers = apart.max(axis=1), len(apart)
    high = 1.25 * float(widest.max())
    guess.number(
        "scale_trained",
        f"In layer 0 the scaled scores of the widest head lie {widest[0]:.2g} apart. In the last layer it is ▢.",
        Number(0, round(high, 1), step=0.1), float(widest[-1]),
        _apart_words(apart, d, trained), (here.picture.id, here.wish),
        prose=f"Divided by √{d}, scores of *independent* numbers have a standard deviation of 1 (dashed). And those of "
        f"{plain_name(here.wish.model)} on your picture?",
        tempting=(((0.9, 1.1), "So it would be with independent queries and keys, as the rule has it."),) if trained
        else (),
        picture=Lines(
            tuple(range(layers)),
            (
                Series("independent numbers", (1.0,) * layers, "#83838F", dash=True),
                Series("widest head of the layer", tuple(widest.tolist()), WITH, shown=1, dots=True),
            ),
            0, high, "layer", at=(1, layers - 1), title="Standard deviation of the scaled scores of a row",
        ),
    )  # fmt: skip


def _compared(here: Here, on, scaled: tuple, without: tuple, d: int, trained: bool) -> None:
    st.markdown(
        f"Your picture in **{plain_name(here.wish.model)}**, $d_k$ = {d}: each dot is a head, the mean over the rows "
        "of "
        f"its patches. **{EACH.capitalize()}** keeps the queries and keys of the pass with 1/$\\sqrt{{{d}}}$ and "
        "changes the "
        f"scale where they meet; in **{WHOLE}** every layer uses the other scale, and later layers get what earlier "
        "ones made of it."
    )
    where_to, instead = st.columns(2)
    where_to.segmented_control("Change the scale in", (EACH, WHOLE), key="off", required=True)
    with instead:
        choose_instead(d)
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
    scale_start.cell()


def _apart_words(apart: np.ndarray, d: int, trained: bool) -> str:
    layer, head = np.unravel_index(apart.argmax(), apart.shape)
    low, high = f"{apart.min():.2g}", f"{apart.max():.2g}"
    if not trained:
        return (
            "Nothing is trained here. The first parameters are so small that queries and keys are short: even "
            "scaled, the "
            f"scores have standard deviations from {low} to {high}, so every row is nearly even. Leaving out "
            f"1/√{d}, a factor of {d**0.5:.1f}, hardly changes that. Take a larger factor to see it."
        )
    return (
        "The rule “standard deviation 1” is about independent numbers. Training makes queries and keys that depend on "
        f"each other: here the scaled scores have standard deviations from **{low} to {high}** (the largest in layer "
        f"{layer}, head {head}). Training can enlarge the scores of a head; the scale only sets the size that they "
        "start from."
    )


def _sharpness(here: Here, wish: Wish, seen, scale: float) -> tuple[np.ndarray, ...]:
    def count() -> tuple[np.ndarray, ...]:
        with queue.turns() as give_way:
            return softmax.sharpness(seen, scale, give_way)

    return lesson_results.about(here.picture, wish, here.worked, ("sharpness", scale), count)


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
