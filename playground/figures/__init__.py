"""Figures for talks and papers: a Spec says everything, `draw` makes it, `write` saves it, `command` says it again."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playground.figures.commanding import command
    from playground.figures.composing import draw
    from playground.figures.sheet import Drawing
    from playground.figures.spec import Spec
    from playground.figures.sweeping import MOVING, animate
    from playground.figures.writing import SUFFIXES, write

__all__ = ["MOVING", "SUFFIXES", "Drawing", "Spec", "animate", "command", "draw", "write"]

_HOME = {
    "command": "commanding",
    "draw": "composing",
    "Drawing": "sheet",
    "Spec": "spec",
    "animate": "sweeping",
    "MOVING": "sweeping",
    "write": "writing",
    "SUFFIXES": "writing",
}


def __getattr__(name: str):
    """Each name is fetched when it is first used: the command line's help does not wait for matplotlib."""
    if name not in _HOME:
        raise AttributeError(f"module 'playground.figures' has no attribute {name!r}")
    globals()[name] = getattr(import_module(f"playground.figures.{_HOME[name]}"), name)
    return globals()[name]
