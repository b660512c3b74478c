"""The record of a layout of figures: its panels, how they are drawn, and its words and numbers.

Drawing, caption, numbers and title are made from the same panels and so cannot disagree. By default a layout's maps are
drawn side by side, each under a heading that says how it differs from the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from playground.errors import PlaygroundError
from playground.figures.drawing import captions, maps, tables
from playground.figures.drawing.maps import Domain, Map
from playground.figures.drawing.one_map import OneMap, Other, ShownMap, Subject, maps_of
from playground.figures.drawing.option_words import OptionError
from playground.figures.drawing.spec import Spec

if TYPE_CHECKING:
    from playground.figures.drawing.panels import Body

Legend = tuple[tuple[str, str, str], ...]  # (colour, words, a shape or "")


@dataclass(frozen=True)
class DrawnPanels:
    """The panels on the sheet, and the legend of their colours."""

    body: Body
    legend: Legend = ()
    bar: bool = True  # whether the colours stand for numbers on one scale


@dataclass(frozen=True)
class Content:
    """Everything that stands on the sheet."""

    body: Body
    domain: Domain | None = None  # the range of the colour bar; None: no bar
    caption: str = ""
    prefix: str = ""  # the shares of prefix tokens, in words
    legend: Legend = ()


def default_domains(spec: Spec, drawn_maps: list[ShownMap]) -> tuple[Domain, list[Domain]]:
    """(the colour bar's domain, the domain of each map): one for all maps, so that they can be compared, unless
    `spec.colours` is "own"."""
    if spec.colours == "shared":
        domain = maps.domain(spec, [panel.map for panel in drawn_maps])
        return domain, [domain] * len(drawn_maps)
    domains = [maps.domain(spec, [panel.map]) for panel in drawn_maps]
    return replace(domains[0], words=f"{domains[0].words}; each map exposed by its own", own=True), domains


def side_by_side(spec: Spec, drawn_maps: list[ShownMap], domains: list[Domain]) -> DrawnPanels:
    """A panel for each map, in as many rows as make them largest."""
    return with_headings(drawn_maps, domains, captions.headings(drawn_maps))


def with_headings(drawn_maps: list[ShownMap], domains: list[Domain], names: list[tuple[str, str]]) -> DrawnPanels:
    """Panels side by side. `names`: (heading, line beneath) of each panel; the row's breadth is added to the line."""
    from playground.figures.drawing.panels import Panels, map_panel

    panel_list = []
    for panel, domain, (heading, sub) in zip(drawn_maps, domains, names, strict=True):
        line = ", ".join(filter(None, [sub, captions.breadth(panel.map, panel.seen.tokens)]))
        panel_list.append(map_panel(panel, domain, heading, line))
    return DrawnPanels(Panels(panel_list))


def default_caption(spec: Spec, drawn_maps: list[ShownMap], domain: Domain) -> str:
    return captions.caption(spec, drawn_maps, domain, captions.places(drawn_maps))


SWEPT_OPTIONS = {"layers": "layer", "scale": "scale", "patches": "query"}  # a sweep -> the option that it changes


@dataclass(frozen=True)
class Layout:
    name: str
    words: str  # a description for the help of --layout and for Export
    panels: Callable[[Spec, Subject, Other], list[OneMap]]  # the maps to draw, in reading order
    draw: Callable[[Spec, list[ShownMap], list[Domain]], DrawnPanels] = side_by_side
    caption: Callable[[Spec, list[ShownMap], Domain], str] = default_caption
    numbers: Callable[[Spec, list[ShownMap]], list[tables.Table]] = tables.of_maps
    outside: Callable[[Spec, list[ShownMap]], str] = lambda spec, shown: captions.prefix_line(
        spec, [s.map for s in shown]
    )
    titled: Callable[[Spec], str] = captions.title  # the title in the file's metadata
    maps: Callable[[list[OneMap]], list[Map]] = maps_of
    expose: Callable[[Spec, list[ShownMap]], tuple[Domain, list[Domain]]] = default_domains
    prepared: Callable[[Spec], Spec] = lambda spec: spec  # fills in options that the layout decides
    uses: tuple[str, ...] = ()  # options that only some layouts use: see LAYOUT_OPTIONS in command_line.py
    unused: Mapping[str, str] = field(default_factory=dict)  # an option that other layouts use -> why this one does not
    beside: Callable[[Spec], str] = lambda spec: ""  # kind of further traces: "pass" (another scale), "other" or "many"
    patch_by_patch: bool = False  # whether maps are subtracted: both must be numbers on one grid
    of_heads: bool = False  # whether the layout shows only ways to look that have heads
    asks: bool = False  # whether the layout marks a query in every case
    alive: bool = False  # whether an interactive .html can open with this layout
    facts: Mapping[str, str] = field(default_factory=dict)  # facts for the metadata, in a layout without pictures

    @property
    def of_pictures(self) -> bool:
        return not self.facts

    @property
    def alters_scale(self) -> bool:
        """Whether the layout itself changes the scale."""
        return self.prepared(Spec(scale="on")).scale != "on"

    @property
    def one_pass(self) -> bool:
        """Whether the layout shows facts of the whole pass, without a query: another scale in one layer then has no
        effect."""
        return self.of_pictures and "query" in self.unused

    @property
    def still(self) -> set[str]:
        """The sweeps along which nothing would change."""
        fixed_sweeps = {sweep for sweep, option in SWEPT_OPTIONS.items() if option in self.unused}
        return fixed_sweeps | {"scale"} if self.alters_scale or self.one_pass else fixed_sweeps

    @property
    def offered(self) -> bool:
        """Whether Export offers the layout: not one with rows and columns, for which it has no controls."""
        return "rows" not in self.uses

    def settled(self, spec: Spec) -> Spec:
        """Fills in the options that the layout decides, then defaults for `over` and `log`."""
        spec = self.prepared(spec)
        return replace(spec, over=spec.over or "photo", log=bool(spec.log))

    def shown(self, spec: Spec, subject: Subject, other: Other = None) -> list[ShownMap]:
        requests = self.panels(self.settled(spec), subject, other)
        return [ShownMap(request, map_) for request, map_ in zip(requests, self.maps(requests), strict=True)]

    def content(self, spec: Spec, subject: Subject, other: Other = None) -> Content:
        self.check(spec)
        drawn_maps, spec = self.shown(spec, subject, other), self.settled(spec)
        domain, domains = self.expose(spec, drawn_maps)
        drawing = self.draw(spec, drawn_maps, domains)
        # neither the photograph itself nor colours of three numbers have a bar
        has_bar = drawing.bar and not spec.mask and not spec.way.coloured
        subjects = {id(panel.subject): panel.subject for panel in drawn_maps if panel.subject}
        assumptions = captions.assumption_notes(panel.seen for panel in subjects.values())
        return Content(
            drawing.body,
            domain if has_bar else None,
            " ".join([self.caption(spec, drawn_maps, domain), *assumptions]),
            self.outside(spec, drawn_maps),
            drawing.legend,
        )

    def title(self, spec: Spec) -> str:
        return self.titled(self.prepared(spec))

    def check(self, spec: Spec) -> None:
        """Raises if the layout can't show this spec, with the reason."""
        if self.of_heads and not spec.way.of_heads:
            verb = "have" if spec.way.coloured else "has"
            raise PlaygroundError(
                f"{spec.what.capitalize()} {verb} no heads: take the layout head, grid or convolution for it."
            )
        if self.alters_scale and not spec.way.of_heads and not spec.whole:
            raise OptionError("The scale of one layer changes nothing in {}: add {whole:True}.", spec.what)


def prefix_words_of_each(spec: Spec, drawn_maps: list[ShownMap], names: list[tuple[str, str]]) -> str:
    """The shares of prefix tokens in each map, with the map's heading."""
    shares = [
        (heading, captions.prefix_shares(panel.map, spec))
        for (heading, _), panel in zip(names, drawn_maps, strict=True)
    ]
    phrases = [f"{heading}: {share_words}" for heading, share_words in shares if share_words]
    return captions.say("outside", "each", parts="; ".join(phrases)) if phrases else ""


MOST_LARGE_MAPS = 24  # with more maps than these on one sheet, each is small


def small_maps(spec: Spec) -> Spec:
    """Defaults for small maps: no photograph beneath, because it would hide dim maps, and a logarithmic scale if they
    share one exposure."""
    suits_log_scale = spec.colours == "shared" and spec.shares_a_whole and not spec.way.coloured
    is_logarithmic = suits_log_scale if spec.log is None else spec.log
    return replace(spec, over=spec.over or ("none" if spec.draw == "heat" else "photo"), log=is_logarithmic)


def one_head(spec: Spec, subject: Subject, other: Other = None) -> list[OneMap]:
    return [OneMap(subject, spec, layer_scale(spec))]


def layer_scale(spec: Spec) -> str | None:
    """The scale of the spec's layer; None, for the scale of the pass, if the whole pass ran with the spec's scale."""
    return None if spec.whole else spec.scale
