"""How panels share the room on a sheet. A body says how high it would like to be, and is then put into a box."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from string import ascii_lowercase

from matplotlib.axes import Axes

from playground.figures.sheet import Box, Sheet, fitting, fitting_words, small

GAP = 0.9  # em, between panels
CLOSE = 0.3  # em, between the panels of a grid
NARROW = 8.5  # em, of a panel in a paper: its heading still fits
HIGHEST = 7.5  # inches, of the panels of a figure in a paper: with its caption it stays on a page
RAGGED = 0.6  # a last row with a hole in it has to make the pictures so much larger


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
        """`box` is the picture's; the heading stands over it, behind the panel's letter."""
        em, y = sheet.font / 72, box.y - 0.5 * sheet.font / 72
        if self.sub:
            sheet.text(box.x, y, *fitting_words(self.sub, box.width, small(sheet.font, 0.8)), colour=sheet.theme.muted)
            y -= 1.12 * em
        if self.heading:
            sheet.text(box.x, y, *fitting(f"{letter}{self.heading}", box.width, sheet.font, True), bold=True)
        self.draw(sheet, sheet.panel(box, self.grid), box)

    def heading_em(self) -> float:
        return 0.5 + 0.85 * bool(self.heading) + 1.12 * bool(self.sub)


class Panels:
    """Pictures of one height, in as many rows as make them largest."""

    def __init__(self, panels: list[Panel]) -> None:
        self.panels = panels

    def arrange(self, width: float, height: float | None, em: float) -> tuple[float, int]:
        """(height of a picture, pictures in a row)."""
        n, head = len(self.panels), max(p.heading_em() for p in self.panels) * em
        if height is None:
            most = max(1, min(n, int((width + GAP * em) // (NARROW * em + GAP * em))))
            rows = math.ceil(n / most)
            columns = math.ceil(n / rows)
            tallest = (HIGHEST - rows * head - (rows - 1) * GAP * em) / rows
            return min(self._widest(width, columns, em), 1.2 * width, tallest), columns
        options = []
        for rows in range(1, n + 1):
            columns = math.ceil(n / rows)
            room = (height - rows * head - (rows - 1) * GAP * em) / rows
            side = min(room, self._widest(width, columns, em))
            full = n % columns == 0
            options.append((side if full else RAGGED * side, side, columns))
        return max(options)[1:]

    def _widest(self, width: float, columns: int, em: float) -> float:
        rows = self._rows(columns)
        return min((width - (len(row) - 1) * GAP * em) / sum(p.aspect for p in row) for row in rows)

    def _rows(self, columns: int) -> list[list[Panel]]:
        return [self.panels[i : i + columns] for i in range(0, len(self.panels), columns)]

    def size(self, width: float, height: float | None, em: float) -> tuple[float, float]:
        side, columns = self.arrange(width, height, em)
        rows = self._rows(columns)
        head = max(p.heading_em() for p in self.panels) * em
        wide = max(side * sum(p.aspect for p in row) + (len(row) - 1) * GAP * em for row in rows)
        return wide, len(rows) * (side + head) + (len(rows) - 1) * GAP * em

    def stop(self, width: float, height: float | None, em: float, least: float) -> float:
        """Where a panel begins, `least` from the left or farther: what stands beneath lines up with it. 0: nowhere."""
        side, columns = self.arrange(width, height, em)
        x = 0.0
        for panel in self._rows(columns)[0][:-1]:
            x += side * panel.aspect + GAP * em
            if x >= least:
                return x
        return 0.0

    def place(self, sheet: Sheet, box: Box, height: float | None) -> None:
        em = sheet.font / 72
        side, columns = self.arrange(box.width, height, em)
        head, y = max(p.heading_em() for p in self.panels) * em, box.y
        letters = iter(ascii_lowercase if sheet.spec.letters else "")
        for row in self._rows(columns):
            x = box.x
            for panel in row:
                letter = next(letters, "")
                panel.place(sheet, Box(x, y + head, side * panel.aspect, side), letter and f"{letter}  ")
                x += side * panel.aspect + GAP * em
            y += side + head + GAP * em


@dataclass(frozen=True)
class Grid:
    """Panels in rows and columns, with a title for each row, turned, and for each column. Pictures of different shapes
    have the same height."""

    panels: list[list[Panel]]
    beside: list[str]
    above: list[str]

    def _sides(self, em: float) -> tuple[float, float]:
        """(left titles, top titles), inches."""
        return 1.5 * em * bool(self.beside), 1.45 * em * bool(self.above)

    def _aspects(self) -> list[float]:
        return [max(panel.aspect for panel in column) for column in zip(*self.panels, strict=True)]

    def _side(self, width: float, height: float | None, em: float) -> float:
        left, top = self._sides(em)
        aspects, gap = self._aspects(), CLOSE * em
        wide = (width - left - (len(aspects) - 1) * gap) / sum(aspects)
        high = ((HIGHEST if height is None else height) - top - (len(self.panels) - 1) * gap) / len(self.panels)
        return min(wide, high)

    def size(self, width: float, height: float | None, em: float) -> tuple[float, float]:
        left, top = self._sides(em)
        side, aspects, gap = self._side(width, height, em), self._aspects(), CLOSE * em
        wide = left + side * sum(aspects) + (len(aspects) - 1) * gap
        return wide, top + len(self.panels) * side + (len(self.panels) - 1) * gap

    def stop(self, width: float, height: float | None, em: float, least: float) -> float:
        return 0.0

    def place(self, sheet: Sheet, box: Box, height: float | None) -> None:
        em = sheet.font / 72
        left, top = self._sides(em)
        side, aspects, gap = self._side(box.width, height, em), self._aspects(), CLOSE * em
        points, y = small(sheet.font, 0.9), box.y + top
        for row, panels in enumerate(self.panels):
            if self.beside:
                text, size = _title(self.beside[row], side, points)
                turned = {"rotation": 90, "ha": "center", "va": "center", "rotation_mode": "anchor"}
                sheet.text(box.x + 0.6 * em, y + side / 2, text, size, bold=True, **turned)
            x = box.x + left
            for column, panel in enumerate(panels):
                wide = side * aspects[column]
                if row == 0 and self.above:
                    text, size = _title(self.above[column], wide, points)
                    sheet.text(x + wide / 2, box.y + top - 0.5 * em, text, size, bold=True, ha="center")
                place = Box(x + (wide - side * panel.aspect) / 2, y, side * panel.aspect, side)
                panel.draw(sheet, sheet.panel(place, panel.grid), place)
                x += wide + gap
            y += side + gap


def _title(text: str, room: float, points: float) -> tuple[str, float]:
    """ "layer 5" is "5" where there is no room for more."""
    said = fitting(text, room, points, True)
    number = text.rpartition(" ")[2]
    return fitting(number, room, points, True) if "…" in said[0] and number.isdecimal() else said


@dataclass(frozen=True)
class Matrix:
    """Layers downwards, heads to the right, in one panel; beside it the picture."""

    layers: int
    heads: int
    aspect: float  # of a cell, width / height
    draw: Callable[[Sheet, Axes, int, int, Box], None]  # one cell; its box is in inches of the panel
    picture: Panel | None = None  # to the left, as high as the matrix

    def _sides(self, em: float) -> tuple[float, float]:
        """(left labels, top labels), inches."""
        return 2.3 * em, 2.9 * em

    def _cell_height(self, width: float, height: float | None, em: float) -> float:
        left, top = self._sides(em)
        room = width - left - (1.6 * em if self.picture else 0)
        wide = self.aspect * self.heads + (self.picture.aspect * self.layers if self.picture else 0)
        cell = room / wide
        return min(cell, ((HIGHEST if height is None else height) - top) / self.layers)

    def size(self, width: float, height: float | None, em: float) -> tuple[float, float]:
        left, top = self._sides(em)
        cell = self._cell_height(width, height, em)
        high = cell * self.layers
        beside = high * self.picture.aspect + 1.6 * em if self.picture else 0
        return left + beside + cell * self.aspect * self.heads, top + high

    def stop(self, width: float, height: float | None, em: float, least: float) -> float:
        if self.picture is None:
            return 0.0
        high = self._cell_height(width, height, em) * self.layers
        x = high * self.picture.aspect + 1.6 * em + self._sides(em)[0]
        return x if x >= least else 0.0

    def place(self, sheet: Sheet, box: Box, height: float | None) -> None:
        em = sheet.font / 72
        left, top = self._sides(em)
        cell = self._cell_height(box.width, height, em)
        high, x = cell * self.layers, box.x
        if self.picture:
            self.picture.place(sheet, Box(x, box.y + top, high * self.picture.aspect, high))
            x += high * self.picture.aspect + 1.6 * em
        area = Box(x + left, box.y + top, cell * self.aspect * self.heads, high)
        self._cells(sheet, area, cell)
        self._labels(sheet, area, cell)

    def _cells(self, sheet: Sheet, area: Box, cell: float) -> None:
        axes = sheet.axes(area)
        axes.set_xlim(0, area.width)
        axes.set_ylim(area.height, 0)
        gap = min(0.06 * cell, 0.06)
        for layer in range(self.layers):
            for head in range(self.heads):
                corner = head * cell * self.aspect, layer * cell
                self.draw(sheet, axes, layer, head, Box(*corner, cell * self.aspect - gap, cell - gap))

    def _labels(self, sheet: Sheet, area: Box, cell: float) -> None:
        em, muted = sheet.font / 72, sheet.theme.muted
        size = small(sheet.font, 0.72)
        across, down = self.aspect * cell, cell
        sheet.text(area.x, area.y - 1.75 * em, "head", small(sheet.font, 0.8), bold=True)
        sheet.text(
            area.x - 1.75 * em, area.y, "layer", small(sheet.font, 0.8), bold=True, rotation=90, va="top", ha="center"
        )
        for head in range(0, self.heads, _step(1.8 * em, across)):
            sheet.text(area.x + (head + 0.48) * across, area.y - 0.5 * em, str(head), size, colour=muted, ha="center")
        for layer in range(0, self.layers, _step(1.1 * em, down)):
            y = area.y + (layer + 0.48) * down + 0.27 * em
            sheet.text(area.x - 0.45 * em, y, str(layer), size, colour=muted, ha="right")


def _step(needed: float, given: float) -> int:
    """Every n-th label is written: the smallest n with which they don't touch."""
    return next(n for n in (1, 2, 4, 5, 10, 20, 50, 1000) if n * given >= needed)
