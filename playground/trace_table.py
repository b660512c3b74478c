"""A trace as a table of pandas: `Trace.table`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

if TYPE_CHECKING:
    import pandas as pd

SPREAD = 256  # patches at most that are asked


def of_query(seen: Any, query: Any, scale: Any) -> pd.DataFrame:
    """A line for each layer, head and token. `seen` is a Trace."""
    import pandas as pd

    rows, columns = seen.grid
    patches = [(row, column) for row in range(rows) for column in range(columns)]
    names = [*seen.prefix, *(f"{row},{column}" for row, column in patches)]
    places = [(pd.NA, pd.NA)] * len(seen.prefix) + patches
    tokens = pd.DataFrame({"token": names, "row": [p[0] for p in places], "column": [p[1] for p in places]})
    tokens = tokens.astype({"row": "Int64", "column": "Int64"})
    of_heads = [
        tokens.assign(layer=layer, head=head, weight=weights.numpy())
        for layer in seen.record
        for head, weights in enumerate(seen.rows(layer, query, scale))
    ]
    return pd.concat(of_heads, ignore_index=True)[["layer", "head", "token", "row", "column", "weight"]]


def of_heads(seen: Any, scale: Any, far: Tensor) -> pd.DataFrame:
    """A line for each layer and head. `far`, (patches, patches): how far each patch lies from each other one."""
    import pandas as pd

    asking = seen.some_patches(SPREAD)
    far = far[[token - len(seen.prefix) for token in asking]]  # (queries, patches)
    layers = []
    for layer in seen.record:
        weights = seen.weights(layer, asking, scale)  # (heads, queries, tokens)
        patches = weights[..., len(seen.prefix) :]
        given = patches.sum(-1)
        of_layer = {
            "layer": layer,
            "head": range(seen.heads),
            "entropy": seen.entropy(layer, asking, scale).mean(-1),
            "prefix": (1 - given).mean(-1),
            "distance": ((patches * far).sum(-1) / given).mean(-1),
        }
        layers.append(pd.DataFrame({name: x.tolist() if torch.is_tensor(x) else x for name, x in of_layer.items()}))
    return pd.concat(layers, ignore_index=True)
