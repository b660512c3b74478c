"""The page on convolution and attention: how far each sees, a shifted picture, what is built in, cheaper ways."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from playground.lessons.colours import CONVOLUTION, WEIGHTS
from playground.lessons.questions import Pictures
from playground.lessons.settings import Setting, Steps
from playground.lessons.words import two_ways as said
from playground.models.names import plain_name
from playground.serving import models, queue
from playground.serving.here import Here
from playground.serving.pictures import data_url
from playground.ui import guess, lesson
from playground.ui.lessons.drawings import body_of, lit, outlined

state = st.session_state

MOST_TOKENS = 16384
MOST_MOVED = 3  # patches
TEXT = said.TEXT
STEPS = TEXT.titles
SETTINGS = {
    "kernel": Setting.of(3, (3, 5, 7)),
    "moved": Setting.of(1, (1, 2, MOST_MOVED)),
    "step": Steps.by(STEPS, **TEXT.settings),
}


# How far --------------------------------------------------------------------------------------------------------------


def far(here: Here) -> None:
    from playground.analysis.heads import even_distance
    from playground.lessons import two_ways
    from playground.ui.lessons import heads_numbers

    seen = here.traced()
    side = max(seen.grid)
    lesson.say(TEXT.steps["far"].prose)
    st.segmented_control("Kernel", (3, 5, 7), key="kernel", format_func=lambda k: f"{k} × {k}", required=True)
    mean = heads_numbers.habits_here(here)
    layers = np.arange(seen.layers)
    half = [min(side, two_ways.field(state.kernel, int(n) + 1) // 2) for n in layers]
    figure = go.Figure()
    figure.add_scatter(
        x=np.repeat(layers, seen.heads), y=mean.distance.ravel(), mode="markers", name="heads: mean distance",
        marker={"size": 8, "color": WEIGHTS}, hovertemplate="layer %{x}: %{y:.1f} patches<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=layers, y=half, mode="lines+markers", name=f"{state.kernel}×{state.kernel} convolutions: farthest",
        line={"color": CONVOLUTION, "width": 3}, hovertemplate="layer %{x}: %{y} patches<extra></extra>",
    )  # fmt: skip
    figure.update_layout(legend={"orientation": "h", "y": 1, "yanchor": "bottom"})
    figure.update_xaxes(title="layer", dtick=1 if seen.layers <= 16 else 4)
    figure.update_yaxes(title="patches away", rangemode="tozero")
    lesson.chart(figure, "far", height=320, name="how-far")
    guess.ask(said.field())
    any_convolution(here)
    lesson.say(
        TEXT.steps["far"].after, side=side, k=state.kernel, needed=two_ways.layers_needed(side, state.kernel),
        model=plain_name(here.wish.model), far=mean.distance[0].mean(), even=even_distance(*seen.grid),
    )  # fmt: skip


def any_convolution(here: Here) -> None:
    """Unfold, multiply, fold."""
    from playground.lessons import two_ways

    found = here.kept("unfolded", lambda: two_ways.unfolded(here.picture.image))
    with st.expander(TEXT.steps["far"].said["unfold"], icon=":material/grid_view:"):
        st.code(body_of(two_ways.by_unfold_multiply_fold), language="python", wrap_lines=True)
        lines = [
            f"| {one.kernel} × {one.kernel}, stride {one.stride} | {one.columns[0]} × {one.columns[1]:,} "
            f"| {one.answer[0]} × {one.answer[1]} | {one.apart:.0e} of {one.typical:.2f} |"
            for one in found
        ]
        head = "| on your picture | unfolded | answer | largest difference from `conv2d` |"
        st.markdown("\n".join([head, "|---|---|---|---|", *lines]))
        lesson.say(TEXT.steps["far"].said["overlap"])


# A shifted picture ----------------------------------------------------------------------------------------------------


def shift(here: Here) -> None:
    layer, head = _shown(here)
    st.segmented_control("Moved by so many patches", (1, 2, MOST_MOVED), key="moved", required=True)

    found = _moved(here, layer, head, state.moved)

    _guess_shift(here, found, layer, head)
    with guess.after("two_ways_shift"):
        _shift_words(found, layer, head, *(_moved(here, layer, head, far).apart for far in (1, MOST_MOVED)))


def guess_shift(here: Here) -> None:
    """For slides, which have no choices: the question about a picture that is moved by one patch."""
    layer, head = _shown(here)
    _guess_shift(here, _moved(here, layer, head, 1), layer, head)


def _guess_shift(here: Here, found, layer: int, head: int) -> None:
    spots = [(found.query[0], found.query[1] + moved) for moved in (found.patches, 0)]
    pairs = [list(zip(found.pictures, spots, strict=True)), list(zip(found.pictures, found.rows, spots, strict=True))]
    shown = Pictures(
        tuple(data_url(outlined(cut, found.grid, spot)) for cut, spot in pairs[0]),
        tuple(data_url(lit(cut, row, spot)) for cut, row, spot in pairs[1]),
        ("as it was", f"moved by {found.patches}"), found.pictures[0].width / found.pictures[0].height,
    )  # fmt: skip
    question = said.shift(100 * found.apart, layer, head, _answers(found), shown)
    guess.ask(question, (here.picture.id, here.wish.model, found.patches, layer, head))


def _shown(here: Here) -> tuple[int, int]:
    """The layer and head that the microscope shows."""
    from playground.pack import upper_layer

    c = models.load(here.wish.model).config
    return min(int(here.view.get("layer", upper_layer(c.depth))), c.depth - 1), int(here.view.get("head", 0)) % c.heads


def _moved(here: Here, layer: int, head: int, patches: int):
    from playground.lessons import two_ways

    def work() -> two_ways.Shifted:
        with queue.turn():
            return two_ways.shifted(models.load(here.wish.model), here.picture.image, layer, head, patches)

    return here.kept(("shifted", layer, head, patches), work)


def _shift_words(found, layer: int, head: int, by_one: float, by_most: float) -> None:
    step = TEXT.steps["shift"]
    lesson.say(
        step.after, layer=layer, head=head, mean=float(found.features.mean()), least=float(found.features.min()),
        convolution=_answers(found), pixel=found.one_pixel,
    )  # fmt: skip
    lesson.exercises(step, {"two_ways_moved": state.moved == MOST_MOVED}, by_one=by_one, by_most=by_most)


def _answers(found) -> str:
    """How far a convolution's differ after the shift, in words."""
    return TEXT.steps["shift"].said["differ" if found.convolution else "same"].format(by=found.convolution)


# What is built in -----------------------------------------------------------------------------------------------------


def built(here: Here) -> None:
    width = models.load(here.wish.model).config.width
    step = TEXT.steps["built"]
    lesson.say(step.prose)
    guess.ask(said.parameters(width), width)
    lesson.say(step.after)
    lesson.exercises(step)


# Cheaper ways ---------------------------------------------------------------------------------------------------------


def cheaper() -> None:
    from playground.lessons import two_ways

    counts = (64, 256, 1024, 4096, 16384)
    guess.ask(said.linear(counts, [two_ways.products(n, said.WINDOW, said.HEAD) for n in counts]))
    lesson.say(TEXT.steps["cheaper"].after)
    tokens = st.select_slider("Tokens", (64, 196, 576, 1024, 4096, MOST_TOKENS), 1024, key="cheap_tokens", width=420)
    window, d = said.WINDOW, said.HEAD
    names = ("all pairs, 2 N² d", f"windows of {window} tokens, 2 N w² d", "linear attention, 2 N d²")
    rows = list(zip(names, two_ways.products(tokens, window, d), strict=True))
    lines = [f"| {name} | {flops:,} | {flops / rows[0][1]:.3g} × |" for name, flops in rows]
    st.markdown("\n".join([f"| one head of {d}, the first product | FLOPs | |", "|---|---|---|", *lines]))
    done = tokens == d or (tokens == MOST_TOKENS and "most")
    lesson.exercises(TEXT.steps["cheaper"], {"two_ways_linear": done})
