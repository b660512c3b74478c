"""The scripts of microscope/lessons/ that a host mounts: in which element, and in which styles."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Script:
    box: str  # the element's class, and its data-attribute
    styles: tuple[str, ...]  # files of microscope/

    @property
    def html(self) -> str:
        return f'<div class="{self.box}" data-{self.box}></div>'


SCRIPTS = {
    "guess": Script("guess", ("lessons/guess.css",)),
    "exercise": Script("exercise", ("lessons/exercise.css",)),
    "softmaxbars": Script("softmax", ("lessons/softmaxbars.css",)),
}
