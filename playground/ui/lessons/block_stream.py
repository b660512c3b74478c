"""A layer adds: the token, and what attention and the MLP push it by."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from playground.lessons.questions import Lines, Number, Series
from playground.samples import start_patch
from playground.serving import queue
from playground.ui import guess, lesson
from playground.ui.here import Here
from playground.ui.lessons.block import HEARD, THOUGHT, TOKEN, chosen_layer, traced

state = st.session_state


def stream(here: Here) -> None:
    seen = traced(here)
    found = _measured(here, seen)
    _guess(here, found)
    with guess.after("block_push"):
        _pushes(here, seen, found)


def guess_push(here: Here) -> None:
    _guess(here, _measured(here, traced(here)))


def _measured(here: Here, seen):
    from playground.lessons import block

    def work() -> block.Stream:
        with queue.turns() as give_way:
            return block.stream(seen, give_way)

    return here.kept("stream", work)


def _guess(here: Here, found) -> None:
    """The lengths of what enters a layer and of what is added, and attention's push in the last layer."""
    token, heard, thought = (tuple(t.median(dim=1).values.tolist()) for t in (found.before, found.heard, found.thought))
    last = len(token) - 1
    guess.number(
        "block_push",
        f"In layer 0 attention’s push is {heard[0]:.2g} long. In the last layer, {last}, it is ▢ long.",
        Number(0, round(1.15 * max(*token, *thought), 2), step=0.01), heard[-1],
        f"Compared with the token that it is added to: {heard[0] / token[0]:.2f} × in layer 0, "
        f"{heard[-1] / token[-1]:.2f} × in layer {last}. Medians over the patches of your picture.",
        (here.picture.id, here.wish.model),
        prose="Attention does not replace a token: what it returns is *added*, like a **push**. The MLP then adds a "
        "second push. All layers write into the same vector, the **residual stream**.",
        tempting=(((0, 0.02), "If nothing were added, the layer could be left out: its result is its push."),),
        picture=Lines(
            tuple(range(last + 1)),
            (
                Series("token, as it enters", token, TOKEN), Series("the MLP’s push", thought, THOUGHT, below=True),
                Series("attention’s push", heard, HEARD, shown=1, dots=True, below=True),
            ),
            0, 1.15 * max(*token, *thought), "layer", at=(2, last), title="Lengths",
        ),
    )  # fmt: skip


def _pushes(here: Here, seen, found) -> None:
    layer = chosen_layer(seen.layers)
    rows, columns = seen.grid
    row, column = (int(n) for n in state.patch.split(",")) if state.patch else start_patch(here.picture.name, seen.grid)
    row, column = min(row, rows - 1), min(column, columns - 1)
    patch = row * columns + column
    lesson.chart(_arrows(*found.arrows(layer, patch)), "push", height=320, name="the-token-and-its-push")
    (length, _), (along, aside) = found.arrows(layer, patch)
    st.markdown(
        f"Layer {layer}, patch ({row}, {column}): the token has a length of {length:.1f}, attention's push of "
        f"{(along**2 + aside**2) ** 0.5:.1f}, and the cosine between them is {float(found.along[layer, patch]):.2f} "
        "(0: a push to the side, −1: against it). After the whole layer, MLP included, the token still has a cosine of "
        f"**{float(found.kept[layer, patch]):.2f}** with what it was."
    )
    ratio = (found.heard / found.before).median(dim=1).values  # (layers,)
    longest = int(ratio.argmax())
    lesson.exercise(
        "Go to the layer in which attention’s push is longest, compared with the token that it is added to.",
        f"Layer {longest}: in the median over patches, the push is {float(ratio[longest]):.2f} × as long as the token. "
        f"In layer {int(ratio.argmin())} it is {float(ratio.min()):.2f} ×.",
        hint="In the chart above, compare two lines, not one.",
        done=layer == longest, id="block_push",
    )  # fmt: skip


def _arrows(token: tuple[float, float], push: tuple[float, float]) -> go.Figure:
    """In the plane that holds both: nothing is lost by drawing it flat."""
    figure = go.Figure()
    end = (token[0] + push[0], token[1] + push[1])
    for (x0, y0), (x1, y1), name, colour, width in (
        ((0, 0), token, "token before", TOKEN, 4),
        (token, end, "attention's push", HEARD, 4),
        ((0, 0), end, "token after", lesson.QUERY, 2),
    ):
        figure.add_scatter(
            x=[x0, x1], y=[y0, y1], mode="lines+markers", name=name, line={"color": colour, "width": width},
            marker={"symbol": ["circle", "arrow"], "size": [1, 14], "angleref": "previous"}, hoverinfo="name",
        )  # fmt: skip
    figure.update_layout(title={"text": "In the plane of token and push"}, legend={"orientation": "h", "y": -0.1})
    figure.update_xaxes(zeroline=False, visible=False)
    figure.update_yaxes(zeroline=False, visible=False, scaleanchor="x")
    return figure
