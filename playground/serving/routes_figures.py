"""A figure is an address: /figure.svg?sample=meadow&model=bundled&layer=4&head=0 is the file that the command makes.

Stills and numbers of samples are asked for by GET, so that a slide or a web page can hold one. What moves or lives, and
whatever shows somebody's own picture, is asked for by POST with their key; its words stand in the address all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.figures.drawing.option_words import OptionError
from playground.serving import exports, figure_files, figure_words, people
from playground.serving.answering import Refused, answer, changes
from playground.serving.people import Person

HOUR = "public, max-age=3600"  # a new version of the app may draw the same address differently
PRIVATE = "no-store"
DOWNLOAD = "download"  # =1: a browser keeps the file instead of showing it


async def figure(request: Request) -> Response:
    kind, person = request.path_params["kind"], people.of(request)
    words = dict(request.query_params)
    keeps = words.pop(DOWNLOAD, "") == "1" or kind == "html"  # which is a page of its own, and none of this server's

    return await _answered(request, lambda: _figure(request, kind, words, keeps, person))


async def _answered(request: Request, work: Callable[[], Response]) -> Response:
    """What can't be is told in the words of an address."""

    def done() -> Response:
        try:
            return work()
        except OptionError as error:
            raise Refused(error.told(figure_words.IN_ADDRESS)) from None

    return await answer(request, done)


def _figure(request: Request, kind: str, words: dict[str, str], keeps: bool, person: Person | None) -> Response:
    if kind not in figure_files.TYPES:
        raise Refused(f"There is no figure.{kind[:20]}; there are {', '.join(figure_files.TYPES)}.", 404)
    if request.method != "POST" and kind not in figure_files.STILL:
        raise Refused(f"A .{kind} takes long to make: it is asked for by POST, with your browser's key.", 405)
    if request.method != "POST" and _names_own(words):
        raise Refused("A figure of your own picture is asked for by POST, with your browser's key.", 403)
    here, spec = figure_words.read(words, kind, person)
    headers = {"Cache-Control": PRIVATE if here.private or kind not in figure_files.STILL else HOUR}
    if not here.private:
        headers["ETag"] = tag = f'"{figure_files.digest(here, spec, kind)}"'
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
    headers["Content-Disposition"] = _disposition(figure_files.name(spec, kind), keeps)
    return Response(figure_files.file(here, spec, kind, person), headers=headers, media_type=figure_files.TYPES[kind])


def _names_own(words: dict[str, str]) -> bool:
    return "mine" in words or words.get("with", "").startswith("mine:")


def _disposition(name: str, keeps: bool) -> str:
    return f"{'attachment' if keeps else 'inline'}; filename*=UTF-8''{quote(name, safe='')}"


async def offered(request: Request) -> Response:
    """What Export offers for these words, what of it they choose, and where the file and its preview are."""
    person, words = people.of(request), dict(request.query_params)
    return await _answered(request, lambda: _data(exports.offers(words, person)))


async def size(request: Request) -> Response:
    """A sentence about the interactive file that these words choose."""
    person, words = people.of(request), dict(request.query_params)
    return await _answered(request, lambda: _data({"says": exports.said_of(words, person)}))


def _data(data: dict) -> Response:
    return JSONResponse(data, headers={"Cache-Control": PRIVATE})


ROUTES = [
    Route("/figure.{kind}", figure, methods=["GET"]),
    Route("/figure.{kind}", changes(figure), methods=["POST"]),
    Route("/api/exports", offered),
    Route("/api/exports/size", size),
]
