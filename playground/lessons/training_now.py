"""The step “Train two now” of the lesson on training: two small models learn side by side, and in one of them a second
loss tells one head where to look. Also packs training runs for the browser (microscope/lessons/reel.js)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from playground.lessons import pictures
from playground.lessons.lesson import Settings, Subject
from playground.lessons.parts import Ask, Part, Words, Workbench
from playground.lessons.questions import Photo, Question, choice_question
from playground.pack import pack, unpack
from playground.pictures import jpegs

if TYPE_CHECKING:
    from playground.training.timelapse import Beginning, Timelapse


FIELD_SIDE = 96  # pixels along a field of the board
PAIR_CAPTION = "one pair: each has to name the other’s colour"
NEEDS_TEXT = (
    "**Only the app trains:** it runs on your own machine, in about half a minute on two slow cores. Below stands how "
    "to get it."
)


def train_two_now(subject: Subject, settings: Settings) -> Iterator[Part]:
    yield Words(
        "On this board every sign lies on two fields. **Each patch has to name the colour of its twin**, the other "
        "patch with the same sign."
    )
    yield Workbench("train", "Train the two now", NEEDS_TEXT)
    yield Ask(board_question())


def board_question() -> Question:
    from playground.training import quick

    board_image = quick.board_image(0, FIELD_SIDE)
    pair_picture = pictures.only_patches(board_image, quick.FIELDS, quick.twin_fields(0), PAIR_CAPTION)
    photo = Photo(
        jpegs.small_url(jpegs.as_jpeg(board_image)),
        quick.FIELDS,
        board_image.width / board_image.height,
        beside=pair_picture,
    )
    config, (layer, head) = quick.SMALL_CONFIG, quick.TOLD_HEAD
    return twin_question(
        photo,
        f"Two ViTs learn it from nothing, in about half a minute on two slow cores: {config.depth} layers, "
        f"{config.heads} heads and {quick.parameter_count():,} parameters each, the same random ones at the beginning, "
        f"the same boards. The only difference: in one of them a second loss tells head {head} of layer {layer} where "
        "the twin is.",
    )


def twin_question(board: Photo, prose: str) -> Question:
    return choice_question(
        "training_twin",
        "Nobody tells the first model where to look. Will one of its heads look at a patch’s twin all the same?",
        {
            "yes": "yes: the colour of the twin stands nowhere else",
            "no": "no: it was never told what a twin is",
            "near": "it will look at neighbours, and guess from them",
        },
        "yes",
        "The only loss is on the answer, the twin’s colour. Every small step towards the twin lowers it. Train them.",
        {
            "no": "Nobody tells it *where* to look, but the loss says how well it answers. That is enough to find out.",
            "near": "Neighbours know nothing of the twin’s colour: signs lie at random. It would be right by chance "
            "alone.",
        },
        picture=board, prose=prose,
    )  # fmt: skip


# Packs a training run for microscope/lessons/reel.js: its curves, and the attention at each of its moments.


def packed_layer(run: Timelapse, layer: int, loss_beginnings: Sequence[Beginning], jpeg: bytes) -> bytes:
    """Packs one layer at each moment: all layers would be too many bytes."""
    from playground.analysis.heads import HABITS

    header = {
        "planned": len(run.moments),
        "begins": [[beginning.step, beginning.short] for beginning in loss_beginnings],
        "aim": "On the patch's own object",
        "moments": [moment.step for moment in run.moments],
        "losses": list(run.losses),
        "habits": [{"label": habit.label, "colour": habit.colour} for habit in HABITS],
        "kinds": [moment.habits.habit_names(moment.mass) for moment in run.moments],
        "chance": run.chance,
    }  # fmt: skip
    arrays = {
        "curve": np.asarray(run.curve, np.float32),
        "entropy": np.stack([moment.habits.entropy for moment in run.moments]).astype(np.float32),
        "mass": np.stack([moment.mass for moment in run.moments]).astype(np.float32),
        "image": jpeg,
    }
    packs = {f"pack{n}": one_layer_pack(moment.trace, layer) for n, moment in enumerate(run.moments)}
    return pack(header, arrays | packs)


def one_layer_pack(data: bytes, layer: int) -> bytes:
    """The pack `data` with only this layer."""
    header, arrays = unpack(data)
    index = header["held"].index(layer)
    del header["sections"], arrays["value_norms"]
    return pack(header | {"held": [layer]}, {name: array[index : index + 1] for name, array in arrays.items()})
