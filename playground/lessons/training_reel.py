"""A training run as microscope/lessons/reel.js draws it: its curves, and the attention of each of its moments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from playground.pack import pack, unpack

if TYPE_CHECKING:
    from playground.analysis.heads import Habit
    from playground.training.timelapse import Beginning, Moment, Timelapse
    from playground.vit import Told


def of_a_layer(run: Timelapse, layer: int, begins: Sequence[Beginning], jpeg: bytes) -> bytes:
    """One layer at each moment: all of them are large."""
    from playground.analysis.heads import HABITS

    traces = [layer_of(moment.trace, layer) for moment in run.moments]
    header = {
        "run": "bundled", "planned": len(run.moments), "begins": [[one.step, one.short] for one in begins],
        "aim": "On the patch's own object", "told": [], "growing": False, "first": None,
    }  # fmt: skip
    return _packed(header, run, traces, jpeg, HABITS, lambda moment: moment.habits.kinds(moment.mass))


def of_a_learner(
    name: str, run: Timelapse, jpeg: bytes, *, planned: int, growing: bool, told: Sequence[Told],
    habits: Sequence[Habit], kinds: Callable[[Moment], list[list[str]]], first: tuple[int, int],
) -> bytes:  # fmt: skip
    """All layers of a small model, whose run may go on; `first` is the layer and head that is shown until somebody
    chooses one. Runs whose names begin alike, up to a hyphen, share the clock."""
    header = {
        "run": name, "planned": planned, "begins": [], "aim": "On its twin",
        "told": [[one.layer, one.head, one.what] for one in told], "growing": growing, "first": first,
    }  # fmt: skip
    return _packed(header, run, [moment.trace for moment in run.moments], jpeg, habits, kinds)


def _packed(
    header: dict, run: Timelapse, traces: list[bytes], jpeg: bytes, habits: Sequence[Habit],
    kinds: Callable[[Moment], list[list[str]]],
) -> bytes:  # fmt: skip
    header |= {
        "moments": [moment.step for moment in run.moments],
        "losses": list(run.losses),
        "habits": [{"label": habit.label, "colour": habit.colour} for habit in habits],
        "kinds": [kinds(moment) for moment in run.moments],
        "chance": run.chance,
    }
    arrays = {
        "curve": np.asarray(run.curve, np.float32),
        "entropy": np.stack([moment.habits.entropy for moment in run.moments]).astype(np.float32),
        "mass": np.stack([moment.mass for moment in run.moments]).astype(np.float32),
        "image": jpeg,
    }
    return pack(header, arrays | {f"pack{n}": trace for n, trace in enumerate(traces)})


def layer_of(data: bytes, layer: int) -> bytes:
    """Queries and keys of one layer of a pack that holds several."""
    header, arrays = unpack(data)
    place = header["held"].index(layer)
    del header["sections"], arrays["value_norms"]
    return pack(header | {"held": [layer]}, {name: array[place : place + 1] for name, array in arrays.items()})
