"""Serves each entry module with all its imports and styles as one script. With PLAYGROUND_COMPUTE=browser, also serves
the weights and kernels with which a browser computes by itself.

The address holds a digest of the script, so that every cache may keep it, and a page that is open during a deployment
never mixes old scripts with new ones.
"""

from __future__ import annotations

import mimetypes
from functools import cache
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.figures.bundle import MICROSCOPE, drawing_module, stylesheet
from playground.serving import app, models, settings
from playground.serving.answering import Refused, answered

FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
# (entry, styles, mounts) of each script that browsers may fetch; others are offered where they are listed
_offered: set[tuple[str, tuple[str, ...], str]] = {("engine/worker.js", (), ""), ("shell/phone.js", (), "")}


def offer(entry: str, *styles: str, mounts: str = "") -> None:
    """Lets browsers fetch this script. Only what the pages need is offered: a stranger who mixed styles at will could
    fill every cache."""
    _offered.add((entry, styles, mounts))


@cache
def script(entry: str, styles: tuple[str, ...], mounts: str = "") -> str:
    """A module whose default export mounts the component, and whose export `styles` is the CSS of the stylesheets
    named; for `mounts` see bundle.py."""
    css = stylesheet(*styles) if styles else ""
    escaped_css = css.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${")
    return f"{drawing_module(entry, mounts)}\nexport const styles = `{escaped_css}`;\n"


@cache
def address(entry: str, *styles: str, mounts: str = "") -> str:
    """The address of a script that is offered."""
    digest = sha256(script(entry, styles, mounts).encode()).hexdigest()[:16]
    return f"api/app/{digest}/{entry}"


@answered
def send(request: Request) -> Response:
    digest, entry = request.path_params["digest"], request.path_params["entry"]
    offered = [(styles, mounts) for each, styles, mounts in _offered if each == entry]
    if not offered:
        raise Refused("There is no such script.", 404)
    for styles, mounts in offered:
        if address(entry, *styles, mounts=mounts) == f"api/app/{digest}/{entry}":
            return Response(script(entry, styles, mounts), media_type="text/javascript", headers=FOREVER)
    raise Refused("This page is older than the server: reload it.", 410)


class Shelf:
    """Files in memory below an address, with the interface of site_files.Folder. Weights in eight bits take 27 MB."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.files: dict[str, bytes] = {}

    def put(self, name: str, data: bytes) -> str:
        stem, _, kind = name.rpartition("/")[2].rpartition(".")
        file = f"{stem}-{sha256(data).hexdigest()[:12]}.{kind}"
        self.files[file] = data
        return f"{self.address}/{file}"


page_files = Shelf("api/page")  # style sheets and other files that pages name


@answered
def send_page_file(request: Request) -> Response:
    return from_shelf(page_files.files, request.path_params["file"])


def from_shelf(files: dict[str, bytes], name: str) -> Response:
    if name not in files:
        raise Refused("There is no such file: reload the page.", 404)
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Response(files[name], media_type=kind, headers=FOREVER)


ROUTES = [Route("/api/app/{digest}/{entry:path}", send), Route("/api/page/{file}", send_page_file)]


# With kernels and weights a browser computes by itself, so that people's own photographs never reach the server. The
# worker's script is served like all other scripts.

ENGINE_FOLDER = "api/engine"


def computed_by_browsers() -> list[str]:
    """Names of the models that browsers run on people's photographs; none if the server runs them."""
    if settings.now().compute != "browser":
        return []
    from playground.serving.site_files import MODELS

    return [name for name in MODELS if models.is_here(name)]


@app.part
def _index_and_files() -> tuple[dict, dict[str, bytes]]:
    from playground.serving import site_files  # imports torch, which the first script must not wait for

    names, shelf = computed_by_browsers(), Shelf(ENGINE_FOLDER)
    index = {
        "worker": address("engine/worker.js"),
        "kernels": shelf.put("kernels.wasm", (MICROSCOPE / "engine" / "kernels.wasm").read_bytes()),
        "cards": site_files.cards(names),
        "weights": site_files.write_weights(shelf, names),
    }
    return index, shelf.files


@answered
def send_engine_index(request: Request) -> Response:
    if not computed_by_browsers():
        raise Refused("This server computes by itself.", 404)
    return JSONResponse(_index_and_files()[0], headers={"Cache-Control": "no-cache"})


@answered
def send_engine(request: Request) -> Response:
    return from_shelf(_index_and_files()[1] if computed_by_browsers() else {}, request.path_params["file"])


ENGINE_ROUTES = [Route(f"/{ENGINE_FOLDER}", send_engine_index), Route(f"/{ENGINE_FOLDER}/{{file}}", send_engine)]
