"""Serves the sample pictures and the list of samples for the toolbar's strip. Every cache may keep these answers."""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256

from PIL import Image
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from playground.models.names import plain_name
from playground.samples import Sample, samples
from playground.serving import chosen, models, pictures
from playground.serving.answering import Refused, answered
from playground.serving.prepared import sample_digest
from playground.version import __version__

FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}


def address() -> str:
    return f"api/samples/{edition(samples(), models.has_photographs())}"


@cache
def edition(listed_samples: tuple[Sample, ...], has_photographs: bool) -> str:
    """A digest of everything on which the list depends: the samples on this machine, and the models they open in."""
    inputs = (*((sample.name, sample_digest(sample.name)) for sample in listed_samples), has_photographs, __version__)
    return sha256(repr(inputs).encode()).hexdigest()[:16]


@answered
def sample_list(request: Request) -> Response:
    present_samples, has_photographs = samples(), models.has_photographs()
    if request.path_params["edition"] != edition(present_samples, has_photographs):
        raise Refused("This page is older than the server: reload it.", 410)
    return Response(sample_list_json(present_samples, has_photographs), media_type="application/json", headers=FOREVER)


@cache
def sample_list_json(listed_samples: tuple[Sample, ...], has_photographs: bool) -> bytes:
    listing = {
        "samples": [sample_record(sample) for sample in listed_samples],
        "own": {"model": models.PHOTOGRAPH_MODEL if has_photographs else models.default(), "detail": 1},
        "ours": list(models.OUR_MODELS),
        "real": {
            "model": models.PHOTOGRAPH_MODEL, "title": plain_name(models.PHOTOGRAPH_MODEL), "here": has_photographs,
            "may_fetch": models.may_fetch(models.PHOTOGRAPH_MODEL),
            "megabytes": models.megabytes(models.PHOTOGRAPH_MODEL), "with_photographs": True,
        },
    }  # fmt: skip
    return json.dumps(listing, ensure_ascii=False).encode()


def sample_record(sample: Sample) -> dict:
    """The record of a sample in the list."""
    setup = chosen.usual_setup(sample.name)
    view = {key: int(word) for key, word in chosen.opening_view(sample.name, setup).items()}
    image = Image.open(sample.path)
    image.draft("RGB", (pictures.THUMB_SIDE * 2, pictures.THUMB_SIDE * 2))
    return {
        "name": sample.name,
        "title": sample.title,
        "hint": sample.hint,
        "kind": sample.kind,
        "credit": sample.credit,
        "start": list(sample.start),
        "parts": [{"kind": part.kind, "box": part.box} for part in sample.parts],
        "thumb": pictures.thumbnail(image),
        "picture": picture_address(sample.name),
        "opens": {"model": setup.model, "detail": setup.detail} | view,
    }


def picture_address(name: str) -> str:
    return f"api/samples/{name}/{sample_digest(name)}.jpg"


@answered
def picture(request: Request) -> Response:
    name = request.path_params["name"]
    picture, _ = chosen.read({"sample": name}, None)
    if request.path_params["digest"] != sample_digest(name):
        raise Refused("This page is older than the server: reload it.", 410)
    return Response(picture.jpeg, media_type="image/jpeg", headers=FOREVER)


ROUTES = [Route("/api/samples/{edition}", sample_list), Route("/api/samples/{name}/{digest}.jpg", picture)]
