"""A plan's scenes as slides in one HTML file: the living microscope, and the questions that a room guesses. It makes no
request, so a projector shows it without a network."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256

from playground.figures.bundle import bundle, stylesheet

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<main id="place"><noscript>These slides need JavaScript; they ask nobody for anything.</noscript></main>
<nav><span id="count"></span><button id="notes">what to do (N)</button>
<button id="back" aria-label="the slide before">←</button><button id="on" aria-label="the next slide">→</button></nav>
<script type="application/json" id="slides">{slides}</script>
<script type="module">{script}</script>
</body>
</html>
"""


@dataclass(frozen=True)
class Slide:
    title: str
    minutes: str  # such as "5–17 min"
    task: str  # for the one who teaches
    questions: tuple[dict, ...] = ()  # as `plain` of playground/lessons/questions.py makes them
    living: str = ""  # the HTML of a living figure, see playground/figures/html.py


def page(title: str, slides: Sequence[Slide], scripts: Sequence[str] = ()) -> str:
    """The HTML. `scripts` are those of the living figures: a frame in a page obeys the page's policy too."""
    script = bundle("lessons/slides.js")
    hashes = " ".join(f"'sha256-{_digest(text)}'" for text in (script, *scripts))
    return PAGE.format(
        policy=(
            f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {hashes}; base-uri 'none'; "
            "form-action 'none'"
        ),
        title=html.escape(title),
        style=f"{stylesheet('lessons/guess.css')}\n{stylesheet('lessons/slides.css')}",
        slides=json.dumps([asdict(slide) for slide in slides]).replace("<", r"\u003c"),  # no text ends the element
        script=script,
    )


def _digest(text: str) -> str:
    return base64.b64encode(sha256(text.encode()).digest()).decode()
