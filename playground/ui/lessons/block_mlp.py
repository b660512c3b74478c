"""The MLP, and the bend between its two matrices."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from playground.serving import queue
from playground.ui import guess, lesson
from playground.ui.here import Here
from playground.ui.lessons.block import THOUGHT, chosen_layer, traced


def mlp(here: Here) -> None:
    import torch

    from playground.lessons import block

    seen = traced(here)
    c = seen.vit.config
    st.markdown(
        f"The MLP is the same small network for each token: {c.width} numbers → {c.mlp_width} → {c.width}. Without the "
        "bend between the two matrices they would be one matrix. The bend is **GELU**: x · Φ(x), where Φ(x) is the "
        "share of the standard normal distribution below x. It lets large numbers through, stops very negative ones, "
        "and is "
        "smooth at 0, which ReLU is not."
    )
    if c.activation != "gelu" or c.gated_mlp:
        st.caption(
            f"This model has another bend ({c.activation}{', gated' if c.gated_mlp else ''}); the curve is GELU's."
        )
    layer = chosen_layer(seen.layers)
    with queue.turn():
        inside = block.hidden(seen, layer)
    x = torch.linspace(-5, 5, 201)
    counts, edges = np.histogram(inside.numpy(), bins=80, range=(-5, 5))
    outside = float((inside.abs() > 5).float().mean())
    figure = go.Figure()
    figure.add_bar(
        x=(edges[:-1] + edges[1:]) / 2, y=counts / counts.max() * 3, marker_color="rgba(122,81,190,0.35)",
        name="how often, on your picture", hoverinfo="skip",
    )  # fmt: skip
    figure.add_scatter(x=x, y=block.gelu(x), name="GELU", line={"color": THOUGHT, "width": 4})
    figure.add_scatter(x=x, y=x.relu(), name="ReLU", line={"color": "gray", "width": 2, "dash": "dot"})
    figure.update_layout(
        title={"text": f"What enters the bend in layer {layer}"}, legend={"orientation": "h", "y": -0.1}
    )
    lesson.chart(figure, "gelu", height=340, name="gelu")
    guess.choice(
        "block_bend", "Leave the bend out: x W₁ W₂ for each token. What can the two matrices do that one could not?",
        {
            "nothing": "nothing: their product is one matrix",
            "more": "more, for they have more numbers",
            "wide": f"more, for {c.mlp_width} numbers lie in between",
        },
        "nothing",
        f"(x W₁) W₂ = x (W₁ W₂), and W₁ W₂ is one matrix of {c.width} × {c.width}. Only the bend, which treats large "
        f"and "
        "small numbers differently, makes a new function of it.",
        {
            "more": "More numbers, but not more functions: many pairs have the same product.",
            "wide": f"The width in between matters with the bend. Without it, at most {c.width} directions come "
            f"through.",
        },
    )  # fmt: skip
    if c.activation != "gelu" or c.gated_mlp:
        return
    out = block.gelu(inside)
    negative, small = (float(which.float().mean()) for which in (inside < 0, out.abs() < 0.1))
    least = block.gelu(x)
    st.markdown(
        f"In layer {layer}, {negative:.0%} of the numbers that reach the bend are negative; {small:.0%} of those "
        f"that leave it lie between −0.1 and 0.1. The smallest value of GELU is −{-float(least.min()):.2f}, at x = "
        f"−{-float(x[least.argmin()]):.2f}." + (f" Not drawn: {outside:.1%} lie beyond ±5." if outside > 0.0005 else "")
    )
