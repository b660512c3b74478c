"""Lessons of the playground without a server: those of whose drawings JavaScript makes all numbers.

Their words, guesses and exercises are those of the app; the picture that they look at is a sample, worked out ahead."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from plotly.offline import get_plotlyjs

from playground.figures.bundle import bundle, stylesheet
from playground.lessons import teaching
from playground.lessons.questions import Question, plain
from playground.lessons.scripts import SCRIPTS, Script
from playground.lessons.texts import Step
from playground.lessons.words import LESSONS, TEXTS
from playground.lessons.words import by_hand as by_hand_words
from playground.lessons.words import patches as patches_words
from playground.pack import unpack
from playground.serving import lesson_files
from playground.serving.here import Here
from playground.serving.site_files import Folder
from playground.ui import guess
from playground.ui.lessons import (
    by_hand,
    patches,
    patches_cut,
    patches_filters,
    patches_positions,
    patches_shuffle,
)
from playground.ui.lessons.drawings import with_header

PICTURE = {"sample": "meadow", "model": "bundled"}  # which the lessons look at
SOME_PATCHES = (8, 16, 32)  # of the app's choices: each is a file
LAYER, ORDER = 1, 1  # in which the patches are mixed
DRAWN = {
    name: Script("drawing", ("drawing/drawing.css", f"lessons/{page}.css"))
    for page, names in {
        "by_hand": ("arrows", "masks", "friends", "received"),
        "patches": ("patches", "filters", "positions", "shuffle"),
    }.items()
    for name in names
}  # fmt: skip
DONE = {  # exercises: the settings in which each is done; microscope/lessons/checks.js knows the others
    "by_hand_hot": {"temperature": [str(one) for one in by_hand.TEMPERATURES if one >= by_hand.EVEN]},
    "by_hand_causal": {"mask": ["causal"]}, "patches_halve": {"patch": ["8"]},
    "patches_sines": {"table": ["sinusoidal"]}, "patches_told": {"positions": ["on"]},
}  # fmt: skip


def write(folder: Folder) -> dict[str, str]:
    """{page: a file of JSON}: what shell/sitelessons.js shows."""
    here = Here(PICTURE)
    pages = {"by_hand": _by_hand, "patches": _patches}
    scripts = {
        name: {
            "script": folder.put(f"lessons/{name}.js", bundle(f"lessons/{name}.js").encode()),
            "styles": folder.put(f"lessons/{name}.css", stylesheet(*script.styles).encode()),
            "box": script.box,
        }
        for name, script in (SCRIPTS | DRAWN).items()
    }
    script = get_plotlyjs()
    styles = ["plotly.js-style-global", *re.findall(r'getElementById\("([0-9a-f]{64})"\)', script)]
    plotly = {"file": folder.put("lessons/plotly.js", script.encode()), "styles": styles}
    host = folder.put("lessons/host.js", bundle("lessons/host.js").encode())
    shared = {"scripts": scripts, "plotly": plotly, "host": host}
    written = {}
    for name, lesson in LESSONS.items():
        told = lesson_files.write(folder, lesson, here) | shared
        written[name] = folder.put(f"lessons/{name}.json", json.dumps(told, ensure_ascii=False).encode())
    for page, make in pages.items():
        settings, steps = make(folder, here)
        told = {
            "settings": {name: str(value) for name, value in settings.items()},
            "steps": _with_those_of_the_app(page, steps),
            **shared,
        }
        written[page] = folder.put(f"lessons/{page}.json", json.dumps(told, ensure_ascii=False).encode())
    return written


def _with_those_of_the_app(page: str, steps: list[dict]) -> list[dict]:
    """All steps that the lesson has; those whose numbers Python alone makes have no parts."""
    here = {step["name"]: step for step in steps}
    return [here.get(name, {"name": name, "title": title}) for name, title in TEXTS[page].titles.items()]


def _step(name: str, text: Step, *parts: dict) -> dict:
    return {"name": name, "title": text.title, "parts": [_words(text.prose), *parts, *_exercises(text)]}


def _words(text: str, **numbers: object) -> dict:
    return {"kind": "words", "text": text.format(**numbers)}


def _asks(ask: Question | Callable[[], None]) -> dict:
    """A page that measures its question asks it itself."""
    if isinstance(ask, Question):
        return {"kind": "ask", "question": plain(ask)}
    with guess.gathered() as found:
        ask()
    return {"kind": "ask", "question": found[0]}


def _exercises(text: Step, **numbers: object) -> Iterable[dict]:
    found = (one.filled(**numbers) for one in text.exercises)
    return ({"kind": "exercise", "exercise": plain(one), "done": DONE.get(one.id)} for one in found)


def _drawing(name: str, settings: Sequence[str] = (), **more) -> dict:
    return {"kind": "drawing", "name": name, "settings": settings, **more}


def _choice(setting: str, label: str, options: Mapping) -> dict:
    return {
        "kind": "choice",
        "setting": setting,
        "label": label,
        "options": [[str(k), str(v)] for k, v in options.items()],
    }


def _after(id: str, *parts: dict) -> list[dict]:
    """Seen when the question was guessed."""
    return [part | {"after": id} for part in parts]


def _defaults(settings: Mapping, *names: str) -> dict:
    return {name: settings[name].default for name in names}


def _by_hand(folder: Folder, here: Here) -> tuple[dict, list[dict]]:
    settings = _defaults(by_hand.SETTINGS, "arrows", "temperature", "hidden", "at", "mask")
    steps = by_hand_words.TEXT.steps
    arrows = _drawing("arrows", ("arrows",), data={"start": settings["arrows"], "still": False})
    begins = {name: settings[name] for name in ("temperature", "hidden", "at")}
    colours = with_header(
        by_hand.on_colours(here, by_hand.SETTINGS["patch"].default),
        id="colours", temperatures=by_hand.TEMPERATURES, **begins,
    )  # fmt: skip
    friends = _drawing("friends", tuple(begins), file=folder.put("lessons/colours.bin", colours))
    numbers = {"values": teaching.VALUES, "letters": list(teaching.TOKENS)}
    first = [
        _asks(by_hand_words.longer()),
        *_after("by_hand_query", arrows, *_exercises(steps["arrows"], **by_hand.at_first())),
    ]
    second = [
        _words(steps["values"].prose), arrows, _asks(by_hand_words.mean()),
        *_after("by_hand_values", _drawing("received", ("arrows",), data=numbers),
                *_exercises(steps["values"], **by_hand.NEARLY)),
    ]  # fmt: skip
    return settings, [
        {"name": "arrows", "title": steps["arrows"].title, "parts": first},
        {"name": "values", "title": steps["values"].title, "parts": second},
        _step("colours", steps["colours"], friends, _asks(by_hand_words.dark())),
        _step("masks", steps["masks"], _drawing("masks", ("arrows", "mask")), _asks(by_hand_words.mask())),
    ]


def _patches(folder: Folder, here: Here) -> tuple[dict, list[dict]]:
    settings = _defaults(patches.SETTINGS, "patch", "at", "number", "pictures", "filter", "table", "place", "positions",
                         "asker")  # fmt: skip
    steps = patches_words.TEXT.steps

    def files(name: str, made: dict[str, bytes], **begins: object) -> dict[str, str]:
        return {key: folder.put(f"lessons/{name}-{key}.bin", with_header(data, **begins)) for key, data in made.items()}

    def told(made: dict[str, bytes], say: Callable[[dict], str]) -> dict[str, str]:
        return {key: say(unpack(data)[0]) for key, data in made.items()}

    cut = {str(size): patches_cut.cut_up(here, size) for size in SOME_PATCHES}
    seen = {shown: patches_filters.answered(here, shown) for shown in patches_filters.SHOWN}
    places = {table: patches_positions.placed(here, table) for table in patches_positions.TABLES}
    mixed = {which: patches_shuffle.reordered(here, LAYER, ORDER, which) for which in ("off", "on")}
    apart = [
        _choice("patch", "Patch size in pixels", {size: size for size in SOME_PATCHES}),
        _drawing("patches", ("at", "number"), by="patch", files=files("cut", cut, at="", number=0)),
        {"kind": "said", "by": "patch", "texts": told(cut, patches_cut.measured)},
    ]
    filters = [
        _choice("pictures", "Show", patches_filters.SHOWN),
        _drawing("filters", ("filter",), by="pictures", files=files("filters", seen, chosen=0)),
        _asks(patches_words.even()),
    ]
    positions = [
        _choice("table", "Positions", patches_positions.TABLES),
        _drawing("positions", ("place",), by="table", files=files("positions", places, place="")),
        {"kind": "said", "by": "table", "texts": told(places, patches_positions.told)},
        _asks(patches_words.below()),
    ]
    shuffled = [
        _choice("positions", "Positions are", {"off": "off", "on": "on"}),
        _drawing("shuffle", ("asker",), by="positions", files=files("shuffle", mixed, at="")),
        {"kind": "said", "by": "positions",
         "texts": {key: patches_shuffle.noticed(unpack(data)[0], key) for key, data in mixed.items()}},
    ]  # fmt: skip
    return settings, [
        {"name": "cut", "title": steps["cut"].title, "parts": [
            _asks(lambda: patches_cut.guess_patches(here)),
            *_after("patches_tokens", *apart, *_exercises(steps["cut"]))]},
        _step("filters", steps["filters"], *filters),
        _step("positions", steps["positions"], *positions),
        {"name": "shuffle", "title": steps["shuffle"].title, "parts": [
            _asks(lambda: patches_shuffle.guess_shuffle(here)),
            *_after("patches_shuffle", *shuffled, *_exercises(steps["shuffle"]))]},
    ]  # fmt: skip
