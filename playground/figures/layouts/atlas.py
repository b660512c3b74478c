"""The layout “atlas”: for every head, the mean share of attention that each place around a patch gets, in a frame whose
colour stands for the head's habit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from playground.analysis.scale import shared_ceiling
from playground.figures.drawing import captions, naming, prints, tables
from playground.figures.drawing.maps import Domain, Map, OneMap, Other, ShownMap, Subject
from playground.figures.drawing.spec import Spec
from playground.figures.layouts.layout import Content, Layout, Matrix, bar_of
from playground.models.names import plain_name

if TYPE_CHECKING:
    from playground.analysis.heads import Habit

PLACE_PIXELS, MARGIN, STRIP = 12, 5, 18  # pixels: of a place, of the frame, of the strip for the habit's sign


@dataclass(frozen=True)
class OffsetMap(Map):
    """A head's mean shares for the places around a patch: (7, 7), the patch in the middle."""

    habit: Habit | None = None
    kind: str = ""  # the habit's name, with the direction of a fixed offset


def shown_offsets(spec: Spec, subject: Subject) -> list[ShownMap]:
    from playground.analysis import heads

    trace, measured = subject.seen, heads.measure_heads(subject.seen)
    habits, kinds, prefix_shares = measured.habits(), measured.habit_names(), measured.to_class + measured.to_registers
    shown = []
    for layer in range(trace.layers):
        for head in range(trace.heads):
            prefix = (("the prefix tokens", float(prefix_shares[layer, head])),)
            offsets, habit = measured.offsets[layer, head], habits[layer][head]
            map_ = OffsetMap(offsets, prefix, None, habit=habit, kind=kinds[layer][head])
            shown.append(ShownMap(OneMap(subject, replace(spec, layer=layer, head=head), None), map_))
    return shown


def atlas(spec: Spec, subject: Subject, other: Other) -> Content:
    from playground.analysis.heads import HABITS

    trace, shown = subject.seen, shown_offsets(spec, subject)
    # one exposure for all traces with this number of tokens, so that models can be compared
    high = spec.ceiling or shared_ceiling(trace.tokens)
    domain = Domain(0, high, "share of a patch’s attention", True, high < 1, bare=True)
    cells = [_cell(spec, panel, domain) for panel in shown]
    rows = [cells[i : i + trace.heads] for i in range(0, len(cells), trace.heads)]
    signs = {(panel.spec.layer, panel.spec.head): panel.map.habit.symbol for panel in shown}
    present = {panel.map.habit for panel in shown}
    legend = [(habit.colour, habit.symbol, habit.label) for habit in HABITS if habit in present]
    return Content(Matrix(rows, None, signs, legend), _caption(spec, shown, domain), shown, bar_of(spec, domain))


def _cell(spec: Spec, panel: ShownMap, domain: Domain) -> np.ndarray:
    """The map in its frame, with a strip in the habit's colour at its left."""
    grid, colour = panel.map.grid, panel.map.habit.colour
    side = len(grid) * PLACE_PIXELS
    map_picture = prints.photo_with_map(Image.new("RGB", (side, side)), grid, spec, domain)
    cell = Image.new("RGB", (side + STRIP + 2 * MARGIN, side + 2 * MARGIN), colour)
    cell.paste(map_picture, (STRIP + MARGIN, MARGIN))
    return np.array(cell)


def _caption(spec: Spec, shown: list[ShownMap], domain: Domain) -> str:
    side, name = len(shown[0].map.grid), captions.capital(naming.model(shown[0].seen))
    totals = [captions.prefix_total(panel.map) for panel in shown]
    prefix = (
        f"; the prefix tokens take {captions.range_words(min(totals), max(totals))}" if shown[0].seen.prefix else ""
    )
    exposure = captions.exposure_note([panel.map for panel in shown], domain, "place")
    text = (
        f"{name}: what each head gives to the {side}×{side} places around a patch, which is in the middle, on average "
        f"over this picture; the frame names its habit{exposure}{prefix}."
    )
    return " ".join([text, *captions.notes(spec, shown)])


def numbers(spec: Spec, shown: list[ShownMap]) -> list[tables.Table]:
    from playground.analysis.heads import REACH

    offsets = range(-REACH, REACH + 1)
    map_facts = [
        {
            "layer": panel.spec.layer,
            "head": panel.spec.head,
            "what": "average share at an offset (down, right)",
            "habit": panel.map.kind,
        }
        for panel in shown
    ]
    tokens = [f"{down},{right}" for down in offsets for right in offsets]
    values = np.stack([panel.map.grid.ravel() for panel in shown]).astype(np.float32)
    return [tables.Table(tables.about(shown[0].subject), (len(offsets), len(offsets)), tokens, map_facts, values)]


ATLAS = Layout(
    "atlas",
    "what every head does on average",
    atlas,
    numbers,
    title=lambda spec: f"Head atlas of {plain_name(spec.model)}",
    fixed=("layer", "head", "query", "scale", "what", "direction"),
    of_heads=True,
)
