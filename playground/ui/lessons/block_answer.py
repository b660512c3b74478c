"""The answer: the vector that is read out, its logits, and what a right one costs."""

from __future__ import annotations

import streamlit as st

from playground.lessons.words import block as said
from playground.serving.here import Here
from playground.ui import guess, lesson
from playground.ui.lessons import answered
from playground.ui.lessons.answered import Answered
from playground.ui.lessons.block import TEXT

STEP = TEXT.steps["answer"]
WORDS = STEP.said
MOST_ROWS = 13  # of the table
UNLIKELY = 0.2  # a probability below it


def answer(here: Here) -> None:
    from playground.lessons import block

    one = answered.answered(here)
    seen, labels = one.seen, one.labels
    c, logits = seen.vit.config, seen.logits
    answered.show(here, one, STEP)
    _guess(one)
    lesson.say(WORDS["read"], read=said.READ[c.pool])
    index = st.selectbox(
        WORDS["suppose" if c.multi_label else "label"],
        range(len(labels)),
        one.label,
        format_func=lambda i: f"{i}: {labels[i]}",
        key="class_index",
        width=420,
    )
    _table(one, index)
    _loss(one, index)
    head = seen.vit.head.weight
    begins = ", ".join(f"{v:.3f}" for v in block.look_up(head.detach().cpu(), index)[:4].tolist()).replace("-", "−")
    lesson.say(WORDS["look_up"], label=index, rows=head.shape[0], columns=head.shape[1], begins=begins)
    hidden, matrix = block.pretraining_head(c.width, len(labels))
    has = WORDS["both" if c.pre_logits else "alone"]
    lesson.say(WORDS["pretraining"], hidden=hidden, matrix=matrix, has=has)
    _eval(seen)
    dear = int(logits.argmin())
    lesson.exercises(STEP, {"block_dear": index == dear}, dear=dear, label=labels[dear], logit=float(logits[dear]))


def _table(one: Answered, index: int) -> None:
    """The likeliest labels and the chosen one; with what each answer costs, if there is one to each and the truth is
    known."""
    from playground.lessons import block

    c, logits = one.seen.vit.config, one.seen.logits
    p, costs = c.shares(logits), block.costs(logits, one.true)
    likely = logits.argsort(descending=True)[:MOST_ROWS].tolist()
    shown = likely if index in likely else [*likely[:-1], index]
    judged = c.multi_label and one.true
    lines = []
    for i in shown:
        mark = "**" if i == index else ""
        cells = [f"{mark}{i}: {one.labels[i]}{mark}", f"{float(logits[i]):.2f}", f"{float(p[i]):.1%}"]
        cells += ["yes" if i in one.true else "no", f"{float(costs[i]):.2f}"] if judged else []
        lines.append(f"| {' | '.join(cells)} |")
    kind = "sigmoid: several may be true" if c.multi_label else "softmax: they sum to 1"
    head = ["class", "logit", f"probability ({kind})", *(["in the picture", "costs"] if judged else [])]
    st.markdown(lesson.minus("\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *lines])))


def _loss(one: Answered, index: int) -> None:
    from playground.lessons import block

    c, logits = one.seen.vit.config, one.seen.logits
    whole = WORDS["whole"].format(mean=float(block.costs(logits, one.true).mean())) if one.true else ""
    lesson.say(
        WORDS["sigmoid" if c.multi_label else "softmax"] + WORDS["price"],
        label=one.labels[index], cross=block.cross_entropy(c, logits, index), whole=whole, labels=len(one.labels),
        other=float(block.costs(logits, ())[index]),
    )  # fmt: skip


def _eval(seen) -> None:
    """The same picture twice, while training and not."""
    from playground.lessons import block

    state = st.segmented_control("Two passes with", ("model.train()", "model.eval()"), default="model.train()",
                                 key="mode", required=True)  # fmt: skip
    first, second = block.two_passes(seen, state == "model.train()")
    why = WORDS["dropped" if first != second else "equal"]
    lesson.say(WORDS["passes"], drop=block.DROP, first=first, second=second, why=why)


def _guess(one: Answered) -> None:
    """Of the likeliest class that is unlikely, and, where that is known, not true."""
    c = one.seen.vit.config
    shares = c.shares(one.seen.logits)
    first, *others = shares.argsort(descending=True).tolist()
    false = [number for number in others if number not in one.true] or others
    index = next((number for number in false if shares[number] < UNLIKELY), false[-1])
    pairs = [(one.labels[number], float(shares[number])) for number in (index, first)]
    question = said.loss(*pairs[0], *pairs[1], c.multi_label)
    guess.ask(question, (one.here.picture.id, one.seen.model))
