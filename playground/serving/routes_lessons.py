"""Serves lessons as data: a lesson's settings and steps, and the parts of a step for a picture in a model, with these
settings. microscope/shell/lessonpage.js shows them."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.pictures.jpegs import data_url
from playground.serving import chosen, people
from playground.serving.answering import Refused, answer
from playground.serving.here import Here

if TYPE_CHECKING:
    from playground.lessons.lesson import Lesson


async def lesson(request: Request) -> Response:
    def work() -> Response:
        from playground.serving import site_files  # imports torch, which a server's first picture must not wait for

        name, lesson = _lesson_of(request)
        record = site_files.lesson_record(lesson, lambda step: f"api/lessons/{name}/{step}")
        for step_record, step in zip(record["steps"], lesson.steps.values(), strict=True):
            step_record["asks"] = sorted({setting for group in step.ahead for setting in group})
        return _unless_known(request, JSONResponse(record))

    return await answer(request, work)


async def step(request: Request) -> Response:
    def work() -> Response:
        from playground.serving import site_files

        _, lesson = _lesson_of(request)
        if (step := lesson.steps.get(request.path_params["step"])) is None:
            raise Refused("This lesson has no such step.", 404)
        here = Here(*chosen.read_address(request.query_params), people.key_of(request))
        settings = {name: setting.value_in(name, request.query_params) for name, setting in lesson.choices.items()}
        parts = site_files.played(lesson, step, here, lambda data: data_url(data, "octet-stream"), **settings)
        return _unless_known(request, JSONResponse(parts))

    return await answer(request, work)


def _lesson_of(request: Request) -> tuple[str, Lesson]:
    from playground.lessons.registry import LESSONS

    name = request.path_params["lesson"]
    if name not in LESSONS:
        raise Refused("There is no such lesson.", 404)
    return name, LESSONS[name]


def _unless_known(request: Request, response: Response) -> Response:
    """The response, or a short one if the browser has kept it."""
    tag = f'"{sha256(response.body).hexdigest()[:16]}"'
    headers = {"Cache-Control": "private, no-cache", "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    response.headers.update(headers)
    return response


ROUTES = [Route("/api/lessons/{lesson}", lesson), Route("/api/lessons/{lesson}/{step}", step)]
