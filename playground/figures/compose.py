"""Composes a figure: its panels, the colour bar and the caption, in matplotlib's constrained layout."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from PIL import Image

from playground.figures import layouts
from playground.figures.drawing import captions, naming, prints
from playground.figures.drawing.maps import Domain, Other, Subject
from playground.figures.drawing.prints import CONVOLUTION, THEMES
from playground.figures.drawing.sheet import Drawing, fitted, house_style, small_size, text_width, wrapped
from playground.figures.drawing.spec import Spec
from playground.figures.layouts.heads import of_values
from playground.figures.layouts.layout import Content, Matrix, Panel, Panels, Patch
from playground.figures.provenance import facts, metadata

if TYPE_CHECKING:
    from playground.tracing import Trace

Style = dict[str, Any]  # keyword arguments of matplotlib

CAPTION_SIZE, SUB_SIZE, TICK_SIZE = 0.8, 0.8, 0.72  # shares of the font size
LINE_HEIGHT = 1.4  # of the caption
STORED_DPI = 220  # dots per inch of a picture in the figure
LARGEST_HEIGHT = 8.5  # inches: the largest height of a figure in a paper
NARROWEST_PANEL = 8.5  # em: the narrowest panel in a paper whose heading still fits
LARGE_MAP = 1.2  # inches: in a wider map a number that does not fit into its patch is written beside it


def draw(
    spec: Spec,
    trace: Trace,
    image: Image.Image | None = None,
    *,
    other: Trace | None = None,
    other_image: Image.Image | None = None,
    more: dict[tuple[str, str], tuple[Trace, Image.Image]] | None = None,
    values: np.ndarray | None = None,
) -> Drawing:
    """The figure that `spec` describes, of a trace and its picture: a matplotlib Figure to go on editing.

    `other`: the trace that the layout compares with, of another picture or model; `other_image`: its picture. `more`:
    the traces of all pictures and models of a grid, by their names. `values`: (rows, columns), drawn instead of the
    trace's.
    """
    with house_style():
        spec, subject, second = subjects(spec, trace, image, other, other_image, more)
        content = layouts.content(spec, subject, second) if values is None else of_values(spec, subject, values)
        figure = _Sheet(spec, content).figure
    figure.spec, figure.facts = spec, facts(spec, subject, second)
    figure.metadata = partial(metadata, spec, figure.facts)
    return figure


def subjects(
    spec: Spec, first_trace: Trace, image: Any = None, other: Any = None, other_image: Any = None, more: Any = None
) -> tuple[Spec, Subject, Other]:
    """(the spec with its defaults filled in, the first subject, the rest). The rest is the second subject,
    {key: subject} of a grid, or None."""
    public_spec = naming.published_spec(spec)
    image = first_trace.shown if image is None else image
    first = Subject(naming.published_trace(first_trace), image, captions.picture(public_spec.image))
    rest: Other = None
    if more:
        rest = {
            key: Subject(naming.published_trace(trace), picture, captions.picture(naming.published_name(key[0])))
            for key, (trace, picture) in more.items()
        }
        first = rest[next(iter(more))]
    elif other is not None:
        name = captions.picture(public_spec.other_image) if public_spec.other_image else first.name
        rest = Subject(naming.published_trace(other), image if other_image is None else other_image, name)
    return layouts.settled(spec, first_trace), first, rest


class _Sheet:
    """Draws a Content. Lengths are in inches; one em is the size of the type."""

    def __init__(self, spec: Spec, content: Content) -> None:
        self.spec, self.paper, self.theme = spec, spec.paper, THEMES[spec.theme]
        self.font, self.em = self.paper.font, self.paper.font / 72
        self.margin = 1.5 * self.em if self.paper.height else 0.3 * self.em
        self.width = self.paper.width - 2 * self.margin
        room = 0.98 * self.width - 0.5 * self.em
        self.caption = wrapped(content.caption, room, self.small(CAPTION_SIZE)) if spec.caption else []
        caption_height = self.em * (LINE_HEIGHT * CAPTION_SIZE * len(self.caption) + 0.7 * bool(self.caption))
        body, band = content.body, caption_height + 3.2 * self.em * (not spec.way.coloured)
        self.room = (self.paper.height or LARGEST_HEIGHT) - 2 * self.margin - band  # for the body
        self.figure = Drawing(figsize=(self.paper.width, self.paper.height or 1), dpi=spec.dots)
        self.figure.set_facecolor(self.theme.paper)
        self.is_even = False  # whether all panels have one shape: then matplotlib can bring them together
        width, height = self.panels(body) if isinstance(body, Panels) else self.matrix(body)  # what the body needs
        if self.paper.height is None:
            self.figure.set_figheight(height + band + 2 * self.margin)
        total, pad = self.figure.get_figheight(), 0.25 * self.em
        x, y = (self.paper.width - width) / 2 / self.paper.width, (total - height - band) / 2
        rect = (x, (y + caption_height) / total, 1 - 2 * x, (height + band - caption_height) / total)
        self.figure.set_layout_engine(
            ConstrainedLayoutEngine(w_pad=pad, h_pad=pad, wspace=0, hspace=0, rect=rect, compress=self.is_even)
        )
        if not spec.way.coloured:  # colours of features have no bar
            self.colour_bar(content.domain)
        if self.caption:
            x = (self.margin + pad) / self.paper.width
            style: Style = {"fontsize": self.small(CAPTION_SIZE), "linespacing": 1.25, "color": self.theme.ink}
            self.figure.text(x, y / total, "\n".join(self.caption), va="bottom", in_layout=False, **style)

    def small(self, part: float) -> float:
        return small_size(self.font, part)

    # Panels -----------------------------------------------------------------------------------------------------------

    def panels(self, body: Panels) -> tuple[float, float]:
        """Draws the panels and returns the width and the height that they need."""
        rows = body.rows if body.is_table else self.flow([panel for panel in body.rows[0] if panel])
        columns = max(map(len, rows))
        aspects = [max(panel.aspect for row in rows for panel in row[i : i + 1] if panel) for i in range(columns)]
        gap, heading = (0.5, 0.0) if body.is_table else (0.9, self.heading_em(rows))
        left, top = 1.6 * self.em * bool(body.beside), 1.6 * self.em * bool(body.above)
        side = self.side(aspects, len(rows), gap, heading, left, top)
        grid = self.figure.add_gridspec(len(rows), columns, width_ratios=aspects)
        self.body_axes: list[Axes] = []
        for r, row in enumerate(rows):
            for c, panel in enumerate(row):
                if panel is None:
                    continue
                if body.is_table:  # its titles stand above and beside the table
                    panel = replace(panel, heading="", sub="")
                axes = self.figure.add_subplot(grid[r, c])
                self.panel(axes, panel, side * panel.aspect)
                if body.above and r == 0:
                    text, points = fitted(body.above[c], side * aspects[c], self.small(0.9), True)
                    axes.set_title(text, fontsize=points, fontweight="bold", color=self.theme.ink, pad=0.4 * self.font)
                if body.beside and c == int(any(row[0] is None for row in rows)):
                    text, points = fitted(body.beside[r], side, self.small(0.9), True)
                    axes.set_axis_on()
                    axes.set(xticks=[], yticks=[], frame_on=False)
                    style: Style = {"fontsize": points, "fontweight": "bold", "color": self.theme.ink}
                    axes.set_ylabel(text, labelpad=0.3 * self.font, **style)
                self.body_axes.append(axes)
        self.bar_width = left + side * sum(aspects)
        self.is_even = len({panel.aspect for row in rows for panel in row if panel}) == 1
        width = self.width if self.is_even else min(self.width, self.bar_width + columns * gap * self.em)
        return width, min(len(rows) * (side + (heading + gap) * self.em) + top, self.room)

    @staticmethod
    def heading_em(rows: Sequence[Sequence[Panel | None]]) -> float:
        return max(1.1 * bool(panel.heading) + 1.15 * bool(panel.sub) for row in rows for panel in row if panel)

    def side(
        self, aspects: list[float], rows: int, gap: float, heading: float, left: float = 0.0, top: float = 0.0
    ) -> float:
        """The height of a panel."""
        across = (self.width - left - (len(aspects) - 1) * gap * self.em) / sum(aspects)
        return min(across, (self.room - top) / rows - (heading + gap) * self.em)

    def flow(self, panels: list[Panel]) -> list[list[Panel | None]]:
        """The panels in the number of rows that makes them largest; in a paper in as few as their headings allow."""
        count, heading = len(panels), self.heading_em([panels])

        def size(columns: int) -> float:
            side = self.side([panels[0].aspect] * columns, math.ceil(count / columns), 0.9, heading)
            return side * (1 if count % columns == 0 else 0.75)

        if self.paper.height is None:
            most = max(1, min(count, int(self.width / (NARROWEST_PANEL * self.em))))
            columns = math.ceil(count / math.ceil(count / most))
        else:
            columns = max(range(1, count + 1), key=size)
        return [[*panels[i : i + columns]] for i in range(0, count, columns)]

    def panel(self, axes: Axes, panel: Panel, width: float) -> None:
        rows, columns = panel.grid
        patch_pixels = max(1, round(width * STORED_DPI / columns))
        picture = panel.picture((columns * patch_pixels, rows * patch_pixels))
        axes.imshow(np.asarray(picture), extent=(0, columns, rows, 0), interpolation="antialiased", clip_on=False)
        axes.set(xlim=(0, columns), ylim=(rows, 0))
        axes.set_axis_off()
        y = 0.35 * self.font
        if panel.sub:
            text, points = fitted(panel.sub, width, self.small(SUB_SIZE))
            style: Style = {"fontsize": points, "color": self.theme.muted, "annotation_clip": False, "in_layout": False}
            axes.annotate(text, (0, 1), (0, y), "axes fraction", "offset points", **style)
            y += 1.15 * self.font
        if panel.heading:
            text, points = fitted(panel.heading, width, self.font, True)
            style = {"fontsize": points, "fontweight": "bold", "color": self.theme.ink}
            axes.set_title(text, loc="left", pad=y, **style)
        cell = width * 72 / columns  # points
        for first, last, thickness in panel.frames:
            self.frame(axes, first, last, thickness * min(max(width * 72 / 130, 0.7), 3))
        for patch, text, is_needed in panel.numbers:
            self.number(axes, panel.grid, patch, text, cell, is_needed and width > LARGE_MAP)
        line = min(max(min(width * 72 / 170, 0.13 * cell), 0.45), 2.6)
        for patch, ink in panel.marks:
            for colour, points in (("white", 2.4 * line), (ink, 1.3 * line)):
                style = {"edgecolor": colour, "linewidth": points, "zorder": 4, "clip_on": False}
                axes.add_patch(Rectangle(patch[::-1], 1, 1, fill=False, **style))

    def number(self, axes: Axes, grid: Patch, patch: Patch, text: str, cell: float, is_needed: bool) -> None:
        """Writes a number into its patch; beside it, if it is needed and the patch is too small."""
        points = self.small(0.6)
        fits = cell > max(1.2 * points, 72 * text_width(text, points, bold=True) + 1)
        if not fits and not is_needed:
            return
        x, y, align = patch[1] + 0.5, patch[0] + 0.5, "center"
        ink, halo = ("#140a00", "#ffeca0") if fits else ("white", "black")
        if not fits:
            points = self.small(0.75)
            is_left = patch[1] > grid[1] / 2
            x, align = (patch[1] - 0.2, "right") if is_left else (patch[1] + 1.2, "left")
        style: Style = {"ha": align, "va": "center_baseline", "fontweight": "bold", "zorder": 5, "in_layout": False}
        effects = [withStroke(linewidth=0.25 * points, foreground=halo)]
        axes.text(x, y, text, fontsize=points, color=ink, path_effects=effects, **style)

    @staticmethod
    def frame(axes: Axes, first: Patch, last: Patch, points: float) -> None:
        """Outlines the patches from `first` to `last` in the colour of the convolution."""
        (top, left), (bottom, right) = first, (last[0] + 1, last[1] + 1)
        style: Style = {"edgecolor": CONVOLUTION, "linewidth": points, "zorder": 3, "clip_on": False}
        axes.add_patch(Rectangle((left, top), right - left, bottom - top, fill=False, **style))
        if (bottom - top, right - left) <= (3, 3):
            inner = [[(x, top), (x, bottom)] for x in range(left + 1, right)]
            inner += [[(left, y), (right, y)] for y in range(top + 1, bottom)]
            axes.add_collection(LineCollection(inner, colors=CONVOLUTION, linewidths=0.45 * points, zorder=3))

    # A matrix of all heads --------------------------------------------------------------------------------------------

    def matrix(self, body: Matrix) -> tuple[float, float]:
        layers, heads = len(body.cells), len(body.cells[0])
        cell_height, cell_width, _ = body.cells[0][0].shape
        gap = max(2, round(0.04 * cell_height))
        paper_colour = [int(self.theme.paper[i : i + 2], 16) for i in (1, 3, 5)]
        size = layers * (cell_height + gap) - gap, heads * (cell_width + gap) - gap
        sheet = np.full((*size, 3), paper_colour, np.uint8)
        for layer, row in enumerate(body.cells):
            for head, cell in enumerate(row):
                top, left = layer * (cell_height + gap), head * (cell_width + gap)
                sheet[top : top + cell_height, left : left + cell_width] = cell
        photo_width = 0.22 * self.width if body.photo else 0.0
        if self.paper.height is None:
            self.room = min(self.room, (0.75 if self.paper.roomy else 1.3) * self.width)
        width = min(self.width - photo_width - 3 * self.em, (self.room - 3 * self.em) * size[1] / size[0])
        axes = self.figure.add_subplot()
        if body.photo:
            photo_width = max(photo_width, min(0.35 * self.width, self.width - width - 4 * self.em))
            grid = self.figure.add_gridspec(1, 2, width_ratios=(photo_width + self.em, width + 3 * self.em))
            axes.set_subplotspec(grid[0, 1])
            self.panel(self.figure.add_subplot(grid[0, 0], anchor="N"), body.photo, photo_width)
        axes.imshow(sheet, interpolation="antialiased", clip_on=False)
        axes.set_xticks([(head + 0.5) * (cell_width + gap) for head in range(heads)], map(str, range(heads)))
        axes.set_yticks([(layer + 0.5) * (cell_height + gap) for layer in range(layers)], map(str, range(layers)))
        axes.xaxis.set(ticks_position="top", label_position="top")
        style: Style = {"fontsize": self.small(0.8), "fontweight": "bold", "color": self.theme.ink}
        axes.set_xlabel("head", loc="left", **style)
        axes.set_ylabel("layer", loc="top", **style)
        axes.tick_params(length=0, labelsize=self.small(TICK_SIZE), labelcolor=self.theme.muted, pad=0.2 * self.font)
        axes.set_frame_on(False)
        self.body_axes, self.bar_width = [axes], width
        used_width = min(self.width, width + photo_width + (5 if body.photo else 3) * self.em)
        return used_width, min(width * size[0] / size[1] + 3 * self.em, self.room)

    # Around the body --------------------------------------------------------------------------------------------------

    def colour_bar(self, domain: Domain) -> None:
        from matplotlib.cm import ScalarMappable

        share = min(1.0, 15 * self.em / self.bar_width)
        bar = self.figure.colorbar(
            ScalarMappable(), ax=self.body_axes, location="bottom", shrink=share, anchor=(0.0, 1.0), aspect=26,
            pad=0.02, ticks=[0, 0.5, 1],
        )  # fmt: skip
        cast(QuadMesh, bar.solids).set_visible(False)
        bar.ax.imshow(prints.bar(self.spec, domain), extent=(0, 1, 0, 1), aspect="auto", zorder=-1, clip_on=False)
        bar.ax.set_xlim(0, 1)
        bar.outline.set_visible(False)
        for label, align in zip(bar.ax.set_xticklabels(_tick_words(domain)), ("left", "center", "right"), strict=True):
            label.set_horizontalalignment(align)  # type: ignore[arg-type]
        bar.ax.tick_params(length=0, labelsize=self.small(TICK_SIZE), labelcolor=self.theme.muted)
        style: Style = {"fontsize": self.small(TICK_SIZE), "color": self.theme.muted}
        bar.ax.set_title(domain.words, loc="left", pad=0.3 * self.font, **style)


def _tick_words(domain: Domain) -> list[str]:
    """The numbers at the bar's ends and middle. The last one is the exposure: the value drawn brightest."""
    middle = (domain.low * domain.high) ** 0.5 if domain.log else (domain.low + domain.high) / 2
    numbers = [(100 if domain.percent else 1) * x for x in (domain.low, middle, domain.high)]
    low, middle_words, high = (captions.number(x).replace("-", "−") for x in numbers)
    low = f"≤ {low}" if domain.log else low
    return [low, middle_words, f"{'≥ ' if domain.open_end else ''}{high}{' %' if domain.percent else ''}"]
