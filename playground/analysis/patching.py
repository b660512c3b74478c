"""Activation patching: replaces, after a layer, some tokens of a pass by tokens of another picture's pass, and runs the
remaining layers. Every change comes from these tokens alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor

from playground.analysis.ablation import chained
from playground.analysis.interventions import same_model
from playground.errors import PlaygroundError
from playground.tracing import Query, Trace
from playground.vit import At, Rotation, VisionTransformer, untouched

SMALLEST_NORM = 1e-12
LabelChanges = tuple[tuple[str, float, float], ...]  # (label, before, after)


@dataclass(frozen=True)
class PatchedPass:
    features: Tensor  # (tokens, width) after the last layer
    moved: Tensor  # (tokens,): ‖x' − x‖ / ‖x‖ of each token
    before: Tensor | None  # (classes,) probabilities; None for a model without labels
    after: Tensor | None


def patch(seen: Trace, other: Trace, put: Mapping[Query, Query], layer: int) -> PatchedPass:
    """Runs the pass of `seen` with tokens replaced as they leave `layer`. `put` maps each of these tokens to the token
    of `other` that replaces it: {(7, 5): (3, 2)}."""
    vit = same_model(seen, other)
    if not put:
        raise PlaygroundError("Nothing is put in place of anything: name a token of each picture.")
    seen.layer_number(layer)  # raises if there is no such layer
    target_tokens, source_tokens = (
        [trace.token(query) for query in queries] for trace, queries in ((seen, put), (other, put.values()))
    )
    source_features = other.features(layer)  # (N, D)
    with torch.no_grad():
        _, x, rotation = seen.entering()
        layer_input = next(islice(_tokens_after_layers(vit, seen, x, rotation), layer - 1, None)) if layer else x
        put_tokens = replacing_tokens(f"layers.{layer}.residual", target_tokens, source_features[source_tokens])
        for baseline_tokens in _tokens_after_layers(vit, seen, layer_input, rotation, layer):  # noqa: B007
            pass
        for patched_tokens in _tokens_after_layers(vit, seen, layer_input, rotation, layer, put_tokens):  # noqa: B007
            pass
        shares_before, shares_after = (_probabilities(vit, tokens) for tokens in (baseline_tokens, patched_tokens))
    moves = (patched_tokens - baseline_tokens)[0].norm(dim=-1) / baseline_tokens[0].norm(dim=-1).clamp(
        min=SMALLEST_NORM
    )
    return PatchedPass(patched_tokens[0].float().cpu(), moves.float().cpu(), shares_before, shares_after)


def changed_labels(vit, patched: PatchedPass, least: float = 0.02) -> LabelChanges:
    """The labels whose probability changes by at least `least`, the largest change first; else the likeliest label."""
    if patched.before is None or patched.after is None:
        return ()
    changes = (patched.after - patched.before).abs()
    indices = [i for i in changes.argsort(descending=True).tolist() if changes[i] >= least]
    names = vit.config.labels or [f"class {i}" for i in range(len(changes))]
    return tuple(
        (names[i], float(patched.before[i]), float(patched.after[i])) for i in indices or [int(patched.before.argmax())]
    )


def replacing_tokens(point: str, tokens: Sequence[int], new_tokens: Tensor) -> At:
    """The function `at` (see playground/vit.py) that replaces these tokens at a point; x is (…, tokens, width)."""

    def at(current_point: str, x: Tensor) -> Tensor:
        if current_point != point:
            return x
        x = x.clone()
        x[..., tokens, :] = new_tokens.to(x)
        return x

    return at


def _tokens_after_layers(
    vit: VisionTransformer, trace: Trace, x: Tensor, rotation: Rotation, first_layer: int = 0, put: At = untouched
) -> Iterator[Tensor]:
    """The tokens, (1, N, D), after layer `first` and after each layer above it."""
    for x, _ in vit.layers(x, rotation, trace.scale, first_layer, chained(trace.intervening(), put)):  # noqa: B020
        yield x


def _probabilities(vit, x: Tensor) -> Tensor | None:
    if not vit.classes:
        return None
    logits = vit.classify(x)[0].float().cpu()
    return logits.sigmoid() if vit.config.multi_label else logits.softmax(-1)
