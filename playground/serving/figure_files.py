"""Makes files of figures and numbers, byte for byte as the command `figure` makes them. matplotlib is imported only
on demand."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from dataclasses import replace
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any

from playground.figures import layouts
from playground.figures.drawing.spec import Spec
from playground.figures.layouts import grid
from playground.serving import chosen, effort, figure_words, models, queue, traces, worked
from playground.serving.answering import Refused
from playground.serving.figure_words import FigureSubject
from playground.serving.people import Person
from playground.serving.traces import Setup
from playground.version import __version__

MEDIA_TYPES = {
    "png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf", "html": "text/html; charset=utf-8",
    "npz": "application/octet-stream", "csv": "text/csv; charset=utf-8",
    "json": "application/json",
}  # fmt: skip
TABLE_KINDS = ("npz", "csv", "json")
STILL_KINDS = ("png", "svg", "pdf", *TABLE_KINDS)  # kinds of files that a GET request may ask for
MOST_TRACES, MOST_MAPS = 12, 200  # most traces, and most maps, in a figure of the layout “grid”

log = logging.getLogger("playground")


def file(subject: FigureSubject, spec: Spec, kind: str, person: Person | None) -> bytes:
    """The file, with the same bytes as the command's. Stills are cached, because a whole class may ask for one
    figure."""
    if kind not in STILL_KINDS:
        return _data(subject, spec, kind, person)
    return _cached_result(subject, person, ("figure", spec, kind), lambda: _data(subject, spec, kind, person))


def _data(subject: FigureSubject, spec: Spec, kind: str, person: Person | None) -> bytes:
    from playground.figures import files

    start_time = time.perf_counter()
    trace, arguments = _traces(subject, spec, person)
    typed_spec = figure_words.as_typed(interactive_spec(spec) if kind == "html" else spec)
    with queue.drawing():
        data = files.data(name(spec, kind), typed_spec, trace, subject.picture.image, **arguments)
    log.info("file kind=%s ms=%.0f", kind, (time.perf_counter() - start_time) * 1e3)
    return data


def name(spec: Spec, kind: str) -> str:
    return f"{Path(spec.image).stem or 'figure'}-{spec.layout if kind != 'html' else 'alive'}.{kind}"


def digest(subject: FigureSubject, spec: Spec, kind: str) -> str:
    """A digest of everything that the file depends on."""
    digests = [chosen.digest(*pair) for pair in _grid_cells(subject, spec) or subject.pairs]
    return sha256(repr((digests, spec, kind, __version__)).encode()).hexdigest()[:16]


def _cached_result(subject: FigureSubject, person: Person | None, result_key: tuple, make: Callable[[], Any]) -> Any:
    """A cached result. If one of two pictures is the person's own, the result goes into that person's cache."""
    pair_keys: Hashable = tuple((picture.id, setup) for picture, setup in subject.pairs)
    picture, setup = min(subject.pairs, key=lambda pair: pair[0].is_sample)
    return worked.cached_result(picture, setup, person and person.results, (*result_key, pair_keys), make)


def size_sentence(subject: FigureSubject, spec: Spec, person: Person | None) -> str:
    """The size of the interactive file."""
    from playground.figures import html

    def measure_size() -> int:
        trace, _ = _traces(subject, spec, person)
        with queue.drawing():
            return len(html.page(spec, trace, subject.picture.image).encode())

    size = _cached_result(subject, person, ("alive", spec), measure_size)
    return f"One file of {size / 1e6:.2f} MB that works from a disk, offline: hover, lock, heads, the √d_k switch."


def interactive_spec(spec: Spec) -> Spec:
    """The spec of an interactive figure. A missing layer becomes the layer that a still figure shows."""
    from playground.pack import upper_layer

    if spec.layers is not None or spec.layer is not None:
        return spec
    return replace(spec, layer=spec.look.layer if spec.look else upper_layer(models.load(spec.model).config.depth))


# Traces ---------------------------------------------------------------------------------------------------------------


def _traces(subject: FigureSubject, spec: Spec, person: Person | None) -> tuple:
    """(the trace, the figure's keyword arguments). Traces come from caches if they are there."""
    from playground.figures import request

    cache = person and person.traces
    if cells := _grid_cells(subject, spec):
        trace, arguments = _grid_traces(cells, subject, spec, cache)
    else:

        def run(is_other: bool, size: tuple[int, int] | None, scale: str):
            picture, setup = subject.compared if is_other else (subject.picture, subject.setup)
            details = models.details(setup.model)
            detail = next((d for d in details if traces.size(picture, Setup(setup.model, d)) == size), 1)
            cut = () if is_other else tuple(spec.cuts)
            return traces.trace(picture, Setup(setup.model, detail, _scale_number(scale), cut), cache)

        other_image = subject.compared and subject.compared[0].image
        trace, arguments = request.traces(spec, subject.picture.image, other_image, run, _turn)
    _check_place(spec, trace)
    return trace, arguments


def _turn(trace, passes: float) -> AbstractContextManager[None]:
    """A turn in the queue for the further passes of an intervention."""
    effort.check(trace.vit, trace.grid, passes)
    return queue.turn(seconds=passes * effort.seconds(trace.vit, prod(trace.grid)))


def _scale_number(scale: str) -> float | None:
    return {"on": None, "off": 1.0}[scale] if scale in ("on", "off") else float(scale)


def _check_place(spec: Spec, trace) -> None:
    """Checks layer, head and query as the command line does, before anything is drawn."""
    from playground.figures.drawing.spec import POOLINGS, read_numbers

    if spec.layer is not None:
        read_numbers(spec.layer, trace.layers, "layer")
    if spec.head not in POOLINGS:
        read_numbers(spec.head, trace.heads, "head")


def _grid_cells(subject: FigureSubject, spec: Spec) -> list[tuple]:
    """The (picture, setup) of each cell of a grid, in order; empty for other layouts. All pictures are samples."""
    if layouts.of(spec).beside(spec) != "many":
        return []
    c = models.load(spec.model).config
    if (map_count := prod(len(axis.values) for axis in grid.axes(spec, (c.depth, c.heads)))) > MOST_MAPS:
        raise Refused(f"A grid of {map_count:,} maps is too much for this server, which draws {MOST_MAPS} at most.")
    names = grid.needed_traces(spec)
    if len(names) > MOST_TRACES:
        raise Refused(f"A grid of {len(names)} pictures and models is too much for this server: {MOST_TRACES} at most.")
    chosen_pair = {(spec.image, spec.model): (subject.picture, subject.setup)}
    return [chosen_pair.get(cell) or chosen.read({"sample": cell[0], "model": cell[1]}, None) for cell in names]


def _grid_traces(cells: list[tuple], subject: FigureSubject, spec: Spec, cache) -> tuple:
    from playground.figures import request

    figure_cells = {}
    for picture, setup in cells:
        sizes = traces.size(picture, setup), _size_of_command(spec, picture, setup)
        if sizes[0] != sizes[1]:
            server_size, command_size = ("×".join(map(str, size)) for size in sizes)
            raise Refused(
                f"{picture.name} is seen at {server_size} pixels by {setup.model} here, and the command would take "
                f"{command_size}: make this grid with the command."
            )
        scale = _scale_number(spec.scale) if spec.whole else None
        trace = traces.trace(picture, replace(setup, scale=scale, cut=tuple(spec.cuts)), cache)

        def other_trace(setup=setup, scale=scale):
            return traces.trace(subject.compared[0], Setup(setup.model, subject.compared[1].detail, scale), cache)

        figure_cells[picture.name, setup.model] = (
            request.with_interventions(spec, trace, other_trace, _turn),
            picture.image,
        )
    return next(iter(figure_cells.values()))[0], {"more": figure_cells}


def _size_of_command(spec: Spec, picture, setup: Setup) -> tuple[int, int]:
    """The size at which figures/request.py traces a cell of a grid."""
    from playground.pictures.images import fit

    look, c = replace(spec, image=picture.name, model=setup.model).look, models.load(setup.model).config
    if spec.size or look is None:
        return spec.size or fit(picture.size, c.patch_size, c.image_size)
    rows, columns = look.grid
    return rows * c.patch_size, columns * c.patch_size
