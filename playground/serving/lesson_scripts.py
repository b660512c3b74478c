"""Lists the scripts that draw what a lesson shows."""

from dataclasses import dataclass

from playground.serving import scripts


@dataclass(frozen=True)
class Script:
    file: str  # a script in microscope/
    box: str  # class and data- attribute of the element into which the script draws
    styles: str  # a style sheet in microscope/
    look: str = ""  # another class of the element, for styles of a single lesson
    mounts: str = ""  # the name of the function that mounts the drawing, if the file has several drawings


def _drawing_script(file: str, look: str, mounts: str = "") -> Script:
    return Script(f"lessons/{file}.js", "drawing", "lessons/drawings.css", look, mounts)


LISTING_STYLES, HEAD_STYLES, QUESTION_STYLES = "lessons/listings.css", "lessons/heads.css", "lessons/questions.css"
SCRIPTS = {
    "arrows": _drawing_script("arrows", "by-hand"),
    "friends": _drawing_script("friends", "by-hand"),
    "masks": _drawing_script("nine", "by-hand", "masks"),
    "received": _drawing_script("nine", "by-hand", "received"),
    "carried": _drawing_script("mixture", "mixture", "carried"),
    "scores": _drawing_script("mixture", "mixture", "scores"),
    "patches": _drawing_script("patches", "patches"),
    "filters": _drawing_script("filters", "patches"),
    "positions": _drawing_script("positions", "patches", "positions"),
    "shuffle": _drawing_script("positions", "patches", "shuffle"),
    "push": _drawing_script("push", "push"),
    "case": _drawing_script("case", "cost"),
    "reel": Script("lessons/reel.js", "drawing", "lessons/reel.css"),
    "atlas": Script("lessons/heads.js", "atlas", HEAD_STYLES, mounts="atlas"),
    "board": Script("lessons/heads.js", "board", HEAD_STYLES, mounts="board"),
    "steps": Script("lessons/steps.js", "walk", LISTING_STYLES),
    "read": Script("drawing/listing.js", "read", LISTING_STYLES, mounts="sourceRead"),
    "softmaxbars": Script("lessons/softmaxbars.js", "softmax", LISTING_STYLES),
    "guess": Script("lessons/guess.js", "guess", QUESTION_STYLES),
    "exercise": Script("lessons/exercise.js", "exercise", QUESTION_STYLES, mounts="exercise"),
    "overview": Script("lessons/exercise.js", "overview", QUESTION_STYLES, mounts="overview"),
}
for _script in SCRIPTS.values():
    scripts.offer(_script.file, _script.styles, mounts=_script.mounts)
