"""Reads a model's architecture from its weights and from the files beside them. Weights do not show the number
of heads, the activation, eps, the pooling, mean and deviation: the model's name or family gives these, or a
config.json."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor

from playground.errors import PlaygroundError
from playground.models import layouts
from playground.models.given import Options, config_fields, read_options
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


def family_config(
    names: Iterable[str], weights: State, description: Description, pixels: Description, options: Options
) -> Config:
    """What the family of these weights, its config.json and its preprocessor_config.json say and no weight shows.
    `names`: the names in the file; `weights`: the weights under our names."""
    names, what = list(names), f" ({description['model_type']})" if description.get("model_type") else ""
    kind = family(names) or "vit"
    if not {"blocks.0.attn.qkv.weight", "blocks.0.mlp.fc1.weight", "blocks.0.mlp.fc2.weight"} <= weights.keys():
        raise PlaygroundError(f"its layers are others: it is no plain Vision Transformer{what}")
    if any("relative_position" in name for name in names):
        raise PlaygroundError(f"it adds a number for the distance between two patches to each score{what}")
    if isinstance(vision := description.get("vision_config"), dict):
        description = {**description, **vision}
    if kind == "dinov3" and float(description.get("rope_theta", 100.0)) != 100.0:
        raise PlaygroundError("it turns queries and keys at another pace than DINOv3 (rope_theta)")
    width = weights["patch_embed.proj.weight"].shape[0]
    heads = options.get("num_heads") or description.get("num_attention_heads")
    if not heads and width % 64:
        raise PlaygroundError(f"nothing says how many heads share its width of {width}: put its config.json beside it")
    facts = {"width": width, "heads": int(heads or width // 64), "classes": 0} | FAMILIES[kind]
    if is_gated(weights) and kind != "dinov3":
        facts["activation"] = "silu"
    elif "hidden_act" in description:
        facts["activation"] = HIDDEN_ACTS[description["hidden_act"]]
    if "layer_norm_eps" in description:
        facts["eps"] = float(description["layer_norm_eps"])
    if pixels.get("resample") in RESAMPLING:
        facts["interpolation"] = RESAMPLING[pixels["resample"]]
    if "head.weight" in weights and weights["head.weight"].shape[1] == 2 * width:
        facts["pool"] = "token+avg"
    elif layouts.is_clip_classifier(names):
        facts["pool"] = "avg"
    return Config(**facts)


def is_gated(weights: State) -> bool:
    return weights["blocks.0.mlp.fc1.weight"].shape[0] == 2 * weights["blocks.0.mlp.fc2.weight"].shape[1]


def shown(base: Config, weights: State, description: Description, options: Options) -> Config:
    """`base` with what the weights (under our names) show, and what `options` and a config.json state."""
    if "patch_embed.proj.weight" not in weights or "blocks.0.mlp.fc2.weight" not in weights:
        return base  # the weights are of another kind of model, for which source.check_fit raises
    patches = weights["patch_embed.proj.weight"]
    if patches.dim() != 4 or patches.shape[1] != 3 or patches.shape[2] != patches.shape[3]:
        raise PlaygroundError("it does not cut pictures of 3 channels (red, green, blue) into square patches")
    width, patch = patches.shape[0], patches.shape[2]
    classes = len(weights["head.weight"]) if "head.weight" in weights else 0
    registers = weights["reg_token"].shape[1] if "reg_token" in weights else 0
    norm = "pooled" if "fc_norm.weight" in weights else "tokens" if "norm.weight" in weights else "nowhere"
    prefix_count = ("cls_token" in weights) + ("dist_token" in weights) + registers
    positions, size = _positions_and_size(base, weights, patch, prefix_count, stated_size(description))
    stated: dict[str, Any] = {"pool": _pool(base, weights, norm), "heads": _heads(base, weights, width, options)}
    stated |= config_fields(options)
    if "attn_pool.latent" in weights:
        stated["pool"] = "map"
    return replace(
        base,
        image_size=size,
        patch_size=patch,
        depth=1 + max(int(key.split(".")[1]) for key in weights if key.startswith("blocks.")),
        width=width,
        mlp_width=weights["blocks.0.mlp.fc2.weight"].shape[1],
        classes=classes,
        cls_token="cls_token" in weights,
        dist_token="dist_token" in weights,
        registers=registers,
        positions=positions,
        norm_place=norm,
        pre_norm="norm_pre.weight" in weights,
        qk_norm="blocks.0.attn.q_norm.weight" in weights,
        qkv_bias="blocks.0.attn.qkv.bias" in weights,
        layer_scale="blocks.0.ls1.gamma" in weights,
        gated_mlp=is_gated(weights),
        labels=_labels(description, classes) or (base.labels if classes == base.classes else ()),
        interpolation=(description.get("pretrained_cfg") or {}).get("interpolation") or base.interpolation,
        **stated,
    )


def _heads(base: Config, weights: State, width: int, options: Options) -> int:
    """How many heads share the width. A norm of the queries, if there is one, is as wide as one head."""
    norm = weights.get("blocks.0.attn.q_norm.weight")
    shown_heads = width // (base.width // base.heads if norm is None else len(norm))
    return options.get("num_heads") or max(1, shown_heads)


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
    advice = "give the model itself to playground.load, or save it with timm.models.save_for_hf"
    raise PlaygroundError(f"its {row_count:,} positions make no square of patches: {advice}")


def _pool(base: Config, weights: State, norm: str) -> str:
    if "cls_token" not in weights or norm == "pooled":
        return "avg"  # with mean pooling, timm pools before its last norm
    return "token" if base.pool == "map" or base.norm_place == "pooled" else base.pool


READABLE_ARGUMENTS = {  # timm's model arguments that can be read from the weights, or that matter only in training
    "img_size", "patch_size", "in_chans", "embed_dim", "depth", "num_heads", "mlp_ratio", "num_classes", "global_pool",
    "class_token", "reg_tokens", "no_embed_class", "pos_embed", "pre_norm", "qk_norm", "qkv_bias", "init_values",
    "fc_norm", "final_norm", "act_layer", "dynamic_img_size", "dynamic_img_pad", "strict_img_size", "weight_init",
    "fix_init", "drop_rate", "pos_drop_rate", "patch_drop_rate", "proj_drop_rate", "attn_drop_rate", "drop_path_rate",
}  # fmt: skip


def stated_options(description: Description, pixels: Description) -> Options:
    """The options of `load` that a config.json states, of `timm.models.save_for_hf` or `transformers`."""
    arguments, timm_pixels = description.get("model_args") or {}, description.get("pretrained_cfg") or {}
    if unreadable := [name for name, x in arguments.items() if name not in READABLE_ARGUMENTS and x is not None]:
        raise PlaygroundError(f"its config.json asks for {unreadable[0]}, which the playground's ViT has not")
    colours = {word: timm_pixels.get(word) or pixels.get(f"image_{word}") for word in ("mean", "std")}
    built = {word: arguments.get(word) for word in ("num_heads", "act_layer")}
    return read_options({**colours, **built, "global_pool": description.get("global_pool") or None})


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
        names: Any = [name for _, name in sorted(numbered.items(), key=lambda pair: int(pair[0]))]
    else:
        names = description.get("label_names") or ()
    if isinstance(names, dict):
        names = [names.get(str(number), str(number)) for number in range(classes)]
    descriptions = description.get("label_descriptions") or {}
    return tuple(str(descriptions.get(name, name)) for name in names) if len(names) == classes else ()
