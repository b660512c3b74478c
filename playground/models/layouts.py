"""Gives the weights of other libraries our names, which are timm's: those of `transformers` (ViT, DeiT, DINOv2, DINOv3,
and the image towers of CLIP and SigLIP), of Meta's DINOv2 and DINOv3, of torchvision, and of timm's Eva. Weights that
take no part in a pass are dropped. All works on shapes alone, too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import torch
from torch import Tensor

from playground.errors import PlaygroundError

State = Mapping[str, Tensor]

TABLE = (  # (a pattern in another library's name, what stands there in ours), one after the other
    (r"^(vit|deit|dinov2|dinov2_with_registers|backbone|vision_model|model)\.", ""),
    (r"^(encoder\.)?layers?\.(encoder_layer_)?(\d+)\.", r"blocks.\3."),
    (r"^embeddings\.(cls_token|class_embedding)$|^class_token$", "cls_token"),
    (r"^embeddings\.distillation_token$", "dist_token"),
    (r"^(embeddings\.)?(register|storage)_tokens$", "reg_token"),
    (r"^(embeddings\.position_embeddings|embeddings\.position_embedding\.weight|encoder\.pos_embedding)$", "pos_embed"),
    (r"^(embeddings\.patch_embeddings?(\.projection)?|conv_proj)\.", "patch_embed.proj."),
    (r"^(layernorm|post_layernorm|encoder\.ln)\.", "norm."),
    (r"^pre_layrnorm\.", "norm_pre."),
    (r"^distillation_classifier\.", "head_dist."),
    (r"^(classifier|cls_classifier|visual_projection|heads\.head)\.", "head."),
    (r"^head\.probe$", "attn_pool.latent"),
    (r"^head\.attention\.out_proj\.", "attn_pool.proj."),
    (r"^head\.layernorm\.", "attn_pool.norm."),
    (r"^head\.mlp\.", "attn_pool.mlp."),
    (r"\.attention\.attention\.(q|k|v)(uery|ey|alue)\.", r".attn.\1."),
    (r"\.(attention|self_attn)\.([qkv])_proj\.", r".attn.\2."),
    (r"\.attn\.([qv])_bias$", r".attn.\1.bias"),
    (r"\.self_attention\.in_proj_", ".attn.qkv."),
    (r"\.(attention\.output\.dense|attention\.o_proj|self_attn\.out_proj|self_attention\.out_proj)\.", ".attn.proj."),
    (r"\.(layernorm_before|layer_norm1|ln_1)\.", ".norm1."),
    (r"\.(layernorm_after|layer_norm2|ln_2)\.", ".norm2."),
    (r"\.mlp\.(gate_proj|fc1_g|w1)\.", ".mlp.gate."),
    (r"\.(intermediate\.dense|mlp\.(up_proj|weights_in|0|linear_1|w12|w2|fc1_x))\.", ".mlp.fc1."),
    (r"\.(output\.dense|mlp\.(down_proj|weights_out|3|linear_2|w3))\.", ".mlp.fc2."),
    (r"\.layer_scale([12])\.lambda1$|\.gamma_([12])$", r".ls\1\2.gamma"),
)
UNUSED = (
    r"text_(model|projection)\..*|logit_(scale|bias)|pooler\.dense\..*|(embeddings\.)?mask_token|rope_embed\.periods|"
    r".*\.attn\.qkv\.bias_mask|local_cls_norm\..*|(dino|ibot)_head\..*"
)
HUGGING_FACE = r"(^|.*\.)embeddings\.(patch_embeddings\.projection|patch_embeddings|patch_embedding)\.weight"


def is_hugging_face(names: Iterable[str]) -> bool:
    return any(re.match(HUGGING_FACE, name) for name in names)


def is_torchvision(names: Iterable[str]) -> bool:
    return {"conv_proj.weight", "encoder.pos_embedding"} <= set(names)


def is_meta(names: Iterable[str]) -> bool:
    """Whether the weights are Meta's DINOv2 or DINOv3: both hold a mask token."""
    return {"mask_token", "patch_embed.proj.weight", "blocks.0.ls1.gamma"} <= set(names)


def our_weights(state: State) -> dict[str, Tensor]:
    """The weights under our names. Unknown names stay: the error that they don't fit names them."""
    refuse_adapters(state)
    named: dict[str, Tensor] = {}
    for name, value in state.items():
        if f"{name}_mask" in state:  # the tensor qkv.bias_mask sets the bias of keys to 0
            q, k, v = value.chunk(3)
            value = torch.cat([q, torch.zeros_like(k), v])
        if not re.fullmatch(UNUSED, re.sub(*TABLE[0], name)) and value.numel():
            named[our_name(name)] = value
    ours = _joined(named)
    if "cls_token" in ours:
        ours["cls_token"] = ours["cls_token"].reshape(1, 1, -1)  # it and the positions have fewer axes in CLIP
    if "pos_embed" in ours:
        ours["pos_embed"] = ours["pos_embed"].reshape(1, *ours["pos_embed"].shape[-2:])
    if {"cls_token", "pos_embed"} <= ours.keys() and any("register_tokens" in name for name in state):
        ours["cls_token"] = ours["cls_token"] + ours["pos_embed"][:, :1]  # in timm it has its position added
        ours["pos_embed"] = ours["pos_embed"][:, 1:]
    return _as_transformers_reads_it(state, ours) if is_hugging_face(state) else _plain_head(ours)


def our_name(name: str) -> str:
    for pattern, ours in TABLE:
        name = re.sub(pattern, ours, name)
    return name


def _joined(state: State) -> dict[str, Tensor]:
    """Queries, keys and values become one matrix, where a missing bias is 0; so do gate and input of a gated MLP."""
    joined: dict[str, Tensor] = {}
    for name, value in state.items():
        if match := re.fullmatch(r"(.*\.attn\.)[qkv](\.weight|\.bias)", name):
            parts = [state.get(f"{match[1]}{letter}{match[2]}", torch.zeros_like(value)) for letter in "qkv"]
            joined[f"{match[1]}qkv{match[2]}"] = torch.cat(parts)
        elif (gate := name.replace(".fc1.", ".gate.")) != name and gate in state:
            joined[name] = torch.cat([state[gate], value])  # the gate first
        elif ".mlp.gate." not in name:
            joined[name] = value
    return joined


def _as_transformers_reads_it(state: State, ours: dict[str, Tensor]) -> dict[str, Tensor]:
    """Adds zeros for biases that only our model has, and leaves out what no answer is read from."""
    for kind in ("weight", "bias"):
        if f"head.attention.in_proj_{kind}" in ours:
            q, k, v = ours.pop(f"head.attention.in_proj_{kind}").chunk(3)
            ours |= {f"attn_pool.q.{kind}": q, f"attn_pool.kv.{kind}": torch.cat([k, v])}
    for name in [n for n in ours if re.fullmatch(r"head\.weight|blocks\.\d+\.(attn\.proj|mlp\.fc[12])\.weight", n)]:
        ours.setdefault(name.replace("weight", "bias"), torch.zeros_like(ours[name][:, 0]))
    left_out = ""
    if "head.weight" in ours and "attn_pool.latent" in ours:
        left_out = "attn_pool."  # SigLIP's classifier reads the mean of the patches
    if is_clip_classifier(state):
        left_out = "norm."
    if {"head.weight", "dist_token"} <= ours.keys() and "head_dist.weight" not in ours:
        # The only classifier reads the class token. Our model averages two, so this one is doubled and the other is 0
        for kind in ("weight", "bias"):
            ours[f"head_dist.{kind}"] = torch.zeros_like(ours[f"head.{kind}"])
            ours[f"head.{kind}"] = 2 * ours[f"head.{kind}"]
    return {name: x for name, x in ours.items() if not left_out or not name.startswith(left_out)}


def is_clip_classifier(names: Iterable[str]) -> bool:
    """Whether labels are read from the mean of CLIP's patches, and not captions from its class token."""
    names = set(map(our_name, names)) | {name for name in names if name.startswith("visual_projection.")}
    return {"norm_pre.weight", "head.weight"} <= names and "visual_projection.weight" not in names


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
    return {name.removeprefix(wrappers[0]): x for name, x in state.items() if name.startswith(wrappers[0])}


def refuse_adapters(names: Iterable[str]) -> None:
    if name := next((name for name in names if ".lora_" in name or ".modules_to_save." in name), None):
        raise PlaygroundError(
            f"Adapters lie beside the weights here ({name:.60}): give or save what model.merge_and_unload() returns."
        )


OWN_HEAD_REASON = "its head is one of its own, which the playground's ViT does not compute"


def has_own_head(state: State) -> bool:
    """Whether the head has several matrices. Such a head can't be computed; the layers before it can."""
    return any(name.startswith("head.") for name in state) and not (
        is_hugging_face(state) or "head.weight" in _plain_head(state)
    )


def _plain_head(state: State) -> dict[str, Tensor]:
    """Renames head = Sequential(Dropout, Linear) to one matrix. Any other head is left out."""
    head_names = [name for name in state if name.startswith("head.")]
    if not head_names or "head.weight" in state:
        return dict(state)
    prefix = head_names[0].rpartition(".")[0] + "."
    body = {name: x for name, x in state.items() if name not in head_names}
    if set(head_names) <= {f"{prefix}weight", f"{prefix}bias"} and state[f"{prefix}weight"].dim() == 2:
        return body | {f"head.{name.removeprefix(prefix)}": state[name] for name in head_names}
    return body
