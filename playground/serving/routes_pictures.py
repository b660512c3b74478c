"""Receives, sends and deletes people's own pictures, which are kept in memory under a person's key."""

from __future__ import annotations

from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.serving import incoming, people, pictures
from playground.serving.answering import Refused, answer, answered, own_pages_only, sentence_response, visitor
from playground.serving.pictures import Picture

PRIVATE = {"Cache-Control": "private, no-store"}


@own_pages_only
async def bring(request: Request) -> Response:
    """Takes an upload: the request's body is the file, a header holds the file's name."""
    key = visitor(request).person
    try:
        data = await incoming.deliveries().read_body(request)
    except Refused as refused:
        return refused.response
    name = unquote(request.headers.get("x-playground-name", "picture"))

    def work() -> Response:
        picture = pictures.upload(data, name)
        people.everybody().enter(key).take(picture)
        return JSONResponse(picture_record(picture), headers=PRIVATE)

    return await answer(request, work)


@own_pages_only
@answered
def take_labelled(request: Request) -> Response:
    """Takes a picture of the labelled data set by number, as if it had been uploaded."""
    text = request.query_params.get("number", "")
    if not (text.isascii() and text.isdecimal() and len(text) < 9):
        raise Refused(f"A picture's number is written in digits; given was {text[:20]!r}.")
    picture = pictures.labelled_picture(int(text))
    people.everybody().enter(visitor(request).person).take(picture)
    return JSONResponse(picture_record(picture), headers=PRIVATE)


def picture_record(picture: Picture) -> dict:
    return {"id": picture.id, "title": picture.name, "thumb": pictures.thumbnail(picture.image)}


async def show(request: Request) -> Response:
    person = people.person_of(request)
    picture = person and person.pictures.get(request.path_params["id"])
    if not picture:
        return sentence_response("There is no such picture of yours on the server.", 404)
    return Response(picture.jpeg, media_type="image/jpeg", headers=PRIVATE)


@own_pages_only
async def forget_picture(request: Request) -> Response:
    person = people.person_of(request)
    if person is None or not person.drop(request.path_params["id"]):
        return sentence_response("There is no such picture of yours on the server.", 404)
    return Response(status_code=204)


@own_pages_only
async def forget_all(request: Request) -> Response:
    people.everybody().forget(visitor(request).person)
    return Response(status_code=204)


ROUTES = [
    Route("/api/pictures", bring, methods=["POST"]),
    Route("/api/pictures", forget_all, methods=["DELETE"]),
    Route("/api/pictures/{id}.jpg", show),
    Route("/api/pictures/{id}", forget_picture, methods=["DELETE"]),
    Route("/api/labelled", take_labelled, methods=["POST"]),
]
