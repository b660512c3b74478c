"""The lesson on patches: how a picture becomes tokens, and how the model knows where a patch was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from playground.lessons import pictures as beside
from playground.lessons.lesson import OWN, Lesson, Setting, Settings, Step, Subject, Written
from playground.lessons.parts import After, Ask, Choice, Code, Drawing, Exercise, Fold, Part, Row, Table, When, Words
from playground.lessons.patches_places import ORDERS, TABLES, positions, shuffle
from playground.lessons.questions import Number, Photo, Question, of_choice
from playground.pack import pack, unpack
from playground.pictures.jpegs import as_jpeg, small_url
from playground.samples import start_patch

PATCHES = (8, 14, 16, 20, 32, 48)
SHOWN = {"filters": "Filters", "components": "Principal components"}


# The picture falls apart ----------------------------------------------------------------------------------------------


def cut(subject: Subject, chosen: Settings) -> Iterator[Part]:
    from playground.analysis import patches

    size = SETTINGS["patch"].default
    yield Ask(how_many(subject, size), f"{subject.about} {size}")
    blob = subject.kept(("cut", chosen.patch), lambda: cut_up(subject, chosen.patch))
    yield After(
        "patches_tokens",
        Choice("patch", "Patch size in pixels", {side: str(side) for side in PATCHES}),
        Drawing("patches", blob, ("at", "number")),
        Row(Code.of(patches.by_unfolding), Code.of(patches.by_convolution)),
        Fold("More: what is multiplied, and how far the two differ", Words(measured(unpack(blob)[0]))),
        Exercise(
            "Halve the patch size, from 16 to 8. What happens to the number of tokens, and to attention?",
            "Four times as many patches, and so about sixteen times as many weights: each token has a weight "
            "for each token, itself included.",
            hint="The patch size stands above the picture.",
            id="patches_halve",
            done=When({"patch": [8]}),
            answers=(
                ("2 × the tokens, 4 × the weights", "Both sides of the grid become twice as long."),
                ("4 × the tokens, 4 × the weights", "Each token has a weight for *each* token."),
                ("4 × the tokens, 16 × the weights", ""),
            ),
            tempting=[
                (When({"patch": [side for side in PATCHES if side > size]}),
                 "Now a patch is larger, and there are fewer tokens."),
            ],
        ),
    )  # fmt: skip


def tokens_question(size: tuple[int, int], P: int, by_the_model: str, shown: Photo) -> Question:
    """The question about the number of tokens. `size`: the picture's height and width; `P`: a patch's side; `shown`:
    the picture cropped to whole patches."""
    high, wide = size
    rows, columns = high // P, wide // P
    return Question(
        "patches_tokens",
        f"The picture, {wide} × {high} pixels, is cut into patches of {P} × {P}; one is outlined. That makes ▢ "
        "patches.",
        Number(10, 4000, log=True), rows * columns,
        f"{wide} ÷ {P} = {wide / P:g} and {high} ÷ {P} = {high / P:g}: {columns} × {rows} whole patches, "
        f"{rows * columns:,}. {by_the_model}",
        tempting=(
            ((min(columns, rows) - 2, max(columns, rows) + 2), "So many lie along one side: multiply both."),
            ((10, min(columns, rows) - 3), f"One row alone has {columns}."),
            ((3 * rows * columns, 4000), f"So many would be much smaller than {P} × {P} pixels."),
        ),
        picture=shown,
    )  # fmt: skip


def how_many(subject: Subject, size: int):
    """The question about the number of patches of the picture. One patch is outlined."""
    from playground.analysis import patches
    from playground.pictures.images import displayed

    high, wide = patches.picture_size(subject.image)
    rows, columns = high // size, wide // size
    row, column = start_patch(subject.name, (rows, columns))
    pixels = np.array(displayed(subject.image, (high, wide), subject.vit.config.interpolation))
    pixels_of_patch = pixels[row * size : (row + 1) * size, column * size : (column + 1) * size]
    enlarged_image = displayed(subject.image, (4 * high, 4 * wide))
    cropped = as_jpeg(enlarged_image.crop((0, 0, 4 * columns * size, 4 * rows * size)))  # cropped to whole patches
    shown = Photo(
        small_url(cropped), (rows, columns), columns / rows, mark=row * columns + column, counts=True,
        beside=beside.pixels(pixels_of_patch, f"the outlined patch, {size} × {size} pixels"),
    )  # fmt: skip
    return tokens_question((high, wide), size, by_the_model(subject), shown)


def front(prefix: Sequence[str]) -> tuple[str, ...]:
    """Names of the prefix tokens, as the lesson shows them."""
    names = {"cls": "CLS", "dist": "DIST"}
    return tuple(names.get(token, token.replace("reg", "R")) for token in prefix)


def by_the_model(subject: Subject) -> str:
    c, (high, wide) = subject.vit.config, subject.size
    rows, columns = high // c.patch_size, wide // c.patch_size
    names, extra = ", ".join(front(c.prefix)), ""
    if c.prefix:
        count = f"{len(c.prefix)} tokens" if len(c.prefix) > 1 else "one token"
        extra = f", and {count} more in front of them ({names})"
    return (
        f"In the microscope, {subject.model} reads it at {wide} × {high} with patches of {c.patch_size} × "
        f"{c.patch_size}: {columns} × {rows} = {rows * columns:,}{extra}."
    )


def cut_up(subject: Subject, patch: int) -> bytes:
    from playground.analysis import patches
    from playground.pictures.images import displayed

    vit = subject.vit
    with subject.turns():
        cut = patches.cut(vit, subject.image, patch)
    trained_side, c = vit.config.patch_size, vit.config
    filters, bias = patches.projection(vit)
    header = {
        "id": f"{subject.about} {patch}", "size": cut.size, "patch": patch, "own": trained_side, "width": c.width,
        "mean": c.mean, "std": c.std, "difference": cut.difference, "typical": cut.typical,
    }  # fmt: skip
    arrays = {
        "pixels": np.array(displayed(subject.image, cut.size, c.interpolation)),
        "filters": filters.half().numpy(),
        "stretch": patches.stretching(trained_side, patch).numpy(),
        "bias": np.zeros(0, np.float32) if bias is None else bias.numpy(),
        "tokens": cut.tokens.half().numpy(),
    }
    return pack(header, arrays)


def measured(header: dict) -> str:
    rows, columns = (side // header["patch"] for side in header["size"])
    mean, std = (", ".join(f"{part:.3g}" for part in header[name]) for name in ("mean", "std"))
    trained_side, patch = header["own"], header["patch"]
    stretched = "" if trained_side == patch else (
        f" This model learned filters of {trained_side} × {trained_side} pixels; for {patch} × {patch} they are "
        f"{'stretched' if patch > trained_side else 'shrunk'}, so that a token keeps what it says."
    )  # fmt: skip
    return (
        "What is multiplied are **normalised** pixels: each divided by 255, less a mean, divided by a "
        f"deviation. For red, green and blue this model’s means are {mean}, its deviations {std}.\n\n"
        f"Both give {rows * columns:,} × {header['width']:,} numbers. The largest difference between them, measured "
        f"just now on this picture: **{header['difference']:.1e}**, where a typical number is "
        f"{header['typical']:.2f}.{stretched}"
    )


# What the matrix looks for --------------------------------------------------------------------------------------------


def even_question() -> Question:
    return of_choice(
        "patches_filter", "A patch is all of one grey. What does a filter answer?",
        {
            "sum": "each colour’s normalised grey times the sum of its plane, added up, plus a bias",
            "zero": "the bias alone: there is nothing to see in it",
            "grey": "the grey itself",
        },
        "sum",
        "The answer is a sum of products, number by number. Normalised, one grey is one number for red, one for green "
        "and one for blue: three different ones, where the model’s means and deviations differ. In a plane all pixels "
        "are alike, so it gives its number times the sum of the plane. Only a filter each of whose planes sums to 0, "
        "such as an edge, is blind to every even patch.",
        {
            "zero": "That holds for filters that look for edges, whose planes sum to 0. Others measure brightness or "
            "colour.",
            "grey": "A filter that takes the mean, all its numbers alike and summing to 1, would give the mean of the "
            "three normalised greys.",
        },
    )  # fmt: skip


def filters(subject: Subject, chosen: Settings) -> Iterator[Part]:
    yield Words(
        "Each number of a token comes from one **filter**: as many numbers as a patch has, so it can be shown as "
        "a picture. The answer is large where a patch looks like its filter. Point at one."
    )
    yield Choice("pictures", "Show", SHOWN)
    yield Drawing(
        "filters", subject.kept(("filters", chosen.pictures), lambda: answered(subject, chosen.pictures)), ("filter",)
    )
    yield Ask(even_question())


CHANNELS = (
    "A filter has three planes, and their answers are **summed**: of number {number}, at row {row}, "
    "column {column}: red {red}, green {green}, blue {blue}, bias {bias}; together **{whole}**, one number of "
    "the token. Nothing of the token is “the red part”."
)


def answered(subject: Subject, pictures: str) -> bytes:
    from playground.analysis import patches
    from playground.pictures.images import displayed

    vit, components = subject.vit, pictures == "components"
    find = patches.principal_filters if components else patches.strongest_filters
    with subject.turns():
        filtered = find(vit, subject.image)
    n, rows, columns = filtered.answers.shape
    learned = f"{n} of the {vit.config.width} learned filters"
    place = None if components else start_patch(subject.name, patches.small_grid(vit, subject.image))
    header = {
        "id": f"{subject.about} {pictures}", "patch": filtered.filters.shape[-1], "grid": (rows, columns),
        "size": filtered.size, "titles": filtered.titles, "place": place, "says": CHANNELS,
        "caption": f"The first {n} principal components" if components else learned,
        "channels": place and channels(subject, patches.strongest(vit)[:n], place),
    }  # fmt: skip
    arrays = {
        "pictures": patches.as_pictures(filtered.filters).numpy(),
        "answers": filtered.answers.half().numpy(),
        "image": as_jpeg(displayed(subject.image, filtered.size)),
    }
    return pack(header, arrays)


def channels(subject: Subject, numbers: list[int], place: tuple[int, int]) -> list[dict[str, str | int]]:
    """For each filter, as text: the answers of its three colour planes at one patch, its bias, and the sum of all."""
    from playground.analysis import patches

    names, at = ("red", "green", "blue", "bias", "whole"), {"row": place[0], "column": place[1]}
    answers = patches.by_channels(subject.vit, subject.image, numbers, place)  # (n, 4)
    products = []
    for number, parts in zip(numbers, answers.tolist(), strict=True):
        terms = (f"{part:.2f}".replace("-", "−") for part in (*parts, sum(parts)))
        products.append({"number": int(number), **at, **dict(zip(names, terms, strict=True))})
    return products


# The prefix tokens ----------------------------------------------------------------------------------------------------

KINDS = {
    "cls": "class token: what the last layer makes of it stands for the whole picture",
    "dist": "distillation token, which another network taught",
    "reg": "registers: room to keep what belongs to no place",
}
LEARNED = "learned, the same for every picture"


def extra(subject: Subject, chosen: Settings) -> Iterator[Part]:
    """The class token and registers of this model, with their count."""
    c = subject.vit.config
    rows, columns = (side // c.patch_size for side in c.image_size)
    patches, front = rows * columns, len(c.prefix)
    if not front:
        yield Words("This model has patches only: no class token, no registers.")
        return
    yield Ask(where_from(subject))
    yield Words(f"At the size that it was trained on, {subject.model} has:")
    counts = {kind: sum(token.startswith(kind) for token in c.prefix) for kind in KINDS}
    yield Table(
        ("tokens", "what they are", "where their first numbers come from"),
        [
            *((str(count), KINDS[kind], LEARNED) for kind, count in counts.items() if count),
            (f"{rows} × {columns} = {patches:,}", "patches", "the picture, and their positions"),
            (f"**{patches + front:,}**", "**all**", ""),
        ],
    )
    yield Words(
        f"Attention treats them alike: all {patches + front:,} have queries, keys and values, so the table of weights "
        f"has {(patches + front) ** 2:,} cells instead of {patches**2:,}."
    )
    usual = "A ViT of 14 × 14 = 196 patches has 197 tokens with a class token, and 201 with 4 registers more."
    yield Fold("More: in other ViTs", Words(usual))


def extra_question(name: str, front: tuple[str, ...], shown: Photo) -> Question:
    """The question about the extra tokens. `front`: the names of the tokens before the patches."""
    (rows, columns) = shown.grid
    return of_choice(
        "patches_extra", "The class token enters the first layer. Where do its numbers come from?",
        {
            "learned": "they were learned in training, and are the same for every picture",
            "mean": "they are the mean of all patches",
            "random": "they are drawn at random, anew for every picture",
        },
        "learned",
        "It begins as the same learned vector for every picture; registers do too. What it knows of *this* picture "
        "it hears in the layers, from the patches.",
        {
            "mean": "Some models read out the mean of the patches *after* the last layer instead of a class token. "
            "Before the first, nobody has seen the picture.",
            "random": "Then the answer would change each time. It is fixed, as all parameters are after training.",
        },
        prose=f"Not every token is a patch. Before the {rows * columns:,} patches of this picture {name} puts "
        f"{len(front)} more: " + ", ".join(front) + ".",
        picture=shown,
    )  # fmt: skip


def where_from(subject: Subject):
    c, (high, wide) = subject.vit.config, subject.size
    grid, names = (high // c.patch_size, wide // c.patch_size), front(c.prefix)
    words = f"{grid[0] * grid[1] + len(c.prefix):,} tokens"
    second = subject.kept("all tokens", lambda: beside.tokens(subject.jpeg, grid, names, words))
    shown = Photo(subject.photo(), grid, wide / high, lines=True, beside=second)
    return extra_question(subject.model, names, shown)


PLACE = r"\d{1,2},\d{1,2}"
SETTINGS = {
    "patch": Setting.of(16, PATCHES),
    "at": Written("", pattern=PLACE),
    "number": Setting.of(0, range(2048)),
    "pictures": Setting.of("filters", SHOWN),
    "filter": Setting.of(0, range(200)),
    "table": Setting.of("learned", TABLES),
    "place": Written("", pattern=PLACE),
    "positions": Setting.of("off", ("off", "on")),
    "order": Setting.of(1, range(1, ORDERS + 1)),
    "after": Setting.of(1, range(64)),
    "asker": Written("", pattern=PLACE),
}
LESSON = Lesson(
    "patches",
    "Attention works on a set of vectors, not on pixels. So the picture is cut into **patches**. Each patch is laid "
    "out as one long row of numbers, and one learned matrix turns each row into a **token**.",
    SETTINGS,
    {
        "cut": Step(
            "1 · The picture falls apart", cut, "patches_tokens", ("patches_halve",), ("patch", "at", "number"),
            ahead=({"patch": (8, 16, 32)},), beyond=OWN,
        ),
        "filters": Step(
            "2 · What the matrix looks for", filters, "patches_filter", settings=("pictures", "filter"),
            ahead=({"pictures": None},), beyond=OWN,
        ),
        "extra": Step("3 · Tokens that are no patches", extra, "patches_extra", beyond=OWN),
        "positions": Step(
            "4 · Where a patch lies", positions, "patches_below", ("patches_sines",), ("table", "place"),
            ahead=({"table": None},), beyond=OWN, own=None,
        ),
        "shuffle": Step(
            "5 · Without positions", shuffle, "patches_shuffle", ("patches_told",),
            ("positions", "order", "after", "asker"),
            ahead=({"positions": None, "order": (1, 2), "after": (1,)},),
            beyond="Here are two orders in one layer. " + OWN,
        ),
    },
)  # fmt: skip
