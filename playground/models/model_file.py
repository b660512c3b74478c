"""Writes a model to a .safetensors file, and reads the Source of a file of weights. The architecture is in the file's
metadata if this playground wrote the file, or in JSON files beside it if `transformers` or timm did. Missing facts are
assumed and reported."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from playground.errors import PlaygroundError
from playground.models import architecture, layouts, timm_models, weights_file
from playground.models.given import NO_OPTIONS, GivenOptions, json_of
from playground.models.source import Source, assumed_facts, check_fit, pool_difference, with_options
from playground.models.timm_models import WEIGHTS_FILE
from playground.vit import PAPER, Config, VisionTransformer, parts

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
    """{name: file} of all safetensors in a folder and its direct subfolders, because `transformers` saves each model as
    model.safetensors in a subfolder."""
    top_folder = Path(folder).expanduser()
    if not top_folder.is_dir():
        raise PlaygroundError(f"There is no folder {folder} to take models from.")
    folders = [top_folder, *(subfolder for subfolder in _entries(top_folder) if subfolder.is_dir())]
    files = sorted(file for subfolder in folders for file in _entries(subfolder) if file.suffix == ".safetensors")
    return {name_of(file): file for file in files}


def _entries(folder: Path) -> list[Path]:
    """The entries of a folder; [] if it was just deleted, because models may be removed while a server runs."""
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def name_of(file: Path) -> str:
    """A model's name: its file's name, or its folder's name if the file has the standard name of weights."""
    if file.name in (WEIGHTS_FILE, PICKLED_WEIGHTS) or file.name.endswith(weights_file.INDEX):
        return file.parent.resolve().name
    return file.stem if file.suffix == ".safetensors" else file.name.split(".")[0]


# The Source of a file -------------------------------------------------------------------------------------------------


def from_file(path: Path, given: GivenOptions = NO_OPTIONS) -> Source:
    """The Source of a file of weights. Its architecture is in the file if this playground wrote it, in config.json and
    preprocessor_config.json beside it if `transformers` or timm's save_for_hf did, or the layout of Meta and
    torchvision tells it."""
    metadata, arrays, read = _opened(path)
    if "config" in metadata:
        return with_options(_source_in_metadata(path, metadata, arrays, read), given)
    description = json_of(path.parent / "config.json")
    name = None if layouts.is_hugging_face(arrays) else description.get("architecture") or metadata.get("arch")
    if isinstance(name, str):
        base = timm_models.timm_config(name)
    elif architecture.family(arrays):
        base = None
    else:
        layouts.refuse_adapters(arrays)
        raise PlaygroundError(
            f"{path} does not say what it is weights of: load(NAME, weights={str(path)!r}), or --model NAME "
            f"--weights {path}, says it{_name_hint(arrays)}."
        )
    return _described(name_of(path), base, path, arrays, read, description, given)


def with_weights(base: Source, path: Path, given: GivenOptions) -> Source:
    """A named model with weights from a file, and with the changes that the weights show (fewer layers, other labels
    …). A config.json beside it counts if it names the same architecture."""
    metadata, arrays, read = _opened(path)
    if "config" in metadata:  # this playground's own file, which states everything
        with torch.device("meta"):
            check_fit(VisionTransformer(base.config), arrays, str(path))
        return with_options(replace(_source_in_metadata(path, metadata, arrays, read), name=base.name), given)
    description = json_of(path.parent / "config.json")
    facts = architecture.FAMILIES.get(architecture.family(arrays) or "", {})
    config = replace(base.config, stretching=facts.get("stretching", base.config.stretching))
    is_described = description.get("architecture") == base.name.split(".")[0]
    return _described(base.name, config, path, arrays, read, description if is_described else {}, given)


def _opened(path: Path) -> tuple[dict[str, str], State, Callable[[], State]]:
    """(metadata, shapes, a function that reads the weights), all under the file's own names."""
    if weights_file.is_pickled(path):
        metadata, state = weights_file.read_pickled(path)
        return metadata, state, lambda: state
    return *weights_file.outline(path), lambda: weights_file.read_weights(path)


def _described(
    name: str, base: Config | None, path: Path, arrays: State, read: Callable[[], State],
    description: dict[str, Any], given: GivenOptions,
) -> Source:  # fmt: skip
    """The Source of the weights in a file. `base`: the architecture by its name; None: the family of the file's layout
    tells it."""
    given = given.with_defaults(GivenOptions.from_json_beside(path))
    pixels = json_of(path.parent / "preprocessor_config.json") if base is None else {}
    options, weights = given, arrays

    def describe() -> Config:
        nonlocal options, weights
        weights = layouts.our_weights(arrays)
        if base is not None:
            options = given.with_defaults(architecture.stated_options(description))
            return architecture.shown(base, weights, description, options)
        heads = {"num_attention_heads": given.num_heads} if given.num_heads else {}
        start = architecture.family_config(arrays, weights, {**description, **heads}, pixels)
        return architecture.shown(start, weights, description, options)

    config = checked_config(str(path), describe)
    stated_words = {*options.words, *(("num_heads",) if config.qk_norm else ())}
    if base is None and layouts.is_hugging_face(arrays):
        stated_words |= architecture.stated_words(description, pixels)
    elif description:
        stated_words |= {"num_heads", "act_layer"}
    difference = pool_difference(options.global_pool) if config.classes else ""
    return with_options(
        Source(
            name, config, lambda: layouts.our_weights(read()), str(path), weights,
            assumed_facts(config, stated_words),
            layouts.OWN_HEAD_REASON if layouts.has_own_head(arrays) else difference, file=path,
        ),
        given,
    )  # fmt: skip


def checked_config(what: str, describe: Callable[[], Config]) -> Config:
    """The Config that `describe` returns; a PlaygroundError about `what` if it is impossible."""
    try:
        return architecture.checked(dataclasses.asdict(describe()))
    except PlaygroundError as error:
        raise PlaygroundError(f"{what} can't be loaded: {str(error).rstrip('.')}.") from None
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, ZeroDivisionError, RuntimeError) as error:
        raise PlaygroundError(f"The architecture of {what} can't be told: {error}.") from None


def _source_in_metadata(path: Path, metadata: dict[str, str], arrays: State, read: Callable[[], State]) -> Source:
    try:
        config = architecture.checked(json.loads(metadata["config"]))
        heads = _guided_heads(metadata.get("told", "[]"))
        with torch.device("meta"):
            VisionTransformer(config)
    except (ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError, RuntimeError, RecursionError) as error:
        raise PlaygroundError(f"The architecture that {path} describes can't be built: {error}.") from None
    name = metadata.get("name", path.stem)[:LONGEST_NAME]
    return Source(name, config, read, str(path), arrays, told_heads=heads)


def _guided_heads(text: str) -> tuple[parts.GuidedHead, ...]:
    """The heads that a loss told where to look, as `save` writes them. Raises ValueError or TypeError for other
    texts, because the file may come from anybody."""
    entries = tuple(parts.GuidedHead(**entry) for entry in json.loads(text))
    fit = all(list(map(type, entry)) == [int, int, str, str] for entry in entries)
    if len(entries) > MOST_TOLD_HEADS or not fit:
        raise ValueError("its list of heads that were told where to look is damaged")
    return entries


def _name_hint(arrays: State) -> str:
    """A hint for an error: a timm name whose architecture the shapes fit."""
    patch_matrix = arrays.get("patch_embed.proj.weight")
    if patch_matrix is None or patch_matrix.dim() != 4:
        return ""
    size_names = {"Ti": "tiny", "S": "small", "B": "base", "L": "large", "H": "huge"}
    sizes = [size_names[letter] for letter, shape in PAPER.items() if shape["width"] == patch_matrix.shape[0]]
    return f". By its shapes NAME may be vit_{sizes[0]}_patch{patch_matrix.shape[2]}_224" if sizes else ""
