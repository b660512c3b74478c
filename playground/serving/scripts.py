"""Serves each entry module with all its imports and styles as one script.

The address holds a digest of the script, so that every cache may keep it, and a page that is open during a deployment
never mixes old scripts with new ones.
"""

from __future__ import annotations

import gzip
import mimetypes
from functools import cache, lru_cache
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from playground.figures.bundle import drawing_module, stylesheet
from playground.serving.answering import Refused, answered

FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
PACKED = ("text/javascript", "text/css", "image/svg+xml")
# (entry, styles, mounts) of each script that browsers may fetch; others are offered where they are listed
_offered: set[tuple[str, tuple[str, ...], str]] = {("shell/phone.js", (), "")}


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
            return file_response(request, script(entry, styles, mounts).encode(), "text/javascript")
    raise Refused("This page is older than the server: reload it.", 410)


class Shelf:
    """Files in memory, with the interface of site_files.Folder."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def put(self, name: str, data: bytes) -> str:
        stem, _, kind = name.rpartition("/")[2].rpartition(".")
        file = f"{stem}-{sha256(data).hexdigest()[:12]}.{kind}"
        self.files[file] = data
        return f"api/page/{file}"


page_files = Shelf()  # style sheets and other files that pages name


@answered
def send_page_file(request: Request) -> Response:
    name = request.path_params["file"]
    if name not in page_files.files:
        raise Refused("There is no such file: reload the page.", 404)
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return file_response(request, page_files.files[name], kind)


def file_response(request: Request, data: bytes, kind: str) -> Response:
    """A file that every cache may keep. Scripts and styles are compressed here: there may be no proxy that does."""
    headers = dict(FOREVER)
    if kind in PACKED:
        headers["Vary"] = "Accept-Encoding"
        if "gzip" in request.headers.get("accept-encoding", ""):
            data, headers["Content-Encoding"] = _packed(data), "gzip"
    return Response(data, media_type=kind, headers=headers)


@lru_cache(maxsize=64)
def _packed(data: bytes) -> bytes:
    return gzip.compress(data, 9, mtime=0)


ROUTES = [Route("/api/app/{digest}/{entry:path}", send), Route("/api/page/{file}", send_page_file)]
