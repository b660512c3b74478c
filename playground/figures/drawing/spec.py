"""The complete description of a figure: from the same Spec, a page and a command make the same pixels."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from playground.errors import PlaygroundError
from playground.figures.drawing.option_words import OptionError
from playground.figures.drawing.view import FIGURE_CHOICES, VIEW_CHOICES, allowed_words
from playground.figures.drawing.ways import FIRST_WAY, WAYS, Way
from playground.models.given import OPTION_NAMES
from playground.samples import Look, named, start_patch

if TYPE_CHECKING:
    from playground.tracing import Trace


@dataclass(frozen=True)
class Purpose:
    """What a figure is for, with its sizes. height None: the figure is as high as its contents."""

    width: float  # inches
    height: float | None
    font: float  # points
    dpi: int  # dots per inch of a PNG
    words: str
    roomy: bool = False  # whether there is room for the picture beside its map
    captioned: bool = True  # False: the caption is not drawn; -o x.tex writes it, and the venue's LaTeX sets it


PACK_FORMATS = ("float16", "int8")  # number formats of queries and keys in an interactive .html
MM_PER_INCH = 25.4  # millimetres in an inch
PURPOSES = {
    "slide": Purpose(40 / 3, 7.5, 18, 192, "a whole 16:9 slide", roomy=True),
    "half": Purpose(20 / 3, 7.5, 17, 192, "half of a 16:9 slide"),
    "beamer": Purpose(160 / MM_PER_INCH, 90 / MM_PER_INCH, 9, 300, "a 16:9 slide of LaTeX's beamer", roomy=True),
    "column": Purpose(3.35, None, 8, 300, "one column of a paper, 85 mm"),
    "page": Purpose(7.0, None, 8.5, 300, "both columns of a paper, 178 mm", roomy=True),
    "neurips": Purpose(5.5, None, 8.5, 300, "NeurIPS, 5.5 in", roomy=True, captioned=False),
    "iclr": Purpose(5.5, None, 8.5, 300, "ICLR, 5.5 in", roomy=True, captioned=False),
    "cvpr": Purpose(3.25, None, 8, 300, "a column of CVPR, 3.25 in", captioned=False),
    "cvpr-wide": Purpose(6.875, None, 8.5, 300, "both columns of CVPR, 6.875 in", roomy=True, captioned=False),
    "iccv": Purpose(3.25, None, 8, 300, "a column of ICCV, 3.25 in", captioned=False),
    "iccv-wide": Purpose(6.875, None, 8.5, 300, "both columns of ICCV, 6.875 in", roomy=True, captioned=False),
    "nature": Purpose(89 / MM_PER_INCH, None, 7, 300, "a column of Nature, 89 mm"),
    "nature-wide": Purpose(183 / MM_PER_INCH, None, 7, 300, "both columns of Nature, 183 mm", roomy=True),
}
ROOMY_WIDTH = 4.5  # inches: a custom width of at least this is laid out like a page, a smaller one like a column
AXES = {  # an axis of a grid -> the field of Spec that changes along it
    "pictures": "image", "models": "model", "layers": "layer", "heads": "head", "patches": "query", "scales": "scale",
}  # fmt: skip
SIGNED_METHODS = ("gradient", "integrated")  # methods of relevance whose numbers have a sign
METHODS = {  # methods of relevance, as in playground/relevance.py -> their names in captions
    "gradient": "gradient × input", "integrated": "integrated gradients",
    "chefer": "gradient × attention, which knows only what speaks for it",
    "legrad": "LeGrad, which knows only what speaks for it",
}  # fmt: skip
CHOICES = {choice.field: choice.options for choice in FIGURE_CHOICES if choice.options and choice.field != "whole"} | {
    "purpose": tuple(PURPOSES),
    "theme": ("light", "dark"),
    "words": ("plain", "paper"),
    "over": (None, "photo", "grey", "none"),
    "method": tuple(METHODS),
    "pack": PACK_FORMATS,
}
POOLINGS = ("mean", "max")  # written instead of a head's number: the mean or the maximum over all heads
MOVING_DPI = 96
NOTHING_TO_COMPARE = (
    "What is it to be compared with? Add {other_image} or {other_model}."  # the error of a comparison with nothing
)


@dataclass(frozen=True)
class Spec:
    # What is shown
    image: str = ""  # a file, or the name of a sample
    layout: str = "head"  # see layouts/
    model: str = ""  # the model that traced the picture; "": a figure of random rows has none
    weights: str | None = None  # a file of weights for this model
    mean: str | None = None  # `mean` to `global_pool`: how the model was built, if no file says it (models/given.py)
    std: str | None = None
    num_heads: str | None = None
    act_layer: str | None = None
    global_pool: str | None = None
    size: tuple[int, int] | None = None  # (height, width) of the model's input
    layer: int | None = None  # None: two thirds of the way up, where heads look at objects
    head: int | str = 0  # a number, or "mean" or "max" over all heads
    query: tuple[int, int] | str | None = None  # a patch, or a prefix token's name; None: by samples.start_patch
    scale: str = "on"  # "on" (the trained scale), "off" (no scale), or a number
    whole: bool = False  # whether the whole forward pass ran with `scale`, not this layer alone
    cut: str = ""  # edges cut in the pass, written as in playground/cuts.py and separated by ;
    label: str = ""  # the number or the name of the label that is explained; "": the feature of the query
    text: str = ""  # what patches are compared with, in a model that learned from captions
    method: str = "gradient"  # how relevance is computed, see METHODS
    signed: bool | None = None  # whether relevance shows negative values; None: only for a label
    blank: str = "mean"  # what blanked patches become
    typical: bool = False  # whether the exposure leaves out patches whose features are unusually long
    what: str = FIRST_WAY
    direction: str = "row"
    kernel: int = 3
    depth: str = "follow"  # number of stacked convolutions whose reach is shown; "follow": as many as layers so far
    other_image: str | None = None  # the second picture of the layout "compare"
    other_model: str | None = None
    other_queries: str | None = None  # more patches of the picture, each in a colour of its own: "3,4-10,12"
    rows: str | None = None  # what changes down a grid: "layers:2,5,8", see layouts/grid.py
    columns: str | None = None
    # How it looks
    purpose: str = "slide"
    width: float | None = None  # inches; None: the purpose's width
    font: str | None = None  # a family; None: Source Sans
    letters: bool = False  # a, b, c … before the panels' headings
    theme: str = "light"
    transparent: bool = False
    draw: str = "heat"  # "heat" or "light", see light.py
    over: str | None = None  # what lies beneath the heat; None: the photograph, or nothing beneath many small maps
    mass: float | None = None  # an outline around the fewest patches that hold this share of all patches' weight
    mask: bool = False  # whether only the patches inside the outline of `mass` are drawn
    colours: str = "shared"  # "shared": one exposure for all maps; "own": one for each
    ceiling: float | None = None  # the value that is drawn brightest; None: set by the maps' values
    log: bool | None = None  # None: only if many small maps share one exposure
    smooth: bool = False
    caption: bool = True
    bar: bool = True
    marker: bool = True
    prefix: bool = True  # whether the figure states the shares of the class token and the registers
    footer: bool = False
    words: str = "plain"  # "paper" says “attends to” where "plain" says “listens to”
    anonymous: bool = False  # whether the file says nothing that could tell who made it
    dpi: int | None = None  # dots per inch; None: the purpose's
    repeatable: bool = True  # whether a command can make the figure again: not if model or picture was only in memory
    sweep: str | None = None  # what changes in an animation: "layers", "scale" or "patches:0,0-7,5"
    # What an interactive figure holds
    layers: tuple[int, ...] | str | None = None  # numbers or "all"; None: `layer`, or all layers if these are small
    heads: tuple[int, ...] | None = None  # numbers; None: all heads
    view: str = ""  # further choices of the first view, written as in an address: "locked=true&grid=true"
    bare: bool = False  # whether an .html has the interactive picture alone
    pack: str = "float16"  # numbers of q and k in an .html; "int8" takes half the bytes and is less exact

    def __post_init__(self) -> None:
        for name, allowed_values in CHOICES.items():
            if (value := getattr(self, name)) not in allowed_values:
                options = ", ".join(str(option) for option in allowed_values if option is not None)
                raise PlaygroundError(f"A figure's {name.replace('_', ' ')} is {options}; given was {value!r}.")
        if not _within(self.dpi, 10, 2400):
            raise OptionError("{dpi} goes from 10 to 2400; given was {}.", self.dpi)
        if not _within(self.width, 1.5, 40):
            raise OptionError("{width} goes from 1.5 to 40 inches; given was {}.", self.width)
        if not _within(self.mass, 0.01, 0.99):
            raise OptionError("{mass} is a share between 0.01 and 0.99; given was {}.", self.mass)
        if not _within(self.ceiling, 1e-9, 1):
            raise OptionError("{ceiling} is a share between 0 and 1; given was {}.", self.ceiling)
        view_words = dict(parse_qsl(self.view, keep_blank_values=True))
        if view_words != allowed_words(view_words) or any(choice.key in view_words for choice in FIGURE_CHOICES):
            choice_names = ", ".join(choice.key for choice in VIEW_CHOICES if not choice.field)
            raise OptionError(
                "{view} takes {}, written as in a link: locked=true&grid=true; given was {!r}.", choice_names, self.view
            )
        object.__setattr__(self, "depth", str(self.depth))
        object.__setattr__(self, "label", str(self.label))
        if not re.fullmatch(r"follow|[1-9]\d{0,2}", self.depth):
            raise OptionError("{depth} is follow, or a number from 1 on; given was {!r}.", self.depth)
        if self.signed and self.method not in SIGNED_METHODS:
            raise OptionError(
                "{} knows only what speaks for an answer and has no sign: leave {signed:True} out, or take "
                "{method:gradient}.",
                self.method,
            )

    @property
    def way(self) -> Way:
        return WAYS[self.what]

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
        if "signed" in self.way.uses and self.signed is not None:
            return self.signed
        return self.explains_label and ("method" not in self.way.uses or self.method in SIGNED_METHODS)

    @property
    def shares_a_whole(self) -> bool:
        """Whether the numbers are parts of one whole, so that they can be drawn as light and outlined."""
        return not self.way.spread and not self.for_and_against

    @property
    def trained(self) -> dict[str, str | None]:
        """The arguments of `load` besides the model's name and its file of weights."""
        return {word: getattr(self, word) for word in OPTION_NAMES}

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
    def made_for(self) -> Purpose:
        if self.width is None:
            return PURPOSES[self.purpose]
        return replace(PURPOSES["page" if self.width >= ROOMY_WIDTH else "column"], width=self.width)

    @property
    def look(self) -> Look | None:
        """The layer and head that a sample photograph opens with, if they were chosen for this model."""
        sample = named(self.image)
        look = sample and sample.look
        return look if look and look.model == self.model and self.weights is None else None

    @property
    def dots(self) -> int:
        return self.dpi or (MOVING_DPI if self.sweep else self.made_for.dpi)

    def settled(self, trace: Trace | None, marks: bool = True) -> Spec:
        """The spec with the trace's values in place of its defaults. `marks`: whether the figure marks a query;
        if not, `query` becomes None."""
        if trace is None:
            return self
        if self.label and not self.label.isdecimal():
            self = replace(self, label=str(trace.label(self.label)))
        elif self.label and trace.vit is not None:
            trace.label(int(self.label))  # raises if there is no label of this number
        default_layer = self.look.layer if self.look else trace.upper_layer
        if self.rows or self.columns:  # each picture of a grid has its own size and its own first patch
            return replace(self, layer=default_layer if self.layer is None else self.layer)
        query = start_patch(self.image, trace.grid) if self.query is None else _query_name(self.query, trace)
        return replace(
            self,
            size=trace.size,
            layer=default_layer if self.layer is None else self.layer,
            query=query if marks else None,
        )


def _is_put(text: str, of_another: bool = False) -> bool:
    from playground import tracing  # imports torch, which a server loads only when it is needed

    return tracing.needs_other_picture(text) if of_another else tracing.is_put(text)


def _within(number: float | None, low: float, high: float) -> bool:
    return number is None or (isinstance(number, int | float) and low <= number <= high)


def _query_name(query: tuple[int, int] | str | int, trace: Trace) -> tuple[int, int] | str:
    """The query as a command writes it, not as a token's index: a patch, or a prefix token's name."""
    token, prefix = trace.token(query), trace.prefix
    return prefix[token] if token < len(prefix) else divmod(token - len(prefix), trace.grid[1])


def query_words(query: tuple[int, int] | str) -> str:
    """The query as on the command line: "7,5" or "cls"."""
    return f"{query[0]},{query[1]}" if isinstance(query, tuple | list) else str(query)
