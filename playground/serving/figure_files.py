"""The files of what somebody looks at: the same figures and numbers as the command `figure` makes, byte for byte.

matplotlib is imported for those who ask.
"""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any

from playground.figures import layouts
from playground.figures.drawing.spec import Spec
from playground.figures.layouts import grid
from playground.serving import chosen, effort, figure_words, models, people, queue, traces
from playground.serving.answering import Refused
from playground.serving.figure_words import Shown
from playground.serving.people import Person
from playground.serving.traces import Wish
from playground.version import __version__

TYPES = {
    "png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf", "html": "text/html; charset=utf-8",
    "webp": "image/webp", "npz": "application/octet-stream", "csv": "text/csv; charset=utf-8",
    "json": "application/json",
}  # fmt: skip
TABLES = ("npz", "csv", "json")
STILL = ("png", "svg", "pdf", *TABLES)  # what an address of its own can give
MOST_TRACES, MOST_MAPS = 12, 200  # of a grid

log = logging.getLogger("playground")


def file(here: Shown, spec: Spec, kind: str, person: Person | None) -> bytes:
    """The file that the command makes of this. Stills are kept: a class of people sees the same one."""
    if kind not in STILL:
        return _made(here, spec, kind, person)
    return _kept(here, person, ("figure", spec, kind), lambda: _made(here, spec, kind, person))


def _made(here: Shown, spec: Spec, kind: str, person: Person | None) -> bytes:
    began = time.perf_counter()
    if kind == "html":
        made = _alive(here, spec, person)
    else:
        make = _numbers if kind in TABLES else _picture
        made = make(here, spec, kind, person)
    log.info("file kind=%s ms=%.0f", kind, (time.perf_counter() - began) * 1e3)
    return made


def name(spec: Spec, kind: str) -> str:
    return f"{Path(spec.image).stem or 'figure'}-{spec.layout if kind != 'html' else 'alive'}.{kind}"


def digest(here: Shown, spec: Spec, kind: str) -> str:
    """Of all that the file is made of."""
    of = [] if not layouts.of(spec).of_pictures else [chosen.digest(*pair) for pair in _grid(here, spec) or here.pairs]
    return sha256(repr((of, spec, kind, __version__)).encode()).hexdigest()[:16]


def _kept(here: Shown, person: Person | None, what: tuple, make: Callable[[], Any]) -> Any:
    """What was made of the same before. Where one of two pictures is the person's own, so is what was made of both."""
    of: Hashable = tuple((picture.id, wish) for picture, wish in here.pairs)
    picture, wish = min(here.pairs, key=lambda pair: pair[0].sample)
    return people.worked_out(picture, wish, person and person.worked, (*what, of), make)


def _picture(here: Shown, spec: Spec, kind: str, person: Person | None) -> bytes:
    from playground import figures
    from playground.figures import files

    seen, beside = _traces(here, spec, person)
    spec, image = figure_words.as_typed(spec), here.picture.image if layouts.of(spec).of_pictures else None
    with queue.turns(queue.figures()) as give_way:
        if spec.sweep:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / name(spec, kind)
                figures.animate(path, spec, seen, image, lambda steps: _giving_way(steps, give_way), **beside)
                return path.read_bytes()
        drawing = figures.draw(spec, seen, image, **beside) if seen else figures.draw(spec)
        makers: dict[str, Callable] = {"png": files.png, "svg": files.svg, "pdf": files.pdf}
        return makers[kind](drawing, name(spec, kind))


def _giving_way(steps: Iterable, give_way: Callable[[], None]) -> Iterator:
    for step in steps:
        give_way()
        yield step


def _numbers(here: Shown, spec: Spec, kind: str, person: Person | None) -> bytes:
    from playground.figures.files import contents

    seen, beside = _traces(here, spec, person)
    with queue.drawing():
        image = here.picture.image if layouts.of(spec).of_pictures else None
        return contents(f".{kind}", figure_words.as_typed(spec), seen, image, **beside)


def _alive(here: Shown, spec: Spec, person: Person | None) -> bytes:
    from playground.figures import html

    seen, _ = _traces(here, spec, person)
    with queue.drawing():  # matplotlib draws its still picture
        return html.page(figure_words.as_typed(beginning(spec)), seen, here.picture.image).encode()


def said_of_alive(here: Shown, spec: Spec, person: Person | None) -> str:
    """How large the interactive file is, and what eight bits change."""
    from playground.figures import html

    def measured() -> tuple[int, str]:
        seen, _ = _traces(here, spec, person)
        with queue.drawing():
            return html.size(spec, seen, here.picture.image), html.lost_by(spec, seen)

    size, lost = _kept(here, person, ("alive", spec), measured)
    says = f"One file of {size / 1e6:.2f} MB that works from a disk, offline: hover, lock, heads, the √d_k switch."
    return f"{says} With {lost}." if lost else says


def beginning(spec: Spec) -> Spec:
    """An interactive figure of one layer with that layer's number: by default the one that a drawn figure shows."""
    from playground.pack import upper_layer

    if spec.layers is not None or spec.layer is not None:
        return spec
    return replace(spec, layer=spec.look.layer if spec.look else upper_layer(models.load(spec.model).config.depth))


# Traces ---------------------------------------------------------------------------------------------------------------


def _traces(here: Shown, spec: Spec, person: Person | None) -> tuple:
    """(the trace, what a figure takes beside it): made once, and kept in the server's caches."""
    from playground.figures import request

    if not layouts.of(spec).of_pictures:
        return None, {}
    own = person and person.traces
    if cells := _grid(here, spec):
        seen, beside = _of_a_grid(cells, here, spec, own)
    else:

        def run(other: bool, size: tuple[int, int] | None, scale: str):
            picture, wish = here.other if other else (here.picture, here.wish)
            details = models.details(wish.model)
            detail = next((d for d in details if traces.size(picture, Wish(wish.model, d)) == size), 1)
            cut = () if other else tuple(spec.cuts)
            return traces.trace(picture, Wish(wish.model, detail, _number(scale), cut), own)

        other_image = here.other and here.other[0].image
        seen, beside = request.traces(spec, here.picture.image, other_image, run, _turn)
    _check_place(spec, seen)
    return seen, beside


def _turn(seen, passes: float) -> AbstractContextManager[None]:
    """For what is put into a pass that is there."""
    effort.check(seen.vit, seen.grid, passes)
    return queue.turn(seconds=passes * effort.seconds(seen.vit, prod(seen.grid)))


def _number(scale: str) -> float | None:
    return {"on": None, "off": 1.0}[scale] if scale in ("on", "off") else float(scale)


def _check_place(spec: Spec, seen) -> None:
    """As the command line does it, before anything is drawn."""
    from playground.figures.drawing.option_words import read_numbers
    from playground.figures.drawing.spec import POOLED

    if spec.layer is not None:
        read_numbers(spec.layer, seen.layers, "{layer} takes", "layer")
    if spec.head not in POOLED:
        read_numbers(spec.head, seen.heads, "{head} takes", "head")


def _grid(here: Shown, spec: Spec) -> list[tuple]:
    """Every (picture, wish) of a grid, the first one first; empty for another layout. All are samples."""
    if layouts.of(spec).beside(spec) != "many":
        return []
    c = models.load(spec.model).config
    if (maps := prod(len(axis.values) for axis in grid.axes(spec, (c.depth, c.heads)))) > MOST_MAPS:
        raise Refused(f"A grid of {maps:,} maps is too much for this server, which draws {MOST_MAPS} at most.")
    names = grid.names(spec)
    if len(names) > MOST_TRACES:
        raise Refused(f"A grid of {len(names)} pictures and models is too much for this server: {MOST_TRACES} at most.")
    mine = {(spec.image, spec.model): (here.picture, here.wish)}
    return [mine.get(cell) or chosen.read({"sample": cell[0], "model": cell[1]}, None) for cell in names]


def _of_a_grid(cells: list[tuple], here: Shown, spec: Spec, own) -> tuple:
    from playground.figures import request

    found = {}
    for picture, wish in cells:
        if traces.size(picture, wish) != (wanted := _size_of_command(spec, picture, wish)):
            size, wanted = ("×".join(map(str, both)) for both in (traces.size(picture, wish), wanted))
            raise Refused(
                f"{picture.name} is seen at {size} pixels by {wish.model} here, and the command would take {wanted}: "
                "make this grid with the command."
            )
        scale = _number(spec.scale) if spec.whole else None
        seen = traces.trace(picture, replace(wish, scale=scale, cut=tuple(spec.cuts)), own)

        def other(wish=wish, scale=scale):
            return traces.trace(here.other[0], Wish(wish.model, here.other[1].detail, scale), own)

        found[picture.name, wish.model] = request.put(spec, seen, other, _turn), picture.image
    return next(iter(found.values()))[0], {"more": found}


def _size_of_command(spec: Spec, picture, wish: Wish) -> tuple[int, int]:
    """At which size figures/request.py traces a cell of a grid."""
    from playground.pictures.images import fit

    look, c = replace(spec, image=picture.name, model=wish.model).look, models.load(wish.model).config
    if spec.size or look is None:
        return spec.size or fit(picture.size, c.patch_size, c.image_size)
    rows, columns = look.grid
    return rows * c.patch_size, columns * c.patch_size
