"""Serves the wall of moments: pictures that each show one row of attention weights in a sample. A click on a picture
opens that row. A search for telling rows found them, and the best were chosen by eye. The numbers that stand beside the
pictures are measured here."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256

import numpy as np
from PIL import Image, ImageDraw
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.figures.drawing import places
from playground.models.names import plain_name
from playground.pack import unpack
from playground.samples import Sample, named
from playground.serving import chosen, pictures, traces
from playground.serving.answering import Refused, answered
from playground.serving.prepared import model_digest, sample_digest
from playground.serving.routes_samples import FOREVER
from playground.version import __version__

PICTURE_HEIGHT = 300  # pixels: the height of a picture
JPEG_QUALITY = 82
FRAME_COLOURS = ("#0072b2", "#ffffff")  # colours of the inner and the outer frame around the query's patch


@dataclass(frozen=True)
class Moment:
    sample: str
    layer: int
    head: int
    patch: tuple[int, int]  # row and column of the query

    @property
    def shown_sample(self) -> Sample:
        return named(self.sample)

    @property
    def model(self) -> str:
        return self.shown_sample.look.model if self.shown_sample.look else "bundled"

    def words(self) -> dict[str, str]:
        """The words of the address that opens this moment in the microscope."""
        row, column = self.patch
        place = {"layer": str(self.layer), "head": str(self.head), "query": f"{row},{column}"}
        return {"sample": self.sample, "model": self.model} | place | {"face": "see"}


MOMENTS = (
    Moment("chelsea", 6, 5, (11, 24)),
    Moment("flock", 4, 0, (9, 3)),
    Moment("coffee", 6, 0, (9, 11)),
    Moment("camera", 6, 5, (19, 15)),
    Moment("astronaut", 10, 4, (19, 9)),
    Moment("twins", 3, 3, (6, 3)),
    Moment("rocket", 11, 1, (16, 17)),
    Moment("chelsea", 7, 2, (8, 14)),
    Moment("coffee", 7, 4, (15, 20)),
    Moment("odd-tile", 4, 3, (5, 7)),
    Moment("camera", 10, 1, (14, 16)),
    Moment("astronaut", 9, 3, (4, 11)),
    Moment("chelsea", 9, 3, (6, 12)),
    Moment("flock", 5, 0, (3, 11)),
    Moment("rocket", 6, 3, (19, 17)),
    Moment("coffee", 6, 5, (12, 20)),
    Moment("portrait", 3, 5, (9, 6)),
    Moment("astronaut", 11, 2, (13, 8)),
    Moment("camera", 9, 0, (14, 8)),
    Moment("twins", 4, 0, (5, 7)),
    Moment("coffee", 11, 0, (9, 19)),
    Moment("chelsea", 7, 5, (10, 22)),
    Moment("still-life", 4, 0, (7, 2)),
    Moment("two-colours", 4, 0, (6, 6)),
)


def on_this_machine() -> tuple[Moment, ...]:
    """The moments whose sample and model are on this machine."""
    return tuple(
        moment
        for moment in MOMENTS
        if moment.shown_sample.is_here and chosen.usual_setup(moment.sample).model == moment.model
    )


@cache
def edition(moments: tuple[Moment, ...]) -> str:
    """A digest of everything that the pictures depend on."""
    inputs = [(moment, sample_digest(moment.sample), model_digest(moment.model)) for moment in moments]
    return sha256(repr((inputs, PICTURE_HEIGHT, JPEG_QUALITY, __version__)).encode()).hexdigest()[:16]


def moment_records(address: Callable[[Moment], str]) -> list[dict]:
    """The moments as shell/wall.js reads them. `address` gives the address of a moment's picture."""
    return [
        {
            "words": moment.words(), "row": facts(moment), "title": moment.shown_sample.title,
            "picture": address(moment),
            "model": plain_name(moment.model), "size": [round(PICTURE_HEIGHT * aspect(moment)), PICTURE_HEIGHT],
        }
        for moment in on_this_machine()
    ]  # fmt: skip


def aspect(moment: Moment) -> float:
    width, height = pictures.sample(moment.sample).size
    return width / height


@lru_cache(len(MOMENTS))
def _weights(moment: Moment) -> tuple[np.ndarray, tuple[str, ...], tuple[int, int]]:
    """(the query's weights, names of the prefix tokens, the grid). Computed without torch, whose import would delay
    the page."""
    data = traces.pack_of_layers(pictures.sample(moment.sample), traces.Setup(moment.model), [moment.layer])
    header, arrays = unpack(data)
    (row, column), (rows, columns), prefix = moment.patch, header["grid"], tuple(header["prefix"])
    q, k = (arrays[name][0, moment.head].astype(np.float32) for name in ("q", "k"))  # (N, d_k)
    scores = k @ q[len(prefix) + row * columns + column] * header["scale"]  # (N,)
    weights = np.exp(scores - scores.max())
    return weights / weights.sum(), prefix, (rows, columns)


def facts(moment: Moment) -> dict:
    """The facts about one row, from which core/says.js makes a sentence."""
    weights, prefix, (rows, columns) = _weights(moment)
    row, parts = weights[len(prefix) :].reshape(rows, columns), moment.shown_sample.parts
    mark, strongest = moment.patch[0] * columns + moment.patch[1], int(weights.argmax())
    told = places.told(row, mark, parts)
    told["places"] = [place | {"share": round(place["share"], 5)} for place in told["places"]]
    from_part = next((part for part in parts if part.holds(mark, (rows, columns))), None)
    return {
        "told": told, "fromPart": from_part and {"kind": from_part.kind, "box": from_part.box},
        "even": False, "off": False, "alike": None, "most": round(float(weights[strongest]), 5),
        "token": prefix[strongest] if strongest < len(prefix) else "",
    }  # fmt: skip


@lru_cache(len(MOMENTS))
def picture(moment: Moment) -> bytes:
    """A JPEG of the photograph under the heat map, as the microscope draws it, with a frame around the query's
    patch."""
    from playground.figures.drawing import light, prints

    weights, prefix, grid = _weights(moment)
    photo = pictures.sample(moment.sample).image.convert("RGB")
    photo = photo.resize((round(PICTURE_HEIGHT * aspect(moment)), PICTURE_HEIGHT), Image.Resampling.LANCZOS)
    values = weights[len(prefix) :].reshape(grid)
    shares = light.shares(prints.to_pixels(values, photo.size), light.exposure(values))
    image = Image.fromarray(light.heat(np.asarray(photo), shares))
    pen, (row, column) = ImageDraw.Draw(image), moment.patch
    height, width = image.height / grid[0], image.width / grid[1]
    left, top, right, bottom = column * width, row * height, (column + 1) * width, (row + 1) * height
    for colour, margin, line_width in zip(reversed(FRAME_COLOURS), (3, 2), (4, 2), strict=True):
        pen.rectangle(
            (left - margin, top - margin, right + margin - 1, bottom + margin - 1), outline=colour, width=line_width
        )
    file = io.BytesIO()
    image.save(file, "JPEG", quality=JPEG_QUALITY)
    return file.getvalue()


@answered
def moment_list(request: Request) -> Response:
    digest = edition(on_this_machine())
    moments = moment_records(lambda moment: f"api/moments/{digest}/{MOMENTS.index(moment)}.jpg")
    return JSONResponse(moments, headers={"Cache-Control": "no-cache"})


@answered
def send(request: Request) -> Response:
    moments = on_this_machine()
    if request.path_params["edition"] != edition(moments):
        raise Refused("This page is older than the server: reload it.", 410)
    number = chosen.number(request.path_params, "number", len(MOMENTS))
    if MOMENTS[number] not in moments:
        raise Refused("Its picture is not on this machine.", 404)
    return Response(picture(MOMENTS[number]), media_type="image/jpeg", headers=FOREVER)


ROUTES = [Route("/api/moments", moment_list), Route("/api/moments/{edition}/{number}.jpg", send)]
