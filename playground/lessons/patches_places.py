"""Two steps of the lesson on patches: position embeddings, and attention without them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from PIL import Image

from playground.lessons.lesson import Settings, Subject
from playground.lessons.parts import After, Ask, Choice, Drawing, Exercise, Fold, Part, Row, Slider, When, Words, think
from playground.lessons.questions import Pictures, Question, choice_question
from playground.pack import FORMAT, eight_bits, pack, unpack
from playground.pictures.jpegs import as_jpeg, data_url

TABLE_TITLES = {"learned": "This model’s", "sinusoidal": "Sinusoidal", "rotary": "Turned (2-D RoPE)"}
ORDER_COUNT = 99


# Where a patch lies ---------------------------------------------------------------------------------------------------


START_COSINE = 0.9617  # mean cosine of the bundled model’s positions with those before training; a test measures it
EQUAL_WITHIN = 0.02  # two mean cosines that differ by less count as equal


def below_question(kind: str, to_right: float, to_below: float) -> Question:
    """The question about the place below. `kind`: the kind of positions, in words; `to_right`, `to_below`: the mean
    cosine of a place with the next one in its row, and with the next one in its column."""
    truth = "both" if abs(to_right - to_below) < EQUAL_WITHIN else "beside" if to_right > to_below else "below"
    reasons = {
        "beside": "They would be if places were counted along the rows, as words of a text.",
        "below": "They would be if places were counted along the columns.",
        "both": "On the picture both are one patch away. But these vectors treat rows and columns differently.",
    }
    return choice_question(
        "patches_below",
        f"{kind}: which place is more like a place, the one **beside** it or the one **below** it?",
        {"beside": "the one beside", "below": "the one below", "both": f"both alike (within {EQUAL_WITHIN:g})"},
        truth,
        f"Over all places, the mean cosine with the one beside is **{to_right:.3f}**, with that below "
        f"**{to_below:.3f}**.",
        {answer: why for answer, why in reasons.items() if answer != truth},
    )  # fmt: skip


def neighbour_cosines(header: dict, places: np.ndarray) -> tuple[float, float]:
    """The mean cosine of a place's vector with the one beside it, and with the one below it. places: (patches, D)"""
    rows, columns = header["grid"]
    unit_vectors = places.astype(np.float32).reshape(rows, columns, -1)
    unit_vectors /= np.linalg.norm(unit_vectors, axis=-1, keepdims=True).clip(min=1e-12)
    beside_cosines, below_cosines = (
        (unit_vectors[:, 1:] * unit_vectors[:, :-1]).sum(-1),
        (unit_vectors[1:] * unit_vectors[:-1]).sum(-1),
    )
    return float(beside_cosines.mean()), float(below_cosines.mean())


def positions(subject: Subject, settings: Settings) -> Iterator[Part]:
    yield Words(
        "A token does not know where its patch was. In most ViTs a vector is added, one for each place, its **position "
        "embedding**; others turn queries and keys. Point at a place: how alike are the others?"
    )
    yield Choice("table", "Positions", TABLE_TITLES)
    blob = subject.cached(("places", settings.table), lambda: packed_positions(subject, settings.table))
    header, arrays = unpack(blob)
    if header["kind"] != "none":
        yield Drawing("positions", blob, ("place",))
    yield Fold("More: how these came about", Words(positions_text(header)))
    yield Exercise(
        "Show the sinusoidal positions, and point at a place. Which is more alike: the place beside it "
        "or the one below?",
        "The one beside it. This formula counts patches along the rows, as words of a text: the place "
        "beside is one step away, the place below a whole row of steps. It knows nothing of two "
        "directions.",
        hint="The choice above the map.",
        id="patches_sines",
        done=When({"table": ["sinusoidal"]}),
        answers=(
            ("the one beside it", ""),
            ("the one below it", "The formula counts along the rows: below is a whole row of steps away."),
            ("both alike", "They would be, if the formula had a row and a column. It has one count."),
        ),
        tempting=[
            (When({"table": ["rotary"]}),
             "These are turned, by row *and* column. The sinusoidal ones are the second choice."),
        ],
    )  # fmt: skip
    if header["kind"] == "none":  # without positions in this model, the question is about the sinusoidal ones
        header, arrays = unpack(packed_positions(subject, "sinusoidal"))
    kind = KIND_NAMES[header["kind"]]
    yield Ask(below_question(kind, *neighbour_cosines(header, arrays["places"])), f"{subject.model_name} {kind}")


KIND_NAMES = {
    "learned": "The learned positions of this model",
    "random": "The random positions of this model",
    "rotary": "The angles of this model",
    "sinusoidal": "The sinusoidal positions",
    "turned": "The angles of RoPE",
}
KIND_TEXTS = {
    "learned": "This model has a vector for every place of the pictures that it was trained on; for "
    "another grid they are interpolated. All were **learned**: training changed them, as it did all other "
    "parameters.",
    "random": "This model has a vector for every place. Nothing was learned yet: they are random.",
    "rotary": "This model has **no table**: it turns queries and keys by angles that grow with row and "
    "column. The table shows the sines and cosines of these angles.",
    "sinusoidal": "**Sines and cosines** of falling frequency, by the formula; nothing is learned. Counted "
    "along the rows of the picture, the patch below is as far away as the row is long.",
    "turned": "**Nothing is added.** Half of a head’s numbers are turned by angles of the row, half by "
    "angles of the column (rotary positions in two dimensions, RoPE). The map: the mean cosine of the "
    "angles between two places; the score of a query with an equal key there grows with it. A turned query "
    "and a turned key have a score that depends only on the *way* from one place to the other: 2 rows down "
    "and 3 columns right, from wherever on this grid, one q·k differs by at most {turned:.0e}. With "
    "vectors that are *added*, random ones here, it differs by up to {added:.0f}.",
    "none": "This model is told nothing about places.",
}


def positions_text(header: dict) -> str:
    from playground.analysis import patches

    kind, start_cosine = header["kind"], header.get("start")
    start_sentence = "" if start_cosine is None else (
        " They did not begin as noise, but as sines and cosines of row and column; the cosine between "
        f"a vector of today and its beginning is {start_cosine:.2f} on average."
    )  # fmt: skip
    if kind == "turned":
        turned_change, added_change = patches.score_ranges_at_one_offset(tuple(header["grid"]))
        return KIND_TEXTS[kind].format(turned=turned_change, added=added_change)
    return KIND_TEXTS[kind] + start_sentence


def packed_positions(subject: Subject, table: str) -> bytes:
    from playground.analysis import patches

    vit = subject.vit
    grid = vit.native_grid
    vectors = patches.place_vectors(vit, grid, table)
    if vectors is None:
        return pack({"kind": "none"}, {})
    places, kind = vectors
    if kind == "learned" and vit.random_weights:
        kind = "random"
    is_bundled = kind == "learned" and subject.model_name == "bundled"
    header = {
        "id": f"{subject.model_name} {table} {grid}", "grid": grid, "width": places.shape[1], "kind": kind,
        "start": START_COSINE if is_bundled else None,
    }  # fmt: skip
    return pack(header, {"places": places.half().numpy()})


# Without positions ----------------------------------------------------------------------------------------------------


def shuffled_question(pictures: Pictures) -> Question:
    return choice_question(
        "patches_shuffle",
        "No positions are added, and the patches come in another order. To which patches does each patch listen now?",
        {"same": "to the same as before", "places": "to those at the same places as before", "other": "to others"},
        "same",
        "If the input is permuted, the output is permuted in the same way: **permutation equivariance**.",
        {
            "places": "That is what a convolution does: its parameters belong to directions. Attention has the tokens "
            "alone.",
            "other": "It looks as if nothing were left in its place. But a score is q·k of two tokens, and neither "
            "says where it stands.",
        },
        prose="The same network gets the same patches in another order. Does it notice? First without positions, "
        "then with them.",
        picture=pictures,
    )  # fmt: skip


def shuffle(subject: Subject, settings: Settings) -> Iterator[Part]:
    yield Ask(shuffled_question(shuffled_pictures(subject.photo(), subject.image)), subject.identity)
    depth = subject.vit.config.depth
    layer = min(settings.after, depth - 1)
    key = ("shuffle", layer, settings.order, settings.positions)
    blob = subject.cached(key, lambda: packed_shuffle(subject, *key[1:]))
    yield After(
        "patches_shuffle",
        Row(
            Choice("positions", "Positions are", {"off": "off", "on": "on"}),
            Slider("after", "In layer", {layer_number: str(layer_number) for layer_number in range(depth)}),
        ),
        Drawing("shuffle", blob, ("asker", "order")),
        Words(shuffle_verdict(unpack(blob)[0], settings.positions)),
        Exercise(
            "Switch the positions on. Does attention notice the other order now?",
            "Yes. A patch that is moved gets the vector of its new place, and with it another query and key.",
            hint="The choice above the pictures.",
            id="patches_told",
            done=When({"positions": ["on"]}),
            answers=(("yes", ""), ("no", "Look at the largest difference of a weight, below the pictures.")),
            tempting=[
                (When({"order": range(2, ORDER_COUNT + 1)}),
                 "Another order alone changes nothing, as long as no position is added."),
            ],
        ),
        think(
            "A convolution has no table of positions. Why does it not need one?",
            "Its parameters belong to directions: this one for the pixel above, that one for the pixel at the left. "
            "Attention’s weights are computed from the tokens alone.",
        ),
    )  # fmt: skip


def shuffled_pictures(url: str, image: Image.Image, side: int = 8) -> Pictures:
    """The picture, and the picture with its patches shuffled. side: patches along the longer side"""
    columns, rows = (max(2, round(side * length / max(image.size))) for length in image.size)
    patch = 480 // side
    small_image = image.convert("RGB").resize((columns * patch, rows * patch))
    boxes = [(x * patch, y * patch, (x + 1) * patch, (y + 1) * patch) for y in range(rows) for x in range(columns)]
    shuffled_image = small_image.copy()
    for box, n in zip(boxes, np.random.default_rng(0).permutation(len(boxes)), strict=True):
        shuffled_image.paste(small_image.crop(boxes[n]), box[:2])
    pictures = (url, data_url(as_jpeg(shuffled_image)))
    return Pictures(pictures, pictures, ("in order", "in another order"), columns / rows)


def shuffle_verdict(header: dict, positions: str) -> str:
    verdict = {"off": "Attention did **not notice**.", "on": "Attention **did** notice."}
    return (
        f"All {header['heads']} heads, all rows, put back in order: the largest difference of a weight is "
        f"**{header['difference']:.1e}**; the largest weight is {header['largest']:.2f}. {verdict[positions]}"
    )


def packed_shuffle(subject: Subject, layer: int, order: int, positions: str) -> bytes:
    from playground.analysis import patches
    from playground.pictures.images import displayed

    vit = subject.vit
    with subject.turns():
        result = patches.shuffle(vit, subject.image, layer, order, positions == "on")
    heads, tokens, dim = result.before.q.shape
    height, width = result.size
    header = {
        "format": FORMAT, "id": f"{subject.identity} {layer} {order} {positions}", "scale": result.scale, "layers": 2,
        "heads": heads, "head_dim": dim, "tokens": tokens, "prefix": list(vit.config.prefix), "grid": result.grid,
        "size": result.size, "held": [0, 1], "places": result.order.tolist(), "difference": result.difference,
        "largest": result.largest, "orders": ORDER_COUNT,
    }  # fmt: skip
    arrays: dict[str, np.ndarray | bytes] = {"image": as_jpeg(displayed(subject.image, (2 * height, 2 * width)))}
    for name in ("q", "k"):
        tensors = [getattr(tokens, name).numpy() for tokens in (result.before, result.after)]
        arrays_of_both = np.stack(tensors)  # (2, heads, tokens, dim)
        arrays |= dict(zip((name, f"{name}_low", f"{name}_step"), eight_bits(arrays_of_both), strict=True))
    return pack(header, arrays)
