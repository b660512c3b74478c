"""The step “The answer” of the lesson on the rest of a layer: how the classifier makes the answer, and its loss."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
from PIL import Image

from playground import samples
from playground.lessons import parts as p
from playground.lessons.lesson import Settings, Subject, in_turn
from playground.lessons.pictures import at_map_size, lit_picture, two_bar_charts
from playground.lessons.questions import Lines, Mark, Number, Question, Series
from playground.numbers import percent
from playground.pictures.jpegs import as_jpeg

if TYPE_CHECKING:
    from torch import Tensor

    from playground.analysis.block import Example, LogitLens
    from playground.tracing import Trace
    from playground.vit import Config


STRIP_HEIGHT = 84  # pixels: the height of the picture above the question


@dataclass(frozen=True)
class ModelAnswer:
    subject: Subject  # the picture and the model
    trace: Trace
    label: int  # one of the true labels; if they are unknown, the likeliest label
    true_labels: tuple[int, ...]  # () if they are unknown
    wrong_count: int  # number of labels that the model answers wrongly

    @property
    def config(self) -> Config:
        return self.subject.vit.config

    @property
    def matrix(self) -> Tensor:
        """(classes, D): the classifier's."""
        head: Any = self.subject.vit.head
        return head.weight.detach().cpu()

    @property
    def labels(self) -> list[str]:
        c = self.config
        return list(c.labels or (f"class {number}" for number in range(c.classes)))


def find_answer(subject: Subject) -> ModelAnswer:
    """The chosen model's answer to the chosen picture. A model without a classifier is replaced by another model. Our
    own models know only drawings: a drawing replaces a picture that one of them does not answer rightly."""
    from playground.analysis.block import BEST_SAMPLES, true_labels

    asked = subject if subject.vit.config.classes else subject.with_naming_model()
    c, example = asked.vit.config, judged_example(asked)
    if asked.model_name in BEST_SAMPLES and (example is None or example.wrong_count):
        asked = asked.with_other(sample=BEST_SAMPLES[asked.model_name]) or asked
        example = judged_example(asked)
    trace = asked.trace()
    if example is None or (example.wrong_count and not c.multi_label):
        return ModelAnswer(asked, trace, int(trace.logits.argmax()), (), 0)  # type: ignore[union-attr]
    true_numbers = tuple(true_labels(c, samples.named(asked.name).labels))
    return ModelAnswer(asked, trace, example.label, true_numbers, example.wrong_count)


def judged_example(subject: Subject) -> Example | None:
    """Compares the model's answer with the picture's labels; None if no label of the model is known to be true."""
    from playground.analysis import block

    name = subject.sample_name

    if name is None:
        return None
    return in_turn(subject, "judged", lambda trace, turn: block.example_of(trace, samples.named(name).labels, turn))


def picture_row(subject: Subject, answer: ModelAnswer, no_head: str) -> p.Row:
    """The picture as a narrow strip, and sentences about it. `no_head`: the sentence for a model without a
    classifier."""
    model, sentences = answer.subject.model, []
    if answer.subject.model_name != subject.model_name:
        sentences.append(no_head.format(model=subject.model, other=model))
        model = "it"
    if answer.subject.sample_name != subject.sample_name:
        sentences.append(f"{model} learned from drawn scenes, so here is one.")
    sentences.append(truth_sentence(answer, model))
    image = at_map_size(answer.subject.image)
    strip_width = round(STRIP_HEIGHT * image.width / image.height)
    text = " ".join(sentence[0].upper() + sentence[1:] for sentence in sentences)
    return p.Row(p.Picture(as_jpeg(image), width=strip_width), p.Words(text), shares=(strip_width, 1200 - strip_width))


def truth_sentence(answer: ModelAnswer, model: str) -> str:
    if not answer.true_labels:
        return f"This is what {model} says of this picture. Whether it is right, only you can tell."
    labels, title = len(answer.labels), samples.named(answer.subject.name).title
    shown_labels = ", ".join(answer.labels[number] for number in answer.true_labels)
    truth_words = f"*{title}* shows, of the model’s {labels:,} labels: **{shown_labels}**."
    if not answer.config.multi_label:
        return f"{truth_words} The model shares 100 % out among all, and the likeliest is true."
    verdict = (
        f"{labels - answer.wrong_count} of its answers are right" if answer.wrong_count else "every answer is right"
    )
    return f"{truth_words} To each the model says yes, more than 50 %, or no; {verdict}."


MOST_ROWS = 13  # most rows of the table
UNLIKELY = 0.2  # a lower probability counts as unlikely
MODES = {"train": "model.train()", "eval": "model.eval()"}
# Config.pool -> words for the vector that the classifier reads
READOUT_TEXTS = {
    "token": "the class token",
    "avg": "the mean of the patches",
    "token+avg": "the class token and the mean of the patches, one behind the other",
    "map": "what a query of its own collects",
}


def answer(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    from playground.analysis import block

    yield p.Wait(f"Asking {subject.model} what it answers …")
    result = find_answer(subject)
    config, logits, labels = result.config, result.trace.logits, result.labels
    assert logits is not None
    yield picture_row(
        subject, result, "{model} was trained without labels, so it has no head that names classes: here is {other}."
    )
    shares = config.shares(logits)
    likeliest, *other_labels = shares.argsort(descending=True).tolist()
    false_labels = [number for number in other_labels if number not in result.true_labels] or other_labels
    unlikely = next((number for number in false_labels if shares[number] < UNLIKELY), false_labels[-1])
    named_shares = [(labels[number], float(shares[number])) for number in (unlikely, likeliest)]
    yield p.Ask(loss_question(*named_shares[0], *named_shares[1], config.multi_label), result.subject.identity)
    yield p.Words(
        f"After the last layer one vector is read out, here {READOUT_TEXTS[config.pool]}, and a matrix turns it into "
        "one number a class: the **logits**."
    )
    yield p.Pick(
        "supposed",
        "A **label**: suppose that the picture shows it"
        if config.multi_label
        else "The picture’s **label**: what somebody says it shows",
        {setting_of_label(number, result): f"{number}: {label}" for number, label in enumerate(labels)},
    )
    label = int(settings.supposed) if settings.supposed and int(settings.supposed) < len(labels) else result.label
    yield label_table(result, label)
    if config.multi_label:
        yield p.Words(loss_words(result, label))
    share, gradient = block.one_of_all(logits, label)
    loss = -float(logits.log_softmax(-1)[label])
    bars = ("p: softmax over the classes", share.tolist(), p.QUERY), ("p − y: the gradient", gradient.tolist(), p.QUIET)
    yield p.Chart(two_bar_charts(*bars), "softmax-and-gradient", 240)
    yield p.Words(
        f"{'If exactly **one** class is right, a' if config.multi_label else 'A'} softmax of the logits shares 100 % "
        f"out, and *{labels[label]}* gets {percent(float(share[label]), 1)}: the **cross-entropy** is −log p = "
        f"**{loss:.2f}**. Its gradient by the logits is p − y, with y one-hot: a step against it raises the right "
        "logit alone."
    )
    yield p.Fold(
        "More: the label as a vector, one-hot",
        p.Chart(one_hot(result, label), "one-hot", 240),
        p.Words(look_up_words(result, label)),
    )
    yield p.Fold("More: the head for pre-training", *pretraining(result, settings.top))
    modes = p.Choice("mode", "Two passes with", MODES)
    yield p.Fold(
        "More: two passes in training mode", modes, p.Words(two_passes_words(result, settings.mode == "train"))
    )
    costliest = int(logits.argmin())
    yield p.Exercise(
        "Choose the class that would cost most. How do its logit and its loss go together?",
        f"{costliest}: {labels[costliest]}, with the smallest logit of all, {number_text(logits[costliest])}. A "
        "smaller logit is a smaller probability, and −log of a smaller probability is a larger loss.",
        hint="It has the smallest logit. Choose another label, and watch the loss.",
        id="block_dear",
        done=p.When({"supposed": [setting_of_label(costliest, result)]}),
        answers=(
            ("a smaller logit, a larger loss", ""),
            ("a smaller logit, a smaller loss", "−log p grows as p falls."),
        ),
    )
    yield p.think(
        "A program calls `model.eval()` before it shows a picture. Why?",
        "While training, dropout sets random numbers to 0: two passes differ. `eval()` switches that off, and the "
        "statistics of the batch; gradients are switched off by `torch.no_grad()`.",
    )


def setting_of_label(label: int, answer: ModelAnswer) -> str:
    return "" if label == answer.label else str(label)


def number_text(number: float | Tensor, digits: int = 2) -> str:
    return f"{float(number):.{digits}f}".replace("-", "−")


def loss_question(label: str, share: float, likeliest: str, likeliest_share: float, is_multi_label: bool) -> Question:
    """The question: how large would the loss be if an unlikely label were right? It is asked on the curve of −log p.
    `is_multi_label`: whether each label has a sigmoid of its own. The truth is computed from the rounded numbers on the
    page, so that a reader gets the same result."""
    share, top_share = max(round(share, 3), 0.001), max(round(likeliest_share, 3), 0.001)
    points = np.unique(np.concatenate([np.linspace(1, 0.0005, 200), [share]]))[::-1]
    shown_count, words = int((points > 0.55).sum()), percent(share, 1)
    if is_multi_label:
        rest, loss_no = round(1 - share, 3), -math.log(1 - share)
        asks = f"This model gives *{label}* a probability of {words}. If the picture showed that, it would cost ▢."
        explanation = (
            "**Binary cross-entropy** asks of each label by itself: −log p, with the natural logarithm, if the picture "
            f"shows it, −log (1 − p) if not: −log {share:.3f} = {-math.log(share):.2f} or −log {rest:.3f} = "
            f"{loss_no:.2f}."
        )
        prose = (
            "Logits say how much speaks for each class. Several may be true, so a **sigmoid** makes a probability of "
            "each by itself. The loss is the price of the probability that the *truth* got: nothing for 100 %."
        )
    else:
        asks = f"A softmax gives *{label}* a share of {words}. If that was right, the loss would be ▢."
        explanation = (
            f"**Cross-entropy** is −log p of the right class, with the natural logarithm: −log {share:.3f} = "
            f"{-math.log(share):.2f}. For *{likeliest}*, {percent(top_share, 1)}, it would be "
            f"{abs(math.log(top_share)):.2f}."
        )
        prose = (
            "Logits say how much speaks for each class. A softmax makes shares of them. The loss is the price of the "
            "share that the *right* class got: nothing for 100 %."
        )
    return Question(
        "block_loss", asks, Number(0, 8, step=0.05), -math.log(share),
        f"{explanation} Half the {'probability' if is_multi_label else 'share'} costs {math.log(2):.2f} more, whatever "
        "it was.",
        prose=prose,
        tempting=(
            ((max(0, 1 - share - 0.15), 1 - share + 0.15), "That is 1 − p, what is missing to 1. It can never cost "
             "more than 1; −log p grows without end."),
            ((0, 0.03), "Only 100 % costs nothing."),
            ((7.5, 8), f"So much costs a probability of {percent(math.exp(-7.5))}."),
        ),
        picture=Lines(
            tuple(points.tolist()), (Series("−log p", tuple((-np.log(points)).tolist()), p.QUERY, shown=shown_count),),
            0, 8, "p, the probability of what is true" if is_multi_label else "p, the share of the right class",
            at=(0, int(np.abs(points - share).argmin())), title="Loss",
            x_ticks=(1, 0.8, 0.6, 0.4, 0.2, 0), marks=(Mark(share, label),),
        ),
    )  # fmt: skip


def label_table(answer: ModelAnswer, label: int) -> p.Table:
    """The likeliest labels and the chosen one; for a multi-label model with known true labels also each label's
    loss."""
    from playground.analysis import block

    config, logits = answer.config, answer.trace.logits
    assert logits is not None
    shares, costs = config.shares(logits), block.costs(logits, answer.true_labels)  # (classes,) each
    likely_labels = logits.argsort(descending=True)[:MOST_ROWS].tolist()
    shown_labels = likely_labels if label in likely_labels else [*likely_labels[:-1], label]
    columns = 5 if config.multi_label and answer.true_labels else 3
    rows = []
    for i in shown_labels:
        mark = "**" if i == label else ""
        row = [f"{mark}{i}: {answer.labels[i]}{mark}", number_text(logits[i]), percent(float(shares[i]), 1)]
        rows.append([*row, "yes" if i in answer.true_labels else "no", number_text(costs[i])][:columns])
    kind = "sigmoid: several may be true" if config.multi_label else "softmax: they sum to 1"
    return p.Table(["class", "logit", f"probability ({kind})", "in the picture", "costs"][:columns], rows)


def loss_words(answer: ModelAnswer, label: int) -> str:
    from playground.analysis import block

    config, logits, name = answer.config, answer.trace.logits, answer.labels[label]
    assert logits is not None
    cross_entropy = block.cross_entropy(config, logits, label)
    cost_if_absent = float(block.costs(logits, ())[label])
    mean_cost = float(block.costs(logits, answer.true_labels).mean())
    mean_text = f": **{mean_cost:.3f}** on this picture" if answer.true_labels else ""
    return (
        f"If the picture shows *{name}*, this answer costs −log of its probability, **{cross_entropy:.2f}**; if not, "
        f"−log(1 − its probability), **{cost_if_absent:.2f}**. The loss is the **binary cross-entropy**, the mean of "
        f"what all {len(answer.labels)} answers cost{mean_text}. A sure and right answer costs nearly nothing, a sure "
        "and wrong one much."
    )


def look_up_words(answer: ModelAnswer, label: int) -> str:
    from playground.analysis import block

    matrix = answer.matrix  # (classes, D)
    start_words = ", ".join(number_text(number, 3) for number in block.look_up(matrix, label)[:4])
    rows, columns = matrix.shape
    return (
        f"The label itself is the number {label}. As a vector it is **one-hot**: 1 at place {label}, 0 elsewhere. "
        f"One-hot times a matrix is nothing but a *look-up* of one row: of the head’s {rows} × {columns} matrix it "
        f"gives row {label}, which begins with {start_words}. A patch’s position is such a row, too: the one of its "
        "place."
    )


def one_hot(answer: ModelAnswer, label: int) -> go.Figure:
    """The label as a one-hot vector, and the row of the classifier's matrix that this vector selects."""
    matrix = answer.matrix  # (classes, D)
    vector = [float(number == label) for number in range(len(matrix))]
    row = (matrix.new_tensor(vector) @ matrix).tolist()
    return two_bar_charts(("one-hot", vector, p.QUERY), (f"× W: row {label}", row, p.VALUE))


HEAD_KINDS = {"fine": "as in fine-tuning: one matrix", "pre": "as in pre-training: a hidden layer first"}


def pretraining(answer: ModelAnswer, top: str) -> Iterator[p.Part]:
    from playground.analysis import block
    from playground.lessons import experiments

    width, classes = answer.config.width, len(answer.labels)
    hidden_count, matrix_count = block.pretraining_head(width, classes)
    yield p.Choice("top", "The head", HEAD_KINDS)
    shapes = experiments.readout_shapes(top, width, classes)
    yield p.Table(("", "shape"), [(name, " × ".join(f"{n:,}" for n in shape)) for name, shape in shapes])
    yield p.Words(
        "**The pre-training head.** For pre-training the paper put a hidden layer with tanh before the matrix: here "
        f"{hidden_count:,} parameters instead of {matrix_count:,}. For fine-tuning both are thrown away, and a new "
        f"matrix begins at 0. This model has only the matrix."
    )


def two_passes_words(answer: ModelAnswer, is_training: bool) -> str:
    from playground.analysis import block

    first_logits, second_logits = block.two_passes(answer.trace, is_training)
    is_same = first_logits == second_logits
    reason = "Nothing is dropped: they are equal." if is_same else "Dropout sets other numbers to 0 each time."
    return (
        f"The likeliest class’s logit, with a dropout of {percent(block.DROP_SHARE)} after the last layer: "
        f"**{number_text(first_logits, 3)}**, and once more **{number_text(second_logits, 3)}**. {reason}"
    )


MOST_MAPS = 8  # each map shows one layer
MAP_SIDE = 180  # pixels, the longer side of a map


def place_words(layers: int) -> str:
    return "before the first layer" if not layers else f"after {layers} layer{'s' * (layers > 1)}"


SAME_FIRST_TEXT = "The first is the same for every picture: the class token has heard nothing yet. "


def percent_text(x: float) -> str:
    """A percentage as text, with one decimal near 0, 50 and 100: else 50.4 would read 50 and be called above one
    half."""
    near_a_mark = any(abs(x - n) < 0.5 for n in (0, 50, 100))
    return f"{x:.1f}" if near_a_mark else f"{x:.0f}"


def above_half(probabilities: Sequence[float]) -> str:
    """A sentence that says after which layer the probability stays above one half. Compares the numbers as the page
    rounds them."""
    is_above = [round(x, 1) > 50 for x in probabilities]
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


def logit_lens(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    from playground.analysis import block

    yield p.Wait(f"Asking {subject.model} what each layer would answer …")
    answer = find_answer(subject)
    label = answer.labels[answer.label]
    yield picture_row(subject, answer, "{model} has no classifier to read with: here is {other}.")
    answers = in_turn(
        answer.subject, ("read", answer.label), lambda trace, turn: block.read_stream(trace, answer.label, turn)
    )
    shares = tuple(100 * share for share in answers.pooled)
    layers = len(shares) - 1
    middle = layers // 2
    yield p.Ask(Question(
        "block_read",
        f"In the end {answer.subject.model} gives *{label}* {percent_text(shares[-1])} %. Read {place_words(middle)} "
        f"of {layers}, it is ▢.",
        Number(0, 100, " %"), shares[middle],
        "Before the first layer and after each, in per cent: " + ", ".join(map(percent_text, shares)) + ". "
        + above_half(shares) + (SAME_FIRST_TEXT if answer.config.pool == "token" else "")
        + "Norm and classifier were trained for what the *last* layer gives. Before that they may misread: the "
        "number says when the answer stands in the stream **in the form in which they look for it**.",
        prose="All layers write into one stream, so it can be read at any place: the last norm and the classifier are "
        f"put behind an earlier layer (the *logit lens*). What is read here is {READOUT_TEXTS[answer.config.pool]}.",
        tempting=(
            ((0, 0), "Exactly 0 % is never given: e to any power is more than 0."),
            ((99, 100), "Then the layers above would have nothing left to say."),
            ((0.45 * shares[-1], 0.55 * shares[-1]), "Layers do not share it out evenly."),
        ),
        picture=Lines(
            tuple(range(len(shares))), (Series(label, shares, p.QUERY, shown=1, dots=True),),
            0, 100, "layers that it has passed", at=(0, middle), title=f"Probability of “{label}”", unit=" %",
        ),
    ), f"{answer.subject.identity} {answer.label}")  # fmt: skip
    majorities = [(shares > 0.5).float().mean().item() for shares in answers.patches]  # share of the patches, by layer
    best_layer, peak_words = max(range(len(majorities)), key=majorities.__getitem__), ""
    if majorities[best_layer] > majorities[-1]:
        peak_words = f"; most do so {place_words(best_layer)}, {percent(majorities[best_layer])}"
    yield p.After(
        "block_read",
        p.Words(f"**By patch.** How likely *{label}* is if each patch alone is read; bright is 100 %."),
        maps(answer.subject.image, answers),
        p.Words(
            f"After the last layer {percent(majorities[-1])} of the patches give *{label}* more than 50 %{peak_words}. "
            "In training the classifier never read a patch alone."
        ),
    )


def maps(image: Image.Image, answers: LogitLens) -> p.Row:
    """Maps of the label's probability, read from each patch alone, after some of the layers. One colour scale for
    all."""
    layers = len(answers.patches)
    map_count = min(layers, MOST_MAPS)
    map_layers = sorted({round(n * (layers - 1) / (map_count - 1)) for n in range(map_count)})
    small_image = at_map_size(image)
    small_image.thumbnail((MAP_SIDE, MAP_SIDE))
    captions = ["no layer" if not layer else f"{layer} layer{'s' * (layer > 1)}" for layer in map_layers]
    jpegs = [lit_picture(small_image, answers.patches[layer], None, 1.0) for layer in map_layers]
    return p.Row(*(p.Picture(jpeg, caption) for jpeg, caption in zip(jpegs, captions, strict=True)))
