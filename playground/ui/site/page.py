"""The HTML of the learner's page (microscope/shell/page.js), for a folder of plain files and for the server."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw

from playground.figures.bundle import LENS_STYLES
from playground.models.names import plain_name
from playground.serving import models, pictures, routes_samples, scripts, settings
from playground.ui.pages import AFTER_LAYERS, BEFORE_LAYERS, LESSONS, MODEL_PARTS, PAGES
from playground.version import __version__, repository

if TYPE_CHECKING:
    from playground.serving.site_files import FileStore

STYLES = (
    *LENS_STYLES, "see/see.css", "story/story.css", "classroom/classroom.css", "shell/stage.css", "shell/toolbar.css",
    "shell/site.css", "shell/teach.css",
)  # fmt: skip
SHARED_PAGE_FILES = ("shell/shared.js", *LENS_STYLES, "see/see.css", "shell/shared.css")  # for pages that people share
scripts.offer(*SHARED_PAGE_FILES)
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'{script}; worker-src 'self'; "
    "connect-src 'self'; img-src 'self' blob: data:; media-src blob:; style-src 'self'; "
    "style-src-attr 'unsafe-inline'; "  # of charts
    "font-src 'self'; manifest-src 'self'"
)
DESCRIPTION = (
    "Put the cursor on a patch of a picture and see where it looks, in every head and layer of a real Vision "
    "Transformer."
)
PAGE_HTML = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
{policy}<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="referrer" content="{referrer}">
<meta name="description" content="{description}">
<title>Attention Playground</title>
{head}
<meta name="theme-color" media="(prefers-color-scheme: light)" content="#ffffff">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#131318">
<link rel="manifest" href="{manifest}"><link rel="icon" href="{icon}"><link rel="apple-touch-icon" href="{touch_icon}">
<link rel="stylesheet" href="{styles}">
<script type="module" src="{script}" {data}></script>
</head><body>
<header id="toolbar"><div class="toolbar" data-toolbar></div></header>
<main id="stage"><div class="stage" data-stage><p class="comes">{description} If no picture comes: this page needs
JavaScript, in a browser from 2023 or later.</p></div></main>
<main id="lesson" hidden></main>
<footer id="foot">{foot}</footer>
</body></html>
"""
ICON_SQUARES = {(4, 12): "#f7d13d", (20, 12): "#f7d13d", (12, 4): "#5db3e6", (12, 20): "#5db3e6"}  # each 8 of 32 wide
ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#131318"/>'
    + "".join(f'<path d="M{x} {y}h8v8h-8z" fill="{colour}"/>' for (x, y), colour in ICON_SQUARES.items())
    + "</svg>"
)


def preload_tags(*addresses: str) -> str:
    """Tags for what the script will fetch, so that a slow line brings it while the script still comes."""
    return "\n".join(f'<link rel="preload" as="fetch" crossorigin href="{escape(one)}">' for one in addresses)


def icon_png() -> bytes:
    """The icon as a phone's home screen takes it: without transparency or round corners of its own."""
    image = Image.new("RGB", (512, 512), "#131318")
    for (x, y), colour in ICON_SQUARES.items():
        ImageDraw.Draw(image).rectangle([16 * x, 16 * y, 16 * x + 127, 16 * y + 127], fill=colour)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def manifest(icon: str, touch_icon: str, root: str) -> bytes:
    """What a phone's home screen asks for. All addresses are relative to the manifest; `root`: the page's."""
    record = {
        "name": "Attention Playground", "short_name": "Attention", "start_url": root, "scope": root,
        "display": "standalone", "background_color": "#131318", "theme_color": "#131318",
        "icons": [
            {"src": icon, "sizes": "any", "type": "image/svg+xml"},
            {"src": touch_icon, "sizes": "512x512", "type": "image/png", "purpose": "maskable"},
        ],
    }  # fmt: skip
    return json.dumps(record).encode()


def page_html(
    *,
    script: str,
    styles: str,
    icon: str,
    touch_icon: str,
    manifest: str,
    data: Mapping[str, object],
    head: str,
    foot: str = "",
    description: str = DESCRIPTION,
    referrer: str = "same-origin",
    policy: str = "",
) -> str:
    """`data`: the records for the script, by the names of their data attributes; `policy`: the policy of a page whose
    host sends none."""
    tag = policy and f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
    attributes = " ".join(
        f'data-{name}="{escape(json.dumps(record, ensure_ascii=False))}"' for name, record in data.items()
    )
    return PAGE_HTML.format(
        policy=tag, referrer=referrer, description=escape(description), head=head, icon=icon, touch_icon=touch_icon,
        manifest=manifest, styles=styles, script=script, data=attributes, foot=foot,
    )  # fmt: skip


def toolbar_data(**changes: object) -> dict:
    """What the bar shows, for shell/pagedata.js: pages, models, samples."""
    pages = [
        {
            "name": page.name, "title": page.title,
            "number": LESSONS.index(page) + 1 if page in LESSONS else None,
        }
        | ({"about": _introduction(page.name)} if page in LESSONS else {})
        for page in PAGES.values()
    ]  # fmt: skip
    return {
        "samples": routes_samples.address(),
        "pages": pages,
        "labelled": pictures.labelled_set(),
        "titles": {card.name: card.title for card in models.cards()}
        | {models.PHOTOGRAPH_MODEL: plain_name(models.PHOTOGRAPH_MODEL)},
        "workbench": "workbench/" if settings.now().workbench else "",
        "version": __version__,
        "shared": scripts.address(*SHARED_PAGE_FILES),
        "overview": _overview(),
        "repository": repository(),
    } | changes


def _introduction(lesson: str) -> str:
    """A lesson's idea, as Markdown."""
    from playground.lessons.registry import LESSONS as ALL_LESSONS

    return ALL_LESSONS[lesson].idea


def _overview() -> dict:
    """What the overview above each lesson shows: the parts of the model, the number of questions and of exercises."""
    from playground.lessons.registry import EXERCISES, QUESTIONS

    boxes = [
        {
            "name": name.strip(), "page": about_page, "pages": lit_pages,
            "group": "before" if name in BEFORE_LAYERS else "after" if name in AFTER_LAYERS else "layer",
        }
        for name, (about_page, lit_pages) in MODEL_PARTS.items()
    ]  # fmt: skip
    return {"boxes": boxes, "questions": len(QUESTIONS), "exercises": len(EXERCISES)}


def put_font(files: FileStore) -> str:
    """Stores the app's typeface, from Streamlit's package. "" without one: then the system's typeface is used."""
    streamlit = find_spec("streamlit")
    folder = Path(streamlit.origin).parent if streamlit and streamlit.origin else Path()
    fonts = sorted(folder.glob("static/static/media/SourceSans*-Upright*.woff2"))
    return files.put("source-sans.woff2", fonts[0].read_bytes()) if fonts else ""
