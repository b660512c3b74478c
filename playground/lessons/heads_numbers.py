"""What every head of a picture does, measured layer by layer, for each lesson that asks for it."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import numpy as np

from playground.lessons.lesson import Subject
from playground.lessons.parts import Wait, Words
from playground.samples import SAMPLES

if TYPE_CHECKING:  # imports torch
    from playground.analysis.heads import Habits
    from playground.tracing import Trace

SLOW = 1000  # tokens: from there on a layer takes long enough to be reported


def habits(subject: Subject) -> Habits:
    """The numbers of every head of every layer."""
    from playground.analysis.heads import stacked

    return stacked([_layer(subject, layer) for layer in range(subject.vit.config.depth)])


def _layer(subject: Subject, layer: int) -> Habits:
    from playground.analysis.heads import look_at

    def work() -> Habits:
        seen = subject.trace()
        with subject.turns():
            return look_at(seen, [layer])

    return subject.kept(("habits", layer), work)


def measuring(subject: Subject, of: str = "this picture") -> Generator[Wait, None, Habits]:
    """The same, which says how far it is."""
    yield Wait(f"Running the network on {of} …")
    seen = subject.trace()
    yield Wait(f"Measuring heads on {of} …")
    for layer in range(seen.layers):
        if seen.tokens > SLOW:
            yield Wait(f"Measuring heads on {of}: layer {layer + 1} of {seen.layers}")
        _layer(subject, layer)
    return habits(subject)


def over_samples(subject: Subject) -> Generator[Wait, None, tuple[Habits, Habits]]:
    """Mean and standard deviation over the samples."""
    from playground.analysis.heads import average, spread

    many = []
    for n, sample in enumerate(SAMPLES, start=1):
        found = yield from measuring(subject.sample(sample.name), f"{sample.title}, {n} of {len(SAMPLES)}")
        many.append(found)
    return average(many), spread(many)


def spot_of(index: int, numbers: np.ndarray) -> tuple[int, int]:
    """(layer, head) of an index into numbers of (layers, heads) laid out flat."""
    layer, head = np.unravel_index(index, numbers.shape)
    return int(layer), int(head)


def drawn(seen: Trace) -> Iterator[Words]:
    """A caption, where only some of the rows were measured."""
    from playground.analysis import heads

    if words := heads.words(seen):
        yield Words(words, small=True)
