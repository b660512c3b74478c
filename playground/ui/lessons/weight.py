"""The page on what a weight is not: what it carries, what softmax makes of scores, heads that lock on."""

from __future__ import annotations

import numpy as np
import streamlit as st

from playground.pack import pack
from playground.samples import start_patch
from playground.serving import traces
from playground.ui import guess, lesson
from playground.ui.components import component
from playground.ui.here import Here
from playground.ui.lessons.code import on_the_picture
from playground.ui.lessons.drawings import Written, begun
from playground.ui.navigation import Setting, write_address

state = st.session_state

STEPS = {
    "carries": "1 · It is not what arrives",
    "scores": "2 · It is not the score",
    "locked": "3 · It is not always about the picture",
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
    numbers = on_the_picture(here)
    st.markdown(
        f"On your picture, in **{100 * numbers['differs']:.0f} %** of {numbers['rows']:,} rows the patch with the "
        "largest weight is not the one that adds the longest vector. Counted are rows of all layers and heads."
    )
    lesson.exercise(
        "Click a patch for which the two tags stand on different patches. What makes the difference?",
        "The length of ‖W_O v‖. A patch with a smaller weight and a longer value may add the longer vector.",
        hint="Try patches of an even ground: many of them have much the same weight.",
        done=_differs_here(here), id="weight_differs",
    )  # fmt: skip


def _differs_here(here: Here) -> bool:
    """Whether the patch with the largest weight is not the one that adds the longest vector, in the row that is
    looked at."""
    if not state.look:
        return False
    seen = traces.trace(here.picture, here.wish, here.own)
    layer, head, row, column = (int(n) for n in state.look.split("."))
    layer, head = min(layer, seen.layers - 1), min(head, seen.heads - 1)
    query = (min(row, seen.grid[0] - 1), min(column, seen.grid[1] - 1))
    weights, front = seen.row(layer, head, query), len(seen.prefix)
    added = weights * seen.value_norms(layer)[head]
    return bool(weights[front:].argmax() != added[front:].argmax())


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
    lines = [
        f"| {name} | {score:g} | {_number(e)} | {_number(n)} | {_number(s)} | **{_number(w)}** |"
        for name, score, e, n, s, w in zip("ABC", row, plain, naive, stable, weights, strict=True)
    ]
    head = "| | score s | eˢ | eˢ ÷ sum | e^(s − largest) | ÷ sum: the weight |"
    st.markdown("\n".join([head, "|---|---|---|---|---|---|", *lines]))
    broken = not np.isfinite(naive).all()
    st.markdown(
        "32-bit numbers end at 3.4 · 10³⁸, which is e^88.7: a larger power is infinite, and ∞ ÷ ∞ is not a number "
        "(nan). "
        + ("**That has just happened in the fourth column.** " if broken else "Put A above 89 to see it. ")
        + "So every real softmax subtracts the largest score first. That changes no weight, for only differences count."
    )
    lesson.exercise(
        "Let A and B share the weight evenly, while C gets less than 1 %. Which scores do that?",
        "Two equal scores, and a third that is at least 4 lower: e⁻⁴ is 0.018, and half of that is the weight. The "
        "equal scores may be any number: −50 and −50 do as well as 8 and 8.",
        hint="Only differences count.",
        done=bool(abs(weights[0] - weights[1]) < 0.005 and weights[2] < 0.01), id="weight_share",
    )  # fmt: skip
    lesson.exercise(
        "Break the softmax that does not subtract the largest score.",
        "One score above 88.7 is enough: its power is infinite for 32-bit numbers. The last column is not harmed: "
        "there the largest power is e⁰ = 1.",
        hint="How large may a 32-bit number be?",
        done=broken, id="weight_overflow",
    )  # fmt: skip


def _number(x: float) -> str:
    if np.isnan(x):
        return "nan"
    return "∞" if np.isinf(x) else f"{x:,.3g}" if x < 1 or x >= 1e6 else f"{x:,.0f}"


# Heads that lock on ---------------------------------------------------------------------------------------------------


def locked_on(here: Here) -> None:
    from playground.ui.lessons import heads_numbers

    seen = traces.trace(here.picture, here.wish, here.own)
    mean = heads_numbers.habits_here(here)
    special = mean.to_class + mean.to_registers
    if not seen.prefix:
        st.info("This model has only patches: no class token and no registers to lock on to.")
        return
    st.markdown(
        "The class token has a query, a key and a value like every token: it listens, and it can be listened to. It "
        "has no special way to “see everything”. Some heads of some models give much of every row to this token or to "
        "a register. Such a row says little about where things are in the picture."
    )
    most = np.dstack(np.unravel_index(np.argsort(-special, axis=None)[:5], special.shape))[0]
    lines = [
        f"| layer {layer}, head {head} | {special[layer, head]:.0%} | {mean.entropy[layer, head]:.1f} bits | "
        f"{mean.effect[layer, head]:.2f} |"
        for layer, head in most.tolist()
    ]
    head = (
        "| the five heads that give most | to class token and registers | entropy of its rows "
        "| adds, × its layer's average |"
    )
    st.markdown("\n".join([head, "|---|---|---|---|", *lines]))
    many, even = int((special > 0.5).sum()), len(seen.prefix) / seen.tokens
    which = f"{many} of {special.size} heads give" if many > 1 else f"{many or 'none'} of {special.size} heads gives"
    st.markdown(
        f"On this picture {which} more than half of {'their' if many > 1 else 'its'} weight there. An even row would "
        f"give {even:.2%}; the first of the table gives {special.max() / even:.0f} times as much. "
        f"{heads_numbers.least(mean)}"
    )


# Exercises ------------------------------------------------------------------------------------------------------------


def differs(here: Here) -> bool:
    def truth() -> guess.Truth:
        numbers = on_the_picture(here)
        return guess.Truth(
            round(100 * numbers["differs"]),
            f" Counted over {numbers['rows']:,} rows of all layers and heads on your picture.",
        )

    return guess.number(
        "weight_differs",
        "In how many of 100 rows is the patch with the largest weight not the patch that adds the longest vector?",
        0, 100, " of 100", truth, context=(here.picture.id, here.wish.model),
    )  # fmt: skip


def exercises() -> None:
    lesson.exercise(
        "“The bright patches are those that the model decided by.” What is wrong with it?",
        "A weight says how values are mixed in one head of one layer. What the answer depends on is another question: "
        "later layers may ignore the mixture, and the token's own value goes on past attention. To find out, change "
        "something and look at the answer: *Heads* switches a head off.",
    )
