"""Weights under other people's names, put under ours (which are timm's): timm's Eva models, Hugging Face's ViTs."""

from __future__ import annotations

import re

import torch
from torch import Tensor

HUGGING_FACE = (  # what a layer's parts are called there, and here
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
UNUSED = ("embeddings.mask_token", "pooler.dense.weight", "pooler.dense.bias")  # no part of the way to the classes


def is_hugging_face(state: dict[str, Tensor]) -> bool:
    return any(key.endswith("embeddings.patch_embeddings.projection.weight") for key in state)


def from_hugging_face(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """ViT, DeiT and DINOv2 as `transformers` saves them. A name that is none of theirs stays as it is, so that
    whoever fills a model with the result can say which one it was."""
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
    """Models with registers: timm keeps the class token's position inside the class token itself."""
    if {"reg_token", "pos_embed", "cls_token"} <= ours.keys():
        ours["cls_token"] = ours["cls_token"] + ours["pos_embed"][:, :1]
        ours["pos_embed"] = ours["pos_embed"][:, 1:]
    return ours


def from_eva(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """DINOv3's names and splits in timm to ours; other state dicts pass through as they are."""
    ours = {}
    for key, value in state.items():
        if key.endswith(("attn.v_bias", "mlp.fc1_x.weight", "mlp.fc1_x.bias")):
            continue  # taken together with its partner
        if key.endswith("attn.q_bias"):  # keys have no bias
            parts = [value, torch.zeros_like(value), state[key.replace("q_bias", "v_bias")]]
            ours[key.replace("q_bias", "qkv.bias")] = torch.cat(parts)
        elif ".mlp.fc1_g." in key:  # the gate first, then what it gates
            ours[key.replace("fc1_g", "fc1")] = torch.cat([value, state[key.replace("fc1_g", "fc1_x")]])
        else:
            ours[re.sub(r"\.gamma_([12])$", r".ls\1.gamma", key)] = value
    return ours
