"""Serves the material for a lecturer: plans, notes and the quiz as data, sheets to print, the slides of a plan.
microscope/shell/teachpage.js shows it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.serving import chosen, people
from playground.serving.answering import Refused, answered, own_pages_only, unless_known
from playground.serving.here import Here

AN_HOUR = "public, max-age=3600"  # no longer, because a new version may print another sheet


@answered
def material(request: Request) -> Response:
    from playground.lessons import teaching  # imports torch, which a server's first picture must not wait for

    return unless_known(request, JSONResponse(teaching.as_data()))


@answered
def sheet(request: Request) -> Response:
    from playground.figures import teaching as printed
    from playground.lessons.teaching import LANGUAGES

    name, language = request.path_params["name"], request.query_params.get("language", "en")
    if name not in printed.SHEETS:
        raise Refused(f"There is no such sheet; there are {', '.join(printed.SHEETS)}.", 404)
    if language not in LANGUAGES:
        raise Refused(f"The sheets speak {', '.join(LANGUAGES)}; asked was {language[:20]!r}.")
    # its styles are inline, which this server's policy forbids: it opens from the disk
    file = name if language == "en" else f"{name}-{language}"
    headers = {"Cache-Control": AN_HOUR, "Content-Disposition": f'attachment; filename="{file}.html"'}
    return Response(printed.sheet(name, language), headers=headers, media_type="text/html; charset=utf-8")


@answered
def slides(request: Request) -> Response:
    """The slides of a plan about a picture: `scenes` names the plan's scenes, joined by hyphens."""
    from playground.lessons import teaching
    from playground.serving import slides

    subject = Here(*chosen.read_address(request.query_params), people.key_of(request))
    scenes = teaching.scenes_of(request.query_params.get("scenes", ""))
    if not scenes:
        raise Refused(f"A plan names its scenes, such as 1-hands-8; there are {', '.join(teaching.SCENES)}.")
    minutes = sum(scene.minutes for scene in scenes)
    page = slides.slides(subject, scenes, f"Attention in {minutes} minutes")
    disposition = 'attachment; filename="attention.html"'  # never a page of this server
    headers = {"Cache-Control": "no-store", "Content-Disposition": disposition}
    return Response(page, headers=headers, media_type="text/html; charset=utf-8")


ROUTES = [
    Route("/api/teach", material),
    Route("/api/teach/sheets/{name}.html", sheet),
    Route("/api/teach/slides.html", own_pages_only(slides), methods=["POST"]),
]
