"""Names of models and files in a figure and in its file's metadata, and hashes of both."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from PIL import Image

from playground.figures.drawing.spec import Spec
from playground.figures.drawing.way_words import words
from playground.models.names import OWN_PREFIX, plain_name
from playground.samples import named

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
    return (
        plain_name(trace.model).removesuffix(RANDOM_NOTE)
        + RANDOM_NOTE * is_random(trace)
        + CHANGED_NOTE * is_changed(trace)
    )


def weights(trace: Trace) -> str:
    """The weights' digest, and whether they are random or were changed after loading."""
    if trace.vit is None:
        return "unknown"
    if trace.outdated:
        return "unknown, changed after this pass"
    kind = "random weights, " * is_random(trace) + "changed in memory, " * is_changed(trace)
    return f"{kind}sha256:{hash_of_weights(trace.vit)}"


def published_spec(spec: Spec) -> Spec:
    """The spec with names of files instead of paths, since folders on somebody's disk can name a person. In an
    anonymous figure, general words replace these names too."""
    names = {
        "image": _file(spec.image, "picture", spec.anonymous),
        "other_image": _file(spec.other_image, "other picture", spec.anonymous),
        "weights": _file(spec.weights, "weights", spec.anonymous),
        "model": _model_file(spec.model, "model", spec.anonymous),
        "other_model": _model_file(spec.other_model, "other model", spec.anonymous),
    }
    for axis in ("rows", "columns"):
        kind, _, values = (getattr(spec, axis) or "").partition(":")
        if kind in ("pictures", "models"):
            shorten = _file if kind == "pictures" else _model_file
            short_names = ",".join(shorten(value, kind[:-1], spec.anonymous) for value in values.split(","))
            names[axis] = f"{kind}:{short_names}"
    return replace(spec, **names)


def published_name(spec: Spec, image: str) -> str:
    """The public name of a picture in a grid."""
    return _file(image, "picture", spec.anonymous) or ""


def published_trace(spec: Spec, trace: Trace, other: bool = False) -> Trace:
    """The trace, with the public name of its model."""
    model_name = (spec.other_model if other else None) or spec.model
    if spec.anonymous and _is_own(model_name):
        return replace(trace, model="the other model" if other else "the model")
    if not trace.model.endswith(".safetensors"):
        return trace
    part_count = 2 if PurePath(trace.model).name == "model.safetensors" else 1  # the folder names the model
    return replace(trace, model="/".join(PurePath(trace.model).parts[-part_count:]))


def _file(name: str | None, general_word: str, anonymous: bool) -> str | None:
    if not name or named(name):
        return name
    path = PurePath(name)
    return f"{general_word}{path.suffix}" if anonymous else path.name


def _model_file(name: str | None, general_word: str, anonymous: bool) -> str | None:
    if not name or not _is_own(name):
        return name
    if anonymous:
        return general_word
    name = name.removeprefix("local-dir:")
    return (
        PurePath(name).name if name.endswith(MODEL_SUFFIXES) or Path(name).exists() else name
    )  # the name of a repository on the hub stays "account/name"


def _is_own(name: str) -> bool:
    """Whether a model is in a file or a folder, belongs to the server's owner, or is in a repository on the hub."""
    if name.startswith("ViT-"):
        return False
    return name.endswith(MODEL_SUFFIXES) or "/" in name or name.startswith(OWN_PREFIX) or Path(name).exists()


# Short hashes of a model's weights and of a picture: they tell whether two figures have the same model or picture.

_weight_hashes: WeakKeyDictionary = (
    WeakKeyDictionary()
)  # model -> (versions of weights, digest), hashed again if changed


def hash_of_weights(vit) -> str:
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
TRUST_NUMBERS = ("correlation", "random", "constant")


def trust_sentences(panels: Iterable[tuple[Spec, Trace]]) -> list[str]:
    """Sentences that say how well the maps agree with blanking, each once."""
    return list(dict.fromkeys(_sentence(spec, trace) for spec, trace in panels if spec.way.attributes))


def trust_facts(spec: Spec, trace: Trace) -> dict[str, str]:
    """How well the map agrees with blanking, for the metadata of a file."""
    if not spec.way.attributes:
        return {}
    foretold = _foretold(spec, trace)
    return {TRUST_KEY: words("trust", "made", _foretold_case(foretold)).format(**_trust_fields(model(trace), foretold))}


def trust_of_many(vit: VisionTransformer, method: str) -> dict[str, str]:
    """How well relevance agrees with blanking, for the metadata of many pictures. It was measured on drawn scenes in
    this model, because none of the pictures was blanked."""
    from playground.analysis.faithfulness import foretold_of_model

    foretold = foretold_of_model(vit.name, vit, vit.weight_versions(), method)
    return {TRUST_KEY: words("trust", "made", _foretold_case(foretold)).format(**_trust_fields(vit.name, foretold))}


def _sentence(spec: Spec, trace: Trace) -> str:
    foretold = _foretold(spec, trace)
    fields = _trust_fields(model(trace), foretold)
    minus_signs = {name: fields[name].replace("-", "−") for name in TRUST_NUMBERS if name in fields}
    return words("trust", "figure", _foretold_case(foretold)).format(**fields | minus_signs)


def _foretold(spec: Spec, trace: Trace) -> Foretold | None:
    from playground.analysis.faithfulness import foretold_for
    from playground.analysis.occlusion import Target

    if spec.query is None and not spec.explains_label:  # the panels of a grid have no common query
        return None
    answer = Target(label=int(spec.label)) if spec.explains_label else Target(query=spec.query)
    return foretold_for(trace, answer, spec.method if "method" in spec.way.uses else spec.what)


def _foretold_case(foretold: Foretold | None) -> str:
    return "none" if foretold is None else "" if foretold.pictures else "here"


def _trust_fields(name: str, foretold: Foretold | None) -> dict[str, str]:
    if foretold is None:
        return {"model": name}
    numbers = {key: f"{getattr(foretold, key):.2f}" for key in TRUST_NUMBERS}
    blank = words("blank", "figure", foretold.by)
    return numbers | {"blocks": str(foretold.blocks), "blank": blank, "pictures": str(foretold.pictures), "model": name}
