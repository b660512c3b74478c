"""Names of models and files in a figure and in its file's metadata, and hashes of both."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from PIL import Image

from playground.figures.drawing.spec import Spec
from playground.models.names import plain_name
from playground.samples import find

if TYPE_CHECKING:
    from collections.abc import Iterable

    from playground.analysis.faithfulness import Foretold
    from playground.tracing import Trace
    from playground.vit import VisionTransformer


RANDOM_NOTE = " (random weights)"
CHANGED_NOTE = " (changed in memory)"
MODEL_SUFFIXES = (".safetensors", ".pth", ".pt", ".bin", ".ckpt", ".tar")


def is_changed(trace: Trace) -> bool:
    """Whether the model's parameters were changed after loading: then its name no longer tells its weights."""
    from playground.models import source  # imported late, because the server starts without torch

    return trace.vit is not None and source.is_changed(trace.vit, trace.weight_versions)


def is_random(trace: Trace) -> bool:
    """Whether the model is untrained. For a trace from a file, which has no model, the name tells this."""
    if trace.vit is None:
        return plain_name(trace.model).endswith(RANDOM_NOTE)
    return trace.vit.random_weights and not is_changed(trace)


def model(trace: Trace) -> str:
    """ "DINOv2 S/14", "ViT-B/16 (random weights)", or "DINOv2 S/14 (changed in memory)"."""
    name = plain_name(trace.model).removesuffix(RANDOM_NOTE)
    return name + RANDOM_NOTE * is_random(trace) + CHANGED_NOTE * is_changed(trace)


def weights(trace: Trace) -> str:
    """The weights' digest, and whether they are random or were changed after loading."""
    if trace.vit is None:
        return "unknown"
    if trace.outdated:
        return "unknown, changed after this pass"
    kind = "random weights, " * is_random(trace) + "changed in memory, " * is_changed(trace)
    return f"{kind}sha256:{hash_of_weights(trace.vit)}"


def published_spec(spec: Spec) -> Spec:
    """The spec with names of files instead of paths, since folders on somebody's disk can name a person."""
    names: dict[str, Any] = {
        "image": published_name(spec.image),
        "other_image": spec.other_image and published_name(spec.other_image),
        "weights": spec.weights and published_name(spec.weights),
        "model": _model_file(spec.model),
        "other_model": spec.other_model and _model_file(spec.other_model),
    }
    for axis in ("rows", "columns"):
        kind, _, values = (getattr(spec, axis) or "").partition(":")
        if kind in ("pictures", "models"):
            shorten = published_name if kind == "pictures" else _model_file
            names[axis] = f"{kind}:{','.join(map(shorten, values.split(',')))}"
    return replace(spec, **names)


def published_name(name: str) -> str:
    return name if find(name) else PurePath(name).name


def published_trace(trace: Trace) -> Trace:
    """The trace, with the public name of its model."""
    if not trace.model.endswith(".safetensors"):
        return trace
    part_count = 2 if PurePath(trace.model).name == "model.safetensors" else 1  # the folder names the model
    return replace(trace, model="/".join(PurePath(trace.model).parts[-part_count:]))


def _model_file(name: str) -> str:
    """The name of a repository on the hub stays "account/name"."""
    name = name.removeprefix("local-dir:")
    return PurePath(name).name if name.endswith(MODEL_SUFFIXES) or (name and Path(name).exists()) else name


# Short hashes of a model's weights and of a picture: they tell whether two figures have the same model or picture.

# model -> (versions of weights, digest), hashed again if changed
_weight_hashes: WeakKeyDictionary[VisionTransformer, tuple[Any, str]] = WeakKeyDictionary()


def hash_of_weights(vit: VisionTransformer) -> str:
    """Hash of the parameters as they are used, not of the file: a float16 and a float32 file can agree."""
    versions = vit.weight_versions()
    if vit not in _weight_hashes or _weight_hashes[vit][0] != versions:
        digest = sha256()
        for name, tensor in sorted(vit.state_dict().items()):
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(tensor.detach().float().cpu().numpy()).data)
        _weight_hashes[vit] = versions, digest.hexdigest()[:16]
    return _weight_hashes[vit][1]


def hash_of_image(image: Image.Image) -> str:
    """Hash of the upright RGB pixels, not of the file: a pasted picture has no file."""
    return sha256(f"{image.width}x{image.height}".encode() + image.convert("RGB").tobytes()).hexdigest()[:16]


# How far an attribution map can be trusted: its rank correlation with blanking, beside those of a random and of a
# constant map.

TRUST_KEY = "rank correlation with blanking"
BLANKS = {"mean": "the mean colour", "noise": "noise", "neighbours": "what is around"}


def trust_sentences(panels: Iterable[tuple[Spec, Trace]]) -> list[str]:
    """Sentences that say how well the maps agree with blanking, each once."""
    facts = ((trust_facts(spec, trace), model(trace)) for spec, trace in panels if spec.way.attributes)
    return list(dict.fromkeys(f"{TRUST_KEY.capitalize()} in {name}: {fact[TRUST_KEY]}." for fact, name in facts))


def trust_facts(spec: Spec, trace: Trace) -> dict[str, str]:
    """How well the map agrees with blanking, for the metadata of a file."""
    if not spec.way.attributes:
        return {}
    foretold = _foretold(spec, trace)
    if foretold is None:
        return {TRUST_KEY: "not measured"}
    blocks = f"on this picture, {foretold.blocks} blocks, by {BLANKS[foretold.by]}" if not foretold.pictures else ""
    of = blocks or f"mean of {foretold.pictures} photographs"
    numbers = (f"{x:.2f}".replace("-", "−") for x in (foretold.correlation, foretold.random, foretold.constant))
    correlation, random, constant = numbers
    return {TRUST_KEY: f"{correlation}, {of} (a random map {random}, a constant one {constant})"}


def _foretold(spec: Spec, trace: Trace) -> Foretold | None:
    from playground.analysis.faithfulness import foretold_for
    from playground.analysis.occlusion import Target

    if spec.query is None and not spec.explains_label:  # the panels of a grid have no common query
        return None
    answer = Target(label=int(spec.label)) if spec.explains_label else Target(query=spec.query)
    return foretold_for(trace, answer, spec.method if spec.way.methods else spec.what)
