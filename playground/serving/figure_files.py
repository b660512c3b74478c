"""Makes files of figures and numbers, byte for byte as the command `figure` makes them. matplotlib is imported only
on demand."""

from __future__ import annotations

import logging
import time
from contextlib import AbstractContextManager
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from playground.figures.drawing.spec import Spec
from playground.serving import effort, figure_words, models, queue, traces, worked
from playground.serving.figure_words import FigureSubject
from playground.serving.traces import Setup

if TYPE_CHECKING:
    from playground.tracing import Trace

MEDIA_TYPES = {
    "png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf", "html": "text/html; charset=utf-8",
    "npz": "application/octet-stream", "csv": "text/csv; charset=utf-8",
}  # fmt: skip
TABLE_KINDS = ("npz", "csv")
STILL_KINDS = ("png", "svg", "pdf", *TABLE_KINDS)  # kinds of files that a GET request may ask for

log = logging.getLogger("playground")


def file(subject: FigureSubject, spec: Spec, kind: str) -> bytes:
    """The file, with the same bytes as the command's. Stills are cached, because a whole class may ask for one
    figure."""
    if kind not in STILL_KINDS:
        return _data(subject, spec, kind)
    # if one of two pictures is the person's own, the result goes with that picture
    picture, setup = min(subject.pairs, key=lambda pair: pair[0].is_sample)
    key = "figure", spec, kind, tuple((picture.id, setup) for picture, setup in subject.pairs)
    return worked.cached_result(picture, setup, key, lambda: _data(subject, spec, kind))


def _data(subject: FigureSubject, spec: Spec, kind: str) -> bytes:
    from playground.figures import files

    start_time = time.perf_counter()
    trace, arguments = _traces(subject, spec)
    typed_spec = figure_words.as_typed(interactive_spec(spec) if kind == "html" else spec)
    with queue.figures().take():
        data = files.data(name(spec, kind), typed_spec, trace, subject.picture.image, **arguments)
    log.info("file kind=%s ms=%.0f", kind, (time.perf_counter() - start_time) * 1e3)
    return data


def name(spec: Spec, kind: str) -> str:
    return f"{Path(spec.image).stem or 'figure'}-{spec.layout if kind != 'html' else 'alive'}.{kind}"


def interactive_spec(spec: Spec) -> Spec:
    """The spec of an interactive figure. A missing layer becomes the layer that a still figure shows."""
    from playground.pack import upper_layer

    if spec.all_layers or spec.layer is not None:
        return spec
    return replace(spec, layer=spec.look.layer if spec.look else upper_layer(models.load(spec.model).config.depth))


# Traces ---------------------------------------------------------------------------------------------------------------


def _traces(subject: FigureSubject, spec: Spec) -> tuple:
    """(the trace, the figure's keyword arguments). Traces come from caches if they are there."""
    from playground.figures import request

    def run(is_other: bool, size: tuple[int, int] | None, scale: str) -> Trace:
        picture, setup = subject.pairs[1 if is_other else 0]
        details = models.details(setup.model)
        detail = next((d for d in details if traces.size(picture, Setup(setup.model, d)) == size), 1)
        cut = () if is_other else tuple(spec.cuts)
        number = {"on": None, "off": 1.0}[scale] if scale in ("on", "off") else float(scale)
        return traces.trace(picture, Setup(setup.model, detail, number, cut))

    other_image = (subject.compared or (subject.picture,))[0].image
    return request.traces(spec, subject.picture.image, other_image, run, _turn)


def _turn(trace: Trace, passes: float) -> AbstractContextManager[None]:
    """A turn in the queue for the further passes of an intervention."""
    effort.check(trace._network, trace.grid, passes)
    return queue.turn(seconds=passes * effort.seconds(trace._network, prod(trace.grid)))
