"""Renames the weights of Hugging Face's ViTs and of timm's Eva models to our names, which are those of timm's ViTs."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from pathlib import Path

import torch
from torch import Tensor

from playground.errors import PlaygroundError
from playground.vit import Config

HUGGING_FACE = (  # the parts of a layer: (their name, our name)
    (r"attention\.output\.dense", "attn.proj"),
    (r"(layernorm_before|norm1)", "norm1"),
    (r"(layernorm_after|norm2)", "norm2"),
    (r"(intermediate\.dense|mlp\.fc1)", "mlp.fc1"),
    (r"(output\.dense|mlp\.fc2)", "mlp.fc2"),
    (r"mlp\.weights_in", "mlp.fc1"),  # of a gated MLP
    (r"mlp\.weights_out", "mlp.fc2"),
)
OUTSIDE_LAYERS = {
    "embeddings.cls_token": "cls_token",
    "embeddings.distillation_token": "dist_token",
    "embeddings.register_tokens": "reg_token",
    "embeddings.position_embeddings": "pos_embed",
    "embeddings.patch_embeddings.projection.weight": "patch_embed.proj.weight",
    "embeddings.patch_embeddings.projection.bias": "patch_embed.proj.bias",
    "layernorm.weight": "norm.weight",
    "layernorm.bias": "norm.bias",
    "classifier.weight": "head.weight",
    "classifier.bias": "head.bias",
    "cls_classifier.weight": "head.weight",
    "cls_classifier.bias": "head.bias",
    "distillation_classifier.weight": "head_dist.weight",
    "distillation_classifier.bias": "head_dist.bias",
}
UNUSED = ("embeddings.mask_token", "pooler.dense.weight", "pooler.dense.bias")  # play no part in the forward pass


def is_hugging_face(names: Iterable[str]) -> bool:
    return any(name.endswith("embeddings.patch_embeddings.projection.weight") for name in names)


def from_hugging_face(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Renames ViT, DeiT and DINOv2 as `transformers` saves them. Unknown names stay as they are, so that zoo.fill can
    name them in its error."""
    ours, parts = {}, {}
    for key, value in state.items():
        name = re.sub(r"^(vit|deit|dinov2|dinov2_with_registers|backbone)\.", "", key)
        if name in UNUSED:
            continue
        if not (inside := re.fullmatch(r"encoder\.layer\.(\d+)\.(.+?)\.(weight|bias|lambda1)", name)):
            ours[OUTSIDE_LAYERS.get(name, name)] = value
            continue
        layer, part, kind = inside.groups()
        if third := re.fullmatch(r"attention\.attention\.(query|key|value)", part):
            parts.setdefault(f"blocks.{layer}.attn.qkv.{kind}", {})[third[1]] = value
        elif scale := re.fullmatch(r"layer_scale([12])", part):
            ours[f"blocks.{layer}.ls{scale[1]}.gamma"] = value
        else:
            known = next((new for old, new in HUGGING_FACE if re.fullmatch(old, part)), None)
            ours[f"blocks.{layer}.{known}.{kind}" if known else name] = value
    for key, three in parts.items():
        if len(three) == 3:
            ours[key] = torch.cat([three["query"], three["key"], three["value"]])
    return _class_token_placed(ours)


def _class_token_placed(ours: dict[str, Tensor]) -> dict[str, Tensor]:
    """For models with registers: timm adds the class token's position to the class token itself."""
    if {"reg_token", "pos_embed", "cls_token"} <= ours.keys():
        ours["cls_token"] = ours["cls_token"] + ours["pos_embed"][:, :1]
        ours["pos_embed"] = ours["pos_embed"][:, 1:]
    return ours


IMAGENET = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}
ACTIVATIONS = {"gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "quick_gelu": "quick_gelu"}


def hugging_face_config(state: dict[str, Tensor], path: Path) -> tuple[Config, dict[str, Tensor]]:
    """The architecture of such weights, already renamed, and those of them that it uses. Most of it follows from the
    shapes; the rest is in config.json and preprocessor_config.json, which `transformers` writes beside the weights."""
    said, pixels = _json_beside(path, "config.json"), _json_beside(path, "preprocessor_config.json")
    width, _, patch, _ = state["patch_embed.proj.weight"].shape
    dinov2, distilled = "blocks.0.ls1.gamma" in state, "dist_token" in state
    registers = state["reg_token"].shape[1] if "reg_token" in state else 0
    patches = state["pos_embed"].shape[1] - (0 if registers else 1 + distilled)
    hidden, mlp_width = state["blocks.0.mlp.fc1.weight"].shape[0], state["blocks.0.mlp.fc2.weight"].shape[1]
    heads = said.get("num_attention_heads")
    if heads is None and width % 64:
        raise PlaygroundError(
            f"nothing says how many heads share its width of {width}; put the config.json that was saved with it "
            "beside the file"
        )
    # Our classifier reads one vector. DINOv2's reads two, and DeiT's averages two heads: these models predict nothing
    both = not distilled or "head_dist.weight" in state
    classes = state["head.weight"].shape[0] if "head.weight" in state and both else 0
    if classes == 0 or state["head.weight"].shape[1] != width:
        classes, state = 0, {key: value for key, value in state.items() if not key.startswith("head")}
    labels = [str(label) for label in said.get("id2label", {}).values()]
    config = Config(
        image_size=(patch * math.isqrt(patches),) * 2,
        patch_size=patch,
        depth=1 + max(int(key.split(".")[1]) for key in state if key.startswith("blocks.")),
        width=width,
        mlp_width=mlp_width,
        heads=int(heads or width // 64),
        classes=classes,
        dist_token=distilled,
        registers=registers,
        positions="patches" if registers else "learned",
        qkv_bias="blocks.0.attn.qkv.bias" in state,
        layer_scale=dinov2,
        gated_mlp=hidden == 2 * mlp_width,
        activation="silu" if hidden == 2 * mlp_width else ACTIVATIONS[said.get("hidden_act", "gelu")],
        eps=float(said.get("layer_norm_eps", 1e-6 if dinov2 else 1e-12)),
        mean=_three(pixels, "image_mean", IMAGENET["mean"] if dinov2 or distilled else (0.5, 0.5, 0.5)),
        std=_three(pixels, "image_std", IMAGENET["std"] if dinov2 or distilled else (0.5, 0.5, 0.5)),
        interpolation="bicubic" if dinov2 or distilled else "bilinear",
        labels=tuple(labels) if len(labels) == classes else (),
    )
    return config, state


def _json_beside(path: Path, name: str) -> dict:
    try:
        found = json.loads((path.parent / name).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _three(said: dict, name: str, default: tuple[float, ...]) -> tuple[float, float, float]:
    red, green, blue = (float(number) for number in said.get(name, default))
    return red, green, blue


def from_eva(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """timm's Eva state dicts (DINOv3), which hold some tensors in two parts, to our names; others pass unchanged."""
    ours = {}
    for key, value in state.items():
        if key.endswith(("attn.v_bias", "mlp.fc1_x.weight", "mlp.fc1_x.bias")):
            continue  # joined when its partner comes
        if key.endswith("attn.q_bias"):  # keys have no bias
            parts = [value, torch.zeros_like(value), state[key.replace("q_bias", "v_bias")]]
            ours[key.replace("q_bias", "qkv.bias")] = torch.cat(parts)
        elif ".mlp.fc1_g." in key:  # gate and input of the gated MLP become one matrix, the gate first
            ours[key.replace("fc1_g", "fc1")] = torch.cat([value, state[key.replace("fc1_g", "fc1_x")]])
        else:
            ours[re.sub(r"\.gamma_([12])$", r".ls\1.gamma", key)] = value
    return ours
