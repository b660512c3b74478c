"""The lesson on patches: how a picture becomes tokens, and how the model knows where a patch was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from playground.lessons import pictures as beside
from playground.lessons.lesson import Lesson, Setting, Settings, Step, Subject, TextSetting
from playground.lessons.parts import After, Ask, Choice, Code, Drawing, Exercise, Fold, Part, Row, Table, When, Words
from playground.lessons.patches_places import ORDER_COUNT, TABLE_TITLES, positions, shuffle
from playground.lessons.questions import Number, Photo, Question, choice_question
from playground.pack import pack, unpack
from playground.pictures.jpegs import as_jpeg, small_url
from playground.samples import start_patch

PATCH_SIZES = (8, 14, 16, 20, 32, 48)


# The picture falls apart ----------------------------------------------------------------------------------------------


def cut(subject: Subject, settings: Settings) -> Iterator[Part]:
    from playground.analysis import patches

    size: Any = SETTINGS["patch"].default
    yield Ask(tokens_question_about(subject, size), f"{subject.identity} {size}")
    blob = subject.cached(("cut", settings.patch), lambda: packed_patches(subject, settings.patch))
    yield After(
        "patches_tokens",
        Choice("patch", "Patch size in pixels", {side: str(side) for side in PATCH_SIZES}),
        Drawing("patches", blob, ("at", "number")),
        Row(Code.of(patches.by_unfolding), Code.of(patches.by_convolution)),
        Fold("More: what is multiplied, and how far the two differ", Words(measured_words(unpack(blob)[0]))),
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
                (When({"patch": [side for side in PATCH_SIZES if side > size]}),
                 "Now a patch is larger, and there are fewer tokens."),
            ],
        ),
    )  # fmt: skip


def tokens_question(size: tuple[int, int], P: int, model_sentence: str, photo: Photo) -> Question:
    """The question about the number of tokens. `size`: the picture's height and width; `P`: a patch's side; `photo`:
    the picture cropped to whole patches."""
    height, width = size
    rows, columns = height // P, width // P
    return Question(
        "patches_tokens",
        f"The picture, {width} × {height} pixels, is cut into patches of {P} × {P}; one is outlined. That makes ▢ "
        "patches.",
        Number(10, 4000, log=True), rows * columns,
        f"{width} ÷ {P} = {width / P:g} and {height} ÷ {P} = {height / P:g}: {columns} × {rows} whole patches, "
        f"{rows * columns:,}. {model_sentence}",
        tempting=(
            ((min(columns, rows) - 2, max(columns, rows) + 2), "So many lie along one side: multiply both."),
            ((10, min(columns, rows) - 3), f"One row alone has {columns}."),
            ((3 * rows * columns, 4000), f"So many would be much smaller than {P} × {P} pixels."),
        ),
        picture=photo,
    )  # fmt: skip


def tokens_question_about(subject: Subject, size: int) -> Question:
    """The question about the number of patches of the picture. One patch is outlined."""
    from playground.analysis import patches
    from playground.pictures.images import displayed

    height, width = patches.picture_size(subject.image)
    rows, columns = height // size, width // size
    row, column = start_patch(subject.name, (rows, columns))
    pixels = np.array(displayed(subject.image, (height, width), subject.vit.config.interpolation))
    pixels_of_patch = pixels[row * size : (row + 1) * size, column * size : (column + 1) * size]
    enlarged_image = displayed(subject.image, (4 * height, 4 * width))
    cropped_jpeg = as_jpeg(enlarged_image.crop((0, 0, 4 * columns * size, 4 * rows * size)))  # cropped to whole patches
    photo = Photo(
        small_url(cropped_jpeg), (rows, columns), columns / rows, mark=row * columns + column, counts=True,
        beside=beside.pixels(pixels_of_patch, f"the outlined patch, {size} × {size} pixels"),
    )  # fmt: skip
    return tokens_question((height, width), size, sentence_about_model(subject), photo)


def shown_prefix_names(prefix: Sequence[str]) -> tuple[str, ...]:
    """Names of the prefix tokens, as the lesson shows them."""
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


# What the matrix looks for --------------------------------------------------------------------------------------------


def even_question() -> Question:
    return choice_question(
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


def filters(subject: Subject, settings: Settings) -> Iterator[Part]:
    yield Words(
        "Each number of a token comes from one **filter**: as many numbers as a patch has, so it can be shown as "
        "a picture. The answer is large where a patch looks like its filter. Point at one."
    )
    yield Drawing("filters", subject.cached("filters", lambda: packed_filters(subject)), ("filter",))
    yield Ask(even_question())


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
    header = {
        "id": subject.identity, "patch": results.filters.shape[-1], "grid": (rows, columns),
        "size": results.size, "titles": results.titles, "place": place, "says": CHANNELS_TEXT,
        "caption": f"{n} of the {vit.config.width} learned filters",
        "channels": channels(subject, patches.filters_by_norm(vit)[:n], place),
    }  # fmt: skip
    arrays: dict[str, np.ndarray | bytes] = {
        "pictures": patches.as_pictures(results.filters).numpy(),
        "answers": results.answers.half().numpy(),
        "image": as_jpeg(displayed(subject.image, results.size)),
    }
    return pack(header, arrays)


def channels(subject: Subject, filter_numbers: list[int], place: tuple[int, int]) -> list[dict[str, str | int]]:
    """For each filter, as text: the answers of its three colour planes at one patch, its bias, and the sum of all."""
    from playground.analysis import patches

    names = ("red", "green", "blue", "bias", "whole")
    answers = patches.answers_by_channel(subject.vit, subject.image, filter_numbers, place)  # (n, 4)
    records: list[dict[str, str | int]] = []
    for number, parts in zip(filter_numbers, answers.tolist(), strict=True):
        terms = (f"{part:.2f}".replace("-", "−") for part in (*parts, sum(parts)))
        records.append(
            {"number": int(number), "row": place[0], "column": place[1], **dict(zip(names, terms, strict=True))}
        )
    return records


# The prefix tokens ----------------------------------------------------------------------------------------------------

PREFIX_KINDS = {
    "cls": "class token: what the last layer makes of it stands for the whole picture",
    "dist": "distillation token, which another network taught",
    "reg": "registers: room to keep what belongs to no place",
}
LEARNED_TEXT = "learned, the same for every picture"


def extra_tokens(subject: Subject, settings: Settings) -> Iterator[Part]:
    """The class token and registers of this model, with their count."""
    config = subject.vit.config
    rows, columns = (side // config.patch_size for side in config.image_size)
    patch_count, prefix_count = rows * columns, len(config.prefix)
    if not prefix_count:
        yield Words("This model has patches only: no class token, no registers.")
        return
    yield Ask(extra_question_about(subject))
    yield Words(f"At the size that it was trained on, {subject.model} has:")
    counts = {kind: sum(token.startswith(kind) for token in config.prefix) for kind in PREFIX_KINDS}
    yield Table(
        ("tokens", "what they are", "where their first numbers come from"),
        [
            *((str(count), PREFIX_KINDS[kind], LEARNED_TEXT) for kind, count in counts.items() if count),
            (f"{rows} × {columns} = {patch_count:,}", "patches", "the picture, and their positions"),
            (f"**{patch_count + prefix_count:,}**", "**all**", ""),
        ],
    )
    yield Words(
        f"Attention treats them alike: all {patch_count + prefix_count:,} have queries, keys and values, so the table "
        f"of weights has {(patch_count + prefix_count) ** 2:,} cells instead of {patch_count**2:,}."
    )
    usual_words = "A ViT of 14 × 14 = 196 patches has 197 tokens with a class token, and 201 with 4 registers more."
    yield Fold("More: in other ViTs", Words(usual_words))


def extra_question(name: str, prefix_names: tuple[str, ...], photo: Photo) -> Question:
    """The question about the extra tokens. `prefix_names`: the names of the tokens before the patches."""
    (rows, columns) = photo.grid
    return choice_question(
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
        f"{len(prefix_names)} more: " + ", ".join(prefix_names) + ".",
        picture=photo,
    )  # fmt: skip


def extra_question_about(subject: Subject) -> Question:
    config, (height, width) = subject.vit.config, subject.size
    grid = height // config.patch_size, width // config.patch_size
    photo = Photo(subject.photo(), grid, width / height, lines=True)
    return extra_question(subject.model, shown_prefix_names(config.prefix), photo)


PLACE_PATTERN = r"\d{1,2},\d{1,2}"
SETTINGS = {
    "patch": Setting.of(16, PATCH_SIZES, (8, 16, 32)),
    "at": TextSetting("", pattern=PLACE_PATTERN),
    "number": Setting.of(0, range(2048)),
    "filter": Setting.of(0, range(200)),
    "table": Setting.in_python("learned", TABLE_TITLES),
    "place": TextSetting("", pattern=PLACE_PATTERN),
    "positions": Setting.in_python("off", ("off", "on")),
    "order": Setting.of(1, range(1, ORDER_COUNT + 1), (1, 2)),
    "after": Setting.of(1, range(64), (1,)),
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
        "filters": Step(
            "2 · What the matrix looks for", filters, "patches_filter", settings=("filter",),
        ),
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
)  # fmt: skip
