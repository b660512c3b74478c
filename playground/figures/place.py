"""Place or content: how much of a head's scores the places of query and key alone explain (after Doshi et al., 2026).

A score q · k of two patches depends on where they lie and on what is there. Over pictures of one grid the mean score of
a pair of places is what place says; what differs from picture to picture is content. The share is that of the variance,
of scores less each row's mean, which the softmax does not see. It is estimated without bias (an analysis of variance):
scores that have nothing to do with place get 0 on average, also with few pictures.

It does not show what depends on place and content together, and what all pictures show at one place, such as a sky
above, counts as place: take pictures that differ.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from playground.errors import PlaygroundError
from playground.figures.many import trace_many
from playground.models.hub import bar
from playground.pictures import images
from playground.vit import VisionTransformer

MOST_BYTES = 2**31  # of the mean scores of all heads


def place_share(
    pictures: str | os.PathLike[str] | Sequence[images.Source],
    vit: nn.Module | str | os.PathLike[str],
    *,
    size: tuple[int, int] | None = None,
    progress: bool = True,
) -> Tensor:
    """(layers, heads): the share, 0 to 1, of each head's scores between patches that their places alone explain, over
    the pictures of a folder or a list. `size` as in `trace_many`. See figures/place.py for what it does not show.

    >>> from playground.assets import SAMPLES
    >>> pictures = [SAMPLES / "meadow.jpg", SAMPLES / "flock.jpg"]
    >>> playground.place_share(pictures, "untrained", size=(112, 112), progress=False).shape
    torch.Size([6, 6])
    """
    many = trace_many(pictures, vit, "features", size=size, batch=1)
    c, count, patches = many.vit.config, len(many), math.prod(many.grid)
    if count < 2:
        raise PlaygroundError("What differs between pictures needs two of them, better twenty; given was one.")
    if (needed := 4 * c.depth * c.heads * patches**2) > MOST_BYTES:
        raise PlaygroundError(f"The scores of {patches:,} patches take {needed / 1e9:.1f} GB: choose a smaller size=.")
    sums, squares = torch.zeros(c.depth, c.heads, patches, patches), torch.zeros(c.depth, c.heads, dtype=torch.float64)
    for number in (bar() if progress else iter)(range(count)):
        pixels, errors = many._pixels([number])
        if errors:
            raise errors[0]
        for layer, scores in enumerate(_scores(many.vit, pixels)):
            sums[layer] += scores
            squares[layer] += scores.double().square().sum((1, 2))
    of_means = torch.stack([total.double().square().sum((1, 2)) for total in sums]) / count  # (layers, heads)
    content = (squares - of_means) / (count - 1)
    place = (of_means - content) / count
    return (place / (place + content).clamp(min=torch.finfo(torch.float64).tiny)).clamp(min=0).float()


@torch.no_grad()
def _scores(vit: VisionTransformer, pixels: Tensor) -> list[Tensor]:
    """Of each layer (heads, patches, patches), less each row's mean."""
    first, layers = len(vit.config.prefix), []
    for _, (q, k, _) in vit.layers(*vit.embed(pixels.to(vit.patch_embed.proj.weight))):
        scores = q[0, :, first:].float() @ k[0, :, first:].float().mT * vit.config.scale
        layers.append((scores - scores.mean(-1, keepdim=True)).cpu())
    return layers
