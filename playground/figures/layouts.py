"""The layouts: which panels a figure has and what stands beneath them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

from matplotlib.patches import Rectangle
from PIL import Image

from playground.analysis.ceiling import shared_ceiling
from playground.errors import PlaygroundError
from playground.figures import captions, light, maps, naming, prints
from playground.figures.maps import Domain, Map
from playground.figures.panels import Matrix, Panel, Panels
from playground.figures.spec import WITHOUT_HEADS, Spec

if TYPE_CHECKING:
    from playground.tracing import Trace


@dataclass(frozen=True)
class Subject:
    seen: Trace
    image: Image.Image
    name: str


@dataclass(frozen=True)
class Content:
    """What stands on the sheet."""

    body: Panels | Matrix
    domain: Domain | None = None  # of the colour bar
    caption: str = ""
    prefix: str = ""
    legend: tuple[tuple[str, str], ...] = ()  # (colour, words)


def content(spec: Spec, subject: Subject, other: Subject | None) -> Content:
    scale = None if spec.whole else spec.scale  # a whole pass ran with it already
    if spec.layout in ("scale", "compare"):
        return _two(spec, subject, other)
    return {"head": _head, "convolution": _head, "heads": _heads, "wall": _wall, "atlas": _atlas}[spec.layout](
        spec, subject, scale
    )


# One head -------------------------------------------------------------------------------------------------------------


def _head(spec: Spec, subject: Subject, scale: str | None) -> Content:
    """The picture, what a convolution reads (in its layout), what attention reads. A narrow figure of one head is the
    map alone."""
    seen = subject.seen
    seen.row(spec.layer, spec.head, spec.query)  # says what is wrong, also for a map without heads
    shown = maps.look(seen, spec, spec.layer, spec.head, scale)
    span = maps.domain(spec, [shown])
    sub = captions.place(spec, spec.layer, spec.head)
    if spec.layout == "convolution" and spec.direction == "row":
        sub = f"reads all {shown.grid.size}, {sub}"
    panels = [_map_panel(spec, subject, shown, span, captions.method(spec), sub)]
    if spec.layout == "convolution":
        panels = [_photo_panel(spec, subject), _kernel_panel(spec, subject), *panels]
    elif spec.purpose in ("slide", "page"):
        panels = [_photo_panel(spec, subject), *panels]
    return Content(Panels(panels), span, captions.caption(spec, seen, [shown]), captions.prefix_line(spec, [shown]))


def _photo_panel(spec: Spec, subject: Subject) -> Panel:
    patch = maps.patch_of(subject.seen, spec.query)

    def draw(sheet, axes, box) -> None:
        sheet.photo(axes, subject.image, box)
        sheet.mark(axes, patch, box)

    heading = "query" if spec.direction == "row" else "key"
    return Panel(heading, captions.asked(spec.query), subject.seen.grid, draw)


def _kernel_panel(spec: Spec, subject: Subject) -> Panel:
    patch, grid, k = maps.patch_of(subject.seen, spec.query), subject.seen.grid, spec.kernel
    if patch is None:
        raise PlaygroundError(f"A convolution has no {spec.query!r} token: choose a patch, such as --patch 7,5.")
    depth = spec.layer + 1 if spec.depth == "follow" else int(spec.depth)
    cells = maps.neighbourhood(*patch, grid, k)
    field = maps.neighbourhood(*patch, grid, depth * (k - 1) + 1)

    def draw(sheet, axes, box) -> None:
        read = partial(prints.read_by_convolution, grid=grid, patch=patch, kernel=k, depth=depth)
        sheet.print(axes, subject.image, box, read)
        if depth > 1:
            sheet.field(axes, field, box)
        sheet.kernel(axes, cells, box)
        sheet.mark(axes, patch, box)

    reached = "" if depth == 1 else f" ({depth} layers: {len(field)})"
    sub = f"reads {len(cells)} of {grid[0] * grid[1]} patches{reached}"
    return Panel(f"{k}×{k} convolution", sub, grid, draw)


def _map_panel(spec: Spec, subject: Subject, shown: Map, span: Domain, heading: str, sub: str, query=None) -> Panel:
    patch = maps.patch_of(subject.seen, spec.query if query is None else query)

    def draw(sheet, axes, box) -> None:
        sheet.print(axes, subject.image, box, partial(prints.printed, grid=shown.grid, spec=spec, span=span))
        if prints.is_lit(spec):
            sheet.outline(axes, light.outlines(light.densest(shown.grid)), box)
        sheet.mark(axes, patch, box)

    return Panel(heading, sub, subject.seen.grid, draw)


# Many heads -----------------------------------------------------------------------------------------------------------


def _heads(spec: Spec, subject: Subject, scale: str | None) -> Content:
    seen = subject.seen
    shown = [maps.look(seen, spec, spec.layer, head, scale) for head in range(seen.heads)]
    span, spans = _exposed(spec, shown)
    panels = [
        _map_panel(spec, subject, one, its, f"head {head}", captions.breadth(one, seen.tokens))
        for head, (one, its) in enumerate(zip(shown, spans, strict=True))
    ]
    return Content(Panels(panels), span, captions.caption(spec, seen, shown), captions.prefix_line(spec, shown))


def _exposed(spec: Spec, shown: list[Map]) -> tuple[Domain, list[Domain]]:
    """(what the colour bar says, the range of each map): one exposure for all of them, so that they compare, unless
    each is to have its own."""
    if spec.colours == "shared":
        span = maps.domain(spec, shown)
        return span, [span] * len(shown)
    spans = [maps.domain(spec, [one]) for one in shown]
    return replace(spans[0], words=f"{spans[0].words}; each map exposed by its own", own=True), spans


def _wall(spec: Spec, subject: Subject, scale: str | None) -> Content:
    seen = subject.seen
    shown = [[maps.look(seen, spec, layer, head, scale) for head in range(seen.heads)] for layer in range(seen.layers)]
    every = [one for layer in shown for one in layer]
    span, spans = _exposed(spec, every)
    patch, (rows, columns) = maps.patch_of(seen, spec.query), seen.grid

    def draw(sheet, axes, layer, head, box) -> None:
        extent = (box.x, box.y, box.x + box.width, box.y + box.height)
        its = spans[layer * seen.heads + head]
        sheet.layer(axes, prints.thumbnail(subject.image, shown[layer][head].grid, spec, its), extent)
        if patch is not None and spec.marker and box.width > 0.22:
            x, y = box.x + patch[1] * box.width / columns, box.y + patch[0] * box.height / rows
            frame = Rectangle((x, y), box.width / columns, box.height / rows, fill=False, zorder=3)
            frame.set(edgecolor="white", linewidth=min(1.0, 0.9 * box.width))
            axes.add_patch(frame)

    picture = _photo_panel(spec, subject) if spec.purpose in ("slide", "page") else None
    body = Matrix(seen.layers, seen.heads, columns / rows, draw, picture)
    return Content(body, span, captions.caption(spec, seen, every), captions.prefix_line(spec, every))


def _atlas(spec: Spec, subject: Subject, scale: str | None) -> Content:
    """For every head the share that each place around a patch gets, averaged over all patches, framed by its habit."""
    from playground.analysis import heads

    seen = subject.seen
    habits = heads.look(seen)
    kinds = habits.habits()
    high = spec.ceiling or shared_ceiling(seen.tokens)
    span = Domain(0, high, "share of a patch’s attention", True, high < 1)
    side = habits.offsets.shape[-1]

    def draw(sheet, axes, layer, head, box) -> None:
        edge = 0.075 * box.height
        colour = kinds[layer][head].colour
        axes.add_patch(Rectangle((box.x, box.y), box.width, box.height, color=colour, linewidth=0))
        extent = (box.x + edge, box.y + edge, box.x + box.width - edge, box.y + box.height - edge)
        sheet.layer(axes, prints.bare(habits.offsets[layer, head], span), extent)

    present = {habit for layer in kinds for habit in layer}
    legend = tuple((habit.colour, habit.label) for habit in heads.HABITS if habit in present)
    caption = (
        f"{naming.model(seen)}: what each head gives to the {side} × {side} places around a patch, "
        "which is in the middle, on average over this picture; the frame names its habit."
    )
    taken = (habits.to_class + habits.to_registers) if seen.prefix else None
    prefix = (
        ""
        if taken is None or not spec.prefix
        else f"Not in the maps: the prefix tokens take {captions.percent(taken.min())} to "
        f"{captions.percent(taken.max())}."
    )
    said = " ".join([_upper(caption), *(captions.altered(spec, seen) if spec.whole else [])])
    return Content(Matrix(seen.layers, seen.heads, 1, draw), span, said, prefix, legend)


def _upper(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


# Two of them ----------------------------------------------------------------------------------------------------------


def _two(spec: Spec, subject: Subject, other: Subject | None) -> Content:
    if spec.layout == "scale" and spec.what in WITHOUT_HEADS and not spec.whole:
        raise PlaygroundError(f"The scale of one layer changes nothing in {spec.what}: add --whole.")
    pairs = _scales(spec, subject, other) if spec.layout == "scale" else _pair(spec, subject, other)
    shown = [maps.look(one.seen, asks, asks.layer, asks.head, scale) for one, asks, scale, _, _ in pairs]
    span, spans = _exposed(spec, shown)
    panels = []
    for (one, asks, _, heading, sub), map_, its in zip(pairs, shown, spans, strict=True):
        line = ", ".join(filter(None, [sub, captions.breadth(map_, one.seen.tokens)]))
        panels.append(_map_panel(asks, one, map_, its, heading, line))
    seen = subject.seen
    plain = spec if spec.layout == "compare" else replace(spec, scale="on")
    beside = (pairs[1][1], pairs[1][0].seen) if spec.layout == "compare" else None
    said = captions.caption(plain, seen, shown, beside)
    return Content(Panels(panels), span, said, _outside_of_both(spec, pairs, shown))


def _outside_of_both(spec: Spec, pairs, shown: list[Map]) -> str:
    said = [(heading, captions.outside(map_, spec)) for (*_, heading, _), map_ in zip(pairs, shown, strict=True)]
    parts = [f"{heading}: {what}" for heading, what in said if what]
    return f"Not in the pictures: {'; '.join(parts)}." if parts else ""


def _scales(spec: Spec, subject: Subject, other: Subject | None):
    altered = "off" if spec.scale == "on" else spec.scale
    trained = "as trained" if subject.seen.scale == subject.seen.native_scale else "in this layer alone"
    on = (subject, spec, "on", f"scale {captions.scale(subject.seen, 'on')}", trained)
    name = captions.scale(subject.seen, altered)
    heading = name if name == "no scale" else f"scale {name}"
    if spec.whole:
        if other is None:
            raise PlaygroundError("To set the scale of the whole pass beside the trained one, give both traces.")
        return [on, (other, spec, None, heading, "in the whole forward pass")]
    return [on, (subject, spec, altered, heading, "in this layer alone")]


def _pair(spec: Spec, subject: Subject, other: Subject | None):
    if other is None:
        raise PlaygroundError("What is it to be compared with? Add --with-image FILE or --with-model NAME.")
    scale = None if spec.whole else spec.scale
    query = maps.same_place(spec.query, subject.seen, other.seen)
    layer = maps.same_layer(spec.layer, subject.seen, other.seen)
    head = min(spec.head, other.seen.heads - 1)
    asks = replace(spec, query=query, layer=layer, head=head)
    models = naming.model(subject.seen) != naming.model(other.seen)

    def names(one: Subject, its: Spec) -> tuple[str, str]:
        return naming.model(one.seen) if models else PurePath(one.name).stem, captions.place(its, its.layer, its.head)

    return [(subject, spec, scale, *names(subject, spec)), (other, asks, scale, *names(other, asks))]
