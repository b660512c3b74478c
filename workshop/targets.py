"""What the emergent model has to predict. The numbers are made of DINOv2's features and of pixels: no mask, no label.

  features   DINOv2's feature of each patch: what it is, and what it is a part of
  the rest   what the rest of the thing that a patch belongs to looks like. "Its thing" are the patches that DINOv2
             finds alike, and the target is the average over them: of their colours and texture, of their features, and
             of where they lie. None of this can be known from the patch alone: whoever predicts it has to gather.

B pictures, P patches, F numbers in a feature.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

TEMPERATURE = (
    0.03  # of the likeness of features: so low that a patch counts the patches of its own thing, and few others
)
SHOWN = 8  # numbers that describe how a patch looks


def of_its_thing(features: Tensor, targets: Tensor, temperature: float = TEMPERATURE) -> Tensor:
    """For each patch the average of `told`, (B, P, numbers), over the other patches, weighed by how alike their
    features are, (B, P, F). What all patches of a picture have in common is taken off first."""
    unit_features = F.normalize(features - features.mean(1, keepdim=True), dim=-1)
    likeness = unit_features @ unit_features.mT / temperature  # (B, P, P)
    likeness.diagonal(dim1=1, dim2=2).fill_(-torch.inf)  # a patch does not count itself
    return likeness.softmax(-1) @ targets


def looks(image: Tensor, patch: int) -> Tensor:
    """How each patch looks: its mean colour, the spread of its colours, and how much brightness changes across and
    down. (B, 3, H, W) -> (B, P, 8)."""
    rows, columns = image.shape[2] // patch, image.shape[3] // patch
    cells = image.unflatten(3, (columns, patch)).unflatten(2, (rows, patch))  # (B, 3, rows, patch, columns, patch)
    cells = cells.permute(0, 2, 4, 1, 3, 5).flatten(1, 2)  # (B, P, 3, patch, patch)
    grey = cells.mean(2)  # (B, P, patch, patch)
    across, down = grey.diff(dim=-1).abs().mean((2, 3)), grey.diff(dim=-2).abs().mean((2, 3))  # (B, P)
    return torch.cat([cells.mean((3, 4)), cells.std((3, 4)), across[..., None], down[..., None]], dim=-1)


def places(rows: int, columns: int) -> Tensor:
    """Where each patch lies, from −1 to 1: (P, 2)."""
    return torch.cartesian_prod(torch.linspace(-1, 1, rows), torch.linspace(-1, 1, columns))
