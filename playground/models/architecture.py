"""What a file of weights shows of its architecture, and what the files beside it state.

Weights show sizes, tokens, norms and classes; people change these before a training. They do not show the number of
heads, the activation, eps, the pooling, mean and deviation: the model's name or family gives these, or a config.json.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor

from playground.errors import PlaygroundError
from playground.models import layouts
from playground.models.given import ACTIVATIONS, NO_OPTIONS, GivenOptions
from playground.vit import Config

State = Mapping[str, Tensor]
Description = Mapping[str, Any]  # the content of a config.json

IMAGENET = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}
OPENAI = {"mean": (0.48145466, 0.4578275, 0.40821073), "std": (0.26862954, 0.26130258, 0.27577711)}
BILINEAR, PLAIN = {"interpolation": "bilinear"}, {"stretching": "plain"}  # as `transformers` stretches positions
FAMILIES: dict[str, dict[str, Any]] = {  # what their weights do not show
    "vit": {"eps": 1e-12, **BILINEAR, **PLAIN},
    "deit": {"eps": 1e-12, **IMAGENET, **PLAIN},
    "dinov2": {**IMAGENET, **PLAIN},
    "dinov2 with registers": {**IMAGENET, "positions": "patches"},
    "dinov3": {"eps": 1e-5, **IMAGENET, **BILINEAR, "positions": "rotary"},
    "clip": {"eps": 1e-5, **OPENAI, **PLAIN, "activation": "quick_gelu"},
    "siglip": {**PLAIN, "activation": "gelu_tanh"},
    "Meta's dinov2": {**IMAGENET, "stretching": "offset", "image_size": (518, 518)},
    "Meta's dinov2 with registers": {**IMAGENET, "positions": "patches", "image_size": (518, 518)},
    "Meta's dinov3": {"eps": 1e-5, **IMAGENET, "positions": "rotary", "image_size": (256, 256)},
    "torchvision": {**IMAGENET, **BILINEAR},
}
HIDDEN_ACTS = {
    "gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "quick_gelu": "quick_gelu",
    "relu": "relu", "silu": "silu",
}  # fmt: skip
RESAMPLING = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic"}  # Pillow's numbers of the filters


def family(names: Iterable[str]) -> str | None:
    """The family whose layout these weights have; None: timm's layout, which many families share."""
    names = set(names)
    ours = {layouts.our_name(name) for name in names}
    if layouts.is_torchvision(names):
        return "torchvision"
    registers = " with registers" * any("register_tokens" in name for name in names)
    if layouts.is_meta(names):
        return "Meta's dinov2" + registers if "pos_embed" in names else "Meta's dinov3"
    if not layouts.is_hugging_face(names):
        return None
    if any("embeddings.patch_embedding." in name for name in names):
        return "clip" if "cls_token" in ours else "siglip"
    if "pos_embed" not in ours:
        return "dinov3"
    return "dinov2" + registers if "blocks.0.ls1.gamma" in ours else "deit" if "dist_token" in ours else "vit"


def family_config(names: Iterable[str], weights: State, description: Description, pixels: Description) -> Config:
    """What the family of these weights, its config.json and its preprocessor_config.json say and no weight shows.
    `names`: the names in the file; `weights`: the weights under our names."""
    names = list(names)
    kind = family(names) or "vit"
    what = f" ({description['model_type']})" if description.get("model_type") else ""
    if not {"blocks.0.attn.qkv.weight", "blocks.0.mlp.fc1.weight", "blocks.0.mlp.fc2.weight"} <= weights.keys():
        raise PlaygroundError(f"its layers are others: it is no plain Vision Transformer{what}")
    if any("relative_position" in name for name in names):
        raise PlaygroundError(
            "it adds a number for the distance between two patches to each score: it is no plain Vision "
            f"Transformer{what}"
        )
    if isinstance(vision := description.get("vision_config"), dict):
        description = {**description, **vision}
    if kind == "dinov3" and float(description.get("rope_theta", 100.0)) != 100.0:
        raise PlaygroundError("it turns queries and keys at another pace than DINOv3 (rope_theta)")
    width, heads = weights["patch_embed.proj.weight"].shape[0], description.get("num_attention_heads")
    if not heads and width % 64:
        raise PlaygroundError(
            f"nothing says how many heads share its width of {width}; put the config.json that was saved with it "
            "beside the file"
        )
    facts = {"width": width, "heads": int(heads or width // 64), "classes": 0} | FAMILIES[kind]
    if is_gated(weights) and kind != "dinov3":
        facts["activation"] = "silu"
    elif "hidden_act" in description:
        facts["activation"] = HIDDEN_ACTS[description["hidden_act"]]
    if "layer_norm_eps" in description:
        facts["eps"] = float(description["layer_norm_eps"])
    for ours, theirs in (("mean", "image_mean"), ("std", "image_std")):
        if theirs in pixels:
            facts[ours] = tuple(map(float, pixels[theirs]))
    facts["interpolation"] = RESAMPLING.get(pixels.get("resample"), facts.get("interpolation", "bicubic"))  # type: ignore[arg-type]
    if "head.weight" in weights and weights["head.weight"].shape[1] == 2 * width:
        facts["pool"] = "token+avg"
    elif layouts.is_clip_classifier(names):
        facts["pool"] = "avg"
    return Config(**facts)


def is_gated(weights: State) -> bool:
    return weights["blocks.0.mlp.fc1.weight"].shape[0] == 2 * weights["blocks.0.mlp.fc2.weight"].shape[1]


def shown(
    base: Config, weights: State, description: Description | None = None, options: GivenOptions = NO_OPTIONS
) -> Config:
    """`base` with what the weights (under our names) show, and what `options` and a config.json state."""
    if "patch_embed.proj.weight" not in weights or "blocks.0.mlp.fc2.weight" not in weights:
        return base  # the weights are of another kind of model, for which source.check_fit raises
    description = description or {}
    patches = weights["patch_embed.proj.weight"]
    if patches.dim() != 4 or patches.shape[1] != 3 or patches.shape[2] != patches.shape[3]:
        raise PlaygroundError("it does not cut pictures of 3 channels (red, green, blue) into square patches")
    width, patch = patches.shape[0], patches.shape[2]
    classes = len(weights["head.weight"]) if "head.weight" in weights else 0
    registers = weights["reg_token"].shape[1] if "reg_token" in weights else 0
    norm = "pooled" if "fc_norm.weight" in weights else "tokens" if "norm.weight" in weights else "nowhere"
    prefix_count = ("cls_token" in weights) + ("dist_token" in weights) + registers
    positions, size = _positions_and_size(base, weights, patch, prefix_count, stated_size(description))
    return replace(
        base,
        image_size=size,
        patch_size=patch,
        depth=1 + max(int(key.split(".")[1]) for key in weights if key.startswith("blocks.")),
        width=width,
        mlp_width=weights["blocks.0.mlp.fc2.weight"].shape[1],
        heads=options.num_heads or _heads(base, weights, width),
        classes=classes,
        cls_token="cls_token" in weights,
        dist_token="dist_token" in weights,
        registers=registers,
        positions=positions,
        pool=_pool(base, weights, norm, options.global_pool),
        norm_place=norm,
        pre_norm="norm_pre.weight" in weights,
        qk_norm="blocks.0.attn.q_norm.weight" in weights,
        qkv_bias="blocks.0.attn.qkv.bias" in weights,
        layer_scale="blocks.0.ls1.gamma" in weights,
        gated_mlp=is_gated(weights),
        activation=options.act_layer or base.activation,
        labels=_labels(description, classes) or (base.labels if classes == base.classes else ()),
        mean=options.mean or base.mean,
        std=options.std or base.std,
        interpolation=(description.get("pretrained_cfg") or {}).get("interpolation") or base.interpolation,
    )


def _heads(base: Config, weights: State, width: int) -> int:
    """How many heads share the width. A norm of the queries, if there is one, is as wide as one head."""
    norm = weights.get("blocks.0.attn.q_norm.weight")
    return max(1, width // (base.width // base.heads if norm is None else len(norm)))


def _positions_and_size(
    base: Config, weights: State, patch: int, prefix_count: int, stated: tuple[int, int] | None
) -> tuple[str, tuple[int, int]]:
    """(the kind of positions, the input size). Learned positions have a row for each patch ("patches"), or for each
    patch and prefix token ("learned")."""
    height, width = (side // patch * patch for side in stated or base.image_size)
    if "pos_embed" not in weights:
        return "none" if base.positions in ("learned", "patches") else base.positions, (height, width)
    row_count = weights["pos_embed"].shape[1]
    counts = {"learned": row_count - prefix_count, "patches": row_count}
    if not prefix_count:
        counts = {base.positions if base.positions in counts else "learned": row_count}
    elif base.positions == "patches":
        counts = dict(reversed(counts.items()))
    for positions, patches in counts.items():
        if patches == height * width // patch**2:
            return positions, (height, width)
    for positions, patches in counts.items():
        if patches > 0 and (side := math.isqrt(patches)) ** 2 == patches:
            return positions, (side * patch, side * patch)
    raise PlaygroundError(
        f"its {row_count:,} positions make no square of patches, and no config.json says its input size; give the timm "
        "model itself to playground.load, or save it with timm.models.save_for_hf"
    )


def _pool(base: Config, weights: State, norm: str, told: str | None) -> str:
    if "attn_pool.latent" in weights:
        return "map"
    if told in ("token", "avg"):
        return told
    if "cls_token" not in weights or norm == "pooled":
        return "avg"  # with mean pooling, timm pools before its last norm
    return "token" if base.pool == "map" or base.norm_place == "pooled" else base.pool


# What a config.json states, of `transformers` or of timm's save_for_hf ------------------------------------------------

READABLE_ARGUMENTS = {  # timm's model arguments that can be read from the weights, or that matter only in training
    "img_size", "patch_size", "in_chans", "embed_dim", "depth", "num_heads", "mlp_ratio", "num_classes", "global_pool",
    "class_token", "reg_tokens", "no_embed_class", "pos_embed", "pre_norm", "qk_norm", "qkv_bias", "init_values",
    "fc_norm", "final_norm", "act_layer", "dynamic_img_size", "dynamic_img_pad", "strict_img_size", "weight_init",
    "fix_init", "drop_rate", "pos_drop_rate", "patch_drop_rate", "proj_drop_rate", "attn_drop_rate", "drop_path_rate",
}  # fmt: skip


def stated_options(description: Description) -> GivenOptions:
    """The options of `load` that the config.json of `timm.models.save_for_hf` states."""
    arguments, pixels = description.get("model_args") or {}, description.get("pretrained_cfg") or {}
    if unreadable := [name for name, x in arguments.items() if name not in READABLE_ARGUMENTS and x is not None]:
        raise PlaygroundError(f"its config.json asks for {unreadable[0]}, which the playground's ViT has not")
    stated = {"global_pool": description.get("global_pool") or None}
    stated |= {word: pixels.get(word) for word in ("mean", "std")}
    return GivenOptions.read(stated | {word: arguments.get(word) for word in ("num_heads", "act_layer")})


def stated_words(description: Description, pixels: Description) -> set[str]:
    """The options of `load` that the files of `transformers` state. The model's type states the heads and the
    activation that a config.json leaves out as defaults, and the model's class what its answer is read from."""
    words = {"mean": pixels.get("image_mean"), "std": pixels.get("image_std"), "global_pool": True}
    words["num_heads"] = description.get("num_attention_heads") or description.get("model_type")
    words["act_layer"] = description.get("hidden_act") or description.get("model_type")
    return {word for word, value in words.items() if value}


def stated_size(description: Description) -> tuple[int, int] | None:
    vision = description.get("vision_config")
    size = (vision if isinstance(vision, dict) else description).get("image_size")
    for key, name in (("pretrained_cfg", "input_size"), ("model_args", "img_size")):
        size = (description.get(key) or {}).get(name) or size
    if size is None:
        return None
    *_, height, width = size if isinstance(size, list | tuple) else (size, size)
    return int(height), int(width)


def _labels(description: Description, classes: int) -> tuple[str, ...]:
    if numbered := description.get("id2label"):
        names = [name for _, name in sorted(numbered.items(), key=lambda pair: int(pair[0]))]
    else:
        names = description.get("label_names") or ()
    if isinstance(names, dict):
        names = [names.get(str(number), str(number)) for number in range(classes)]
    descriptions = description.get("label_descriptions") or {}
    return tuple(str(descriptions.get(name, name)) for name in names) if len(names) == classes else ()


# A Config that a file describes must lie within bounds, because the file may come from anybody. -----------------------

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


def checked(entries: Any) -> Config:
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
    smallest, largest = COUNT_BOUNDS.get(name, (0, 0))
    if type(value) is not type(default) and not (isinstance(default, float) and type(value) is int):
        wanted, fits = f"a {type(default).__name__}", False
    elif name in COUNT_BOUNDS:
        wanted, fits = f"a number from {smallest} to {largest:,}", smallest <= value <= largest
    elif name in CHOICES:
        wanted, fits = f"one of {', '.join(CHOICES[name])}", value in CHOICES[name]
    elif name == "eps":
        wanted, fits = "a number between 0 and 1", 0 < value <= 1
    elif name == "image_size":
        wanted = f"two sides of at most {MOST_SIDE:,} pixels"
        fits = len(value) == 2 and all(type(side) is int and 1 <= side <= MOST_SIDE for side in value)
    elif name in ("mean", "std"):
        wanted = "a number for red, green and blue"
        least = 0 if name == "std" else -math.inf
        fits = len(value) == 3 and all(type(n) in (int, float) and least < n and abs(n) <= 10 for n in value)
    elif name == "labels":
        wanted = f"words of at most {LONGEST_LABEL} letters"
        fits = all(isinstance(label, str) and len(label) <= LONGEST_LABEL for label in value)
    else:
        return
    if not fits:
        raise ValueError(f"{name} is {wanted}, not {value!r:.60}")
