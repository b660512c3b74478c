"""One token's way through one head, as the story draws it: what W_Q reads, the values, what is added to the token."""

from __future__ import annotations

from itertools import islice

import torch
from torch import Tensor

from playground.tracing import Query, Trace
from playground.vit_parts import output_matrices, plainly


@plainly
def inside(trace: Trace, layer: int, head: int, query: Query) -> dict[str, Tensor]:
    """`entering` and `leaving`, the token before and after the layer; `normed`, what the head's matrices read; `reads`,
    the row of W_Q that makes the largest number of the query; what this head (`head`) and all heads together
    (`attention`) add to the token, (D,) each; the `values` of all tokens in this head, (N, d); and the token's cosine
    with every token `before` and `after` the layer, (N,) each."""
    layer, head, token = trace.layer_number(layer), trace.head_number(head), trace.token(query)
    vit, intervening, kept = trace._need_vit(), trace.intervening(), {}

    def keep(point: str, x: Tensor) -> Tensor:
        kept[point] = x = intervening(point, x)
        return x

    with torch.no_grad():
        x, rotation = vit.embed(trace._need_input().to(vit.patch_embed.proj.weight), keep)
        next(islice(vit.layers(x, rotation, trace.scale, at=keep), layer, None))
        block, first = vit.blocks[layer], kept[f"layers.{layer - 1}.residual" if layer else "embedding"][0]  # (N, D)
        last = kept[f"layers.{layer}.residual"][0]
        w_q = block.attn.qkv.weight.view(3, vit.config.heads, -1, vit.config.width)[0, head]  # (d, D)
        dimension = largest_number(trace, layer, head, token)
        mixture = kept[f"layers.{layer}.attention.heads"][0, head, token].float()  # (d,)
        found = {
            "entering": first[token],
            "leaving": last[token],
            "normed": block.norm1(first[token]),
            "reads": w_q[dimension],
            "head": output_matrices(block)[head] @ mixture,
            "attention": kept[f"layers.{layer}.attention"][0, token],
            "values": kept[f"layers.{layer}.attention.values"][0, head],
            "before": torch.cosine_similarity(first.float(), first[token].float(), dim=-1),
            "after": torch.cosine_similarity(last.float(), last[token].float(), dim=-1),
        }
    return {name: x.detach().float().cpu() for name, x in found.items()}


def largest_number(trace: Trace, layer: int, head: int, query: Query) -> int:
    """The dimension in which a query is largest, in either sign."""
    return int(trace.record[layer].q[head, trace.token(query)].abs().argmax())


def query_bias(trace: Trace, layer: int, head: int, query: Query) -> float | None:
    """The bias of that number of the query; None where W_Q alone does not make it: a norm or a rotation follows."""
    c, bias = trace._need_vit().config, trace._need_vit().blocks[layer].attn.qkv.bias
    if c.qk_norm or c.positions == "rotary":
        return None
    number = largest_number(trace, layer, head, query)
    return 0.0 if bias is None else bias.view(3, c.heads, -1)[0, head, number].item()
