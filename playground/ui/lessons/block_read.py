"""Read the stream: what each layer would answer, of what is read out and of each patch alone."""

from __future__ import annotations

import streamlit as st

from playground.lessons.words import block as said
from playground.models.names import plain_name
from playground.serving import queue
from playground.serving.here import Here
from playground.ui import guess, lesson
from playground.ui.components import picture
from playground.ui.lessons import answered
from playground.ui.lessons.block import TEXT
from playground.ui.lessons.drawings import lit, small

STEP = TEXT.steps["read"]
MOST_MAPS = 8  # layers whose patches are drawn


def read(here: Here) -> None:
    """The logit lens, layer after layer."""
    from playground.lessons import block

    one = answered.answered(here)
    seen, label = one.seen, one.labels[one.label]

    def work() -> block.Read:
        with queue.turns() as give_way:
            return block.read_stream(seen, one.label, give_way)

    found = one.here.kept(("read", one.label), work)
    answered.show(here, one, STEP)
    question = said.read(plain_name(seen.model), label, [100 * p for p in found.pooled], seen.vit.config.pool)
    guess.ask(question, (one.here.picture.id, seen.model, one.label))
    with guess.after("block_read"):
        _patches(one.here, found, label)


def _patches(here: Here, found, label: str) -> None:
    """What each patch alone would answer after some layers, in one scale."""
    layers = len(found.patches)
    chosen = sorted({round(n * (layers - 1) / (min(layers, MOST_MAPS) - 1)) for n in range(min(layers, MOST_MAPS))})
    lesson.say(STEP.said["patches"], label=label)
    for column, layer in zip(st.columns(len(chosen)), chosen, strict=True):
        with column:
            caption = "no layer" if not layer else f"{layer} layer{'s' * (layer > 1)}"
            picture(lit(small(here), found.patches[layer], None, 1.0), caption=caption)
    yes = [(one > 0.5).float().mean().item() for one in found.patches]
    most = max(range(layers), key=yes.__getitem__)
    more = yes[most] > yes[-1]
    peak = STEP.said["peak"].format(when=said.passed(most), most=yes[most]) if more else ""
    lesson.say(STEP.after, last=yes[-1], label=label, peak=peak)
