"""The complete description of a figure: from the same Spec, a page and a command make the same pixels."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from playground.errors import PlaygroundError
from playground.figures.drawing.view import FIGURE_CHOICES, VIEW_CHOICES, allowed_words
from playground.figures.drawing.ways import FIRST_WAY, VALUES, WAYS, Way
from playground.samples import Look, find, start_patch

if TYPE_CHECKING:
    from playground.tracing import Trace

Query = tuple[int, int] | str | None
MM_PER_INCH = 25.4


@dataclass(frozen=True)
class Paper:
    """The sheet of a figure. height None: the figure is as high as its contents."""

    width: float  # inches
    height: float | None
    font: float  # points
    dpi: int  # dots per inch of a PNG
    roomy: bool  # whether there is room for the picture beside its map


WIDTHS = {
    "slide": Paper(40 / 3, 7.5, 18, 192, roomy=True),
    "column": Paper(85 / MM_PER_INCH, None, 8, 300, roomy=False),
    "page": Paper(178 / MM_PER_INCH, None, 8.5, 300, roomy=True),
}
ROOMY_WIDTH = 115  # millimetres: a figure of at least this width is laid out like a page, a narrower one like a column
AXES = {  # an axis of a grid -> the field of Spec that changes along it
    "pictures": "image", "models": "model", "layers": "layer", "heads": "head", "patches": "query", "scales": "scale",
}  # fmt: skip
METHODS = {  # methods of relevance, as in playground/relevance.py -> their names in captions
    "gradient": "gradient × input", "integrated": "integrated gradients", "attnlrp": "AttnLRP",
    "chefer": "gradient × attention, which knows only what adds to it",
    "legrad": "LeGrad, which knows only what adds to it",
}  # fmt: skip
SIGNED_METHODS = ("gradient", "integrated", "attnlrp")  # methods of relevance whose numbers have a sign
CHOICES = {choice.field: choice.options for choice in FIGURE_CHOICES if choice.options and choice.field != "whole"} | {
    "theme": ("light", "dark"),
    "method": tuple(METHODS),
}
POOLINGS = ("mean", "max")  # written instead of a head's number: the mean or the maximum over all heads
HEAT = "heat"


@dataclass(frozen=True)
class Spec:
    # What is shown
    image: str = ""  # a file, or the name of a sample
    layout: str = "head"  # see layouts/
    model: str = ""  # the model that traced the picture
    weights: str | None = None  # a file of weights for this model
    size: tuple[int, int] | None = None  # (height, width) of the model's input
    layer: int | None = None  # None: two thirds of the way up, where heads look at objects
    head: int | str = 0  # a number, or "mean" or "max" over all heads
    query: Query = None  # a patch, or a prefix token's name; None: by samples.start_patch
    scale: str = "on"  # "on" (the trained scale), "off" (no scale), or a number
    whole: bool = False  # whether the whole forward pass ran with `scale`, not this layer alone
    cut: str = ""  # edges cut in the pass, written as in playground/cuts.py and separated by ;
    what: str = FIRST_WAY
    direction: str = "row"
    label: str = ""  # the number or the name of the label that is explained; "": the feature of the query
    text: str = ""  # what patches are compared with, in a model that learned from captions
    method: str = "attnlrp"  # how relevance is computed, see METHODS
    blank: str = "mean"  # what blanked patches become
    other_image: str | None = None  # the second picture of the layout "compare"
    other_model: str | None = None
    rows: str | None = None  # what changes down a grid: "layers:2,5,8", see layouts/grid.py
    columns: str | None = None
    # How it looks
    width: str | float = "slide"  # a name in WIDTHS, or millimetres
    theme: str = "light"
    colours: str = HEAT  # "heat", or the name of one of matplotlib's colour maps
    ceiling: float | None = None  # the value that is drawn brightest; None: set by the maps' values
    caption: bool = True
    dpi: int | None = None  # dots per inch; None: the paper's
    repeatable: bool = True  # whether a command can make the figure again: not if model or picture was only in memory
    # What an interactive figure holds
    all_layers: bool = False  # whether it holds all; else `layer`, or where no layer was named all if these are small
    view: str = ""  # further choices of the first view, written as in an address: "locked=true&beside=wall"
    bare: bool = False  # whether an .html has the interactive picture alone

    def __post_init__(self) -> None:
        for name, allowed_values in CHOICES.items():
            value = getattr(self, name)
            if value not in allowed_values and (name, value) != ("what", VALUES.name):
                options = ", ".join(map(str, allowed_values))
                raise PlaygroundError(f"A figure's {name} is {options}; given was {value!r}.")
        object.__setattr__(self, "width", read_width(self.width))
        object.__setattr__(self, "label", str(self.label))
        for name, low, high in (("dpi", 10, 2400), ("ceiling", 1e-9, 1)):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float) and low <= value <= high):
                raise PlaygroundError(f"A figure's {name} goes from {low:g} to {high}; given was {value!r}.")
        view_words = dict(parse_qsl(self.view, keep_blank_values=True))
        if view_words != allowed_words(view_words) or any(choice.key in view_words for choice in FIGURE_CHOICES):
            names = ", ".join(choice.key for choice in VIEW_CHOICES if not choice.field)
            raise PlaygroundError(f"A view has {names}, as in a link: locked=true; given was {self.view!r}.")

    @property
    def way(self) -> Way:
        return WAYS.get(self.what, VALUES)

    @property
    def asks(self) -> bool:
        """Whether there is a query: not for maps that are the same for all queries or that explain a label."""
        return self.way.asks_a_patch and not self.explains_label

    @property
    def explains_label(self) -> bool:
        """Whether the map explains a label instead of a patch's feature."""
        return bool(self.label) and self.way.explains == "patch"

    @property
    def in_percent(self) -> bool:
        return ((self.explains_label and self.way.unit_of_label) or self.way.unit) == "share"

    @property
    def for_and_against(self) -> bool:
        """Whether the numbers speak for something or against it, and have two colours around zero."""
        of_label = self.explains_label and (not self.way.methods or self.method in SIGNED_METHODS)
        return self.way.signed or of_label

    @property
    def shares_a_whole(self) -> bool:
        """Whether the numbers are parts of one whole."""
        return not (self.way.spread or self.way.coloured or self.for_and_against or self.way is VALUES)

    @property
    def cuts(self) -> list[str]:
        """The parts of `cut` that need no other pass."""
        return [text for text in self._texts if not _is_put(text)]

    @property
    def puts(self) -> list[str]:
        """The parts of `cut` that need values of other passes: see playground/cuts.py."""
        return [text for text in self._texts if _is_put(text)]

    @property
    def takes_another(self) -> bool:
        """Whether a part of `cut` takes values from another picture's pass."""
        return any(_is_put(text, of_another=True) for text in self._texts)

    @property
    def _texts(self) -> list[str]:
        return self.cut.split(";") if self.cut else []

    @property
    def paper(self) -> Paper:
        if isinstance(self.width, str):
            return WIDTHS[self.width]
        return replace(WIDTHS["page" if self.width >= ROOMY_WIDTH else "column"], width=self.width / MM_PER_INCH)

    @property
    def look(self) -> Look | None:
        """The layer and head that a sample photograph opens with, if they were chosen for this model."""
        sample = find(self.image)
        look = sample and sample.look
        return look if look and look.model == self.model and self.weights is None else None

    @property
    def dots(self) -> int:
        return self.dpi or self.paper.dpi

    def settled(self, trace: Trace, marks: bool = True) -> Spec:
        """The spec with the trace's values in place of its defaults. `marks`: whether the figure marks a query;
        if not, `query` becomes None."""
        if self.label and not self.label.isdecimal():
            self = replace(self, label=str(trace.label(self.label)))
        elif self.label and trace.vit is not None:
            trace.label(int(self.label))  # raises if there is no label of this number
        default_layer = self.look.layer if self.look else trace.upper_layer
        self = replace(self, layer=default_layer if self.layer is None else trace.layer_number(self.layer))
        if self.head not in POOLINGS:
            trace.head_number(self.head)  # type: ignore[arg-type]  # raises if there is no such head
        if self.rows or self.columns:  # each picture of a grid has its own size and its own first patch
            return self
        query = start_patch(self.image, trace.grid) if self.query is None else query_name(self.query, trace)
        return replace(self, size=trace.size, query=query if marks else None)


def _is_put(text: str, of_another: bool = False) -> bool:
    from playground import tracing  # imports torch, which a server loads only when it is needed

    return tracing.needs_other_picture(text) if of_another else tracing.is_put(text)


def query_name(query: tuple[int, int] | str | int, trace: Trace) -> tuple[int, int] | str:
    """The query as a command writes it, not as a token's index: a patch, or a prefix token's name."""
    token, prefix = trace.token(query), trace.prefix
    return prefix[token] if token < len(prefix) else divmod(token - len(prefix), trace.grid[1])


def read_width(width: str | float) -> str | float:
    """A name in WIDTHS, or millimetres."""
    if width in WIDTHS:
        return width
    number = re.fullmatch(r"(\d{1,4}(?:\.\d{1,6})?)( ?mm)?", str(width))
    if not number or not 30 <= float(number[1]) <= 1000:
        raise PlaygroundError(
            f"A figure's width is {', '.join(WIDTHS)}, or millimetres from 30 to 1000; given was {width!r}."
        )
    return float(number[1])


def query_words(query: Query) -> str:
    """The query as on the command line: "7,5" or "cls"."""
    return f"{query[0]},{query[1]}" if isinstance(query, tuple | list) else str(query)


def read_head(text: str | None) -> int | str:
    if text in POOLINGS:
        return text
    if (text or "0").isdecimal():
        return int(text or 0)
    raise PlaygroundError(f"A head is a number from 0, or {' or '.join(POOLINGS)} of all; given was {text!r}.")


def read_query(text: str | None) -> Query:
    patch = re.fullmatch(r"\s*(-?\d+)\s*,\s*(-?\d+)\s*", text or "", re.ASCII)
    return (int(patch[1]), int(patch[2])) if patch else text


def read_size(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    if not (sides := re.fullmatch(r"(\d+)[x×](\d+)", text.lower(), re.ASCII)):
        raise PlaygroundError(f"--size is HEIGHTxWIDTH in pixels, such as 448x672; given was {text}.")
    return int(sides[1]), int(sides[2])
