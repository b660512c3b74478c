"""Reads models of `transformers`, from files or from memory: ViT, DeiT, DINOv2 (with registers), DINOv3, and the image
towers of CLIP and SigLIP. Their weights get our names, which are timm's, and their config.json becomes a Config.

`transformers` itself is not needed, because the names of the weights show the architecture.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from playground.errors import PlaygroundError
from playground.vit import Config

PATCH_NAMES = ("patch_embeddings.projection.weight", "patch_embeddings.weight", "patch_embedding.weight")
WRAPPER_PREFIX = r"^(vit|deit|dinov2|dinov2_with_registers|backbone|vision_model|model)\."
TEXT_NAMES = r"^(text_model|text_projection|logit_scale|logit_bias)"  # names in the text half of CLIP and SigLIP
UNUSED_NAMES = ("embeddings.mask_token", "pooler.dense.weight", "pooler.dense.bias")  # weights that a pass does not use
OUTSIDE_LAYERS = {  # Hugging Face's name -> ours
    "embeddings.cls_token": "cls_token",
    "embeddings.class_embedding": "cls_token",
    "embeddings.distillation_token": "dist_token",
    "embeddings.register_tokens": "reg_token",
    "embeddings.position_embeddings": "pos_embed",
    "embeddings.position_embedding.weight": "pos_embed",
    "cls_classifier.weight": "head.weight",
    "cls_classifier.bias": "head.bias",
    "visual_projection.weight": "head.weight",
    "head.probe": "attn_pool.latent",
}
NAME_STARTS = (  # beginnings of names outside the layers: (Hugging Face's, ours)
    (r"embeddings\.patch_embeddings\.projection\.", "patch_embed.proj."),
    (r"embeddings\.patch_embeddings?\.", "patch_embed.proj."),
    (r"(layernorm|norm|post_layernorm)\.", "norm."),
    (r"pre_layrnorm\.", "norm_pre."),
    (r"distillation_classifier\.", "head_dist."),
    (r"head\.attention\.out_proj\.", "attn_pool.proj."),
    (r"head\.layernorm\.", "attn_pool.norm."),
    (r"head\.mlp\.", "attn_pool.mlp."),
    (r"classifier\.", "head."),
)
QKV_PATTERN = r"(?:attention\.attention\.(query|key|value)|(?:attention|self_attn)\.([qkv])_proj)"
LAYER_NAMES = (  # (Hugging Face's name, ours)
    (r"attention\.output\.dense|attention\.o_proj|self_attn\.out_proj", "attn.proj"),
    (r"layernorm_before|norm1|layer_norm1", "norm1"),
    (r"layernorm_after|norm2|layer_norm2", "norm2"),
    (r"intermediate\.dense|mlp\.fc1|mlp\.up_proj|mlp\.weights_in", "mlp.fc1"),
    (r"output\.dense|mlp\.fc2|mlp\.down_proj|mlp\.weights_out", "mlp.fc2"),
    (r"layer_scale1", "ls1"),
    (r"layer_scale2", "ls2"),
)


def is_hugging_face(names: Iterable[str]) -> bool:
    return any(name.endswith(tuple(f"embeddings.{end}" for end in PATCH_NAMES)) for name in names)


def from_hugging_face(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Gives Hugging Face's weights timm's names. Unknown names stay: the error of `fitting_weights` names them."""
    renamed_state: dict[str, Tensor] = {}
    parts: dict[str, dict[str, Tensor]] = {}  # "qkv.weight" or "qkv.bias" of a layer -> its three matrices
    gates: dict[str, Tensor] = {}
    for key, value in state.items():
        name = re.sub(WRAPPER_PREFIX, "", key)
        if name in UNUSED_NAMES or re.match(TEXT_NAMES, key):
            continue
        match = re.fullmatch(r"(?:encoder\.)?layers?\.(\d+)\.(.+)\.(weight|bias|lambda1)", name)
        if not match:
            renamed_state[_name_outside_layers(name)] = value
            continue
        layer, part, kind = match.groups()
        if qkv_match := re.fullmatch(QKV_PATTERN, part):
            parts.setdefault(f"blocks.{layer}.attn.qkv.{kind}", {})[(qkv_match[1] or qkv_match[2])[0]] = value
        elif part == "mlp.gate_proj":
            gates[f"blocks.{layer}.mlp.fc1.{kind}"] = value
        else:
            new_name = next((our_name for pattern, our_name in LAYER_NAMES if re.fullmatch(pattern, part)), None)
            renamed_state[f"blocks.{layer}.{new_name}.{kind}".replace(".lambda1", ".gamma") if new_name else name] = (
                value
            )
    for key, qkv_parts in parts.items():
        if "weight" not in key or len(qkv_parts) == 3:
            first_part = next(iter(qkv_parts.values()))
            matrices = [qkv_parts.get(letter, torch.zeros_like(first_part)) for letter in "qkv"]  # a missing bias is 0
            renamed_state[key] = torch.cat(matrices)
    for key, gate in gates.items():
        if key in renamed_state:
            # The gate and the input of a gated MLP become one matrix, the gate first
            renamed_state[key] = torch.cat([gate, renamed_state[key]])
    return _complete(renamed_state)


def _name_outside_layers(name: str) -> str:
    if name in OUTSIDE_LAYERS:
        return OUTSIDE_LAYERS[name]
    for pattern, our_start in NAME_STARTS:
        if match := re.match(pattern, name):
            return our_start + name[match.end() :]
    return name


def _complete(renamed_state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Gives tensors the shapes of our model, and adds zeros for biases that only our model has."""
    if "cls_token" in renamed_state:
        renamed_state["cls_token"] = renamed_state["cls_token"].reshape(1, 1, -1)
    if "pos_embed" in renamed_state and renamed_state["pos_embed"].dim() == 2:
        renamed_state["pos_embed"] = renamed_state["pos_embed"][None]
    if "reg_token" in renamed_state and not renamed_state["reg_token"].numel():
        del renamed_state["reg_token"]
    for kind in ("weight", "bias"):
        if f"head.attention.in_proj_{kind}" in renamed_state:
            q, k, v = renamed_state.pop(f"head.attention.in_proj_{kind}").chunk(3)
            renamed_state[f"attn_pool.q.{kind}"], renamed_state[f"attn_pool.kv.{kind}"] = q, torch.cat([k, v])
    for key in [
        key for key in renamed_state if re.fullmatch(r"head\.weight|blocks\.\d+\.(attn\.proj|mlp\.fc[12])\.weight", key)
    ]:
        renamed_state.setdefault(key.replace("weight", "bias"), torch.zeros_like(renamed_state[key][:, 0]))
    if {
        "reg_token",
        "pos_embed",
        "cls_token",
    } <= renamed_state.keys():  # timm stores the class token with its position added
        renamed_state["cls_token"] = renamed_state["cls_token"] + renamed_state["pos_embed"][:, :1]
        renamed_state["pos_embed"] = renamed_state["pos_embed"][:, 1:]
    return renamed_state


# The architecture -----------------------------------------------------------------------------------------------------

IMAGENET = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}
OPENAI = {"mean": (0.48145466, 0.4578275, 0.40821073), "std": (0.26862954, 0.26130258, 0.27577711)}
HALVES = {"mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5)}
FAMILIES: dict[str, dict[str, Any]] = {  # family -> defaults of `transformers` for entries that config.json lacks
    "vit": {**HALVES, "eps": 1e-12, "interpolation": "bilinear"},
    "deit": {**IMAGENET, "eps": 1e-12, "interpolation": "bicubic"},
    "dinov2": {**IMAGENET, "eps": 1e-6, "interpolation": "bicubic"},
    "dinov3": {**IMAGENET, "eps": 1e-5, "interpolation": "bilinear"},
    "clip": {**OPENAI, "eps": 1e-5, "interpolation": "bicubic", "act": "quick_gelu"},
    "siglip": {**HALVES, "eps": 1e-6, "interpolation": "bicubic", "act": "gelu_pytorch_tanh"},
}
ACTIVATIONS = {
    "gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "quick_gelu": "quick_gelu",
    "relu": "relu", "silu": "silu",
}  # fmt: skip
RESAMPLING = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic"}  # Pillow's numbers of the filters
Entries = dict[str, Any]


def hugging_face_config(
    names: Iterable[str], state: dict[str, Tensor], description: Entries, pixels: Entries
) -> tuple[Config, dict[str, Tensor]]:
    """The architecture of a file's weights, and the weights that a pass uses. `names`: the names in the file; `state`:
    the renamed weights. Most facts follow from the shapes; the others are in config.json (`description`) and
    preprocessor_config.json (`pixels`)."""
    names = list(names)
    if reason := _why_not_plain(names, state):
        kind = f" ({description['model_type']})" if description.get("model_type") else ""
        raise PlaygroundError(f"{reason}: it is no plain Vision Transformer{kind}")
    family = _family(names, state)
    defaults, vision_config = FAMILIES[family], description.get("vision_config")
    description = (
        {**description, **vision_config, "id2label": description.get("id2label", {})}
        if isinstance(vision_config, dict)
        else description
    )
    patches = state["patch_embed.proj.weight"]
    if patches.dim() != 4 or patches.shape[1] != 3 or patches.shape[2] != patches.shape[3]:
        raise PlaygroundError("it does not cut an RGB picture into square patches of one size")
    width, patch = patches.shape[0], patches.shape[2]
    if family == "dinov3" and float(description.get("rope_theta", 100.0)) != 100.0:
        raise PlaygroundError("it turns queries and keys at another pace than DINOv3 (rope_theta)")
    has_projection = any(name.startswith("visual_projection.") for name in names)  # into the space of captions
    pooling, classes, state = _readout(family, state, width, has_projection)
    is_gated = state["blocks.0.mlp.fc1.weight"].shape[0] == 2 * state["blocks.0.mlp.fc2.weight"].shape[1]
    activation = (
        "silu" if is_gated and family == "dinov2" else description.get("hidden_act", defaults.get("act", "gelu"))
    )
    labels = [str(label) for _, label in sorted(description.get("id2label", {}).items(), key=lambda pair: int(pair[0]))]
    registers = state["reg_token"].shape[1] if "reg_token" in state else 0
    config = Config(
        image_size=_image_size(state, description, patch, registers),
        patch_size=patch,
        depth=1 + max(int(key.split(".")[1]) for key in state if key.startswith("blocks.")),
        width=width,
        mlp_width=state["blocks.0.mlp.fc2.weight"].shape[1],
        heads=_heads(description, width),
        classes=classes,
        cls_token="cls_token" in state,
        dist_token="dist_token" in state,
        registers=registers,
        positions="rotary" if "pos_embed" not in state else "patches" if registers else "learned",
        stretching=stretching_of(names),
        **pooling,
        pre_norm="norm_pre.weight" in state,
        qkv_bias="blocks.0.attn.qkv.bias" in state,
        layer_scale="blocks.0.ls1.gamma" in state,
        gated_mlp=is_gated,
        activation=ACTIVATIONS[activation],
        eps=float(description.get("layer_norm_eps", defaults["eps"])),
        mean=_colours(pixels, "image_mean", defaults["mean"]),
        std=_colours(pixels, "image_std", defaults["std"]),
        interpolation=RESAMPLING.get(pixels.get("resample"), defaults["interpolation"]),
        labels=tuple(labels) if len(labels) == classes else (),
    )
    return config, state


def stretching_of(names: Iterable[str]) -> str:
    """How `transformers` stretches learned positions: as timm does in DINOv2 with registers alone."""
    return "antialiased" if any("register_tokens" in name for name in names) else "plain"


def hugging_face_options(config: Entries, pixels: Entries) -> set[str]:
    """The options of `load` that these files determine. The model's type determines the heads and the activation that
    config.json leaves out as defaults. "global_pool" is always included: the model's class determines the pooling."""
    option_values = {
        "mean": pixels.get("image_mean"),
        "std": pixels.get("image_std"),
        "num_heads": config.get("num_attention_heads") or config.get("model_type"),
    }
    option_values["act_layer"] = config.get("model_type") or config.get("hidden_act")
    return {"global_pool", *(word for word, value in option_values.items() if value)}


def _why_not_plain(names: list[str], state: dict[str, Tensor]) -> str | None:
    if not {"blocks.0.attn.qkv.weight", "blocks.0.mlp.fc1.weight", "blocks.0.mlp.fc2.weight"} <= state.keys():
        return "its layers are others"
    if any("relative_position" in name for name in names):
        return "it adds a number for the distance between two patches to each score"
    return None


def _family(names: list[str], state: dict[str, Tensor]) -> str:
    if any("embeddings.patch_embedding." in name for name in names):
        return "clip" if "cls_token" in state else "siglip"
    if "pos_embed" not in state:
        return "dinov3"
    return "dinov2" if "blocks.0.ls1.gamma" in state else "deit" if "dist_token" in state else "vit"


def _readout(
    family: str, state: dict[str, Tensor], width: int, has_projection: bool
) -> tuple[Entries, int, dict[str, Tensor]]:
    """(Config fields for pooling and norm, classes, weights that are used). The family decides which tokens the
    classifier reads; without a classifier the answer is the pooled output of `transformers`."""
    classes = state["head.weight"].shape[0] if "head.weight" in state else 0
    if family == "siglip":
        if classes or "attn_pool.latent" not in state:
            return {"pool": "avg"}, classes, _without_prefix("attn_pool.", state)
        return {"pool": "map"}, 0, state
    if family == "clip" and classes and not has_projection:
        return {"pool": "avg", "norm_place": "nowhere"}, classes, _without_prefix("norm.", state)
    if classes and state["head.weight"].shape[1] == 2 * width:
        return {"pool": "token+avg"}, classes, state
    if classes and "dist_token" in state and "head_dist.weight" not in state:
        # The only classifier reads the class token. Our model averages two, so this one is doubled and the other is 0
        doubled = {key: 2 * state[key] for key in ("head.weight", "head.bias")}
        zeros = {key.replace("head", "head_dist"): torch.zeros_like(value) for key, value in doubled.items()}
        return {}, classes, state | doubled | zeros
    return {}, classes, state


def _without_prefix(prefix: str, state: dict[str, Tensor]) -> dict[str, Tensor]:
    return {key: value for key, value in state.items() if not key.startswith(prefix)}


def _image_size(state: dict[str, Tensor], config: Entries, patch: int, registers: int) -> tuple[int, int]:
    size = config.get("image_size", 224)
    height, width = size if isinstance(size, list | tuple) else (size, size)
    stated_size = int(height) // patch * patch, int(width) // patch * patch
    if "pos_embed" not in state:
        return stated_size
    prefix_count = 0 if registers else ("cls_token" in state) + ("dist_token" in state)
    patches = state["pos_embed"].shape[1] - prefix_count
    if stated_size[0] * stated_size[1] == patches * patch**2:
        return stated_size
    return (patch * math.isqrt(patches),) * 2


def _heads(config: Entries, width: int) -> int:
    heads = config.get("num_attention_heads")
    if heads is None and width % 64:
        raise PlaygroundError(
            f"nothing says how many heads share its width of {width}; put the config.json that was saved with it "
            "beside the file"
        )
    return int(heads or width // 64)


def _colours(config: Entries, name: str, default: tuple[float, ...]) -> tuple[float, float, float]:
    red, green, blue = (float(number) for number in config.get(name, default))
    return red, green, blue
