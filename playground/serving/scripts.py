"""The browser's part, by address: each entry module with all that it imports and its styles, as one script; and where
an operator wants it (PLAYGROUND_COMPUTE=browser), what a browser needs to compute by itself.

The address holds a digest of the script, so that every cache may keep it, and a page that is open while a new version
is deployed never mixes old scripts with new ones.
"""

from __future__ import annotations

import asyncio
import gzip
import re
from functools import cache, lru_cache
from hashlib import sha256
from threading import Lock
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.figures.bundle import MICROSCOPE, bundle, stylesheet
from playground.serving import models, settings
from playground.serving.answering import Refused, answer, said
from playground.serving.cache import MB, Cache
from playground.serving.hosts import path_of

# Text that never changes is compressed once, and kept so: scripts, styles, and the list of samples.
#
# Streamlit serves its own 2.3 MB of scripts as they are, for it would have to compress them at every request.

FIXED = re.compile(r"/static/.*|/api/app/.*|/api/samples/[^/]+")  # their addresses hold a digest of what they are
TEXT = (b"text/", b"application/javascript", b"application/json", b"image/svg+xml", b"application/wasm")
LEAST = 1000  # bytes: less is not worth it
KEPT_TEXTS = 12 * MB  # deploy/README.md counts on it

Sent = tuple[list[tuple[bytes, bytes]], bytes]  # headers, body


class Compressed:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp):
        self.app = app
        self.kept = Cache(KEPT_TEXTS, size=lambda sent: len(sent[1]))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, path = dict(scope.get("headers", ())), path_of(scope)
        page = b"text/html" in headers.get(b"accept", b"")  # small, and the same for all who come
        ours = page or path.startswith(("/static/", "/api/", "/figure."))
        if scope["type"] != "http" or not ours:
            return await self.app(scope, receive, send)
        # What is below must not compress it again at every request: queries and keys gain nothing by it.
        plain = {**scope, "headers": [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]}
        wanted = (
            scope["method"] == "GET"
            and (page or FIXED.fullmatch(path))
            and b"gzip" in headers.get(b"accept-encoding", b"")
            and not {b"if-none-match", b"if-modified-since", b"range"} & headers.keys()
        )
        if not wanted:
            return await self.app(plain, receive, send)
        # What stands behind the ? changes our own scripts alone: a stranger could write anything there
        words = scope["query_string"] if path.startswith("/api/app/") else b""
        key = None if page else (path, words)
        if key in self.kept:
            return await _send(self.kept.get(key, lambda: ([], b"")), send)
        return await self.app(plain, receive, Taking(key, self.kept, send).take)


class Taking:
    """Takes an answer as it comes; what can be compressed is sent and kept so, the rest goes on as it is."""

    def __init__(self, key: tuple[str, bytes] | None, kept: Cache, send: Send):
        self.key, self.kept, self.send = key, kept, send
        self.start: Message | None = None
        self.body: list[bytes] = []

    async def take(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = dict(message["headers"])
            fits = message["status"] == 200 and b"content-encoding" not in headers
            if fits and headers.get(b"content-type", b"").startswith(TEXT):
                self.start = message
                return None
        if self.start is None:
            return await self.send(message)
        self.body.append(message.get("body", b""))
        if message.get("more_body"):
            return None
        body, start = b"".join(self.body), self.start
        if len(body) < LEAST:
            await self.send(start)
            return await self.send({"type": "http.response.body", "body": body})
        small = await asyncio.to_thread(gzip.compress, body, 6, mtime=0)
        headers = [pair for pair in start["headers"] if pair[0] not in (b"content-length", b"accept-ranges")]
        headers += [(b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding")]
        sent = ([*headers, (b"content-length", str(len(small)).encode())], small)
        return await _send(sent if self.key is None else self.kept.get(self.key, lambda: sent), self.send)


async def _send(sent: Sent, send: Send) -> None:
    headers, body = sent
    await send({"type": "http.response.start", "status": 200, "headers": list(headers)})
    await send({"type": "http.response.body", "body": body})


KEPT = 50  # scripts, of which the app has half as many; a stranger may ask for any mix of styles
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}


@lru_cache(KEPT)
def script(entry: str, styles: tuple[str, ...]) -> str:
    """`export default` mounts the component; `styles` is a text that its place needs."""
    css = stylesheet(*styles) if styles else ""
    quoted = css.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${")
    return f"{bundle(entry)}\nexport const styles = `{quoted}`;\n"


@lru_cache(KEPT)
def address(entry: str, *styles: str) -> str:
    digest = sha256(script(entry, styles).encode()).hexdigest()[:16]
    return f"api/app/{digest}/{entry}?styles={quote(','.join(styles), safe='/,')}"


async def send(request: Request) -> Response:
    entry = request.path_params["entry"]
    styles = tuple(filter(None, request.query_params.get("styles", "").split(",")))
    if entry not in _there(".js") or not set(styles) <= _there(".css") or len(set(styles)) < len(styles):
        return said("There is no such script.", 404)

    def work() -> Response:
        if address(entry, *styles).split("/")[2] != request.path_params["digest"]:
            raise Refused("This page is older than the server: reload it.", 410)
        return Response(script(entry, styles), media_type="text/javascript", headers=FOREVER)

    return await answer(request, work)


@cache
def _there(kind: str) -> frozenset[str]:
    return frozenset(file.relative_to(MICROSCOPE).as_posix() for file in MICROSCOPE.rglob(f"*{kind}"))


ROUTES = [Route("/api/app/{digest}/{entry:path}", send)]


# What a browser needs to compute by itself: the kernels and the weights of networks. People's own photographs are then
# looked at by their own machines, and the server has no part in it. The worker's script is a script like all others.

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
    from playground.serving.site_files import MODELS

    return [name for name in MODELS if models.is_here(name)]


def _made() -> tuple[dict, dict[str, bytes]]:
    with _one:  # whoever comes meanwhile waits for the same
        return _made_once()


@cache
def _made_once() -> tuple[dict, dict[str, bytes]]:
    from playground.serving import site_files  # with the network, which the first script does not wait for

    names, shelf = computed_by_browsers(), Shelf()
    told = {
        "worker": address("engine/worker.js"),
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


async def send_engine(request: Request) -> Response:
    def work() -> Response:
        files = _made()[1] if computed_by_browsers() else {}
        if (name := request.path_params["file"]) not in files:
            raise Refused("There is no such file: reload the page.", 404)
        kind = "application/wasm" if name.endswith(".wasm") else "application/octet-stream"
        return Response(files[name], media_type=kind, headers=FOREVER)

    return await answer(request, work)


ENGINE = [Route(f"/{FOLDER}", what_there_is), Route(f"/{FOLDER}/{{file}}", send_engine)]
