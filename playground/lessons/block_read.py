"""The step “logit lens” of the lesson on the rest of a layer: the answer that each layer would give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from PIL import Image

from playground.lessons.block_answer import READOUT_TEXTS, ModelAnswer, find_answer, picture_row
from playground.lessons.lesson import Settings, Subject
from playground.lessons.parts import QUERY, After, Ask, Part, Picture, Row, Wait, Words
from playground.lessons.pictures import at_map_size, lit_picture
from playground.lessons.questions import Lines, Number, Question, Series
from playground.numbers import percent

if TYPE_CHECKING:
    from playground.analysis.block import LogitLens

MOST_MAPS = 8  # each map shows one layer
MAP_SIDE = 180  # pixels, the longer side of a map


def place_words(layers: int) -> str:
    return "before the first layer" if not layers else f"after {layers} layer{'s' * (layers > 1)}"


SAME_FIRST_TEXT = "The first is the same for every picture: the class token has heard nothing yet. "


def percent_text(p: float) -> str:
    """A percentage as text, with one decimal near 0, 50 and 100: else 50.4 would read 50 and be called above one
    half."""
    near_a_mark = any(abs(p - n) < 0.5 for n in (0, 50, 100))
    return f"{p:.1f}" if near_a_mark else f"{p:.0f}"


def above_half(probabilities: Sequence[float]) -> str:
    """A sentence that says after which layer the probability stays above one half. Compares the numbers as the page
    rounds them."""
    is_above = [round(p, 1) > 50 for p in probabilities]
    if not any(is_above):
        return "It is never above one half. "
    if all(is_above):
        return "It is above one half all the way. "
    if not is_above[-1]:
        return "In the end it is not above one half. "
    last_below = len(is_above) - 1 - is_above[::-1].index(False)
    if last_below == len(is_above) - 2:
        return "The last layer brings it above one half. "
    return f"It is above one half {place_words(last_below + 1)} and stays there. "


def read_question(model: str, label: str, probabilities: Sequence[float], pool: str) -> Question:
    """`probabilities`: the label's probability in per cent, before the first layer and after each layer. The reader
    guesses the one in the middle of the layers."""
    shares = tuple(probabilities)
    layers = len(shares) - 1
    middle = layers // 2
    return Question(
        "block_read",
        f"In the end {model} gives *{label}* {percent_text(shares[-1])} %. Read {place_words(middle)} of {layers}, it "
        "is ▢.",
        Number(0, 100, " %"), shares[middle],
        "Before the first layer and after each, in per cent: " + ", ".join(map(percent_text, shares)) + ". "
        + above_half(shares) + (SAME_FIRST_TEXT if pool == "token" else "")
        + "Norm and classifier were trained for what the *last* layer gives. Before that they may misread: the "
        "number says when the answer stands in the stream **in the form in which they look for it**.",
        prose="All layers write into one stream, so it can be read at any place: the last norm and the classifier are "
        f"put behind an earlier layer (the *logit lens*). What is read here is {READOUT_TEXTS[pool]}.",
        tempting=(
            ((0, 0), "Exactly 0 % is never given: e to any power is more than 0."),
            ((99, 100), "Then the layers above would have nothing left to say."),
            ((0.45 * shares[-1], 0.55 * shares[-1]), "Layers do not share it out evenly."),
        ),
        picture=Lines(
            tuple(range(len(shares))), (Series(label, shares, QUERY, shown=1, dots=True),),
            0, 100, "layers that it has passed", at=(0, middle), title=f"Probability of “{label}”", unit=" %",
        ),
    )  # fmt: skip


def logit_lens(subject: Subject, settings: Settings) -> Iterator[Part]:
    """The logit lens, layer after layer."""
    yield Wait(f"Asking {subject.model} what each layer would answer …")
    answer = find_answer(subject)
    label = answer.labels[answer.label]
    yield picture_row(subject, answer, "{model} has no classifier to read with: here is {other}.")
    answers = answer.subject.cached(("read", answer.label), lambda: measured_lens(answer))
    percentages = [100 * p for p in answers.pooled]
    yield Ask(
        read_question(answer.subject.model, label, percentages, answer.config.pool),
        f"{answer.subject.identity} {answer.label}",
    )
    majorities = [(shares > 0.5).float().mean().item() for shares in answers.patches]  # share of the patches, by layer
    best_layer = max(range(len(majorities)), key=majorities.__getitem__)
    peak_words = (
        f"; most do so {place_words(best_layer)}, {percent(majorities[best_layer])}"
        if majorities[best_layer] > majorities[-1]
        else ""
    )
    yield After(
        "block_read",
        Words(f"**By patch.** How likely *{label}* is if each patch alone is read; bright is 100 %."),
        maps(answer.subject.image, answers),
        Words(
            f"After the last layer {percent(majorities[-1])} of the patches give *{label}* more than 50 %{peak_words}. "
            "In training the classifier never read a patch alone."
        ),
    )


def measured_lens(answer: ModelAnswer) -> LogitLens:
    from playground.analysis import block

    with answer.subject.turns() as give_way:
        return block.read_stream(answer.trace, answer.label, give_way)


def maps(image: Image.Image, answers: LogitLens) -> Row:
    """Maps of the label's probability, read from each patch alone, after some of the layers. One colour scale for
    all."""
    layers = len(answers.patches)
    map_count = min(layers, MOST_MAPS)
    map_layers = sorted({round(n * (layers - 1) / (map_count - 1)) for n in range(map_count)})
    small_image = at_map_size(image)
    small_image.thumbnail((MAP_SIDE, MAP_SIDE))
    captions = ["no layer" if not layer else f"{layer} layer{'s' * (layer > 1)}" for layer in map_layers]
    jpegs = [lit_picture(small_image, answers.patches[layer], None, 1.0) for layer in map_layers]
    return Row(*(Picture(jpeg, caption) for jpeg, caption in zip(jpegs, captions, strict=True)))
