"""A training run as the lesson on training shows it: `python -m workshop.timelapse` makes the files."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from playground.pack import pack, unpack

if TYPE_CHECKING:
    from playground.analysis.heads import Habits

Head = tuple[int, int]  # (layer, head)


@dataclass(frozen=True)
class Beginning:
    """A step at which another kind of picture or another loss begins. Charts mark it, because otherwise a change that
    a loss has caused would seem to have emerged by itself."""

    step: int
    short: str  # words beside the step's line in a chart
    says: str  # a sentence that does not name the step
    loss: str = ""  # the loss that begins; "" if only the pictures change
    told_heads: tuple[Head, ...] = ()  # the heads that a loss tells where to look, from this step on


@dataclass(frozen=True)
class Moment:
    step: int
    habits: Habits
    mass: np.ndarray  # (layers, heads): share on the query's own object, without the query itself
    trace: bytes  # of the sample; empty if only the curves are kept


@dataclass(frozen=True)
class Timelapse:
    sample: str
    losses: tuple[str, ...]
    curve: np.ndarray  # (points, 1 + losses): a step, and the losses at this step
    moments: tuple[Moment, ...]
    chance: float  # the `mass` of an even row
    beginnings: tuple[Beginning, ...]


@cache
def read(file: Path) -> Timelapse:
    from playground.analysis.heads import Habits  # imports torch

    header, arrays = unpack(file.read_bytes())
    names = [field.name for field in fields(Habits)]
    moments = (
        Moment(step, Habits(**{name: arrays[name][i] for name in names}), arrays["mass"][i], bytes(arrays[f"trace{i}"]))
        for i, step in enumerate(header["moments"])
    )
    starts = (
        Beginning(**entry | {"told_heads": tuple(map(tuple, entry["told_heads"]))}) for entry in header["beginnings"]
    )
    losses = tuple(header["losses"])
    return Timelapse(header["sample"], losses, arrays["curve"], tuple(moments), header["chance"], tuple(starts))


def first_habits(run: Timelapse) -> tuple[int, dict[str, list[Head]]]:
    """The first step at which a head has a habit, and {habit: heads} at this step."""
    for moment in run.moments:
        heads_by_kind: dict[str, list[Head]] = {}
        for layer, row in enumerate(moment.habits.habit_names(moment.mass)):
            for head, kind in enumerate(row):
                if kind not in ("everywhere", "no single habit", "idle"):
                    heads_by_kind.setdefault(kind, []).append((layer, head))
        if heads_by_kind:
            return moment.step, heads_by_kind
    raise LookupError("In this run no head gets a habit.")


def packed_layer(run: Timelapse, layer: int, jpeg: bytes) -> bytes:
    """One layer at each moment for microscope/lessons/reel.js: all layers would be too many bytes."""
    from playground.analysis.heads import HABITS

    header = {
        "begins": [[beginning.step, beginning.short] for beginning in run.beginnings],
        "moments": [moment.step for moment in run.moments],
        "losses": list(run.losses),
        "habits": [{"label": habit.label, "colour": habit.colour} for habit in HABITS],
        "kinds": [moment.habits.habit_names(moment.mass) for moment in run.moments],
        "chance": run.chance,
    }  # fmt: skip
    arrays: dict[str, np.ndarray | bytes] = {
        "curve": np.asarray(run.curve, np.float32),
        "entropy": np.stack([moment.habits.entropy for moment in run.moments]).astype(np.float32),
        "mass": np.stack([moment.mass for moment in run.moments]).astype(np.float32),
        "image": jpeg,
    }
    packs = {f"pack{n}": one_layer_pack(moment.trace, layer) for n, moment in enumerate(run.moments)}
    return pack(header, arrays | packs)


def one_layer_pack(data: bytes, layer: int) -> bytes:
    header, arrays = unpack(data)
    index = header["held"].index(layer)
    del header["sections"], arrays["value_norms"]
    return pack(header | {"held": [layer]}, {name: array[index : index + 1] for name, array in arrays.items()})
