"""The scale curves: what becomes of a softmax row as d_k grows, with 1/√d_k and without."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from playground.analysis import scale
from playground.figures.layouts.layout import Drawn, Layout
from playground.figures.maps import Domain
from playground.figures.one_map import OneMap, Shown
from playground.figures.spec import Spec
from playground.figures.tables import Table
from playground.models.given import WORDS

WITHOUT, WITH = "#E8963A", "#B63679"  # as in the lesson on the scale
QUANTITIES = {  # of analysis/scale.py -> the heading of its chart
    "deviation": "how far scores lie apart",
    "entropy": "entropy of the row, bits",
    "peak": "largest weight",
    "gradient": "gradient let through",
}
SCALES = {0.0: ("none", WITHOUT), 0.5: ("1/√d_k", WITH)}  # a power of 1/d_k -> its name, its colour


@dataclass(frozen=True)
class Curves:
    """What a chart shows instead of a map."""

    quantity: str
    of: dict[float, scale.Curve]  # by the powers of SCALES


def curves(asks: list[OneMap]) -> list[Curves]:
    return [Curves(name, {power: scale.curve(name, power) for power in SCALES}) for name in QUANTITIES]


def draw(spec: Spec, shown: list[Shown], spans: list[Domain]) -> Drawn:
    from playground.figures.charts import Chart, Charts

    charts = [
        Chart(one.map.quantity, QUANTITIES[one.map.quantity], {SCALES[power][1]: c for power, c in one.map.of.items()})
        for one in shown
    ]
    legend = ((WITH, "divided by √dₖ", ""), (WITHOUT, "no scale", ""))
    return Drawn(Charts(charts, spec.made_for.roomy), legend, bar=False)


def caption(spec: Spec, shown: list[Shown], span: Domain) -> str:
    return (
        f"{scale.MANY:,} rows of one random query and {scale.KEYS} random keys of width dₖ. Lines: medians; bands: "
        "eight rows of ten."
    )


def numbers(spec: Spec, shown: list[Shown]) -> list[Table]:
    lines = [
        ({"what": one.map.quantity, "scale": SCALES[power][0], "line": line}, getattr(curve, line))
        for one in shown
        for power, curve in one.map.of.items()
        for line in ("low", "median", "high")
    ]
    which, values = zip(*lines, strict=True)
    return [Table({}, None, [f"d_k={width}" for width in scale.WIDTHS], list(which), np.array(values, np.float32))]


RANDOM = "the layout curves shows random rows"
CURVES = Layout(
    "curves",
    "what the scale does to the softmax as dₖ grows",
    lambda spec, subject, other: [OneMap(subject, spec, None)] * len(QUANTITIES),
    draw,
    caption,
    numbers,
    outside=lambda spec, shown: "",
    titled=lambda spec: "Softmax with and without 1/√dₖ",
    maps=curves,
    expose=lambda spec, shown: (Domain(0, 1, ""), [Domain(0, 1, "")] * len(shown)),
    unused=dict.fromkeys(
        (
            "model", "weights", *WORDS, "size", "layer", "head", "query", "scale", "whole", "what", "direction", "draw",
            "ceiling", "log", "smooth", "bar", "marker", "prefix", "over", "mass", "mask",
        ),
        RANDOM,
    ) | {"letters": "the layout has no panels of its own"},
    still=("layers", "scale", "patches"),
    of_pictures=False,
    facts={"rows": str(scale.MANY), "keys": str(scale.KEYS)},
)  # fmt: skip
