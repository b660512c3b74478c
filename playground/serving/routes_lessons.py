"""Serves lessons as data: a lesson's settings and steps, and the parts of a step for a picture in a model, with these
settings. microscope/shell/lessonpage.js shows them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.pictures.jpegs import as_jpeg, data_url
from playground.serving import chosen, people, scripts
from playground.serving.answering import Refused, answered, unless_known
from playground.serving.here import Here
from playground.serving.lesson_scripts import HOST, SCRIPTS, lesson_kit

if TYPE_CHECKING:
    from playground.lessons.lesson import Lesson
    from playground.lessons.parts import Part


@cache
def _kit() -> dict:
    addresses = {
        name: scripts.address(script.file, *script.styles, mounts=script.mounts) for name, script in SCRIPTS.items()
    }
    return lesson_kit(addresses, scripts.address(HOST))


@answered
def kit(request: Request) -> Response:
    """What all lessons share. The page's HTML has it not: a server's first picture would wait for it."""
    return unless_known(request, JSONResponse(_kit()))


@answered
def lesson(request: Request) -> Response:
    from playground.serving import site_files  # imports torch, which a server's first picture must not wait for

    name, lesson = _lesson_of(request)
    record = site_files.lesson_record(lesson, lambda step: f"api/lessons/{name}/{step}")
    for step_record in record["steps"]:
        step_record["asks"] = [one for one in step_record["settings"] if lesson.choices[one].played]
    return unless_known(request, JSONResponse(record))


@answered
def step(request: Request) -> Response:
    """The parts of a step. If some take long, the first answers end with a `wait` in their place, and the browser asks
    again: `whole=no` for what comes before the step's own wait, or the picture, and `whole=yes` for all."""
    from playground.lessons.parts import Picture, Wait, plain_parts
    from playground.lessons.pictures import at_map_size

    lesson_name, lesson = _lesson_of(request)
    step_name, words = request.path_params["step"], request.query_params
    if (step := lesson.steps.get(step_name)) is None:
        raise Refused("This lesson has no such step.", 404)
    here: Any = Here(chosen.read_address(words)[0], _seen_head(words.get("seen", "")), people.key_of(request))
    settings = lesson.defaults(**{name: one.read(words.get(name)) for name, one in lesson.choices.items()})
    parts: Iterable[Part] = step.parts(here, settings)
    wait = ""
    was_opened = here.has_cached(opened := ("opened", lesson_name, step_name))
    if words.get("whole") != "yes" and not was_opened:
        is_new = step.picture and "whole" not in words and not here.has_trace
        parts, wait = _until_wait([Wait(f"Asking {here.model} …")] if is_new else parts)
        if wait and not parts:
            parts = [Picture(as_jpeg(at_map_size(here.image)))]
    records = plain_parts(parts, lambda data: data_url(data, "octet-stream"))
    if wait:
        records.append({"kind": "wait", "text": wait})
    else:
        here.cached(opened, lambda: True)
    return unless_known(request, JSONResponse(records))


def _until_wait(parts: Iterable[Part]) -> tuple[list[Part], str]:
    """(the parts before the first wait, the words of that wait); all parts and "" if there is no wait."""
    from playground.lessons.parts import Wait

    first_parts: list[Part] = []
    for part in parts:
        if isinstance(part, Wait):
            return first_parts, part.words
        first_parts.append(part)
    return first_parts, ""


def _seen_head(text: str) -> dict[str, str]:
    """The layer and head on view in the microscope, as "LAYER.HEAD"."""
    match = re.fullmatch(r"(\d{1,3})\.(\d{1,3})", text, re.ASCII)
    return {"layer": match[1], "head": match[2]} if match else {}


def _lesson_of(request: Request) -> tuple[str, Lesson]:
    from playground.lessons.registry import LESSONS

    name = request.path_params["lesson"]
    if name not in LESSONS:
        raise Refused("There is no such lesson.", 404)
    return name, LESSONS[name]


ROUTES = [
    Route("/api/lessons", kit),
    Route("/api/lessons/{lesson}", lesson),
    Route("/api/lessons/{lesson}/{step}", step),
]
