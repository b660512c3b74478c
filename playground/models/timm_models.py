"""Finds out whether a model of timm is a plain ViT, reads its Config, and finds its weights. Importing timm takes
seconds, so it is imported only if a name or a model of timm is asked for."""

from __future__ import annotations

import difflib
import heapq
import re
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from playground.assets import SHIPPED_MODELS
from playground.errors import PlaygroundError
from playground.models import architecture, borrowed, hub, layouts
from playground.vit import PAPER, Config

WEIGHTS_FILE = "model.safetensors"  # the name of the weights' file in every repository on the hub
USUAL_MODEL = "vit_small_patch16_224"
PLAIN_MODULES = ("vision_transformer", "deit", "eva")  # the files of timm that define plain ViTs

DINOV2_SMALL = Config(  # equals timm's vit_small_patch14_dinov2.lvd142m, but needs no import of timm
    image_size=(518, 518), patch_size=14, depth=12, width=384, mlp_width=1536, heads=6, classes=0, layer_scale=True,
    mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225),
)  # fmt: skip


def matching_names(pattern: str) -> list[str]:
    """timm's names with published weights that match `pattern`, which is a part of a name or a pattern with * and ?."""
    import timm

    wildcard = pattern if any(c in pattern for c in "*?[") else f"*{pattern}*"
    return [name for module in PLAIN_MODULES for name in timm.list_models(wildcard, module=module, pretrained=True)]


def timm_config(name: str) -> Config:
    """Our Config for one of timm's models. Raises if our VisionTransformer can't compute this model."""
    if name == "dinov2-small":
        return DINOV2_SMALL
    import timm

    check_name(name)
    with torch.device("meta"):  # shapes only: no memory, no random numbers
        model = timm.create_model(name)
    if reason := why_not(model):
        own_pass = "; playground.trace(the timm model, a picture) runs it by itself" * hasattr(model, "blocks")
        nearest = f"The nearest that can is {_nearest_that_loads(name)}"
        raise PlaygroundError(f"{name} can't be loaded: {reason}{own_pass}. {nearest}.")
    return read_config(model, name)


def check_name(name: str) -> None:
    import timm

    architecture = name.split(".")[0]
    if not re.fullmatch(r"\w+(\.\w+)?", name, re.ASCII) or not timm.is_model(architecture):
        nearest = _nearest_that_loads(name)
        raise PlaygroundError(f"There is no model called {name!r}; the nearest that loads is {nearest}.")
    tags = timm.list_models(f"{architecture}.*", pretrained=True)
    if "." in name and name not in tags:
        published = ", ".join(tags) or "none at all"
        raise PlaygroundError(f"There are no weights called {name}; published are {published}.")


def why_not(model: Any) -> str | None:
    """Why our VisionTransformer can't compute this timm model; None if it can."""
    kind = type(model).__name__
    if any("Window" in type(module).__name__ for module in model.modules()):
        return "it attends within windows, so that no row goes over the whole picture"
    if kind not in ("VisionTransformer", "VisionTransformerDistilled", "Eva"):
        return f"it is a {kind}, not a plain Vision Transformer"
    block = model.blocks[0]
    attention: Any = getattr(block, "attn", None)
    mlp: Any = getattr(block, "mlp", None)
    for part, module, kinds in (
        ("patches are cut by", model.patch_embed, ("PatchEmbed",)),
        ("layers are", block, ("Block", "EvaBlock")),
        ("positions are", getattr(model, "rope", None), ("NoneType", "RotaryEmbeddingDinoV3")),
        ("attention is", attention, ("Attention", "EvaAttention", "AttentionRope")),
        ("attention has a norm,", getattr(attention, "norm", None), ("NoneType", "Identity")),
        ("attention has a gate,", getattr(attention, "gate", None), ("NoneType",)),
        ("norms are", getattr(block, "norm1", None), ("LayerNorm",)),
        ("norms are", getattr(block, "norm2", None), ("LayerNorm",)),
        ("MLP has a norm,", getattr(mlp, "norm", None), ("Identity",)),
    ):
        if type(module).__name__ not in kinds:
            return f"its {part} {type(module).__name__}, which the playground's ViT does not compute"
    if attention.qkv is None:
        return "its queries, keys and values have matrices of their own"
    if getattr(attention, "num_kv_heads", attention.num_heads) != attention.num_heads:
        return "several of its heads share keys and values"
    if attention.proj.in_features != model.embed_dim:
        return "its heads together are not as wide as its tokens"
    if _activation(mlp) is None:
        return f"its activation is {type(mlp.act).__name__}, which the playground's ViT does not compute"
    pools_prefix = getattr(model, "pool_include_prefix", False) or (kind == "Eva" and model.num_prefix_tokens)
    pools = ("token", "avg") if pools_prefix else ("token", "avg", "map")
    if model.global_pool in pools or (model.global_pool == "" and not model.num_classes):
        return None  # without pooling, all tokens are the output
    return f"it pools its tokens by {model.global_pool!r}"


def refusal(model: Any) -> str:
    """The sentence for a model that can't be shown, with a model to take instead."""
    name = (getattr(model, "pretrained_cfg", None) or {}).get("architecture") or ""
    nearest = _nearest_that_loads(name)
    return f"This {type(model).__name__} can't be shown: {why_not(model)}. Give a plain ViT, such as {nearest}."


def name_of(model: Any) -> str:
    """The name of its architecture, without the tag of the published weights."""
    return (model.pretrained_cfg or {}).get("architecture") or type(model).__name__


def data_config(model: Any) -> dict[str, Any]:
    """What timm says of its input: input_size, mean, std, interpolation."""
    import timm.data

    return timm.data.resolve_data_config(pretrained_cfg=model.pretrained_cfg)


def _activation(mlp: Any) -> str | None:
    kind = type(mlp.act).__name__
    if kind == "GELU":
        return "gelu" if mlp.act.approximate == "none" else "gelu_tanh"
    return {"GELUTanh": "gelu_tanh", "QuickGELU": "quick_gelu", "SiLU": "silu", "ReLU": "relu"}.get(kind)


def read_config(model: Any, name: str) -> Config:
    data, block = data_config(model), model.blocks[0]
    base = Config(
        image_size=tuple(model.patch_embed.img_size or data["input_size"][1:]),
        width=model.embed_dim,
        heads=block.attn.num_heads,
        classes=model.num_classes,
        positions=_positions(model),
        pool=model.global_pool or ("token" if model.cls_token is not None else "avg"),
        activation=_activation(block.mlp),  # type: ignore[arg-type]  # why_not refuses a model for which this is None
        eps=block.norm1.eps,
        mean=tuple(data["mean"]),
        std=tuple(data["std"]),
        interpolation=data["interpolation"],
        labels=_labels(model, name),
    )
    return architecture.shown(base, layouts.our_weights(model.state_dict()), {}, {})


def _positions(model: Any) -> str:
    if getattr(model, "pos_embed", None) is None:
        return "none" if getattr(model, "rope", None) is None else "rotary"
    return "patches" if getattr(model, "no_embed_class", False) else "learned"


def _labels(model: Any, name: str) -> tuple[str, ...]:
    import timm.data

    subset = timm.data.infer_imagenet_subset(model)
    if not subset or not model.num_classes:
        return ()
    info = timm.data.ImageNetInfo(subset)
    return tuple(info.index_to_description(i).split(",")[0] for i in range(model.num_classes))


def hub_file(name: str, offline: bool, report: type | None = None) -> Path:
    """The path of a model's safetensors file. Weights that are not on the hub are pickled, so they are refused."""
    from timm.models import get_pretrained_cfg

    source = get_pretrained_cfg(name)
    if source is None or not source.hf_hub_id or source.hf_hub_filename:
        raise PlaygroundError(
            f"The weights of {name} are not on the hub as safetensors, and files in other formats are not read: they "
            f"can run code. Choose another model; load({name!r}, pretrained=False) gives random weights."
        )
    repository = source.hf_hub_id.split("@")[0]
    if file := borrowed.hub_weights(repository):
        return file
    again = not offline and bool(borrowed.hub_files(repository))  # what is there is damaged
    return hub.fetch(repository, WEIGHTS_FILE, name, offline=offline, again=again, report=report)


def fetch(name: str, offline: bool) -> dict[str, Tensor]:
    """The published weights, from the cache or the hub, under the names that timm's own loader gives them."""
    import timm

    options = {"file": str(hub_file(name, offline)), "custom_load": False}
    try:
        return timm.create_model(name, pretrained=True, pretrained_cfg_overlay=options).state_dict()
    except Exception as error:  # several libraries raise exceptions of their own
        raise PlaygroundError(f"timm can't read the weights of {name} ({error!s:.200}).") from error


def _nearest_that_loads(name: str) -> str:
    """The model to suggest for an unknown name, among models that load: one whose name has all words of this name
    (the usual and small ones first), else one with a similar name, else a common plain ViT."""
    import timm

    typed = name.split(".")[0].lower()
    words = _words(typed)

    def score(candidate: str) -> float:
        likeness, its_words = difflib.SequenceMatcher(None, typed, candidate.lower()).ratio(), _words(candidate)
        if not words or not words <= its_words:
            return likeness
        return likeness + 8 + 4 * (candidate == USUAL_MODEL) + 2 * ("small" in its_words) + ("base" in its_words)

    timm_names = [model_name for module in PLAIN_MODULES for model_name in timm.list_models(module=module)]
    names = [*SHIPPED_MODELS, "untrained", "dinov2-small", *(f"ViT-{size}/16" for size in PAPER), *timm_names]
    ranked = heapq.nlargest(40, names, score)
    return next((candidate for candidate in ranked if score(candidate) > 0.7 and loads(candidate)), USUAL_MODEL)


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", name.lower()))


@cache
def loads(name: str) -> bool:
    """Whether our VisionTransformer can compute this model. Cached: a mistyped name tries many models."""
    import timm

    if not timm.is_model(name):
        return True  # our own
    with torch.device("meta"):
        return why_not(timm.create_model(name)) is None
