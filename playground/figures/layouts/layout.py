"""The record of a layout: a function from traces to panels with their words and numbers. compose.py draws them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from PIL import Image

from playground.errors import PlaygroundError
from playground.figures.drawing import captions, maps, prints
from playground.figures.drawing.maps import Domain, Map, OneMap, Other, Subject
from playground.figures.drawing.prints import KEY, QUERY
from playground.figures.drawing.spec import Spec
from playground.numbers import bare_share

Patch = tuple[int, int]
Number = tuple[Patch, str, bool]  # a patch, its number, whether the number must be readable: then beside a small patch


@dataclass(frozen=True)
class Panel:
    """A picture with its marks."""

    grid: tuple[int, int]
    picture: Callable[[tuple[int, int]], Image.Image]  # (width, height) in pixels -> the picture
    heading: str = ""
    sub: str = ""
    marks: tuple[tuple[Patch, str], ...] = ()  # (patch, colour of its frame)
    numbers: tuple[Number, ...] = ()
    frames: tuple[tuple[Patch, Patch, float], ...] = ()  # (first patch, last patch, relative line width)

    @property
    def aspect(self) -> float:
        return self.grid[1] / self.grid[0]


@dataclass(frozen=True)
class Panels:
    """Panels in rows and columns. With `beside` or `above` they are a table; else they flow into rows."""

    rows: list[list[Panel | None]]
    beside: list[str] = field(default_factory=list)
    above: list[str] = field(default_factory=list)

    @property
    def is_table(self) -> bool:
        return bool(self.beside or self.above)


@dataclass(frozen=True)
class Matrix:
    """One small picture for each head of each layer: layers downwards, heads to the right."""

    cells: list[list[np.ndarray]]  # (height, width, 3) bytes, all of one size
    photo: Panel | None = None


@dataclass(frozen=True)
class Content:
    """What a layout returns, and compose.py draws."""

    body: Panels | Matrix
    caption: str
    shown: list[Map]
    domain: Domain  # the range of the colour bar


@dataclass(frozen=True)
class Layout:
    name: str
    words: str  # a description for the help of --layout and for Export
    content: Callable[[Spec, Subject, Other], Content]
    fixed: tuple[str, ...] = ()  # options that the layout does not have
    beside: str = ""  # further traces: "other" (a second picture or model) or "many"
    scale: str = "on"  # the scale that the layout shows where the trained one is chosen
    of_heads: bool = False  # whether the layout shows only ways to look that have heads
    asks: bool = False  # whether the layout marks a query in every case

    def check(self, spec: Spec) -> None:
        """Raises if the layout can't show this spec, with the reason."""
        if self.of_heads and not spec.way.of_heads:
            raise PlaygroundError(f"The way {spec.what!r} has no heads: take the layout head, grid or convolution.")
        if self.scale != "on" and (spec.whole or not spec.way.of_heads):
            raise PlaygroundError(
                f"The layout {self.name} changes the scale of one layer, in what has heads: show the whole pass with "
                "another scale in the layout head."
            )


def layer_scale(spec: Spec) -> str | None:
    """The scale of the spec's layer; None, for the scale of the pass, if the whole pass ran with the spec's scale."""
    return None if spec.whole else spec.scale


def shown_maps(requests: list[OneMap]) -> list[Map]:
    """The maps of all panels."""
    if requests[0].spec.way.coloured:
        return prints.maps_together(requests)
    return [maps.map_of(request) for request in requests]


def map_panel(map_: Map, domain: Domain, heading: str = "", sub: str = "") -> Panel:
    spec, subject = map_.spec, map_.subject
    is_asking_here = map_.one.asker is None and spec.asks  # the query is a patch of this picture
    patch = maps.patch_of(subject.seen, spec.query) if is_asking_here else None
    ink = KEY if spec.direction == "column" else QUERY
    base = Panel(subject.seen.grid, partial(_picture, map_, domain), heading, sub, ((patch, ink),) if patch else ())
    if map_.colours is not None:
        return base
    clipped = sorted(maps.clipped_patches(map_, domain), key=lambda place: -map_.grid[place])
    write_value = bare_share if domain.percent else captions.number
    numbers: list[Number] = [
        (place, write_value(float(map_.grid[place])), index == 0)
        for index, place in enumerate(clipped)
        if place != patch
    ]
    numbers += [
        (place, captions.signed(float(map_.grid[place]), domain.percent), True) for place in maps.peaks(map_, domain)
    ]
    return replace(base, numbers=tuple(numbers))


def _picture(map_: Map, domain: Domain, size: tuple[int, int]) -> Image.Image:
    spec = map_.spec
    photo = prints.photo_of(spec, map_.subject.image).resize(size, Image.Resampling.LANCZOS)
    if map_.colours is not None:
        return Image.fromarray(map_.colours).resize(size, Image.Resampling.NEAREST)
    return prints.photo_with_map(photo, map_.grid, spec, domain)


def photo_panel(spec: Spec, subject: Subject) -> Panel:
    """The picture; if the figure has a query, the query's patch is outlined."""
    grid, photo = subject.seen.grid, prints.photo_of(spec, subject.image)
    picture = partial(photo.resize, resample=Image.Resampling.LANCZOS)
    if spec.query is None or not spec.asks:
        return Panel(grid, picture, "picture", subject.name if spec.image else "")
    patch = maps.patch_of(subject.seen, spec.query)
    heading, ink = ("query", QUERY) if spec.direction == "row" else ("key", KEY)
    return Panel(grid, picture, heading, captions.query_phrase(spec.query), ((patch, ink),) if patch else ())


def with_headings(shown: list[Map], domain: Domain, names: list[tuple[str, str]]) -> list[Panel]:
    """A panel for each map. `names`: its heading, and the line below it, to which the row's breadth is added."""
    return [
        map_panel(panel, domain, heading, ", ".join(filter(None, [sub, captions.breadth(panel, panel.seen.tokens)])))
        for panel, (heading, sub) in zip(shown, names, strict=True)
    ]
