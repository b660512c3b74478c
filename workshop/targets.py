"""Computes the targets that the emergent model predicts from DINOv2's features and from pixels, without masks and
labels.

  features   DINOv2's feature of each patch
  the rest   the appearance of the other patches of a patch's thing. A patch's thing is all patches with similar
             DINOv2 features. The target is the mean over these patches: of colours and texture, of features, and of
             places. One patch does not determine the target: the model has to gather it from the other patches.

B pictures, P patches, F numbers in a feature.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

# temperature of the features' similarity: so low that a patch averages over its own thing and little else
TEMPERATURE = 0.03
LOOKS_WIDTH = 8  # numbers that describe the appearance of a patch


def mean_over_thing(features: Tensor, targets: Tensor, temperature: float = TEMPERATURE) -> Tensor:
    """For each patch the mean of `targets`, (B, P, numbers), over the other patches, weighted by the similarity of
    their features, (B, P, F). The mean feature of the picture is subtracted first."""
    unit_features = F.normalize(features - features.mean(1, keepdim=True), dim=-1)
    likeness = unit_features @ unit_features.mT / temperature  # (B, P, P)
    likeness.diagonal(dim1=1, dim2=2).fill_(-torch.inf)  # a patch does not count itself
    return likeness.softmax(-1) @ targets


def patch_looks(image: Tensor, patch: int) -> Tensor:
    """The appearance of each patch: its mean colour, the spread of its colours, and how much brightness changes across
    and down. (B, 3, H, W) -> (B, P, 8)."""
    rows, columns = image.shape[2] // patch, image.shape[3] // patch
    cells = image.unflatten(3, (columns, patch)).unflatten(2, (rows, patch))  # (B, 3, rows, patch, columns, patch)
    cells = cells.permute(0, 2, 4, 1, 3, 5).flatten(1, 2)  # (B, P, 3, patch, patch)
    grey = cells.mean(2)  # (B, P, patch, patch)
    change_across, change_down = grey.diff(dim=-1).abs().mean((2, 3)), grey.diff(dim=-2).abs().mean((2, 3))  # (B, P)
    return torch.cat([cells.mean((3, 4)), cells.std((3, 4)), change_across[..., None], change_down[..., None]], dim=-1)


def places(rows: int, columns: int) -> Tensor:
    """The place of each patch, both coordinates from −1 to 1: (P, 2)."""
    return torch.cartesian_prod(torch.linspace(-1, 1, rows), torch.linspace(-1, 1, columns))
