"""Renames the weights of timm's models to our names, and finds the architecture that the weights show.

People who train a model of timm change the model: other labels, another input, another pooling, registers, fewer
layers. The name gives the original architecture; the weights show the changes. Also reads files of weights.
"""

from __future__ import annotations

import dataclasses
import math
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from playground.errors import PlaygroundError
from playground.models.given import ACTIVATIONS, GivenOptions, json_of
from playground.models.others_files import from_others
from playground.vit import Config

READABLE_ARGUMENTS = {  # timm's model arguments that can be read from the weights, or that matter only in training
    "img_size", "patch_size", "in_chans", "embed_dim", "depth", "num_heads", "mlp_ratio", "num_classes", "global_pool",
    "class_token", "reg_tokens", "no_embed_class", "pos_embed", "pre_norm", "qk_norm", "qkv_bias", "init_values",
    "fc_norm", "final_norm", "act_layer", "dynamic_img_size", "dynamic_img_pad", "strict_img_size", "weight_init",
    "fix_init", "drop_rate", "pos_drop_rate", "patch_drop_rate", "proj_drop_rate", "attn_drop_rate", "drop_path_rate",
}  # fmt: skip


def unwrapped(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """The state dict without the prefixes that DistributedDataParallel, torch.compile, Lightning and wrapper classes
    give to names ("module.", "net.backbone."). Other tensors of a wrapper, such as those of a loss, are left out."""
    while len({name.partition(".")[0] for name in state}) == 1 and all("." in name for name in state):
        state = {name.partition(".")[2]: value for name, value in state.items()}
    patch_weight_name = "patch_embed.proj.weight"
    wrappers = [name.removesuffix(patch_weight_name) for name in state if name.endswith(f".{patch_weight_name}")]
    if patch_weight_name in state or not wrappers:
        return state
    if len(wrappers) > 1:
        raise PlaygroundError(f"it holds several models, {', '.join(name[:-1] for name in wrappers)}: save one of them")
    wrapped_names = (name for name in state if name.startswith(wrappers[0]))
    return {name.removeprefix(wrappers[0]): state[name] for name in wrapped_names}


def from_eva(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Renames the tensors of timm's Eva (DINOv3) and of other layouts (others_files.py) to our names. Eva splits some
    tensors in two; these are joined. Tensors with our names pass unchanged."""
    renamed_state, state = {}, from_others(state)
    for key, value in state.items():
        if key.endswith(("attn.v_bias", "mlp.fc1_x.weight", "mlp.fc1_x.bias")):
            continue  # joined below with the other parts of its matrix
        if key.endswith("attn.q_bias"):  # keys have no bias
            parts = [value, torch.zeros_like(value), state[key.replace("q_bias", "v_bias")]]
            renamed_state[key.replace("q_bias", "qkv.bias")] = torch.cat(parts)
        elif ".mlp.fc1_g." in key:  # gate and input of the gated MLP become one matrix, the gate first
            renamed_state[key.replace("fc1_g", "fc1")] = torch.cat([value, state[key.replace("fc1_g", "fc1_x")]])
        else:
            renamed_state[re.sub(r"\.gamma_([12])$", r".ls\1.gamma", key)] = value
    return renamed_state


def options_of(description: Mapping[str, Any]) -> GivenOptions:
    """Reads the config.json of `timm.models.save_for_hf` into the options of `load`."""
    arguments, pixels = description.get("model_args") or {}, description.get("pretrained_cfg") or {}
    return GivenOptions.read(
        {
            "mean": pixels.get("mean"),
            "std": pixels.get("std"),
            "num_heads": arguments.get("num_heads"),
            "act_layer": arguments.get("act_layer"),
            "global_pool": description.get("global_pool") or None,
        }
    )


def changed_config(
    base: Config, state: Mapping[str, Tensor], options: GivenOptions, description: Mapping[str, Any]
) -> Config:
    """`base` with the changes that the weights (under our names) show: classes, input size, pooling, prefix tokens,
    depth and width; also with the changes in `options` and in `description`, the config.json of
    `timm.models.save_for_hf`. All other fields, and the width of a head, are those of `base`."""
    if "patch_embed.proj.weight" not in state or "blocks.0.mlp.fc2.weight" not in state:
        return base  # the weights are of another kind of model, for which source.fitting_weights raises
    arguments = description.get("model_args") or {}
    if unreadable_names := [
        name for name, value in arguments.items() if name not in READABLE_ARGUMENTS and value is not None
    ]:
        raise PlaygroundError(f"its config.json asks for {unreadable_names[0]}, which the playground's ViT has not")
    patch_matrix = state["patch_embed.proj.weight"]
    if patch_matrix.dim() != 4 or patch_matrix.shape[1] != 3:
        raise PlaygroundError(
            f"its pictures have {patch_matrix.shape[1]} channels; the playground's have 3: red, green, blue"
        )
    width, patch = patch_matrix.shape[0], patch_matrix.shape[2]
    classes = state["head.weight"].shape[0] if "head.weight" in state else 0
    registers = state["reg_token"].shape[1] if "reg_token" in state else 0
    norm = "pooled" if "fc_norm.weight" in state else "tokens" if "norm.weight" in state else "nowhere"
    prefix_count = ("cls_token" in state) + ("dist_token" in state) + registers
    positions, size = _positions_and_size(base, state, patch, prefix_count, _stated_size(description))
    mlp_width = state["blocks.0.mlp.fc2.weight"].shape[1]
    return replace(
        base,
        image_size=size,
        patch_size=patch,
        depth=1 + max(int(key.split(".")[1]) for key in state if key.startswith("blocks.")),
        width=width,
        mlp_width=mlp_width,
        heads=options.num_heads or _heads(base, state, width),
        classes=classes,
        cls_token="cls_token" in state,
        dist_token="dist_token" in state,
        registers=registers,
        positions=positions,
        pool=_pool(base, state, norm, options.global_pool),
        norm_place=norm,
        pre_norm="norm_pre.weight" in state,
        qk_norm="blocks.0.attn.q_norm.weight" in state,
        qkv_bias="blocks.0.attn.qkv.bias" in state,
        layer_scale="blocks.0.ls1.gamma" in state,
        gated_mlp=state["blocks.0.mlp.fc1.weight"].shape[0] == 2 * mlp_width,
        pre_logits="pre_logits.fc.weight" in state,
        activation=options.act_layer or base.activation,
        labels=_labels(description, classes) or (base.labels if classes == base.classes else ()),
        mean=options.mean or base.mean,
        std=options.std or base.std,
        interpolation=(description.get("pretrained_cfg") or {}).get("interpolation") or base.interpolation,
    )


def _heads(base: Config, state: Mapping[str, Tensor], width: int) -> int:
    """The number of heads. A norm of queries has the width of one head; without such a norm, heads are as wide as in
    `base`."""
    norm = state.get("blocks.0.attn.q_norm.weight")
    return max(1, width // (base.width // base.heads if norm is None else norm.shape[0]))


def _positions_and_size(
    base: Config, state: Mapping[str, Tensor], patch: int, tokens: int, size: tuple[int, int] | None
) -> tuple[str, tuple[int, int]]:
    """(the kind of positions, the input size). Learned positions have a row for each patch ("patches"), or for each
    patch and prefix token ("learned")."""
    usual_size = tuple(side // patch * patch for side in size or base.image_size)
    if "pos_embed" not in state:
        return base.positions if base.positions not in ("learned", "patches") else "none", usual_size  # type: ignore[return-value]
    row_count = state["pos_embed"].shape[1]
    counts = {"learned": row_count - tokens, "patches": row_count}
    if not tokens:
        counts = {base.positions if base.positions in counts else "learned": row_count}
    elif base.positions == "patches":
        counts = dict(reversed(counts.items()))
    for positions, patches in counts.items():
        if patches == usual_size[0] * usual_size[1] // patch**2:
            return positions, usual_size  # type: ignore[return-value]
    for positions, patches in counts.items():
        if patches > 0 and (side := math.isqrt(patches)) ** 2 == patches:
            return positions, (side * patch, side * patch)
    raise PlaygroundError(
        f"its {row_count:,} positions make no square of patches, and no config.json says its input size; give the timm "
        "model itself to playground.load, or save it with timm.models.save_for_hf"
    )


def _pool(base: Config, state: Mapping[str, Tensor], norm: str, pool: str | None) -> str:
    if "attn_pool.latent" in state:
        return "map"
    if pool in ("token", "avg"):
        return pool
    if "cls_token" not in state or norm == "pooled":
        return "avg"  # with mean pooling, timm pools before its last norm
    return "token" if base.pool == "map" or base.norm_place == "pooled" else base.pool


def _stated_size(description: Mapping[str, Any]) -> tuple[int, int] | None:
    size = (description.get("model_args") or {}).get("img_size") or (description.get("pretrained_cfg") or {}).get(
        "input_size"
    )
    if isinstance(size, int):
        return size, size
    if isinstance(size, list) and len(size) >= 2 and all(isinstance(side, int) for side in size):
        return size[-2], size[-1]
    return None


def _labels(description: Mapping[str, Any], classes: int) -> tuple[str, ...]:
    names, descriptions = description.get("label_names") or (), description.get("label_descriptions") or {}
    if isinstance(names, dict):
        names = [names.get(str(number), str(number)) for number in range(classes)]
    return tuple(str(descriptions.get(name, name)) for name in names) if len(names) == classes else ()


# The header of a safetensors file is checked before any data is read, because the file may come from anybody and its
# header may state anything.

LONGEST_HEADER = 4 * 2**20  # bytes; the header of a ViT-g has 100,000
MOST_TENSORS = 10_000


INDEX = ".safetensors.index.json"  # end of the name of an index to weights in several files


def shards(index: Path) -> list[Path]:
    """The files that an index names, which must lie in the index's folder."""
    names = json_of(index).get("weight_map")
    if not isinstance(names, dict) or not names or not all(isinstance(name, str) for name in names.values()):
        raise PlaygroundError(f"{index} is no index of weights: it has no weight_map.")
    file_names = sorted(set(names.values()))
    if strange_names := [name for name in file_names if Path(name).name != name or not name.endswith(".safetensors")]:
        raise PlaygroundError(f"{index} names {strange_names[0]!r:.60}, which is no .safetensors file beside it.")
    return [index.with_name(name) for name in file_names]


def outline(path: str | os.PathLike[str]) -> tuple[dict[str, str], dict[str, Tensor]]:
    """(metadata, tensors without memory) from the file's header."""
    if not Path(path).is_file():
        raise PlaygroundError(f"There is no file {path}.")
    if str(path).endswith(INDEX):
        parts = [_outline(part) for part in shards(Path(path))]
        return parts[0][0], _unwrapped(path, {name: x for _, arrays in parts for name, x in arrays.items()})
    metadata, arrays = _outline(path)
    return metadata, _unwrapped(path, arrays)


def _outline(path: str | os.PathLike[str]) -> tuple[dict[str, str], dict[str, Tensor]]:
    """Like `outline`, for one file, with the tensors under the file's own names."""
    from safetensors import SafetensorError, safe_open

    if not Path(path).is_file():
        raise PlaygroundError(f"There is no file {path}.")
    try:
        with open(path, "rb") as file:
            first_bytes = file.read(8)
        if first_bytes[:2] in (b"PK", b"\x80\x02"):
            raise PlaygroundError(
                f"{path} is a file that torch has pickled, not safetensors. On your own machine call it .pth, and "
                "playground.load and the command line read it; a server does not."
            )
        length = int.from_bytes(first_bytes, "little")
        if length > LONGEST_HEADER:
            raise ValueError("it does not begin with the header of one")
        with safe_open(path, framework="pt") as file:
            names = list(file.keys())
            if len(names) > MOST_TENSORS:
                raise ValueError(f"it claims {len(names):,} tensors")
            shapes = {name: file.get_slice(name).get_shape() for name in names}
            metadata = file.metadata() or {}
    except PlaygroundError:
        raise
    except (SafetensorError, OSError, ValueError, MemoryError) as error:
        raise _unreadable_error(path, error) from None
    return metadata, {name: torch.empty(shape, device="meta") for name, shape in shapes.items()}


def read_weights(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    """A state dict from safetensors. Other formats are refused: a pickled file can run code when it is loaded."""
    parts = shards(Path(path)) if str(path).endswith(INDEX) else [path]
    return _unwrapped(path, {name: x for part in parts for name, x in _read(part).items()})


def _read(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    from safetensors import SafetensorError, safe_open

    _outline(path)
    state = {}
    try:
        with safe_open(path, framework="pt") as file:
            for name in file.keys():  # noqa: SIM118 `file` is no dict
                state[name] = file.get_tensor(name).float()
                if not bool(torch.isfinite(state[name]).all()):
                    raise PlaygroundError(f"{path} holds numbers that are none (NaN or infinite) in {name}.")
    except PlaygroundError:
        raise
    except (SafetensorError, OSError, ValueError, MemoryError) as error:
        raise _unreadable_error(path, error) from None
    return state


def _unwrapped(path: str | os.PathLike[str], state: dict[str, Tensor]) -> dict[str, Tensor]:
    try:
        return unwrapped(state)
    except PlaygroundError as error:
        raise PlaygroundError(f"{path} can't be loaded: {error}.") from None


def _unreadable_error(path: str | os.PathLike[str], error: Exception) -> PlaygroundError:
    if isinstance(error, OSError):  # an error of disk or folder, not of the format
        return PlaygroundError(f"{path} can't be read: {error.strerror or error}.")
    return PlaygroundError(f"{path} is not a readable safetensors file ({error}); save it again in that format.")


# The architecture that a file of weights describes must lie within bounds, because the file may come from anybody.


COUNT_BOUNDS = {  # field of Config -> (smallest, largest accepted value); published ViTs lie within
    "patch_size": (1, 224), "depth": (1, 100), "width": (1, 8192), "mlp_width": (1, 65_536), "heads": (1, 256),
    "classes": (0, 100_000), "registers": (0, 64),
}  # fmt: skip
CHOICES = {
    "positions": ("learned", "patches", "sinusoidal", "rotary", "none"),
    "stretching": ("antialiased", "plain", "offset"),
    "pool": ("token", "avg", "map", "token+avg"),
    "norm_place": ("tokens", "pooled", "nowhere"),
    "activation": ACTIVATIONS,
    "interpolation": ("bicubic", "bilinear", "nearest", "lanczos"),
}
MOST_SIDE = 4096  # most pixels along a side of a model's input
LONGEST_LABEL = 200


def config(entries: Any) -> Config:
    """The Config that a file describes. Raises ValueError with the reason if the Config is impossible."""
    if not isinstance(entries, dict):
        raise ValueError("it is no list of names and values")
    defaults = {field.name: field.default for field in dataclasses.fields(Config)}
    if unknown := sorted(name for name, value in entries.items() if value and name not in defaults):
        raise ValueError(f"there is no {unknown[0]!r}")
    known = {name: value for name, value in entries.items() if name in defaults}  # what is unknown here is off there
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in known.items()}
    for name, value in fields.items():
        _check(name, value, defaults[name])
    config = Config(**fields)
    if config.labels and len(config.labels) != config.classes:
        raise ValueError(f"{len(config.labels)} labels stand there for {config.classes} classes")
    if any(side % config.patch_size for side in config.image_size):
        raise ValueError(f"patches of {config.patch_size} pixels don't fill {config.image_size}")
    return config


def _check(name: str, value: Any, default: Any) -> None:
    if type(value) is not type(default) and not (isinstance(default, float) and type(value) is int):
        raise ValueError(f"{name} is a {type(default).__name__}, not {value!r:.60}")
    if name in COUNT_BOUNDS and not COUNT_BOUNDS[name][0] <= value <= COUNT_BOUNDS[name][1]:
        raise ValueError(
            f"{name} goes from {COUNT_BOUNDS[name][0]} to {COUNT_BOUNDS[name][1]:,}, and {value:,} stands there"
        )
    if name in CHOICES and value not in CHOICES[name]:
        raise ValueError(f"{name} is one of {', '.join(CHOICES[name])}, not {value!r:.60}")
    if name == "eps" and not 0 < value <= 1:
        raise ValueError(f"eps lies between 0 and 1, and {value} stands there")
    if name == "image_size" and not (
        len(value) == 2 and all(type(side) is int and 1 <= side <= MOST_SIDE for side in value)
    ):
        raise ValueError(f"image_size is two sides of at most {MOST_SIDE:,} pixels, not {value!r:.60}")
    if name in ("mean", "std") and not _are_colours(value, positive=name == "std"):
        raise ValueError(f"{name} is a number for red, green and blue, not {value!r:.60}")
    if name == "labels" and not all(isinstance(label, str) and len(label) <= LONGEST_LABEL for label in value):
        raise ValueError(f"labels are words of at most {LONGEST_LABEL} letters")


def _are_colours(value: tuple, positive: bool) -> bool:
    are_finite = all(type(number) in (int, float) and math.isfinite(number) and abs(number) <= 10 for number in value)
    return len(value) == 3 and are_finite and (not positive or min(value) > 0)
