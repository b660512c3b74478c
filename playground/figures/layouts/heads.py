"""The layouts of one head, of a head beside a convolution, of all heads of a layer, and of all heads of all layers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from PIL import Image

from playground.errors import PlaygroundError
from playground.figures.drawing import captions, maps, prints
from playground.figures.drawing.maps import Map, OneMap, Other, Subject
from playground.figures.drawing.prints import KERNEL, QUERY
from playground.figures.drawing.spec import VALUES, Spec
from playground.figures.layouts.layout import (
    Content,
    Layout,
    Matrix,
    Panel,
    Panels,
    layer_scale,
    map_panel,
    photo_panel,
    shown_maps,
    with_headings,
)

# One head: the picture and the map. A narrow figure is the map alone.


def head(spec: Spec, subject: Subject, other: Other) -> Content:
    return _one_map(spec, shown_maps([OneMap(subject, spec, layer_scale(spec))]))


def of_values(spec: Spec, subject: Subject, values: np.ndarray) -> Content:
    """The figure of somebody's own values on the grid of a trace."""
    return _one_map(spec, shown_maps([OneMap(subject, spec, None, given=values)]), captions.picture(subject.name))


def _one_map(spec: Spec, shown: list[Map], place: str = "") -> Content:
    (panel,), domain = shown, maps.domain(spec, shown)
    place = place or captions.place(spec)
    panels = [photo_panel(spec, panel.subject)] if spec.paper.roomy else []
    panels.append(map_panel(panel, domain, captions.method(spec), place))
    if spec.way is VALUES:
        caption = f"{captions.capital(place)}: values given{captions.exposure_note([panel], domain)}."
    else:
        caption = captions.sentence(spec, shown, domain, place)
    return Content(Panels([[*panels]]), caption, shown, domain)


HEAD = Layout("head", "one head", head)


# Attention beside what a convolution reads, in the order of the screen.


def convolution(spec: Spec, subject: Subject, other: Other) -> Content:
    shown = shown_maps([OneMap(subject, spec, layer_scale(spec))])
    domain, place = maps.domain(spec, shown), captions.place(spec)
    reads_all = spec.direction == "row" and spec.way.of_heads
    sub = f"reads all {shown[0].grid.size}, {place}" if reads_all else place
    panels = [map_panel(shown[0], domain, captions.method(spec), sub), kernel_panel(spec, subject)]
    if spec.paper.roomy and (spec.paper.height is None or panels[0].aspect < 1.25):
        panels = [photo_panel(spec, subject), *panels]
    return Content(Panels([[*panels]]), captions.sentence(spec, shown, domain, place), shown, domain)


def kernel_panel(spec: Spec, subject: Subject) -> Panel:
    """What one convolution reads, and what as many as the transformer's layers so far reach."""
    patch, grid = maps.patch_of(subject.seen, spec.query), subject.seen.grid
    if patch is None:
        raise PlaygroundError(f"A convolution has no {spec.query!r} token: choose a patch, such as 7,5.")
    depth = (subject.seen.layers - 1 if spec.layer is None else spec.layer) + 1
    cells = maps.neighbourhood(*patch, grid, KERNEL)
    reach = maps.neighbourhood(*patch, grid, depth * (KERNEL - 1) + 1)
    photo = prints.photo_of(spec, subject.image)

    def picture(size: tuple[int, int]) -> Image.Image:
        return prints.read_by_convolution(photo.resize(size, Image.Resampling.LANCZOS), grid, patch, depth)

    reach_words = "" if depth == 1 else f" ({depth} layers: {len(reach)})"
    sub = f"reads {len(cells)} of {grid[0] * grid[1]} patches{reach_words}"
    frames = ((reach[0], reach[-1], 0.5), (cells[0], cells[-1], 1.0))
    heading = f"{KERNEL}×{KERNEL} convolution"
    return Panel(grid, picture, heading, sub, ((patch, QUERY),), frames=frames[depth == 1 :])


CONVOLUTION = Layout("convolution", "attention, and what a 3×3 convolution reads, side by side", convolution, asks=True)


def heads(spec: Spec, subject: Subject, other: Other) -> Content:
    requests = [OneMap(subject, replace(spec, head=n), layer_scale(spec)) for n in range(subject.seen.heads)]
    shown = shown_maps(requests)
    domain = maps.domain(spec, shown)
    panels = with_headings(shown, domain, [(captions.head(panel.spec), "") for panel in shown])
    caption = captions.sentence(spec, shown, domain, f"all heads of layer {spec.layer}")
    return Content(Panels([[*panels]]), caption, shown, domain)


HEADS = Layout("heads", "all heads of a layer", heads, fixed=("head",), of_heads=True)


# The wall: every head of every layer as a small map.

EVERY_HEAD = "all heads of all layers"
CELL_PIXELS = 6  # pixels of a patch in a small map


def wall(spec: Spec, subject: Subject, other: Other) -> Content:
    trace = subject.seen
    requests = [
        OneMap(subject, replace(spec, layer=layer, head=n), layer_scale(spec))
        for layer in range(trace.layers)
        for n in range(trace.heads)
    ]
    shown = shown_maps(requests)
    domain = maps.domain(spec, shown, small=True)
    rows, columns = trace.grid
    size = columns * CELL_PIXELS, rows * CELL_PIXELS
    photo = prints.photo_of(spec, subject.image).resize(size, Image.Resampling.LANCZOS)
    pictures = [np.array(prints.photo_with_map(photo, panel.grid, spec, domain)) for panel in shown]
    if patch := maps.patch_of(trace, spec.query) if spec.asks else None:
        top, left = (number * CELL_PIXELS for number in patch)
        for picture in pictures:  # a white frame
            square = picture[top : top + CELL_PIXELS, left : left + CELL_PIXELS]
            square[[0, -1]] = square[:, [0, -1]] = 255
    cells = [pictures[i : i + trace.heads] for i in range(0, len(pictures), trace.heads)]
    body = Matrix(cells, photo_panel(spec, subject) if spec.paper.roomy else None)
    return Content(body, captions.sentence(spec, shown, domain, EVERY_HEAD), shown, domain)


WALL = Layout("wall", EVERY_HEAD, wall, fixed=("layer", "head"), of_heads=True)
