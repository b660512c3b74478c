"""The answer: the vector that is read out, its logits, and what a right one costs."""

from __future__ import annotations

import streamlit as st

from playground.models.names import plain_name
from playground.serving import traces
from playground.ui import lesson
from playground.ui.here import Here
from playground.ui.lessons.block import traced

READ = {
    "token": "the class token",
    "avg": "the mean of the patches",
    "map": "what a query of its own collects",
}  # by Config.pool


def answer(here: Here) -> None:
    import torch

    from playground.lessons import block

    seen = traced(here)
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
