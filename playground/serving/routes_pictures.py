"""A person's own pictures: brought in one request, kept in memory for whoever has the key, forgotten when told to."""

from __future__ import annotations

from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.serving import incoming, people, pictures
from playground.serving.answering import Refused, answer, changes, said
from playground.serving.pictures import Picture

PRIVATE = {"Cache-Control": "private, no-store"}


@changes
async def bring(request: Request) -> Response:
    """The body is the file; its name stands in a header."""
    key = people.key_of(request)
    try:
        data = await incoming.read(request)
    except Refused as refused:
        return said(str(refused), refused.status)
    name = unquote(request.headers.get("x-playground-name", "picture"))

    def work() -> Response:
        picture = pictures.upload(data, name)
        people.enter(key).take(picture)
        return JSONResponse(described(picture), headers=PRIVATE)

    return await answer(request, work)


@changes
async def take_labelled(request: Request) -> Response:
    """A picture of the labelled data set by its number, as if it had been brought."""
    key = people.key_of(request)

    def work() -> Response:
        text = request.query_params.get("number", "")
        if not (text.isascii() and text.isdecimal() and len(text) < 9):
            raise Refused(f"The number of a picture is digits; asked was {text[:20]!r}.")
        picture = pictures.labelled(int(text))
        people.enter(key).take(picture)
        return JSONResponse(described(picture), headers=PRIVATE)

    return await answer(request, work)


def described(picture: Picture) -> dict:
    return {"id": picture.id, "title": picture.name, "thumb": picture.thumbnail}


async def show(request: Request) -> Response:
    person = people.of(request)
    found = person and person.pictures.get(request.path_params["id"])
    if not found:
        return said("There is no such picture of yours on the server.", 404)
    return Response(found.jpeg, media_type="image/jpeg", headers=PRIVATE)


@changes
async def forget_one(request: Request) -> Response:
    person = people.of(request)
    if person is None or not person.drop(request.path_params["id"]):
        return said("There is no such picture of yours on the server.", 404)
    return Response(status_code=204)


@changes
async def forget_all(request: Request) -> Response:
    people.forget(people.key_of(request))
    return Response(status_code=204)


ROUTES = [
    Route("/api/pictures", bring, methods=["POST"]),
    Route("/api/pictures", forget_all, methods=["DELETE"]),
    Route("/api/pictures/{id}.jpg", show),
    Route("/api/pictures/{id}", forget_one, methods=["DELETE"]),
    Route("/api/labelled", take_labelled, methods=["POST"]),
]
