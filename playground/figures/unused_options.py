"""What a figure has no use for. The command line refuses it, and the command that a figure says leaves it out.

Why is told in sentences of option_words.py: {layout:compare} is that option as its reader writes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from playground.figures import layouts
from playground.figures.layouts import LAYOUTS, Layout
from playground.figures.spec import AXES, Spec
from playground.figures.ways import WAYS, Way

SPECIAL = tuple(dict.fromkeys(option for layout in LAYOUTS.values() for option in layout.uses))
OF_SOME_WAYS = tuple(dict.fromkeys(option for way in WAYS.values() for option in way.uses))


def _or(names: Iterable[str], last: str = "or") -> str:
    *most, final = names
    return f"{', '.join(most)} {last} {final}" if most else final


def _elsewhere(option: str, those: str, table: Mapping[str, Layout] | Mapping[str, Way]) -> str:
    return f"it belongs to {_or(f'{{{those}:{one.name}}}' for one in table.values() if option in one.uses)}"


@dataclass(frozen=True)
class Use:
    fields: tuple[str, ...]
    has: Callable[[Spec], bool]  # whether this figure has a use for them
    where: str  # a figure has


USES = (
    Use(("view", "bare", "pack", "layers", "heads"), lambda s: False,
        "it belongs to an interactive figure: leave it out, or write an .html"),
    Use(("scale",), lambda s: not layouts.of(s).one_pass or s.whole, "it looks at one pass: add {whole:True}"),
    Use(("other_queries",), lambda s: s.asks, "what is the same whoever asks has no patches"),
    Use(("other_queries",), lambda s: not s.for_and_against, "for and against have two colours already"),
    Use(("over", "mask", "draw", "smooth", "log"), lambda s: s.other_queries is None,
        "several patches have colours of their own"),
    Use(("over",), lambda s: s.draw == "heat", "it belongs to {draw:heat}"),
    Use(("mass", "mask"), lambda s: s.shares_a_whole, "it needs weights"),
    Use(("mask",), lambda s: s.mass is not None or s.draw == "light", "it shows what {mass} outlines: add {mass}"),
    Use(
        ("prefix", "bar", "smooth", "over", "mass", "mask", "log", "draw", "ceiling", "colours"),
        lambda s: not s.way.coloured, "the colours of features are no numbers on a scale",
    ),
    Use(
        ("query", "marker"), lambda s: s.asks or s.explains_label or layouts.of(s).asks,
        f"{_or((way.name for way in WAYS.values() if not way.asks_a_patch), 'and')} show all patches alike",
    ),
    Use(("query", "marker"), lambda s: not s.explains_label or layouts.of(s).asks,
        "a label is explained, not a patch"),
    *(
        Use((field,), lambda s, axis=axis: axis not in f"{s.rows} {s.columns}", f"the grid's {axis} say it")
        for axis, field in AXES.items() if axis != "pictures" and axis != "models"
    ),
    Use(("layer",), lambda s: not s.way.through_layers or (_has(s, "depth") and s.depth == "follow"),
        "it goes through all layers"),
    Use(("layer",), lambda s: s.sweep != "layers", "the sweep goes through all layers"),
    Use(("scale",), lambda s: s.sweep != "scale", "the sweep goes through the scales"),
    Use(("query",), lambda s: not (s.sweep or "").startswith("patches"), "the sweep names its patches"),
    Use(("head", "direction"), lambda s: s.way.of_heads, "it belongs to what has heads: another {what}"),
    Use(
        ("scale",), lambda s: s.way.of_heads or s.whole or layouts.of(s).alters_scale,
        "what has no heads comes out of the whole pass: add {whole:True}",
    ),
    Use(("whole",), lambda s: s.scale != "on" or layouts.of(s).alters_scale,
        "every pass runs with 1/√dₖ: add {scale}"),
    Use(("purpose",), lambda s: s.width is None, "{width} says how wide the figure is"),
    Use(("footer",), lambda s: not s.anonymous, "{anonymous:True} says nothing of where it comes from"),
    Use(("log",), lambda s: s.shares_a_whole, "what may be negative has no logarithm"),
    Use(("draw",), lambda s: s.shares_a_whole,
        "what is no share of a whole is always heat"),
    Use(("smooth",), lambda s: s.draw == "heat", "it belongs to {draw:heat}"),
)  # fmt: skip


def _has(spec: Spec, option: str) -> bool:
    return option in layouts.of(spec).uses


ONLY_DRAWN = ("theme", "transparent", "font", "letters", "dpi", "footer", "bar", "marker", "over")
LOOKS = (
    "purpose", "width", "words", "caption", "colours", "ceiling", "log", "smooth", "draw", "mass", "mask", "prefix",
)  # fmt: skip
NUMBERS = (".npz", ".csv", ".json")
WRITTEN = (*NUMBERS, ".txt", ".tex")


def unused(spec: Spec, suffix: str = "") -> dict[str, str]:
    """A field of the spec that would change nothing, in a file that ends so -> why."""
    layout = layouts.of(spec)
    written = dict.fromkeys(ONLY_DRAWN, f"a {suffix} has neither colours nor type") if suffix in WRITTEN else {}
    written |= dict.fromkeys(LOOKS, f"a {suffix} has the numbers themselves") if suffix in NUMBERS else {}
    prepared = layout.prepared(spec)
    shown = {field: use.where for use in reversed(USES) if not use.has(prepared) for field in use.fields}
    special = {option: _elsewhere(option, "layout", LAYOUTS) for option in SPECIAL if option not in layout.uses}
    of_ways = {option: _elsewhere(option, "what", WAYS) for option in OF_SOME_WAYS if option not in prepared.way.uses}
    return written | of_ways | shown | special | layout.unused
