"""The one exception that people see: a sentence that says what was wrong, what was given and what to do."""


class PlaygroundError(ValueError):
    """Something a person can put right. Its text is shown to them as it stands."""


class Busy(PlaygroundError):
    """Nothing to put right: the machine is busy, and the same may work in a moment."""


class PlaygroundWarning(UserWarning):
    """Something a person should know of a result that they get all the same. Its text is shown as it stands."""


class NoRoom(PlaygroundError):
    """A graphics card has too little memory for a pass."""
