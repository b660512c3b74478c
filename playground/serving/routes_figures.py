"""Serves figures: /figure.svg?sample=meadow&model=bundled&layer=4&head=0 is the file that the command `figure` makes.
Also serves the options of *Export*, and the preview of a link.

A GET request gives stills and numbers of samples, so that a slide or a web page can embed them. Interactive files and
figures of somebody's own picture need a POST request with a key, whose address has the same words.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from html import escape
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.errors import PlaygroundError
from playground.figures import command_line
from playground.figures.drawing.spec import Spec
from playground.figures.drawing.view import as_in_address
from playground.figures.layouts import LAYOUTS
from playground.models.names import plain_name
from playground.samples import named
from playground.serving import chosen, figure_files, figure_words, people
from playground.serving.answering import Refused, answer, own_pages_only
from playground.serving.figure_words import FigureSubject, description
from playground.serving.people import Person

AN_HOUR = "public, max-age=3600"  # no longer, because a new version may draw another figure for the same address
PRIVATE = "no-store"


async def figure(request: Request) -> Response:
    kind, person = request.path_params["kind"], people.person_of(request)
    words = dict(request.query_params)
    return await answer(request, lambda: _figure(request, kind, words, person))


def _figure(request: Request, kind: str, words: dict[str, str], person: Person | None) -> Response:
    if kind not in figure_files.MEDIA_TYPES:
        raise Refused(f"There is no figure.{kind[:20]}; there are {', '.join(figure_files.MEDIA_TYPES)}.", 404)
    if request.method != "POST" and kind not in figure_files.STILL_KINDS:
        raise Refused(f"A .{kind} takes long to make: it is asked for by POST, with your browser's key.", 405)
    if request.method != "POST" and _names_own(words):
        raise Refused("A figure of your own picture is asked for by POST, with your browser's key.", 403)
    subject, spec = figure_words.read(words, kind, person)
    headers = {"Cache-Control": PRIVATE if subject.is_private or kind not in figure_files.STILL_KINDS else AN_HOUR}
    name = quote(figure_files.name(spec, kind), safe="")
    disposition = "attachment" if kind == "html" else "inline"  # an .html never opens as a page of this server
    headers["Content-Disposition"] = f"{disposition}; filename*=UTF-8''{name}"
    return Response(figure_files.file(subject, spec, kind), headers=headers, media_type=figure_files.MEDIA_TYPES[kind])


def _names_own(words: Mapping[str, str]) -> bool:
    return "mine" in words or words.get("with", "").startswith("mine:")


async def exports(request: Request) -> Response:
    """Export's options for these words, the chosen ones, and the addresses of file and preview."""
    person, words = people.person_of(request), dict(request.query_params)
    return await answer(request, lambda: JSONResponse(offers(words, person), headers={"Cache-Control": PRIVATE}))


ROUTES = [
    Route("/figure.{kind}", figure, methods=["GET"]),
    Route("/figure.{kind}", own_pages_only(figure), methods=["POST"]),
    Route("/api/exports", exports),
]


# Export's sheet needs the options for a view, the chosen options, and the resulting command and addresses.


TITLES = {  # a choice of the sheet -> its options, and their words
    "kind": {"png": "PNG", "svg": "SVG", "pdf": "PDF", "html": "interactive", "numbers": "numbers"},
    "table": {"npz": "NumPy (.npz)", "csv": "CSV"},
    "layout": {layout.name: layout.words for layout in LAYOUTS.values()},
    "width": {"slide": "a 16:9 slide", "column": "a column of a paper, 85 mm", "page": "a page, 178 mm"},
    "background": {"light": "light", "dark": "dark"},
    "map": {"heat": "heat", "grey": "grey, for a print"},
    "held": {"all": "all layers", "layer": "this layer"},  # in an interactive file
}
PREVIEW_DOTS = 960  # width of a preview
STILL_WORDS = ("beside", "curtain")  # words of the view that an interactive file has not
EXPORT_WORDS = (*TITLES, "caption", "theme")


def offers(words: Mapping[str, str], person: Person | None) -> dict:
    """Export's options for a view, the chosen options, and the resulting file, as data for Export's sheet."""
    figure_words.check_lengths(words)
    options = {key: words[key] for key in EXPORT_WORDS if key in words}
    subject, view = figure_words.figure_subject(words, person), figure_words.view_of(words)
    possible = {"kind": _kinds(subject, view), "layout": _layouts(subject, view)}
    titles = TITLES | {name: {option: TITLES[name][option] for option in names} for name, names in possible.items()}
    usual_layout = "compare" if view.get("beside") == "compare" else "convolution"
    options = {"layout": usual_layout} | options
    chosen = {
        name: options[name] if options.get(name) in possible_titles else next(iter(possible_titles))
        for name, possible_titles in titles.items()
    }
    choices = chosen | {"caption": options.get("caption", "true") == "true"}
    file_words, suffix = _file(words, choices, options.get("theme", "light"))
    spec = figure_words.read(file_words, suffix, person)[1]
    if suffix == "html":
        spec = figure_files.interactive_spec(spec)
        preview_words = figure_words.known(words) | {"layout": "head", "theme": spec.theme}
    else:  # without words that say nothing about the figure, as in the command
        needless = {figure_words.WORD_OF_FIELD.get(name, name) for name in command_line.needless(spec)}
        preview_words = file_words = {key: word for key, word in file_words.items() if key not in needless}
        spec = figure_words.read(file_words, suffix, person)[1]
    paper = figure_words.read(preview_words, "png", person)[1].paper
    preview_words = preview_words | {"dpi": str(max(10, round(PREVIEW_DOTS / paper.width)))}
    return {
        "offers": {
            name: [{"name": option, "title": title} for option, title in possible_titles.items()]
            for name, possible_titles in titles.items()
        },
        "chosen": choices,
        "file": {"name": figure_files.name(spec, suffix), **address(subject, file_words, suffix)},
        "preview": address(subject, preview_words, "png"),
        "command": command_line.repeat_command(figure_words.as_typed(spec), figure_files.name(spec, suffix)) or "",
    }


def _file(words: Mapping[str, str], options: Mapping, theme: str) -> tuple[dict[str, str], str]:
    """(the words of the file's address, its suffix)"""
    kept = figure_words.known(words)
    if options["kind"] == "html":
        kept = {key: word for key, word in kept.items() if key not in STILL_WORDS}
        return kept | {"theme": theme, "all_layers": as_in_address(options["held"] == "all")}, "html"
    kept["layout"] = options["layout"]
    if options["kind"] == "numbers":
        return kept, options["table"]
    look = {"width": options["width"], "theme": options["background"], "colours": options["map"]}
    return kept | look | {"caption": as_in_address(options["caption"])}, options["kind"]


def _kinds(subject: FigureSubject, view: Mapping[str, str]) -> list[str]:
    """The kinds of files that can hold what is shown."""
    from playground.figures import html

    kinds = list(TITLES["kind"])
    try:
        html.check(description(subject, view))
    except PlaygroundError:
        kinds.remove("html")
    return kinds


def _layouts(subject: FigureSubject, view: Mapping[str, str]) -> list[str]:
    """The layouts that can show this view. Grids are left out, because Export can't choose rows and columns."""
    spec, names = description(subject, view), []
    for layout in LAYOUTS.values():
        if layout.beside == "" or (layout.beside == "other" and subject.compared is not None):
            with suppress(PlaygroundError):
                layout.check(spec)
                names.append(layout.name)
    return names


def address(subject: FigureSubject, words: Mapping[str, str], kind: str) -> dict[str, str]:
    """The address below the app's root."""
    return {
        "address": f"figure.{kind}?{urlencode(words)}",
        "method": "GET" if kind in figure_files.STILL_KINDS and not subject.is_private else "POST",
    }


# Other programs show a preview of a link: a title, a sentence, and a figure of the view that the link opens. For
# somebody's own picture the preview shows the default picture.

HINT_OF_ANY_VIEW = "One patch of this picture, and where it looks. Open it, and point at any other patch."
LINK_PREVIEW_DOTS = 1200  # dots: the width of a link's preview


def preview_tags(words: Mapping[str, str], root: str) -> str:
    """The <meta> tags for a link with these words. `root` is the app's public address."""
    place, view = chosen.read_address(words)
    try:
        preview, subject, spec = preview_figure(*(({}, {}) if _names_own(place) else (place, view)))
    except PlaygroundError:  # the view does not exist
        preview, subject, spec = preview_figure({}, {})
    return preview_meta(subject, spec, root + address(subject, preview, "png")["address"])


def preview_figure(place: Mapping[str, str], view: Mapping[str, str]) -> tuple[dict[str, str], FigureSubject, Spec]:
    """(the words of the figure's address, its subject, its Spec)"""
    dropped_words = () if Spec(cut=view.get("cut", "")).takes_another else ("with",)
    words = {key: word for key, word in place.items() if key not in dropped_words}
    words |= {key: view[key] for key in figure_words.WORD_OF_FIELD.values() if key in view}
    subject, spec = figure_words.read(words, "png", None)
    dpi = round(LINK_PREVIEW_DOTS / spec.paper.width)
    return words | {"dpi": str(dpi)}, subject, replace(spec, dpi=dpi)


def preview_meta(subject: FigureSubject, spec: Spec, image: str) -> str:
    """The <meta> tags of a preview. `image` is the public address of the figure."""
    sample = named(subject.picture.name)
    sentence = sample.hint if spec.query is None and _is_opening_view(subject, spec) else HINT_OF_ANY_VIEW
    place_words = "" if spec.layer is None else f", layer {spec.layer}, head {spec.head}"
    properties = {
        "og:site_name": "Attention Playground", "og:type": "website", "og:image": image,
        "og:title": f"{sample.title} · {plain_name(subject.setup.model)}{place_words}", "og:description": sentence,
        "twitter:card": "summary_large_image",
    }  # fmt: skip
    return "\n".join(f'<meta property="{name}" content="{escape(text)}">' for name, text in properties.items())


def _is_opening_view(subject: FigureSubject, spec: Spec) -> bool:
    """Whether the view is the picture's opening view, to which its hint belongs."""
    opening_view = chosen.opening_view(subject.picture.name, subject.setup)
    return {"layer": str(spec.layer), "head": str(spec.head)} == opening_view if opening_view else spec.layer is None
