"""The layout of the scale curves: how a softmax row changes as d_k grows, with 1/√d_k and without it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from playground.analysis import scale
from playground.figures.drawing import captions
from playground.figures.drawing.maps import Domain
from playground.figures.drawing.one_map import OneMap, ShownMap
from playground.figures.drawing.spec import Spec
from playground.figures.drawing.tables import Table
from playground.figures.layouts.layout import DrawnPanels, Layout
from playground.models.given import OPTION_NAMES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from playground.figures.drawing.sheet import Box, Sheet

# Charts of what the attention scale does: each has a heading, two curves with their bands, and the widths dₖ beneath.


LEFT_MARGIN, CHART_GAP, RIGHT_MARGIN = (
    2.5,
    2.4,
    1.1,
)  # em: room for the numbers beside a chart, between charts, for the last tick
TOP_MARGIN, BOTTOM_MARGIN = 2.0, 2.6  # em: room for a chart's heading, and for its ticks


@dataclass(frozen=True)
class Chart:
    quantity: str
    heading: str
    curves: dict[str, scale.Curve]  # colour -> curve


class Charts:
    """The body of the figure: a chart for each quantity, in one row or two."""

    def __init__(self, charts: list[Chart], roomy: bool) -> None:
        self.charts, self.roomy = charts, roomy

    def _columns(self, height: float | None) -> int:
        return 2 if height or not self.roomy else 4

    def _sides(self, width: float, height: float | None, em: float) -> tuple[float, float]:
        """(width, height) of a chart without its labels, inches."""
        columns = self._columns(height)
        rows = len(self.charts) // columns
        chart_width = (
            width - columns * LEFT_MARGIN * em - (columns - 1) * CHART_GAP * em - RIGHT_MARGIN * em
        ) / columns
        return chart_width, 0.8 * chart_width if height is None else height / rows - (TOP_MARGIN + BOTTOM_MARGIN) * em

    def size(self, width: float, height: float | None, em: float) -> tuple[float, float]:
        rows = len(self.charts) // self._columns(height)
        return width, rows * (self._sides(width, height, em)[1] + (TOP_MARGIN + BOTTOM_MARGIN) * em)

    def panel_area(self, width: float, height: float | None, em: float) -> float:
        return math.prod(self.size(width, height, em))

    def alignment_x(self, width: float, height: float | None, em: float, least_x: float) -> float:
        return 0.0

    def place(self, sheet: Sheet, box: Box, height: float | None) -> None:
        from playground.figures.drawing.sheet import Box

        em, columns = sheet.font / 72, self._columns(height)
        chart_width, chart_height = self._sides(box.width, height, em)
        for number, chart in enumerate(self.charts):
            row, column = divmod(number, columns)
            x = box.x + LEFT_MARGIN * em + column * (chart_width + (LEFT_MARGIN + CHART_GAP) * em)
            y = box.y + TOP_MARGIN * em + row * (chart_height + (TOP_MARGIN + BOTTOM_MARGIN) * em)
            is_last = row == len(self.charts) // columns - 1
            _chart(sheet, chart, Box(x, y, chart_width, chart_height), is_last)


def _chart(sheet: Sheet, chart: Chart, box: Box, is_last: bool) -> None:
    from playground.figures.drawing.sheet import small_size

    em, theme = sheet.font / 72, sheet.theme
    sheet.text(box.x - 2.2 * em, box.y - 0.7 * em, chart.heading, small_size(sheet.font, 0.95), bold=True)
    axes = sheet.axes(box)
    axes.set_axis_on()
    for colour, curve in chart.curves.items():
        axes.fill_between(scale.WIDTHS, curve.low, curve.high, color=colour, alpha=0.25, linewidth=0)
        axes.plot(scale.WIDTHS, curve.median, color=colour, linewidth=0.14 * sheet.font)
    _set_axes(axes, chart.quantity)
    axes.tick_params(
        labelsize=small_size(sheet.font, 0.7), colors=theme.muted, width=0.05 * sheet.font, length=0.25 * sheet.font
    )
    for name, spine in axes.spines.items():
        spine.set_visible(name in ("left", "bottom"))
        spine.set(color=theme.line, linewidth=0.06 * sheet.font)
    axes.grid(color=theme.line, linewidth=0.04 * sheet.font)
    axes.set_axisbelow(True)
    if is_last:
        sheet.text(box.x + box.width / 2, box.y + box.height + 2.3 * em, "dₖ", small_size(sheet.font, 0.8), ha="center")


def _set_axes(axes: Axes, quantity: str) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

    as_number = FuncFormatter(lambda x, _: f"{x:g}")
    axes.set_xscale("log")
    axes.set_xlim(scale.WIDTHS[0], scale.WIDTHS[-1])
    axes.xaxis.set(
        major_locator=FixedLocator([4, 16, 64, 256, 1024]), major_formatter=as_number, minor_locator=NullLocator()
    )
    if quantity == "deviation":
        axes.set_yscale("log")
        axes.set_ylim(0.6, 42)
        axes.yaxis.set(
            major_locator=FixedLocator([1, 2, 4, 8, 16, 32]), major_formatter=as_number, minor_locator=NullLocator()
        )
    else:
        axes.set_ylim(0, {"entropy": 6, "peak": 1}.get(quantity))
    if quantity == "peak":
        axes.yaxis.set_major_formatter(PercentFormatter(1))


UNSCALED_COLOUR, SCALED_COLOUR = "#E8963A", "#B63679"  # the colours of the lesson on the scale
QUANTITIES = {  # a quantity of analysis/scale.py -> the heading of its chart
    "deviation": "how far scores lie apart",
    "entropy": "entropy of the row, bits",
    "peak": "largest weight",
    "gradient": "gradient let through",
}
SCALES = {0.0: ("none", UNSCALED_COLOUR), 0.5: ("1/√d_k", SCALED_COLOUR)}  # a power of 1/d_k -> its name, its colour


@dataclass(frozen=True)
class Curves:
    """The numbers of one chart, which a panel shows instead of a map."""

    quantity: str
    curves: dict[float, scale.Curve]  # {power in SCALES: curve}


def curves(requests: list[OneMap]) -> list[Curves]:
    return [Curves(name, {power: scale.curve(name, power) for power in SCALES}) for name in QUANTITIES]


def draw(spec: Spec, drawn_charts: list[ShownMap], domains: list[Domain]) -> DrawnPanels:

    charts = [
        Chart(
            chart.map.quantity,
            QUANTITIES[chart.map.quantity],
            {SCALES[power][1]: curve for power, curve in chart.map.curves.items()},
        )
        for chart in drawn_charts
    ]
    legend = ((SCALED_COLOUR, "divided by √dₖ", ""), (UNSCALED_COLOUR, "no scale", ""))
    return DrawnPanels(Charts(charts, spec.made_for.roomy), legend, bar=False)


def caption(spec: Spec, drawn_charts: list[ShownMap], domain: Domain) -> str:
    return captions.say("curves", rows=f"{scale.CURVE_ROW_COUNT:,}", keys=scale.KEY_COUNT)


def numbers(spec: Spec, drawn_charts: list[ShownMap]) -> list[Table]:
    rows = [
        ({"what": chart.map.quantity, "scale": SCALES[power][0], "line": line}, getattr(curve, line))
        for chart in drawn_charts
        for power, curve in chart.map.curves.items()
        for line in ("low", "median", "high")
    ]
    facts, values = zip(*rows, strict=True)
    return [Table({}, None, [f"d_k={width}" for width in scale.WIDTHS], list(facts), np.array(values, np.float32))]


RANDOM_REASON = "the layout curves shows random rows"
CURVES = Layout(
    "curves",
    "what the scale does to the softmax as dₖ grows",
    lambda spec, subject, other: [OneMap(subject, spec, None)] * len(QUANTITIES),
    draw,
    caption,
    numbers,
    outside=lambda spec, shown: "",
    titled=lambda spec: captions.say("curves", "title"),
    maps=curves,
    expose=lambda spec, shown: (Domain(0, 1, ""), [Domain(0, 1, "")] * len(shown)),
    unused=dict.fromkeys(
        (
            "model", "weights", *OPTION_NAMES, "size", "layer", "head", "query", "scale", "whole", "what", "direction",
            "draw", "ceiling", "log", "smooth", "bar", "marker", "prefix", "over", "mass", "mask",
        ),
        RANDOM_REASON,
    ) | {"letters": "the layout has no panels of its own"},
    facts={"rows": str(scale.CURVE_ROW_COUNT), "keys": str(scale.KEY_COUNT)},
)  # fmt: skip
