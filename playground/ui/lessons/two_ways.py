"""The page on convolution and attention: how far each sees, a shifted picture, what is built in, cheaper ways."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from PIL import Image, ImageDraw
from plotly.colors import sample_colorscale, unlabel_rgb

from playground.models.names import plain_name
from playground.serving import models, queue, traces
from playground.serving.pictures import as_jpeg
from playground.ui import guess, lesson
from playground.ui.components import picture
from playground.ui.here import Here
from playground.ui.navigation import Setting

state = st.session_state

STEPS = {
    "far": "1 · How far",
    "shift": "2 · A shifted picture",
    "built": "3 · What is built in",
    "cheaper": "4 · Cheaper ways",
}
SETTINGS = {
    "step": Setting.of("far", STEPS),
    "kernel": Setting.of(3, (3, 5, 7)),
    "moved": Setting.of(1, (1, 2, 3)),
}


# How far --------------------------------------------------------------------------------------------------------------


def far(here: Here) -> None:
    from playground.lessons import two_ways
    from playground.ui.lessons import heads_numbers

    seen = traces.trace(here.picture, here.wish, here.own)
    side = max(seen.grid)
    st.markdown(
        "After one layer, a convolution knows its k × k neighbours. A stack of them sees further with each layer: "
        "1 + layers · (k − 1) patches across, its **receptive field**. Attention may look at every patch in the first "
        "layer. Whether it does is another question: the dots say how far the heads of this model really look."
    )
    st.segmented_control("Kernel", (3, 5, 7), key="kernel", format_func=lambda k: f"{k} × {k}", required=True)
    mean = heads_numbers.habits_here(here)
    layers = np.arange(seen.layers)
    half = [min(side, two_ways.field(state.kernel, int(n) + 1) // 2) for n in layers]
    figure = go.Figure()
    figure.add_scatter(
        x=np.repeat(layers, seen.heads), y=mean.distance.ravel(), mode="markers", name="heads: mean distance",
        marker={"size": 8, "color": "#B63679"}, hovertemplate="layer %{x}: %{y:.1f} patches<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=layers, y=half, mode="lines+markers", name=f"{state.kernel}×{state.kernel} convolutions: farthest",
        line={"color": lesson.CONVOLUTION, "width": 3}, hovertemplate="layer %{x}: %{y} patches<extra></extra>",
    )  # fmt: skip
    figure.update_layout(legend={"orientation": "h", "y": -0.25})
    figure.update_xaxes(title="layer", dtick=1 if seen.layers <= 16 else 4)
    figure.update_yaxes(title="patches away", rangemode="tozero")
    lesson.chart(figure, "far", height=340, name="how-far")
    needed = two_ways.layers_needed(side, state.kernel)
    st.markdown(
        f"This picture is {side} patches long. A {state.kernel}×{state.kernel} stack needs **{needed} layers** until "
        f"one edge can hear of the other; attention needs one. In layer 0 the heads of {plain_name(here.wish.model)} "
        f"look {mean.distance[0].mean():.1f} patches away on average."
    )


# A shifted picture ----------------------------------------------------------------------------------------------------


def shift(here: Here) -> None:
    from playground.lessons import two_ways
    from playground.pack import upper_layer

    vit = models.load(here.wish.model)
    depth, heads = vit.config.depth, vit.config.heads
    layer = min(int(here.view.get("layer", upper_layer(depth))), depth - 1)
    head = int(here.view.get("head", 0)) % heads
    st.markdown(
        "Move the picture by whole patches. A convolution's answer moves along and stays the same: **translation "
        "equivariance**, which follows from one kernel being used everywhere. A ViT adds a position to each patch, so "
        "the same patch at another place is another token."
    )
    st.segmented_control("Moved by so many patches", (1, 2, 3), key="moved", required=True)

    def work() -> two_ways.Shifted:
        with queue.turn():
            return two_ways.shifted(vit, here.picture.image, layer, head, state.moved)

    found = here.kept(("shifted", layer, head, state.moved), work)

    def truth() -> guess.Truth:
        return guess.Truth(
            round(100 * found.apart),
            f" Layer {layer}, mean over all heads and places, on the places that both cuts show. A convolution: "
            f"{_small(found.convolution)}".rstrip(",")
            + ".",
        )

    if not guess.number(
        "two_ways_shift", "How many per cent of its weight does a patch give to other places after the shift?",
        0, 100, " %", truth,
        context=(here.picture.id, here.wish.model, state.moved, layer, head),
    ):  # fmt: skip
        return
    columns = st.columns(2)
    for column, cut, row, moved in zip(columns, found.pictures, found.rows, (state.moved, 0), strict=True):
        with column:
            spot = (found.query[0], found.query[1] + moved)
            picture(_lit(cut, row, spot), caption="moved" if moved == 0 else "as it was", width="stretch")
    st.markdown(
        f"The same place of the picture asks (outlined in white), layer {layer}, head {head}. After the last layer the "
        f"features of the same place have a cosine of **{float(found.features.mean()):.3f}** on average, of "
        f"{float(found.features.min()):.3f} at worst. Away from the edges a convolution's answers differ by "
        f"**{_small(found.convolution)}** of their size. Two things change for the ViT: the positions, and a column of "
        "patches that leaves while another one comes in, which every row listens to."
    )
    lesson.exercise(
        "Move the picture by 3 patches. Guess again: do more weights go elsewhere than with 1?",
        "The two numbers say it for your picture. Each step takes one more column away and brings a new one, and every "
        "patch gets the position of a place farther away. For the convolution nothing changes away from the edges: the "
        "same kernel is used at every place.",
        hint="The choice above the question.",
        done=state.moved == 3, id="two_ways_moved",
    )  # fmt: skip


MAGMA = np.array([unlabel_rgb(colour) for colour in sample_colorscale("magma", np.linspace(0, 1, 256).tolist())])


def _lit(cut: Image.Image, row, spot: tuple[int, int]) -> bytes:
    """The picture in grey under its row of weights; the place that asks in white."""
    rows, columns = row.shape
    shares = (row / row.max()).numpy()
    colours = MAGMA[(shares * 255).astype(int)]  # (rows, columns, 3)
    size = (cut.width * 2, cut.height * 2)
    heat = Image.fromarray(colours.astype(np.uint8)).resize(size, Image.Resampling.NEAREST)
    cover = Image.fromarray((40 + shares * 200).astype(np.uint8)).resize(size, Image.Resampling.NEAREST)
    grey = cut.convert("L").convert("RGB").resize(size)
    made = Image.composite(heat, grey, cover)
    high, wide = size[1] / rows, size[0] / columns
    box = [spot[1] * wide, spot[0] * high, (spot[1] + 1) * wide, (spot[0] + 1) * high]
    ImageDraw.Draw(made).rectangle(box, outline="white", width=3)
    return as_jpeg(made)


def _small(x: float) -> str:
    return f"{x:.0e}" if x else "exactly 0"


# What is built in -----------------------------------------------------------------------------------------------------


def built(here: Here) -> None:
    c = models.load(here.wish.model).config
    d, k = c.width, 3
    st.markdown(
        "The **inductive bias** of a network is what its architecture makes true, or likely, of its answers before it "
        "has seen a single picture."
    )
    st.markdown(
        "\n".join(
            [
                "| | convolution | attention |",
                "|---|---|---|",
                "| **locality** | reads k × k neighbours, nothing else | may read every patch |",
                "| **weight sharing** | one kernel at all places | W_Q, W_K, W_V at all places; the *mixing* differs "
                "with the picture |",
                "| **order** | each weight belongs to a direction | none: a set; positions are added |",
                "| **a shifted picture** | the answer shifts along (equivariance) | must be learned |",
                "| **shuffled patches** | another answer | without positions, the same answers, shuffled along |",
                f"| **learned**, width {d} | k²D² = {k * k * d * d:,} | 4D² = {4 * d * d:,} |",
            ]
        )
    )
    st.markdown(
        "A bias is help if it is true of the pictures, and a limit where it is not. With few pictures the "
        "convolution's helps: in the ViT paper, trained on ImageNet's 1.3 million pictures alone, ViTs stay below "
        "convolutional networks of their size; with 300 million pictures they are ahead. That is what is meant by "
        "attention's **appetite for data**."
    )
    lesson.exercise(
        "A network must count the windows of a house, wherever they are. Which bias helps?",
        "Sharing weights over all places: a window is the same at the left and at the right. Both have it, in the "
        "kernel or in W_Q, W_K, W_V. Locality helps to find a window; to *count*, far places have to be brought "
        "together.",
    )


# Cheaper ways ---------------------------------------------------------------------------------------------------------


def cheaper() -> None:
    from playground.lessons import two_ways

    st.markdown(
        "Attention costs N² because each token may look at each. Three ways around that, each with its price:\n\n"
        "- **Windows** (Swin): softmax over the w² tokens of a window instead of all N: N · w² scores instead of N². "
        "Far tokens meet only after several layers, in which the windows are shifted; locality is back.\n"
        "- **Linear attention**: replace exp(q·k) by φ(q)·φ(k). Then (φ(Q) φ(K)ᵀ) V = φ(Q) (φ(K)ᵀ V), and the right "
        "side needs no N × N table: N · d² instead of N² · d. (Each row is still divided by its sum.) But φ(q)·φ(k) "
        "can't single out one key as sharply as exp can.\n"
        "- **State spaces** (S4, Mamba): read the tokens in a row and keep a state, hₜ = A hₜ₋₁ + B xₜ, yₜ = C hₜ: N "
        "steps. What is far back has to fit into the state, and a picture needs an order in which it is read.\n\n"
        "None of them is simply better: a fused kernel makes full attention cheap in *memory*, and up to a few "
        "thousand tokens it is often the quickest in practice. *Cost*, step 4, measures it by hand and fused on this "
        "machine."
    )
    tokens = st.select_slider("Tokens", (64, 196, 576, 1024, 4096, 16384), 1024, key="cheap_tokens", width=420)
    window, d = 49, 64
    names = ("all pairs, 2 N² d", f"windows of {window} tokens, 2 N w² d", "linear attention, 2 N d²")
    rows = list(zip(names, two_ways.products(tokens, window, d), strict=True))
    lines = [f"| {name} | {flops:,} | {flops / rows[0][1]:.3g} × |" for name, flops in rows]
    st.markdown("\n".join([f"| one head of {d}, the first product | FLOPs | |", "|---|---|---|", *lines]))
    lesson.exercise(
        "With how many tokens does linear attention cost as much as all pairs?",
        "With as many as a head has numbers: N = d, for 2N²d = 2Nd² there. Below that it costs *more*. All pairs grow "
        "with the square of the tokens, linear attention with the tokens alone.",
        hint="When do two lines of the table say 1 ×?",
        done=tokens == d, id="two_ways_linear",
    )  # fmt: skip
