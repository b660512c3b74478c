"""Near first, far later? The heads' mean attention distance by depth, as the ViT paper prints it."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from playground.lessons.colours import CONVOLUTION, QUIET
from playground.ui.lessons.heads import Spot

NEAR = (4 + 4 * 2**0.5) / 9  # patches: the mean distance of nine cells that get the same


def near_or_far(mean) -> dict[str, object]:
    """Whether heads look farther in higher layers, in this model."""
    by_layer = mean.distance.mean(axis=1)  # (layers,)
    near, far = int(by_layer.argmin()), int(by_layer.argmax())
    trend = float(np.corrcoef(np.arange(len(by_layer)), by_layer)[0, 1]) if len(by_layer) > 2 else 0.0
    verdict = "near first, far later" if trend > 0.5 else "far first, near later" if trend < -0.5 else "no steady trend"
    return {"near": near, "near_by": by_layer[near], "far": far, "far_by": by_layer[far], "verdict": verdict}


def scatter(seen, mean, spread=None) -> go.Figure:
    """Every head at its layer: the figure that the ViT paper prints."""
    from playground.analysis.heads import HABITS, Habit, even_distance

    even = even_distance(*seen.grid)
    figure, kinds = go.Figure(), mean.kinds()
    groups: dict[Habit, list[Spot]] = {}
    for layer, row in enumerate(mean.habits()):
        for head, habit in enumerate(row):
            groups.setdefault(habit, []).append((layer, head))
    for habit, spots in sorted(groups.items(), key=lambda group: HABITS.index(group[0])):
        layers, heads = (np.array(numbers) for numbers in zip(*spots, strict=True))
        far = mean.distance[layers, heads]
        spare = None if spread is None else {"array": spread.distance[layers, heads], "thickness": 1, "width": 0}
        hover = [
            f"layer {layer}, head {head}: {kinds[layer][head]}<br>listens {x:.1f} patches away, "
            f"{x * seen.patch_size:.0f} pixels"
            for (layer, head), x in zip(spots, far, strict=True)
        ]
        figure.add_scatter(
            x=layers + (heads - (seen.heads - 1) / 2) * 0.5 / seen.heads, y=far, error_y=spare, name=habit.label,
            mode="markers", text=hover, hoverinfo="text",
            marker={"size": 11, "symbol": habit.symbol, "color": habit.colour, "line": {"width": 1.5}},
        )  # fmt: skip
    ends = [-0.5, seen.layers - 0.5]
    for level, words, colour in ((even, "an even row", QUIET), (NEAR, "nine equal weights", CONVOLUTION)):
        line = {"color": colour, "width": 2, "dash": "dot"}
        figure.add_scatter(x=ends, y=[level] * 2, name=words, mode="lines", line=line, hoverinfo="name")
    figure.update_layout(
        xaxis={"title": "layer", "dtick": 1 if seen.layers <= 14 else 2, "range": ends, "zeroline": False},
        yaxis={"title": "mean attention distance, patches", "range": [0, max(even, mean.distance.max()) * 1.1]},
        legend={"orientation": "h", "y": 1, "yanchor": "bottom"},
    )
    return figure
