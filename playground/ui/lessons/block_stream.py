"""A layer adds: the token, and what attention and the MLP push it by."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from playground.lessons.colours import QUERY, TOKEN, WEIGHTS
from playground.lessons.words import block as said
from playground.samples import start_patch
from playground.serving import queue
from playground.serving.here import Here
from playground.ui import guess, lesson
from playground.ui.lessons.block import TEXT, chosen_layer

state = st.session_state


def stream(here: Here) -> None:
    seen = here.traced()
    found = guess_push(here)
    with guess.after("block_push"):
        _pushes(here, seen, found)


def guess_push(here: Here):
    """The lengths of what enters a layer and of what is added, and attention's push in the last layer."""
    from playground.lessons import block

    def work() -> block.Stream:
        with queue.turns() as give_way:
            return block.stream(here.traced(), give_way)

    found = here.kept("stream", work)
    lengths = (t.median(dim=1).values.tolist() for t in (found.before, found.heard, found.thought))
    guess.ask(said.push(*lengths), (here.picture.id, here.wish.model))
    return found


def _pushes(here: Here, seen, found) -> None:
    layer, step = chosen_layer(seen.layers), TEXT.steps["stream"]
    rows, columns = seen.grid
    row, column = (int(n) for n in state.patch.split(",")) if state.patch else start_patch(here.picture.name, seen.grid)
    row, column = min(row, rows - 1), min(column, columns - 1)
    patch = row * columns + column
    token, push = found.arrows(layer, patch)
    lesson.chart(_arrows(token, push), "push", height=320, name="the-token-and-its-push")
    lesson.say(
        step.after, layer=layer, row=row, column=column, length=token[0], push=(push[0] ** 2 + push[1] ** 2) ** 0.5,
        cosine=float(found.along[layer, patch]), kept=float(found.kept[layer, patch]),
    )  # fmt: skip
    heard, before = (lengths.median(dim=1).values for lengths in (found.heard, found.before))  # (layers,)
    ratio, itself = heard / before, int(heard.argmax())
    longest, shortest = int(ratio.argmax()), int(ratio.argmin())
    lesson.exercises(
        step, {"block_push": layer == longest or (layer == itself and "longest")},
        longest=longest, most=float(ratio.max()), shortest=shortest, least=float(ratio.min()),
    )  # fmt: skip


def _arrows(token: tuple[float, float], push: tuple[float, float]) -> go.Figure:
    """In the plane that holds both: nothing is lost by drawing it flat."""
    figure = go.Figure()
    end = (token[0] + push[0], token[1] + push[1])
    for (x0, y0), (x1, y1), name, colour, width in (
        ((0, 0), token, "token before", TOKEN, 4),
        (token, end, "attention's push", WEIGHTS, 4),
        ((0, 0), end, "token after", QUERY, 2),
    ):
        figure.add_scatter(
            x=[x0, x1], y=[y0, y1], mode="lines+markers", name=name, line={"color": colour, "width": width},
            marker={"symbol": ["circle", "arrow"], "size": [1, 14], "angleref": "previous"}, hoverinfo="name",
        )  # fmt: skip
    figure.update_layout(title={"text": "In the plane of token and push"}, legend={"orientation": "h", "y": -0.1})
    figure.update_xaxes(zeroline=False, visible=False)
    figure.update_yaxes(zeroline=False, visible=False, scaleanchor="x")
    return figure
