"""Read the stream: what each layer would answer, of what is read out and of each patch alone."""

from __future__ import annotations

import streamlit as st

from playground.lessons.words import block as said
from playground.models.names import plain_name
from playground.serving import queue
from playground.ui import guess, lesson
from playground.ui.components import picture
from playground.ui.here import Here
from playground.ui.lessons.block import TEXT, that_names
from playground.ui.lessons.drawings import lit, small

MOST_MAPS = 8  # layers whose patches are drawn


def read(here: Here) -> None:
    """The logit lens, layer after layer."""
    from playground.lessons import block

    seen = that_names(here, "read")

    def work() -> block.Read:
        with queue.turns() as give_way:
            return block.read_stream(seen, None, give_way)

    found, c = here.kept(("read", seen.model), work), seen.vit.config
    label = (c.labels or {}) and c.labels[found.label]
    label = label or f"class {found.label}"
    question = said.read(plain_name(seen.model), label, [100 * p for p in found.pooled], c.pool)
    guess.ask(question, (here.picture.id, seen.model))
    with guess.after("block_read"):
        _patches(here, found, label)


def _patches(here: Here, found, label: str) -> None:
    """What each patch alone would answer after some layers, in one scale."""
    layers, step = len(found.patches), TEXT.steps["read"]
    chosen = sorted({round(n * (layers - 1) / (min(layers, MOST_MAPS) - 1)) for n in range(min(layers, MOST_MAPS))})
    lesson.say(step.said["patches"], label=label)
    for column, layer in zip(st.columns(len(chosen)), chosen, strict=True):
        with column:
            caption = "no layer" if not layer else f"{layer} layer{'s' * (layer > 1)}"
            picture(lit(small(here), found.patches[layer], None, 1.0), caption=caption)
    yes = [(one > 0.5).float().mean().item() for one in found.patches]
    most = max(range(layers), key=yes.__getitem__)
    peak = step.said["peak"].format(layers=most, most=yes[most]) if most < layers - 1 else ""
    lesson.say(step.after, last=yes[-1], label=label, peak=peak)
