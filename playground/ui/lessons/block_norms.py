"""Where the norms stand, and what that does to gradients."""

from __future__ import annotations

import streamlit as st

from playground.lessons.questions import Lines, Number, Series
from playground.ui import guess, lesson


def norms() -> None:
    from playground.lessons.block import DEPTHS, LAST_GRADIENTS, LAST_GRADIENTS_SMALL, SEEDS, SMALL_START

    pre, post, small = LAST_GRADIENTS["pre"], LAST_GRADIENTS["post"], LAST_GRADIENTS_SMALL
    guess.number(
        "block_norms",
        f"With post-norm and {DEPTHS[0]} layers it is {post[0]:.2f}. With {DEPTHS[-1]} layers it is ▢.",
        Number(0.02, 2, step=0.01, log=True), post[-1],
        f"It hardly depends on the depth: {post[-1]:.2f} with {DEPTHS[-1]} layers, {post[-1] / post[0]:.1f} × as much, "
        f"where pre-norm's is {pre[-1] / pre[0]:.2f} × as much: {pre[-1]:.2f}. So the deeper the network, the larger "
        "post-norm's first steps at its last layers beside pre-norm's. Post-norm transformers needed a **warm-up**, a "
        "learning rate that starts near 0 (Xiong et al., 2020); pre-norm can do without, and most recipes, ours too, "
        f"keep a short one. With a ViT's much smaller start (dashed: deviation {SMALL_START}) both are alike, "
        f"{small['pre'][-1]:.3f} and {small['post'][-1]:.3f}: the branches add next to nothing yet.",
        prose="The first transformers put the norm *after* each sum: norm(x + branch(x)), **post-norm**. A ViT puts it "
        "*into the branch*: x + branch(norm(x)), **pre-norm**: the stream is a plain sum from first to last. Here: the "
        f"gradient that reaches the last layer of new networks, medians of {SEEDS}.",
        tempting=(
            ((pre[-1] * 0.7, pre[-1] * 1.3), "That is pre-norm’s. There every layer adds to the stream, and the last "
             "one is a smaller and smaller part of what the last norm sees."),
            ((0.7, 2), "It is the first layers that gradients have to reach through many others. The last is near the "
             "loss, however deep the network is."),
        ),
        picture=Lines(
            tuple(DEPTHS),
            (
                Series("pre-norm", pre, lesson.QUERY, dots=True),
                Series("both, small start", small["post"], "#83838F", dash=True, below=True),
                Series("post-norm", post, lesson.KEY, shown=1, dots=True),
            ),
            0.02, 1, "layers of the network", at=(2, len(DEPTHS) - 1), title="Gradient of the last MLP’s second matrix",
            log_x=True, log_y=True, x_ticks=tuple(DEPTHS),
        ),
    )  # fmt: skip
    left, right = st.columns(2)
    left.markdown(":blue[**pre-norm**], a ViT: the stream is never rescaled")
    left.code("x = x + attention(norm(x))\nx = x + mlp(norm(x))", language="python")
    right.markdown(":orange[**post-norm**], the first transformer: every sum is")
    right.code("x = norm(x + attention(x))\nx = norm(x + mlp(x))", language="python")
