"""How panels share the room on a sheet. A body says how much room it needs, and is then drawn into a box."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from string import ascii_lowercase
from typing import Protocol

import numpy as np
from matplotlib.axes import Axes
from PIL import Image

from playground.figures.drawing import captions, maps, prints
from playground.figures.drawing.maps import Domain
from playground.figures.drawing.one_map import ShownMap, Subject
from playground.figures.drawing.option_words import OptionError
from playground.figures.drawing.prints import KEY, QUERY
from playground.figures.drawing.sheet import Box, Sheet, fit_facts, fit_heading, small_size
from playground.figures.drawing.spec import Spec
from playground.numbers import bare_share

GAP = 0.9  # em, between panels
GRID_GAP = 0.3  # em, between the panels of a grid
NARROWEST_PANEL = 8.5  # em: the narrowest panel in a paper whose heading still fits
LARGEST_HEIGHT = 7.5  # inches: the largest height of panels in a paper, so that their caption fits on the page too
RAGGED_FACTOR = 0.6  # an arrangement whose last row is not full counts as if its pictures were smaller by this factor


@dataclass(frozen=True)
class Panel:
    heading: str
    sub: str
    grid: tuple[int, int]
    draw: Callable[[Sheet, Axes, Box], None]

    @property
    def aspect(self) -> float:
        return self.grid[1] / self.grid[0]

    def place(self, sheet: Sheet, box: Box, letter: str = "") -> None:
        """Draws the panel's picture into `box`, and above it the heading after the panel's letter."""
        em, y = sheet.font / 72, box.y - 0.5 * sheet.font / 72
        if self.sub:
            sheet.text(box.x, y, *fit_facts(self.sub, box.width, small_size(sheet.font, 0.8)), colour=sheet.theme.muted)
            y -= 1.12 * em
        if self.heading:
            sheet.text(box.x, y, *fit_heading(f"{letter}{self.heading}", box.width, sheet.font, True), bold=True)
        self.draw(sheet, sheet.panel(box, self.grid), box)

    def heading_em(self) -> float:
        return 0.5 + 0.85 * bool(self.heading) + 1.12 * bool(self.sub)


class Body(Protocol):
    """The panels of a figure: they say how much room they need, and are drawn into a box."""

    def size(self, width: float, height: float | None, em: float) -> tuple[float, float]: ...
    def panel_area(self, width: float, height: float | None, em: float) -> float: ...
    def alignment_x(self, width: float, height: float | None, em: float, least_x: float) -> float: ...
    def place(self, sheet: Sheet, box: Box, height: float | None) -> None: ...


class Panels:
    """Pictures of equal height, in the number of rows that makes them largest."""

    def __init__(self, panels: list[Panel]) -> None:
        self.panels = panels

    def arrange(self, width: float, height: float | None, em: float) -> tuple[float, int]:
        """(height of a picture, pictures in a row)."""
        panel_count, heading_height = len(self.panels), max(panel.heading_em() for panel in self.panels) * em
        if height is None:
            most_columns = max(1, min(panel_count, int((width + GAP * em) // (NARROWEST_PANEL * em + GAP * em))))
            rows = math.ceil(panel_count / most_columns)
            columns = math.ceil(panel_count / rows)
            tallest = (LARGEST_HEIGHT - rows * heading_height - (rows - 1) * GAP * em) / rows
            return min(self._widest(width, columns, em), 1.2 * width, tallest), columns
        arrangements = []
        for rows in range(1, panel_count + 1):
            columns = math.ceil(panel_count / rows)
            room = (height - rows * heading_height - (rows - 1) * GAP * em) / rows
            side = min(room, self._widest(width, columns, em))
            is_full = panel_count % columns == 0
            arrangements.append((side if is_full else RAGGED_FACTOR * side, side, columns))
        return max(arrangements)[1:]

    def _widest(self, width: float, columns: int, em: float) -> float:
        rows = self._rows(columns)
        return min((width - (len(row) - 1) * GAP * em) / sum(panel.aspect for panel in row) for row in rows)

    def _rows(self, columns: int) -> list[list[Panel]]:
        return [self.panels[i : i + columns] for i in range(0, len(self.panels), columns)]

    def size(self, width: float, height: float | None, em: float) -> tuple[float, float]:
        side, columns = self.arrange(width, height, em)
        rows = self._rows(columns)
        heading_height = max(panel.heading_em() for panel in self.panels) * em
        total_width = max(side * sum(panel.aspect for panel in row) + (len(row) - 1) * GAP * em for row in rows)
        return total_width, len(rows) * (side + heading_height) + (len(rows) - 1) * GAP * em

    def panel_area(self, width: float, height: float | None, em: float) -> float:
        """The area that the panels fill, in square inches."""
        return math.prod(self.size(width, height, em))

    def alignment_x(self, width: float, height: float | None, em: float, least_x: float) -> float:
        """The left edge of the first panel that begins at `least_x` or farther right, so that words beneath can line up
        with it; 0 if there is none."""
        side, columns = self.arrange(width, height, em)
        x = 0.0
        for panel in self._rows(columns)[0][:-1]:
            x += side * panel.aspect + GAP * em
            if x >= least_x:
                return x
        return 0.0

    def place(self, sheet: Sheet, box: Box, height: float | None) -> None:
        em = sheet.font / 72
        side, columns = self.arrange(box.width, height, em)
        heading_height, y = max(p.heading_em() for p in self.panels) * em, box.y
        letters = iter(ascii_lowercase if sheet.spec.letters else "")
        for row in self._rows(columns):
            x = box.x
            for panel in row:
                letter = next(letters, "")
                panel.place(sheet, Box(x, y + heading_height, side * panel.aspect, side), letter and f"{letter}  ")
                x += side * panel.aspect + GAP * em
            y += side + heading_height + GAP * em


@dataclass(frozen=True)
class Grid:
    """Panels in rows and columns, with a title above each column and a vertical title beside each row. Pictures of
    different shapes have the same height."""

    panels: list[list[Panel]]
    beside: list[str]
    above: list[str]
    picture: Panel | None = None  # the picture that all panels are about, left of the first row, as large as a panel

    def _sides(self, em: float) -> tuple[float, float]:
        """(width of the titles at the left, height of the titles at the top), in inches."""
        return 1.5 * em * bool(self.beside), TITLE_HEIGHT * em * bool(self.above or self.picture)

    def _aspects(self) -> list[float]:
        return [max(panel.aspect for panel in column) for column in zip(*self.panels, strict=True)]

    def _side(self, width: float, height: float | None, em: float) -> float:
        left, top = self._sides(em)
        aspects, gap = self._aspects(), GRID_GAP * em
        room = width - left - (len(aspects) - 1) * gap
        if self.picture:
            aspects, room = [*aspects, self.picture.aspect], room - GAP * em
        row_height = ((LARGEST_HEIGHT if height is None else height) - top - (len(self.panels) - 1) * gap) / len(
            self.panels
        )
        return min(room / sum(aspects), row_height)

    def _picture_width(self, side: float, em: float) -> float:
        """The width of the picture and of the gap after it."""
        return side * self.picture.aspect + GAP * em if self.picture else 0.0

    def size(self, width: float, height: float | None, em: float) -> tuple[float, float]:
        left, top = self._sides(em)
        side, aspects, gap = self._side(width, height, em), self._aspects(), GRID_GAP * em
        total_width = self._picture_width(side, em) + left + side * sum(aspects) + (len(aspects) - 1) * gap
        return total_width, top + len(self.panels) * side + (len(self.panels) - 1) * gap

    def panel_area(self, width: float, height: float | None, em: float) -> float:
        """The area of the panels and the picture, without the empty space below the picture."""
        aspects = sum(self._aspects()) * len(self.panels) + (self.picture.aspect if self.picture else 0.0)
        return self._side(width, height, em) ** 2 * aspects

    def alignment_x(self, width: float, height: float | None, em: float, least_x: float) -> float:
        return 0.0

    def place(self, sheet: Sheet, box: Box, height: float | None) -> None:
        em = sheet.font / 72
        left, top = self._sides(em)
        side, aspects, gap = self._side(box.width, height, em), self._aspects(), GRID_GAP * em
        points, y, grid_left = small_size(sheet.font, 0.9), box.y + top, box.x + self._picture_width(side, em)
        if self.picture:
            draw_with_heading(sheet, self.picture, Box(box.x, y, side * self.picture.aspect, side))
        for row, panels in enumerate(self.panels):
            if self.beside:
                text, size = _title(self.beside[row], side, points)
                vertical_text = {"rotation": 90, "ha": "center", "va": "center", "rotation_mode": "anchor"}
                sheet.text(grid_left + 0.6 * em, y + side / 2, text, size, bold=True, **vertical_text)
            x = grid_left + left
            for column, panel in enumerate(panels):
                column_width = side * aspects[column]
                if row == 0 and self.above:
                    text, size = _title(self.above[column], column_width, points)
                    sheet.text(x + column_width / 2, box.y + top - 0.5 * em, text, size, bold=True, ha="center")
                place = Box(x + (column_width - side * panel.aspect) / 2, y, side * panel.aspect, side)
                panel.draw(sheet, sheet.panel(place, panel.grid), place)
                x += column_width + gap
            y += side + gap


TITLE_HEIGHT = 1.45  # em: the height of a title over a panel of a grid


def draw_with_heading(sheet: Sheet, panel: Panel, box: Box) -> None:
    """Draws a panel with its heading centred above it, as in a grid."""
    text, size = _title(panel.heading, box.width, small_size(sheet.font, 0.9))
    sheet.text(box.x + box.width / 2, box.y - 0.5 * sheet.font / 72, text, size, bold=True, ha="center")
    panel.draw(sheet, sheet.panel(box, panel.grid), box)


def _title(text: str, room: float, points: float) -> tuple[str, float]:
    """(text, font size) of a title; "layer 5" becomes "5" if there is no room for more."""
    title = fit_heading(text, room, points, True)
    number = text.rpartition(" ")[2]
    return fit_heading(number, room, points, True) if "…" in title[0] and number.isdecimal() else title


PICTURE_SHARE = 0.2  # largest share of the width for the picture beside a matrix
TALLEST_ON_PAGE, TALLEST_IN_COLUMN = 0.75, 1.3  # a matrix's largest height / width: on a page, in a column
TURN_GAIN = 1.1  # on a slide, layers become columns only if this makes the cells larger by this factor
TURN_LOSS = 0.65  # in a wide paper, layers become columns if the cells keep this share of their size, to save height
WIDE_PAPER = 4.5  # inches: a paper of at least this width is wide


@dataclass(frozen=True)
class Matrix:
    """A panel with layers downwards and heads to the right, or the other way round on a wide sheet; the picture stands
    beside the panel."""

    layers: int
    heads: int
    aspect: float  # width / height of a cell
    draw: Callable[[Sheet, Axes, int, int, Box], None]  # draws one cell; the box is the whole panel's, in inches
    picture: Panel | None = None

    def _sides(self, em: float) -> tuple[float, float]:
        """(width of the labels at the left, height of the labels at the top), in inches."""
        return 2.3 * em, 2.9 * em

    def _shape(self, is_turned: bool) -> tuple[int, int]:
        """(rows, columns) of the matrix; `is_turned`: layers are columns."""
        return (self.heads, self.layers) if is_turned else (self.layers, self.heads)

    def _fitted(self, width: float, height: float | None, em: float, is_turned: bool) -> tuple[float, float]:
        """(height of a cell, height of the picture), inches."""
        (rows, columns), (left, top) = self._shape(is_turned), self._sides(em)
        if height is None:
            height = min(LARGEST_HEIGHT, (TALLEST_ON_PAGE if width >= WIDE_PAPER else TALLEST_IN_COLUMN) * width)
        room_height = height - top
        room, side = width - left, 0.0
        if self.picture:
            side = min(room_height, PICTURE_SHARE * width / self.picture.aspect)
            room -= side * self.picture.aspect + 1.6 * em
        cell = min(room / (self.aspect * columns), room_height / rows)
        return cell, min(side, cell * rows)

    def _turned(self, width: float, height: float | None, em: float) -> bool:
        if self.heads >= self.layers or (height is None and width < WIDE_PAPER):
            return False
        upright_cell, turned_cell = (self._fitted(width, height, em, is_turned)[0] for is_turned in (False, True))
        return turned_cell > (TURN_LOSS if height is None else TURN_GAIN) * upright_cell

    def panel_area(self, width: float, height: float | None, em: float) -> float:
        cell = self._fitted(width, height, em, self._turned(width, height, em))[0]
        return cell * cell * self.aspect * self.layers * self.heads

    def size(self, width: float, height: float | None, em: float) -> tuple[float, float]:
        is_turned = self._turned(width, height, em)
        (rows, columns), (left, top) = self._shape(is_turned), self._sides(em)
        cell, side = self._fitted(width, height, em, is_turned)
        picture_width = side * self.picture.aspect + 1.6 * em if self.picture else 0
        return left + picture_width + cell * self.aspect * columns, top + cell * rows

    def alignment_x(self, width: float, height: float | None, em: float, least_x: float) -> float:
        if self.picture is None:
            return 0.0
        side = self._fitted(width, height, em, self._turned(width, height, em))[1]
        x = side * self.picture.aspect + 1.6 * em + self._sides(em)[0]
        return x if x >= least_x else 0.0

    def place(self, sheet: Sheet, box: Box, height: float | None) -> None:
        em = sheet.font / 72
        is_turned = self._turned(box.width, height, em)
        (rows, columns), (left, top) = self._shape(is_turned), self._sides(em)
        cell, side = self._fitted(box.width, height, em, is_turned)
        x = box.x
        if self.picture:
            self.picture.place(sheet, Box(x, box.y + top, side * self.picture.aspect, side))
            x += side * self.picture.aspect + 1.6 * em
        area = Box(x + left, box.y + top, cell * self.aspect * columns, cell * rows)
        self._cells(sheet, area, cell, is_turned)
        self._labels(sheet, area, cell, is_turned)

    def _cells(self, sheet: Sheet, area: Box, cell: float, is_turned: bool) -> None:
        axes = sheet.axes(area)
        axes.set_xlim(0, area.width)
        axes.set_ylim(area.height, 0)
        gap = min(0.06 * cell, 0.06)
        for layer in range(self.layers):
            for head in range(self.heads):
                row, column = (head, layer) if is_turned else (layer, head)
                corner = column * cell * self.aspect, row * cell
                self.draw(sheet, axes, layer, head, Box(*corner, cell * self.aspect - gap, cell - gap))

    def _labels(self, sheet: Sheet, area: Box, cell: float, is_turned: bool) -> None:
        em, muted_colour = sheet.font / 72, sheet.theme.muted
        size, (rows, columns) = small_size(sheet.font, 0.72), self._shape(is_turned)
        cell_width, cell_height = self.aspect * cell, cell
        top_word, left_word = ("layer", "head") if is_turned else ("head", "layer")
        sheet.text(area.x, area.y - 1.75 * em, top_word, small_size(sheet.font, 0.8), bold=True)
        text_style = {"rotation": 90, "va": "top", "ha": "center"}
        sheet.text(area.x - 1.75 * em, area.y, left_word, small_size(sheet.font, 0.8), bold=True, **text_style)
        for column in range(0, columns, _step(1.8 * em, cell_width)):
            x = area.x + (column + 0.48) * cell_width
            sheet.text(x, area.y - 0.5 * em, str(column), size, colour=muted_colour, ha="center")
        for row in range(0, rows, _step(1.1 * em, cell_height)):
            y = area.y + (row + 0.48) * cell_height + 0.27 * em
            sheet.text(area.x - 0.45 * em, y, str(row), size, colour=muted_colour, ha="right")


def _step(least_pitch: float, pitch: float) -> int:
    """The smallest n for which labels don't touch if every n-th is written."""
    return next(n for n in (1, 2, 4, 5, 10, 20, 50, 1000) if n * pitch >= least_pitch)


# The panels of layouts: a map, its picture, what a convolution reads.


ROOMY_WIDTH = (
    1.2  # inches: in a wider map, the largest clipped number is written beside its patch if it does not fit inside
)


def map_panel(panel: ShownMap, domain: Domain, heading: str = "", sub: str = "", is_small: bool = False) -> Panel:
    """The panel of a map. `is_small`: whether the map is small and the photograph is also shown by itself."""
    spec, subject, map_ = panel.spec, panel.subject, panel.map
    is_asking_here = panel.one.asker is None and spec.asks  # the query is a patch of this picture
    patch = maps.patch_of(subject.seen, spec.query) if is_asking_here else None

    def draw(sheet, axes, box) -> None:
        if map_.parts is not None:
            sheet.print(axes, subject.image, box, partial(prints.photo_with_parts, parts=map_.parts))
            return
        if map_.colours is not None:
            sheet.layer(axes, Image.fromarray(map_.colours))
            return
        is_heat = is_small and spec.over == "photo" and not (prints.is_lit(spec) or spec.mask)
        background = prints.pale(subject.image) if is_heat else subject.image
        sheet.print(axes, background, box, partial(prints.photo_with_map, grid=map_.grid, spec=spec, domain=domain))
        if prints.has_outline(spec):
            sheet.outline(axes, prints.outline(map_.grid, spec), box)
        clipped_patches = sorted(maps.clipped_patches(map_, domain), key=lambda place: -map_.grid[place])
        write_value = bare_share if domain.percent else captions.number
        values = {place: write_value(float(map_.grid[place])) for place in clipped_patches}
        labelled_patches = [
            place for place in clipped_patches if place != patch and sheet.number(axes, place, box, values[place])
        ]
        # If smaller numbers are written, the largest must be written too: else another would seem to be the largest.
        if (
            clipped_patches
            and clipped_patches[0] not in labelled_patches
            and (labelled_patches or box.width > ROOMY_WIDTH)
        ):
            sheet.number_beside(
                axes, clipped_patches[0], box, values[clipped_patches[0]] + " %" * domain.percent, map_.grid, patch
            )
        for place in maps.peaks(map_, domain):
            text = captions.signed(float(map_.grid[place]), domain.percent)
            if not sheet.number(axes, place, box, text) and box.width > ROOMY_WIDTH:
                sheet.number_beside(axes, place, box, text, np.abs(map_.grid), None)
        sheet.mark(axes, patch, box, colour=KEY if spec.direction == "column" else QUERY)

    return Panel(heading, sub, subject.seen.grid, draw)


def photo_panel(spec: Spec, subject: Subject) -> Panel:
    """The picture; if the figure has a query, the query's patch is outlined."""
    if spec.query is None or not spec.asks:
        return Panel("picture", subject.name if spec.image else "", subject.seen.grid, partial(_photo, subject, None))
    patch = maps.patch_of(subject.seen, spec.query)
    heading, colour = ("query", QUERY) if spec.direction == "row" else ("key", KEY)
    draw_picture = partial(_photo, subject, patch, colour=colour)
    return Panel(heading, captions.query_phrase(spec.query), subject.seen.grid, draw_picture)


def _photo(subject: Subject, patch, sheet, axes, box, colour=QUERY) -> None:
    sheet.photo(axes, subject.image, box)
    sheet.mark(axes, patch, box, colour=colour)


def kernel_panel(spec: Spec, subject: Subject) -> Panel:
    patch, grid, kernel = maps.patch_of(subject.seen, spec.query), subject.seen.grid, spec.kernel
    if patch is None:
        raise OptionError("A convolution has no {!r} token: choose a patch, such as {query:7,5}.", spec.query)
    depth = spec.layer + 1 if spec.depth == "follow" else int(spec.depth)
    kernel_cells = maps.neighbourhood(*patch, grid, kernel)
    reach_cells = maps.neighbourhood(*patch, grid, depth * (kernel - 1) + 1)

    def draw(sheet, axes, box) -> None:
        draw_reach = partial(prints.read_by_convolution, grid=grid, patch=patch, kernel=kernel, depth=depth)
        sheet.print(axes, subject.image, box, draw_reach)
        if depth > 1:
            sheet.field(axes, reach_cells, box)
        sheet.kernel(axes, kernel_cells, box)
        sheet.mark(axes, patch, box)

    reach_words = "" if depth == 1 else f" ({depth} layers: {len(reach_cells)})"
    sub = f"reads {len(kernel_cells)} of {grid[0] * grid[1]} patches{reach_words}"
    return Panel(f"{kernel}×{kernel} convolution", sub, grid, draw)


def has_room(spec: Spec, panels: int, aspect: float) -> bool:
    """Whether the picture by itself fits beside the panels without making them too small."""
    if not spec.made_for.roomy:
        return spec.purpose == "half" and panels == 1 and aspect > 2.5  # the picture then stands above the map
    return panels == 1 or not spec.made_for.height or aspect < 1.25
