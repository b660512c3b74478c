"""What its rows become when the scale is changed: each head by its numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from playground.analysis import scale as softmax
from playground.lessons.colours import CHANGED, WEIGHTS
from playground.lessons.words import scale as said
from playground.models.names import plain_name
from playground.serving import people, queue
from playground.serving.traces import Wish
from playground.ui import guess, lesson
from playground.ui.here import Here
from playground.ui.lessons import scale_start
from playground.ui.lessons.scale import EACH, INSTEAD, WHOLE
from playground.ui.lessons.scale_passes import BELOW, choose_instead, passes, width

state = st.session_state
HAIR = "rgba(128,128,128,0.35)"


def real_model(here: Here) -> None:
    from playground.analysis import heads

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
    question = said.trained(plain_name(here.wish.model), d, scaled[2], on.vit.random_weights, heads.words(on))
    guess.ask(question, (here.picture.id, here.wish))
    with guess.after("scale_trained"):
        _compared(here, on, scaled, without, d)


def _compared(here: Here, on, scaled: tuple, without: tuple, d: int) -> None:
    lesson.say(said.TEXT.steps["model"].after, model=plain_name(here.wish.model), d=d)
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


def _sharpness(here: Here, wish: Wish, seen, scale: float) -> tuple[np.ndarray, ...]:
    def count() -> tuple[np.ndarray, ...]:
        with queue.turns() as give_way:
            return softmax.sharpness(seen, scale, give_way)

    return people.worked_out(here.picture, wish, here.worked, ("sharpness", scale), count)


def _heads(title: str, on: np.ndarray, off: np.ndarray, words: str, d: int, log: bool) -> go.Figure:
    """Layers from left to right, a dot for each head with the scale and one without, tied together."""
    layers, heads = on.shape
    x = np.arange(layers)[:, None] + (np.arange(heads) - (heads - 1) / 2) * 0.7 / heads  # (layers, heads)
    figure = go.Figure()
    gaps = np.full_like(on, np.nan)
    ties = {"x": np.stack([x, x, x], -1).ravel(), "y": np.stack([on, off, gaps], -1).ravel()}
    figure.add_scatter(**ties, mode="lines", line={"color": HAIR, "width": 1}, hoverinfo="skip", showlegend=False)
    changed = "without" if state.instead == 0 else f"with {INSTEAD[state.instead]}".replace("d_k", str(d))
    for values, name, colour in ((on, f"with 1/√{d}", WEIGHTS), (off, changed, CHANGED)):
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
