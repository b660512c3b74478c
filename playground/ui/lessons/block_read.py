"""Read the stream: what each layer would answer, of what is read out and of each patch alone."""

from __future__ import annotations

import streamlit as st
from torch import Tensor

from playground.lessons.questions import Lines, Number, Series
from playground.models.names import plain_name
from playground.serving import queue, traces
from playground.ui import guess, lesson
from playground.ui.components import picture
from playground.ui.here import Here
from playground.ui.lessons.block import traced
from playground.ui.lessons.block_answer import READ
from playground.ui.lessons.drawings import lit

MOST_MAPS = 8  # layers whose patches are drawn


def read(here: Here) -> None:
    """The logit lens, layer after layer."""
    from playground.lessons import block

    seen = traced(here)
    if seen.logits is None or not seen.vit.config.classes:
        st.info(
            f"{plain_name(here.wish.model)} has no classifier to read with. This step shows our small ViT.",
            icon=":material/info:",
        )
        seen = traces.trace(here.picture, traces.Wish("bundled"), here.own)

    def work() -> block.Read:
        with queue.turns() as give_way:
            return block.read_stream(seen, None, give_way)

    found = here.kept(("read", seen.model), work)
    label = (seen.vit.config.labels or {}) and seen.vit.config.labels[found.label]
    label = label or f"class {found.label}"
    _guess(here, seen, found, label)
    with guess.after("block_read"):
        _patches(here, seen, found, label)


def _guess(here: Here, seen, found, label: str) -> None:
    """The label's probability after each layer; the one half way is asked for."""
    said = tuple(100 * p for p in found.pooled)
    half = (len(said) - 1) // 2
    sure = next((n for n, p in enumerate(said) if p > 50 and all(q > 50 for q in said[n:])), len(said) - 1)
    guess.number(
        "block_read",
        f"In the end {plain_name(seen.model)} gives *{label}* {said[-1]:.0f} %. Read after {half} of "
        f"{len(said) - 1} layers, it is ▢.",
        Number(0, 100, " %"), said[half],
        f"Above one half it stays from layer {sure} on: "
        + ", ".join(f"{p:.0f}" for p in said)
        + " %. Norm and classifier were trained for what the *last* layer gives. Before that they may misread: the "
        "number says when the answer stands in the stream **in the form in which they look for it**.",
        (here.picture.id, seen.model),
        prose="All layers write into one stream, so it can be read at any place: the last norm and the classifier are "
        f"put behind an earlier layer (the *logit lens*). What is read here is {READ[seen.vit.config.pool]}.",
        tempting=(
            ((0.45 * said[-1], 0.55 * said[-1]), "Half of the layers, half of the answer? Layers do not share it out "
             "evenly."),
        ) if abs(said[half] - said[-1] / 2) > 0.06 * said[-1] else (),
        picture=Lines(
            tuple(range(len(said))),
            (Series(label, said, lesson.QUERY, shown=1, dots=True),),
            0, 100, "layers that it has passed", at=(0, half), title=f"Probability of “{label}”", unit=" %",
        ),
    )  # fmt: skip


def _patches(here: Here, seen, found, label: str) -> None:
    """What each patch alone would answer after some layers, in one scale."""
    layers = len(found.patches)
    chosen = sorted({round(n * (layers - 1) / (min(layers, MOST_MAPS) - 1)) for n in range(min(layers, MOST_MAPS))})
    small = here.picture.image.convert("RGB")
    small.thumbnail((240, 240))
    st.markdown(f"**By patch.** How likely *{label}* is if each patch alone is read; bright is 100 %.")
    for column, layer in zip(st.columns(len(chosen)), chosen, strict=True):
        with column:
            caption = "no layer" if not layer else f"{layer} layer{'s' * (layer > 1)}"
            picture(lit(small, found.patches[layer], None, 1.0), caption=caption)
    st.markdown(_spread_words(found.patches, label))


def _spread_words(patches: Tensor, label: str) -> str:
    yes = [(one > 0.5).float().mean().item() for one in patches]
    most = max(range(len(yes)), key=yes.__getitem__)
    return (
        f"After the last layer {yes[-1]:.0%} of the patches say *{label}* with more than one half; most do after "
        f"{most} layers, {yes[most]:.0%}. They were never asked in training: only what is read out was."
    )
