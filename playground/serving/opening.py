"""How a picture opens: first which one, in which model, how finely, and at which layer and head.

Photographs open in DINOv2 where its weights are on this machine; drawings in our own model, which has learned from
drawings. Both can be shown without torch, from packs that were made ahead (see prepared.py).
"""

from __future__ import annotations

from playground.samples import PHOTOGRAPHS, SAMPLES, Look, named
from playground.serving import models
from playground.serving.prepared import FINER
from playground.serving.traces import Wish


def first_sample(model: str | None = None) -> str:
    """The photograph that shows most, if there is a model for it. Who names another model gets what suits that."""
    if model in models.OURS or not models.has_real():
        return SAMPLES[0].name
    return next((sample.name for sample in PHOTOGRAPHS if sample.is_here), SAMPLES[0].name)


def wish(sample: str | None) -> Wish:
    """The model that suits a picture, and how finely it looks at it first. None: a person's own, which is taken for a
    photograph."""
    photograph = sample is None or named(sample).kind == "photograph"
    model = models.REAL if photograph and models.has_real() else models.default()
    return Wish(model, detail(sample, model))


def detail(sample: str | None, model: str) -> int:
    return FINER.get(sample, 1) if model == "bundled" else 1


def view(sample: str | None, wish: Wish) -> dict[str, str]:
    """The layer and head where a photograph shows most; empty where the microscope's own choice will do."""
    look: Look | None = named(sample).look if sample else None
    if look is None or wish.model != look.model or wish.detail != 1:
        return {}
    return {"layer": str(look.layer), "head": str(look.head)}
