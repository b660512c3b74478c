"""The learner's page on the server: the page of the folder, with HTTP as its source."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path
from urllib.parse import urlencode, urljoin

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from playground.figures.bundle import stylesheet
from playground.samples import samples
from playground.serving import chosen, pictures, routes_figures, routes_samples, routes_traces, scripts
from playground.ui.pages import PAGES
from playground.ui.site.page import ICON, STYLES, icon_png, manifest, page_html, preload_tags, put_font, toolbar_data

SCRIPT = "shell/served.js"
FONT_FACE = '@font-face{{font-family:"Source Sans";src:url({file});font-weight:200 900;font-display:swap}}\n'
scripts.offer(SCRIPT)


@cache
def _files() -> dict[str, str]:
    """The addresses of the files of the page's look."""
    shelf = scripts.page_files
    font = put_font(shelf)
    face = FONT_FACE.format(file=font.rpartition("/")[2]) if font else ""
    icon, touch_icon = shelf.put("icon.svg", ICON.encode()), shelf.put("icon.png", icon_png())
    return {
        "font": font,
        "styles": shelf.put("page.css", (face + stylesheet(*STYLES)).encode()),
        "icon": icon,
        "touch_icon": touch_icon,
        "manifest": shelf.put("page.webmanifest", manifest(Path(icon).name, Path(touch_icon).name, "../../")),
    }


def _first_requests(name: str) -> list[str]:
    """What the script will ask for at the plain address of See ("") or of the story."""
    sample = samples()[0].name
    setup = chosen.usual_setup(sample)
    record = routes_traces.trace_record(pictures.sample(sample), setup)
    words = {"sample": sample, "model": setup.model} | ({"detail": setup.detail} if setup.detail > 1 else {})
    requests = [routes_samples.address(), f"api/trace?{urlencode(words)}", record["picture"]["address"]]
    if opens := record["opens"]:
        layer = {"sample": sample, "layers": opens["layer"]}
        openings = [layer | {"heads": opens["head"]}, *([layer] if name == "story" else [])]
        requests += [f"api/trace/{record['digest']}/layers?{urlencode(opening)}" for opening in openings]
    return requests


def page(request: Request) -> Response:
    name = request.path_params.get("name", "")
    if name and name not in {*PAGES, "story"}:
        return PlainTextResponse("There is no such page.", 404)
    files = {kind: f"./{address}" for kind, address in _files().items()}
    preview = routes_figures.preview_tags(request.query_params, urljoin(str(request.url), "./"))
    first = [] if name not in ("", "story") or request.query_params else _first_requests(name)
    early = preload_tags(*(f"./{one}" for one in first))
    html = page_html(
        script=f"./{scripts.address(SCRIPT)}", styles=files["styles"],
        icon=files["icon"], touch_icon=files["touch_icon"], manifest=files["manifest"],
        head=f'{preview}\n<link rel="preload" as="font" crossorigin href="{files["font"]}">\n{early}',
        data={"toolbar": toolbar_data()},
    ).encode()  # fmt: skip
    headers = {"Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        html, headers["Content-Encoding"] = gzip.compress(html, mtime=0), "gzip"
    return HTMLResponse(html, headers=headers)


ROUTES = [Route("/", page), Route("/{name}", page)]
