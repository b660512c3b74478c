"""The scripts of microscope/lessons/ that a host mounts: in which element, and in which styles."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Script:
    box: str  # the element's class, and its data-attribute
    styles: tuple[str, ...]  # files of microscope/
    settles: bool = False  # it takes settings when it opens or comes from elsewhere, and tells them otherwise

    @property
    def html(self) -> str:
        return f'<div class="{self.box}" data-{self.box}></div>'


BY_HAND = Script("drawing", ("drawing/drawing.css", "lessons/by_hand.css"))
PATCHES = Script("drawing", ("drawing/drawing.css", "lessons/patches.css"))
HEADS = ("lessons/heads.css",)
SCRIPTS = {
    "arrows": BY_HAND, "received": BY_HAND, "friends": BY_HAND, "masks": BY_HAND,
    "patches": PATCHES, "filters": PATCHES, "positions": PATCHES, "shuffle": PATCHES,
    "carried": Script("drawing", ("drawing/drawing.css", "lessons/carried.css")),
    "scores": Script("drawing", ("drawing/drawing.css", "lessons/carried.css")),
    "atlas": Script("atlas", HEADS), "board": Script("board", HEADS),
    "push": Script("drawing", ("drawing/drawing.css", "lessons/push.css")),
    "steps": Script("walk", ("lessons/steps.css",)),
    "case": Script("drawing", ("drawing/drawing.css", "lessons/case.css")),
    "guess": Script("guess", ("lessons/guess.css",)),
    "exercise": Script("exercise", ("lessons/exercise.css",)),
    "reel": Script("drawing", ("lessons/reel.css",), settles=True),
    "read": Script("read", ("lessons/read.css",)),
    "softmaxbars": Script("softmax", ("lessons/softmaxbars.css",)),
}  # fmt: skip
