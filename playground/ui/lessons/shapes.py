"""The walk through one layer: which layer, as the page's widgets say, and its steps as a component."""

from __future__ import annotations

import streamlit as st

from playground.errors import PlaygroundError
from playground.models.names import plain_name
from playground.serving import lesson_results, models, queue, traces
from playground.ui import guess
from playground.ui.components import component, picture
from playground.ui.here import Here
from playground.ui.lesson import mathematics
from playground.ui.lessons.drawings import begun, end_of, table_of, with_header
from playground.ui.navigation import Setting, write_address

state = st.session_state

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
        words.caption(f"The tokens of your picture in {plain_name(here.wish.model)}, and its trained parameters.")
        return
    st.caption("Random tokens and random parameters: the shapes are real, the pattern in the numbers means nothing.")
    if state.example != "own":
        from playground.lessons.shapes import EXAMPLES as sizes

        for name in NUMBERS:
            state[name] = getattr(sizes[state.example], name)
    for column, (name, (label, most, _)) in zip(st.columns(len(NUMBERS)), NUMBERS.items(), strict=True):
        column.number_input(label, 1, most, key=name, on_change=_on_number)


OTHERS = {
    "without_matrices": "The shortest of all: Q = K = V = X, without any matrix",
    "fused": "Q, K and V out of one matrix, shared out among 4 heads by one view",
    "full_heads": "Heads of full width: 5 heads on 5 tokens of 3 numbers",
    "patches": "A picture of 128 pixels as tokens of 32 numbers",
}


def other_texts() -> None:
    """The same in the shapes that other texts print."""
    from playground.lessons import conventions

    st.subheader("The shapes of other texts", anchor=False)
    for name, title in OTHERS.items():
        with st.expander(title, icon=":material/menu_book:"):
            make = getattr(conventions, name)
            lines = [f"| {what} | {' × '.join(f'{n:,}' for n in shape)} |" for what, shape in make()]
            st.markdown("\n".join(["| | shape |", "|---|---|", *lines]))
            if name == "full_heads":
                st.markdown(
                    "Here every head has matrices of the full width, so each more head costs more. Most code, this one "
                    "too, shares the width among the heads."
                )
            if name == "without_matrices":
                _rows_that_sum(conventions.rows_without_matrices())
            if name == "fused":
                st.markdown(f"The scale is 1/√16 = {16**-0.5:g}; with one head of 64 it would be 1/√64 = {64**-0.5:g}.")

    with st.expander("Names in other code: qkv_bias and qk_scale", icon=":material/menu_book:"):
        _names_in_code(conventions)


def _rows_that_sum(weights) -> None:
    """The numbers of the shortest attention, and what each row and each column sums to."""
    letters = "abcd"
    lines = [
        f"| {letter} | " + " | ".join(f"{x:.2f}" for x in row.tolist()) + f" | **{float(row.sum()):.2f}** |"
        for letter, row in zip(letters, weights, strict=True)
    ]
    sums = " | ".join(f"{x:.2f}" for x in weights.sum(0).tolist())
    head = "| softmax(X Xᵀ / √d) | " + " | ".join(letters) + " | sum of the row |"
    st.markdown("\n".join([mathematics(head), "|---" * 6 + "|", *lines, f"| sum of the column | {sums} | |"]))
    st.markdown(
        "The scores X Xᵀ are symmetric; the weights are not, for each row is divided by its own sum. Each token "
        f"scores high with itself: the diagonal holds {float(weights.diagonal().mean()):.0%} on average."
    )


def _names_in_code(conventions) -> None:
    key, query = conventions.a_bias_of("key"), conventions.a_bias_of("query")
    plain, off = conventions.largest_with(None), conventions.largest_with(1.0)
    st.markdown(
        "**`qkv_bias=True`** adds a learned vector to all queries, one to all keys, one to all values: 3 × width more "
        f"parameters. The one of the *keys* changes no weight (measured: at most {key:.0e}), for q·b is the same for "
        f"every key, and only differences count; that of the queries does ({query:.2f}).\n\n"
        "**`qk_scale=None`** means " + mathematics("1/√d_k") + "; a number stands in its place. With 100 random tokens "
        f"and one head of 64 the largest weight of a row is {plain:.0%} on average; with `qk_scale=1` it is {off:.0%}."
    )


def guess_scores() -> None:
    """How the scores grow with the tokens."""
    guess.choice(
        "shapes_scores", "13 pictures of 100 tokens, 4 heads of 16 numbers. What is the shape of the scores?",
        {
            "d": "13 × 4 × 100 × 16", "square": "13 × 4 × 100 × 100", "flat": "13 × 100 × 100", "wide": "13 × 100 × 64",
        },
        "square",
        "Every head has a number for each pair of tokens. The 16 numbers of a query and a key are used up by the "
        "product.",
        {
            "d": "That is the shape of Q, of K and of V in the heads. A score is what is left of a query and a key: "
            "one "
            "number.",
            "flat": "That would be one table for all heads. Each head makes a table of its own.",
            "wide": "That is what leaves the layer, 4 × 16 = 64 numbers a token: heads side by side.",
        },
    )  # fmt: skip


@st.fragment
def whole_table(here: Here) -> None:
    """All N × N weights of one head: the walk above shows 64 rows."""
    seen = traces.trace(here.picture, here.wish, here.own)
    with st.expander(
        f"The whole table: {seen.tokens:,} × {seen.tokens:,} weights of one head", icon=":material/grid_on:"
    ):
        left, right = st.columns(2)
        layer = left.select_slider("Layer of the table", range(seen.layers), seen.upper_layer, key="table_layer")
        head = right.select_slider("Head of the table", range(seen.heads), 0, key="table_head")
        if seen.tokens > MOST_TABLE:
            st.markdown(
                f"With more than {MOST_TABLE:,} tokens it would be larger than a screen; choose a coarser grid."
            )
            return
        with queue.turn():
            weights = seen.matrix(layer, head)
        st.caption(
            f"A row asks, a column is asked. Every row sums to 1; brightest: {end_of(weights):.1%} and "
            f"more. The first {len(seen.prefix)} are no patches. Stripes beside the diagonal are neighbours above and "
            "below, one row of the picture apart."
        )
        picture(table_of(weights), "png", width=min(760, max(392, seen.tokens)))


def has_scores(batch: int, heads: int, tokens: int) -> bool:
    return state.example != "picture" and (state.batch, state.heads, state.tokens) == (batch, heads, tokens)


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


def _on_step() -> None:
    state.step = SETTINGS["step"].read(str(state.walk.step))
    write_address()


def _bytes(here: Here) -> bytes:
    if state.example == "picture":
        which, at = (here.picture.id, here.wish.model, state["at"]), state["at"]
        made = here.kept(("walk", at), lambda: _of_the_picture(here, at))
    else:
        which = tuple(state[name] for name in NUMBERS)
        made = lesson_results.of_all().get(("walk", which), lambda: _of_numbers(*which))
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
