"""The answer: the vector that is read out, its logits, and what a right one costs."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from playground.lessons.questions import Lines, Mark, Number, Series
from playground.models.names import plain_name
from playground.serving import traces
from playground.ui import guess, lesson
from playground.ui.here import Here
from playground.ui.lessons.block import traced

READ = {
    "token": "the class token",
    "avg": "the mean of the patches",
    "token+avg": "the class token and the mean of the patches, one behind the other",
    "map": "what a query of its own collects",
}  # by Config.pool


def answer(here: Here) -> None:
    import torch

    from playground.lessons import block

    seen = traced(here)
    c = seen.vit.config
    if seen.logits is None or not c.classes:
        name = plain_name(here.wish.model)
        st.info(
            f"{name} was trained without labels, so it has no head that names classes. This step shows our small ViT.",
            icon=":material/info:",
        )
        seen = traces.trace(here.picture, traces.Wish("bundled"), here.own)
        c = seen.vit.config
    logits = seen.logits
    labels = list(c.labels or (f"class {i}" for i in range(c.classes)))
    _guess(here, logits, labels)
    st.markdown(
        f"After the last layer one vector is read out, here {READ[c.pool]}, and a matrix turns it into one number a "
        "class: the **logits**."
    )
    index = st.selectbox(
        "The picture’s **label**: what somebody says that it shows",
        range(len(labels)),
        int(logits.argmax()),
        format_func=lambda i: f"{i}: {labels[i]}",
        key="class_index",
        width=420,
    )
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
    cross = block.cross_entropy(logits, index)
    if c.multi_label:
        own = -float(torch.nn.functional.logsigmoid(logits[index]))
        loss = (
            f"This model answers yes or no for each class (sigmoid). If *{labels[index]}* was right, its **binary "
            f"cross-entropy**, −log of that probability, is **{own:.2f}**, and each class has such a loss. If exactly "
            "one class could be right, a softmax over all would give the **cross-entropy**, −log of the right class’s "
            f"share: **{cross:.2f}**."
        )
    else:
        loss = f"If its label is *{labels[index]}*, the **cross-entropy** is **{cross:.2f}**: −log of its probability."
    head = seen.vit.head.weight
    row = block.look_up(head.detach().cpu(), index)
    st.markdown(f"{loss} A sure and right answer costs nearly nothing, a sure and wrong one much.")
    begins = ", ".join(f"{v:.3f}".replace("-", "−") for v in row[:4].tolist())
    st.markdown(
        f"The label itself is the number {index}. As a vector it is **one-hot**: 1 at place {index}, 0 elsewhere. "
        f"One-hot times a matrix is nothing but a *look-up* of one row: of the head's {head.shape[0]} × "
        f"{head.shape[1]} matrix it gives row {index}, which begins with {begins}. "
        "A patch's position is such a row, too: the one of its place."
    )

    _pretraining(c, labels)
    _eval(seen)

    dear = int(logits.argmin())
    lesson.exercise(
        "Choose the class that would cost most. What do its logit and its loss have to do with each other?",
        f"{dear}: {labels[dear]}, with the smallest logit of all, {float(logits[dear]):.2f}. A smaller logit is a "
        "smaller probability, and −log of a smaller probability is a larger loss.",
        hint="It has the smallest logit. Choose another label, and watch the loss.",
        done=index == dear, id="block_dear",
    )  # fmt: skip
    lesson.exercise(
        "A program calls `model.eval()` before it shows a picture. Why?",
        "While training, dropout sets random numbers to 0 (and some layers use statistics of the batch), so two "
        "passes over one picture differ. `eval()` switches that off. It does not switch off gradients: "
        "`torch.no_grad()` does that.",
    )


def _pretraining(c, labels: list[str]) -> None:
    from playground.lessons import block

    hidden, matrix = block.pretraining_head(c.width, len(labels))
    has = "This model has it still." if c.pre_logits else "This model has the matrix alone."
    st.markdown(
        f"**The pre-training head.** For pre-training the paper put a hidden layer with tanh before the matrix: here "
        f"{hidden:,} parameters instead of {matrix:,}. For fine-tuning both are thrown away, and a new matrix begins "
        f"at 0. {has}"
    )


def _eval(seen) -> None:
    """The same picture twice, while training and not."""
    from playground.lessons import block

    state = st.segmented_control("Two passes with", ("model.train()", "model.eval()"), default="model.train()",
                                 key="mode", required=True)  # fmt: skip
    first, second = block.two_passes(seen, state == "model.train()")
    why = "Dropout sets other numbers to 0 each time." if first != second else "Nothing is dropped: they are equal."
    st.markdown(
        f"The likeliest class’s logit, with a dropout of {block.DROP:.0%} after the last layer: **{first:.3f}**, and "
        f"once more **{second:.3f}**. {why}"
    )


def _guess(here: Here, logits, labels: list[str]) -> None:
    """On the curve of −log p: where does the loss of an unlikely class lie?"""
    shares = logits.softmax(-1)
    ranked = shares.argsort(descending=True).tolist()
    index = next((i for i in ranked[1:] if shares[i] < 0.2), ranked[-1])
    p = max(float(shares[index]), 0.001)
    likely = float(shares[ranked[0]])
    points = np.unique(np.concatenate([np.linspace(1, 0.0005, 200), [p]]))[::-1]
    known = int((points > 0.55).sum())
    guess.number(
        "block_loss",
        f"The softmax gives *{labels[index]}* a share of {p:.1%}. If that was right, the loss would be ▢.",
        Number(0, 8, step=0.05), -math.log(p),
        f"**Cross-entropy** is −log p of the right class, with the natural logarithm: −log {p:.3f} = "
        f"{-math.log(p):.2f}. For *{labels[ranked[0]]}*, {likely:.1%}, it would be {-math.log(likely):.2f}. Half the "
        f"share costs {math.log(2):.2f} more, whatever it was.",
        (here.picture.id, here.wish.model),
        prose="The logits say how much speaks for each class. The softmax makes shares of them, and the loss is the "
        "price of the share that the *right* class got: nothing for 100 %, more and more towards 0.",
        tempting=(
            ((max(0, 1 - p - 0.15), 1 - p + 0.15), "That is 1 − p, what is missing to 1. It can never cost more than "
             "1; −log p grows without end."),
        ),
        picture=Lines(
            tuple(points.tolist()),
            (Series("−log p", tuple((-np.log(points)).tolist()), lesson.QUERY, shown=known),),
            0, 8, "p, the share of the right class", at=(0, int(np.abs(points - p).argmin())), title="Loss",
            x_ticks=(1, 0.8, 0.6, 0.4, 0.2, 0), marks=(Mark(p, labels[index]),),
        ),
    )  # fmt: skip
