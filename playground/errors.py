"""The one exception that people see: a sentence that says what was wrong, what was given and what to do."""


class PlaygroundError(ValueError):
    """Something a person can put right. Its text is shown to them as it stands."""


class Busy(PlaygroundError):
    """The machine is busy: the same request may work in a moment."""


class PlaygroundWarning(UserWarning):
    """Something a person should know about a result that they get anyway. Its text is shown as it stands."""


class NoRoom(PlaygroundError):
    """A graphics card has too little memory for a pass."""
