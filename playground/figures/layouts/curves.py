"""The layout of the scale curves: how a softmax row changes as d_k grows, with 1/√d_k and without it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from playground.analysis import scale
from playground.figures.drawing.one_map import OneMap, Other, ShownMap, Subject
from playground.figures.drawing.spec import Spec
from playground.figures.drawing.tables import Table
from playground.figures.layouts.layout import Charts, Content, Layout
from playground.models.given import OPTION_NAMES

UNSCALED_COLOUR, SCALED_COLOUR = "#E8963A", "#B63679"  # the colours of the lesson on the scale
QUANTITIES = {  # a quantity of analysis/scale.py -> the heading of its chart
    "deviation": "how far scores lie apart",
    "entropy": "entropy of the row, bits",
    "peak": "largest weight",
    "gradient": "gradient let through",
}
SCALES = {0.0: ("none", UNSCALED_COLOUR), 0.5: ("1/√d_k", SCALED_COLOUR)}  # a power of 1/d_k -> its name, its colour
LEGEND = [(SCALED_COLOUR, "", "divided by √dₖ"), (UNSCALED_COLOUR, "", "no scale")]


@dataclass(frozen=True)
class Curves:
    """The numbers of one chart, which a panel shows instead of a map."""

    quantity: str
    curves: dict[float, scale.Curve]  # {power in SCALES: curve}


def curves(spec: Spec, subject: Subject | None, other: Other) -> Content:
    shown = [
        ShownMap(OneMap(subject, spec, None), Curves(name, {power: scale.curve(name, power) for power in SCALES}))
        for name in QUANTITIES
    ]
    charts = [
        (
            panel.map.quantity,
            QUANTITIES[panel.map.quantity],
            {SCALES[power][1]: curve for power, curve in panel.map.curves.items()},
        )
        for panel in shown
    ]
    caption = (
        f"{scale.CURVE_ROW_COUNT:,} rows of one random query and {scale.KEY_COUNT} random keys of width dₖ; lines: "
        "medians; bands: eight rows of ten."
    )
    return Content(Charts(charts, LEGEND), caption, shown)


def numbers(spec: Spec, shown: list[ShownMap]) -> list[Table]:
    rows = [
        ({"what": chart.map.quantity, "scale": SCALES[power][0], "line": line}, getattr(curve, line))
        for chart in shown
        for power, curve in chart.map.curves.items()
        for line in ("low", "median", "high")
    ]
    facts, values = zip(*rows, strict=True)
    return [Table({}, None, [f"d_k={width}" for width in scale.WIDTHS], list(facts), np.array(values, np.float32))]


CURVES = Layout(
    "curves",
    "what the scale does to the softmax as dₖ grows",
    curves,
    numbers,
    title=lambda spec: "Softmax with and without 1/√dₖ",
    fixed=(
        "model", "weights", *OPTION_NAMES, "size", "layer", "head", "query", "scale", "whole", "what", "direction",
        "ceiling", "over", "colours",
    ),
    facts={"rows": str(scale.CURVE_ROW_COUNT), "keys": str(scale.KEY_COUNT)},
)  # fmt: skip
