"""Defines the exceptions and the warning whose texts people see: the mistake, the given value and the remedy."""

import sys
import warnings
from importlib import import_module
from typing import Any


class PlaygroundError(ValueError):
    """An error that a person can put right. Its text is shown to the person unchanged."""


class Busy(PlaygroundError):
    """The machine is busy: the same request may work in a moment."""


class PlaygroundWarning(UserWarning):
    """A fact that a person should know about a result. The result is given anyway; the text is shown unchanged."""


class NoRoom(PlaygroundError):
    """A graphics card has too little memory for a pass."""


def needed(module: str, install: str) -> Any:
    """Imports a module that only some installations have. Where it is missing, the error says what to install."""
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise PlaygroundError(f"This needs {module}, which is not installed: pip install '{install}'.") from None


def warn(message: str) -> None:
    """Gives a PlaygroundWarning that points to the line outside the playground which led to it."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "playground":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, PlaygroundWarning, stacklevel=level)
