"""Defines the exceptions and the warning whose texts people see: the mistake, the given value and the remedy."""


class PlaygroundError(ValueError):
    """An error that a person can put right. Its text is shown to the person unchanged."""


class Busy(PlaygroundError):
    """The machine is busy: the same request may work in a moment."""


class PlaygroundWarning(UserWarning):
    """A fact that a person should know about a result. The result is given anyway; the text is shown unchanged."""


class NoRoom(PlaygroundError):
    """A graphics card has too little memory for a pass."""
