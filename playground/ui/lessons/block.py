"""The page about the rest of a layer: the model in boxes, what is added to a token, GELU, the norms, the answer."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from playground.names import plain_name
from playground.samples import start_patch
from playground.serving import queue, traces
from playground.serving.session import Session
from playground.ui import guess, lesson
from playground.ui.lessons.drawings import Written
from playground.ui.navigation import Setting

state = st.session_state

STEPS = {
    "whole": "1 · The whole model",
    "stream": "2 · A layer adds",
    "mlp": "3 · The MLP and GELU",
    "norms": "4 · Where norms stand",
    "answer": "5 · The answer",
}
MOST_LAYERS = 64
SETTINGS = {
    "step": Setting.of("whole", STEPS),
    "box": Setting.of("Attention", (
        "Picture", "Patches", "Extra tokens", "Positions", "Norm", "Attention", "Add", "MLP", "Last norm", "Answer",
    )),
    "layer": Setting.of(-1, range(-1, MOST_LAYERS)),
    "patch": Written("", pattern=r"\d{1,3},\d{1,3}"),
}  # fmt: skip
READ = {
    "token": "the class token",
    "avg": "the mean of the patches",
    "map": "what a query of its own collects",
}  # by Config.pool
HEARD, THOUGHT, TOKEN = "#B63679", "#7A51BE", "#5B5D66"  # what attention adds, what the MLP adds, the token itself


def _seen(here: Session):
    return traces.trace(here.picture, here.wish, here.own)


def _layer(layers: int) -> int:
    """Which layer is shown: chosen on the page, at first the upper one."""
    from playground.tracing import upper_layer

    if not 0 <= state.layer < layers:
        state.layer = upper_layer(layers)
    st.select_slider("Layer", range(layers), key="layer", width=420)
    return state.layer


# The whole model ------------------------------------------------------------------------------------------------------


def whole(here: Session) -> None:
    from playground.lessons import block

    seen = _seen(here)
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


# The residual stream --------------------------------------------------------------------------------------------------


def stream(here: Session) -> None:
    from playground.lessons import block

    seen = _seen(here)

    def work() -> block.Stream:
        with queue.turns() as give_way:
            return block.stream(seen, give_way)

    found = here.kept("stream", work)
    st.markdown(
        "Attention does not replace a token: what it returns is *added*. Read it as a **push**: the token before, the "
        "push, the token after. The MLP then adds a second push. All layers write into the same vector, the **residual "
        "stream**."
    )

    def truth() -> guess.Truth:
        ratio = float((found.heard / found.before).median())
        return guess.Truth(round(ratio, 2), " The median over all layers and patches of your picture.")

    if not guess.number(
        "block_push", "How long is attention's push, compared with the token that it is added to?", 0, 3, " ×", truth,
        step=0.05, context=(here.picture.id, here.wish.model),
    ):  # fmt: skip
        return
    layer = _layer(seen.layers)
    rows, columns = seen.grid
    row, column = (int(n) for n in state.patch.split(",")) if state.patch else start_patch(here.picture.name, seen.grid)
    row, column = min(row, rows - 1), min(column, columns - 1)
    patch = row * columns + column
    left, right = st.columns([1, 1.4])
    with left:
        lesson.chart(_arrows(*found.arrows(layer, patch)), "push", height=320, name="the-token-and-its-push")
    with right:
        lesson.chart(_lengths(found), "lengths", height=320, name="pushes-by-layer")
    (length, _), (along, aside) = found.arrows(layer, patch)
    st.markdown(
        f"Layer {layer}, patch ({row}, {column}): the token has a length of {length:.1f}, attention's push of "
        f"{(along**2 + aside**2) ** 0.5:.1f}, and the cosine between them is {float(found.along[layer, patch]):.2f} "
        "(0: a push to the side, −1: against it). After the whole layer, MLP included, the token still has a cosine of "
        f"**{float(found.kept[layer, patch]):.2f}** with what it was."
    )
    ratio = (found.heard / found.before).median(dim=1).values  # (layers,)
    longest = int(ratio.argmax())
    lesson.exercise(
        "Go to the layer in which attention’s push is longest, compared with the token that it is added to.",
        f"Layer {longest}: in the median over patches, the push is {float(ratio[longest]):.2f} × as long as the token. "
        f"In layer {int(ratio.argmin())} it is {float(ratio.min()):.2f} ×.",
        hint="In the right chart, compare two lines, not one.",
        done=layer == longest, id="block_push",
    )  # fmt: skip


def _arrows(token: tuple[float, float], push: tuple[float, float]) -> go.Figure:
    """In the plane that holds both: nothing is lost by drawing it flat."""
    figure = go.Figure()
    end = (token[0] + push[0], token[1] + push[1])
    for (x0, y0), (x1, y1), name, colour, width in (
        ((0, 0), token, "token before", TOKEN, 4),
        (token, end, "attention's push", HEARD, 4),
        ((0, 0), end, "token after", lesson.QUERY, 2),
    ):
        figure.add_scatter(
            x=[x0, x1], y=[y0, y1], mode="lines+markers", name=name, line={"color": colour, "width": width},
            marker={"symbol": ["circle", "arrow"], "size": [1, 14], "angleref": "previous"}, hoverinfo="name",
        )  # fmt: skip
    figure.update_layout(title={"text": "In the plane of token and push"}, legend={"orientation": "h", "y": -0.1})
    figure.update_xaxes(zeroline=False, visible=False)
    figure.update_yaxes(zeroline=False, visible=False, scaleanchor="x")
    return figure


def _lengths(found) -> go.Figure:
    figure = go.Figure()
    for values, name, colour in (
        (found.before, "token, as it enters", TOKEN),
        (found.heard, "attention's push", HEARD),
        (found.thought, "the MLP's push", THOUGHT),
    ):
        figure.add_scatter(
            y=values.median(dim=1).values.tolist(), name=name, mode="lines+markers", line={"color": colour, "width": 3},
            hovertemplate=f"{name}, layer %{{x}}: %{{y:.2f}}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(title={"text": "Lengths, median over patches"}, legend={"orientation": "h", "y": -0.25})
    figure.update_xaxes(title="layer", dtick=1 if len(found.before) <= 16 else 4)
    figure.update_yaxes(rangemode="tozero")
    return figure


# The MLP --------------------------------------------------------------------------------------------------------------


def mlp(here: Session) -> None:
    import torch

    from playground.lessons import block

    seen = _seen(here)
    c = seen.vit.config
    st.markdown(
        f"The MLP is the same small network for each token: {c.width} numbers → {c.mlp_width} → {c.width}. Without the "
        "bend between the two matrices they would be one matrix. The bend is **GELU**: x · Φ(x), where Φ(x) is the "
        "share of a normal distribution below x. It lets large numbers through, stops very negative ones, and is "
        "smooth at 0, which ReLU is not."
    )
    if c.activation != "gelu" or c.gated_mlp:
        st.caption(
            f"This model has another bend ({c.activation}{', gated' if c.gated_mlp else ''}); the curve is GELU's."
        )
    layer = _layer(seen.layers)
    with queue.turn():
        inside = block.hidden(seen, layer)
    x = torch.linspace(-5, 5, 201)
    counts, edges = np.histogram(inside.clamp(-5, 5).numpy(), bins=80, range=(-5, 5))
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
    out = block.gelu(inside)
    negative, small = (float(which.float().mean()) for which in (inside < 0, out.abs() < 0.1))
    least = block.gelu(x)
    st.markdown(
        f"In layer {layer}, {negative:.0%} of the numbers that reach the bend are negative; {small:.0%} of those "
        f"that leave it lie between −0.1 and 0.1. The smallest value of GELU is −{-float(least.min()):.2f}, at x = "
        f"−{-float(x[least.argmin()]):.2f}."
    )


# Norms ----------------------------------------------------------------------------------------------------------------


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


# The answer -----------------------------------------------------------------------------------------------------------


def answer(here: Session) -> None:
    import torch

    from playground.lessons import block

    seen = _seen(here)
    c = seen.vit.config
    if seen.logits is None or not c.classes:
        st.info(f"{plain_name(here.wish.model)} has no classes; the numbers below are those of our small ViT.")
        seen = traces.trace(here.picture, traces.Wish("bundled"), here.own)
        c = seen.vit.config
    logits = seen.logits
    labels = list(c.labels or (f"class {i}" for i in range(c.classes)))
    st.markdown(
        f"After the last layer one vector is read out, here {READ[c.pool]}, and a matrix turns it into one number a "
        "class: the **logits**. For pre-training the paper put one more hidden layer with tanh before it, the "
        "*pre-training head*, and dropped it for fine-tuning."
    )
    index = st.slider("Class number", 0, len(labels) - 1, int(logits.argmax()), key="class_index")
    p = logits.sigmoid() if c.multi_label else logits.softmax(-1)
    best = logits.argsort(descending=True)[:8].tolist()
    shown = best if index in best else [*best[:7], index]
    lines = [
        f"| {'**' if i == index else ''}{i}: {labels[i]}{'**' if i == index else ''} | {float(logits[i]):.2f} | "
        f"{float(p[i]):.1%} |"
        for i in shown
    ]
    kind = "sigmoid: several may be true" if c.multi_label else "softmax: they sum to 1"
    st.markdown("\n".join([f"| class | logit | probability ({kind}) |", "|---|---|---|", *lines]))
    if c.multi_label:
        loss = -float(torch.nn.functional.logsigmoid(logits[index]))
        rule = "−log of its probability (here classes don't exclude each other, and each has such a loss)"
    else:
        loss, rule = block.cross_entropy(logits, index), "cross-entropy, −log of its probability"
    head = seen.vit.head.weight
    row = block.look_up(head.detach().cpu(), index)
    st.markdown(
        f"If the picture showed *{labels[index]}*, the **loss** would be {loss:.2f}: {rule}. A sure and right answer "
        "costs nearly nothing, a sure and wrong one much."
    )
    begins = ", ".join(f"{v:.3f}".replace("-", "−") for v in row[:4].tolist())
    st.markdown(
        f"The label itself is the number {index}. As a vector it is **one-hot**: 1 at place {index}, 0 elsewhere. "
        f"One-hot times a matrix is nothing but a *look-up* of one row: of the head's {head.shape[0]} × "
        f"{head.shape[1]} matrix it gives row {index}, which begins with {begins}. "
        "A patch's position is such a row, too: the one of its place."
    )

    dear = int(logits.argmin())
    lesson.exercise(
        "Choose the class that would cost most. What do its logit and its loss have to do with each other?",
        f"{dear}: {labels[dear]}, with the smallest logit of all, {float(logits[dear]):.2f}. A smaller logit is a "
        "smaller probability, and −log of a smaller probability is a larger loss.",
        hint="It has the smallest logit. Move the class number, and watch the loss.",
        done=index == dear, id="block_dear",
    )  # fmt: skip
    lesson.exercise(
        "A program calls `model.eval()` before it shows a picture. Why?",
        "While training, dropout sets random numbers to 0 (and some layers use statistics of the batch), so two "
        "passes over one picture differ. `eval()` switches that off. It does not switch off gradients: "
        "`torch.no_grad()` does that.",
    )
