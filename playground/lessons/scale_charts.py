"""The charts of the lesson on the scale."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import plotly.graph_objects as go

from playground.analysis import scale as softmax
from playground.analysis.scale import WIDTHS, Curve, Verdict
from playground.lessons.lesson import Settings
from playground.lessons.parts import CHANGED, WEIGHTS, Chart
from playground.numbers import percent

BELOW = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0.5, "xanchor": "center"}
HAIR = "rgba(128,128,128,0.35)"
QUANTITIES = {  # name -> title, what a value is called
    "deviation": ("How far apart scores lie", "scores lie {:.2f} apart"),
    "entropy": ("Entropy of the row, bits", "the row has an entropy of {:.2f} bits"),
    "peak": ("Largest of 64 weights", "the largest weight is {:.3f}"),
    "gradient": ("Gradient let through to q·k", "the derivative by q·k has a norm of {:.2g}"),
}

# Many rows ------------------------------------------------------------------------------------------------------------


def curves(quantity: str, off: Curve, on: Curve, chosen: Settings) -> go.Figure:
    """With and without the scale, whatever the dial says; the diamond follows the dials."""
    title, words = QUANTITIES[quantity]
    figure = go.Figure()
    for curve, name, colour in ((off, "no scale", CHANGED), (on, "1/√d<sub>k</sub>", WEIGHTS)):
        _band(figure, curve, colour, name, words, quantity == "deviation")
    if quantity == "deviation":
        for power in (0.0, 0.5):
            dotted = {"color": "gray", "dash": "dot", "width": 2.5}
            figure.add_scatter(x=WIDTHS, y=softmax.theory(power), mode="lines", line=dotted, hoverinfo="skip")
    value = _of_the_bars(quantity, chosen)
    figure.add_scatter(
        x=[chosen.dk], y=[value], mode="markers",
        hovertemplate=f"the row of the bars: {words.format(value)}<extra></extra>",
        marker={"symbol": "diamond", "size": 12, "color": "white", "line": {"color": "black", "width": 2}},
    )  # fmt: skip
    figure.update_layout(title={"text": title, "font": {"size": 14}}, showlegend=False)
    ticks = [4, 16, 64, 256, 1024]
    figure.update_xaxes(
        type="log", tickvals=ticks, ticktext=[str(t) for t in ticks], title="d<sub>k</sub>", title_standoff=4
    )
    figure.update_yaxes(**_axis(quantity))
    return figure


def _of_the_bars(quantity: str, chosen: Settings) -> float:
    scores = softmax.experiment()[chosen.row, WIDTHS.index(chosen.dk)]
    return float(softmax.QUANTITIES[quantity](scores, softmax.scale_of(chosen.dk, chosen.power)))


def _axis(quantity: str) -> dict:
    if quantity == "deviation":
        return {"type": "log", "tickvals": [0.5, 1, 2, 4, 8, 16, 32], "range": [np.log10(0.4), np.log10(42)]}
    if quantity == "gradient":
        ticks = [0.0001, 0.001, 0.01, 0.1, 1]
        return {"type": "log", "tickvals": ticks, "ticktext": [f"{t:g}" for t in ticks], "range": [-4.4, 0.05]}
    return {"range": [-0.2, 6.2] if quantity == "entropy" else [-0.03, 1.03]}


def _band(figure: go.Figure, curve: Curve, colour: str, name: str, words: str, named: bool) -> None:
    low, high = np.maximum(curve.low, 1e-9), curve.high
    fill = f"rgba({','.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))},0.22)"
    nothing = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    figure.add_scatter(x=WIDTHS, y=high, **nothing)
    figure.add_scatter(x=WIDTHS, y=low, fill="tonexty", fillcolor=fill, **nothing)
    number = words[words.index("{") : words.index("}") + 1]
    texts = [
        f"d<sub>k</sub> = {d}, {name}: {words.format(m)}<br>in the median; for eight of ten rows from "
        f"{number.format(a)} to {number.format(b)}"
        for d, m, a, b in zip(WIDTHS, curve.median, curve.low, curve.high, strict=True)
    ]
    figure.add_scatter(
        x=WIDTHS, y=np.maximum(curve.median, 1e-9), mode="lines", line={"color": colour, "width": 3},
        text=texts, hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip
    if named:
        figure.add_annotation(
            x=np.log10(160), y=np.log10(curve.median[WIDTHS.index(192)] * 1.9), text=name, showarrow=False,
            font={"color": colour, "size": 14}, xanchor="right",
        )  # fmt: skip


# A real model ---------------------------------------------------------------------------------------------------------


def heads(
    scaled: tuple[np.ndarray, ...], without: tuple[np.ndarray, ...], d: int, instead: str, tokens: int
) -> Iterator[Chart]:
    """Its numbers (analysis.scale.sharpness) with its own scale and with another one."""
    titles = (
        (f"Entropy, bits (at most {np.log2(tokens):.1f})", "{:.2f} bits", "entropy per head"),
        ("Largest weight", "{:.3f}", "peak per head"),
        ("How far apart scaled scores lie", "{:.2f}", "deviation per head"),
    )
    for i, (title, words, name) in enumerate(titles):
        yield Chart(_each_head(title, scaled[i], without[i], words, d, instead, log=i == 2), name)


def _each_head(title: str, on: np.ndarray, off: np.ndarray, words: str, d: int, instead: str, log: bool) -> go.Figure:
    """Layers from left to right, a dot for each head with the scale and one without, tied together."""
    layers, heads = on.shape
    x = np.arange(layers)[:, None] + (np.arange(heads) - (heads - 1) / 2) * 0.7 / heads  # (layers, heads)
    figure = go.Figure()
    gaps = np.full_like(on, np.nan)
    ties = {"x": np.stack([x, x, x], -1).ravel(), "y": np.stack([on, off, gaps], -1).ravel()}
    figure.add_scatter(**ties, mode="lines", line={"color": HAIR, "width": 1}, hoverinfo="skip", showlegend=False)
    changed = "without" if instead.startswith("1,") else f"with {instead}"
    texts = [
        f"layer {layer}, head {head}<br>with 1/√{d} {words.format(on[layer, head])}, "
        f"{changed} {words.format(off[layer, head])}"
        for layer, head in np.ndindex(layers, heads)
    ]
    for values, name, colour in ((on, f"with 1/√{d}", WEIGHTS), (off, changed, CHANGED)):
        figure.add_scatter(
            x=x.ravel(), y=values.ravel(), mode="markers", name=name, text=texts,
            marker={"color": colour, "size": 8 if heads * layers < 100 else 6}, hovertemplate="%{text}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(title={"text": title, "font": {"size": 14}}, legend=BELOW)
    figure.update_xaxes(title="layer", dtick=1 if layers <= 16 else 4, showgrid=False, range=[-0.6, layers - 0.4])
    if log:
        figure.update_yaxes(type="log", dtick=1)
        figure.add_hline(y=1, line={"color": "gray", "dash": "dot", "width": 2})
    else:
        figure.update_yaxes(rangemode="tozero")
    return figure


def verdicts(found: list[Verdict], d: int, instead: str) -> Chart:
    labels, figure = [one.label for one in found], go.Figure()
    for values, name, colour in (
        ([one.off for one in found], f"with {instead}, in every layer", CHANGED),
        ([one.on for one in found], f"with 1/√{d}", WEIGHTS),
    ):
        figure.add_bar(
            y=labels, x=[100 * p for p in values], orientation="h", name=name, marker_color=colour,
            text=[percent(p) for p in values], textposition="outside", cliponaxis=False,
            hovertemplate="%{y}: %{text} " + name + "<extra></extra>",
        )  # fmt: skip
    figure.update_layout(barmode="group", bargap=0.25, legend=BELOW | {"traceorder": "reversed"})
    figure.update_xaxes(range=[0, 108], ticksuffix=" %", title="probability")
    figure.update_yaxes(autorange="reversed", type="category", ticksuffix="  ")
    return Chart(figure, "predictions with and without the scale", 120 + 44 * len(labels))
