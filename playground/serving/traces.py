"""Keeps traces of people's pictures in limited caches, packs their layers for the browser, and names their heads.

For a sample in the model that suits it, prepared.py has made a pack ahead, so that the first picture needs no forward
pass and no torch.
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

FIRST_LOOK = 20  # patches along each side of a square picture in the coarse trace that is shown first
FIRST_LOOK_ABOVE = 8e9  # a coarse first trace saves no time if the whole pass has fewer multiplications than this
MOST_PACKED = 32 * MB  # most bytes of one answer with several layers
OWN_TRACES = 400 * MB  # most bytes of one person's traces; the settings limit the traces of all people together

log = logging.getLogger("playground")
_person_caches = Caches()


@dataclass(frozen=True)
class Setup:
    """Everything but the picture that determines a trace: model, detail, scale and cuts."""

    model: str
    detail: int = 1  # factor by which the grid is finer along each side
    scale: float | None = None  # replaces 1/√d_k in the whole pass
    cut: tuple[str, ...] = ()  # texts of cuts: see playground/cuts.py
    first: bool = False  # whether this is the coarse setup in which an upload is shown first
    other: str = ""  # the sample whose values `cut` puts into the pass


@cache
def of_samples() -> Cache:
    return Cache(settings.now().sample_mb * MB, size=trace_bytes)


def own_cache() -> Cache:
    """A cache for one person's traces, which is dropped with the person."""
    return _person_caches.add(Cache(OWN_TRACES, size=trace_bytes))


def _forget(model: str) -> None:
    """Drops the traces of an evicted model, because each trace refers to the model and would keep it in memory."""
    for traces in (of_samples(), *_person_caches):
        traces.drop_where(lambda key: key[1].model == model)


models.when_dropped.append(_forget)


def trace_bytes(seen) -> int:
    return sum(3 * layer.q.numel() * 4 for layer in seen.record.values()) + seen.input.numel() * 4  # q, k and v


def size(picture: Picture, setup: Setup) -> tuple[int, int]:
    """(H, W) in pixels of the model's input."""
    from playground.pictures.images import fit

    patch, usual = models.cut(setup.model)
    native = (FIRST_LOOK * patch,) * 2 if setup.first else tuple(side * setup.detail for side in usual)
    return fit(picture.size, patch, native)


def grid(picture: Picture, setup: Setup) -> tuple[int, int]:
    patch, _ = models.cut(setup.model)
    height, width = size(picture, setup)
    return height // patch, width // patch


def trace(picture: Picture, setup: Setup, person_cache: Cache | None, finer: bool = False):
    """The trace, from a cache or computed: the shared cache for a sample, `person_cache` for an upload. `finer`:
    whether the person already sees a coarser trace."""
    if picture.sample:
        return of_samples().get((picture.id, setup), lambda: _run(picture, setup))
    seen = person_cache.get((picture.id, setup), lambda: _run(picture, setup, finer))
    _person_caches.trim(settings.now().upload_mb * MB)
    return seen


def first_look(picture: Picture, setup: Setup, person_cache: Cache | None) -> Setup | None:
    """A coarser setup that shows an upload sooner; None if that saves no time."""
    if picture.sample or (picture.id, setup) in person_cache:
        return None
    coarse = replace(setup, detail=1, first=True)
    (rows, columns), (coarse_rows, coarse_columns) = grid(picture, setup), grid(picture, coarse)
    parameters = sum(p.numel() for p in models.load(setup.model).parameters())
    costly = parameters * rows * columns > FIRST_LOOK_ABOVE and coarse_rows * coarse_columns < 0.7 * rows * columns
    return coarse if costly else None


def _run(picture: Picture, setup: Setup, finer: bool = False):
    import torch

    vit = models.load(setup.model)
    rows, columns = grid(picture, setup)
    passes = _passes(setup)
    effort.check(vit, (rows, columns), passes)
    with queue.turn(finer, passes * effort.seconds(vit, rows * columns)):
        began = time.perf_counter()
        try:
            seen = _traced(vit, picture, setup)
        except (NoRoom, torch.OutOfMemoryError):  # on a graphics card
            log.warning("out of memory on %s: %s goes on on the CPU", next(vit.parameters()).device, setup.model)
            queue.current().hears(
                "The graphics card's memory is full: this model goes on on the CPU, which takes longer."
            )
            vit.to("cpu")
            torch.cuda.empty_cache()
            seen = _traced(vit, picture, setup)
    log.info("trace model=%s tokens=%d ms=%.0f", setup.model, seen.tokens, (time.perf_counter() - began) * 1e3)
    return seen


def puts(setup: Setup) -> list[str]:
    """The cuts that need further passes."""
    if not setup.cut:
        return []
    from playground.tracing import is_put

    return [text for text in setup.cut if is_put(text)]


def _passes(setup: Setup) -> int:
    if not (texts := puts(setup)):
        return 1
    from playground.analysis import interventions

    return 2 + interventions.PASSES * len(texts)


def _traced(vit, picture: Picture, setup: Setup):
    from playground.tracing import trace

    def passed(own_picture: Picture, cut: list[str]):
        return trace(vit, own_picture.image, size=size(own_picture, setup), scale=setup.scale, cut=cut)

    texts = puts(setup)
    seen = passed(picture, [text for text in setup.cut if text not in texts])
    if not texts:
        return seen
    from playground.analysis import interventions

    other_trace = replace(passed(sample(setup.other), []), picture_name=setup.other) if setup.other else None
    return interventions.run_texts(seen, texts, other_trace)


def layers(
    picture: Picture, setup: Setup, person_cache: Cache | None, layers: list[int] | None, heads: list[int] | None = None
) -> bytes:
    """A pack of these layers and heads. The default is all heads of the upper layer, where heads look at objects."""
    with queue.packing() if layers and len(layers) > 1 else nullcontext():
        data = _made_ahead(picture, setup, layers, heads)
    if data is not None:
        return data
    return _packed(trace(picture, setup, person_cache), layers, heads)


def _made_ahead(picture: Picture, setup: Setup, layers: list[int] | None, heads: list[int] | None) -> bytes | None:
    if picture.sample and setup == Setup(setup.model, setup.detail):
        return prepared.layers(picture.name, setup.model, setup.detail, layers, heads)
    return None


def _packed(seen, layers: list[int] | None, heads: list[int] | None) -> bytes:
    layers = [seen.upper_layer] if layers is None else layers
    if not all(layer < seen.layers for layer in layers) or not all(head < seen.heads for head in heads or ()):
        raise PlaygroundError(
            f"{seen.model} has {seen.layers} layers and {seen.heads} heads, counted from 0; asked were the layers "
            f"{layers}" + (f" and the heads {heads}." if heads else ".")
        )
    size = 4 * len(layers) * seen.tokens * seen.heads * seen.head_dim  # bytes of q and k in float16
    if size > MOST_PACKED and len(layers) > 1:
        raise PlaygroundError(
            f"These {len(layers)} layers of {seen.tokens:,} tokens are too much at once: ask for fewer."
        )
    with queue.packing():
        data = seen.to_bytes(layers)
        return data if heads is None else some_layers(data, layers, heads)


# The names of the heads' habits on a picture, layer by layer.


ABOUT = 1000  # the estimated bytes of one layer's names


def kept_names() -> Cache:
    return Cache(MB, size=lambda names: ABOUT)


@cache
def names_of_samples() -> Cache:
    return kept_names()


def measure(seen, layer: int) -> list[tuple[str, str, str, str, str]]:
    """(label, short label, colour, training task, meaning) of each head. The training task completes the sentence "this
    head was told to …"; it is "" if no loss was about the head. People who wait for a picture are served first."""
    from playground.analysis import heads

    with queue.turn(finer=True):
        measured = heads.look_at(seen, [layer], heads.Grid.of(seen))
    habits, kinds = measured.habits()[0], measured.kinds()[0]
    short_labels = [heads.short(measured.head(0, head), habit) for head, habit in enumerate(habits)]
    return [
        (
            kind,
            short_labels[head],
            habits[head].colour,
            heads.training_task(seen.vit, layer, head) or "",
            habits[head].means,
        )
        for head, kind in enumerate(kinds)
    ]
