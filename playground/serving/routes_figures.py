"""A figure is an address: /figure.svg?sample=meadow&model=bundled&layer=4&head=0 is the file that the command makes;
what *Export* offers of a view; and what other programs show of a link.

Stills and numbers of samples are asked for by GET, so that a slide or a web page can hold one. What moves or lives, and
whatever shows somebody's own picture, is asked for by POST with their key; its words stand in the address all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from html import escape
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.errors import PlaygroundError
from playground.figures import layouts
from playground.figures import layouts as shapes
from playground.figures.command_line import again
from playground.figures.drawing.option_words import OptionError
from playground.figures.drawing.spec import PACKS, PURPOSES, Spec
from playground.figures.layouts import LAYOUTS
from playground.models.names import plain_name
from playground.samples import named
from playground.serving import chosen, figure_files, figure_words, people, traces
from playground.serving.answering import Refused, answer, changes
from playground.serving.figure_words import HELD, REST, SWEEPS, Shown, description
from playground.serving.people import Person

HOUR = "public, max-age=3600"  # a new version of the app may draw the same address differently
PRIVATE = "no-store"
DOWNLOAD = "download"  # =1: a browser saves the file instead of showing it


async def figure(request: Request) -> Response:
    kind, person = request.path_params["kind"], people.of(request)
    words = dict(request.query_params)
    keeps = words.pop(DOWNLOAD, "") == "1" or kind == "html"  # a page of its own, foreign to this server

    return await _answered(request, lambda: _figure(request, kind, words, keeps, person))


async def _answered(request: Request, work: Callable[[], Response]) -> Response:
    """Errors name the address's words, not the command's flags."""

    def computed() -> Response:
        try:
            return work()
        except OptionError as error:
            raise Refused(error.told(figure_words.IN_ADDRESS)) from None

    return await answer(request, computed)


def _figure(request: Request, kind: str, words: dict[str, str], keeps: bool, person: Person | None) -> Response:
    if kind not in figure_files.TYPES:
        raise Refused(f"There is no figure.{kind[:20]}; there are {', '.join(figure_files.TYPES)}.", 404)
    if request.method != "POST" and kind not in figure_files.STILL:
        raise Refused(f"A .{kind} takes long to make: it is asked for by POST, with your browser's key.", 405)
    if request.method != "POST" and _names_own(words):
        raise Refused("A figure of your own picture is asked for by POST, with your browser's key.", 403)
    here, spec = figure_words.read(words, kind, person)
    headers = {"Cache-Control": PRIVATE if here.private or kind not in figure_files.STILL else HOUR}
    if not here.private:
        headers["ETag"] = tag = f'"{figure_files.digest(here, spec, kind)}"'
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
    headers["Content-Disposition"] = _disposition(figure_files.name(spec, kind), keeps)
    return Response(figure_files.file(here, spec, kind, person), headers=headers, media_type=figure_files.TYPES[kind])


def _names_own(words: dict[str, str]) -> bool:
    return "mine" in words or words.get("with", "").startswith("mine:")


def _disposition(name: str, keeps: bool) -> str:
    return f"{'attachment' if keeps else 'inline'}; filename*=UTF-8''{quote(name, safe='')}"


async def offered(request: Request) -> Response:
    """What Export offers for these words, which options are chosen, and the addresses of file and preview."""
    person, words = people.of(request), dict(request.query_params)
    return await _answered(request, lambda: _data(offers(words, person)))


async def size(request: Request) -> Response:
    """A sentence about the interactive file that these words choose."""
    person, words = people.of(request), dict(request.query_params)
    return await _answered(request, lambda: _data({"says": said_of(words, person)}))


def _data(data: dict) -> Response:
    return JSONResponse(data, headers={"Cache-Control": PRIVATE})


ROUTES = [
    Route("/figure.{kind}", figure, methods=["GET"]),
    Route("/figure.{kind}", changes(figure), methods=["POST"]),
    Route("/api/exports", offered),
    Route("/api/exports/size", size),
]


# What Export offers for a view, and what of it is chosen: kinds of files, layouts, looks, command and addresses.


PICTURES = {"png": "PNG", "svg": "SVG", "pdf": "PDF"}
KINDS = PICTURES | {"html": "interactive", "webp": "in motion", "numbers": "numbers"}
TABLES = {"npz": "NumPy (.npz)", "csv": "CSV", "json": "JSON"}
BACKGROUNDS = {"light": "light", "dark": "dark", "transparent": "transparent"}
IN_BITS = {"float16": "16 bits", "int8": "8 bits, half as large"}  # of PACKS
PREVIEW, MOVING_PREVIEW = 960, 640  # dots across
CHOICES = (
    "only", "kind", "table", "layout", "purpose", "background", "caption", "footer", "sweep", "held", "pack", "theme",
)  # fmt: skip


def offers(words: Mapping[str, str], person: Person | None) -> dict:
    """What Export offers for a view, what of it is chosen, and the file that this would be: as data for the sheet.

    `only` is the layout of a lesson's page, which exports nothing else and has no view."""
    here, view, options = _request(words, person)
    kinds, only = _kinds(here, view, options), options.get("only")
    kind = _option(options, "kind", kinds)
    layouts = [only] if only else _layouts(here, view, kind)
    side_by_side = "compare" if view.get("beside") == "compare" and "compare" in layouts else "convolution"
    layout = _option(options, "layout", layouts, side_by_side)
    sweeps = _sweeps(description(here, view, layout))
    picked = {
        "kind": kind,
        "table": _option(options, "table", TABLES),
        "layout": layout,
        "purpose": _option(options, "purpose", PURPOSES),
        "background": _option(options, "background", BACKGROUNDS),
        "caption": options.get("caption", "true") == "true",
        "footer": options.get("footer") == "true",
        "sweep": _option(options, "sweep", sweeps) if sweeps else "",
        "held": _option(options, "held", HELD),
        "pack": _option(options, "pack", PACKS),
    }
    spec, suffix = _file(here, view, picked, options.get("theme", "light"))
    return {
        "offers": {
            "kind": _titled(kinds, KINDS),
            "table": _titled(TABLES, TABLES),
            "layout": _titled(layouts, {layout.name: layout.words for layout in LAYOUTS.values()}),
            "purpose": _titled(PURPOSES, {key: purpose.words for key, purpose in PURPOSES.items()}),
            "background": _titled(BACKGROUNDS, BACKGROUNDS),
            "sweep": _titled(sweeps, SWEEPS),
            "held": _titled(HELD, HELD),
            "pack": _titled(PACKS, IN_BITS),
        },
        "chosen": picked,
        "file": {"name": figure_files.name(spec, suffix), **address(here, spec, suffix)},
        "preview": address(here, *_preview(here, view, spec, suffix)),
        "command": again(figure_words.as_typed(spec), figure_files.name(spec, suffix)) or "",
    }


def _request(words: Mapping[str, str], person: Person | None) -> tuple[Shown, dict, dict]:
    """(what is shown, the view, the choices of Export)"""
    figure_words.check_names(words, (*figure_words.PLACE, *figure_words.CHOICES, *CHOICES))
    options = {key: words[key] for key in CHOICES if key in words}
    if options.get("only") not in (None, *LAYOUTS):
        raise Refused(f"There is no layout {options['only']!r}; there are {', '.join(LAYOUTS)}.")
    view = {} if "only" in options else figure_words.view_of(words)
    return figure_words.shown(words, person), view, options


def said_of(words: Mapping[str, str], person: Person | None) -> str:
    """The size of the interactive file for these words; it takes a while to make."""
    here, view, options = _request(words, person)
    picked = {"kind": "html", "held": _option(options, "held", HELD), "pack": _option(options, "pack", PACKS)}
    return figure_files.said_of_alive(here, _file(here, view, picked, options.get("theme", "light"))[0], person)


def _file(here: Shown, view: Mapping[str, str], picked: Mapping, theme: str) -> tuple[Spec, str]:
    """(the Spec, the file's suffix)"""
    if picked["kind"] == "html":
        rest = urlencode({key: view[key] for key in REST if key in view})
        layers = "all" if picked["held"] == "all" else None
        spec = replace(description(here, view, pack=picked["pack"], theme=theme), view=rest, layers=layers)
        return figure_files.beginning(spec), "html"
    if picked["kind"] == "numbers":
        return description(here, view, picked["layout"]), picked["table"]
    look = {
        "purpose": picked["purpose"],
        "theme": "dark" if picked["background"] == "dark" else "light",
        "transparent": picked["background"] == "transparent",
        "caption": picked["caption"],
        "footer": picked["footer"],
    }
    if picked["kind"] == "webp":
        look["sweep"] = picked["sweep"]
    return description(here, view, picked["layout"], **look), picked["kind"]


def _kinds(here: Shown, view: Mapping[str, str], options: Mapping[str, str]) -> list[str]:
    """The file types that can hold what is shown. A lesson's chart is always a picture."""
    from playground.figures import html

    if "only" in options:
        return [*PICTURES, "numbers"]
    kinds = list(KINDS)
    try:
        html.check(description(here, view))
    except PlaygroundError:
        kinds.remove("html")
    if not _layouts(here, view, "webp"):
        kinds.remove("webp")
    return kinds


def _layouts(here: Shown, view: Mapping[str, str], kind: str) -> list[str]:
    """The layouts that can show this view; for animations, only those that can be animated. Grids are left out: Export
    can't choose their rows and columns."""
    possible, trouble = [], None
    for layout, shape in LAYOUTS.items():
        if not shape.offered or ("other_image" in shape.uses and here.other is None):
            continue
        try:
            spec = description(here, view, layout)
            shape.check(spec)
        except PlaygroundError as error:
            trouble = error
            continue
        if shape.patch_by_patch and (spec.way.coloured or len({traces.grid(*pair) for pair in here.pairs}) > 1):
            continue
        if kind != "webp" or _sweeps(spec):
            possible.append(layout)
    if not possible and trouble:
        raise trouble
    return possible


def _sweeps(spec: Spec) -> list[str]:
    from playground.figures.animation import check

    def moves(sweep: str) -> bool:
        try:
            check(spec, sweep)
        except PlaygroundError:
            return False
        return True

    return list(filter(moves, SWEEPS))


def _preview(here: Shown, view: Mapping[str, str], spec: Spec, kind: str) -> tuple[Spec, str]:
    """The figure in low resolution; for interactive files and tables, the still that matches."""
    across = MOVING_PREVIEW if spec.sweep else PREVIEW
    if kind == "html":
        spec = description(here, view, "head", theme=spec.theme)
    return replace(spec, dpi=max(10, round(across / spec.made_for.width))), "webp" if spec.sweep else "png"


def address(here: Shown, spec: Spec, kind: str) -> dict[str, str]:
    """The address below the app's root."""
    private = here.private and shapes.of(spec).of_pictures
    words = urlencode(figure_words.words_of(here, spec, kind))
    return {
        "address": f"figure.{kind}?{words}",
        "method": "GET" if kind in figure_files.STILL and not private else "POST",
    }


def _option(chosen_options: Mapping[str, str], which: str, options: Iterable[str], usual: str = "") -> str:
    """The chosen option if it still exists; else the usual one, or the first."""
    options = list(options)
    return next((option for option in (chosen_options.get(which), usual) if option in options), options[0])


def _titled(options: Iterable[str], titles: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": option, "title": titles[option]} for option in options]


# What other programs show of a link before anybody opens it: a title, a sentence, and the figure of that very view.
# Of somebody's own picture nothing is told: it is the picture that the page opens with.

ANY = "One patch of this picture, and where it looks. Open it, and point at any other patch."
ACROSS = 1200  # dots


def preview_tags(words: Mapping[str, str], root: str) -> str:
    """`words`: of the address; `root`: where the app is, as others reach it."""
    place, view = chosen.read_address(words)
    is_own = "mine" in place or place.get("with", "").startswith("mine:")
    try:
        here, spec = preview_figure(*(({}, {}) if is_own else (place, view)))
    except PlaygroundError:  # such a view is not to be had
        here, spec = preview_figure({}, {})
    image = address(here, spec, "png")["address"]
    return preview_meta(here, spec, f"{root}{image}")


def preview_figure(place: Mapping[str, str], view: Mapping[str, str]) -> tuple[Shown, Spec]:
    without = () if Spec(cut=view.get("cut", "")).takes_another else ("with",)
    here = figure_words.shown({key: word for key, word in place.items() if key not in without}, None)
    spec = description(here, {key: view[key] for key in figure_words.KEYS.values() if key in view})
    layouts.of(spec).check(spec)
    return here, replace(spec, dpi=round(ACROSS / spec.made_for.width))


def preview_meta(here: Shown, spec: Spec, image: str) -> str:
    """The tags. `image`: an address that others reach."""
    sample = named(here.picture.name)
    says = sample.hint if spec.query is None and _opens(here, spec) else ANY
    where = "" if spec.layer is None else f", layer {spec.layer}, head {spec.head}"
    properties = {
        "og:site_name": "Attention Playground", "og:type": "website", "og:image": image,
        "og:title": f"{sample.title} · {plain_name(here.setup.model)}{where}", "og:description": says,
        "twitter:card": "summary_large_image",
    }  # fmt: skip
    return "\n".join(f'<meta property="{name}" content="{escape(text)}">' for name, text in properties.items())


def _opens(here: Shown, spec: Spec) -> bool:
    """Whether the view is the picture's opening view, to which its hint belongs."""
    opens = chosen.opening_view(here.picture.name, here.setup)
    return {"layer": str(spec.layer), "head": str(spec.head)} == opens if opens else spec.layer is None
