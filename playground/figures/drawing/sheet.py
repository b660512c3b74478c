"""The sheet that a figure is drawn on: its size, its type, its panels. Lengths are inches, y goes down from the top."""

from __future__ import annotations

import io
import math
import os
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path as FilePath

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import ConnectionPatch, PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Affine2D, Bbox
from PIL import Image

from playground.figures.drawing import fonts
from playground.figures.drawing.prints import CONVOLUTION, QUERY, THEMES
from playground.figures.drawing.spec import Spec

SMALLEST_FONT = 6.0  # points: what a journal prints legibly
VECTOR_DPI = 220  # dots per inch of the photograph inside an SVG or PDF
PATCH_PIXELS = (
    16  # pixels of a patch without photograph, so that a viewer that smooths images blurs only a sixteenth of it
)
OUTLINE_COLOUR = "#fff3c8"  # as on the screen (microscope/drawing/light.js)

SHAPES = {  # plotly's name of a marker, as in playground/analysis/heads.py -> matplotlib's name
    "star": "*", "triangle-left": "<", "circle": "o", "square": "s", "diamond": "D", "circle-open": "o",
    "hexagon": "H", "x-thin-open": "x", "cross": "P",
}  # fmt: skip

_settings_lock = threading.RLock()  # matplotlib's settings are global: one thread may use them at a time


@contextmanager
def house_style(font: str | None = None) -> Iterator[None]:
    """matplotlib's defaults and our fonts, not the user's settings: so the same spec gives the same pixels."""
    our_settings = {
        "font.family": fonts.families(font),
        "text.hinting": "no_hinting",  # hinting would change the length of a line
        "svg.fonttype": "none",  # text is not turned into outlines
        "svg.hashsalt": "attention-playground",
        "pdf.fonttype": 42,  # whole TrueType outlines, embedded
    }
    skipped_prefixes = ("backend", "toolbar", "interactive", "timezone")
    defaults = {key: value for key, value in matplotlib.rcParamsDefault.items() if not key.startswith(skipped_prefixes)}
    with _settings_lock, matplotlib.rc_context(defaults | our_settings):
        yield


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float


def small_size(font: float, part: float) -> float:
    """A smaller font size, in points, that is still legible."""
    return max(SMALLEST_FONT, part * font)


def text_width(text: str, points: float, bold: bool = False) -> float:
    """The text's width in the font of the house style, in inches."""
    return points * fonts.width(fonts.writable(text), bold, tuple(fonts.fonts_for(text))) / 72


def wrap(text: str, width: float, points: float) -> list[str]:
    lines = [""]
    for word in re.findall(r"\d+ × \d+\S*|\S+ %\S*|\S+", text):  # "4 × 4" and "7 %" stay on one line
        longer_line = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer_line, points) > width:
            lines.append(word)
        else:
            lines[-1] = longer_line
    return lines


def fit_heading(text: str, width: float, points: float, bold: bool = False) -> tuple[str, float]:
    """(text, font size) that fit the width: a heading first shrinks a little, then loses its middle, where file names
    differ least."""
    room = 0.97 * width
    size = max(points * min(1.0, room / max(text_width(text, points, bold), 1e-9)), 0.8 * points, SMALLEST_FONT)
    half_length = len(text) // 2
    full_text = text
    while half_length > 1 and text_width(text, size, bold) > room * (1 + 1e-6):
        half_length -= 1
        text = f"{full_text[:half_length].rstrip()}…{full_text[-half_length:].lstrip()}"
    return text, size


def fit_facts(text: str, width: float, points: float) -> tuple[str, float]:
    """Like `fit_heading`, for a line of facts: it loses whole facts, the last one first."""
    while text_width(text, max(0.8 * points, SMALLEST_FONT)) > 0.97 * width:
        shorter_text = re.sub(r"(, (?=[^\d\W])| \()((?!, [^\d\W]| \().)*$", "", text)  # "patch 3, 4" is one fact
        if shorter_text == text:
            shorter_text = re.sub(r"^about |(?<=\d) tokens$", "", text, count=1)  # "about 46 tokens" keeps its number
        if shorter_text == text:
            break
        text = shorter_text
    return fit_heading(text, width, points)


NOTEBOOK_PIXELS = 900  # the width of a figure in a notebook


class Drawing(Figure):
    """A matplotlib figure that a notebook displays, with its spec and facts about its origin."""

    spec: Spec
    facts: dict[str, str]  # see playground/figures/provenance.py
    metadata: Callable[[str, str], dict]  # (kind of file, name) -> metadata about the figure's origin

    def savefig(self, file, **options) -> None:
        """Like matplotlib's savefig, but always in the house style: a PDF gets TrueType fonts, an SVG real text, and
        the file gets `self.metadata` unless the option `metadata` is given."""
        path = FilePath(file) if isinstance(file, str | os.PathLike) else None
        kind = options.get("format") or (path.suffix[1:].lower() if path else "") or "png"
        if "metadata" not in options:
            options["metadata"] = self.metadata(kind, path.name if path else f"figure.{kind}")
        with house_style(self.spec.font), self._legible(kind):
            super().savefig(file, **options)

    @property
    def lacking(self) -> str:
        """The letters that no font here has."""
        with house_style(self.spec.font):
            return fonts.lacking_letters("".join(text.get_text() for text in self.texts))

    @contextmanager
    def _legible(self, kind: str) -> Iterator[None]:
        """Replaces letters that no font here has while a file is written. An SVG keeps them, since its reader may have
        a font for them."""
        words_of_text = {text: text.get_text() for text in self.texts}
        for text, words in words_of_text.items():
            text.set_text(fonts.printable(words) if kind == "svg" else fonts.writable(words))
            if kind == "pdf" and fonts.has_cubic_outlines(text.get_fontfamily()):
                matplotlib.rcParams["pdf.fonttype"] = 3
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Glyph .* missing")
                yield
        finally:
            for text, words in words_of_text.items():
                text.set_text(words)

    def _repr_png_(self) -> bytes:
        """A PNG that is no wider than a notebook's cell."""
        out = io.BytesIO()
        self.savefig(out, format="png", dpi=min(self.spec.dots, NOTEBOOK_PIXELS / self.get_figwidth()))
        return out.getvalue()


class Sheet:
    def __init__(self, spec: Spec, height: float | None = None) -> None:
        self.spec, self.theme, self.font = spec, THEMES[spec.theme], spec.made_for.font
        if spec.transparent:  # grey text may vanish on an unknown background
            self.theme = replace(self.theme, muted=self.theme.ink)
        self.width, self.height = spec.made_for.width, spec.made_for.height or height
        self.figure = Drawing(figsize=(self.width, self.height), dpi=spec.dots)
        self.figure.set_facecolor("none" if spec.transparent else self.theme.paper)
        self._photos: dict[int, Picture] = {}

    def axes(self, box: Box) -> Axes:
        """Axes without frame or ticks. Their edges lie on whole pixels, so that no seam shows."""
        dots = self.spec.dots
        left, right = (round(x * dots) / dots for x in (box.x, box.x + box.width))
        top, bottom = (round(y * dots) / dots for y in (box.y, box.y + box.height))
        place = (left / self.width, 1 - bottom / self.height, (right - left) / self.width, (bottom - top) / self.height)
        axes = self.figure.add_axes(place)
        axes.set_axis_off()
        axes.patch.set_visible(False)
        return axes

    def panel(self, box: Box, grid: tuple[int, int]) -> Axes:
        """Axes in units of patches; (0, 0) is the picture's upper left corner."""
        axes = self.axes(box)
        axes.set_xlim(0, grid[1])
        axes.set_ylim(grid[0], 0)
        return axes

    def photo(self, axes: Axes, image: Image.Image, box: Box) -> None:
        """Draws the picture over the whole panel. All panels with the same picture share one array, which a PDF stores
        once."""
        if id(image) not in self._photos:
            self._photos[id(image)] = Picture(_scaler(image), _stored_size(image, box))
        axes.add_artist(Pixels(self._photos[id(image)], _extent(axes), zorder=1))

    def print(
        self, axes: Axes, image: Image.Image, box: Box, add_numbers: Callable[[Image.Image], Image.Image]
    ) -> None:
        """Draws the picture with the heat or light that `add_numbers` adds when the final size is known."""
        size = tuple(max(1, round(side * (self.spec.dpi or VECTOR_DPI))) for side in (box.width, box.height))
        scale_to = _scaler(image)
        axes.add_artist(Pixels(Picture(lambda size: add_numbers(scale_to(size)), size), _extent(axes), zorder=2))

    def layer(self, axes: Axes, image: Image.Image, extent: tuple[float, float, float, float] | None = None) -> None:
        """Draws coloured patches over the panel, or over a part of it: (left, top, right, bottom)."""
        step = max(1, min(PATCH_PIXELS, 512 // max(image.size)))
        size = (image.width * step, image.height * step)
        picture = Picture(lambda size: image.resize(size, Image.Resampling.NEAREST), size)
        axes.add_artist(Pixels(picture, extent or _extent(axes), zorder=2))

    def outline(self, axes: Axes, paths: list[np.ndarray], box: Box, colour=OUTLINE_COLOUR, dashes="-") -> None:
        """Draws closed lines of points (row, column) around sets of patches."""
        vertices, codes = [], []
        for path in paths:
            points = path[:, ::-1]
            midpoints = (points + np.roll(points, -1, 0)) / 2
            vertices.append(midpoints[-1])
            codes.append(Path.MOVETO)
            for point, middle in zip(points, midpoints, strict=True):
                vertices += [point, middle]
                codes += [Path.CURVE3, Path.CURVE3]
            vertices.append(midpoints[-1])
            codes.append(Path.CLOSEPOLY)
        if not vertices:
            return
        width = min(max(box.width * 72 / 260, 0.4), 1.8)
        for edge, points, style in (((0, 0, 0, 0.55), 2.2 * width, "-"), (colour, width, dashes)):
            line_patch = PathPatch(Path(vertices, codes), fill=False, edgecolor=edge, linewidth=points, zorder=3)
            line_patch.set_linestyle(style)
            line_patch.set(clip_on=False, joinstyle="round")
            axes.add_patch(line_patch)

    def mark(self, axes: Axes, patch: tuple[int, int] | None, box: Box, colour: str = QUERY, halo="white") -> None:
        """Outlines a patch in the colour of queries or keys, with white around it so that it is visible on any
        picture."""
        if patch is None or not self.spec.marker:
            return
        width = min(max(min(box.width * 72 / 170, 0.13 * _cell(axes, box)), 0.45), 2.6)
        for edge, points in ((halo, 2.4 * width), (colour, 1.3 * width)):
            place = (patch[1], patch[0])
            outline = Rectangle(place, 1, 1, fill=False, edgecolor=edge, linewidth=points, zorder=4, clip_on=False)
            axes.add_patch(outline)

    def number(self, axes: Axes, patch: tuple[int, int], box: Box, text: str) -> bool:
        """Writes a number into its patch. Returns False, without writing, if the patch is too small for it."""
        cell, points = _cell(axes, box), small_size(self.font, 0.6)
        if cell < 1.2 * points or cell < 72 * text_width(text, points, bold=True) + 1:
            return False
        family = matplotlib.rcParams["font.family"]
        halo = [withStroke(linewidth=0.22 * points, foreground="#ffeca0")]  # visible on dark pictures too
        style = {"ha": "center", "va": "center_baseline", "color": "#140a00", "zorder": 4, "family": family}
        style["path_effects"] = halo
        axes.text(patch[1] + 0.5, patch[0] + 0.5, text, fontsize=points, fontweight="bold", **style)
        return True

    def number_beside(self, axes: Axes, patch: tuple[int, int], box: Box, text: str, grid: np.ndarray, mark) -> None:
        """Writes a number beside its patch, on the side where it hides least and not over the mark."""
        cell, points = _cell(axes, box), small_size(self.font, 0.75)
        size = 1.25 * points / cell, 72 * text_width(text, points, bold=True) / cell + 0.5  # in patches
        words_centre = emptiest_side(grid, patch, size, mark)
        if words_centre is None:
            return
        halo = [withStroke(linewidth=0.3 * points, foreground="black")]
        style = {"ha": "center", "va": "center_baseline", "color": "white", "zorder": 5, "path_effects": halo}
        style["family"] = matplotlib.rcParams["font.family"]
        axes.text(words_centre[1], words_centre[0], text, fontsize=points, fontweight="bold", **style)

    def line(self, axes: Axes, patch: tuple[int, int], other_axes: Axes, other_patch: tuple[int, int]) -> None:
        """Draws a line from a patch of one panel to a patch of another."""
        ends = [(place[1] + 0.5, place[0] + 0.5) for place in (patch, other_patch)]
        for colour, points in (("black", 2.6), ("white", 1.2)):
            wire = ConnectionPatch(*ends, "data", "data", axesA=axes, axesB=other_axes, color=colour, linewidth=points)
            wire.set(zorder=5, capstyle="round")
            self.figure.add_artist(wire)

    def sign(self, axes: Axes, patch: tuple[int, int] | None, box: Box, symbol: str) -> None:
        """Draws a shape inside the patch's mark: that of a head's habit, or of a query."""
        if patch is not None and self.spec.marker:
            self.shape(axes, patch[1] + 0.5, patch[0] + 0.5, symbol, 0.42 * _cell(axes, box))

    def shape(self, axes: Axes, x: float, y: float, symbol: str, points: float) -> None:
        """Draws a shape of SHAPES, white with a black edge."""
        if not symbol:
            return
        points *= 1.35 if symbol == "star" else 1.0
        fill_colour = "none" if symbol.endswith("-open") else "white"
        for edge, width in (("black", 0.32), ("white", 0.14)):
            marker_style = {"markeredgecolor": edge, "markeredgewidth": width * points, "markerfacecolor": fill_colour}
            axes.plot([x], [y], SHAPES[symbol], markersize=points, clip_on=False, zorder=5, **marker_style)

    def kernel(self, axes: Axes, cells: list[tuple[int, int]], box: Box) -> None:
        """Outlines the cells that a convolution reads."""
        top, left = cells[0]
        bottom, right = cells[-1][0] + 1, cells[-1][1] + 1
        width = min(max(min(box.width * 72 / 130, 0.2 * _cell(axes, box)), 0.7), 3)
        inner_lines = [[(x, top), (x, bottom)] for x in range(left + 1, right)]
        inner_lines += [[(left, y), (right, y)] for y in range(top + 1, bottom)]
        axes.add_collection(LineCollection(inner_lines, colors=CONVOLUTION, linewidths=0.45 * width, zorder=3))
        frame = Rectangle((left, top), right - left, bottom - top, fill=False, zorder=3, clip_on=False)
        frame.set(edgecolor=CONVOLUTION, linewidth=width, joinstyle="miter")
        axes.add_patch(frame)

    def field(self, axes: Axes, cells: list[tuple[int, int]], box: Box) -> None:
        """Draws a thin frame around the cells that a stack of convolutions reaches."""
        (top, left), (bottom, right) = cells[0], cells[-1]
        width = min(max(box.width * 72 / 260, 0.4), 1.5)
        frame = Rectangle((left, top), right + 1 - left, bottom + 1 - top, fill=False, zorder=3)
        frame.set(edgecolor=CONVOLUTION, linewidth=width, joinstyle="miter")
        axes.add_patch(frame)

    def text(self, x: float, y: float, text: str, points: float, *, bold=False, colour=None, **options) -> None:
        """Writes text with its baseline at y."""
        place, family = (x / self.width, 1 - y / self.height), fonts.fonts_for(text)
        style = {"fontsize": points, "fontweight": "bold" if bold else "normal", "va": "baseline", "family": family}
        self.figure.text(*place, text, color=colour or self.theme.ink, **(style | options))


# Pixels ---------------------------------------------------------------------------------------------------------------


class Picture:
    """An image that a function draws anew at each size."""

    def __init__(self, at: Callable[[tuple[int, int]], Image.Image], size: tuple[int, int]) -> None:
        self.at = at  # (width, height) -> the image of that size
        self.size = size  # (width, height) that is stored in a vector file

    @cached_property
    def stored(self) -> np.ndarray:
        """(height, width, 4) bytes for a vector file, upside down as matplotlib wants it."""
        return _bottom_up(self.at(self.size))


class Pixels(Artist):
    """A picture in a panel. For a PNG it is drawn at exactly the pixels that it covers. SVG and PDF get the stored
    array; matplotlib's PDF recognises the array by its identity and stores it once."""

    def __init__(self, picture: Picture, extent: tuple[float, float, float, float], zorder: float) -> None:
        super().__init__()
        self.picture, self.extent = picture, extent
        self.set_zorder(zorder)

    def get_window_extent(self, renderer=None) -> Bbox:
        left, top, right, bottom = self.extent
        return Bbox.from_extents(*self.axes.transData.transform([(left, bottom), (right, top)]).flat)

    def draw(self, renderer) -> None:
        box = self.get_window_extent()
        gc = renderer.new_gc()
        if renderer.option_scale_image():
            transform = Affine2D().scale(box.width, box.height)
            renderer.draw_image(gc, box.x0, box.y0, self.picture.stored, transform)
        else:
            left, bottom, right, top = (round(edge) for edge in box.extents)
            size = (max(1, right - left), max(1, top - bottom))
            renderer.draw_image(gc, left, bottom, _bottom_up(self.picture.at(size)))
        gc.restore()


def _scaler(image: Image.Image) -> Callable[[tuple[int, int]], Image.Image]:
    rgb = image.convert("RGB")
    return lambda size: rgb.resize(size, Image.Resampling.LANCZOS)


def _stored_size(image: Image.Image, box: Box) -> tuple[int, int]:
    """(width, height) of the picture in a vector file: at VECTOR_DPI, but never finer than the picture itself."""
    width = min(image.width, max(1, round(box.width * VECTOR_DPI)))
    return image.size if width == image.width else (width, max(1, round(box.height * VECTOR_DPI)))


def _bottom_up(image: Image.Image) -> np.ndarray:
    return np.array(image.convert("RGBA"))[::-1]


def _cell(axes: Axes, box: Box) -> float:
    """The width of a patch in points."""
    left, right = axes.get_xlim()
    return box.width * 72 / (right - left)


def emptiest_side(
    grid: np.ndarray, patch: tuple[int, int], size: tuple[float, float], mark: tuple[int, int] | None
) -> tuple[float, float] | None:
    """The centre (row, column) for words of size (high, wide) beside a patch, on the side where they hide the smallest
    values; None if no side has room."""
    (row, column), (height, width) = (patch[0] + 0.5, patch[1] + 0.5), size
    dx, dy = (1 + width) / 2, (1 + height) / 2
    sides = []
    for y, x in ((row, column + dx), (row, column - dx), (row - dy, column), (row + dy, column)):
        top, left, bottom, right = y - height / 2, x - width / 2, y + height / 2, x + width / 2
        if top < 0 or left < 0 or bottom > grid.shape[0] or right > grid.shape[1]:
            continue
        covered_values = grid[math.floor(top) : math.ceil(bottom), math.floor(left) : math.ceil(right)]
        covers_mark = mark and top < mark[0] + 1 and mark[0] < bottom and left < mark[1] + 1 and mark[1] < right
        sides.append((bool(covers_mark), float(covered_values.sum()), (y, x)))
    return min(sides, key=lambda side: side[:2])[2] if sides else None


def _extent(axes: Axes) -> tuple[float, float, float, float]:
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    return left, top, right, bottom
