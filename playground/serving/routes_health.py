"""For machines that watch over the server: whether it lives, and whether somebody who comes now would see a picture."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.serving import opening, pictures
from playground.serving.answering import answer

NOW = {"Cache-Control": "no-store"}


async def lives(_: Request) -> Response:
    return JSONResponse({"alive": True}, headers=NOW)


async def ready(request: Request) -> Response:
    def work() -> Response:
        name = opening.first_sample()
        pictures.sample(name)  # raises where its file is missing or damaged
        return JSONResponse({"ready": True, "first": name}, headers=NOW)

    answered = await answer(request, work)
    return answered if answered.status_code == 200 else JSONResponse({"ready": False}, 503, headers=NOW)


ROUTES = [Route("/healthz", lives), Route("/readyz", ready)]
