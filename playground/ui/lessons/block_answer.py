"""The answer: the vector that is read out, its logits, and what a right one costs."""

from __future__ import annotations

import streamlit as st

from playground.lessons.words import block as said
from playground.ui import guess, lesson
from playground.ui.here import Here
from playground.ui.lessons.block import TEXT, that_names

WORDS = TEXT.steps["answer"].said


def answer(here: Here) -> None:
    import torch

    from playground.lessons import block

    seen = that_names(here, "answer")
    c, logits = seen.vit.config, seen.logits
    labels = list(c.labels or (f"class {i}" for i in range(c.classes)))
    _guess(here, seen, labels)
    lesson.say(WORDS["read"], read=said.READ[c.pool])
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
    st.markdown(lesson.minus("\n".join([f"| class | logit | probability ({kind}) |", "|---|---|---|", *lines])))
    own = -float(torch.nn.functional.logsigmoid(logits[index]))
    loss = WORDS["sigmoid" if c.multi_label else "softmax"] + WORDS["price"]
    lesson.say(loss, label=labels[index], own=own, cross=block.cross_entropy(logits, index))
    head = seen.vit.head.weight
    begins = ", ".join(f"{v:.3f}" for v in block.look_up(head.detach().cpu(), index)[:4].tolist()).replace("-", "−")
    lesson.say(WORDS["look_up"], label=index, rows=head.shape[0], columns=head.shape[1], begins=begins)
    hidden, matrix = block.pretraining_head(c.width, len(labels))
    has = WORDS["both" if c.pre_logits else "alone"]
    lesson.say(WORDS["pretraining"], hidden=hidden, matrix=matrix, has=has)
    _eval(seen)
    dear = int(logits.argmin())
    lesson.exercises(
        TEXT.steps["answer"], {"block_dear": index == dear}, dear=dear, label=labels[dear], logit=float(logits[dear])
    )


def _eval(seen) -> None:
    """The same picture twice, while training and not."""
    from playground.lessons import block

    state = st.segmented_control("Two passes with", ("model.train()", "model.eval()"), default="model.train()",
                                 key="mode", required=True)  # fmt: skip
    first, second = block.two_passes(seen, state == "model.train()")
    why = WORDS["dropped" if first != second else "equal"]
    lesson.say(WORDS["passes"], drop=block.DROP, first=first, second=second, why=why)


def _guess(here: Here, seen, labels: list[str]) -> None:
    """Of the likeliest class that is unlikely."""
    shares = seen.logits.softmax(-1)
    first, *others = shares.argsort(descending=True).tolist()
    index = next((i for i in others if shares[i] < 0.2), others[-1])
    question = said.loss(labels[index], float(shares[index]), labels[first], float(shares[first]))
    guess.ask(question, (here.picture.id, seen.model))
