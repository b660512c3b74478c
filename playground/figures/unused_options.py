"""What a figure has no use for. The command line refuses it, and the command that a figure says leaves it out.

Why is told in sentences of option_words.py: {layout:compare} is that option as its reader writes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from playground.figures.spec import AXES, COLOURED, OF_A_LABEL, THROUGH_LAYERS, WITHOUT_HEADS, Spec
from playground.models.given import WORDS

MANY_HEADS = ("heads", "wall", "atlas")
MANY_MAPS = ("heads", "wall", "scale", "compare", "grid")


@dataclass(frozen=True)
class Use:
    fields: tuple[str, ...]
    has: Callable[[Spec], bool]  # whether this figure has a use for them
    where: str  # a figure has


USES = (
    Use(("view", "bare", "pack", "layers", "heads"), lambda s: False,
        "it belongs to an interactive figure: leave it out, or write an .html"),
    Use(
        ("model", "weights", *WORDS, "size", "layer", "head", "query", "scale", "whole", "what", "direction",
         "other_image", "other_model", "draw", "colours", "ceiling", "log", "smooth", "kernel", "depth", "bar",
         "marker", "prefix"),
        lambda s: s.layout != "curves", "the layout curves shows random rows",
    ),
    Use(
        ("query", "what", "direction", "draw", "log", "marker", "smooth"), lambda s: s.layout != "atlas",
        "the layout atlas shows the average over all patches",
    ),
    Use(("scale",), lambda s: s.layout not in ("atlas", "components") or s.whole,
        "it looks at one pass: add {whole:True}"),
    Use(("other_image", "other_model"), lambda s: s.layout == "compare", "it belongs to {layout:compare}"),
    Use(("other_queries",), lambda s: s.layout == "head", "it belongs to {layout:head}"),
    Use(("other_queries",), lambda s: s.asks, "what is the same whoever asks has no patches"),
    Use(("other_queries",), lambda s: not s.for_and_against, "for and against have two colours already"),
    Use(
        ("over", "mask", "draw", "smooth", "log"), lambda s: s.other_queries is None or s.layout != "head",
        "several patches have colours of their own",
    ),
    Use(("over",), lambda s: s.draw == "heat" and s.layout not in ("wall", "atlas", "components", "curves"),
        "it belongs to {draw:heat}, and to no layout of tiny maps"),
    Use(("mass", "mask"), lambda s: s.shares_a_whole and s.layout not in ("wall", "atlas", "components", "curves"),
        "it needs weights, in maps that are large enough"),
    Use(("mask",), lambda s: s.mass is not None or s.draw == "light", "it shows what {mass} outlines: add {mass}"),
    Use(("rows", "columns"), lambda s: s.layout == "grid", "they belong to {layout:grid}"),
    Use(
        ("prefix", "bar", "smooth", "over", "mass", "mask", "log", "draw", "ceiling", "colours"),
        lambda s: s.what not in COLOURED and s.layout != "components",
        "the colours of features are no numbers on a scale",
    ),
    Use(
        ("query", "head", "direction", "what", "marker"),
        lambda s: s.layout != "components", "the layout components shows all patches alike",
    ),
    Use(
        ("query", "marker"), lambda s: s.asks or s.explains_label or s.layout == "convolution",
        "components, parts, norm, label and text show all patches alike",
    ),
    Use(("query", "marker"), lambda s: not s.explains_label or s.layout == "convolution",
        "a label is explained, not a patch"),
    *(
        Use((field,), lambda s, axis=axis: axis not in f"{s.rows} {s.columns}", f"the grid's {axis} say it")
        for axis, field in AXES.items() if axis != "pictures" and axis != "models"
    ),
    Use(("kernel", "depth"), lambda s: s.layout == "convolution", "it belongs to {layout:convolution}"),
    Use(("colours",), lambda s: s.layout in MANY_MAPS, "it belongs to layouts of several maps"),
    Use(("layer",), lambda s: s.layout not in ("wall", "atlas"), "the layout shows all layers"),
    Use(("head",), lambda s: s.layout not in MANY_HEADS, "the layout shows all heads"),
    Use(
        ("layer",),
        lambda s: (
            s.what not in THROUGH_LAYERS or s.layout == "components" or (s.layout, s.depth) == ("convolution", "follow")
        ),
        "it goes through all layers",
    ),
    Use(("layer",), lambda s: s.sweep != "layers", "the sweep goes through all layers"),
    Use(("scale",), lambda s: s.sweep != "scale", "the sweep goes through the scales"),
    Use(("query",), lambda s: not (s.sweep or "").startswith("patches"), "the sweep names its patches"),
    Use(("head", "direction"), lambda s: s.what not in WITHOUT_HEADS, "it belongs to what has heads: another {what}"),
    Use(
        ("scale",), lambda s: s.what not in WITHOUT_HEADS or s.whole or s.layout == "scale",
        "what has no heads comes out of the whole pass: add {whole:True}",
    ),
    Use(("whole",), lambda s: s.scale != "on" or s.layout == "scale", "every pass runs with 1/√dₖ: add {scale}"),
    Use(("purpose",), lambda s: s.width is None, "{width} says how wide the figure is"),
    Use(("letters",), lambda s: s.layout not in ("wall", "atlas", "curves"), "the layout has no panels of its own"),
    Use(("footer",), lambda s: not s.anonymous, "{anonymous:True} says nothing of where it comes from"),
    Use(("ceiling",), lambda s: s.what in ("weight", "value"), "it belongs to {what:weight} or {what:value}"),
    Use(("label",), lambda s: s.what in (*OF_A_LABEL, "label"),
        "it belongs to {what:relevance}, {what:occlusion} or {what:label}"),
    Use(("text",), lambda s: s.what == "text", "it belongs to {what:text}"),
    Use(("blank",), lambda s: s.what == "occlusion", "it belongs to {what:occlusion}"),
    Use(("typical",), lambda s: s.what == "norm", "it belongs to {what:norm}"),
    Use(("method", "signed"), lambda s: s.what == "relevance", "it belongs to {what:relevance}"),
    Use(("log",), lambda s: s.shares_a_whole, "what may be negative has no logarithm"),
    Use(
        ("draw",), lambda s: s.shares_a_whole and s.layout != "wall",
        "scores, similarity, lengths, what speaks for a label and against it, and the wall are always heat",
    ),
    Use(
        ("smooth",), lambda s: s.draw == "heat" and s.layout not in ("wall", "atlas"),
        "it belongs to {draw:heat}, and the layouts wall and atlas are too small for it",
    ),
)  # fmt: skip


ONLY_DRAWN = ("theme", "transparent", "font", "letters", "dpi", "footer", "bar", "marker", "over")
LOOKS = (
    "purpose", "width", "words", "caption", "colours", "ceiling", "log", "smooth", "draw", "mass", "mask", "prefix",
)  # fmt: skip
NUMBERS = (".npz", ".csv", ".json")
WRITTEN = (*NUMBERS, ".txt", ".tex")


def unused(spec: Spec, suffix: str = "") -> dict[str, str]:
    """A field of the spec that would change nothing, in a file that ends so -> why."""
    written = dict.fromkeys(ONLY_DRAWN, f"a {suffix} has neither colours nor type") if suffix in WRITTEN else {}
    written |= dict.fromkeys(LOOKS, f"a {suffix} has the numbers themselves") if suffix in NUMBERS else {}
    return written | {field: use.where for use in reversed(USES) if not use.has(spec) for field in use.fields}
