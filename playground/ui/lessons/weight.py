"""The page on what a weight is not: what it carries, what softmax makes of scores, heads that lock on."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from playground.lessons.questions import Number, Photo
from playground.pack import pack
from playground.samples import start_patch
from playground.serving import traces
from playground.ui import guess, lesson
from playground.ui.components import component
from playground.ui.here import Here
from playground.ui.lessons import weight_norms
from playground.ui.lessons.code import on_the_picture
from playground.ui.lessons.drawings import Written, begun, photo
from playground.ui.navigation import Setting, write_address

state = st.session_state
MOST_ASKED = 400  # patches, whose rows are averaged
LOUD = 1.3  # × the median key's length
LOCKED = 0.3  # a share of all rows; as in analysis/heads.py

STEPS = {
    "carries": "1 · It is not what arrives",
    "scores": "2 · It is not the score",
    "locked": "3 · It is not always about the picture",
    "explain": "4 · Does the map explain?",
}


SETTINGS = {"step": Setting.of("carries", STEPS), "look": Written("", pattern=r"\d{1,2}(\.\d{1,3}){3}")}


def _layer(here: Here, seen) -> int:
    return min(seen.layers - 1, int(state.look.split(".")[0]) if state.look else seen.upper_layer)


@st.fragment
def carried(here: Here) -> None:
    """Weight and weight × ‖W_O v‖ under one cursor."""
    component("carried", "lessons/carried.js", "lessons/carried.css")(
        key="carried", data=_carried_bytes(here), default={"look": ""}, on_look_change=_on_look
    )
    _mixer(here)
    lesson.exercise(
        "Click a patch for which the two tags stand on different patches. What makes the difference?",
        "The length of ‖W_O v‖. A patch with a smaller weight and a longer value may add the longer vector.",
        hint="Try patches of an even ground: many of them have much the same weight.",
        done=_differs_here(here), id="weight_differs",
    )  # fmt: skip


def _looked_at(here: Here, seen) -> tuple[int, int, tuple[int, int]]:
    """(layer, head, patch)"""
    start = (seen.upper_layer, 0, *start_patch(here.picture.name, seen.grid))
    layer, head, row, column = (int(n) for n in state.look.split(".")) if state.look else start
    query = (min(row, seen.grid[0] - 1), min(column, seen.grid[1] - 1))
    return min(layer, seen.layers - 1), min(head, seen.heads - 1), query


def _differs_here(here: Here) -> bool:
    """Whether the patch with the largest weight is not the one that adds the longest vector, in the row that is
    looked at."""
    if not state.look:
        return False
    seen = traces.trace(here.picture, here.wish, here.own)
    layer, head, query = _looked_at(here, seen)
    weights, front = seen.row(layer, head, query), len(seen.prefix)
    added = weights * seen.value_norms(layer)[head]
    return bool(weights[front:].argmax() != added[front:].argmax())


CHANNELS = 8


def _mixer(here: Here) -> None:
    """A mixing desk: a fader for each token, how loud it is, and what is heard of it."""
    seen = traces.trace(here.picture, here.wish, here.own)
    layer, head, query = _looked_at(here, seen)
    weights, loud = seen.row(layer, head, query), seen.value_norms(layer)[head]
    some = weights.argsort(descending=True)[:CHANNELS].tolist()
    front, columns = len(seen.prefix), seen.grid[1]
    names = [seen.prefix[n] if n < front else "{},{}".format(*divmod(n - front, columns)) for n in some]
    rows = (
        ("Fader: the weight", weights[some], "#B63679", ".0%"),
        ("How loud it is: ‖W<sub>O</sub> v‖", loud[some], lesson.VALUE, ".2f"),
        ("Heard: their product", weights[some] * loud[some], lesson.QUERY, ".2f"),
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
    st.caption(
        f"A head is a **mixing desk**. Its {seen.tokens:,} faders sum to 100 %; drawn are the {CHANNELS} that are "
        f"furthest up for patch ({query[0]}, {query[1]}) in layer {layer}, head {head}. The fader does not say how "
        "loud "
        "the singer is."
    )


def _on_look() -> None:
    state.look = SETTINGS["look"].read(str(state.carried.look))
    write_address()


def _carried_bytes(here: Here) -> bytes:
    seen = traces.trace(here.picture, here.wish, here.own)
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
    st.markdown(
        "The softmax raises e to every score, and divides by the sum. So a *difference* of scores becomes a *ratio* of "
        f"weights: 8 more is e⁸ = {np.exp(8):,.0f} times the weight, 8 less is e⁻⁸ = {np.exp(-8):.5f} times. A weight "
        "of nearly 0 does not mean that a score is small: it means that another score is larger. Move the scores."
    )
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
    st.markdown("\n".join([head, "|---|---|---|---|---|---|", *lines]))
    with np.errstate(invalid="ignore"):
        broken = not abs(naive.sum() - 1) < 1e-3  # nan, or all three 0: x ÷ ∞
    st.markdown(
        "32-bit numbers end at 3.4 · 10³⁸, which is e^88.7: a larger power, or a larger *sum* of powers, is infinite. "
        "∞ ÷ ∞ is not a number (nan), and anything smaller ÷ ∞ is 0. "
        + (
            f"**The fourth column sums to {_number(naive.sum())}, not to 1.** "
            if broken
            else "Put A above 89 to see it, or all three to 88. "
        )
        + "So every real softmax subtracts the largest score first. That changes no weight, for only differences count."
    )
    _guess_grown()
    lesson.exercise(
        "Let A and B share the weight evenly, while C gets less than 1 %. Which scores do that?",
        "Two equal scores, and a third that is at least 4 lower: e⁻⁴ is 0.018, and a little less than half of that "
        "is the weight. The "
        "equal scores may be any number: −50 and −50 do as well as 8 and 8.",
        hint="Only differences count.",
        done=bool(abs(weights[0] - weights[1]) < 0.005 and weights[2] < 0.01), id="weight_share",
    )  # fmt: skip
    lesson.exercise(
        "Break the softmax that does not subtract the largest score.",
        "One score above 88.7 is enough: its power is infinite for 32-bit numbers, and the column holds nan. Three "
        "scores of 88 break it too: each power is finite, their sum is not, and the weights are 0, 0, 0. The last "
        "column is not harmed: there the largest power is e⁰ = 1, and the sum is at most 3.",
        hint="How large may a 32-bit number be?",
        done=broken, id="weight_overflow",
    )  # fmt: skip


def _scores_and_weights(scores: np.ndarray, weights: np.ndarray) -> go.Figure:
    figure = make_subplots(cols=2, subplot_titles=("Scores", "Weights"))
    drawn = (
        (1, scores, lesson.QUERY, [f"{score:g}" for score in scores]),
        (2, weights, "#B63679", [_number(weight) for weight in weights]),
    )
    for column, values, colour, words in drawn:
        figure.add_bar(
            x=list("ABC"), y=values, marker_color=colour, text=words, textposition="outside", cliponaxis=False,
            hoverinfo="skip", row=1, col=column,
        )  # fmt: skip
    figure.update_yaxes(range=[0, 1.15], tickformat=".0%", col=2)
    return figure.update_layout(showlegend=False)


def _guess_grown() -> None:
    guess.choice(
        "weight_scores", "All three scores grow by 50. What happens to the weights?",
        {"same": "nothing", "sharper": "the largest takes more", "larger": "all become larger"},
        "same",
        "e^(s + 50) = e⁵⁰ · eˢ: each power is as many times as large as the others, and so is their sum. Only "
        "*differences* of scores count. That is why subtracting the largest score is allowed.",
        {
            "sharper": "That happens when all scores are *multiplied*: then their differences grow, too.",
            "larger": "They still sum to 1: they can’t all grow.",
        },
    )  # fmt: skip


def _number(x: float) -> str:
    if np.isnan(x):
        return "nan"
    return "∞" if np.isinf(x) else f"{x:,.3g}" if x < 1 or x >= 1e6 else f"{x:,.0f}"


# Heads that lock on ---------------------------------------------------------------------------------------------------


def locked_on(here: Here) -> None:
    """The head whose rows agree most on one token, whoever asks."""
    from playground.ui.lessons import heads_numbers

    seen = traces.trace(here.picture, here.wish, here.own)
    mean = heads_numbers.habits_here(here)
    special = mean.to_class + mean.to_registers
    share = np.maximum(mean.to_one, special)
    layer, head = (int(n) for n in np.unravel_index(share.argmax(), share.shape))
    crowd = seen.weights(layer, seen.some_patches(MOST_ASKED))[head].mean(dim=0)  # (tokens,)
    heat, most = seen.on_grid(crowd).flatten(), float(share[layer, head])
    rows, columns = seen.grid
    to_patch = mean.to_one[layer, head] >= special[layer, head]
    where = "{}, {}".format(*divmod(int(heat.argmax()), columns))
    place = f"one patch, at ({where})" if to_patch else " and ".join(seen.prefix)
    many = int((share > LOCKED).sum())
    guess.number(
        "weight_locked",
        f"Head {head} of layer {layer} agrees most: on average its rows give ▢ of their weight to one place, the same "
        "whoever asks.",
        Number(0, 100, " %"), 100 * most,
        f"The place is {place}. An even row gives each token {1 / seen.tokens:.2%}. {_counted(many, share.size)} "
        f"more than {LOCKED:.0%} to one patch, or to tokens without a place. "
        + (
            "Such a row says little about the patch that asks: a *sink*, where a head puts weight that it has no use "
            "for."
            if many
            else "So here even the head that agrees most depends mostly on who asks. Larger models have *sinks*, heads "
            "that give nearly all to one token; layer 0, head 5 of DINOv2 is one."
        ),
        (here.picture.id, here.wish.model),
        prose="The class token has a query, a key and a value like every token; it has no special way to “see "
        "everything”. But some heads give much of every row to one token, whatever the patch shows.",
        tempting=(((0, 100 / seen.tokens + 1), "That is an even row’s share: it would mean that no place is special."),)
        if most > 0.1 else (),
        picture=Photo(photo(here.picture.jpeg), (rows, columns), columns / rows, heat=tuple(heat.tolist()), lines=True),
    )  # fmt: skip
    with guess.after("weight_locked"):
        _table(mean, share)
        _megaphone(seen, layer, head, int(crowd[len(seen.prefix) :].argmax()) + len(seen.prefix) if to_patch else 0)
        weight_norms.lengths(here, seen)


def _megaphone(seen, layer: int, head: int, token: int) -> None:
    """Is the token heard by all because its key is long?"""
    keys = seen.record[layer].k[head].norm(dim=-1)
    times = float(keys[token] / keys[len(seen.prefix) :].median())
    said = (
        "It has a **megaphone**: whoever’s query points a little its way hears it above all others."
        if times > LOUD
        else "So it has no **megaphone**; it is heard because most queries point to where its key points."
    )
    st.markdown(f"The key of that one token is **{times:.2f} ×** as long as the median key of this head. {said}")


def _counted(many: int, heads: int) -> str:
    return f"{many or 'None'} of {heads} heads give{'s' if many == 1 else ''}"


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


# Exercises ------------------------------------------------------------------------------------------------------------


def guess_differs(here: Here) -> None:
    numbers = on_the_picture(here)
    guess.number(
        "weight_differs",
        "In ▢ of 100 rows the patch with the largest weight is **not** the patch that adds the longest vector.",
        Number(0, 100, " of 100"), 100 * numbers["differs"],
        f"Counted over {numbers['rows']:,} rows of patches, in all layers and heads on your picture.",
        (here.picture.id, here.wish.model),
        tempting=(
            ((0, 3), "So it would be if all values were equally long."),
            ((97, 100), "So it would be if lengths had nothing to do with weights: but a weight that is far ahead of "
             "all others is hard to overtake."),
        ),
    )  # fmt: skip


def exercises() -> None:
    lesson.exercise(
        "“The bright patches are those that the model decided by.” What is wrong with it?",
        "A weight says how values are mixed in one head of one layer. What the answer depends on is another question: "
        "later layers may ignore the mixture, and the token's own value goes on past attention. To find out, change "
        "something and look at the answer: *Heads* switches a head off.",
    )
