"""Writes a model to a .safetensors file, and reads the Source of a file of weights: from its metadata if this
playground wrote it, or from JSON files beside it. Missing facts are assumed and reported."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from glob import glob
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from playground.errors import PlaygroundError
from playground.models import architecture, layouts, timm_models, weights_file
from playground.models.given import Options, json_of, read_options
from playground.models.source import (
    Source,
    assumed_facts,
    check_fit,
    checked,
    meta_model,
    pool_difference,
    with_options,
)
from playground.models.timm_models import WEIGHTS_FILE
from playground.vit import Config, VisionTransformer, parts

LONGEST_NAME = 80
MOST_TOLD_HEADS = 4096  # most heads that a file may list as told where to look
PICKLED_WEIGHTS = "pytorch_model.bin"  # the name of pickled weights by `transformers` and timm

State = dict[str, Tensor]  # a state dict, perhaps on the meta device, which has shapes without numbers


def save(vit: VisionTransformer, path: str | os.PathLike[str], dtype: torch.dtype = torch.float16) -> None:
    """Writes one safetensors file. Its metadata holds the architecture, so `load` needs nothing else."""
    from safetensors.torch import save_file

    tensors = {key: value.detach().to("cpu", dtype).contiguous() for key, value in vit.state_dict().items()}
    metadata = {
        "format": "attention-playground",
        "name": vit.name,
        "config": json.dumps(dataclasses.asdict(vit.config)),
        "told": json.dumps([entry._asdict() for entry in vit.told_heads]),
    }
    save_file(tensors, path, metadata=metadata)
    os.chmod(path, 0o644)  # safetensors lets only the owner read the file; in a container another user reads it


def in_folder(folder: str | os.PathLike[str]) -> dict[str, Path]:
    """{name: file} of all safetensors in a folder and its direct subfolders, as `transformers` saves models."""
    top_folder = Path(folder).expanduser()
    if not top_folder.is_dir():
        raise PlaygroundError(f"There is no folder {folder} to take models from.")
    names = [name for pattern in ("*.safetensors", "*/*.safetensors") for name in glob(pattern, root_dir=top_folder)]
    return {name_of(file): file for file in sorted(top_folder / name for name in names)}


def name_of(file: Path) -> str:
    """A model's name: its file's name, or its folder's name if the file has the standard name of weights."""
    if file.name in (WEIGHTS_FILE, PICKLED_WEIGHTS):
        return file.parent.resolve().name
    return file.stem if file.suffix == ".safetensors" else file.name.split(".")[0]


def from_file(path: Path, given: Options | None = None) -> Source:
    """The Source of a file of weights. Its metadata, a config.json beside it, or the layout of Meta and torchvision
    tells the architecture."""
    opened = _opened(path)
    if "config" in opened.metadata:
        return with_options(_source_in_metadata(path, opened), given or {})
    description = json_of(path.parent / "config.json")
    name = None
    if not layouts.is_hugging_face(opened.shapes):
        name = description.get("architecture") or opened.metadata.get("arch")
    if not isinstance(name, str) and not architecture.family(opened.shapes):
        layouts.refuse_adapters(opened.shapes)
        raise PlaygroundError(
            f"{path} does not say what it is weights of: load(NAME, weights={str(path)!r}), or --model NAME "
            f"--weights {path}, says it."
        )
    base = timm_models.timm_config(name) if isinstance(name, str) else None
    return _described(name_of(path), base, path, opened, description, given or {})


def with_weights(base: Source, path: Path, given: Options) -> Source:
    """A named model with weights from a file, and with the changes that the weights show (fewer layers, other labels
    …). A config.json beside it counts if it names the same architecture."""
    opened = _opened(path)
    if "config" in opened.metadata:  # this playground's own file, which states everything
        check_fit(meta_model(base), opened.shapes, str(path))
        return with_options(replace(_source_in_metadata(path, opened), name=base.name), given)
    description = json_of(path.parent / "config.json")
    facts = architecture.FAMILIES.get(architecture.family(opened.shapes) or "", {})
    config = replace(base.config, stretching=facts.get("stretching", base.config.stretching))
    is_described = description.get("architecture") == base.name.split(".")[0]
    return _described(base.name, config, path, opened, description if is_described else {}, given)


class _Opened(NamedTuple):
    """A file of weights, all under the file's own names."""

    metadata: dict[str, str]
    shapes: State
    read: Callable[[], State]


def _opened(path: Path) -> _Opened:
    if weights_file.is_pickled(path):
        metadata, state = weights_file.read_pickled(path)
        return _Opened(metadata, state, lambda: state)
    return _Opened(*weights_file.outline(path), lambda: weights_file.read_weights(path))


def _described(
    name: str, base: Config | None, path: Path, opened: _Opened, description: dict[str, Any], given: Options
) -> Source:
    """The Source of the weights in a file. `base`: the architecture by its name; None: the layout tells it."""
    pixels = json_of(path.parent / "preprocessor_config.json") if base is None else {}
    beside = path.with_suffix(".json")
    with about(str(beside)):
        given = read_options(json_of(beside)) | given
    with about(str(path)):
        weights = layouts.our_weights(opened.shapes)
        options = architecture.stated_options(description, pixels) | given
        start = base or architecture.family_config(opened.shapes, weights, description, pixels, options)
        config = checked(dataclasses.asdict(architecture.shown(start, weights, description, options)))
    known = set(options) | ({"num_heads"} if config.qk_norm else set())
    has_kind = description.get("architecture") or description.get("model_type")  # has what the description leaves out
    for word, key in (("num_heads", "num_attention_heads"), ("act_layer", "hidden_act")):
        known |= {word} if has_kind or description.get(key) else set()
    known |= {"global_pool"} if base is None and layouts.is_hugging_face(opened.shapes) else set()
    own_head = layouts.OWN_HEAD_REASON if layouts.has_own_head(opened.shapes) else ""
    difference = pool_difference(options.get("global_pool")) if config.classes else ""
    return Source(
        name, config, lambda: layouts.our_weights(opened.read()), str(path), weights, assumed_facts(config, known),
        own_head or difference, file=path,
    )  # fmt: skip


@contextmanager
def about(what: str) -> Iterator[None]:
    """Puts what an error is about before its reason."""
    try:
        yield
    except PlaygroundError as error:
        raise PlaygroundError(f"{what} can't be loaded: {str(error).rstrip('.')}.") from None
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, ZeroDivisionError, RuntimeError) as error:
        raise PlaygroundError(f"The architecture of {what} can't be told: {error}.") from None


def _source_in_metadata(path: Path, opened: _Opened) -> Source:
    try:
        config = checked(json.loads(opened.metadata["config"]))
        heads = _guided_heads(opened.metadata.get("told", "[]"))
        name = opened.metadata.get("name", path.stem)[:LONGEST_NAME]
        source = Source(name, config, opened.read, str(path), opened.shapes, told_heads=heads)
        meta_model(source)
    except (ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError, RuntimeError, RecursionError) as error:
        raise PlaygroundError(f"The architecture that {path} describes can't be built: {error}.") from None
    return source


def _guided_heads(text: str) -> tuple[parts.GuidedHead, ...]:
    """The heads that a loss told where to look. Raises ValueError or TypeError: the file may come from anybody."""
    entries = tuple(parts.GuidedHead(**entry) for entry in json.loads(text))
    fit = all(list(map(type, entry)) == [int, int, str, str] for entry in entries)
    if len(entries) > MOST_TOLD_HEADS or not fit:
        raise ValueError("its list of heads that were told where to look is damaged")
    return entries
