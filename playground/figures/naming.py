"""What models and files are called in a figure and in what its file says of itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from playground.analysis import fingerprints
from playground.figures.spec import Spec
from playground.names import plain_name

if TYPE_CHECKING:
    from playground.tracing import Trace

RANDOM = " (random weights)"


def is_random(seen: Trace) -> bool:
    """Whether nothing of what is seen was learned. Of a trace that was read from a file the name alone tells."""
    return plain_name(seen.model).endswith(RANDOM) if seen.vit is None else seen.vit.random_weights


def model(seen: Trace) -> str:
    """ "DINOv2 S/14", or "ViT-B/16 (random weights)"."""
    return plain_name(seen.model).removesuffix(RANDOM) + RANDOM * is_random(seen)


def weights(seen: Trace) -> str:
    """Their digest, and whether they are random."""
    if seen.vit is None:
        return "unknown"
    return f"{'random weights, ' * is_random(seen)}sha256:{fingerprints.of_weights(seen.vit)}"


def published(spec: Spec) -> Spec:
    """With the files' own names alone: the folders on somebody's disk can name a person."""
    files = {"image": spec.image, "other_image": spec.other_image, "weights": spec.weights}
    models = {
        key: name for key in ("model", "other_model") if (name := getattr(spec, key) or "").endswith(".safetensors")
    }
    return replace(spec, **{key: name and PurePath(name).name for key, name in (files | models).items()})
