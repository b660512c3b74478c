"""A model that somebody has in memory, of timm or `transformers`, as our VisionTransformer with the same weights.

The tensors are shared where they need no rearranging; device and dtype stay as they are.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from torch import Tensor, nn

from playground.errors import PlaygroundError
from playground.models import schema, timm_models
from playground.models.hugging_face import from_hugging_face, hugging_face_config, is_hugging_face
from playground.models.source import Source, assumed
from playground.vit import Config


def source_of(model: nn.Module) -> Source:
    """Neither library's model says by which mean and deviation the pictures were normalised that it was trained with:
    what it says is of the weights that were published for its name."""
    library = type(model).__module__.partition(".")[0]
    state = model.state_dict()
    name = type(model).__name__
    if hasattr(model, "patch_embed") and hasattr(model, "blocks") and hasattr(model, "pretrained_cfg"):
        config, name = _timm(model)
    elif library == "transformers" or is_hugging_face(state):
        config, state = _transformers(model, state)
    else:
        raise PlaygroundError(
            f"playground.load takes a model's name, a file, a folder, or a Vision Transformer of timm or transformers; "
            f"given was {name}."
        )
    weights = {key: value.detach() for key, value in state.items()}
    unsaid = tuple(one for one in assumed(config) if one.word in ("mean", "std"))
    return Source(name, config, lambda: weights, f"This {name}", assumed=unsaid)


def unwrapped(model: nn.Module) -> nn.Module:
    """What torch.compile and DataParallel stand around."""
    while isinstance(inside := getattr(model, "_orig_mod", None) or getattr(model, "module", None), nn.Module):
        model = inside
    return model


def _timm(model: Any) -> tuple[Config, str]:
    if reason := timm_models.why_not(model):
        raise PlaygroundError(f"This {type(model).__name__} can't be shown: {reason}.")
    cfg = model.pretrained_cfg or {}
    name = cfg.get("architecture") or type(model).__name__  # without its tag, which names weights that it may not have
    return timm_models.read_config(model, name), name


def _transformers(model: Any, state: dict[str, Tensor]) -> tuple[Config, dict[str, Tensor]]:
    if not is_hugging_face(state):
        raise PlaygroundError(
            f"This {type(model).__name__} can't be shown: of transformers, ViT, DeiT, DINOv2, DINOv3 and the image "
            "towers of CLIP and SigLIP can."
        )
    try:
        config, used = hugging_face_config(state, from_hugging_face(state), model.config.to_dict(), {})
        return schema.config(dataclasses.asdict(config)), used
    except PlaygroundError as error:
        raise PlaygroundError(f"This {type(model).__name__} can't be shown: {error}.") from None
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, ZeroDivisionError) as error:
        raise PlaygroundError(f"This {type(model).__name__} can't be shown: {error!r}.") from None
