"""Writes a model to a .safetensors file, and reads the Source of such a file. The architecture is in the file's
metadata if this playground wrote the file, or in JSON files beside it if `transformers` or timm did. Missing facts are
assumed and reported. checkpoints.py reads the weights."""

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
from playground.models import checkpoints, timm_models
from playground.models.checkpoints import changed_config, from_eva, options_of, outline, read_weights
from playground.models.given import NO_OPTIONS, GivenOptions, json_of
from playground.models.hugging_face import (
    from_hugging_face,
    hugging_face_config,
    hugging_face_options,
    is_hugging_face,
    stretching_of,
)
from playground.models.others_files import OWN_HEAD_REASON, config_of, has_own_head, refuse_adapters
from playground.models.source import Source, assumed_facts, fitting_weights, pool_difference, with_options
from playground.models.timm_models import WEIGHTS_FILE
from playground.vit import PAPER, Config, VisionTransformer, parts

LONGEST_NAME = 80
MOST_TOLD_HEADS = 4096  # most heads that a file may list as told where to look
PICKLED_WEIGHTS = "pytorch_model.bin"  # the name of pickled weights by `transformers` and timm

StateDict = dict[str, Tensor]  # a state dict, perhaps on the meta device, which has shapes without numbers


def save(vit: VisionTransformer, path: str | os.PathLike[str], dtype: torch.dtype = torch.float16) -> None:
    """Writes one safetensors file. Its metadata holds the architecture, so `load` needs nothing else."""
    from safetensors.torch import save_file

    tensors = {key: value.detach().to("cpu", dtype).contiguous() for key, value in vit.state_dict().items()}
    config = json.dumps(dataclasses.asdict(vit.config))
    metadata = {
        "format": "attention-playground",
        "name": vit.name,
        "config": config,
        "told": json.dumps([entry._asdict() for entry in vit.told_heads]),
    }
    save_file(tensors, path, metadata=metadata)
    os.chmod(path, 0o644)  # safetensors lets only the owner read the file; in a container another user reads it


def in_folder(folder: str | os.PathLike[str]) -> dict[str, Path]:
    """{name: file} of all weights in a folder and its direct subfolders, because `transformers` saves each model as
    model.safetensors in a subfolder."""
    top_folder = Path(folder).expanduser()
    if not top_folder.is_dir():
        raise PlaygroundError(f"There is no folder {folder} to take models from.")
    folders = [top_folder, *(subfolder for subfolder in _entries(top_folder) if subfolder.is_dir())]
    files = sorted(file for subfolder in folders for file in _entries(subfolder) if file.suffix == ".safetensors")
    return {file.parent.resolve().name if file.name == WEIGHTS_FILE else file.stem: file for file in files}


def _entries(folder: Path) -> list[Path]:
    """The entries of a folder; [] if it was just deleted, because models may be removed while a server runs."""
    try:
        return list(folder.iterdir())
    except OSError:
        return []


# The Source of a file -------------------------------------------------------------------------------------------------


def from_file(path: Path, named_file: Path, given_options: GivenOptions = NO_OPTIONS) -> Source:
    """The Source of a file of weights. Its architecture is in the file if this playground wrote it, or in config.json
    and preprocessor_config.json beside it if `transformers` or timm's save_for_hf did. `named_file`: the file that
    errors name, of which `path` may be a copy."""
    metadata, arrays = outline(path)
    if "config" in metadata:
        return with_options(_source_in_metadata(path, metadata, arrays), given_options)
    refuse_adapters(arrays)
    description = json_of(named_file.parent / "config.json")
    if is_hugging_face(arrays):
        return _from_hugging_face_file(path, arrays, description, named_file, given_options)
    name = description.get("architecture") or metadata.get("arch")
    if not name and (base := config_of(arrays)):
        return _changed_source(
            Source(model_name_of(named_file), base), path, arrays, description, named_file, given_options
        )
    if not isinstance(name, str):
        raise PlaygroundError(
            f"{path} does not say what it is weights of: load(NAME, weights={str(path)!r}), or --model NAME "
            f"--weights {path}, says it{_name_hint(arrays)}."
        )
    return _changed_source(
        Source(model_name_of(named_file), timm_models.timm_config(name)),
        path,
        arrays,
        description,
        named_file,
        given_options,
    )


def with_weights(base: Source, path: Path, named_file: Path, given_options: GivenOptions) -> Source:
    """A named model with weights from a file, and with the changes that the weights show (fewer layers, other labels
    …). `named_file`: the file that errors name, of which `path` may be a copy. A config.json beside it counts if it
    names the same architecture."""
    metadata, arrays = outline(path)
    if "config" in metadata:  # this playground's own file, which states everything
        with torch.device("meta"):
            fitting_weights(VisionTransformer(base.config), arrays, str(path))
        return with_options(replace(_source_in_metadata(path, metadata, arrays), name=base.name), given_options)
    description = json_of(named_file.parent / "config.json")
    stretching = base.config.stretching  # of the library whose names the weights have, whatever model was named
    if is_hugging_face(arrays):
        stretching = stretching_of(arrays)
    elif config_of_file := config_of(arrays):
        stretching = config_of_file.stretching
    return _changed_source(
        replace(base, config=replace(base.config, stretching=stretching)),
        path,
        arrays,
        description if description.get("architecture") == base.name.split(".")[0] else {},
        named_file,
        given_options,
    )


def _changed_source(
    base: Source,
    path: Path,
    arrays: StateDict,
    description: dict[str, Any],
    named_file: Path,
    given_options: GivenOptions,
) -> Source:
    """The Source `base` with the changes that the weights, and the files beside the weights, show."""
    given_options = given_options.with_defaults(GivenOptions.from_json_beside(named_file))
    raw_arrays, arrays = arrays, from_eva(from_hugging_face(arrays) if is_hugging_face(arrays) else arrays)
    options, is_own_head = given_options, has_own_head(raw_arrays)

    def describe() -> Config:
        nonlocal options
        options = given_options.with_defaults(options_of(description))
        return changed_config(base.config, arrays, options, description)

    config = _checked_config(path, describe)
    stated_words = {
        *options.words,
        *(("num_heads", "act_layer") if description else ()),
        *(("num_heads",) if config.qk_norm else ()),
    }
    readout_difference = (
        OWN_HEAD_REASON if is_own_head else pool_difference(options.global_pool) if config.classes else ""
    )
    assumptions = assumed_facts(config, stated_words)
    return with_options(
        Source(base.name, config, lambda: read_weights(path), str(path), arrays, assumptions, readout_difference),
        given_options,
    )


def _source_in_metadata(path: Path, metadata: dict[str, str], arrays: StateDict) -> Source:
    try:
        config = checkpoints.config(json.loads(metadata["config"]))
        heads = _guided_heads(metadata.get("told", "[]"))
        with torch.device("meta"):
            VisionTransformer(config)
    except (ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError, RuntimeError, RecursionError) as error:
        raise PlaygroundError(f"The architecture that {path} describes can't be built: {error}.") from None
    name = metadata.get("name", path.stem)[:LONGEST_NAME]
    return Source(name, config, lambda: read_weights(path), str(path), arrays, told_heads=heads)


def _guided_heads(text: str) -> tuple[parts.GuidedHead, ...]:
    """The heads that a loss told where to look, as `save` writes them. Raises ValueError or TypeError for other
    texts, because the file may come from anybody."""
    entries = tuple(parts.GuidedHead(**entry) for entry in json.loads(text))
    numbers = [number for entry in entries for number in (entry.layer, entry.head)]
    words = [word for entry in entries for word in (entry.query, entry.what)]
    if (
        len(entries) > MOST_TOLD_HEADS
        or not all(type(n) is int for n in numbers)
        or not all(isinstance(w, str) for w in words)
    ):
        raise ValueError("its list of heads that were told where to look is damaged")
    return entries


def _from_hugging_face_file(
    path: Path, arrays: StateDict, description: dict[str, Any], named_file: Path, given_options: GivenOptions
) -> Source:
    given_options = given_options.with_defaults(GivenOptions.from_json_beside(named_file))
    pixels = json_of(named_file.parent / "preprocessor_config.json")
    if given_options.num_heads:
        description = {**description, "num_attention_heads": given_options.num_heads}

    def config_and_weights(state: StateDict) -> tuple[Config, StateDict]:
        return hugging_face_config(state, from_hugging_face(state), description, pixels)

    config = _checked_config(path, lambda: config_and_weights(arrays)[0])
    assumptions = assumed_facts(config, hugging_face_options(description, pixels))
    shapes = config_and_weights(arrays)[1]
    source = Source(
        model_name_of(named_file),
        config,
        lambda: config_and_weights(read_weights(path))[1],
        str(path),
        shapes,
        assumptions,
        file=named_file,
    )
    return with_options(source, given_options)


def _checked_config(path: str | os.PathLike[str], describe: Callable[[], Config]) -> Config:
    """The Config that `describe` returns; a PlaygroundError with the file's name if it is impossible."""
    try:
        return checkpoints.config(dataclasses.asdict(describe()))
    except PlaygroundError as error:
        raise PlaygroundError(f"{path} can't be loaded: {str(error).rstrip('.')}.") from None
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, ZeroDivisionError, RuntimeError) as error:
        raise PlaygroundError(f"The architecture of {path} can't be told: {error}.") from None


def model_name_of(file: Path) -> str:
    """A model's name: its file's name, or its folder's name if the file has the standard name of weights."""
    if file.name in (WEIGHTS_FILE, PICKLED_WEIGHTS):
        return file.parent.resolve().name
    return file.stem if file.suffix == ".safetensors" else file.name.split(".")[0]


def _name_hint(arrays: dict[str, Tensor]) -> str:
    """A hint for an error: a timm name whose architecture the shapes fit."""
    patch_matrix = arrays.get("patch_embed.proj.weight")
    size_names = {"Ti": "tiny", "S": "small", "B": "base", "L": "large", "H": "huge"}
    if patch_matrix is None or patch_matrix.dim() != 4:
        return ""
    size_name = next(
        (size_names[letter] for letter, shape in PAPER.items() if shape["width"] == patch_matrix.shape[0]), None
    )
    return f". By its shapes NAME may be vit_{size_name}_patch{patch_matrix.shape[2]}_224" if size_name else ""
