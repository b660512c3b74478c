"""The walk through one layer: which layer, as the page's widgets say, and its steps as a component."""

from __future__ import annotations

import streamlit as st

from playground.errors import PlaygroundError
from playground.lessons.settings import Setting
from playground.lessons.words import shapes as said
from playground.models.names import plain_name
from playground.serving import models, people, queue
from playground.serving.here import Here
from playground.ui import lesson
from playground.ui.components import component, picture
from playground.ui.lessons.drawings import begun, end_of, table_of, with_header
from playground.ui.navigation import tell_settings

state = st.session_state

WORDS = said.TEXT.steps["walk"].said
STEPS = 9
MOST_TABLE = 1100  # tokens whose weights are drawn one by one
MOST_LAYERS = 64
EXAMPLES = {  # as in lessons/shapes.py, which would import torch before the page is painted
    "picture": "Your picture",
    "sentence": "4 tokens × 512, 8 heads",
    "one-head": "13 × 100 × 49 → 64, 1 head",
    "four-heads": "13 × 100 × 49 → 64, 4 heads",
    "vit-b": "A ViT-B, random parameters",
    "own": "Your own numbers",
}
NUMBERS = {  # name: (label, most, default)
    "batch": ("Batch", 64, 1),
    "tokens": ("Tokens", 1024, 4),
    "dim": ("Width in", 1536, 512),
    "chan": ("Width out", 1536, 512),
    "heads": ("Heads", 24, 8),
}
SETTINGS = {
    "example": Setting.of("picture", EXAMPLES),
    "at": Setting.of(-1, range(-1, MOST_LAYERS)),  # which layer of the model; -1: two thirds of the way up
    "step": Setting.of(1, range(1, STEPS + 1)),
    **{name: Setting.of(default, range(1, most + 1)) for name, (_, most, default) in NUMBERS.items()},
}


def choose(here: Here) -> None:
    """The example, and under it the numbers that it has."""
    st.pills("Example", EXAMPLES, format_func=EXAMPLES.get, key="example", label_visibility="collapsed", required=True)
    if state.example == "picture":
        layers = models.load(here.wish.model).config.depth
        if not 0 <= state["at"] < layers:
            from playground.pack import upper_layer

            state["at"] = upper_layer(layers)
        column, words = st.columns([1, 4], vertical_alignment="bottom")
        column.number_input("Layer", 0, layers - 1, key="at")
        words.caption(WORDS["picture"].format(model=plain_name(here.wish.model)))
        return
    st.caption(WORDS["random"])
    if state.example != "own":
        from playground.lessons.shapes import EXAMPLES as sizes

        for name in NUMBERS:
            state[name] = getattr(sizes[state.example], name)
    for column, (name, (label, most, _)) in zip(st.columns(len(NUMBERS)), NUMBERS.items(), strict=True):
        column.number_input(label, 1, most, key=name, on_change=_on_number)


def other_texts() -> None:
    """The same in the shapes that other texts print."""
    from playground.lessons import conventions

    st.subheader(WORDS["others"], anchor=False)
    for name, title in said.OTHERS.items():
        with st.expander(title, icon=":material/menu_book:"):
            if make := getattr(conventions, name, None):
                lines = [f"| {what} | {' × '.join(f'{n:,}' for n in shape)} |" for what, shape in make()]
                st.markdown("\n".join(["| | shape |", "|---|---|", *lines]))
            numbers = {"four": 16**-0.5, "one": 64**-0.5}
            if name == "without_matrices":
                numbers = {"diagonal": _rows_that_sum(conventions.rows_without_matrices())}
            if name == "names":
                numbers = {which: conventions.a_bias_of(which) for which in ("key", "query")}
                numbers |= {"plain": conventions.largest_with(None), "off": conventions.largest_with(1.0)}
            if name in WORDS:
                lesson.say(WORDS[name], **numbers)


def _rows_that_sum(weights) -> float:
    """The numbers of the shortest attention, and what each row and each column sums to; what a token gives itself."""
    letters = "abcd"
    lines = [
        f"| {letter} | " + " | ".join(f"{x:.2f}" for x in row.tolist()) + f" | **{float(row.sum()):.2f}** |"
        for letter, row in zip(letters, weights, strict=True)
    ]
    sums = " | ".join(f"{x:.2f}" for x in weights.sum(0).tolist())
    head = "| softmax(X Xᵀ / √d) | " + " | ".join(letters) + " | sum of the row |"
    st.markdown("\n".join([head, "|---" * 6 + "|", *lines, f"| sum of the column | {sums} | |"]))
    return float(weights.diagonal().mean())


@st.fragment
def whole_table(here: Here) -> None:
    """All N × N weights of one head: the walk above shows 64 rows."""
    seen = here.traced()
    with st.expander(WORDS["table"].format(tokens=seen.tokens), icon=":material/grid_on:"):
        left, right = st.columns(2)
        layer = left.select_slider("Layer of the table", range(seen.layers), seen.upper_layer, key="table_layer")
        head = right.select_slider("Head of the table", range(seen.heads), 0, key="table_head")
        if seen.tokens > MOST_TABLE:
            lesson.say(WORDS["too_many"], most=MOST_TABLE)
            return
        with queue.turn():
            weights = seen.matrix(layer, head)
        front = WORDS["front"].format(front=len(seen.prefix)) if seen.prefix else ""
        st.caption(WORDS["rows"].format(end=end_of(weights), front=front))
        picture(table_of(weights), "png", width=min(760, max(392, seen.tokens)))


def exercises() -> None:
    numbers, asked = (state.batch, state.heads, state.tokens), (2, 8, 10)
    done = numbers == asked or (sorted(numbers) == sorted(asked) and "other")
    lesson.exercises(said.TEXT.steps["walk"], {"shapes_numbers": state.example != "picture" and done})


def _on_number() -> None:
    state.example = "own"


@st.fragment
def walk(here: Here) -> None:
    try:
        data = _bytes(here)
    except PlaygroundError as error:
        st.warning(str(error), icon=":material/block:")
        return
    component("walk", "lessons/steps.js", "lessons/steps.css")(
        key="walk", data=data, default={"step": state.step}, on_step_change=_on_step
    )
    tell_settings("walk")


def _on_step() -> None:
    state.step = SETTINGS["step"].read(str(state.walk.step))


def _bytes(here: Here) -> bytes:
    if state.example == "picture":
        which, at = (here.picture.id, here.wish.model, state["at"]), state["at"]
        made = here.kept(("walk", at), lambda: _of_the_picture(here, at))
    else:
        which = tuple(state[name] for name in NUMBERS)
        made = people.worked_for_all().get(("walk", which), lambda: _of_numbers(*which))
    view = begun("walk", (which, here.view_id), {"id": here.view_id, "step": state.step})
    return with_header(made, view=view)


def _of_the_picture(here: Here, layer: int) -> bytes:
    from playground.lessons import shapes as walks
    from playground.lessons.steps import steps_to_bytes

    vit = models.load(here.wish.model)
    with queue.turn():
        return steps_to_bytes(*walks.walk_picture(vit, here.picture.image, layer))


def _of_numbers(*numbers: int) -> bytes:
    from playground.lessons import shapes as walks
    from playground.lessons.steps import steps_to_bytes

    sizes = walks.Sizes(*numbers)
    with queue.turn():
        return steps_to_bytes(walks.walk(sizes), [f"token {i}" for i in range(sizes.tokens)])
