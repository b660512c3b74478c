"""What other programs show of a link before anybody opens it: a title, a sentence, and the figure of that very view.
Of somebody's own picture nothing is told: it is the picture that the page opens with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from html import escape

from playground.errors import PlaygroundError
from playground.figures import layouts
from playground.figures.drawing.spec import Spec
from playground.models.names import plain_name
from playground.samples import named
from playground.serving import chosen, figure_words, routes_figures
from playground.serving.figure_words import Shown, description

ANY = "One patch of this picture, and where it looks. Open it, and point at any other patch."
ACROSS = 1200  # dots


def tags(words: Mapping[str, str], root: str) -> str:
    """`words`: of the address; `root`: where the app is, as others reach it."""
    place, view = chosen.read_address(words)
    own = "mine" in place or place.get("with", "").startswith("mine:")
    try:
        here, spec = figure(*(({}, {}) if own else (place, view)))
    except PlaygroundError:  # such a view is not to be had
        here, spec = figure({}, {})
    address = routes_figures.address(here, spec, "png")["address"]
    return meta(here, spec, f"{root}{address}")


def figure(place: Mapping[str, str], view: Mapping[str, str]) -> tuple[Shown, Spec]:
    here = figure_words.shown({key: word for key, word in place.items() if key != "with"}, None)
    spec = description(here, {key: view[key] for key in figure_words.KEYS.values() if key in view})
    layouts.of(spec).check(spec)
    return here, replace(spec, dpi=round(ACROSS / spec.made_for.width))


def meta(here: Shown, spec: Spec, image: str) -> str:
    """The tags. `image`: an address that others reach."""
    sample = named(here.picture.name)
    says = sample.hint if spec.query is None and _opens(here, spec) else ANY
    where = "" if spec.layer is None else f", layer {spec.layer}, head {spec.head}"
    told = {
        "og:site_name": "Attention Playground", "og:type": "website", "og:image": image,
        "og:title": f"{sample.title} · {plain_name(here.wish.model)}{where}", "og:description": says,
        "twitter:card": "summary_large_image",
    }  # fmt: skip
    return "\n".join(f'<meta property="{name}" content="{escape(text)}">' for name, text in told.items())


def _opens(here: Shown, spec: Spec) -> bool:
    """Whether it is the view in which the picture opens, of which its hint speaks."""
    opens = chosen.opening_view(here.picture.name, here.wish)
    return {"layer": str(spec.layer), "head": str(spec.head)} == opens if opens else spec.layer is None
