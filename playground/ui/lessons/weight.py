"""The page on what a weight is not: what it carries, what softmax makes of scores, heads that lock on."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from playground.lessons.colours import QUERY, VALUE, WEIGHTS
from playground.lessons.questions import Beside, Photo
from playground.lessons.settings import Steps, Written
from playground.lessons.words import weight as said
from playground.lessons.words.weight import TEXT
from playground.pack import pack
from playground.samples import start_patch
from playground.serving import traces
from playground.serving.here import Here
from playground.ui import guess, lesson
from playground.ui.components import component
from playground.ui.lessons import beside, weight_norms
from playground.ui.lessons.code import on_the_picture
from playground.ui.lessons.drawings import begun, photo, small
from playground.ui.navigation import tell_settings

state = st.session_state
LOUD = 1.3  # × the median key's length
STEPS = TEXT.titles
SETTINGS = {"look": Written("", pattern=r"\d{1,2}(\.\d{1,3}){3}"), "step": Steps.by(STEPS, **TEXT.settings)}


def _layer(here: Here, seen) -> int:
    return min(seen.layers - 1, int(state.look.split(".")[0]) if state.look else seen.upper_layer)


@st.fragment
def carried(here: Here) -> None:
    """Weight and weight × ‖W_O v‖ under one cursor."""
    component("carried", "lessons/carried.js", "lessons/carried.css")(
        key="carried", data=_carried_bytes(here), default={"look": ""}, on_look_change=_on_look
    )
    tell_settings("carried")
    _mixer(here)
    lesson.exercises(TEXT.steps["carries"], {"weight_differs": _differs_here(here)})


def _looked_at(here: Here, seen) -> tuple[int, int, tuple[int, int]]:
    """(layer, head, patch)"""
    start = (seen.upper_layer, 0, *start_patch(here.picture.name, seen.grid))
    layer, head, row, column = (int(n) for n in state.look.split(".")) if state.look else start
    query = (min(row, seen.grid[0] - 1), min(column, seen.grid[1] - 1))
    return min(layer, seen.layers - 1), min(head, seen.heads - 1), query


def _differs_here(here: Here) -> bool | str:
    """Whether the patch with the largest weight is not the one that adds the longest vector, in the row that is
    looked at."""
    if not state.look:
        return False
    seen = here.traced()
    layer, head, query = _looked_at(here, seen)
    weights, front = seen.row(layer, head, query), len(seen.prefix)
    added = weights * seen.value_norms(layer)[head]
    return bool(weights[front:].argmax() != added[front:].argmax()) or "same"


CHANNELS = 8
SMALL = -88  # a score whose power is nearly 0 for 32-bit numbers


def _mixer(here: Here) -> None:
    """A mixing desk: a fader for each token, how loud it is, and what is heard of it."""
    seen = here.traced()
    layer, head, query = _looked_at(here, seen)
    weights, loud = seen.row(layer, head, query), seen.value_norms(layer)[head]
    some = weights.argsort(descending=True)[:CHANNELS].tolist()
    front, columns = len(seen.prefix), seen.grid[1]
    names = [seen.prefix[n] if n < front else "{},{}".format(*divmod(n - front, columns)) for n in some]
    rows = (
        ("Fader: the weight", weights[some], WEIGHTS, ".0%"),
        ("How loud it is: ‖W<sub>O</sub> v‖", loud[some], VALUE, ".2f"),
        ("Heard: their product", weights[some] * loud[some], QUERY, ".2f"),
    )
    figure = make_subplots(cols=3, subplot_titles=[title for title, *_ in rows])
    for n, (_, values, colour, form) in enumerate(rows, start=1):
        figure.add_bar(
            x=names, y=values.tolist(), marker_color=colour, row=1, col=n, hoverinfo="skip", cliponaxis=False,
            text=[format(x, form) for x in values.tolist()], textposition="outside",
        )  # fmt: skip
    figure.update_layout(showlegend=False)
    figure.update_xaxes(type="category", tickangle=0)
    figure.update_yaxes(showticklabels=False, rangemode="tozero")
    lesson.chart(figure, "mixer", height=250, name="a-mixing-desk")
    row, column = query
    st.caption(
        TEXT.steps["carries"]
        .said["desk"]
        .format(tokens=seen.tokens, channels=CHANNELS, row=row, column=column, layer=layer, head=head)
    )


def _on_look() -> None:
    state.look = SETTINGS["look"].read(str(state.carried.look))


def _carried_bytes(here: Here) -> bytes:
    seen = here.traced()
    layer = _layer(here, seen)
    rows, columns = seen.grid
    start = (0, 0, *start_patch(here.picture.name, seen.grid))
    _, head, row, column = map(int, state.look.split(".")) if state.look else start
    view = begun("carried", (here.picture.id, here.wish, here.view_id, layer), {
        "id": here.view_id, "layer": layer, "head": min(head, seen.heads - 1),
        "query": min(row, rows - 1) * columns + min(column, columns - 1),
    })  # fmt: skip
    data = traces.layers(here.picture, here.wish, here.own, [layer])
    return pack({"view": view}, {"pack": data, "image": here.picture.jpeg})


# Scores ---------------------------------------------------------------------------------------------------------------


@st.fragment
def scores() -> None:
    """Three scores that can be set, e to their power, and the weights, with and without subtracting the largest."""
    step = TEXT.steps["scores"]
    lesson.say(step.prose, more=np.exp(8), less=np.exp(-8))
    columns = st.columns(3)
    found = [
        column.slider(f"Score of {name}", -100.0, 1000.0, start, 1.0, key=f"score_{name}")
        for column, name, start in zip(columns, "ABC", (8.0, 0.0, -8.0), strict=True)
    ]
    row = np.array(found, np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        plain = np.exp(row)
        naive = plain / plain.sum()
    stable = np.exp(row - row.max())
    weights = stable / stable.sum()
    lesson.chart(_scores_and_weights(row, weights), "scores_chart", height=280, name="scores-and-weights")
    lines = [
        f"| {name} | {score:g} | {_number(e)} | {_number(n)} | {_number(s)} | **{_number(w)}** |"
        for name, score, e, n, s, w in zip("ABC", row, plain, naive, stable, weights, strict=True)
    ]
    head = "| | score s | eˢ | eˢ ÷ sum | e^(s − largest) | ÷ sum: the weight |"
    st.markdown("\n".join([lesson.mathematics(head), "|---|---|---|---|---|---|", *lines]))
    with np.errstate(invalid="ignore"):
        broken = not abs(naive.sum() - 1) < 1e-3  # nan, or all three 0: x ÷ ∞
    lesson.say(step.after, broken=step.said["broken" if broken else "whole"].format(sum=_number(naive.sum())))
    guess.ask(said.grown())
    even = bool(abs(weights[0] - weights[1]) < 0.005)
    shared = even and (bool(weights[2] < 0.01) or "third")
    harmless = "small" if row.min() < SMALL else False
    lesson.exercises(step, {"weight_share": shared, "weight_overflow": broken or harmless})


def _scores_and_weights(scores: np.ndarray, weights: np.ndarray) -> go.Figure:
    figure = make_subplots(cols=2, subplot_titles=("Scores", "Weights"))
    drawn = (
        (1, scores, QUERY, [f"{score:g}" for score in scores]),
        (2, weights, WEIGHTS, [_number(weight) for weight in weights]),
    )
    for column, values, colour, words in drawn:
        figure.add_bar(
            x=list("ABC"), y=values, marker_color=colour, text=words, textposition="outside", cliponaxis=False,
            hoverinfo="skip", row=1, col=column,
        )  # fmt: skip
    figure.update_yaxes(range=[0, 1.15], tickformat=".0%", col=2)
    return figure.update_layout(showlegend=False)


def _number(x: float) -> str:
    if np.isnan(x):
        return "nan"
    return "∞" if np.isinf(x) else f"{x:,.3g}" if x < 1 or x >= 1e6 else f"{x:,.0f}"


# Heads that lock on ---------------------------------------------------------------------------------------------------


def locked_on(here: Here) -> None:
    """The head whose rows agree most on one token, whoever asks."""
    from playground.analysis import heads
    from playground.ui.lessons import heads_numbers

    seen = here.traced()
    mean = heads_numbers.habits_here(here)
    special = mean.to_class + mean.to_registers
    share = np.maximum(mean.to_one, special)
    layer, head = (int(n) for n in np.unravel_index(share.argmax(), share.shape))
    crowd = _mean_row(seen, layer, head)
    heat, most = seen.on_grid(crowd).flatten(), float(share[layer, head])
    rows, columns = seen.grid
    to_patch = mean.to_one[layer, head] >= special[layer, head]
    where = "{}, {}".format(*divmod(int(heat.argmax()), columns))
    place = f"one patch, at ({where})" if to_patch else " and ".join(seen.prefix)
    many = int((share > said.LOCKED).sum())
    least = tuple(int(n) for n in np.unravel_index(share.argmin(), share.shape))
    shown = Photo(
        photo(here.picture.jpeg), (rows, columns), columns / rows, heat=tuple(heat.tolist()), lines=True,
        words=said.MEAN_ROW.format(layer=layer, head=head), beside=_least_agreed(here, seen, least, share[least]),
    )  # fmt: skip
    question = said.locked(layer, head, most, place, many, share.size, seen.tokens, heads.words(seen), shown)
    guess.ask(question, (here.picture.id, here.wish.model))
    with guess.after("weight_locked"):
        _table(mean, share)
        _megaphone(seen, layer, head, int(crowd[len(seen.prefix) :].argmax()) + len(seen.prefix) if to_patch else 0)
        weight_norms.lengths(here, seen)


def _mean_row(seen, layer: int, head: int):
    """(tokens,): what each gets on average, of the same rows as the head's numbers."""
    from playground.analysis import heads

    return seen.weights(layer, heads.asking(seen))[head].mean(dim=0)


def _least_agreed(here: Here, seen, which: tuple[int, int], share: float) -> Beside:
    """The mean row of the head that agrees least, bright where a patch gets as much as the table calls a lot."""
    layer, head = which
    mean = seen.on_grid(_mean_row(seen, layer, head))
    words = said.LEAST.format(layer=layer, head=head, share=share)
    return beside.row(small(here), mean, None, words, max(said.LOCKED / 3, float(mean.max())))


def _megaphone(seen, layer: int, head: int, token: int) -> None:
    """Is the token heard by all because its key is long?"""
    keys = seen.record[layer].k[head].norm(dim=-1)
    times = float(keys[token] / keys[len(seen.prefix) :].median())
    lesson.say(TEXT.steps["locked"].said["megaphone" if times > LOUD else "no_megaphone"], times=times)


def _table(mean, share: np.ndarray) -> None:
    best = np.dstack(np.unravel_index(np.argsort(-share, axis=None)[:5], share.shape))[0]
    lines = [
        f"| layer {layer}, head {head} | {mean.to_one[layer, head]:.1%} | {mean.to_class[layer, head]:.1%} | "
        f"{mean.to_registers[layer, head]:.1%} | {mean.entropy[layer, head]:.1f} bits | "
        f"{mean.effect[layer, head]:.2f} |"
        for layer, head in best.tolist()
    ]
    head = (
        "| the five heads that agree most | to one patch | to the class token | to registers | entropy of its rows "
        "| adds, × its layer's average |"
    )
    st.markdown("\n".join([head, "|---|---|---|---|---|---|", *lines]))


def guess_differs(here: Here) -> None:
    numbers = on_the_picture(here)
    question = said.differs(100 * numbers["differs"], numbers["rows"], numbers["drawn"])
    guess.ask(question, (here.picture.id, here.wish.model))
