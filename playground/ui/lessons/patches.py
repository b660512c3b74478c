"""The drawings of the page about patches, made of the person's picture and model."""

from __future__ import annotations

import inspect

import numpy as np
import streamlit as st

from playground.names import plain_name
from playground.pack import pack, unpack
from playground.serving import models, queue, traces
from playground.serving.pictures import as_jpeg
from playground.serving.session import Session
from playground.ui import guess, lesson
from playground.ui.lessons.drawings import Written, drawing, with_header
from playground.ui.navigation import Setting, Steps, write_address

state = st.session_state

PATCHES = (8, 14, 16, 20, 32, 48)
_PLACE = r"\d{1,2},\d{1,2}"
STEPS = {
    "cut": "1 · The picture falls apart",
    "filters": "2 · What the matrix looks for",
    "extra": "3 · Tokens that are no patches",
    "positions": "4 · Where a patch lies",
    "shuffle": "5 · Without positions",
}
SETTINGS = {
    "patch": Setting.of(16, PATCHES),
    "at": Written("", pattern=_PLACE),
    "number": Setting.of(0, range(2048)),
    "pictures": Setting.of("filters", ("filters", "components")),
    "filter": Setting.of(0, range(200)),
    "table": Setting.of("learned", ("learned", "sinusoidal")),
    "place": Written("", pattern=_PLACE),
    "positions": Setting.of("off", ("off", "on")),
    "order": Setting.of(1, range(1, 100)),
    "after": Setting.of(1, range(64)),
    "asker": Written("", pattern=_PLACE),
    "step": Steps.by(
        STEPS, cut=("patch", "at", "number"), filters=("pictures", "filter"), positions=("table", "place"),
        shuffle=("positions", "order", "after", "asker"),
    ),
}  # fmt: skip


# Falling apart --------------------------------------------------------------------------------------------------------


def guess_tokens(here: Session) -> bool:
    """How many tokens the model makes of the picture."""
    c = models.load(here.wish.model).config

    def truth() -> guess.Truth:
        high, wide = traces.size(here.picture, here.wish)
        rows, columns, P, front = high // c.patch_size, wide // c.patch_size, c.patch_size, len(c.prefix)
        extra = f", and {front} more in front of them ({', '.join(c.prefix)})" if front else ""
        return guess.Truth(
            rows * columns + front,
            f" {wide} ÷ {P} = {columns} and {high} ÷ {P} = {rows}, so {rows} × {columns} = {rows * columns} "
            f"patches{extra}.",
        )

    return guess.number(
        "patches_tokens",
        f"In {plain_name(here.wish.model)} your picture is made about as large as the pictures of the training, and "
        f"cut into patches of {c.patch_size} × {c.patch_size} pixels. How many tokens does that make?",
        10, 2000, " tokens", truth, context=(here.picture.id, here.wish),
    )  # fmt: skip


@st.fragment
def apart(here: Session) -> None:
    st.segmented_control("Patch size in pixels", PATCHES, key="patch", required=True)
    write_address()
    blob = here.kept(("cut", state.patch), lambda: _cut(here, state.patch))
    drawing("patches", "lessons/patches.css", with_header(blob, at=state.at, number=state.number), ("at", "number"))
    _same_numbers(unpack(blob)[0])
    lesson.exercise(
        "Halve the patch size, from 16 to 8. What happens to the number of tokens, and to attention?",
        "Four times as many tokens, and sixteen times as many weights: every token has a weight for every other.",
        hint="The patch size stands above the picture.",
        done=state.patch == 8, id="patches_halve",
    )  # fmt: skip


def _cut(here: Session, patch: int) -> bytes:
    from playground.images import displayed
    from playground.lessons import patches

    vit = models.load(here.wish.model)
    with queue.turn():
        found = patches.cut(vit, here.picture.image, patch)
    own, c = vit.config.patch_size, vit.config
    filters, bias = patches.projection(vit)
    header = {
        "id": f"{here.picture.id} {here.wish.model} {patch}",
        "size": found.size,
        "patch": patch,
        "own": own,
        "width": c.width,
        "mean": c.mean,
        "std": c.std,
        "difference": found.difference,
        "typical": found.typical,
    }
    arrays = {
        "pixels": np.array(displayed(here.picture.image, found.size, c.interpolation)),
        "filters": filters.half().numpy(),
        "stretch": patches.stretching(own, patch).numpy(),
        "bias": np.zeros(0, np.float32) if bias is None else bias.numpy(),
        "tokens": found.tokens.half().numpy(),
    }
    return pack(header, arrays)


def _same_numbers(header: dict) -> None:
    """Both ways, in the lines that have just run."""
    from playground.lessons import patches

    rows, columns = (side // header["patch"] for side in header["size"])
    left, right = st.columns(2)
    left.code(_body(patches.by_unfolding), language="python", wrap_lines=True)
    right.code(_body(patches.by_convolution), language="python", wrap_lines=True)
    st.markdown(
        f"Both give {rows * columns:,} × {header['width']:,} numbers. The largest difference between them, measured "
        f"just now on this picture: **{header['difference']:.1e}**, where a typical number is {header['typical']:.2f}."
        + ("" if header["own"] == header["patch"] else _stretched(header))
    )


def _stretched(header: dict) -> str:
    own, patch = header["own"], header["patch"]
    return (
        f" This model learned filters of {own} × {own} pixels; for {patch} × {patch} they are "
        f"{'stretched' if patch > own else 'shrunk'}, so that a token keeps what it says."
    )


def _body(function) -> str:
    return inspect.cleandoc("\n" + "".join(inspect.getsourcelines(function)[0][1:]))


def extra_tokens(here: Session) -> None:
    """The class token and registers of this model, with their count."""
    c = models.load(here.wish.model).config
    rows, columns = (side // c.patch_size for side in c.image_size)
    patches, front = rows * columns, len(c.prefix)
    if not front:
        st.markdown("This model has patches only: no class token, no registers.")
        return
    words = {
        "cls": "class token: what the last layer makes of it stands for the whole picture",
        "dist": "distillation token, which another network taught",
        "reg": "registers: room to keep what belongs to no place",
    }
    lines = [
        f"| {sum(name.startswith(key) for name in c.prefix)} | {text} | learned, the same for every picture |"
        for key, text in words.items()
        if any(name.startswith(key) for name in c.prefix)
    ]
    name = plain_name(here.wish.model)
    st.markdown(
        f"Not every token is a patch. At the size that it was trained on, {name} has:\n\n"
        "| tokens | what they are | where their first numbers come from |\n|---|---|---|\n"
        + "\n".join(lines)
        + f"\n| {rows} × {columns} = {patches:,} | patches | the picture, and their positions |"
        + f"\n| **{patches + front:,}** | **all** | |\n\n"
        f"Attention treats them alike: all {patches + front:,} have queries, keys and values, so the table of weights "
        f"has {(patches + front) ** 2:,} cells instead of {patches**2:,}. (A ViT of 14 × 14 = 196 patches has "
        "197 tokens with a class token, and 201 with 4 registers more.)"
    )


# Filters --------------------------------------------------------------------------------------------------------------


@st.fragment
def filters(here: Session) -> None:
    titles = {"filters": "Filters", "components": "Principal components"}
    st.segmented_control("Show", list(titles), format_func=titles.get, key="pictures", required=True)
    write_address()
    blob = here.kept(("filters", state.pictures), lambda: _filters(here, state.pictures))
    drawing("filters", "lessons/patches.css", with_header(blob, chosen=state.filter), ("filter",))


def _filters(here: Session, pictures: str) -> bytes:
    from playground.images import displayed
    from playground.lessons import patches

    vit = models.load(here.wish.model)
    find = patches.principal_filters if pictures == "components" else patches.strongest_filters
    with queue.turn():
        found = find(vit, here.picture.image)
    n, rows, columns = found.answers.shape
    learned = f"{n} of the {vit.config.width} learned filters"
    caption = f"The first {n} principal components" if pictures == "components" else learned
    header = {
        "id": f"{here.picture.id} {here.wish.model} {pictures}",
        "patch": found.filters.shape[-1],
        "grid": (rows, columns),
        "size": found.size,
        "titles": found.titles,
        "caption": caption,
    }
    arrays = {
        "pictures": patches.as_pictures(found.filters).numpy(),
        "answers": found.answers.half().numpy(),
        "image": as_jpeg(displayed(here.picture.image, found.size)),
    }
    return pack(header, arrays)


# Positions ------------------------------------------------------------------------------------------------------------

KINDS = {
    "learned": "This model has a vector for every place. All were **learned**: training changed them, as it did all "
    "other weights.",
    "random": "This model has a vector for every place. Nothing was learned yet: they are random.",
    "rotary": "This model has **no table**: it turns queries and keys by angles that grow with row and column. The "
    "table shows the sines and cosines of these angles.",
    "sinusoidal": "**Sines and cosines** of falling frequency, by the formula; nothing is learned. Counted along the "
    "rows of the picture, the patch below is as far away as the row is long.",
    "none": "This model is told nothing about places.",
}


@st.fragment
def positions(here: Session) -> None:
    titles = {"learned": "This model’s", "sinusoidal": "Sinusoidal"}
    st.segmented_control("Positions", list(titles), format_func=titles.get, key="table", required=True)
    write_address()
    blob = here.kept(("places", state.table), lambda: _places(here, state.table))
    header = unpack(blob)[0]
    kind, start = header["kind"], header.get("start")
    began = (
        ""
        if start is None
        else f" They did not begin as noise, but as sines and cosines of row and column; the cosine between a vector "
        f"of today and its beginning is {start:.2f} on average."
    )
    st.markdown(KINDS[kind] + began)
    if kind != "none":
        drawing("positions", "lessons/patches.css", with_header(blob, place=state.place), ("place",))
    lesson.exercise(
        "Show the sinusoidal positions, and point at a place. Which is more alike: the place beside it or the one "
        "below?",
        "The one beside it. This formula counts patches along the rows, as words of a text: the place beside is one "
        "step away, the place below a whole row of steps. It knows nothing of two directions.",
        hint="The choice above the map.",
        done=state.table == "sinusoidal", id="patches_sines",
    )  # fmt: skip


def _places(here: Session, table: str) -> bytes:
    from playground.lessons import patches

    vit = models.load(here.wish.model)
    grid = vit.native_grid
    found = patches.place_vectors(vit, grid, table)
    if found is None:
        return pack({"kind": "none"}, {})
    places, kind = found
    if kind == "learned" and vit.random_weights:
        kind = "random"
    header = {
        "id": f"{here.wish.model} {table} {grid}", "grid": grid, "width": places.shape[1], "kind": kind,
        "start": _like_the_start(places, grid) if kind == "learned" and here.wish.model == "bundled" else None,
    }  # fmt: skip
    return pack(header, {"places": places.half().numpy()})


def _like_the_start(places, grid: tuple[int, int]) -> float | None:
    """How much the bundled model's positions, (patches, D), are still what its recipe began with; None if that was
    noise."""
    from torch.nn.functional import cosine_similarity

    from playground.training.recipe import Emergent, waves

    if not Emergent().waves:
        return None
    return float(cosine_similarity(places, waves(*grid, places.shape[1])).mean())


# The shuffle ----------------------------------------------------------------------------------------------------------


def guess_shuffle() -> bool:
    return guess.choice(
        "patches_shuffle",
        "No positions are added, and the patches come in another order. To which patches does each patch listen now?",
        {"same": "to the same as before", "places": "to those at the same places as before", "other": "to others"},
        lambda: guess.Truth(
            "same",
            " If the input is permuted, the output is permuted in the same way. That is called permutation "
            "equivariance.",
        ),
    )


@st.fragment
def shuffle(here: Session) -> None:
    depth = models.load(here.wish.model).config.depth
    state.after = min(state.after, depth - 1)
    which, layer, again = st.columns([1.2, 2, 1.4], vertical_alignment="bottom")
    which.segmented_control("Positions are", ("off", "on"), key="positions", required=True)
    layer.select_slider("In layer", range(depth), key="after")
    if again.button("Shuffle again", icon=":material/shuffle:"):
        state.order = state.order % 99 + 1
    write_address()
    key = ("shuffle", state.after, state.order, state.positions)
    blob = here.kept(key, lambda: _shuffle(here, *key[1:]))
    drawing("shuffle", "lessons/patches.css", with_header(blob, at=state.asker), ("asker",))
    header = unpack(blob)[0]
    same = "Attention did **not notice**." if state.positions == "off" else "Attention **did** notice."
    st.markdown(
        f"All {header['heads']} heads, all rows, put back in order: the largest difference of a weight is "
        f"**{header['difference']:.1e}**, of the largest weight {header['largest']:.2f}. {same}"
    )
    lesson.exercise(
        "Switch the positions on. Does attention notice the other order now?",
        "Yes. A token now holds what its patch shows *and* where it lies. A patch that is moved gets the vector of its "
        "new place, and with it another query and another key.",
        hint="The choice above the pictures.",
        done=state.positions == "on", id="patches_told",
    )  # fmt: skip
    lesson.exercise(
        "A convolution has no table of positions. Why does it not need one?",
        "A convolution’s weights belong to places: this one for the pixel above, that one for the pixel at the left. "
        "Attention’s weights are computed from the tokens alone, wherever they stand.",
    )


def _shuffle(here: Session, layer: int, order: int, positions: str) -> bytes:
    from playground.images import displayed
    from playground.lessons import patches
    from playground.tracing import FORMAT

    vit = models.load(here.wish.model)
    with queue.turn():
        found = patches.shuffle(vit, here.picture.image, layer, order, positions == "on")
    heads, tokens, dim = found.before.q.shape
    height, width = found.size
    header = {
        "format": FORMAT,
        "id": f"{here.picture.id} {here.wish.model} {layer} {order} {positions}",
        "scale": found.scale,
        "layers": 2,
        "heads": heads,
        "head_dim": dim,
        "tokens": tokens,
        "prefix": list(vit.config.prefix),
        "grid": found.grid,
        "size": found.size,
        "held": [0, 1],
        "order": found.order.tolist(),
        "difference": found.difference,
        "largest": found.largest,
    }
    arrays = {
        "q": np.stack([found.before.q.half().numpy(), found.after.q.half().numpy()]),
        "k": np.stack([found.before.k.half().numpy(), found.after.k.half().numpy()]),
        "image": as_jpeg(displayed(here.picture.image, (2 * height, 2 * width))),
    }
    return pack(header, arrays)
