"""matplotlib's settings for figures, and the figure that is drawn on."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, fontManager
from matplotlib.textpath import text_to_path
from PIL import Image

from playground.figures.drawing.spec import Spec

# fonts for the letters of names that the first two lack; those that are not on this machine are left out
FAMILIES = (
    "Source Sans Pro", "DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans Arabic", "Noto Sans Hebrew",
    "Noto Sans Devanagari", "Noto Sans Thai", "WenQuanYi Zen Hei", "Arial Unicode MS", "Microsoft YaHei",
    "Malgun Gothic",
)  # fmt: skip
SMALLEST_FONT = 6.0  # points: what a journal prints legibly
NOTEBOOK_PIXELS = 900  # the width of a figure in a notebook

_settings_lock = threading.RLock()  # matplotlib's settings are global: one thread may use them at a time


@cache
def _families() -> list[str]:
    """Those of FAMILIES that are on this machine; Source Sans comes with a package."""
    package = find_spec("font_source_sans_pro")
    if package is not None and package.submodule_search_locations:
        for style in ("Regular", "Bold"):
            fontManager.addfont(f"{package.submodule_search_locations[0]}/files/SourceSansPro-{style}.ttf")
    there = {entry.name for entry in fontManager.ttflist}
    return [name for name in FAMILIES if name in there]


@contextmanager
def house_style() -> Iterator[None]:
    """matplotlib's defaults and our fonts, not the user's settings: so the same spec gives the same pixels."""
    our_settings = {
        "font.family": _families(),
        "text.hinting": "no_hinting",  # hinting would change the length of a line
        "text.parse_math": False,  # a file's name may have a $
        "svg.hashsalt": "attention-playground",
        "pdf.fonttype": 42,  # whole TrueType outlines, embedded
    }
    skipped_prefixes = ("backend", "toolbar", "interactive", "timezone")
    defaults = {key: value for key, value in matplotlib.rcParamsDefault.items() if not key.startswith(skipped_prefixes)}
    with _settings_lock, matplotlib.rc_context(defaults | our_settings):  # type: ignore[arg-type]
        yield


class Drawing(Figure):
    """A matplotlib figure that a notebook displays, with its spec and facts about its origin."""

    spec: Spec
    facts: dict[str, str]  # see playground/figures/provenance.py
    metadata: Callable[[str, str], dict[str, str | None]]  # (kind of file, name) -> metadata about the figure's origin

    def savefig(self, file: Any, **options: Any) -> None:  # type: ignore[override]
        """Like matplotlib's savefig, but always in the house style: a PDF gets TrueType fonts, and the file gets
        `self.metadata` unless the option `metadata` is given."""
        path = Path(file) if isinstance(file, str | os.PathLike) else None
        kind = options.get("format") or (path.suffix[1:].lower() if path else "") or "png"
        if "metadata" not in options:
            options["metadata"] = self.metadata(kind, path.name if path else f"figure.{kind}")
        with house_style():
            super().savefig(file, **options)

    def pixels(self) -> Image.Image:
        """The figure as an RGBA image, with the pixels of its PNG file."""
        out = io.BytesIO()
        self.savefig(out, format="png", dpi=self.spec.dots)
        return Image.open(out).convert("RGBA")

    def _repr_png_(self) -> bytes:
        """A PNG that is no wider than a notebook's cell."""
        out = io.BytesIO()
        self.savefig(out, format="png", dpi=min(self.spec.dots, NOTEBOOK_PIXELS / self.get_figwidth()))
        return out.getvalue()


def small_size(font: float, part: float) -> float:
    """A smaller font size, in points, that is still legible."""
    return max(SMALLEST_FONT, part * font)


def text_width(text: str, points: float, bold: bool = False) -> float:
    """The text's width in the house style, in inches."""
    font = FontProperties(family=_families(), size=points, weight="bold" if bold else "normal")
    return text_to_path.get_text_width_height_descent(text, font, False)[0] / 72


def wrapped(text: str, width: float, points: float) -> list[str]:
    lines = [""]
    for word in text.replace(" %", "\u00a0%").replace(" × ", "\u00a0×\u00a0").split(" "):
        longer_line = f"{lines[-1]} {word}".strip(" ")
        if lines[-1] and text_width(longer_line, points) > width:
            lines.append(word)
        else:
            lines[-1] = longer_line
    return lines


def fitted(text: str, width: float, points: float, bold: bool = False) -> tuple[str, float]:
    """(text, font size) that fit the width: a heading first shrinks a little, then loses its middle, where file names
    differ least."""
    size = max(points * min(1.0, width / max(text_width(text, points, bold), 1e-9)), 0.8 * points, SMALLEST_FONT)
    half, full_text = len(text) // 2, text
    while half > 1 and text_width(text, size, bold) > width * 1.001:
        half -= 1
        text = f"{full_text[:half].rstrip()}…{full_text[-half:].lstrip()}"
    return text, size
