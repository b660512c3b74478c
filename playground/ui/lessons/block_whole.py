"""The whole model in boxes: what each does, and how many weights it has."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from playground.models.names import plain_name
from playground.ui import guess, lesson
from playground.ui.here import Here
from playground.ui.lessons.block import traced

state = st.session_state


def whole(here: Here) -> None:
    from playground.lessons import block

    seen = traced(here)
    found = block.boxes(seen.vit, seen.tokens, seen.size)
    total = sum(box.weights for box in found)
    c = seen.vit.config
    in_layers = sum(box.weights for box in found if box.name in ("Norm", "Attention", "Add", "MLP"))
    mlp, attention = (next(box.weights for box in found if box.name == name) for name in ("MLP", "Attention"))

    def truth() -> guess.Truth:
        return guess.Truth(
            round(100 * mlp / total),
            f" The MLPs have {mlp:,} of {total:,} weights, attention {attention:,}.",
        )

    known = guess.number(
        "block_weights", f"How many per cent of the weights of {plain_name(here.wish.model)} are in its MLPs?",
        0, 100, " %", truth, context=here.wish.model,
    )  # fmt: skip
    names = [box.name for box in found]
    if state.box not in names:
        state.box = "Attention"
    st.pills("Open a box", names, key="box", required=True)
    box = next(box for box in found if box.name == state.box)
    per = f" × {c.depth} layers" if box.name in ("Norm", "Attention", "Add", "MLP") else ""
    left, right = st.columns([3, 2])
    left.markdown(f"**{box.name}{per}.** {box.says}" + (f"\n\n`{box.formula}`" if box.formula else ""))
    learned = f"**{box.weights:,}** weights, {box.weights / total:.1%} of all" if box.weights else "nothing"
    right.markdown(f"what leaves it: **{box.shape}** numbers" + (f"\n\nlearned: {learned}" if known else ""))
    if known:
        _weights(found, total, in_layers, c.depth)
        largest = max(found, key=lambda box: box.weights)
        lesson.exercise(
            "Open the box that has most of the weights. Why does it have so many?",
            f"{largest.name}: {largest.weights:,}. {largest.says}",
            hint="The longest bar.",
            done=state.box == largest.name, id="block_largest",
        )  # fmt: skip
    lesson.exercise(
        "Which of the nine steps on the page Shapes have weights?",
        f"Three, here with D = {c.width}. The norm of step 1 has 2D = {2 * c.width:,}. The matrix that makes Q, K and "
        f"V has 3D² + 3D = {3 * c.width * (c.width + 1):,}. W_O has D² + D = {c.width * (c.width + 1):,}. The "
        "split into heads, the scores, the softmax, × V, the concatenation and the sum only calculate: nothing in "
        "them is learned."
        + (f" (This model also learns a gain for what is added, LayerScale: D = {c.width}.)" if c.layer_scale else ""),
    )


def _weights(found, total: int, in_layers: int, depth: int) -> None:
    names = [box.name for box in found]
    figure = go.Figure()
    figure.add_bar(
        x=[box.weights for box in found], y=names, orientation="h",
        marker_color=[lesson.QUERY if box.name == state.box else "#C4C6CC" for box in found],
        text=[f"{box.weights:,}" for box in found], textposition="outside", cliponaxis=False, hoverinfo="skip",
    )  # fmt: skip
    figure.update_layout(title={"text": f"Weights: {total:,} in all, {in_layers / total:.0%} in the {depth} layers"})
    figure.update_xaxes(visible=False, range=[0, 1.25 * max(box.weights for box in found)])
    figure.update_yaxes(autorange="reversed", ticksuffix="  ")
    lesson.chart(figure, "weights_of_boxes", height=80 + 26 * len(found), name="weights-of-the-parts")
