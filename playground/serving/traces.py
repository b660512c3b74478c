"""Traces of people's pictures, kept within bounds, the packs of their layers that go to the browser, and the names of
what their heads do.

Of samples in the models that suit them there are files (see prepared.py): the first picture needs no forward pass and
no torch.
"""

from __future__ import annotations

import logging
import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache

from playground.errors import NoRoom, PlaygroundError
from playground.serving import effort, models, prepared, queue, settings
from playground.serving.cache import MB, Cache, Caches
from playground.serving.pictures import Picture, sample
from playground.serving.prepared import some_layers

FIRST_LOOK = 20  # patches along each side of a square picture
FIRST_LOOK_ABOVE = 8e9  # multiplications of a pass over all patches: below, the first look would save nothing
MOST_PACKED = 32 * MB  # of one answer to a browser, if it is more than a layer
OWN_TRACES = 400 * MB  # bytes of one person's traces; for all people together see the settings

log = logging.getLogger("playground")
_person_caches = Caches()


@dataclass(frozen=True)
class Wish:
    """What is traced, except for the picture: model, detail, scale, cuts."""

    model: str
    detail: int = 1  # how many times finer than usual, along each side
    scale: float | None = None  # of the whole forward pass
    cut: tuple[str, ...] = ()  # who may not hear whom in it: see playground/cuts.py
    first: bool = False  # a coarse first look at an upload, shown until the real one is there
    other: str = ""  # the sample of whose pass something is put into this one, as `cut` says


@cache
def of_samples() -> Cache:
    return Cache(settings.now().sample_mb * MB, size=trace_bytes)


def own_cache() -> Cache:
    """A cache for one person's traces; it goes when the person is forgotten."""
    return _person_caches.add(Cache(OWN_TRACES, size=trace_bytes))


def _forget(model: str) -> None:
    """Drops the traces of a model that leaves memory: each refers to its model, for later features and norms."""
    for traces in (of_samples(), *_person_caches):
        traces.drop_where(lambda key: key[1].model == model)


models.when_dropped.append(_forget)


def trace_bytes(seen) -> int:
    return sum(3 * layer.q.numel() * 4 for layer in seen.record.values()) + seen.input.numel() * 4  # q, k and v


def size(picture: Picture, wish: Wish) -> tuple[int, int]:
    """(H, W) in pixels of the model's input."""
    from playground.pictures.images import fit

    patch, usual = models.cut(wish.model)
    native = (FIRST_LOOK * patch,) * 2 if wish.first else tuple(side * wish.detail for side in usual)
    return fit(picture.size, patch, native)


def grid(picture: Picture, wish: Wish) -> tuple[int, int]:
    patch, _ = models.cut(wish.model)
    height, width = size(picture, wish)
    return height // patch, width // patch


def trace(picture: Picture, wish: Wish, person_cache: Cache | None, finer: bool = False):
    """The trace: a sample's in the shared cache, an upload's in `person_cache`. `finer`: the person already sees a
    coarse first look."""
    if picture.sample:
        return of_samples().get((picture.id, wish), lambda: _run(picture, wish))
    seen = person_cache.get((picture.id, wish), lambda: _run(picture, wish, finer))
    _person_caches.trim(settings.now().upload_mb * MB)
    return seen


def first_look(picture: Picture, wish: Wish, person_cache: Cache | None) -> Wish | None:
    """A coarser wish that shows an upload sooner; None where that would save no time."""
    if picture.sample or (picture.id, wish) in person_cache:
        return None
    coarse = replace(wish, detail=1, first=True)
    (rows, columns), (few_rows, few_columns) = grid(picture, wish), grid(picture, coarse)
    parameters = sum(p.numel() for p in models.load(wish.model).parameters())
    costly = parameters * rows * columns > FIRST_LOOK_ABOVE and few_rows * few_columns < 0.7 * rows * columns
    return coarse if costly else None


def _run(picture: Picture, wish: Wish, finer: bool = False):
    import torch

    vit = models.load(wish.model)
    rows, columns = grid(picture, wish)
    passes = _passes(wish)
    effort.check(vit, (rows, columns), passes)
    with queue.turn(finer, passes * effort.seconds(vit, rows * columns)):
        began = time.perf_counter()
        try:
            seen = _traced(vit, picture, wish)
        except (NoRoom, torch.OutOfMemoryError):  # of a graphics card
            log.warning("out of memory on %s: %s goes on on the CPU", next(vit.parameters()).device, wish.model)
            queue.current().hears(
                "The graphics card's memory is full: this model goes on on the CPU, which takes longer."
            )
            vit.to("cpu")
            torch.cuda.empty_cache()
            seen = _traced(vit, picture, wish)
    log.info("trace model=%s tokens=%d ms=%.0f", wish.model, seen.tokens, (time.perf_counter() - began) * 1e3)
    return seen


def puts(wish: Wish) -> list[str]:
    """Those of its texts for which other passes run beside this one."""
    if not wish.cut:
        return []
    from playground.tracing import is_put

    return [text for text in wish.cut if is_put(text)]


def _passes(wish: Wish) -> int:
    if not (texts := puts(wish)):
        return 1
    from playground.analysis import interventions

    return 2 + interventions.PASSES * len(texts)


def _traced(vit, picture: Picture, wish: Wish):
    from playground.tracing import trace

    def passed(of: Picture, cut: list[str]):
        return trace(vit, of.image, size=size(of, wish), scale=wish.scale, cut=cut)

    texts = puts(wish)
    seen = passed(picture, [text for text in wish.cut if text not in texts])
    if not texts:
        return seen
    from playground.analysis import interventions

    other = replace(passed(sample(wish.other), []), picture_name=wish.other) if wish.other else None
    return interventions.put(seen, texts, other)


def layers(
    picture: Picture, wish: Wish, person_cache: Cache | None, layers: list[int] | None, heads: list[int] | None = None
) -> bytes:
    """A pack of these layers, or of some of their heads; by default of the layer where heads look at objects. Samples
    in the models that suit them may have packs made ahead."""
    with queue.packing() if layers and len(layers) > 1 else nullcontext():
        data = _made_ahead(picture, wish, layers, heads)
    if data is not None:
        return data
    return _packed(trace(picture, wish, person_cache), layers, heads)


def _made_ahead(picture: Picture, wish: Wish, layers: list[int] | None, heads: list[int] | None) -> bytes | None:
    if picture.sample and wish == Wish(wish.model, wish.detail):
        return prepared.layers(picture.name, wish.model, wish.detail, layers, heads)
    return None


def _packed(seen, layers: list[int] | None, heads: list[int] | None) -> bytes:
    layers = [seen.upper_layer] if layers is None else layers
    if not all(layer < seen.layers for layer in layers) or not all(head < seen.heads for head in heads or ()):
        raise PlaygroundError(
            f"{seen.model} has {seen.layers} layers and {seen.heads} heads, counted from 0; asked were the layers "
            f"{layers}" + (f" and the heads {heads}." if heads else ".")
        )
    size = 4 * len(layers) * seen.tokens * seen.heads * seen.head_dim  # of q and k, two bytes each
    if size > MOST_PACKED and len(layers) > 1:
        raise PlaygroundError(
            f"These {len(layers)} layers of {seen.tokens:,} tokens are too much at once: ask for fewer."
        )
    with queue.packing():
        data = seen.to_bytes(layers)
        return data if heads is None else some_layers(data, layers, heads)


# The names of what heads do on the picture that somebody looks at, layer by layer.


ABOUT = 1000  # bytes that the names of one layer take


def kept_names() -> Cache:
    return Cache(MB, size=lambda names: ABOUT)


@cache
def names_of_samples() -> Cache:
    return kept_names()


def measure(seen, layer: int) -> list[tuple[str, str, str, str, str]]:
    """(label, short label, colour, told, meaning) of each head. `told` is what a loss asked of its weights in training:
    the end of "this head was told to …"; else empty. Names are an extra: they come after all who wait for a picture."""
    from playground.analysis import heads

    with queue.turn(finer=True):
        measured = heads.look_at(seen, [layer], heads.Grid.of(seen))
    habits, kinds = measured.habits()[0], measured.kinds()[0]
    shorts = [heads.short(measured.head(0, head), habit) for head, habit in enumerate(habits)]
    return [
        (kind, shorts[head], habits[head].colour, heads.told(seen.vit, layer, head) or "", habits[head].means)
        for head, kind in enumerate(kinds)
    ]
