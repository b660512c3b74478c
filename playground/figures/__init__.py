"""Figures for talks and papers: a Spec describes a figure, compose.py draws it, files.py makes its file, and
command_line.py the command that makes the file again."""

from playground.figures.drawing.spec import Spec

__all__ = ["Spec"]
