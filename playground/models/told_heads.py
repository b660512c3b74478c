"""Which heads were told where to look: during training, a loss read their attention weights.

The file of the weights says so in its metadata. A head that isn't listed was told nothing about its weights: what it
looks at follows from what the model had to compute.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from playground.vit import Told, VisionTransformer

MOST = 4096  # heads in one file


def told(vit: VisionTransformer, layer: int, head: int, query: str = "patch") -> str | None:
    """What the rows of this head were told, as the end of "this head was told to …"; None if nothing. `query` says
    whose rows: those of every "patch", or those of a prefix token, such as "cls"."""
    found = [one.what for one in vit.told if (one.layer, one.head, one.query) == (layer, head, query)]
    return " and ".join(found) or None


def to_metadata(entries: Sequence[Told]) -> str:
    """As it stands in a file's metadata."""
    return json.dumps([one._asdict() for one in entries])


def from_metadata(text: str) -> tuple[Told, ...]:
    """The opposite of `to_metadata`. ValueError or TypeError if it says something else: the file may be anybody's."""
    entries = tuple(Told(**entry) for entry in json.loads(text))
    numbers = [number for one in entries for number in (one.layer, one.head)]
    words = [word for one in entries for word in (one.query, one.what)]
    if len(entries) > MOST or not all(type(n) is int for n in numbers) or not all(isinstance(w, str) for w in words):
        raise ValueError("its list of heads that were told where to look is damaged")
    return entries
