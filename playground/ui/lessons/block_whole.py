"""The whole model in boxes: what each does, and how many parameters it has."""

from __future__ import annotations

import streamlit as st

from playground.lessons.words import block as said
from playground.models.names import plain_name
from playground.serving.here import Here
from playground.ui import guess, lesson
from playground.ui.lessons.block import TEXT

state = st.session_state


def whole(here: Here) -> None:
    from playground.lessons import block

    seen, step = here.traced(), TEXT.steps["whole"]
    c, found = seen.vit.config, {box.name: box for box in block.boxes(seen.vit, seen.tokens, seen.size)}
    counts = {name: box.weights for name, box in found.items()}
    guess.ask(said.weights(plain_name(here.wish.model), counts, c.depth, c.mlp_width / c.width), here.wish.model)
    if state.box not in found:
        state.box = "Attention"
    st.pills("Open a box", found, key="box", required=True)
    box = found[state.box]
    per = f" × {c.depth} layers" if box.name in said.IN_LAYERS else ""
    left, right = st.columns([3, 2])
    left.markdown(f"**{box.name}{per}.** {box.says}" + (f"\n\n`{box.formula}`" if box.formula else ""))
    right.markdown(step.said["leaves"].format(shape=box.shape))
    with guess.after("block_weights"):
        learned, total = step.said["learned" if box.weights else "nothing"], sum(counts.values())
        lesson.say(learned, parameters=box.weights, share=box.weights / total)
        largest = max(found.values(), key=lambda box: box.weights)
        D = c.width
        lesson.exercises(
            step, {"block_largest": box is largest}, largest=largest.name, most=largest.weights, why=largest.says,
            D=D, norm=2 * D, qkv=3 * D * (D + 1), out=D * (D + 1),
            gain=step.said["gain"].format(D=D) if c.layer_scale else "",
        )  # fmt: skip
