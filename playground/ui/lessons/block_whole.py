"""The whole model in boxes: what each does, and how many parameters it has."""

from __future__ import annotations

import streamlit as st

from playground.lessons.questions import Bars, Number
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

    names = tuple(box.name for box in found)
    shares = tuple(100 * box.weights / total for box in found)
    guess.number(
        "block_weights",
        f"How many per cent of the parameters of {plain_name(here.wish.model)} are in its MLPs: ▢?",
        Number(0, 100, " %"), 100 * mlp / total,
        f"The MLPs have {mlp:,} of {total:,} parameters, attention {attention:,}: an MLP has two matrices of D × 4D, "
        "attention four of D × D.",
        here.wish.model,
        tempting=(
            ((0, 35), "Attention gives the model its name. Most of what is learned lies elsewhere."),
            ((85, 100), "Attention has four matrices, too: half as many numbers as the MLP."),
        ),
        picture=Bars(
            names, shares, 100, at=names.index("MLP"), across=True, unit=" %",
            title=f"{total:,} parameters, {in_layers / total:.0%} in the {c.depth} layers",
        ),
    )  # fmt: skip
    if state.box not in names:
        state.box = "Attention"
    st.pills("Open a box", names, key="box", required=True)
    box = next(box for box in found if box.name == state.box)
    per = f" × {c.depth} layers" if box.name in ("Norm", "Attention", "Add", "MLP") else ""
    left, right = st.columns([3, 2])
    left.markdown(f"**{box.name}{per}.** {box.says}" + (f"\n\n`{box.formula}`" if box.formula else ""))
    right.markdown(f"what leaves it: **{box.shape}** numbers")
    with guess.after("block_weights"):
        learned = f"**{box.weights:,}** parameters, {box.weights / total:.1%} of all" if box.weights else "nothing"
        st.markdown(f"learned in it: {learned}")
        largest = max(found, key=lambda box: box.weights)
        lesson.exercise(
            "Open the box that has most of the parameters. Why does it have so many?",
            f"{largest.name}: {largest.weights:,}. {largest.says}",
            hint="The longest bar.",
            done=state.box == largest.name, id="block_largest",
        )  # fmt: skip
    lesson.exercise(
        "Which of the nine steps on the page Shapes have parameters?",
        f"Three, here with D = {c.width}. The norm of step 1 has 2D = {2 * c.width:,}. The matrix that makes Q, K and "
        f"V has 3D² + 3D = {3 * c.width * (c.width + 1):,}. W_O has D² + D = {c.width * (c.width + 1):,}. The "
        "split into heads, the scores, the softmax, × V, the concatenation and the sum only calculate: nothing in "
        "them is learned."
        + (f" (This model also learns a gain for what is added, LayerScale: D = {c.width}.)" if c.layer_scale else ""),
    )
