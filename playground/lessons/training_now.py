"""The step “Train two now” of the lesson on training: two small models learn side by side, and in one of them a second
loss tells one head where to look."""

from __future__ import annotations

from collections.abc import Iterator

from playground.lessons import pictures
from playground.lessons.lesson import Settings, Subject
from playground.lessons.parts import Ask, Part, Words, Workbench
from playground.lessons.questions import Photo, Question, choice_question
from playground.pictures import jpegs

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
    from playground import training  # a slow import
    from playground.vit import VisionTransformer

    board_image = training.board_image(0, FIELD_SIDE)
    fields = (training.SIDE, training.SIDE)
    pair_picture = pictures.only_patches(board_image, fields, training.twin_fields(0), PAIR_CAPTION)
    photo = Photo(
        jpegs.small_url(jpegs.as_jpeg(board_image)), fields, board_image.width / board_image.height, beside=pair_picture
    )
    config, (layer, head) = training.CONFIG, training.TOLD_HEAD
    count = sum(parameter.numel() for parameter in VisionTransformer(config).parameters())
    return twin_question(
        photo,
        f"Two ViTs learn it from nothing, in about half a minute on two slow cores: {config.depth} layers, "
        f"{config.heads} heads and {count:,} parameters each, the same random ones at the beginning, "
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
