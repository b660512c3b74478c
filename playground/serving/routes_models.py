"""Serves the list of models, and fetches a model on request."""

from __future__ import annotations

from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.errors import PlaygroundError
from playground.models.names import plain_name
from playground.serving import models, people, settings
from playground.serving.answering import Refused, answered, own_pages_only, visitor
from playground.serving.downloads import Download, downloads
from playground.serving.routes_pictures import PRIVATE

LONGEST_SEARCH = 80  # letters


@answered
def model_list(request: Request) -> Response:
    """The models as cards: those on offer, or the results of a search in timm."""
    text = request.query_params.get("search", "").strip()
    is_open = settings.now().open
    if text and not is_open:
        raise Refused("This server offers the models of its list and no others.", 403)
    if len(text) > LONGEST_SEARCH:
        raise PlaygroundError(f"No model is found by {len(text):,} letters: search for a part of its name.")
    cards = models.search(text) if text else models.cards()
    return JSONResponse({"open": is_open, "cards": [asdict(card) for card in cards]}, headers=PRIVATE)


@own_pages_only
@answered
def begin(request: Request) -> Response:
    name = _name(request)
    models.check_name(name)
    if models.is_here(name):
        download = Download(name)
        download.arrived = download.over = True
        return _progress(download)
    if not models.may_fetch(name):
        raise Refused(f"{plain_name(name)} is not on this machine, and this server fetches nothing.", 403)
    return _progress(downloads().wait_for(visitor(request).person, name, visitor(request).address))


@answered
def ask(request: Request) -> Response:
    name = _name(request)
    if (download := downloads().of(people.key_of(request), name)) is None:
        raise Refused(f"{plain_name(name)} is not being fetched for you: ask for it again.", 404)
    return _progress(download)


@own_pages_only
@answered
def leave(request: Request) -> Response:
    name = _name(request)
    downloads().leave(visitor(request).person, name)
    return Response(status_code=204)


def _name(request: Request) -> str:
    return request.query_params.get("model", "")[: models.LONGEST_NAME + 1]  # check_name refuses a longer name


def _progress(download: Download) -> Response:
    """`arrived`: all bytes are here and the model is loading. `over`: the model can be shown, or `trouble` says why
    not."""
    names = ("bytes", "total", "arrived", "over", "trouble")
    return JSONResponse({name: getattr(download, name) for name in names}, headers=PRIVATE)


ROUTES = [
    Route("/api/models", model_list, methods=["GET"]),
    Route("/api/fetching", begin, methods=["POST"]),
    Route("/api/fetching", ask, methods=["GET"]),
    Route("/api/fetching", leave, methods=["DELETE"]),
]
