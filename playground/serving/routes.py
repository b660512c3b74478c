"""All addresses of the server beside Streamlit's own, which has the pages."""

from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route

from playground.serving import (
    figure_words,
    routes_beyond,
    routes_classes,
    routes_figures,
    routes_health,
    routes_models,
    routes_pictures,
    routes_samples,
    routes_traces,
    scripts,
    wall,
)

ROUTES: list[Route] = [
    *scripts.ROUTES,
    *routes_samples.ROUTES,
    *wall.ROUTES,
    *routes_traces.ROUTES,
    *routes_beyond.ROUTES,
    *routes_pictures.ROUTES,
    *routes_models.ROUTES,
    *scripts.ENGINE,
    *routes_figures.ROUTES,
    *routes_classes.ROUTES,
    *routes_health.ROUTES,
]


def _story(request: Request) -> RedirectResponse:
    """It is told on the page of the microscope."""
    words = {name: word for name, word in request.query_params.items() if name in LOOK}
    return RedirectResponse(f"./?{urlencode({**words, 'story': '1'})}")


ELSEWHERE = [Route("/story", _story)]  # what has an address and stands on another page

LOOK = ("sample", "mine", "model", "detail", "scale", "cut", "first")  # which picture and model: see chosen.py
SHOWN = (*figure_words.PLACE, *figure_words.CHOICES)  # as in the microscope's address: figure_words.py reads them
FIGURE = (*SHOWN, *figure_words.LOOKS, "held", routes_figures.DOWNLOAD)
WORDS: dict[str, tuple[str, ...]] = {  # what may stand behind the ? of each address; another word means nothing
    "GET /api/app/{digest}/{entry:path}": ("styles",),
    "GET /api/samples/{edition}": (),
    "GET /api/samples/{name}/{digest}.jpg": (),
    "GET /api/moments": (),
    "GET /api/moments/{edition}/{number}.jpg": (),
    "GET /api/trace": LOOK,
    "GET /api/trace/{digest}/layers": (*LOOK, "layers", "heads", "finer"),
    "GET /api/trace/{digest}/features": (*LOOK, "layer"),
    "GET /api/trace/{digest}/flows": (*LOOK, "query"),
    "GET /api/trace/{digest}/relevance": (*LOOK, "query", "label"),
    "GET /api/trace/{digest}/labels": LOOK,
    "GET /api/trace/{digest}/answers": (*LOOK, "layer", "label", "query"),
    "GET /api/trace/{digest}/text": (*LOOK, "layer", "text"),
    "GET /api/trace/{digest}/occluded": (*LOOK, "query", "label", "by", "step"),
    "GET /api/trace/{digest}/patched": (*LOOK, "query", "there", "layer", "with"),
    "GET /api/trace/{digest}/moved": (*LOOK, "query"),
    "GET /api/trace/{digest}/names": (*LOOK, "layer"),
    "GET /api/trace/{digest}/ran": (*LOOK, "layer", "head", "query"),
    "GET /api/trace/{digest}/verdict": LOOK,
    "POST /api/pictures": (),
    "DELETE /api/pictures": (),
    "GET /api/pictures/{id}.jpg": (),
    "DELETE /api/pictures/{id}": (),
    "POST /api/labelled": ("number",),
    "GET /api/models": ("search",),
    "GET /api/preview": LOOK,
    "POST /api/fetching": ("model",),
    "GET /api/fetching": ("model",),
    "DELETE /api/fetching": ("model",),
    "GET /api/engine": (),
    "GET /api/engine/{file}": (),
    "GET /figure.{kind}": FIGURE,
    "POST /figure.{kind}": FIGURE,
    "GET /api/exports": (*SHOWN, *routes_figures.CHOICES),
    "GET /api/exports/size": (*SHOWN, *routes_figures.CHOICES),
    "GET /c": (),
    "GET /c/{code}": (),
    "POST /api/classes": (),
    "GET /api/classes/{code}": ("after",),
    "POST /api/classes/{code}/guesses": (),
    "GET /api/classes/{code}/pictures/{id}.jpg": (),
    "GET /api/classes/{code}/lecturer": ("after",),
    "POST /api/classes/{code}/lecturer": (),
    "GET /healthz": (),
    "GET /readyz": (),
    "GET /metrics": (),
}
