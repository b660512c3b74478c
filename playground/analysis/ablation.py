"""Switches heads off (ablation) and measures the changes of the answer and of the tokens after every layer. Layers
above never met the zeros in training, so these overstate what a head matters; `to="mean"` puts the head's mean over all
tokens in their place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from playground import cuts
from playground.errors import PlaygroundError
from playground.tracing import Trace, relative_change
from playground.vit import At
from playground.vit_parts import Rotation, output_matrices, plainly

OffHeads = Collection[tuple[int, int]]  # (layer, head) of each head that is switched off


@dataclass(frozen=True, eq=False)
class AblationEffect:
    """The changes of the tokens and of the answer if some heads are switched off."""

    change: Tensor  # (layers, tokens): ‖x' − x‖ / ‖x‖ of each token x after each layer
    before: Tensor | None  # (classes,) probabilities; None for a model without a classifier
    after: Tensor | None
    cosine_change: float  # 1 − cosine between the outputs (logits, if any) before and after

    def predictions(self, labels: Collection[str], top: int = 5) -> list[tuple[str, float, float]]:
        """(label, before, after) of the likeliest classes of both passes, sorted by the probability before."""
        if self.before is None or self.after is None or not labels:
            return []
        names, top = list(labels), min(top, len(labels))
        class_numbers = {*self.before.topk(top).indices.tolist(), *self.after.topk(min(2, top)).indices.tolist()}
        rows = [(names[i], self.before[i].item(), self.after[i].item()) for i in class_numbers]
        return sorted(rows, key=lambda row: -row[1])


@plainly
def ablation_effect(
    seen: Trace, off_heads: OffHeads, give_way: Callable[[], object] = lambda: None, to: str = "zero"
) -> AblationEffect:
    """Runs the picture through the network with these heads switched off; layers below the first of these heads are not
    run again. `give_way` is called after every layer, so that a server can serve other people in between."""
    heads_by_layer = by_layer(seen, off_heads)
    first_layer = min(heads_by_layer, default=seen.layers)
    with torch.no_grad():
        vit, first_tokens, rotation = seen.entering()
        baseline = _tokens_after_layers(seen, first_tokens, rotation, seen.intervening(), 0, give_way)
        layer_input = baseline[first_layer - 1] if first_layer else first_tokens
        at = chained(seen.intervening(), muting_heads(heads_by_layer, to))
        ablated = baseline[:first_layer]
        ablated += _tokens_after_layers(seen, layer_input, rotation, at, first_layer, give_way)
        changes = [relative_change(x_ablated, x)[0] for x_ablated, x in zip(ablated, baseline, strict=True)]
        outputs = [vit.classify(tokens[-1])[0].float().cpu() for tokens in (baseline, ablated)]
    before, after = (vit.config.shares(output) if vit.classes else None for output in outputs)
    cosine = torch.cosine_similarity(outputs[0].double(), outputs[1].double(), dim=-1).item()
    return AblationEffect(torch.stack(changes).float().cpu(), before, after, 1 - cosine)


def _tokens_after_layers(
    trace: Trace, layer_input: Tensor, rotation: Rotation, at: At, first_layer: int, give_way: Callable[[], object]
) -> list[Tensor]:
    """The tokens, (1, N, D), after `first_layer` and after each layer above it."""
    layer_tokens = []
    for x, _ in trace._need_vit().layers(layer_input, rotation, trace.scale, first_layer, at):
        layer_tokens.append(x)
        give_way()
    return layer_tokens


@dataclass(frozen=True)
class Additivity:
    """The losses if a layer's heads are switched off one by one, and all at once. A loss is the change of the patches'
    tokens after the last layer, relative to the tokens' lengths."""

    single: tuple[float, ...]  # the loss without each head
    whole: float  # the loss without all heads of the layer
    cosine: float  # cosine between what two heads lose at a patch, mean over pairs of heads and patches

    @property
    def together(self) -> float:
        """The sum of the single losses."""
        return sum(self.single)


@plainly
def additivity(trace: Trace, layer: int, give_way: Callable[[], object] = lambda: None, to: str = "mean") -> Additivity:
    """Measures whether a layer's loss is the sum of its heads' losses. `give_way` is called after every layer."""
    first_patch, all_heads = len(trace.prefix), list(range(trace.heads))
    with torch.no_grad():
        _, first_tokens, rotation = trace.entering()
        intervene = trace.intervening()
        baseline = _tokens_after_layers(trace, first_tokens, rotation, intervene, 0, give_way)
    layer_input, final_tokens = baseline[layer - 1] if layer else first_tokens, baseline[-1]
    del baseline

    def loss(off_heads: list[int]) -> float:
        with torch.no_grad():
            at = chained(intervene, muting_heads({layer: off_heads}, to))
            ablated_tokens = _tokens_after_layers(trace, layer_input, rotation, at, layer, give_way)[-1]
            return float(relative_change(ablated_tokens, final_tokens)[0, first_patch:].mean())

    added_vectors = contributions(trace, layer)
    if to == "mean":
        added_vectors -= added_vectors.mean(1, keepdim=True)
    directions = torch.nn.functional.normalize(added_vectors[:, first_patch:], dim=-1)  # (heads, patches, D)
    cosines = torch.einsum("hnd,gnd->hg", directions, directions) / directions.shape[1]  # (heads, heads)
    off_diagonal = cosines.sum() - cosines.diagonal().sum()
    pair_count = max(1, trace.heads * (trace.heads - 1))
    give_way()
    return Additivity(tuple(loss([head]) for head in all_heads), loss(all_heads), float(off_diagonal / pair_count))


def passes_of_additivity(layers: int, heads: int, layer: int) -> float:
    """The cost of `additivity` in passes: from this layer on, one for each head and one for all together."""
    return 1 + (heads + 1) * (layers - layer) / layers


def contributions(trace: Trace, layer: int) -> Tensor:
    """(heads, tokens, D): the vector that each head adds to every token, W_O times the head's mixture of values."""
    _, _, v = trace.record[layer]
    if trace.vit is None or v is None:
        raise PlaygroundError("A trace that was read from bytes has no values; trace the image again.")
    return trace.weights(layer) @ v.float().cpu() @ output_matrices(trace.vit.blocks[layer]).cpu().mT


def chained(first: At, second: At) -> At:
    """A function that applies `first` and then `second`."""
    return lambda point, x: second(point, first(point, x))


def replacing_heads(layers: Mapping[int, Sequence[int]], new_outputs: Callable[[int, Tensor], Tensor]) -> At:
    """Replaces the outputs of these heads. `new_outputs` gets a layer and all its heads' outputs, (B, h, N, d)."""

    def at(point: str, x: Tensor) -> Tensor:
        layer = int(point.split(".")[1]) if point.endswith(".attention.heads") else -1
        return cuts.with_heads(x, layers[layer], new_outputs(layer, x)) if layer in layers else x

    return at


def muting_heads(layers: Mapping[int, Sequence[int]], to: str = "zero", tokens: Sequence[int] | None = None) -> At:
    """Ablates these heads, for some tokens or for all."""

    def new_outputs(_: int, x: Tensor) -> Tensor:
        replaced = cuts.replacement(x, to)
        if tokens is None:
            return replaced
        x = x.clone()
        x[..., list(tokens), :] = replaced[..., list(tokens), :]
        return x

    return replacing_heads(layers, new_outputs)


def by_layer(trace: Trace, off_heads: OffHeads) -> dict[int, list[int]]:
    heads_by_layer: dict[int, list[int]] = {}
    try:
        pairs = [(layer, head) for layer, head in off_heads]
    except (TypeError, ValueError):
        raise PlaygroundError(f"Heads are named as (layer, head): [(4, 0)]; given was {off_heads!r:.60}.") from None
    for layer, head in pairs:
        heads_by_layer.setdefault(trace.layer_number(layer), []).append(trace.head_number(head))
    return heads_by_layer
