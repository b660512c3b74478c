"""What a layout of figures is: which maps it shows, how it draws them, what it says and writes of them.

Drawing, caption, numbers and title are made of the same panels and so cannot disagree. A layout that names its panels
and nothing else is drawn side by side, each map under a heading that says what sets it apart from the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from playground.errors import PlaygroundError
from playground.figures.drawing import captions, maps, tables
from playground.figures.drawing.maps import Domain, Map
from playground.figures.drawing.one_map import OneMap, Other, Shown, Subject, maps_of
from playground.figures.drawing.option_words import OptionError
from playground.figures.drawing.spec import Spec

if TYPE_CHECKING:
    from playground.figures.drawing.panels import Body

Legend = tuple[tuple[str, str, str], ...]  # (colour, words, a shape or "")


@dataclass(frozen=True)
class Drawn:
    """The panels on the sheet, and what explains their colours."""

    body: Body
    legend: Legend = ()
    bar: bool = True  # the colours stand for numbers on one scale


@dataclass(frozen=True)
class Content:
    """What stands on the sheet."""

    body: Body
    domain: Domain | None = None  # of the colour bar
    caption: str = ""
    prefix: str = ""  # what the maps leave out
    legend: Legend = ()


def exposed(spec: Spec, shown: list[Shown]) -> tuple[Domain, list[Domain]]:
    """(what the colour bar says, the range of each map): one exposure for all of them, so that they compare, unless
    each is to have its own."""
    if spec.colours == "shared":
        span = maps.domain(spec, [one.map for one in shown])
        return span, [span] * len(shown)
    spans = [maps.domain(spec, [one.map]) for one in shown]
    return replace(spans[0], words=f"{spans[0].words}; each map exposed by its own", own=True), spans


def side_by_side(spec: Spec, shown: list[Shown], spans: list[Domain]) -> Drawn:
    """A panel for each map, in as many rows as make them largest."""
    return headed(shown, spans, captions.headings(shown))


def headed(shown: list[Shown], spans: list[Domain], names: list[tuple[str, str]]) -> Drawn:
    """`names`: over each map a heading, and beneath that a few words; how many tokens a row listens to follows them."""
    from playground.figures.drawing.panels import Panels, map_panel

    drawn = []
    for one, span, (heading, sub) in zip(shown, spans, names, strict=True):
        line = ", ".join(filter(None, [sub, captions.breadth(one.map, one.seen.tokens)]))
        drawn.append(map_panel(one, span, heading, line))
    return Drawn(Panels(drawn))


def of_panels(spec: Spec, shown: list[Shown], span: Domain) -> str:
    return captions.caption(spec, shown, span, captions.places(shown))


SWEPT = {"layers": "layer", "scale": "scale", "patches": "query"}  # a sweep -> the option that it turns


@dataclass(frozen=True)
class Layout:
    name: str
    words: str  # what it shows: in the help of --layout and in Export
    panels: Callable[[Spec, Subject, Other], list[OneMap]]  # in reading order
    draw: Callable[[Spec, list[Shown], list[Domain]], Drawn] = side_by_side
    caption: Callable[[Spec, list[Shown], Domain], str] = of_panels
    numbers: Callable[[Spec, list[Shown]], list[tables.Table]] = tables.of_maps
    outside: Callable[[Spec, list[Shown]], str] = lambda spec, shown: captions.prefix_line(spec, [s.map for s in shown])
    titled: Callable[[Spec], str] = captions.title  # in what its file says of itself
    maps: Callable[[list[OneMap]], list[Map]] = maps_of
    expose: Callable[[Spec, list[Shown]], tuple[Domain, list[Domain]]] = exposed
    prepared: Callable[[Spec], Spec] = lambda spec: spec  # with what the layout itself decides
    uses: tuple[str, ...] = ()  # options that only some layouts have a use for: see SPECIAL
    unused: Mapping[str, str] = field(default_factory=dict)  # an option that all others use -> why this one does not
    beside: Callable[[Spec], str] = lambda spec: ""  # "pass": the same at another scale; "other": a trace; "many"
    patch_by_patch: bool = False  # it subtracts one map from another: both are numbers, of one grid
    of_heads: bool = False  # it has nothing to show of what has no heads
    asks: bool = False  # it marks a patch, whatever it shows
    alive: bool = False  # an .html can begin with it
    facts: Mapping[str, str] = field(default_factory=dict)  # of its file, where it is of no picture

    @property
    def of_pictures(self) -> bool:
        return not self.facts

    @property
    def alters_scale(self) -> bool:
        """By itself."""
        return self.prepared(Spec(scale="on")).scale != "on"

    @property
    def one_pass(self) -> bool:
        """No patch asks: it shows what the pass has left, and nothing of a scale that one layer alone would have."""
        return self.of_pictures and "query" in self.unused

    @property
    def still(self) -> set[str]:
        """The sweeps that would draw the same picture again and again."""
        fixed = {sweep for sweep, option in SWEPT.items() if option in self.unused}
        return fixed | {"scale"} if self.alters_scale or self.one_pass else fixed

    @property
    def offered(self) -> bool:
        """In Export, where nobody says which rows and columns."""
        return "rows" not in self.uses

    def settled(self, spec: Spec) -> Spec:
        """Fills in the options that the layout decides, then the usual ones."""
        spec = self.prepared(spec)
        return replace(spec, over=spec.over or "photo", log=bool(spec.log))

    def shown(self, spec: Spec, subject: Subject, other: Other = None) -> list[Shown]:
        asks = self.panels(self.settled(spec), subject, other)
        return [Shown(one, map_) for one, map_ in zip(asks, self.maps(asks), strict=True)]

    def content(self, spec: Spec, subject: Subject, other: Other = None) -> Content:
        self.check(spec)
        shown, spec = self.shown(spec, subject, other), self.settled(spec)
        span, spans = self.expose(spec, shown)
        drawn = self.draw(spec, shown, spans)
        # neither the photograph itself nor colours of three numbers have a bar
        bar = drawn.bar and not spec.mask and not spec.way.coloured
        subjects = {id(one.subject): one.subject for one in shown if one.subject}
        assumed = captions.assumed(one.seen for one in subjects.values())
        return Content(
            drawn.body,
            span if bar else None,
            " ".join([self.caption(spec, shown, span), *assumed]),
            self.outside(spec, shown),
            drawn.legend,
        )

    def title(self, spec: Spec) -> str:
        return self.titled(self.prepared(spec))

    def check(self, spec: Spec) -> None:
        """Says why the layout has nothing to show of this."""
        if self.of_heads and not spec.way.of_heads:
            have = "have" if spec.way.coloured else "has"
            raise PlaygroundError(
                f"{spec.what.capitalize()} {have} no heads: take the layout head, grid or convolution for it."
            )
        if self.alters_scale and not spec.way.of_heads and not spec.whole:
            raise OptionError("The scale of one layer changes nothing in {}: add {whole:True}.", spec.what)


def outside_of_each(spec: Spec, shown: list[Shown], names: list[tuple[str, str]]) -> str:
    """What each of the maps leaves out, by its heading."""
    taken = [(heading, captions.outside(one.map, spec)) for (heading, _), one in zip(names, shown, strict=True)]
    parts = [f"{heading}: {tokens}" for heading, tokens in taken if tokens]
    return captions.say("outside", "each", parts="; ".join(parts)) if parts else ""


MANY = 24  # maps on one sheet: each is small


def small_maps(spec: Spec) -> Spec:
    """Bare, and by the logarithm where they share one exposure: a dim photograph beneath them would be all that is seen
    of most, in grey of each."""
    legible = spec.colours == "shared" and spec.shares_a_whole and not spec.way.coloured
    log = legible if spec.log is None else spec.log
    return replace(spec, over=spec.over or ("none" if spec.draw == "heat" else "photo"), log=log)


def one_head(spec: Spec, subject: Subject, other: Other = None) -> list[OneMap]:
    return [OneMap(subject, spec, layer_scale(spec))]


def layer_scale(spec: Spec) -> str | None:
    """Of the layer that is asked; None: what the pass ran with, which was the whole pass's already."""
    return None if spec.whole else spec.scale
