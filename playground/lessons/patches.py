"""The lesson on patches: how a picture becomes tokens, and how the model knows where a patch was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from PIL import Image

from playground.lessons import parts as p
from playground.lessons import pictures as beside
from playground.lessons.lesson import Lesson, Setting, Settings, Step, Subject, TextSetting
from playground.lessons.questions import Number, Photo, Pictures, Question, choice_question
from playground.pack import FORMAT, eight_bits, pack, unpack
from playground.pictures.jpegs import as_jpeg, data_url, small_url
from playground.samples import start_patch

PATCH_SIZES = (8, 14, 16, 20, 32, 48)


def cut(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    from playground.analysis import patches

    size: Any = SETTINGS["patch"].default
    yield p.Ask(tokens_question(subject, size), f"{subject.identity} {size}")
    blob = subject.cached(("cut", settings.patch), lambda: packed_patches(subject, settings.patch))
    yield p.After(
        "patches_tokens",
        p.Choice("patch", "Patch size in pixels", {side: str(side) for side in PATCH_SIZES}),
        p.Drawing("patches", blob, ("at", "number")),
        p.Row(p.Code.of(patches.by_unfolding), p.Code.of(patches.by_convolution)),
        p.Fold("More: what is multiplied, and how far the two differ", p.Words(measured_words(unpack(blob)[0]))),
        p.Exercise(
            "Halve the patch size, from 16 to 8. What happens to the number of tokens, and to attention?",
            "Four times as many patches, and so about sixteen times as many weights: each token has a weight "
            "for each token, itself included.",
            hint="The patch size stands above the picture.",
            id="patches_halve",
            done=p.When({"patch": [8]}),
            answers=(
                ("2 × the tokens, 4 × the weights", "Both sides of the grid become twice as long."),
                ("4 × the tokens, 4 × the weights", "Each token has a weight for *each* token."),
                ("4 × the tokens, 16 × the weights", ""),
            ),
            tempting=[
                (p.When({"patch": [side for side in PATCH_SIZES if side > size]}),
                 "Now a patch is larger, and there are fewer tokens."),
            ],
        ),
    )  # fmt: skip


def tokens_question(subject: Subject, P: int) -> Question:
    """The question about the number of patches of P × P pixels in the picture. One patch is outlined."""
    from playground.analysis import patches
    from playground.pictures.images import displayed

    height, width = patches.picture_size(subject.image)
    rows, columns = height // P, width // P
    row, column = start_patch(subject.name, (rows, columns))
    pixels = np.array(displayed(subject.image, (height, width), subject.vit.config.interpolation))
    pixels_of_patch = pixels[row * P : (row + 1) * P, column * P : (column + 1) * P]
    enlarged_image = displayed(subject.image, (4 * height, 4 * width))
    cropped_jpeg = as_jpeg(enlarged_image.crop((0, 0, 4 * columns * P, 4 * rows * P)))  # cropped to whole patches
    return Question(
        "patches_tokens",
        f"The picture, {width} × {height} pixels, is cut into patches of {P} × {P}; one is outlined. That makes ▢ "
        "patches.",
        Number(10, 4000, log=True), rows * columns,
        f"{width} ÷ {P} = {width / P:g} and {height} ÷ {P} = {height / P:g}: {columns} × {rows} whole patches, "
        f"{rows * columns:,}. {sentence_about_model(subject)}",
        tempting=(
            ((min(columns, rows) - 2, max(columns, rows) + 2), "So many lie along one side: multiply both."),
            ((10, min(columns, rows) - 3), f"One row alone has {columns}."),
            ((3 * rows * columns, 4000), f"So many would be much smaller than {P} × {P} pixels."),
        ),
        picture=Photo(
            small_url(cropped_jpeg), (rows, columns), columns / rows, mark=row * columns + column, counts=True,
            beside=beside.pixels(pixels_of_patch, f"the outlined patch, {P} × {P} pixels"),
        ),
    )  # fmt: skip


def shown_prefix_names(prefix: Sequence[str]) -> tuple[str, ...]:
    names = {"cls": "CLS", "dist": "DIST"}
    return tuple(names.get(token, token.replace("reg", "R")) for token in prefix)


def sentence_about_model(subject: Subject) -> str:
    config, (height, width) = subject.vit.config, subject.size
    rows, columns = height // config.patch_size, width // config.patch_size
    names, extra_words = ", ".join(shown_prefix_names(config.prefix)), ""
    if config.prefix:
        count = f"{len(config.prefix)} tokens" if len(config.prefix) > 1 else "one token"
        extra_words = f", and {count} more in front of them ({names})"
    return (
        f"In the microscope, {subject.model} reads it at {width} × {height} with patches of {config.patch_size} × "
        f"{config.patch_size}: {columns} × {rows} = {rows * columns:,}{extra_words}."
    )


def packed_patches(subject: Subject, patch: int) -> bytes:
    from playground.analysis import patches
    from playground.pictures.images import displayed

    vit = subject.vit
    with subject.turns():
        parts = patches.cut_picture(vit, subject.image, patch)
    trained_side, config = vit.config.patch_size, vit.config
    filters, bias = patches.projection(vit)
    header = {
        "id": f"{subject.identity} {patch}", "size": parts.size, "patch": patch, "own": trained_side,
        "width": config.width,
        "mean": config.mean, "std": config.std, "difference": parts.difference, "typical": parts.typical,
    }  # fmt: skip
    arrays: dict[str, Any] = {
        "pixels": np.array(displayed(subject.image, parts.size, config.interpolation)),
        "filters": filters.half().numpy(),
        "stretch": patches.stretching_matrix(trained_side, patch).numpy(),
        "bias": np.zeros(0, np.float32) if bias is None else bias.numpy(),
        "tokens": parts.tokens.half().numpy(),
    }
    return pack(header, arrays)


def measured_words(header: dict) -> str:
    rows, columns = (side // header["patch"] for side in header["size"])
    mean, std = (", ".join(f"{part:.3g}" for part in header[name]) for name in ("mean", "std"))
    trained_side, patch = header["own"], header["patch"]
    stretch_sentence = "" if trained_side == patch else (
        f" This model learned filters of {trained_side} × {trained_side} pixels; for {patch} × {patch} they are "
        f"{'stretched' if patch > trained_side else 'shrunk'}, so that a token keeps what it says."
    )  # fmt: skip
    return (
        "What is multiplied are **normalised** pixels: each divided by 255, less a mean, divided by a "
        f"deviation. For red, green and blue this model’s means are {mean}, its deviations {std}.\n\n"
        f"Both give {rows * columns:,} × {header['width']:,} numbers. The largest difference between them, measured "
        f"just now on this picture: **{header['difference']:.1e}**, where a typical number is "
        f"{header['typical']:.2f}.{stretch_sentence}"
    )


def filters(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    yield p.Words(
        "Each number of a token comes from one **filter**: as many numbers as a patch has, so it can be shown as "
        "a picture. The answer is large where a patch looks like its filter. Point at one."
    )
    yield p.Drawing("filters", subject.cached("filters", lambda: packed_filters(subject)), ("filter",))
    yield p.Ask(choice_question(
        "patches_filter", "A patch is all of one grey. What does a filter answer?",
        {
            "sum": ("each colour’s normalised grey times the sum of its plane, added up, plus a bias", ""),
            "zero": ("the bias alone: there is nothing to see in it",
              "That holds for filters that look for edges, whose planes sum to 0. Others measure brightness or "
              "colour."),
            "grey": ("the grey itself",
              "A filter that takes the mean, all its numbers alike and summing to 1, would give the mean of the "
              "three normalised greys."),
        },
        "The answer is a sum of products, number by number. Normalised, one grey is one number for red, one for green "
        "and one for blue: three different ones, where the model’s means and deviations differ. In a plane all pixels "
        "are alike, so it gives its number times the sum of the plane. Only a filter each of whose planes sums to 0, "
        "such as an edge, is blind to every even patch.",
    ))  # fmt: skip


CHANNELS_TEXT = (
    "A filter has three planes, and their answers are **summed**: of number {number}, at row {row}, "
    "column {column}: red {red}, green {green}, blue {blue}, bias {bias}; together **{whole}**, one number of "
    "the token. Nothing of the token is “the red part”."
)


def packed_filters(subject: Subject) -> bytes:
    from playground.analysis import patches
    from playground.pictures.images import displayed

    vit = subject.vit
    with subject.turns():
        results = patches.strongest_filters(vit, subject.image)
    n, rows, columns = results.answers.shape
    place = start_patch(subject.name, patches.small_grid(vit, subject.image))
    numbers = patches.filters_by_norm(vit)[:n]
    answers = patches.answers_by_channel(vit, subject.image, numbers, place)  # (n, 4): three colour planes and a bias
    header = {
        "id": subject.identity, "patch": results.filters.shape[-1], "grid": (rows, columns),
        "size": results.size, "titles": results.titles, "place": place, "says": CHANNELS_TEXT,
        "caption": f"{n} of the {vit.config.width} learned filters",
        "channels": [
            {"number": int(number), "row": place[0], "column": place[1]} | channel_texts(parts)
            for number, parts in zip(numbers, answers.tolist(), strict=True)
        ],
    }  # fmt: skip
    arrays: dict[str, np.ndarray | bytes] = {
        "pictures": patches.as_pictures(results.filters).numpy(),
        "answers": results.answers.half().numpy(),
        "image": as_jpeg(displayed(subject.image, results.size)),
    }
    return pack(header, arrays)


def channel_texts(parts: list[float]) -> dict[str, str]:
    names = ("red", "green", "blue", "bias", "whole")
    terms = (f"{part:.2f}".replace("-", "−") for part in (*parts, sum(parts)))
    return dict(zip(names, terms, strict=True))


PREFIX_KINDS = {
    "cls": "class token: what the last layer makes of it stands for the whole picture",
    "dist": "distillation token, which another network taught",
    "reg": "registers: room to keep what belongs to no place",
}
LEARNED_TEXT = "learned, the same for every picture"


def extra_tokens(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    config = subject.vit.config
    rows, columns = (side // config.patch_size for side in config.image_size)
    patch_count, prefix_count = rows * columns, len(config.prefix)
    if not prefix_count:
        yield p.Words("This model has patches only: no class token, no registers.")
        return
    height, width = subject.size
    shown_rows, shown_columns = height // config.patch_size, width // config.patch_size
    names = shown_prefix_names(config.prefix)
    yield p.Ask(choice_question(
        "patches_extra", "The class token enters the first layer. Where do its numbers come from?",
        {
            "learned": ("they were learned in training, and are the same for every picture", ""),
            "mean": ("they are the mean of all patches",
              "Some models read out the mean of the patches *after* the last layer instead of a class token. Before "
              "the first, nobody has seen the picture."),
            "random": ("they are drawn at random, anew for every picture",
              "Then the answer would change each time. It is fixed, as all parameters are after training."),
        },
        "It begins as the same learned vector for every picture; registers do too. What it knows of *this* picture it "
        "hears in the layers, from the patches.",
        prose=f"Not every token is a patch. Before the {shown_rows * shown_columns:,} patches of this picture "
        f"{subject.model} puts {len(names)} more: " + ", ".join(names) + ".",
        picture=Photo(subject.photo(), (shown_rows, shown_columns), width / height, lines=True),
    ))  # fmt: skip
    yield p.Words(f"At the size that it was trained on, {subject.model} has:")
    counts = {kind: sum(token.startswith(kind) for token in config.prefix) for kind in PREFIX_KINDS}
    yield p.Table(
        ("tokens", "what they are", "where their first numbers come from"),
        [
            *((str(count), PREFIX_KINDS[kind], LEARNED_TEXT) for kind, count in counts.items() if count),
            (f"{rows} × {columns} = {patch_count:,}", "patches", "the picture, and their positions"),
            (f"**{patch_count + prefix_count:,}**", "**all**", ""),
        ],
    )
    yield p.Words(
        f"Attention treats them alike: all {patch_count + prefix_count:,} have queries, keys and values, so the table "
        f"of weights has {(patch_count + prefix_count) ** 2:,} cells instead of {patch_count**2:,}."
    )
    usual_words = "A ViT of 14 × 14 = 196 patches has 197 tokens with a class token, and 201 with 4 registers more."
    yield p.Fold("More: in other ViTs", p.Words(usual_words))


TABLE_TITLES = {"learned": "This model’s", "sinusoidal": "Sinusoidal", "rotary": "Turned (2-D RoPE)"}
ORDER_COUNT = 99


START_COSINE = 0.9617  # mean cosine of the bundled model’s positions with those before training; a test measures it
EQUAL_WITHIN = 0.02  # two mean cosines that differ by less count as equal


def below_question(kind: str, to_right: float, to_below: float) -> Question:
    """The question about the place below. `kind`: the kind of positions, in words; `to_right`, `to_below`: the mean
    cosine of a place with the next one in its row, and with the next one in its column."""
    truth = "both" if abs(to_right - to_below) < EQUAL_WITHIN else "beside" if to_right > to_below else "below"
    options = {
        "beside": ("the one beside", "They would be if places were counted along the rows, as words of a text."),
        "below": ("the one below", "They would be if places were counted along the columns."),
        "both": (f"both alike (within {EQUAL_WITHIN:g})",
                 "On the picture both are one patch away. But these vectors treat rows and columns differently."),
    }  # fmt: skip
    return choice_question(
        "patches_below",
        f"{kind}: which place is more like a place, the one **beside** it or the one **below** it?",
        options | {truth: (options[truth][0], "")},
        f"Over all places, the mean cosine with the one beside is **{to_right:.3f}**, with that below "
        f"**{to_below:.3f}**.",
    )


def neighbour_cosines(header: dict, places: np.ndarray) -> tuple[float, float]:
    """The mean cosine of a place's vector with the one beside it, and with the one below it. places: (patches, D)"""
    rows, columns = header["grid"]
    unit_vectors = places.astype(np.float32).reshape(rows, columns, -1)
    unit_vectors /= np.linalg.norm(unit_vectors, axis=-1, keepdims=True).clip(min=1e-12)
    beside_cosines = (unit_vectors[:, 1:] * unit_vectors[:, :-1]).sum(-1)
    below_cosines = (unit_vectors[1:] * unit_vectors[:-1]).sum(-1)
    return float(beside_cosines.mean()), float(below_cosines.mean())


def positions(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    yield p.Words(
        "A token does not know where its patch was. In most ViTs a vector is added, one for each place, its **position "
        "embedding**; others turn queries and keys. Point at a place: how alike are the others?"
    )
    yield p.Choice("table", "Positions", TABLE_TITLES)
    blob = subject.cached(("places", settings.table), lambda: packed_positions(subject, settings.table))
    header, arrays = unpack(blob)
    if header["kind"] != "none":
        yield p.Drawing("positions", blob, ("place",))
    yield p.Fold("More: how these came about", p.Words(positions_text(header)))
    yield p.Exercise(
        "Show the sinusoidal positions, and point at a place. Which is more alike: the place beside it "
        "or the one below?",
        "The one beside it. This formula counts patches along the rows, as words of a text: the place "
        "beside is one step away, the place below a whole row of steps. It knows nothing of two "
        "directions.",
        hint="The choice above the map.",
        id="patches_sines",
        done=p.When({"table": ["sinusoidal"]}),
        answers=(
            ("the one beside it", ""),
            ("the one below it", "The formula counts along the rows: below is a whole row of steps away."),
            ("both alike", "They would be, if the formula had a row and a column. It has one count."),
        ),
        tempting=[
            (p.When({"table": ["rotary"]}),
             "These are turned, by row *and* column. The sinusoidal ones are the second choice."),
        ],
    )  # fmt: skip
    if header["kind"] == "none":  # without positions in this model, the question is about the sinusoidal ones
        header, arrays = unpack(packed_positions(subject, "sinusoidal"))
    kind = KIND_NAMES[header["kind"]]
    places = arrays["places"][len(header.get("own", ())) :]
    yield p.Ask(below_question(kind, *neighbour_cosines(header, places)), f"{subject.model_name} {kind}")


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
    own = shown_prefix_names(vit.config.prefix) if vit.config.positions == table == "learned" else ()
    if own:  # the class token has a row too
        places = vit.positions(grid).detach()[0].float().cpu()
    is_bundled = kind == "learned" and subject.model_name == "bundled"
    header = {
        "id": f"{subject.model_name} {table} {grid}", "grid": grid, "width": places.shape[1], "kind": kind,
        "start": START_COSINE if is_bundled else None, "own": own,
    }  # fmt: skip
    return pack(header, {"places": places.half().numpy()})


def shuffle(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    yield p.Ask(choice_question(
        "patches_shuffle", "No positions are added, and the patches come in another order. To which patches does each "
        "patch listen now?",
        {
            "same": ("to the same as before", ""),
            "places": ("to those at the same places as before",
              "That is what a convolution does: its parameters belong to directions. Attention has the tokens alone."),
            "other": ("to others",
              "It looks as if nothing were left in its place. But a score is q·k of two tokens, and neither says "
              "where it stands."),
        },
        "If the input is permuted, the output is permuted in the same way: **permutation equivariance**.",
        prose="The same network gets the same patches in another order. Does it notice? First without positions, then "
        "with them.",
        picture=shuffled_pictures(subject.photo(), subject.image),
    ), subject.identity)  # fmt: skip
    depth = subject.vit.config.depth
    layer = min(settings.after, depth - 1)
    key = ("shuffle", layer, settings.order, settings.positions)
    blob = subject.cached(key, lambda: packed_shuffle(subject, *key[1:]))
    yield p.After(
        "patches_shuffle",
        p.Row(
            p.Choice("positions", "Positions are", {"off": "off", "on": "on"}),
            p.Slider("after", "In layer", {layer_number: str(layer_number) for layer_number in range(depth)}),
        ),
        p.Drawing("shuffle", blob, ("asker", "order")),
        p.Words(shuffle_verdict(unpack(blob)[0], settings.positions)),
        p.Exercise(
            "Switch the positions on. Does attention notice the other order now?",
            "Yes. A patch that is moved gets the vector of its new place, and with it another query and key.",
            hint="The choice above the pictures.",
            id="patches_told",
            done=p.When({"positions": ["on"]}),
            answers=(("yes", ""), ("no", "Look at the largest difference of a weight, below the pictures.")),
            tempting=[
                (p.When({"order": range(2, ORDER_COUNT + 1)}),
                 "Another order alone changes nothing, as long as no position is added."),
            ],
        ),
        p.think(
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


PLACE_PATTERN = r"\d{1,2},\d{1,2}"
SETTINGS = {
    "patch": Setting(16, PATCH_SIZES, (8, 16, 32)),
    "at": TextSetting("", pattern=PLACE_PATTERN),
    "number": Setting(0, range(2048)),
    "filter": Setting(0, range(200)),
    "table": Setting.in_python("learned", TABLE_TITLES),
    "place": TextSetting("", pattern=PLACE_PATTERN),
    "positions": Setting.in_python("off", ("off", "on")),
    "order": Setting(1, range(1, ORDER_COUNT + 1), (1, 2)),
    "after": Setting(1, range(64), (1,)),
    "asker": TextSetting("", pattern=PLACE_PATTERN),
}
LESSON = Lesson(
    "patches",
    "Attention works on a set of vectors, not on pixels. So the picture is cut into **patches**. Each patch is laid "
    "out as one long row of numbers, and one learned matrix turns each row into a **token**.",
    SETTINGS,
    {
        "cut": Step(
            "1 · The picture falls apart", cut, "patches_tokens", ("patches_halve",), ("patch", "at", "number"),
        ),
        "filters": Step("2 · What the matrix looks for", filters, "patches_filter", settings=("filter",)),
        "extra": Step("3 · Tokens that are no patches", extra_tokens, "patches_extra"),
        "positions": Step(
            "4 · Where a patch lies", positions, "patches_below", ("patches_sines",), ("table", "place"),
            picture=False,
        ),
        "shuffle": Step(
            "5 · Without positions", shuffle, "patches_shuffle", ("patches_told",),
            ("positions", "order", "after", "asker"),
        ),
    },
    outcomes={
        "patches_tokens": "count the tokens of a picture",
        "patches_shuffle": "say what attention knows of places without positions",
    },
)  # fmt: skip
