"""The sheet that a figure is drawn on: its size, its type, its panels. Lengths are inches, y goes down from the top."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Rectangle
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D, Bbox
from PIL import Image

from playground.figures.spec import Spec

FONT = "DejaVu Sans"  # comes with matplotlib: the same figure on every machine
CONVOLUTION = "#56B4E9"
VECTOR_DPI = 220  # of the photograph inside an SVG or PDF
CELL = 16  # pixels of a patch there: readers that smooth small images blur no more than a sixteenth of it

_turn = threading.RLock()  # matplotlib's settings belong to the whole process


@contextmanager
def house_style() -> Iterator[None]:
    """matplotlib as it comes, whatever a person's own settings are: the same spec gives the same pixels."""
    ours = {
        "font.family": FONT,
        "text.hinting": "no_hinting",  # a line is as long in pixels as it is in points
        "svg.fonttype": "none",  # text stays text
        "svg.hashsalt": "attention-playground",
        "pdf.fonttype": 42,  # whole TrueType outlines, embedded
    }
    skipped = ("backend", "toolbar", "interactive", "timezone")
    plain = {key: value for key, value in matplotlib.rcParamsDefault.items() if not key.startswith(skipped)}
    with _turn, matplotlib.rc_context(plain | ours):
        yield


@dataclass(frozen=True)
class Theme:
    paper: str
    ink: str
    muted: str
    line: str


THEMES = {
    "light": Theme("#ffffff", "#14141a", "#5d5f69", "#d5d6db"),
    "dark": Theme("#0e1117", "#fafafa", "#a9adb8", "#3a3d47"),
}


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float


@lru_cache(maxsize=4096)
def text_width(text: str, points: float, bold: bool = False) -> float:
    """Inches."""
    font = FontProperties(family=FONT, weight="bold" if bold else "normal")
    return TextPath((0, 0), text, size=points, prop=font).get_extents().x1 / 72 if text.strip() else 0.0


def wrap(text: str, width: float, points: float) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer, points) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def fitting(text: str, width: float, points: float, bold: bool = False) -> float:
    """The size of type at which this fits: a heading shrinks instead of being cut off."""
    return points * min(1.0, 0.97 * width / max(text_width(text, points, bold), 1e-9))


class Drawing(Figure):
    """A matplotlib figure that a notebook shows by itself, and that knows what it shows."""

    spec: Spec
    facts: dict[str, str]  # see playground/figures/provenance.py

    def _repr_png_(self) -> bytes:
        out = io.BytesIO()
        with house_style():
            self.savefig(out, format="png", dpi=self.spec.dots)
        return out.getvalue()


class Sheet:
    def __init__(self, spec: Spec, height: float | None = None) -> None:
        self.spec, self.theme, self.font = spec, THEMES[spec.theme], spec.made_for.font
        if spec.transparent:  # the background is unknown, and grey text may vanish on it
            self.theme = replace(self.theme, muted=self.theme.ink)
        self.width, self.height = spec.made_for.width, spec.made_for.height or height
        self.figure = Drawing(figsize=(self.width, self.height), dpi=spec.dots)
        self.figure.set_facecolor("none" if spec.transparent else self.theme.paper)
        self._photos: dict[int, Shared] = {}

    def axes(self, box: Box) -> Axes:
        """Without frame or ticks; edges on whole pixels, so that nothing beside them shines through."""
        dots = self.spec.dots
        left, right = (round(x * dots) / dots for x in (box.x, box.x + box.width))
        top, bottom = (round(y * dots) / dots for y in (box.y, box.y + box.height))
        place = (left / self.width, 1 - bottom / self.height, (right - left) / self.width, (bottom - top) / self.height)
        axes = self.figure.add_axes(place)
        axes.set_axis_off()
        axes.patch.set_visible(False)
        return axes

    def panel(self, box: Box, grid: tuple[int, int]) -> Axes:
        """One unit is one patch; (0, 0) is the picture's upper left corner."""
        axes = self.axes(box)
        axes.set_xlim(0, grid[1])
        axes.set_ylim(grid[0], 0)
        return axes

    def photo(self, axes: Axes, image: Image.Image, box: Box) -> None:
        """The picture over the whole panel. However many panels show it, it is one array, which a PDF holds once."""
        if id(image) not in self._photos:
            width, height = (max(1, round(side * VECTOR_DPI)) for side in (box.width, box.height))
            small = image.copy() if image.width <= width else image.resize((width, height), Image.Resampling.LANCZOS)
            self._photos[id(image)] = Shared(image, _bottom_up(small))
        axes.add_artist(Pixels(self._photos[id(image)], _extent(axes), Image.Resampling.LANCZOS, zorder=1))

    def layer(self, axes: Axes, rgba: np.ndarray, extent: tuple[float, float, float, float] | None = None) -> None:
        """Coloured patches over the panel, or over a part of it: (left, top, right, bottom)."""
        image = Image.fromarray(rgba)
        method = Image.Resampling.BILINEAR if self.spec.smooth else Image.Resampling.NEAREST
        step = 1 if self.spec.smooth else max(1, min(CELL, 512 // max(image.size)))
        large = image.resize((image.width * step, image.height * step), Image.Resampling.NEAREST)
        axes.add_artist(Pixels(Shared(image, _bottom_up(large)), extent or _extent(axes), method, zorder=2))

    def mark(self, axes: Axes, patch: tuple[int, int] | None, box: Box, at: tuple[float, float] = (0, 0)) -> None:
        """White on black, so that it shows on anything. `at` is where the map's corner lies in the panel."""
        if patch is None or not self.spec.marker:
            return
        width = min(max(box.width * 72 / 170, 0.45), 2.6)
        x, y = at[0] + patch[1], at[1] + patch[0]
        for colour, points in (("black", 2.4 * width), ("white", width)):
            outline = Rectangle((x, y), 1, 1, fill=False, edgecolor=colour, linewidth=points, zorder=4, clip_on=False)
            axes.add_patch(outline)

    def kernel(self, axes: Axes, cells: list[tuple[int, int]], box: Box) -> None:
        """What a convolution reads: its cells, outlined."""
        top, left = cells[0]
        bottom, right = cells[-1][0] + 1, cells[-1][1] + 1
        width = min(max(box.width * 72 / 130, 0.7), 3)
        inner = [[(x, top), (x, bottom)] for x in range(left + 1, right)]
        inner += [[(left, y), (right, y)] for y in range(top + 1, bottom)]
        axes.add_collection(LineCollection(inner, colors=CONVOLUTION, linewidths=0.45 * width, zorder=3))
        frame = Rectangle((left, top), right - left, bottom - top, fill=False, zorder=3, clip_on=False)
        frame.set(edgecolor=CONVOLUTION, linewidth=width, joinstyle="miter")
        axes.add_patch(frame)

    def text(self, x: float, y: float, text: str, points: float, *, bold=False, colour=None, **how) -> None:
        """With its baseline at y."""
        place = (x / self.width, 1 - y / self.height)
        style = {"fontsize": points, "fontweight": "bold" if bold else "normal", "va": "baseline", "family": FONT}
        self.figure.text(*place, text, color=colour or self.theme.ink, **(style | how))


# Pixels ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shared:
    image: Image.Image
    stored: np.ndarray  # (height, width, 4) bytes for a vector file, upside down as matplotlib wants it


class Pixels(Artist):
    """An image in a panel. Where pixels are the result, it is resampled to exactly those that it covers; into SVG and
    PDF goes the shared array itself, which matplotlib's PDF recognises by its identity and stores once."""

    def __init__(self, shared: Shared, extent: tuple[float, float, float, float], method, zorder: float) -> None:
        super().__init__()
        self.shared, self.extent, self.method = shared, extent, method
        self.set_zorder(zorder)

    def get_window_extent(self, renderer=None) -> Bbox:
        left, top, right, bottom = self.extent
        return Bbox.from_extents(*self.axes.transData.transform([(left, bottom), (right, top)]).flat)

    def draw(self, renderer) -> None:
        box = self.get_window_extent()
        gc = renderer.new_gc()
        if renderer.option_scale_image():
            whole = Affine2D().scale(box.width, box.height)
            renderer.draw_image(gc, box.x0, box.y0, self.shared.stored, whole)
        else:
            left, bottom, right, top = (round(edge) for edge in box.extents)
            size = (max(1, right - left), max(1, top - bottom))
            renderer.draw_image(gc, left, bottom, _bottom_up(self.shared.image.resize(size, self.method)))
        gc.restore()


def _bottom_up(image: Image.Image) -> np.ndarray:
    return np.asarray(image.convert("RGBA"))[::-1].copy()


def _extent(axes: Axes) -> tuple[float, float, float, float]:
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    return left, top, right, bottom
