"""The MLP, and the bend between its two matrices."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from playground.lessons.colours import MLP
from playground.lessons.words import block as said
from playground.serving import queue
from playground.serving.here import Here
from playground.ui import guess, lesson
from playground.ui.lessons.block import TEXT, chosen_layer


def mlp(here: Here) -> None:
    import torch

    from playground.lessons import block

    seen, step = here.traced(), TEXT.steps["mlp"]
    c = seen.vit.config
    other = c.activation != "gelu" or c.gated_mlp
    lesson.say(step.prose, D=c.width, hidden=c.mlp_width)
    if other:
        st.caption(step.said["other"].format(bend=f"{c.activation}{', gated' if c.gated_mlp else ''}"))
    layer = chosen_layer(seen.layers)
    with queue.turn():
        inside = block.hidden(seen, layer)
    x = torch.linspace(-5, 5, 201)
    counts, edges = np.histogram(inside.numpy(), bins=80, range=(-5, 5))
    figure = go.Figure()
    figure.add_bar(
        x=(edges[:-1] + edges[1:]) / 2, y=counts / counts.max() * 3, marker_color="rgba(122,81,190,0.35)",
        name="how often, on your picture", hoverinfo="skip",
    )  # fmt: skip
    figure.add_scatter(x=x, y=block.gelu(x), name="GELU", line={"color": MLP, "width": 4})
    figure.add_scatter(x=x, y=x.relu(), name="ReLU", line={"color": "gray", "width": 2, "dash": "dot"})
    figure.update_layout(
        title={"text": f"What enters the bend in layer {layer}"},
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom"},
    )
    lesson.chart(figure, "gelu", height=290, name="gelu")
    guess.ask(said.bend(c.width, c.mlp_width))
    if other:
        return
    curve = block.gelu(x)
    negative, small, outside = (
        float(which.float().mean()) for which in (inside < 0, block.gelu(inside).abs() < 0.1, inside.abs() > 5)
    )
    lesson.say(
        step.after, layer=layer, negative=negative, small=small, outside=outside,
        lowest=-float(curve.min()), at=-float(x[curve.argmin()]),
    )  # fmt: skip
