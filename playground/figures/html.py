"""The microscope in one HTML file: the picture, queries and keys, and the app's own JavaScript. It makes no request, so
its interface leaves out what needs the network's weights."""

from __future__ import annotations

import gzip
import html
import json
from dataclasses import replace
from typing import Any, cast
from urllib.parse import parse_qsl

from PIL import Image

from playground.errors import PlaygroundError
from playground.figures import compose, layouts, provenance
from playground.figures.bundle import LENS_STYLES, NO_REQUESTS, bundle, in_base64, policy_source, stylesheet
from playground.figures.command_line import repeat_command
from playground.figures.drawing.naming import model, published_spec, published_trace
from playground.figures.drawing.sheet import Drawing
from playground.figures.drawing.spec import POOLINGS, Spec, query_words
from playground.figures.drawing.view import FIGURE_CHOICES
from playground.pictures import images
from playground.pictures.jpegs import as_jpeg, data_url
from playground.samples import find
from playground.tracing import Trace

PICTURE_SIDE = 896  # pixels of the picture's longer side: sharp in a browser, and few bytes beside those of Q and K
JPEG_QUALITY = 85
STILL_DPI = 110  # dots per inch of the figure for viewers without scripts: 770 pixels wide
STILL_QUALITY = 75
LIGHT_BYTES = 6 * 2**20  # bytes: a file holds all layers by default if their q and k take no more
TRAINED_PASS_ALONE = (
    "An interactive figure shows the trained pass, and its switch takes the scale away from one layer: a whole pass "
    "with another scale is written as .png, .svg or .pdf."
)
PAGE_TEMPLATE = """<!doctype html>
<html lang="en"{theme}{bare}>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
{facts}
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<main><attention-lens id="lens" numbers="pack" picture="picture"></attention-lens></main>
<img id="picture" alt="{name}" src="{jpeg}" hidden>
<img id="still" alt="{seen}" src="{still}">
<noscript>With JavaScript this picture shows what each patch looks at.</noscript>
<footer id="foot"{foot}><span>{words}</span>{command}</footer>
<script type="application/json" id="start">{start}</script>
<script type="text/plain" id="pack">{pack}</script>
<script type="text/plain" id="script">{script}</script>
<script type="module">{loader}</script>
</body>
</html>
"""
LOADER = """
const bytes = Uint8Array.from(atob(document.getElementById("script").textContent), (letter) => letter.charCodeAt(0));
const code = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
document.head.append(Object.assign(document.createElement("script"), { type: "module", text: await code.text() }));
"""


def page(spec: Spec, trace: Trace, image: Image.Image | None = None) -> str:
    """The HTML. `image` is the picture that was traced; without it, the file shows the model's input. It opens where
    the picture shows most, unless `spec` chooses a layer, a patch or a view."""
    is_chosen = spec.layer is not None or spec.head or spec.query or spec.view or spec.look or spec.bare
    filled = filled_spec(spec, trace)
    start = {"best": not is_chosen and len(layers(filled, trace)) == trace.layers}
    return _page(filled, published_trace(trace), image, start)


def story(spec: Spec, trace: Trace, image: Image.Image, story_start: dict[str, Any]) -> str:
    """The HTML of the story, to be shown in a frame; microscope/shell/lecture.js reads `story_start`."""
    return _page(filled_spec(replace(spec, bare=True), trace), trace, image, story_start, is_story=True)


def still_figure(spec: Spec, trace: Trace, image: Image.Image | None = None) -> Drawing:
    """A figure of the file's first view: shown until the script has started, and in viewers without scripts."""
    still_spec = replace(spec, whole=False, width="page", dpi=STILL_DPI)
    return compose.draw(still_spec, trace, image)


def check(spec: Spec) -> None:
    """Raises for what an interactive figure can't show, because the file has neither weights nor a server."""
    if spec.layout != Spec.layout:
        raise PlaygroundError("An interactive figure has no layout: leave it out, or write a .png, .svg or .pdf.")
    if spec.head in POOLINGS:
        raise PlaygroundError("An interactive figure shows one head at a time, no mean or maximum of all.")
    if spec.way.needs != "scores":
        raise PlaygroundError(
            f"An interactive figure has no network to ask for {spec.what}: show what has heads, or write a .png, .svg "
            "or .pdf."
        )
    if spec.whole and spec.scale != "on":
        raise PlaygroundError(TRAINED_PASS_ALONE)


def filled_spec(spec: Spec, trace: Trace) -> Spec:
    """Fills in the layers that the file holds, and the file's first view."""
    check(spec)
    if trace.scale != trace.native_scale:
        raise PlaygroundError(TRAINED_PASS_ALONE)
    if not 0 <= trace.scale_number(spec.scale) <= 1:
        raise PlaygroundError(f"The dial of an interactive figure goes from 0 to 1; the scale given was {spec.scale}.")
    if spec.layer is None:
        spec = replace(with_layers_that_fit(spec, trace), layer=_first_layer(spec, trace))
    return spec.settled(trace)


def with_layers_that_fit(spec: Spec, trace: Trace) -> Spec:
    """The spec with all layers if their q and k are few bytes."""
    byte_count = 2 * 2 * len(trace.record) * trace.heads * trace.tokens * trace.head_dim
    return replace(spec, all_layers=spec.all_layers or byte_count * 4 / 3 <= LIGHT_BYTES)


def layers(spec: Spec, trace: Trace) -> list[int]:
    """The layers that the file holds. `spec.layer` must be filled in."""
    return list(trace.record) if spec.all_layers else [cast(int, spec.layer)]


def _first_layer(spec: Spec, trace: Trace) -> int:
    """Of the layers that the trace holds, the nearest to the sample's, or to two thirds of the way up."""
    preferred_layer = spec.look.layer if spec.look else trace.upper_layer
    return min(trace.record, key=lambda layer: abs(layer - preferred_layer))


def _view(spec: Spec) -> dict[str, Any]:
    """The choices of the first view, under the names that the browser has for them."""
    choices = {choice.key: getattr(spec, choice.field) for choice in FIGURE_CHOICES if choice.field != "whole"}
    choices = {key: value for key, value in choices.items() if value is not None}
    return choices | {"query": query_words(spec.query)} | dict(parse_qsl(spec.view))


def _page(
    spec: Spec, trace: Trace, image: Image.Image | None, more_start: dict[str, Any], is_story: bool = False
) -> str:
    picture = picture_of(trace, image)
    public_spec = published_spec(spec)
    name = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in public_spec.image or "image")
    public_spec = replace(public_spec, image=name, repeatable=public_spec.repeatable and bool(spec.image))
    drawn_spec, subject, _ = compose.subjects(public_spec, trace, picture)
    caption = layouts.content(drawn_spec, subject).caption
    facts = provenance.facts(drawn_spec, subject) | {"layers": " ".join(map(str, layers(spec, trace)))}
    opening = f", layer {spec.layer}, head {spec.head}"
    if more_start.get("best"):  # the browser chooses the row
        facts = {key: value for key, value in facts.items() if key not in ("layer", "head", "patch")}
        public_spec, opening = replace(public_spec, layer=None, query=None), ""
    if not is_story and (command := repeat_command(public_spec, "figure.html")):  # no command writes the story
        facts["command"] = command
    sample = find(name)
    credits = [sample.credit] if sample else []
    patches = f"{trace.grid[0]} × {trace.grid[1]} patches"
    style = stylesheet(*LENS_STYLES, "see/see.css", "shell/alone.css", *(["story/story.css"] if is_story else []))
    script = bundle("shell/lecture.js" if is_story else "shell/alone.js")
    parts = [{"kind": part.kind, "box": part.box} for part in sample.parts] if sample else []
    start = {"title": name, "model": model(trace), "view": _view(spec), "bare": spec.bare, "parts": parts} | more_start
    still = still_figure(drawn_spec, trace, picture).pixels().convert("RGB")
    pack = trace.to_bytes(layers(spec, trace), numbers="int8" if is_story else "float16")
    return PAGE_TEMPLATE.format(
        theme=' data-theme="dark"' if spec.theme == "dark" else "",
        bare=" data-bare" if spec.bare else "",
        foot=" hidden" if spec.bare else "",
        policy=f"{NO_REQUESTS}; style-src {policy_source(style)}; "
        f"script-src {policy_source(LOADER)} {policy_source(script)}",
        title=html.escape(f"Attention in {name}: {model(trace)}{opening}"),
        facts="\n".join(
            f'<meta name="playground:{key}" content="{html.escape(str(value))}">' for key, value in facts.items()
        ),
        name=html.escape(name),
        jpeg=data_url(small_jpeg(picture)),
        still=data_url(small_jpeg(still, STILL_QUALITY)),
        seen=html.escape(f"Attention in {name}: {caption}"),
        words=html.escape(" · ".join([name, *credits, model(trace), patches])),
        command=f"<span>made by <code>{html.escape(facts['command'])}</code></span>" if "command" in facts else "",
        start=json.dumps(start).replace("<", r"\u003c"),  # nothing in a name can end the script element
        pack=_zipped(pack),
        style=style,
        script=_zipped(script.encode()),
        loader=LOADER,
    )


def _zipped(data: bytes) -> str:
    """For the browser's DecompressionStream."""
    return in_base64(gzip.compress(data, 6, mtime=0))


def picture_of(trace: Trace, image: Image.Image | None) -> Image.Image:
    if image is not None:
        return images.open_image(image)  # upright, RGB and without metadata
    if trace.picture is None and trace.input is None:
        raise PlaygroundError("A trace that was read from bytes has no picture: seen.of(picture, name) gives it one.")
    return trace.shown


def small_jpeg(picture: Image.Image, quality: int = JPEG_QUALITY) -> bytes:
    copy = picture.copy()
    copy.thumbnail((PICTURE_SIDE, PICTURE_SIDE), Image.Resampling.LANCZOS)
    return as_jpeg(copy, quality=quality, optimize=True)
