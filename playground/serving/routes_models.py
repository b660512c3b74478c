"""The models over HTTP: which there are, what each makes of a picture, and fetching one."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
from PIL import Image
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.errors import PlaygroundError
from playground.figures.drawing import light
from playground.models.names import plain_name
from playground.pictures import jpegs
from playground.samples import start_patch
from playground.serving import chosen, fetching, models, people, settings, traces
from playground.serving.answering import Refused, answer, changes, who
from playground.serving.cache import Cache
from playground.serving.fetching import Fetching
from playground.serving.pictures import Picture
from playground.serving.routes_pictures import PRIVATE
from playground.serving.traces import Wish

# What a model makes of the picture on the page, small, for the model's card.


WIDE = 168  # pixels


def preview(picture: Picture, model: str, own: Cache | None) -> Image.Image:
    """The picture under the heat of one row: of the layer, head and patch that it opens with in this model."""
    from playground.tracing import Trace

    wish = Wish(model, chosen.detail(picture.sample_name, model))
    view = chosen.opening_view(picture.sample_name, wish)
    wanted = [int(view["layer"])] if view else None
    seen = Trace.from_bytes(traces.layers(picture, wish, own, wanted))  # what was made ahead needs no forward pass
    row = seen.row(next(iter(seen.record)), int(view.get("head", 0)), start_patch(picture.name, seen.grid))
    patches = seen.on_grid(row).numpy()
    image = picture.image.resize((WIDE, round(WIDE * picture.image.height / picture.image.width)))
    shares = Image.fromarray(light.shares(patches, light.exposure(patches)).astype(np.float32))
    return Image.fromarray(light.heat(np.asarray(image), np.asarray(shares.resize(image.size, Image.NEAREST))))


LONGEST_SEARCH = 80  # letters
SAMPLE = "public, max-age=3600"  # how long a browser keeps a small picture, which the next version may draw otherwise


async def offered(request: Request) -> Response:
    """The models as cards: those that are offered, or those of timm that a search finds."""
    text = request.query_params.get("search", "").strip()

    def work() -> Response:
        is_open = settings.now().open
        if text and not is_open:
            raise Refused("This server offers the models of its list and no others.", 403)
        if len(text) > LONGEST_SEARCH:
            raise PlaygroundError(f"No model is found by {len(text):,} letters: search for a part of its name.")
        cards = models.search(text) if text else models.cards()
        told = [{**asdict(card), "quick": card.quick} for card in cards]
        return JSONResponse({"open": is_open, "cards": told}, headers=PRIVATE)

    return await answer(request, work)


async def looked_through(request: Request) -> Response:
    """The picture under one row's heat in this model, as a small JPEG. Nothing is fetched for it."""
    person = people.of(request)

    def work() -> Response:
        picture, wish = chosen.read(request.query_params, person)
        image = jpegs.as_jpeg(preview(picture, wish.model, person and person.traces))
        headers = {"Cache-Control": SAMPLE} if picture.sample else PRIVATE
        return Response(image, media_type="image/jpeg", headers=headers)

    return await answer(request, work)


@changes
async def begin(request: Request) -> Response:
    name = _name(request)

    def work() -> Response:
        models.check_name(name)
        if models.is_here(name):
            return _arrived()
        if not models.may_fetch(name):
            raise Refused(f"{plain_name(name)} is not on this machine, and this server fetches nothing.", 403)
        return _told(fetching.wait_for(people.key_of(request), name, who(request).address))

    return await answer(request, work)


async def ask(request: Request) -> Response:
    name = _name(request)

    def work() -> Response:
        if (coming := fetching.asks(people.key_of(request), name)) is None:
            raise Refused(f"{plain_name(name)} is not being fetched for you: ask for it again.", 404)
        return _told(coming)

    return await answer(request, work)


@changes
async def leave(request: Request) -> Response:
    name = _name(request)

    def work() -> Response:
        fetching.leave(people.key_of(request), name)
        return Response(status_code=204)

    return await answer(request, work)


def _name(request: Request) -> str:
    return request.query_params.get("model", "")[: models.LONGEST_NAME + 1]  # one more is refused by check_name


def _told(coming: Fetching) -> Response:
    return _progress(coming.bytes, coming.total, coming.arrived, coming.over, coming.trouble)


def _arrived() -> Response:
    return _progress(0, 0, True, True, None)


def _progress(count: int, total: int, arrived: bool, over: bool, trouble: str | None) -> Response:
    """`arrived`: all bytes have come, and it is being loaded; `over`: it can be shown, or `trouble` says why not."""
    told = {"bytes": count, "total": total, "arrived": arrived, "over": over, "trouble": trouble}
    return JSONResponse(told, headers=PRIVATE)


ROUTES = [
    Route("/api/models", offered, methods=["GET"]),
    Route("/api/preview", looked_through, methods=["GET"]),
    Route("/api/fetching", begin, methods=["POST"]),
    Route("/api/fetching", ask, methods=["GET"]),
    Route("/api/fetching", leave, methods=["DELETE"]),
]
