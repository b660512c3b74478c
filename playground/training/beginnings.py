"""Where in a training run something begins: another kind of picture, or a loss on the attention weights themselves.

Without this, the curves of a run would invite wrong causes: a jump looks like something that emerged where in truth it
was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from playground.training.losses import LAST
from playground.training.recipe import Emergent, Recipe
from playground.training.timelapse import Timelapse

Head = tuple[int, int]  # (layer, head)


@dataclass(frozen=True)
class Beginning:
    step: int
    short: str  # for a line in a chart
    says: str  # a sentence, without its step
    loss: str = ""  # the loss that begins, one of LOSSES; "" for another kind of picture
    told: tuple[Head, ...] = ()  # the heads that are told from here on where to look


def beginnings(recipe: Recipe) -> tuple[Beginning, ...]:
    """Of a run with all losses, in their order."""
    r = recipe
    last = tuple(
        (layer, head) for layer in range(r.config.depth - LAST, r.config.depth) for head in range(r.config.heads)
    )
    gathering = round(r.gathering_from * r.steps)
    found = [
        Beginning(
            gathering,
            "told: neighbours",
            f"{_named((r.beside,))} told to look at the left neighbour, and {_named((r.around,))} told to look at the "
            "eight patches around",
            "placed",
            (r.beside, r.around),
        )
    ]
    if r.gathering:
        found += [
            Beginning(
                gathering,
                "told: own object",
                f"a loss on the attention weights begins: {_named(r.gathering)} told to stay on the object that the "
                "patch belongs to, by the object's mask",
                "gathered",
                r.gathering,
            ),
            Beginning(
                round(r.even_from * r.steps),
                "told: evenly",
                f"{_named(r.gathering)} also told to lie evenly on that object",
                "uneven",
                r.gathering,
            ),
        ]
    if r.polish:
        found.append(
            Beginning(
                r.steps, "polish",
                f"the polish begins; the class token is told to look at objects in the last {LAST} layers",
                "looked", last,
            )
        )  # fmt: skip
    if r.near_until < 1:
        found.append(Beginning(round(r.near_until * r.steps), "whole scenes", "close-ups end, whole scenes begin"))
        if r.small_until < 1:
            found.append(Beginning(round(r.small_until * r.steps), "full size", "the scenes come at their full size"))
    return tuple(sorted(found, key=lambda one: (one.step, one.loss != "", one.loss == "placed")))


def of_the_emergent(recipe: Emergent) -> tuple[Beginning, ...]:
    """Of a run in which no loss reads attention: other pictures begin, and nothing else."""
    r = recipe
    found = []
    for first in range(0, r.total, r.round):
        if first:
            found.append(Beginning(first, "once more", "the course begins once more, at the highest learning rate"))
        found += [
            Beginning(
                first + round(r.near_until * r.steps), "whole views", "parts of pictures end, whole pictures begin"
            ),
            Beginning(first + r.steps, "finer grid", f"the pictures are cut finer: {r.fine} × {r.fine} patches"),
        ]
    return tuple(found)


def begun(recipe: Recipe | Emergent, seen: Timelapse) -> tuple[Beginning, ...]:
    """Those that a run really had: a loss that stays 0 to the end was not used."""
    if isinstance(recipe, Emergent):
        return of_the_emergent(recipe)
    used = {name for name, values in zip(seen.losses, seen.curve[:, 1:].T, strict=True) if np.any(values > 0)}
    return tuple(one for one in beginnings(recipe) if not one.loss or one.loss in used)


def told(begins: tuple[Beginning, ...], patches: bool = True) -> set[Head]:
    """The heads that were told where patches look; with `patches=False` also those of the class token."""
    return {head for one in begins for head in one.told if not (patches and one.loss == "looked")}


def _named(heads: tuple[Head, ...]) -> str:
    """ "head 0 in each of the layers 3, 4 and 5 is" """
    if len({head for _, head in heads}) == 1 and len(heads) > 1:
        *most, last = (str(layer) for layer, _ in heads)
        return f"head {heads[0][1]} in each of the layers {', '.join(most)} and {last} is"
    named = " and ".join(f"head {head} of layer {layer}" for layer, head in heads)
    return f"{named} {'is' if len(heads) == 1 else 'are'}"


def first_with_a_habit(seen: Timelapse) -> tuple[int, dict[str, list[Head]]] | None:
    """The first moment at which some head has a habit, and which heads have which; None if none ever has."""
    plain = ("everywhere", "no single habit", "idle")
    for moment in seen.moments:
        found: dict[str, list[Head]] = {}
        for layer, row in enumerate(moment.habits.kinds(moment.mass)):
            for head, kind in enumerate(row):
                if kind not in plain:
                    found.setdefault(kind, []).append((layer, head))
        if found:
            return moment.step, found
    return None
