"""Where the norms stand, and what that does to gradients."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from playground.serving import queue
from playground.ui import lesson


@st.cache_data(show_spinner=False, max_entries=8)
def _gradients(layers: int) -> dict[str, list[float]]:
    from playground.lessons import block

    with queue.turn():
        return block.gradients(layers)


def norms() -> None:
    st.markdown(
        "The first transformers put the norm *after* each sum: norm(x + branch(x)), **post-norm**. A ViT puts it *into "
        "the branch*: x + branch(norm(x)), **pre-norm**. So in a ViT the stream itself is a plain sum from the first "
        "layer to the last. Below: a new network with random weights, both ways, and the gradient that reaches each "
        "layer."
    )
    layers = st.select_slider("Layers", (2, 4, 6, 12, 24), 12, key="norm_layers", width=420)
    found = _gradients(layers)
    figure = go.Figure()
    for place, colour, words in (("pre", lesson.QUERY, "pre-norm"), ("post", lesson.KEY, "post-norm")):
        figure.add_scatter(
            y=found[place], name=words, mode="lines+markers", line={"color": colour, "width": 3},
            hovertemplate=f"{words}, layer %{{x}}: %{{y:.3g}}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(title={"text": "Gradient of the MLP's second matrix"}, legend={"orientation": "h", "y": -0.25})
    figure.update_xaxes(title="layer")
    figure.update_yaxes(type="log")
    lesson.chart(figure, "norm_gradients", height=320, name="pre-norm-and-post-norm")
    times = {place: values[-1] / values[0] for place, values in found.items()}
    st.markdown(
        f"With post-norm, the gradient at the last layer is {times['post']:.2g} × that at the first; with pre-norm it "
        f"is {times['pre']:.2g} ×. At the last layer it is {found['post'][-1] / found['pre'][-1]:.1f} × as large with "
        "post-norm as with pre-norm. A first step of full size may then be too large for the last layers. That is why "
        "post-norm transformers needed a **warm-up**, a learning rate that starts near 0 (Xiong et al., 2020). "
        "Pre-norm can do without; most recipes, ours too, keep a short one."
    )
