"""Keeps traces of people's pictures in limited caches, packs their layers for the browser, and names their heads.

For a sample in the model that suits it, prepared.py has made a pack ahead, so that the first picture needs no forward
pass and no torch.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Hashable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from playground.errors import NoRoom, PlaygroundError
from playground.serving import app, effort, models, prepared, queue, settings
from playground.serving.cache import MB, Cache
from playground.serving.pictures import Picture, sample
from playground.serving.prepared import some_layers

if TYPE_CHECKING:
    from playground.tracing import Trace
    from playground.vit import VisionTransformer

MOST_PACKED_BYTES = 32 * MB  # most bytes of one answer with several layers

log = logging.getLogger("playground")


@dataclass(frozen=True)
class Setup:
    """Everything but the picture that determines a trace: model, detail, scale and cuts."""

    model: str
    detail: int = 1  # factor by which the grid is finer along each side
    scale: float | None = None  # replaces 1/√d_k in the whole pass
    cut: tuple[str, ...] = ()  # texts of cuts: see playground/cuts.py
    other_sample: str = ""  # the sample whose values `cut` puts into the pass


@app.part
def _all_traces() -> tuple[Cache, Cache]:
    models.loaded_models().on_drop = forget
    now = settings.now()
    return Cache(now.sample_mb * MB, size=trace_bytes), Cache(now.upload_mb * MB, size=trace_bytes)


def sample_traces() -> Cache:
    return _all_traces()[0]


def own_traces() -> Cache:
    """The traces of people's own pictures, each of which is dropped with its picture."""
    return _all_traces()[1]


def traces_of(picture: Picture) -> Cache:
    return sample_traces() if picture.is_sample else own_traces()


def forget(model: Hashable) -> None:
    """Drops the traces of an evicted model, because each trace refers to the model and would keep it in memory."""
    for traces in _all_traces():
        traces.drop_where(lambda key: key[1].model == model)


def trace_bytes(picture_trace: Trace) -> int:
    # three times q, because k and v are as large; four bytes a number
    return (
        sum(3 * layer.q.numel() * 4 for layer in picture_trace.record.values())
        + picture_trace._need_input().numel() * 4
    )


def size(picture: Picture, setup: Setup) -> tuple[int, int]:
    """(H, W) in pixels of the model's input."""
    from playground.pictures.images import fit

    patch_side, usual_size = models.patch_and_input(setup.model)
    return fit(picture.size, patch_side, (usual_size[0] * setup.detail, usual_size[1] * setup.detail))


def grid(picture: Picture, setup: Setup) -> tuple[int, int]:
    patch_side, _ = models.patch_and_input(setup.model)
    height, width = size(picture, setup)
    return height // patch_side, width // patch_side


def trace(picture: Picture, setup: Setup) -> Trace:
    return traces_of(picture).get((picture.id, setup), lambda: _run(picture, setup))


def is_kept(picture: Picture, setup: Setup) -> bool:
    return (picture.id, setup) in traces_of(picture)


def _run(picture: Picture, setup: Setup) -> Trace:
    import torch

    vit = models.load(setup.model)
    rows, columns = grid(picture, setup)
    passes = 1
    if texts := further_cuts(setup):
        from playground.analysis import interventions

        passes = 2 + interventions.PASSES * len(texts)
    effort.check(vit, (rows, columns), passes)
    with queue.turn(seconds=passes * effort.seconds(vit, rows * columns)):
        start_time = time.perf_counter()
        try:
            picture_trace = _run_with_cuts(vit, picture, setup)
        except (NoRoom, torch.OutOfMemoryError):  # on a graphics card
            log.warning("out of memory on %s: %s goes on on the CPU", next(vit.parameters()).device, setup.model)
            queue.current().sentences.append(
                "The graphics card's memory is full: this model goes on on the CPU, which takes longer."
            )
            vit.to("cpu")
            torch.cuda.empty_cache()
            picture_trace = _run_with_cuts(vit, picture, setup)
    log.info(
        "trace model=%s tokens=%d ms=%.0f", setup.model, picture_trace.tokens, (time.perf_counter() - start_time) * 1e3
    )
    return picture_trace


def further_cuts(setup: Setup) -> list[str]:
    """The cuts that need further passes."""
    if not setup.cut:
        return []
    from playground.tracing import is_put

    return [text for text in setup.cut if is_put(text)]


def _run_with_cuts(vit: VisionTransformer, picture: Picture, setup: Setup) -> Trace:
    from playground.tracing import trace

    def run_pass(own_picture: Picture, cut: list[str]) -> Trace:
        return trace(vit, own_picture.image, size=size(own_picture, setup), scale=setup.scale, cut=cut)

    texts = further_cuts(setup)
    picture_trace = run_pass(picture, [text for text in setup.cut if text not in texts])
    if not texts:
        return picture_trace
    from playground.analysis import interventions

    other_trace = (
        replace(run_pass(sample(setup.other_sample), []), picture_name=setup.other_sample)
        if setup.other_sample
        else None
    )
    return interventions.run_texts(picture_trace, texts, other_trace)


def pack_of_layers(
    picture: Picture, setup: Setup, layer_numbers: list[int] | None, heads: list[int] | None = None
) -> bytes:
    """A pack of these layers and heads. The default is all heads of the upper layer, where heads look at objects."""
    with queue.packings().take() if layer_numbers and len(layer_numbers) > 1 else nullcontext():
        data = _made_ahead(picture, setup, layer_numbers, heads)
    if data is not None:
        return data
    return _fresh_pack(trace(picture, setup), layer_numbers, heads)


def _made_ahead(
    picture: Picture, setup: Setup, layer_numbers: list[int] | None, heads: list[int] | None
) -> bytes | None:
    if picture.is_sample and setup == Setup(setup.model, setup.detail):
        return prepared.pack_of_layers(picture.name, setup.model, setup.detail, layer_numbers, heads)
    return None


def _fresh_pack(picture_trace: Trace, layer_numbers: list[int] | None, heads: list[int] | None) -> bytes:
    layer_numbers = [picture_trace.upper_layer] if layer_numbers is None else layer_numbers
    if not all(layer < picture_trace.layers for layer in layer_numbers) or not all(
        head < picture_trace.heads for head in heads or ()
    ):
        raise PlaygroundError(
            f"{picture_trace.model} has {picture_trace.layers} layers and {picture_trace.heads} heads, "
            f"counted from 0; asked were the layers {layer_numbers}" + (f" and the heads {heads}." if heads else ".")
        )
    # bytes of q and k in float16
    size = 4 * len(layer_numbers) * picture_trace.tokens * picture_trace.heads * picture_trace.head_dim
    if size > MOST_PACKED_BYTES and len(layer_numbers) > 1:
        raise PlaygroundError(
            f"These {len(layer_numbers)} layers of {picture_trace.tokens:,} tokens are too much at once: ask for fewer."
        )
    with queue.packings().take():
        data = picture_trace.to_bytes(layer_numbers)
        return data if heads is None else some_layers(data, layer_numbers, heads)


def names_of_heads(picture_trace: Trace, layer: int) -> list[tuple[str, str, str, str, str, list | None]]:
    """(label, short label, colour, training task, meaning, sink: [token, kind] or None) of each head. The training task
    completes the sentence "this head was told to …"; it is "" if no loss was about the head. People who wait for a
    picture are served first."""
    from playground.analysis import heads
    from playground.analysis.sinks import sinks_of

    with queue.turn(last=True):
        sinks = {sink.head: [sink.token, sink.kind] for sink in sinks_of(picture_trace, layer)}
        measurement = heads.measure_layers(picture_trace, [layer], heads.Grid.of(picture_trace))
    habits, kinds = measurement.habits()[0], measurement.habit_names()[0]
    short_labels = [heads.short_label(measurement.head(0, head), habit) for head, habit in enumerate(habits)]
    return [
        (
            kind,
            short_labels[head],
            habits[head].colour,
            heads.training_task(picture_trace._network, layer, head) or "",
            habits[head].means,
            sinks.get(head),
        )
        for head, kind in enumerate(kinds)
    ]
