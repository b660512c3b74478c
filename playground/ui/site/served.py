"""The learner's page on the server: the page of the folder, with HTTP as its source."""

from __future__ import annotations

import gzip
from functools import cache
from urllib.parse import urljoin

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from playground.figures.bundle import stylesheet
from playground.serving import routes_figures, scripts
from playground.ui.pages import PAGES
from playground.ui.site.page import ICON, STYLES, icon_png, page_html, put_font, toolbar_data

SCRIPT = "shell/served.js"
FONT_FACE = '@font-face{{font-family:"Source Sans";src:url({file});font-weight:200 900;font-display:swap}}\n'
scripts.offer(SCRIPT)


@cache
def _files() -> dict[str, str]:
    """The addresses of the files of the page's look."""
    shelf = scripts.page_files
    font = put_font(shelf)
    face = FONT_FACE.format(file=font.rpartition("/")[2]) if font else ""
    return {
        "font": font,
        "styles": shelf.put("page.css", (face + stylesheet(*STYLES)).encode()),
        "icon": shelf.put("icon.svg", ICON.encode()),
        "touch_icon": shelf.put("icon.png", icon_png(180)),
    }


def page(request: Request) -> Response:
    name = request.path_params.get("name", "")
    if name and name not in {*PAGES, "story"}:
        return PlainTextResponse("There is no such page.", 404)
    files = {kind: f"./{address}" for kind, address in _files().items()}
    preview = routes_figures.preview_tags(request.query_params, urljoin(str(request.url), "./"))
    html = page_html(
        script=f"./{scripts.address(SCRIPT)}", styles=files["styles"],
        icon=files["icon"], touch_icon=files["touch_icon"],
        head=f'{preview}\n<link rel="preload" as="font" crossorigin href="{files["font"]}">',
        data={"toolbar": toolbar_data()},
    ).encode()  # fmt: skip
    headers = {"Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        html, headers["Content-Encoding"] = gzip.compress(html, mtime=0), "gzip"
    return HTMLResponse(html, headers=headers)


ROUTES = [Route("/", page), Route("/{name}", page)]
