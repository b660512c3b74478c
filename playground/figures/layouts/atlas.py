"""The layout “atlas”: for every head, the mean share of attention that each place around a patch gets, in a frame whose
colour stands for the head's habit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from playground.analysis.scale import shared_ceiling
from playground.figures.drawing import captions, naming, tables
from playground.figures.drawing.maps import Domain, Map
from playground.figures.drawing.one_map import OneMap, Other, ShownMap, Subject
from playground.figures.drawing.spec import Spec
from playground.figures.layouts.layout import DrawnPanels, Layout
from playground.models.names import plain_name

if TYPE_CHECKING:
    from playground.analysis.heads import Habit

STRIP_WIDTH = 0.2  # width of the strip for the habit beside the map, as a share of the cell's height


@dataclass(frozen=True)
class OffsetMap(Map):
    """A head's mean shares for the places around a patch: (7, 7), the patch in the middle."""

    habit: Habit | None = None
    kind: str = ""  # the habit's name, with the direction of a fixed offset


def panels(spec: Spec, subject: Subject, other: Other) -> list[OneMap]:
    trace = subject.seen
    places = [(layer, head) for layer in range(trace.layers) for head in range(trace.heads)]
    return [OneMap(subject, replace(spec, layer=layer, head=head), None) for layer, head in places]


def average_maps(requests: list[OneMap]) -> list[Map]:
    from playground.analysis import heads

    head_habits = heads.measure_heads(requests[0].subject.seen)
    habits, kinds, prefix_shares = (
        head_habits.habits(),
        head_habits.habit_names(),
        head_habits.to_class + head_habits.to_registers,
    )
    head_maps = []
    for panel in requests:
        i, h = panel.spec.layer, panel.spec.head
        prefix = (("the prefix tokens", float(prefix_shares[i, h])),)
        head_maps.append(OffsetMap(head_habits.offsets[i, h], prefix, None, habit=habits[i][h], kind=kinds[i][h]))
    return head_maps


def atlas_domains(spec: Spec, drawn_maps: list[ShownMap]) -> tuple[Domain, list[Domain]]:
    """One exposure for all traces with this number of tokens, so that models can be compared."""
    high = spec.ceiling or shared_ceiling(drawn_maps[0].seen.tokens)
    domain = Domain(0, high, captions.say("atlas", "bar"), True, high < 1, bare=True)
    return domain, [domain] * len(drawn_maps)


def draw(spec: Spec, drawn_maps: list[ShownMap], domains: list[Domain]) -> DrawnPanels:
    from matplotlib.patches import Rectangle

    from playground.analysis.heads import HABITS
    from playground.figures.drawing import prints
    from playground.figures.drawing.panels import Matrix

    trace = drawn_maps[0].seen

    def cell(sheet, axes, layer, head, box) -> None:
        index = layer * trace.heads + head
        average, margin, strip = drawn_maps[index].map, 0.05 * box.height, box.width - box.height
        axes.add_patch(Rectangle((box.x, box.y), box.width, box.height, color=average.habit.colour, linewidth=0))
        extent = (box.x + strip + margin, box.y + margin, box.x + box.width - margin, box.y + box.height - margin)
        sheet.layer(axes, prints.bare_map(average.grid, domains[index]), extent)
        middle = box.x + (strip + margin) / 2, box.y + box.height / 2  # the habit as a shape too, for the colour-blind
        sheet.shape(axes, *middle, average.habit.symbol, 72 * 0.7 * strip)

    habits_present = {panel.map.habit for panel in drawn_maps}
    legend = tuple((habit.colour, habit.label, habit.symbol) for habit in HABITS if habit in habits_present)
    return DrawnPanels(Matrix(trace.layers, trace.heads, 1 + STRIP_WIDTH, cell), legend)


def caption(spec: Spec, drawn_maps: list[ShownMap], domain: Domain) -> str:
    trace, grids = drawn_maps[0].seen, np.stack([panel.map.grid for panel in drawn_maps])
    side, clipped_count = grids.shape[-1], int((grids > domain.high).sum())
    brighter_words = captions.clipped_note(domain, clipped_count, float(grids.max()), "places")
    sentence = captions.say("atlas", model=naming.model(trace), side=side, more=brighter_words)
    notes = captions.alteration_notes(spec, drawn_maps) if spec.whole else []
    return " ".join([f"{sentence[0].upper()}{sentence[1:]}", *notes])


def prefix_words(spec: Spec, drawn_maps: list[ShownMap]) -> str:
    if not drawn_maps[0].seen.prefix:
        return ""
    prefix_totals = [captions.prefix_total(panel.map) for panel in drawn_maps]
    return captions.say("outside", "atlas", share=captions.range_words(min(prefix_totals), max(prefix_totals)))


def numbers(spec: Spec, drawn_maps: list[ShownMap]) -> list[tables.Table]:
    from playground.analysis.heads import REACH

    offsets = range(-REACH, REACH + 1)
    description = "average share at an offset (down, right)"
    map_facts = [
        {"layer": panel.spec.layer, "head": panel.spec.head, "what": description, "habit": panel.map.kind}
        for panel in drawn_maps
    ]
    tokens = [f"{down},{right}" for down in offsets for right in offsets]
    values = np.stack([panel.map.grid.ravel() for panel in drawn_maps]).astype(np.float32)
    return [tables.Table(tables.about(drawn_maps[0].subject), (len(offsets), len(offsets)), tokens, map_facts, values)]


AVERAGE_REASON = "the layout atlas shows the average over all patches"
SMALL_REASON = "its maps are too small for it"
ATLAS = Layout(
    "atlas",
    "what every head does on average",
    panels,
    draw,
    caption,
    numbers,
    prefix_words,
    titled=lambda spec: captions.say("atlas", "title", model=plain_name(spec.model)),
    maps=average_maps,
    expose=atlas_domains,
    unused={
        **dict.fromkeys(("query", "what", "direction", "draw", "log", "marker"), AVERAGE_REASON),
        "layer": "the layout shows all layers",
        "head": "the layout shows all heads",
        "letters": "the layout has no panels of its own",
        **dict.fromkeys(("over", "mass", "mask", "smooth"), SMALL_REASON),
    },
    of_heads=True,
)
