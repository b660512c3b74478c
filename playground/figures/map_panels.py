"""The panels that layouts are made of: a map, the picture that it is about, what a convolution reads."""

from __future__ import annotations

from functools import partial

import numpy as np
from PIL import Image

from playground.figures import captions, maps, prints
from playground.figures.maps import Domain
from playground.figures.one_map import Shown, Subject
from playground.figures.option_words import OptionError
from playground.figures.panels import Panel
from playground.figures.spec import Spec
from playground.figures.themes import KEY, QUERY

ROOMY = 1.2  # inches: a map where the largest number that can't be shown stands beside its patch


def map_panel(one: Shown, span: Domain, heading: str = "", sub: str = "", small: bool = False) -> Panel:
    """`small`: the photograph stands beside it, too."""
    spec, subject, shown = one.spec, one.subject, one.map
    asks = one.one.asker is None and spec.asks  # the patch is one of this picture
    patch = maps.patch_of(subject.seen, spec.query) if asks else None

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


def photo_panel(spec: Spec, subject: Subject) -> Panel:
    """The picture; if a patch asks, it is outlined."""
    if spec.query is None or not spec.asks:
        return Panel("picture", subject.name if spec.image else "", subject.seen.grid, partial(_photo, subject, None))
    patch = maps.patch_of(subject.seen, spec.query)
    heading, colour = ("query", QUERY) if spec.direction == "row" else ("key", KEY)
    drawn = partial(_photo, subject, patch, colour=colour)
    return Panel(heading, captions.asked(spec.query), subject.seen.grid, drawn)


def _photo(subject: Subject, patch, sheet, axes, box, colour=QUERY) -> None:
    sheet.photo(axes, subject.image, box)
    sheet.mark(axes, patch, box, colour=colour)


def kernel_panel(spec: Spec, subject: Subject) -> Panel:
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


def has_room(spec: Spec, panels: int, aspect: float) -> bool:
    """Whether the picture alone fits beside these panels, and they stay large enough."""
    if not spec.made_for.roomy:
        return spec.purpose == "half" and panels == 1 and aspect > 2.5  # it stands above it
    return panels == 1 or not spec.made_for.height or aspect < 1.25
