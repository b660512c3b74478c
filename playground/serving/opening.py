"""How a picture opens: first which one, in which model, how finely, and at which layer and head.

Photographs open in DINOv2 where its weights are on this machine; drawings in our own model, which has learned from
drawings. Both can be shown without torch, from packs that were made ahead (see prepared.py).
"""

from __future__ import annotations

from playground.samples import PHOTOGRAPHS, SAMPLES, Look, named
from playground.serving import models, traces
from playground.serving.pictures import Picture
from playground.serving.prepared import FINER
from playground.serving.traces import Wish


def first_sample(model: str | None = None) -> str:
    """The photograph that shows most, if there is a model for it. Who names another model gets what suits that."""
    if model in models.OURS or not models.has_real():
        return SAMPLES[0].name
    return next((sample.name for sample in PHOTOGRAPHS if sample.is_here), SAMPLES[0].name)


def wish(picture: Picture) -> Wish:
    """The model that suits a picture, and how finely it looks at it first."""
    model = models.REAL if is_photograph(picture) and models.has_real() else models.default()
    return Wish(model, detail(picture, model))


def is_photograph(picture: Picture) -> bool:
    """A person's own picture is taken for one."""
    return not picture.sample or named(picture.name).kind == "photograph"


def detail(picture: Picture, model: str) -> int:
    return FINER.get(picture.name, 1) if picture.sample and model == "bundled" else 1


def view(picture: Picture, wish: Wish) -> dict[str, str]:
    """The layer and head where a photograph shows most; empty where the microscope's own choice will do."""
    look: Look | None = named(picture.name).look if picture.sample else None
    if look is None or wish.model != look.model or wish.detail != 1:
        return {}
    return {"layer": str(look.layer), "head": str(look.head)}


def patch(picture: Picture, wish: Wish) -> str:
    """Which one is asked first, as an address has it; the browser chooses the same."""
    y, x = named(picture.name).start if picture.sample else (0.5, 0.5)
    rows, columns = traces.grid(picture, wish)
    return f"{int(y * rows)},{int(x * columns)}"
