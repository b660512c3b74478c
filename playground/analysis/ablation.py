"""Heads switched off, and what that costs: the prediction, and the tokens as they leave every later layer.

`without(seen, {(3, 0), (4, 1)})` runs the network of a trace again with nothing coming from head 0 of layer 3 and head
1 of layer 4, which is the same as zeros in their columns of W_O.
"""

from __future__ import annotations

import copy
from collections.abc import Collection
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.errors import PlaygroundError
from playground.tracing import Trace
from playground.vit import Block, VisionTransformer

Off = Collection[tuple[int, int]]  # (layer, head) of each head that is switched off
SMALLEST = 1e-9


@dataclass(frozen=True, eq=False)
class Loss:
    change: Tensor  # (layers, tokens): ‖x' − x‖ / ‖x‖ of each token as it leaves each layer
    before: Tensor | None  # (classes,) probabilities; None for a model without a classifier
    after: Tensor | None
    turned: float  # 1 − the cosine between what is read out of the image before and after: 0 nothing changed

    def predictions(self, labels: Collection[str], top: int = 5) -> list[tuple[str, float, float]]:
        """(label, before, after) of the likeliest classes, before or after, the likeliest of before first."""
        if self.before is None or not labels:
            return []
        names, top = list(labels), min(top, len(labels))
        likely = {*self.before.topk(top).indices.tolist(), *self.after.topk(min(2, top)).indices.tolist()}
        rows = [(names[i], self.before[i].item(), self.after[i].item()) for i in likely]
        return sorted(rows, key=lambda row: -row[1])


def without(seen: Trace, off: Off) -> Loss:
    """The same picture through the same network, these heads silent. What a layer below them does is not run twice."""
    if seen.vit is None or seen.input is None:
        raise PlaygroundError("A trace that was read from bytes can't run its network; trace the image again.")
    vit, by_layer = seen.vit, _by_layer(seen, off)
    change = []
    with torch.no_grad():
        x, rotation = vit.embed(seen.input.to(vit.patch_embed.proj.weight.device))  # (1, N, D)
        silent = x
        for layer, block in enumerate(vit.blocks):
            same = silent is x and layer not in by_layer
            x, _ = block(x, seen.scale, rotation)
            silent = x if same else muted(block, by_layer.get(layer, ()))(silent, seen.scale, rotation)[0]
            change.append(((silent - x).norm(dim=-1) / x.norm(dim=-1).clamp(min=SMALLEST))[0])  # (N,)
        before, after = vit.classify(x)[0].float().cpu(), vit.classify(silent)[0].float().cpu()
    read = (probabilities(vit, before), probabilities(vit, after)) if vit.config.classes else (None, None)
    turned = 0.0 if silent is x else 1 - torch.cosine_similarity(before.double(), after.double(), dim=-1).item()
    return Loss(torch.stack(change).float().cpu(), *read, turned=turned)


def muted(block: Block, heads: Collection[int]) -> Block:
    """The same layer with the same weights, in which these heads add nothing. The original is left as it is, for
    others look through it at this very moment."""
    silent, attn = copy.copy(block), copy.copy(block.attn)
    keep = torch.ones(attn.heads, 1, 1)
    keep[list(heads)] = 0
    mix = attn.mix
    attn.mix = lambda q, k, v, scale: mix(q, k, v, scale) * keep.to(q)  # (B, h, N, d)
    silent._modules = silent._modules | {"attn": attn}
    return silent


def probabilities(vit: VisionTransformer, logits: Tensor) -> Tensor:
    return logits.sigmoid() if vit.config.multi_label else logits.softmax(dim=-1)


def _by_layer(seen: Trace, off: Off) -> dict[int, list[int]]:
    by_layer: dict[int, list[int]] = {}
    for layer, head in off:
        if not (0 <= layer < seen.layers and 0 <= head < seen.heads):
            raise PlaygroundError(
                f"There is no head {head} in layer {layer}: layers count from 0 to {seen.layers - 1}, "
                f"heads from 0 to {seen.heads - 1}."
            )
        by_layer.setdefault(layer, []).append(head)
    return by_layer
