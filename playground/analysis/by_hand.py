"""Computes attention without training: queries and keys are set by hand, or are the colours of a picture's patches."""

from __future__ import annotations

import math
import re

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from playground.pictures.images import displayed, fit
from playground.tracing import Trace
from playground.vit import QKV

LARGEST_COORDINATE = 4.0  # the largest coordinate of an arrow's tip, along each axis
PICTURE_SIDE = 224  # pixels: the picture is resized to about this width and height
COLOUR_SCALE = 20  # the default scale of scores between colours; with a smaller scale, rows are nearly even


# Nine tokens with arrows ----------------------------------------------------------------------------------------------


def arrows_as_text(arrows: Tensor) -> str:
    """The arrows as text for the page's address: x and y of each arrow in tenths, token by token."""
    return "_".join(str(round(coordinate * 10)) for coordinate in arrows.flatten().tolist())


def arrows_from_text(text: str, tokens: int = 9) -> Tensor | None:
    """Parses what `arrows_as_text` wrote; None for any other text."""
    if not re.fullmatch(rf"-?\d{{1,2}}(_-?\d{{1,2}}){{{2 * tokens - 1}}}", text, re.ASCII):
        return None
    arrows = torch.tensor([int(number) for number in text.split("_")]).view(tokens, 2) / 10
    return arrows if arrows.abs().max() <= LARGEST_COORDINATE else None


def weights(arrows: Tensor) -> Tensor:
    """(18, 2) arrows, nine queries and then nine keys -> (9, 9) weights softmax(q·k/√2), a row for each query."""
    q, k = arrows.chunk(2)
    return (q @ k.T / math.sqrt(2)).softmax(dim=-1)


# A picture's colours --------------------------------------------------------------------------------------------------


def mean_colours(pixels: Tensor, patch: int) -> Tensor:
    """(H, W, 3) -> (rows, columns, 3): the mean colour of every patch, from 0 to 1. Both sides must be multiples of
    `patch`."""
    cells = pixels.float().unflatten(0, (-1, patch)).unflatten(2, (-1, patch))  # (rows, P, columns, P, 3)
    return cells.mean(dim=(1, 3)) / 255


def colour_trace(image: Image.Image, patch: int) -> Trace:
    """A Trace of one layer with one head, whose queries and keys are the patches' mean colours as vectors of length
    one: a score is the cosine between two colours. Black has no direction and counts as grey."""
    size = fit(image.size, patch, (PICTURE_SIDE, PICTURE_SIDE))
    pixels = torch.from_numpy(np.array(displayed(image, size)))
    colours = mean_colours(pixels, patch).flatten(0, 1) + 1e-6  # (N, 3)
    directions = torch.nn.functional.normalize(colours, dim=-1)
    return Trace(
        model="mean colour",
        size=size,
        patch_size=patch,
        prefix=(),
        native_scale=COLOUR_SCALE,
        scale=COLOUR_SCALE,
        record={0: QKV(directions[None], directions[None], directions[None])},
        layers=1,
        logits=None,
        predictions=(),
        input=None,
        vit=None,
    )
