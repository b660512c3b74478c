"""Figures for talks and papers: a Spec describes a figure, `draw` makes it, `write` saves it, and `command` gives the
command line that makes it again."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playground.figures.command_line import NUMBER_SUFFIXES, command
    from playground.figures.compose import draw
    from playground.figures.drawing.sheet import Drawing
    from playground.figures.drawing.spec import Spec
    from playground.figures.files import SUFFIXES, write

__all__ = ["NUMBER_SUFFIXES", "SUFFIXES", "Drawing", "Spec", "command", "draw", "write"]

_HOME = {
    "command": "command_line",
    "draw": "compose",
    "Drawing": "drawing.sheet",
    "Spec": "drawing.spec",
    "NUMBER_SUFFIXES": "command_line",
    "write": "files",
    "SUFFIXES": "files",
}


def __getattr__(name: str):
    """Imports each name when it is first used, so that the command line's help does not wait for matplotlib."""
    if name not in _HOME:
        raise AttributeError(f"module 'playground.figures' has no attribute {name!r}")
    globals()[name] = getattr(import_module(f"playground.figures.{_HOME[name]}"), name)
    return globals()[name]
