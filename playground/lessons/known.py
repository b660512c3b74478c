"""A picture that a model labels correctly, so that a lesson may explain how an answer comes about.

What a sample shows is known (`Sample.shows`). A model that says yes or no to each label is right where every yes and
every no is; one that shares 100 % out among its labels, where the likeliest label is true. Of the pictures with the
fewest wrong answers that one is taken of which a true label gains most on the way through the layers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.analysis.block import layer_by_layer, read
from playground.tracing import Trace
from playground.vit import Config

YES = 0.5  # a probability above it is a yes
FOUND = {"bundled": "portrait", "bundled-taught": "one-colour"}  # by `best`, for which ten pictures have to be run; a
# test runs them again


@dataclass(frozen=True)
class Example:
    picture: str  # the sample's name
    label: int  # a true one that is answered so, if there is one
    wrong: int  # how many answers are
    gained: float  # by the label's probability, from the lowest that a layer leaves to the last


def true_labels(c: Config, shows: Collection[str]) -> list[int]:
    """The numbers of the labels that are true of a picture."""
    return [number for number, name in enumerate(c.labels) if name in shows]


def wrong_answers(c: Config, logits: Tensor, shows: Collection[str]) -> list[int]:
    """The numbers of the labels that are answered wrongly."""
    true, shares = set(true_labels(c, shows)), c.shares(logits)
    if c.multi_label:
        return [number for number, share in enumerate(shares.tolist()) if (share > YES) != (number in true)]
    likeliest = int(shares.argmax())
    return [] if likeliest in true else [likeliest]


def on_the_way(seen: Trace, give_way: Callable[[], object] = lambda: None) -> Tensor:
    """(layers, classes): the probabilities, if what a layer leaves were read by the last norm and the classifier."""
    with torch.no_grad():
        _, *after = (read(vit, x)[0] for vit, x in layer_by_layer(seen, give_way))
        return torch.stack(after)


def judged(
    name: str, seen: Trace, shows: Collection[str], give_way: Callable[[], object] = lambda: None
) -> Example | None:
    """What is known of a model's answer; None where no label of the model is known to be true of the picture."""
    c, true = seen.vit.config, true_labels(seen.vit.config, shows)  # type: ignore[union-attr]
    if not true:
        return None
    wrong, likeliest = wrong_answers(c, seen.logits, shows), int(seen.logits.argmax())  # type: ignore[arg-type,union-attr]
    along = on_the_way(seen, give_way)
    gained = along[-1] - along.amin(0)  # (classes,)
    answered = [number for number in true if number not in wrong] if c.multi_label else [likeliest]
    label = max(set(answered) & set(true) or true, key=lambda number: float(gained[number]))
    return Example(name, label, len(wrong), float(gained[label]))


def best(examples: Sequence[Example]) -> Example | None:
    fewest = min((one.wrong for one in examples), default=0)
    return max((one for one in examples if one.wrong == fewest), key=lambda one: one.gained, default=None)
