"""The options of a figure, for type checkers and editors: `save(…, hed=0)` is an error before anything runs."""

from __future__ import annotations

from typing import Literal, TypedDict

from playground.analysis.occlusion import Filling
from playground.relevance import Method

Theme = Literal["light", "dark"]
Direction = Literal["row", "column"]


class FigureOptions(TypedDict, total=False):
    """What `save` takes: the fields of Spec (drawing/spec.py), which says what each means."""

    layout: str
    what: str
    direction: Direction
    label: str | int
    text: str
    method: Method
    blank: Filling
    rows: str | None
    columns: str | None
    width: str | float
    theme: Theme
    colours: str
    ceiling: float | None
    caption: bool
    dpi: int | None
    all_layers: bool
    view: str
    bare: bool
