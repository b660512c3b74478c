"""The table of choices in the microscope: each has a name, its values, a default, and a flag.

From this table come the patterns that an address is checked with (serving/chosen.py), the choices of a figure
(spec.py) and their flags (command_line.py). The browser keeps its own copy in microscope/core/view.js; a test compares
the two.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from playground.figures.drawing.ways import FIRST_WAY, WAYS

_NUMBER = r"-?\d{1,3}(\.\d{1,6})?"


@dataclass(frozen=True)
class Choice:
    key: str  # the choice's name in the browser's view and in an address
    default: object  # None: the default depends on the picture and the model
    options: Collection = ()  # all allowed values; empty: see `pattern`
    pattern: str = ""  # a regular expression for allowed values in an address
    field: str = ""  # the field of Spec with this choice; "": a drawn figure does not have the choice
    flag: str = ""  # the choice's flag on the command line
    help: str = ""  # a sentence for --help, as in option_words.py

    @property
    def text(self) -> str:
        """A regular expression for the choice's value in an address."""
        options = (True, False) if isinstance(self.default, bool) else self.options
        return self.pattern or "|".join(re.escape(as_in_address(option)) for option in options)


VIEW_CHOICES = (
    Choice(
        "layer", None, pattern=r"\d{1,3}", field="layer", flag="--layer",
        help="counting from 0; several: 2,5 or 0-3 or all (default: two thirds of the way up); "
        "of an .html: those in it, and it begins at the first",
    ),
    Choice(
        "head", 0, pattern=r"\d{1,3}", field="head", flag="--head",
        help="counting from 0; several like layers; or mean or max of all (default: the sample's, or 0); an .html "
        "holds all heads unless several are named",
    ),
    Choice(
        "query", None, pattern=r"\d{1,3},\d{1,3}|cls|dist|reg\d{1,2}", field="query", flag="--patch",
        help="ROW,COLUMN counting from 0, or cls, dist, reg0 … (default: the sample's, or the middle)",
    ),
    Choice("locked", False),
    Choice(
        "scale", "on", pattern=rf"on|off|{_NUMBER}|\d(\.\d+)?(e-\d+)?", field="scale", flag="--scale",
        help="on (1/√d_k), off (1) or a number (default: on)",
    ),
    Choice(
        "pass", "layer", ("layer", "whole"), field="whole", flag="--whole",
        help="run the whole forward pass with that scale, not this layer alone",
    ),
    Choice(
        "cut", "", pattern=r"[0-9a-z,<>@.:+*;]{3,1000}", field="cut", flag="--cut",
        help="what is cut in the whole pass: who may not hear whom, such as 7,5>3,2 or *>cls@4.1 or *>3x3; or a head "
        "that gives nothing, zero@4.1, or its mean, mean@4.1; or what stands in the pass of {other_image}, residual@6, "
        "values@3:7,5 or head@4.1; or what one head alone hears of another, zero@4.1>5.3; several: A;B",
    ),
    Choice(
        "label", "", pattern=r"\d{1,5}", field="label", flag="--label",
        help="whose relevance, occlusion or logit lens: a label's name or number (default: the patch's feature; "
        "of the logit lens the likeliest label)",
    ),
    Choice(
        "text", "", pattern=r"[A-Za-z0-9][A-Za-z0-9 ,.'-]{0,59}", field="text", flag="--text",
        help="of {what:text}: the words that patches are compared with, such as 'a cat'",
    ),
    Choice(
        "blank", "mean", ("mean", "noise", "neighbours"), field="blank", flag="--blank",
        help="of {what:occlusion}: blanked patches become the mean colour, noise, or what is around (default: mean)",
    ),
    Choice(
        "typical", False, field="typical", flag="--typical",
        help="of {what:norm}: patches whose length stands apart are left out of the exposure",
    ),
    Choice(
        "what", FIRST_WAY, WAYS,
        field="what", flag="--what",
        help="what is drawn (default: weight)",
    ),
    Choice(
        "direction", "row", ("row", "column"), field="direction", flag="--direction",
        help="row: whom the patch listens to; column: who listens to it",
    ),
    Choice(
        "colours", "shared", ("shared", "own"), field="colours", flag="--colours",
        help="of several maps: shared: one exposure for all of them; own: each its own",
    ),
    Choice(
        "ceiling", "auto", pattern=rf"auto|{_NUMBER}", field="ceiling", flag="--ceiling",
        help="holds the exposure: the value that is drawn brightest, such as 0.05 (default: of the brightest patches)",
    ),
    Choice(
        "log", False, field="log", flag="--log",
        help="brightness by the logarithm, down to a thousandth of the brightest; scores and similarity "
        "stay linear (default: of a wall and a large grid whose maps share their exposure)",
    ),
    Choice("smooth", False, field="smooth", flag="--smooth", help="interpolate the heat between patches"),
    Choice("grid", False),
    Choice(
        "draw", "heat", ("heat", "light"), field="draw", flag="--draw",
        help="heat: warm colours above the photograph; light: the photograph lit where it is attended to, and "
        "outlines around the fewest patches that hold at least 60 % of the attention; scores, similarity and the wall "
        "are always heat",
    ),
    Choice("k", 3, (3, 5, 7), field="kernel", flag="--kernel", help="of the convolution (default: 3)"),
    Choice(
        "depth", "follow", pattern=r"follow|\d{1,3}", field="depth", flag="--depth",
        help="how many convolutions on top of each other reach the faintly lit field: a number, or follow, as many as "
        "the transformer's layers so far (default: follow)",
    ),
    Choice("beside", "convolution", ("convolution", "wall", "compare", "filter")),
    Choice("curtain", 0, pattern=r"[01](\.\d{1,3})?"),
)  # fmt: skip
FIGURE_CHOICES = tuple(choice for choice in VIEW_CHOICES if choice.field)  # the choices that a figure has too


def as_in_address(value: object) -> str:
    """The value as an address writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def allowed_words(words: Mapping[str, str]) -> dict[str, str]:
    """The words of a link that name a choice and give it an allowed value; all others are dropped."""
    return with_allowed_values(words, {choice.key: choice.text for choice in VIEW_CHOICES})


def with_allowed_values(words: Mapping[str, str], patterns: Mapping[str, str]) -> dict[str, str]:
    """The words whose values match their patterns, in the patterns' order."""
    return {
        key: words[key]
        for key, pattern in patterns.items()
        if key in words and re.fullmatch(pattern, words[key], re.ASCII)
    }
