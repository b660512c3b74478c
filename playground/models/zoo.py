"""Resolves the names of models into Sources: the bundled models, the untrained one, DINOv2, the ViT paper's, and timm's
plain ViTs. A name is never a path."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from playground.assets import SHIPPED_MODELS
from playground.errors import PlaygroundError
from playground.models import borrowed, layouts, model_file, timm_models
from playground.models.source import Source
from playground.models.timm_models import DINOV2_SMALL
from playground.models.weights_file import read_weights
from playground.vit import PAPER, Config

UNTRAINED_CONFIG = Config(
    image_size=(112, 112), patch_size=8, depth=6, width=192, mlp_width=768, heads=6, registers=4, classes=0
)


def resolve(name: str, pretrained: bool = True, offline: bool = False) -> Source:
    """The Source of a name that a stranger may type. The weights are not read yet."""
    if name == "untrained":
        return Source(name, UNTRAINED_CONFIG)
    if file := SHIPPED_MODELS.get(name):
        if not file.is_file():
            raise PlaygroundError(f"This copy has no model {name}: assets/{file.name} is not there; get it again.")
        return replace(model_file.from_file(file), name=name)
    if paper_match := re.fullmatch(r"ViT-(Ti|S|B|L|H)/(\d+)", name):
        return Source(name, paper_config(name, paper_match[1], int(paper_match[2])))
    if name == "dinov2-small":
        config, weights = DINOV2_SMALL, lambda: layouts.our_weights(read_weights(borrowed.dinov2_small(offline)))
    else:
        config, weights = timm_models.timm_config(name), lambda: layouts.our_weights(timm_models.fetch(name, offline))
    return Source(name, config, weights if pretrained else None, name)


def paper_config(name: str, size: str, patch: int) -> Config:
    if not 1 <= patch <= 224:
        raise PlaygroundError(f"{name} asks for patches of {patch} pixels; choose 1 to 224, such as ViT-{size}/16.")
    side = 224 // patch * patch
    shape: dict[str, Any] = dict(PAPER[size])
    return Config(**shape, patch_size=patch, image_size=(side, side))
