"""The browser's part, by address: each entry module with all that it imports and its styles, as one script.

The address holds a digest of the script, so that every cache may keep it, and a page that is open while a new version
is deployed never mixes old scripts with new ones.
"""

from __future__ import annotations

from functools import cache, lru_cache
from hashlib import sha256
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from playground.figures.bundle import MICROSCOPE, bundle, stylesheet
from playground.serving.answering import Refused, answer, said

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
