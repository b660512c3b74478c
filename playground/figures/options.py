"""The options of a figure, for type checkers and editors: `save(…, hed=0)` is an error before anything runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypedDict

from playground.analysis.occlusion import Filling
from playground.pack.record import Numbers
from playground.relevance import Method

Theme = Literal["light", "dark"]
Direction = Literal["row", "column"]
Draw = Literal["heat", "light"]
Beneath = Literal["photo", "grey", "none"] | None
Colours = Literal["shared", "own"]
Words = Literal["plain", "paper"]


class FigureOptions(TypedDict, total=False):
    """What `save` takes: the fields of Spec (drawing/spec.py), which says what each means."""

    layout: str
    whole: bool
    label: str | int
    text: str
    method: Method
    signed: bool | None
    blank: Filling
    typical: bool
    what: str
    direction: Direction
    kernel: int
    depth: str | int
    other_queries: str | None
    rows: str | None
    columns: str | None
    purpose: str
    width: float | None
    font: str | None
    letters: bool
    theme: Theme
    transparent: bool
    draw: Draw
    over: Beneath
    mass: float | None
    mask: bool
    colours: Colours
    ceiling: float | None
    log: bool | None
    smooth: bool
    caption: bool
    bar: bool
    marker: bool
    prefix: bool
    footer: bool
    words: Words
    anonymous: bool
    dpi: int | None
    sweep: str | None
    layers: Iterable[int] | Literal["all"] | None
    heads: Iterable[int] | None
    view: str
    bare: bool
    pack: Numbers
