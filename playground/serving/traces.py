"""Traces of people's pictures, kept within bounds, and the packs of them that go to the browser.

The samples' packs in the models that suit them are files (see prepared.py): the first picture needs no forward pass
and no torch.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from functools import cache

from playground.serving import asker, effort, models, queue, settings
from playground.serving.cache import MB, Cache, trim
from playground.serving.everybody import Everybody
from playground.serving.pictures import Picture
from playground.serving.prepared import photograph_layers, prepared_pack

WHOLE_PACK = 12 * MB  # a larger one goes to the browser layer by layer
FIRST_LOOK = 20  # patches along each side of a square picture
FIRST_LOOK_ABOVE = 8e9  # multiplications of a pass over all patches: below, the first look would save nothing
OWN_TRACES = 400 * MB  # of one person's uploads; of all together see the settings

log = logging.getLogger("playground")
_own: Everybody[Cache] = Everybody()  # of all sessions


@dataclass(frozen=True)
class Wish:
    """What is to be traced, except for the picture."""

    model: str
    detail: int = 1  # how many times finer than usual, along each side
    scale: float | None = None  # of the whole forward pass
    first: bool = False  # a coarse first look at an upload, shown until the real one is there


@cache
def of_samples() -> Cache:
    return Cache(settings.now().sample_mb * MB, size=trace_bytes)


def own_cache() -> Cache:
    """For the traces of one person's uploads; they go when the session does."""
    own = Cache(OWN_TRACES, size=trace_bytes)
    _own.add(own)
    return own


def _forget(model: str) -> None:
    """A trace keeps its model in memory, for the features and norms that are asked of it later; so it goes with it."""
    for kept in (of_samples(), *_own):
        kept.drop_where(lambda key: key[1].model == model)


models.when_dropped.append(_forget)


def trace_bytes(seen) -> int:
    return sum(3 * layer.q.numel() * 4 for layer in seen.record.values()) + seen.input.numel() * 4  # q, k and v


def size(picture: Picture, wish: Wish) -> tuple[int, int]:
    """(H, W) in pixels of what the model gets."""
    from playground.images import fit

    patch, usual = models.cut(wish.model)
    native = (FIRST_LOOK * patch,) * 2 if wish.first else tuple(side * wish.detail for side in usual)
    return fit(picture.size, patch, native)


def grid(picture: Picture, wish: Wish) -> tuple[int, int]:
    patch, _ = models.cut(wish.model)
    height, width = size(picture, wish)
    return height // patch, width // patch


def trace(picture: Picture, wish: Wish, own: Cache, finer: bool = False):
    """The trace: kept for everybody if the picture is a sample, in the session's `own` cache if it is an upload.
    `finer`: the person sees a first look of it already."""
    if picture.sample:
        return of_samples().get((picture.id, wish), lambda: _run(picture, wish))
    seen = own.get((picture.id, wish), lambda: _run(picture, wish, finer))
    trim(_own, settings.now().upload_mb * MB)
    return seen


def first_look(picture: Picture, wish: Wish, own: Cache) -> Wish | None:
    """What shows an upload sooner than this wish; None where that would save no time."""
    if picture.sample or (picture.id, wish) in own:
        return None
    coarse = replace(wish, detail=1, first=True)
    (rows, columns), (few_rows, few_columns) = grid(picture, wish), grid(picture, coarse)
    parameters = sum(p.numel() for p in models.load(wish.model).parameters())
    costly = parameters * rows * columns > FIRST_LOOK_ABOVE and few_rows * few_columns < 0.7 * rows * columns
    return coarse if costly else None


def _run(picture: Picture, wish: Wish, finer: bool = False):
    import torch

    from playground.tracing import trace

    vit = models.load(wish.model)
    pixels = size(picture, wish)
    effort.check(vit, grid(picture, wish))
    with queue.turn(finer):
        began = time.perf_counter()
        try:
            seen = trace(vit, picture.image, size=pixels, scale=wish.scale)
        except torch.OutOfMemoryError:  # of a graphics card
            log.warning("out of memory on %s: %s goes on on the CPU", next(vit.parameters()).device, wish.model)
            asker.current().hears(
                "The graphics card's memory is full: this model goes on on the CPU, which takes longer."
            )
            vit.to("cpu")
            torch.cuda.empty_cache()
            seen = trace(vit, picture.image, size=pixels, scale=wish.scale)
    log.info("trace model=%s tokens=%d ms=%.0f", wish.model, seen.tokens, (time.perf_counter() - began) * 1e3)
    return seen


def make(picture: Picture, wish: Wish, own: Cache) -> bool:
    """Traces it, unless that was done before. Says whether all its layers go to the browser at once."""
    if _drawing(picture, wish):
        return True
    if _photograph(picture, wish):
        return False
    return _is_small(trace(picture, wish, own)) and not wish.first


def answer(picture: Picture, wish: Wish, own: Cache) -> None:
    """`make` for what a person chose, with a line in the log. Of the picture it says only whether it is a sample."""
    began = time.perf_counter()
    make(picture, wish, own)
    ms = (time.perf_counter() - began) * 1e3
    kind = "sample" if picture.sample else "own"
    log.info("answer model=%s picture=%s detail=%d ms=%.0f cache=%s", wish.model, kind, wish.detail, ms, ms < 1)


def _drawing(picture: Picture, wish: Wish) -> bytes | None:
    """Made ahead, with all its layers."""
    ahead = picture.sample and wish == Wish("bundled", wish.detail)
    return prepared_pack(picture.name, wish.detail) if ahead else None


def _photograph(picture: Picture, wish: Wish, layers: list[int] | None = None) -> bytes | None:
    """Made ahead, these layers of it: by default the one that it opens with."""
    return photograph_layers(picture.name, layers) if picture.sample and wish == Wish(models.REAL) else None


def _is_small(seen) -> bool:
    return trace_bytes(seen) / 3 <= WHOLE_PACK  # q and k at two bytes a number are a third of q, k and v at four


def pack(picture: Picture, wish: Wish, own: Cache, layer: int | None) -> bytes:
    """The bytes for the browser. Of a large trace it is only `layer`: the others are sent when they are asked for."""
    if data := _drawing(picture, wish) or _photograph(picture, wish, None if layer is None else [layer]):
        return data
    seen = trace(picture, wish, own)
    if _is_small(seen) and not wish.first:
        return seen.to_bytes()
    return seen.to_bytes([seen.upper_layer if layer is None else min(seen.layers - 1, layer)])


def layers(picture: Picture, wish: Wish, own: Cache, wanted: list[int]) -> bytes:
    """A pack of only these layers."""
    if data := _photograph(picture, wish, wanted):
        return data
    seen = trace(picture, wish, own)
    return seen.to_bytes([i for i in wanted if 0 <= i < seen.layers] or [0])
