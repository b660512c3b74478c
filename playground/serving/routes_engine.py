"""What a browser needs to compute by itself: the kernels and the weights of networks. Where an operator wants it
(PLAYGROUND_COMPUTE=browser), people's own photographs are looked at by their own machines, and the server has no part
in it. The worker's script is a script like all others."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from threading import Lock

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.figures.bundle import MICROSCOPE
from playground.serving import models, scripts, settings, site_files
from playground.serving.answering import Refused, answer
from playground.serving.scripts import FOREVER

FOLDER = "api/engine"
_one = Lock()


class Shelf:
    """Files in memory, as site_files.Folder has them on a disk. Weights in eight bits take 27 MB."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def put(self, name: str, data: bytes) -> str:
        stem, _, kind = name.rpartition("/")[2].rpartition(".")
        file = f"{stem}-{sha256(data).hexdigest()[:12]}.{kind}"
        self.files[file] = data
        return f"{FOLDER}/{file}"


def computed_by_browsers() -> list[str]:
    """The models that people's own machines run on their photographs; none, where the server does."""
    if settings.now().compute != "browser":
        return []
    return [name for name in site_files.MODELS if models.is_here(name)]


def _made() -> tuple[dict, dict[str, bytes]]:
    with _one:  # whoever comes meanwhile waits for the same
        return _made_once()


@cache
def _made_once() -> tuple[dict, dict[str, bytes]]:
    names, shelf = computed_by_browsers(), Shelf()
    told = {
        "worker": scripts.address("engine/worker.js"),
        "kernels": shelf.put("kernels.wasm", (MICROSCOPE / "engine" / "kernels.wasm").read_bytes()),
        "cards": site_files.cards(names),
        "weights": site_files.write_weights(shelf, names),
    }
    return told, shelf.files


async def what_there_is(request: Request) -> Response:
    def work() -> Response:
        if not computed_by_browsers():
            raise Refused("This server computes by itself.", 404)
        return JSONResponse(_made()[0], headers={"Cache-Control": "no-cache"})

    return await answer(request, work)


async def send(request: Request) -> Response:
    def work() -> Response:
        files = _made()[1] if computed_by_browsers() else {}
        if (name := request.path_params["file"]) not in files:
            raise Refused("There is no such file: reload the page.", 404)
        kind = "application/wasm" if name.endswith(".wasm") else "application/octet-stream"
        return Response(files[name], media_type=kind, headers=FOREVER)

    return await answer(request, work)


ROUTES = [Route(f"/{FOLDER}", what_there_is), Route(f"/{FOLDER}/{{file}}", send)]
