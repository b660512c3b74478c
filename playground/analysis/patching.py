"""Patching: some tokens of one pass are replaced, after a layer, by those of another picture's pass, and the network
goes on from there. What changes has come from them alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.errors import PlaygroundError
from playground.tracing import Query, Trace

SMALLEST = 1e-12
Labels = tuple[tuple[str, float, float], ...]  # (label, before, after)


@dataclass(frozen=True)
class Patched:
    features: Tensor  # (tokens, width) as they leave the last layer
    moved: Tensor  # (tokens,): ‖x' − x‖ / ‖x‖ of each
    before: Tensor | None  # (classes,) probabilities, where the model has labels
    after: Tensor | None


def patch(seen: Trace, other: Trace, put: Mapping[Query, Query], layer: int) -> Patched:
    """`put` says which tokens of `seen` become which tokens of `other`, as both leave `layer`: {(7, 5): (3, 2)}."""
    vit = _same_model(seen, other)
    if not put:
        raise PlaygroundError("Nothing is put in place of anything: name a token of each picture.")
    seen.layer_number(layer)  # raises if there is no such layer
    to, of = ([trace.token(query) for query in some] for trace, some in ((seen, put), (other, put.values())))
    with torch.no_grad():
        (x, rotation), (there, _) = _after(seen, layer), _after(other, layer)
        whole = _go_on(seen, vit, x, rotation, layer)
        x = x.clone()
        x[0, to] = there[0, of]
        changed = _go_on(seen, vit, x, rotation, layer)
        before, after = (_probabilities(vit, one) for one in (whole, changed))
    moved = (changed - whole)[0].norm(dim=-1) / whole[0].norm(dim=-1).clamp(min=SMALLEST)
    return Patched(changed[0].float().cpu(), moved.float().cpu(), before, after)


def labels(vit, found: Patched, least: float = 0.02) -> Labels:
    """Every label that changes by at least so much, the largest change first; where none does, the likeliest."""
    if found.before is None or found.after is None:
        return ()
    changes = (found.after - found.before).abs()
    some = [i for i in changes.argsort(descending=True).tolist() if changes[i] >= least]
    named = vit.config.labels or [f"class {i}" for i in range(len(changes))]
    return tuple(
        (named[i], float(found.before[i]), float(found.after[i])) for i in some or [int(found.before.argmax())]
    )


def _same_model(seen: Trace, other: Trace):
    vit = seen.entering()[0]
    if (seen.model, vit.config) != (other.model, other.entering()[0].config):
        raise PlaygroundError(
            f"A token of one model means nothing in another: these pictures were traced through {seen.model} and "
            f"{other.model}. Trace both through one."
        )
    return vit


def _after(seen: Trace, layer: int):
    """The tokens as they leave a layer, (1, N, D), and their rotation."""
    vit, x, rotation = seen.entering()
    layers = vit.layers(x, rotation, seen.scale, heard=seen.heard_on(x.device))
    for _ in range(layer + 1):
        x, _ = next(layers)
    return x, rotation


def _go_on(seen: Trace, vit, x: Tensor, rotation, layer: int) -> Tensor:
    for x, _ in vit.layers(x, rotation, seen.scale, layer + 1, seen.heard_on(x.device)):  # noqa: B007, B020
        pass
    return x


def _probabilities(vit, x: Tensor) -> Tensor | None:
    if not vit.classes:
        return None
    logits = vit.classify(x)[0].float().cpu()
    return logits.sigmoid() if vit.config.multi_label else logits.softmax(-1)
