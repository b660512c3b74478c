"""Which picture in which model the steps on the answer look at: one whose answer is right, where that can be known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from playground import samples
from playground.lessons.texts import Step
from playground.lessons.words.block import ANSWERED
from playground.models.names import plain_name
from playground.serving import models, people, queue
from playground.serving.here import Here
from playground.serving.pictures import as_jpeg
from playground.ui import lesson
from playground.ui.components import picture
from playground.ui.lessons.drawings import small

if TYPE_CHECKING:  # imports torch
    from playground.lessons.known import Example
    from playground.tracing import Trace


STRIP, WINDOW = 84, 1200  # pixels: the height of the picture above the question, the usual width of a page


@dataclass(frozen=True)
class Answered:
    here: Here  # the picture and the model
    seen: Trace
    label: int  # a true one, or the likeliest where nobody knows
    true: tuple[int, ...]  # labels; none where nobody knows
    wrong: int  # of the answers

    @property
    def labels(self) -> list[str]:
        c = self.seen.vit.config  # type: ignore[union-attr]
        return list(c.labels or (f"class {number}" for number in range(c.classes)))


def answered(here: Here) -> Answered:
    """The chosen picture in the chosen model. In another model where that one names nothing. On another picture where
    the answer is known to be wrong, or where nobody can know it and the model is ours, which learned from drawings."""
    from playground.lessons.known import true_labels

    chosen = _that_names(here)
    seen = chosen.traced()
    each = seen.vit.config.multi_label  # type: ignore[union-attr]
    found = _judged(chosen) if chosen.picture.sample else None
    if found.wrong if found else each:
        found = _best(chosen.wish.model)
    if found is None or (found.wrong and not each):
        return Answered(chosen, seen, int(seen.logits.argmax()), (), 0)  # type: ignore[union-attr]
    if found.picture != chosen.picture.name:
        chosen = _of(chosen, sample=found.picture)
    shows, seen = samples.named(found.picture).shows, chosen.traced()  # type: ignore[union-attr]
    return Answered(chosen, seen, found.label, tuple(true_labels(seen.vit.config, shows)), found.wrong)  # type: ignore[union-attr]


def show(here: Here, found: Answered, step: Step) -> None:
    """The picture, in a strip, and what is known of it."""
    c, shown = found.seen.vit.config, found.here.picture  # type: ignore[union-attr]
    model, said = plain_name(found.seen.model), []
    if found.here.wish.model != here.wish.model:
        said.append(step.said["no_head"].format(model=plain_name(here.wish.model), other=model))
        model = "it"
    if shown.id != here.picture.id:
        said.append(ANSWERED["ours" if c.multi_label else "other"].format(model=model))
    if found.true:
        right = len(found.labels) - found.wrong
        all_of = ANSWERED["all"] if not found.wrong else ANSWERED["some"].format(right=right)
        names = ", ".join(found.labels[number] for number in found.true)
        kind = ANSWERED["yes or no" if c.multi_label else "one of many"]
        title = samples.named(shown.name).title  # type: ignore[union-attr]
        said.append(kind.format(title=title, shows=names, labels=len(found.labels), all=all_of))
    else:
        said.append(ANSWERED["nobody"].format(model=model))
    image = small(found.here)
    wide = round(STRIP * image.width / image.height)
    strip, words = st.columns([wide, WINDOW - wide], vertical_alignment="center")
    with strip:
        picture(as_jpeg(image), width=wide)
    with words:
        lesson.say(" ".join(sentence[0].upper() + sentence[1:] for sentence in said))


def _that_names(here: Here) -> Here:
    """With a model that names classes: everyday things, where such a model is on this machine."""
    seen = here.traced()
    if seen.logits is not None and seen.vit.config.classes:  # type: ignore[union-attr]
        return here
    return _of(here, model=models.that_names() or "bundled")


def _of(here: Here, **other: str) -> Here:
    """The same choice with another model or sample, in that model's usual grid."""
    words = {name: word for name, word in here.words().items() if name in ("model", "sample", "mine")}
    if "sample" in other:
        words.pop("mine", None)
    return Here(words | other, key=here.key)


def _judged(here: Here) -> Example | None:
    """What is known of the answer to a sample."""
    from playground.lessons.known import judged

    name = here.picture.name

    def work() -> Example | None:
        seen = here.traced()
        with queue.turns() as give_way:
            return judged(name, seen, samples.named(name).shows, give_way)  # type: ignore[union-attr]

    return here.kept("judged", work)


def _best(model: str) -> Example | None:
    """Of all samples, in the model's usual grid."""
    from playground.lessons.known import FOUND, best

    def work() -> Example | None:
        labels = set(models.load(model).config.labels)
        known = [sample.name for sample in samples.samples() if labels & set(sample.shows)]
        names = [FOUND[model]] if model in FOUND else known
        judged = [_judged(Here({"model": model, "sample": name})) for name in names]
        return best([one for one in judged if one])

    return people.worked_for_all().get(("best example", model), work)
