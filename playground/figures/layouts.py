"""The layouts: which panels a figure has and what stands beneath them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath

import numpy as np
from matplotlib.patches import Rectangle
from PIL import Image

from playground.analysis.ceiling import shared_ceiling
from playground.figures import captions, maps, naming, prints
from playground.figures.axes_of_grid import Axis, axes, called
from playground.figures.maps import Domain, Map
from playground.figures.option_words import OptionError
from playground.figures.panels import Grid, Matrix, Panel, Panels
from playground.figures.sheet import KEY, QUERY
from playground.figures.spec import COLOURED, WITHOUT_HEADS, Spec
from playground.figures.which_maps import OneMap, Others, Subject, grid, maps_of, maps_shown

ROOMY = 1.2  # inches: a map where the largest number that can't be shown stands beside its patch
STRIP = 0.2  # of a cell's height, of the atlas: where a head's habit stands, beside its map


@dataclass(frozen=True)
class Content:
    """What stands on the sheet."""

    body: Panels | Matrix | Grid
    domain: Domain | None = None  # of the colour bar
    caption: str = ""
    prefix: str = ""
    legend: tuple[tuple[str, str, str], ...] = ()  # (colour, words, a shape or "")


def content(spec: Spec, subject: Subject, other: Subject | Others | None) -> Content:
    made = _laid_out(spec, subject, other)
    subjects = [subject, *(other.values() if isinstance(other, dict) else filter(None, [other]))]
    said = " ".join([made.caption, *captions.assumed(one.seen for one in subjects)])
    return replace(made, caption=said)


def _laid_out(spec: Spec, subject: Subject, other: Subject | Others | None) -> Content:
    if spec.layout == "atlas":
        return _atlas(spec, subject)
    if spec.layout == "components":  # what it shows, by a name of its own
        spec = replace(spec, layout="head", what="components")
    if spec.layout == "grid":
        made = _grid(spec, subject, other)
    else:
        layouts = {"scale": _two, "compare": _two, "heads": _heads, "wall": _wall}
        made = layouts.get(spec.layout, _head)(spec, maps_shown(spec, subject, other))
    # neither the photograph itself nor colours of three numbers have a bar
    return replace(made, domain=None) if spec.mask or spec.what in COLOURED else made


# One head -------------------------------------------------------------------------------------------------------------


def _head(spec: Spec, asks: list[OneMap]) -> Content:
    """The picture, what a convolution reads (in its layout), what attention reads. A narrow figure of one head is the
    map alone."""
    if spec.other_queries:
        return _queries(spec, asks)
    (one,), (shown,) = asks, maps_of(asks)
    subject = one.subject
    span = maps.domain(spec, [shown])
    sub = captions.place(spec, spec.layer, spec.head)
    if spec.layout == "convolution" and spec.direction == "row" and spec.what not in WITHOUT_HEADS:
        sub = f"reads all {shown.grid.size}, {sub}"
    panels = [_map_panel(spec, subject, shown, span, captions.method(spec), sub)]
    if spec.layout == "convolution":
        panels = [*panels, _kernel_panel(spec, subject)]  # in the order of the screen
    if _has_room(spec, len(panels), panels[0].aspect):
        panels = [_photo_panel(spec, subject), *panels]
    said = captions.caption(spec, subject.seen, [shown], span=span)
    return Content(Panels(panels), span, said, captions.prefix_line(spec, [shown]))


def _has_room(spec: Spec, panels: int, aspect: float) -> bool:
    """Whether the picture alone fits beside these panels, and they stay large enough."""
    if not spec.made_for.roomy:
        return spec.purpose == "half" and panels == 1 and aspect > 2.5  # it stands above it
    return panels == 1 or not spec.made_for.height or aspect < 1.25


def _queries(spec: Spec, asks: list[OneMap]) -> Content:
    """Several patches in one picture, each in a colour and with an outline of its own."""
    subject, shown = asks[0].subject, [one.map() for one in asks]
    span = maps.domain(spec, shown)
    patches = [maps.patch_of(subject.seen, one.spec.query) for one in asks]

    def draw(sheet, panel_axes, box) -> None:
        drawn = partial(prints.together, grids=[one.grid for one in shown], span=span)
        sheet.print(panel_axes, subject.image, box, drawn)
        for one, ink, dashes in zip(shown, prints.INKS, prints.DASHES, strict=False) if spec.mass else ():
            sheet.outline(panel_axes, prints.outline(one.grid, spec), box, ink, dashes)
        _mark_each(sheet, panel_axes, patches, box)

    panels = [Panel(captions.method(spec), captions.place(spec, spec.layer, spec.head), subject.seen.grid, draw)]
    if spec.made_for.roomy:

        def photo(sheet, panel_axes, box) -> None:
            sheet.photo(panel_axes, subject.image, box)
            _mark_each(sheet, panel_axes, patches, box)

        panels = [Panel("queries", f"{len(asks)} patches", subject.seen.grid, photo), *panels]
    words = [captions.asked(one.spec.query) for one in asks]
    legend = tuple(zip(prints.INKS, words, prints.SYMBOLS, strict=False))
    said = captions.queries_caption(spec, subject.seen, shown, span)
    return Content(Panels(panels), None, said, captions.prefix_line(spec, shown), legend)


def _mark_each(sheet, panel_axes, patches: list, box) -> None:
    """In a colour and with a shape of its own: colours are alike in grey."""
    for patch, ink, symbol in zip(patches, prints.INKS, prints.SYMBOLS, strict=False):
        sheet.mark(panel_axes, patch, box, colour=ink, around="black")
        sheet.sign(panel_axes, patch, box, symbol)


def _photo_panel(spec: Spec, subject: Subject) -> Panel:
    if spec.query is None or not spec.asks:
        return Panel("picture", subject.name if spec.image else "", subject.seen.grid, partial(_photo, subject, None))
    patch = maps.patch_of(subject.seen, spec.query)
    heading, colour = ("query", QUERY) if spec.direction == "row" else ("key", KEY)
    drawn = partial(_photo, subject, patch, colour=colour)
    return Panel(heading, captions.asked(spec.query), subject.seen.grid, drawn)


def _photo(subject: Subject, patch, sheet, axes, box, colour=QUERY) -> None:
    sheet.photo(axes, subject.image, box)
    sheet.mark(axes, patch, box, colour=colour)


def _kernel_panel(spec: Spec, subject: Subject) -> Panel:
    patch, grid, k = maps.patch_of(subject.seen, spec.query), subject.seen.grid, spec.kernel
    if patch is None:
        raise OptionError("A convolution has no {!r} token: choose a patch, such as {query:7,5}.", spec.query)
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


def _map_panel(
    spec: Spec, subject: Subject, shown: Map, span: Domain, heading: str, sub: str, asks: bool = True,
    small: bool = False,
) -> Panel:  # fmt: skip
    """`asks`: the patch of `spec` is one of this picture. `small`: the photograph stands beside it, too."""
    patch = maps.patch_of(subject.seen, spec.query) if asks and spec.asks else None

    def draw(sheet, axes, box) -> None:
        if shown.parts is not None:
            sheet.print(axes, subject.image, box, partial(prints.parted, parts=shown.parts))
            return
        if shown.colours is not None:
            sheet.layer(axes, Image.fromarray(shown.colours))
            return
        heat = small and spec.over == "photo" and not (prints.is_lit(spec) or spec.mask)
        beneath = prints.pale(subject.image) if heat else subject.image
        sheet.print(axes, beneath, box, partial(prints.printed, grid=shown.grid, spec=spec, span=span))
        if prints.has_outline(spec):
            sheet.outline(axes, prints.outline(shown.grid, spec), box)
        over = sorted(maps.clipped(shown, span), key=lambda at: -shown.grid[at])
        written = captions.bare_share if span.percent else captions.number
        said = {at: written(float(shown.grid[at])) for at in over}
        within = [at for at in over if at != patch and sheet.number(axes, at, box, said[at])]
        if over and over[0] not in within and (within or box.width > ROOMY):  # no smaller one stands for the largest
            sheet.number_beside(axes, over[0], box, said[over[0]] + "%" * span.percent, shown.grid, patch)
        for at in maps.peaks(shown, span):
            text = captions.signed(float(shown.grid[at]), span.percent)
            if not sheet.number(axes, at, box, text) and box.width > ROOMY:
                sheet.number_beside(axes, at, box, text, np.abs(shown.grid), None)
        sheet.mark(axes, patch, box, colour=KEY if spec.direction == "column" else QUERY)

    return Panel(heading, sub, subject.seen.grid, draw)


# Many heads -----------------------------------------------------------------------------------------------------------


def _heads(spec: Spec, asks: list[OneMap]) -> Content:
    subject, shown = asks[0].subject, [one.map() for one in asks]
    span, spans = _exposed(spec, shown)
    panels = [
        _map_panel(spec, subject, one, its, f"head {head}", captions.breadth(one, subject.seen.tokens))
        for head, (one, its) in enumerate(zip(shown, spans, strict=True))
    ]
    said = captions.caption(spec, subject.seen, shown, span=span)
    return Content(Panels(panels), span, said, captions.prefix_line(spec, shown))


def _exposed(spec: Spec, shown: list[Map]) -> tuple[Domain, list[Domain]]:
    """(what the colour bar says, the range of each map): one exposure for all of them, so that they compare, unless
    each is to have its own."""
    if spec.colours == "shared":
        span = maps.domain(spec, shown)
        return span, [span] * len(shown)
    spans = [maps.domain(spec, [one]) for one in shown]
    return replace(spans[0], words=f"{spans[0].words}; each map exposed by its own", own=True), spans


def _wall(spec: Spec, asks: list[OneMap]) -> Content:
    subject, seen = asks[0].subject, asks[0].subject.seen
    every = [one.map() for one in asks]
    span, spans = _exposed(spec, every)
    patch, (rows, columns) = maps.patch_of(seen, spec.query), seen.grid

    def draw(sheet, axes, layer, head, box) -> None:
        extent = (box.x, box.y, box.x + box.width, box.y + box.height)
        place = layer * seen.heads + head
        sheet.layer(axes, prints.thumbnail(subject.image, every[place].grid, spec, spans[place]), extent)
        if patch is not None and spec.marker and box.width > 0.22:
            x, y = box.x + patch[1] * box.width / columns, box.y + patch[0] * box.height / rows
            frame = Rectangle((x, y), box.width / columns, box.height / rows, fill=False, zorder=3)
            frame.set(edgecolor="white", linewidth=min(1.0, 0.9 * box.width))
            axes.add_patch(frame)

    picture = _photo_panel(spec, subject) if spec.made_for.roomy else None
    body = Matrix(seen.layers, seen.heads, columns / rows, draw, picture)
    return Content(body, span, captions.caption(spec, seen, every, span=span), captions.prefix_line(spec, every))


def _atlas(spec: Spec, subject: Subject) -> Content:
    """For every head the share that each place around a patch gets, averaged over all patches, framed by its habit."""
    from playground.analysis import heads

    seen = subject.seen
    habits = heads.look(seen)
    kinds = habits.habits()
    high = spec.ceiling or shared_ceiling(seen.tokens)
    span = Domain(0, high, "share of a patch’s attention", True, high < 1)
    side = habits.offsets.shape[-1]

    def draw(sheet, axes, layer, head, box) -> None:
        edge = 0.05 * box.height
        colour, strip = kinds[layer][head].colour, box.width - box.height
        axes.add_patch(Rectangle((box.x, box.y), box.width, box.height, color=colour, linewidth=0))
        extent = (box.x + strip + edge, box.y + edge, box.x + box.width - edge, box.y + box.height - edge)
        sheet.layer(axes, prints.bare(habits.offsets[layer, head], span), extent)
        middle = box.x + (strip + edge) / 2, box.y + box.height / 2  # a shape, for who can't tell the colours apart
        sheet.shape(axes, *middle, kinds[layer][head].symbol, 72 * 0.7 * strip)

    present = {habit for layer in kinds for habit in layer}
    legend = tuple((habit.colour, habit.label, habit.symbol) for habit in heads.HABITS if habit in present)
    over = int((habits.offsets > high).sum())
    caption = (
        f"{naming.model(seen)}: what each head gives to the {side}×{side} places around a patch, "
        "which is in the middle, on average over this picture; the frame names its habit"
        f"{captions.brighter(span, over, float(habits.offsets.max()), 'place', 'places')}."
    )
    taken = (habits.to_class + habits.to_registers) if seen.prefix else None
    prefix = (
        ""
        if taken is None or not spec.prefix
        else f"Not in the maps: the prefix tokens take {captions.from_to(taken.min(), taken.max())}."
    )
    said = " ".join([_upper(caption), *(captions.altered(spec, seen) if spec.whole else [])])
    return Content(Matrix(seen.layers, seen.heads, 1 + STRIP, draw), span, said, prefix, legend)


def _upper(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


# Rows and columns ----------------------------------------------------------------------------------------------------


def _grid(spec: Spec, subject: Subject, others) -> Content:
    rows, columns = axes(spec, (subject.seen.layers, subject.seen.heads))
    cells = grid(spec, subject, others)
    shown = maps_of([one for row in cells for one in row])
    span, spans = _exposed(spec, shown)
    drawn = iter(zip(shown, spans, strict=True))
    panels = [[_map_panel(one.spec, one.subject, *next(drawn), "", "", small=True) for one in row] for row in cells]
    above = [_title(columns, one) for one in cells[0]] if spec.columns else []
    photo = None
    if rows.name in ("pictures", "patches"):  # what is asked, at the beginning of its row
        panels = [[_photo_panel(row[0].spec, row[0].subject), *its] for row, its in zip(cells, panels, strict=True)]
        above = above and ["picture" if rows.name == "pictures" else "query", *above]
    elif columns.name not in ("pictures", "patches") and spec.made_for.roomy:  # one picture and patch for all
        first = cells[0][0]
        photo = _photo_panel(first.spec, first.subject)
    beside = [_title(rows, row[0]) for row in cells] if spec.rows else []
    said = captions.grid_caption(spec, [one for row in cells for one in row], rows, columns, shown, span)
    rows_of_weights = [one for one in shown if one.breadth is not None or spec.what != "weight"]
    return Content(Grid(panels, beside, above, photo), span, said, captions.prefix_line(spec, rows_of_weights))


def _title(axis: Axis, one: OneMap) -> str:
    value = PurePath(one.subject.name) if axis.name == "pictures" else getattr(one.spec, axis.field)
    return called(axis, value, one.subject.seen, naming.model(one.subject.seen))


# Two of them ----------------------------------------------------------------------------------------------------------


def _two(spec: Spec, asks: list[OneMap]) -> Content:
    shown = maps_of(asks)
    span, spans = _exposed(spec, shown)
    names = _scale_names(spec, asks) if spec.layout == "scale" else _pair_names(asks)
    panels = []
    for one, map_, its, (heading, sub) in zip(asks, shown, spans, names, strict=True):
        line = ", ".join(filter(None, [sub, captions.breadth(map_, one.subject.seen.tokens)]))
        panels.append(_map_panel(one.spec, one.subject, map_, its, heading, line, one.asker is None))
    first, second = asks
    matched = ""
    if second.asker is not None:
        panels, matched = _matched(spec, first, second, panels)
    plain = spec if spec.layout == "compare" else replace(spec, scale="on")
    beside = (second.spec, second.subject.seen) if spec.layout == "compare" else None
    said = captions.caption(plain, first.subject.seen, shown, beside, span)
    said = f"{said} {matched}".strip()
    return Content(Panels(panels), span, said, _outside_of_both(spec, names, shown))


def _matched(spec: Spec, first: OneMap, second: OneMap, panels: list[Panel]) -> tuple[list[Panel], str]:
    """A line from the patch that asks to its match in the other picture, as on the screen, and a sentence about it."""
    here = maps.patch_of(first.subject.seen, spec.query)
    if here is None:
        return panels, ""
    row, column = first.subject.seen.match(second.subject.seen)[here].tolist()
    layer = first.subject.seen.upper_layer
    if row < 0:
        return panels, f"By features after layer {layer} it has no match in the other picture."
    left: list = []

    def begin(sheet, axes, box) -> None:
        panels[0].draw(sheet, axes, box)
        left.append(axes)

    def end(sheet, axes, box) -> None:
        panels[1].draw(sheet, axes, box)
        sheet.mark(axes, (row, column), box, colour="black")
        if spec.marker:
            sheet.line(left[0], here, axes, (row, column))

    drawn = [replace(panels[0], draw=begin), replace(panels[1], draw=end)]
    return drawn, f"The line leads to its match by features after layer {layer}: each resembles the other most."


def _outside_of_both(spec: Spec, names: list[tuple[str, str]], shown: list[Map]) -> str:
    said = [(heading, captions.outside(map_, spec)) for (heading, _), map_ in zip(names, shown, strict=True)]
    parts = [f"{heading}: {what}" for heading, what in said if what]
    return f"Not in the pictures: {'; '.join(parts)}." if parts else ""


def _scale_names(spec: Spec, asks: list[OneMap]) -> list[tuple[str, str]]:
    """(heading, what stands beneath it)"""
    seen = asks[0].subject.seen
    trained = "as trained" if seen.scale == seen.native_scale else "in this layer alone"
    altered = captions.scale(seen, asks[1].spec.scale)
    heading = altered if altered == "no scale" else f"scale {altered}"
    where = "in the whole forward pass" if spec.whole else "in this layer alone"
    return [(f"scale {captions.scale(seen, 'on')}", trained), (heading, where)]


def _pair_names(asks: list[OneMap]) -> list[tuple[str, str]]:
    models = [naming.model(one.subject.seen) for one in asks]
    pictures = [PurePath(one.subject.name).stem for one in asks]
    names = models if models[0] != models[1] else pictures
    places = [captions.place(one.spec, one.spec.layer, one.spec.head) for one in asks]
    if asks[0].spec.query != asks[1].spec.query:
        places = [f"{captions.asked(one.spec.query)}, {place}" for place, one in zip(places, asks, strict=True)]
    return list(zip(names, places, strict=True))
