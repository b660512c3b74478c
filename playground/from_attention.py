"""A trace of attention that somebody else computed: of any model, on any grid, with any tokens before the patches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from playground.analysis.interventions import Trace
from playground.errors import PlaygroundError
from playground.pictures.images import Source, open_image
from playground.vit import QKV

PATCH = 16  # pixels; the given attention says nothing of pixels
GREY = (214, 214, 214)  # the picture where none is given
ROW_SLACK = 0.02  # how far from 1 a row may sum: bfloat16 has three digits
NOTHING = 1e-30  # stands for a weight of 0, whose logarithm is none


def from_attention(
    weights: Any = None,
    *,
    grid: tuple[int, int],
    q: Any = None,
    k: Any = None,
    v: Any = None,
    scale: float | None = None,
    prefix: int | Sequence[str] = 0,
    names: Sequence[str] = (),
    image: Source | None = None,
    title: str = "given attention",
) -> Trace:
    """A trace with rows, columns, rollout, figures, numbers and the living page; what needs the network is missing.

    `weights` is (layers, heads, tokens, tokens), or one (heads, tokens, tokens) or (1, heads, tokens, tokens) for each
    layer, such as `outputs.attentions` of transformers. Or give queries and keys, `q` and `k`: (layers, heads, tokens,
    d) each, or one tensor a layer; with fewer key heads than query heads, neighbouring query heads share one. `scale`
    is what multiplies their products, by default 1/√d. `v` is (layers, heads, tokens, any width): what a token hands
    over, best after W_O, for the lengths of values. `grid` is the patches' (rows, columns), row by row after `prefix`
    other tokens: their number, with `names`, or what they are called. `image` is the picture beneath.

    >>> import torch
    >>> seen = playground.from_attention(torch.rand(2, 3, 13, 13).softmax(-1), grid=(3, 4), prefix=1)
    >>> seen.row(layer=1, head=0, query=(2, 3)).shape
    torch.Size([13])
    """
    rows, columns = grid
    prefix_names = _names(prefix, names)
    tokens = len(prefix_names) + rows * columns
    if (weights is None) == (q is None) or (q is None) != (k is None):
        raise PlaygroundError("from_attention takes weights, or queries and keys: give one of the two.")
    if weights is not None:
        shares = _layers("weights", weights, tokens, tokens)
        _check_rows(shares)
        record = [(w.clamp(min=NOTHING).log(), torch.eye(tokens).expand_as(w)) for w in shares]  # w = softmax(log w)
        scale = 1.0 if scale is None else scale
    else:
        queries, keys = _layers("q", q, tokens), _layers("k", k, tokens)
        if len(queries) != len(keys):
            raise PlaygroundError(f"There are queries of {len(queries)} layers and keys of {len(keys)}.")
        record = [(q_, _shared(k_, q_)) for q_, k_ in zip(queries, keys, strict=True)]
        scale = record[0][0].shape[-1] ** -0.5 if scale is None else scale
    norms = {} if v is None else {i: x.norm(dim=-1) for i, x in enumerate(_layers("v", v, tokens))}
    picture = Image.new("RGB", (columns * PATCH, rows * PATCH), GREY) if image is None else open_image(image)
    return Trace(
        model=title, size=(rows * PATCH, columns * PATCH), patch_size=PATCH, prefix=prefix_names,
        native_scale=scale, scale=scale, layers=len(record), logits=None, predictions=(), input=None, vit=None,
        record={i: QKV(q_, k_, None) for i, (q_, k_) in enumerate(record)},  # type: ignore[arg-type]
        stored_norms={i: x.expand(len(record[i][0]), -1) for i, x in norms.items()},
        picture=picture, picture_name=getattr(picture, "filename", ""),
    )  # fmt: skip


def _names(prefix: int | Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    if not isinstance(prefix, int):
        given = (prefix,) if isinstance(prefix, str) else tuple(prefix)
        prefix, names = len(given), names or given
    usual = ("cls", *(f"reg{i}" for i in range(prefix - 1)))[:prefix]
    if names and len(names) != prefix:
        raise PlaygroundError(f"names are those of the {prefix} tokens before the patches; given were {len(names)}.")
    return tuple(names) or usual


def _layers(name: str, given: Any, tokens: int, width: int | None = None) -> list[Tensor]:
    """(heads, tokens, width) of each layer, float32 on the CPU."""
    if given is None or any(layer is None for layer in given):
        raise PlaygroundError(
            f"{name} holds no numbers: transformers gives attentions only with attn_implementation='eager' and "
            "output_attentions=True."
        )
    layers = [torch.as_tensor(layer).detach().float().cpu() for layer in given]
    layers = [layer[0] if layer.dim() == 4 and len(layer) == 1 else layer for layer in layers]
    for layer in layers:
        if layer.dim() != 3 or layer.shape[1] != tokens or width not in (None, layer.shape[2]):
            wanted = f"(heads, {tokens}, {'d' if width is None else width})"
            raise PlaygroundError(
                f"{name} is {wanted} for each layer, since the grid and the prefix have {tokens} tokens; given was "
                f"{tuple(layer.shape)}."
            )
        if not layer.isfinite().all():
            raise PlaygroundError(f"{name} holds numbers that are none (NaN or infinite).")
    if not layers or len({layer.shape for layer in layers}) > 1:
        raise PlaygroundError(f"{name} has one tensor of the same shape for each layer; given were {len(layers)}.")
    return layers


def _check_rows(shares: list[Tensor]) -> None:
    sums = torch.stack([layer.sum(-1) for layer in shares])
    if min(layer.min() for layer in shares) < 0 or (sums - 1).abs().max() > ROW_SLACK:
        raise PlaygroundError(
            f"weights are attention after the softmax: each row sums to 1; here rows sum to {sums.min():.3g} … "
            f"{sums.max():.3g}. A row with nothing in it may hold a 1 at its own token."
        )


def _shared(k: Tensor, q: Tensor) -> Tensor:
    if len(q) % len(k) or k.shape[1:] != q.shape[1:]:
        raise PlaygroundError(f"Queries {tuple(q.shape)} and keys {tuple(k.shape)} of a layer don't fit together.")
    return k.repeat_interleave(len(q) // len(k), dim=0)
