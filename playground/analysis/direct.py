"""Direct logit attribution: what each head and each MLP adds to a label's score on the straight way, through the last
norm and the classifier. The norm's deviation is held as it was, so that the parts sum to the score.

It does not show what a head does through later layers, which read what it writes: patching and ablation measure that.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from playground.analysis.ablation import Trace
from playground.errors import PlaygroundError
from playground.relevance import with_constant_deviations
from playground.vit_parts import output_matrices, plainly


@dataclass(frozen=True)
class Direct:
    """Parts of a label's score, in logits."""

    heads: Tensor  # (layers, heads)
    mlps: Tensor  # (layers,)
    rest: float  # the tokens that enter the first layer, and the biases of W_O, of the norm and of the classifier

    @property
    def score(self) -> float:
        return float(self.heads.sum() + self.mlps.sum()) + self.rest


@plainly
def direct(trace: Trace, label: str | int) -> Direct:
    vit, number = trace._need_vit(), trace.label(label)
    if "map" in vit.config.pool:
        raise PlaygroundError(f"{vit.name} reads its tokens by attention: nothing reaches a label on a straight way.")
    heads: list[Tensor] = []
    mlps: list[Tensor] = []

    def at(point: str, x: Tensor) -> Tensor:
        x = intervene(point, x)
        if point.endswith(".attention.heads"):
            heads.append(x[0].float())  # (h, N, d)
        elif point.endswith(".mlp"):
            mlps.append(x[0].float())  # (N, D)
        return x

    intervene = trace.intervening()
    with torch.no_grad():
        _, entering, rotation = trace.entering()
        for last, _ in vit.layers(entering, rotation, trace.scale, at=at):  # noqa: B007
            pass
    with torch.enable_grad():
        last = last.detach().requires_grad_()
        score = with_constant_deviations(vit).classify(last)[0, number]
        (direction,) = torch.autograd.grad(score, last)  # (1, N, D)
    direction = direction[0].float()
    of_heads = torch.stack([
        torch.einsum("hnd,hDd,nD->h", mixed, output_matrices(block), direction)
        for mixed, block in zip(heads, vit.blocks, strict=True)
    ])  # fmt: skip
    of_mlps = torch.stack([(mlp * direction).sum() for mlp in mlps])
    rest = float(score.detach().float() - of_heads.sum() - of_mlps.sum())
    return Direct(of_heads.cpu(), of_mlps.cpu(), rest)
