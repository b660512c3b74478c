"""The lesson on the scale: one random row under two dials, many rows, and the same in a real model."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import numpy as np

from playground.analysis import scale as softmax
from playground.analysis.scale import MANY, ROWS, WIDTHS, Curve
from playground.lessons import scale_charts as charts
from playground.lessons.lesson import OWN, Lesson, Setting, Settings, Step, Subject
from playground.lessons.parts import (
    CHANGED,
    QUIET,
    WEIGHTS,
    After,
    Ask,
    Chart,
    Choice,
    Code,
    Drawing,
    Exercise,
    Fold,
    Moves,
    Part,
    Reported,
    Row,
    Wait,
    When,
    Words,
    think,
)
from playground.lessons.questions import Bars, Lines, Number, Photo, Question, Series
from playground.numbers import percent

POWERS = tuple(step / 20 for step in range(20, -1, -1))  # from 1/d_k to no scale, as on the microscope's dial
EACH, WHOLE = "each layer alone", "the whole pass"
INSTEAD = {0.0: "1, no scale", -0.5: "√d_k", -1.0: "d_k"}  # 1/d_k^power of a real model
START_WIDTHS, STARTS = (192, 384, 768, 1024), (0.01, 0.02, 0.05, 0.1)
UNEVEN = 0.5  # of all tokens: who hears fewer is far from even
SOME_ROWS = 24  # that the folder without a server has


# One row --------------------------------------------------------------------------------------------------------------


def spread_question(scaled: Sequence[float], plain: Sequence[float], median: float, many: int) -> Question:
    """One row’s weights in per cent, with the scale and without; `median`: the largest without it, of many rows."""
    return Question(
        "scale_spread",
        "One random query among 64 random keys, vectors of 64 numbers, scores ÷ √64. **Without the division**, the "
        "largest weight is ▢.",
        Number(0, 100, " %"), max(plain),
        f"Undivided, the same scores lie 8 times as far apart. In the median of {many:,} random rows the largest "
        f"weight is {median:.0f} %; an even row would have {100 / 64:.1f} %.",
        tempting=(
            ((max(scaled) - 2, max(scaled) + 3), "That is where it is now. The softmax is not blind to "
             "a common factor, only to a common summand."),
            ((0, 1.5), "The row sums to 100 %: the largest of 64 weights is at least 1.6 %."),
            ((99.5, 100), "All of it would need scores that are infinitely far apart."),
        ),
        picture=Bars(
            tuple(str(n) for n in range(64)), tuple(scaled), 100, later=tuple(plain),
            title="64 weights of one row (grey: scores ÷ √64)", x="keys", unit=" %",
        ),
    )  # fmt: skip


def row(subject: Subject, chosen: Settings) -> Iterator[Part]:
    at = WIDTHS.index(64)
    peaks = softmax.peak(softmax.softmax(softmax.experiment()[:, at]))  # (rows,) without the scale
    scores = softmax.experiment()[int(np.argsort(peaks)[ROWS // 2]), at]  # of a row in the middle
    scaled, plain = (100 * softmax.softmax(scores * softmax.scale_of(64, power)) for power in (0.5, 0.0))
    numbers = measured()
    yield Ask(spread_question(scaled.tolist(), plain.tolist(), 100 * numbers["peak_off"], MANY))
    yield After(
        "scale_spread",
        Words("**One random query among 64 random keys.** Turn the dials."),
        dials(chosen),
        Exercise(
            "Make one key take more than 99 % of the weight.",
            "Many numbers in a vector, and no scale. Then scores lie far apart, and the largest is far ahead. A score "
            "that is only 5 higher already gets e⁵ = 148 times the weight.",
            hint="Both dials: more numbers, less scale.",
            id="scale_one_key",
            done=Reported("softmaxbars", "one_key"),
            tempting=[
                (When({"dk": WIDTHS[-1:], "power": [power for power in POWERS if power >= 0.5]}),
                 "More numbers alone do not do it: 1/√d_k takes away just what they bring."),
                (When({"power": [0.0]}),
                 "Without the scale, but with so few numbers scores do not lie far enough apart."),
            ],
        ),
        think(
            "Leave the scale at 1/√d_k and turn d_k from 4 to 1024. Then once more with no scale. What is different?",
            "With 1/√d_k the scores keep a standard deviation of about 1, and the row keeps its shape: a few keys "
            "ahead. Without it, the same turn leads to one single key. At d_k = 64, as in most ViTs, the median row’s "
            f"largest weight is {percent(numbers['peak_off'])}; with the scale it is {percent(numbers['peak_on'])}.",
        ),
    )  # fmt: skip


def dials(chosen: Settings) -> Drawing:
    scores = softmax.experiment()[chosen.row].round(4).tolist()  # (widths, keys)
    return Drawing(
        "softmaxbars", {"widths": WIDTHS, "powers": POWERS, "rows": ROWS, "scores": scores}, ("dk", "power", "row")
    )


@cache
def curve(quantity: str, power: float) -> Curve:
    return softmax.curve(quantity, power)


@cache
def measured() -> Mapping[str, float]:
    """Of many random rows: at d_k = 64, with the scale (on) and without (off), the median row's largest weight and
    gradient, and the gradient of one row in ten (low); at the largest d_k (last); and the first d_k at which the median
    gradient is lower without the scale (less)."""
    at = WIDTHS.index(64)
    (off_peak, on_peak), (off, on) = ([curve(what, power) for power in (0.0, 0.5)] for what in ("peak", "gradient"))
    return {
        "peak_on": on_peak.median[at], "peak_off": off_peak.median[at], "on": on.median[at], "off": off.median[at],
        "on_low": on.low[at], "off_low": off.low[at], "on_last": on.median[-1], "off_last": off.median[-1],
        "less": next(width for width, a, b in zip(WIDTHS, off.median, on.median, strict=True) if a < b),
    }  # fmt: skip


# Many rows ------------------------------------------------------------------------------------------------------------


def gradient_question(widths: Sequence[int], on: Sequence[float], off: Sequence[float], many: int) -> Question:
    """The median gradients at each width, with the scale and without."""
    at = widths.index(64)
    less = next(width for width, a, b in zip(widths, off, on, strict=True) if a < b)
    return Question(
        "scale_gradient",
        f"With 1/√d_k the gradient that comes through falls slowly. **Without** it, at d_k = {widths[-1]:,}, it is ▢.",
        Number(0.0001, 1, step=0.0001, log=True), off[-1],
        f"The lines cross: at d_k = 64 the median row lets *more* through without the scale, {off[at]:.2f} against "
        f"{on[at]:.3f}. From d_k = {less} on it is less: one key has won by chance.",
        prose=f"One row may be an accident: the median of {many:,} random rows. What comes through is the norm of "
        "∂weights/∂(q·k): what goes back through softmax and scale to queries and keys.",
        tempting=(
            ((0.003, 0.01), "That is what it is *with* the scale."),
            ((0.1, 1), "For few numbers it is so. With many, the softmax gives all to one key, and then it hardly "
             "reacts to anything."),
        ),
        picture=Lines(
            tuple(widths),
            (
                Series("1/√d_k", tuple(on), WEIGHTS),
                Series("no scale", tuple(off), CHANGED, shown=4),
            ),
            0.0001, 1, "d_k", at=(1, len(widths) - 1), title="Gradient let through to q·k, median row", log_x=True,
            log_y=True, x_ticks=(4, 16, 64, 256, 1024),
        ),
    )  # fmt: skip


def rows(subject: Subject, chosen: Settings) -> Iterator[Part]:
    on, off = (curve("gradient", power).median.tolist() for power in (0.5, 0.0))
    yield Ask(gradient_question(WIDTHS, on, off, MANY))
    numbers = measured()
    less = int(numbers["less"])
    yield After(
        "scale_gradient",
        Words(
            "The line is the median, in the band lie eight of ten rows, and the diamond is the row whose bars you see."
        ),
        dials(chosen),
        Row(*(
            Chart(
                charts.curves(quantity, *(curve(quantity, power) for power in (0.0, 0.5)), chosen),
                f"curve_{quantity}", 260, Moves(-1, "row_of_bars", {"quantity": quantity}),
            )
            for quantity in charts.QUANTITIES
        )),
        Fold(
            "More: theory, and what is drawn",
            Words(
                "Dotted, in the first chart: the theory, √d_k × scale. For the others both ends are known. 64 even "
                "weights: 6 bits, 1/64, a gradient of 0.12 × scale. One key that takes all: 0 bits, 1, no gradient. "
                "*Gradient* is the Frobenius norm of ∂weights/∂(q·k). It is taken with respect to q·k, not to the "
                "scaled score, so that both lines are of the same quantity."
            ),
        ),
        Exercise(
            "Turn the scale off, and d_k to the first width at which the median gradient is lower without the scale.",
            f"d_k = {less}. Below it the scale itself makes every gradient smaller. Above it most rows without the "
            "scale have one winner, and let next to nothing through.",
            hint="In the fourth chart, where do the two lines cross?",
            id="scale_lower",
            done=When({"power": [0.0], "dk": [less]}),
            tempting=[
                (When({"power": [0.0], "dk": [width for width in WIDTHS if width > less]}),
                 "Here it is lower. But it is so at a smaller d_k already."),
                (When({"power": [0.0], "dk": [width for width in WIDTHS if width < less]}),
                 "Here the median row still lets more through without the scale."),
            ],
        ),
        think(
            "At d_k = 64 the median row lets *more* gradient through without the scale. Why is the scale there?",
            f"The median is {numbers['off']:.2f} without the scale, {numbers['on']:.3f} with it, for the scale itself "
            "multiplies the gradient by 1/8. But one row in ten, in which one key has won by chance, lets less than "
            f"{numbers['off_low']:.3f} through without it, {numbers['on_low']:.3f} with it: it learns slowly. From d_k "
            f"= {less} on the median is lower too; at 1024 it is {numbers['off_last']:.4f} against "
            f"{numbers['on_last']:.4f}.",
        ),
    )  # fmt: skip


# A real model ---------------------------------------------------------------------------------------------------------


def trained_question(model: str, d: int, apart: np.ndarray, random: bool, drawn: str) -> Question:
    """`apart`: (layers, heads), the deviation of each head's scaled scores, the mean over its patches' rows; `random`:
    whether nothing was learned; `drawn`: a sentence where the rows are those of some patches."""
    widest, layers, low, high = apart.max(axis=1), len(apart), f"{apart.min():.2g}", f"{apart.max():.2g}"
    layer, head = np.unravel_index(apart.argmax(), apart.shape)
    most = 1.25 * float(widest.max())
    return Question(
        "scale_trained",
        f"In layer 0 the scaled scores of the widest head have a standard deviation of {widest[0]:.2g}. In the last "
        "layer it is ▢.",
        Number(0, round(most, 1), step=0.1), float(widest[-1]),
        ("Nothing is trained here. The first parameters are so small that queries and keys are short: the scaled "
        f"scores have standard deviations from {low} to {high}, so every row is nearly even. Without 1/√{d} they lie "
        f"{d**0.5:.1f} times as far apart: whether rows then stay nearly even depends on the model’s width."
        if random else
        "The rule “standard deviation 1” is about independent numbers. Here scaled scores have standard deviations "
        f"from **{low} to {high}** (the largest in layer {layer}, head {head}): training can enlarge them; the scale "
        "only sets where they start.") + (drawn and f" {drawn}"),
        prose=f"Divided by √{d}, scores of *independent* numbers have a standard deviation of 1 (dashed). And those of "
        f"{model} on this picture?",
        tempting=() if random else (
            ((0.9, 1.1), "So it would be with independent queries and keys, as the rule has it."),
            ((0, 0.1), "Scores that do not differ make even rows: this head would hear all tokens alike."),
            ((most / 1.1, round(most, 1)), "No head of this model is so wide on this picture."),
        ),
        picture=Lines(
            tuple(range(layers)),
            (
                Series("independent numbers", (1.0,) * layers, QUIET, dash=True),
                Series("widest head of the layer", tuple(widest.tolist()), WEIGHTS, shown=1, dots=True),
            ),
            0, most, "layer", at=(1, layers - 1), title="Standard deviation of the scaled scores of a row",
        ),
    )  # fmt: skip


def model(subject: Subject, chosen: Settings) -> Iterator[Part]:
    """What its rows become when the scale is changed: each head by its numbers."""
    from playground.analysis import heads

    yield Wait("Running the network with the scale and without …")
    on = subject.trace()
    d, other = key_width(on), softmax.scale_of(key_width(on), chosen.instead)
    scaled = sharpness(subject, on, on.native_scale)
    question = trained_question(subject.model, d, scaled[2], on.vit.random_weights, heads.words(on))  # type: ignore[union-attr]
    yield Ask(question, subject.about)
    yield Wait("Running the network with the scale and without …")
    without = sharpness(subject, on if chosen.off == EACH else subject.trace(other), other)
    yield After(
        "scale_trained",
        Words(f"This picture in **{subject.model}**, d_k = {d}: a dot is a head, the mean over its patches’ rows."),
        Fold(
            "More: each layer alone, or the whole pass",
            Words(
                f"**Each layer alone** keeps the queries and keys of the pass with 1/√{d} and changes the scale where "
                "they meet. In **the whole pass** every layer uses the other scale, and later layers get what earlier "
                "ones made of it."
            ),
        ),
        Row(Choice("off", "Change the scale in", {EACH: EACH, WHOLE: WHOLE}), choice_of_scale(d)),
        Row(*charts.heads(scaled, without, d, instead(chosen, d), on.tokens)),
        *before_training(chosen),
    )


def key_width(seen) -> int:
    return round(seen.native_scale**-2)


def sharpness(subject: Subject, seen, scale: float) -> tuple[np.ndarray, ...]:
    """(entropy, largest weight, deviation of the scaled scores), each (layers, heads)."""

    def count() -> tuple[np.ndarray, ...]:
        with subject.turns() as give_way:
            return softmax.sharpness(seen, scale, give_way)

    return subject.kept(("sharpness", seen.scale, scale), count)


def instead(chosen: Settings, d: int) -> str:
    return INSTEAD[chosen.instead].replace("d_k", str(d))


def choice_of_scale(d: int) -> Choice:
    return Choice(
        "instead", f"Instead of 1/√{d}", {power: words.replace("d_k", str(d)) for power, words in INSTEAD.items()}
    )


def before_training(chosen: Settings) -> Iterator[Part]:
    """How even a row is whose parameters are random."""
    from playground.lessons import experiments

    weights = experiments.even_at_the_start(width=chosen.width, start=chosen.start)
    largest, even, broad = experiments.evenness(weights)
    wide = experiments.evenness(experiments.even_at_the_start(start=0.1))[2]
    yield Words("**Before training.** How even is a row whose parameters are random? Change how they begin.")
    yield Code(inspect.getsource(experiments.even_at_the_start))
    yield Row(
        Choice("width", "width", {width: str(width) for width in START_WIDTHS}),
        Choice("start", "start", {deviation: str(deviation) for deviation in STARTS}),
    )
    yield Words(
        f"`even_at_the_start(width={chosen.width}, start={chosen.start})`: the largest weight of a row is "
        f"**{percent(largest)}** on average, an even row’s is {percent(even)}; a row spreads over **{broad:.0f} of "
        f"{len(weights)} tokens** (2 to the power of its entropy)."
    )
    begins = (chosen.width, chosen.start) == (SETTINGS["width"].default, SETTINGS["start"].default)
    yield Exercise(
        "Find a start from which a row is not nearly even.",
        "A query’s number is a sum of width products with numbers of deviation *start*: its own is √width · start, "
        "0.55 for 768 and 0.02. A key’s is the same, and a scaled score’s is width · start², 0.31: such scores differ "
        f"little. With a start of 0.1 it is 7.7, and a row spreads over {wide:.1f} tokens.",
        hint="The deviation of a scaled score is width · start². Which start makes it large?",
        id="scale_start",
        done=broad < UNEVEN * len(weights),
        tempting=[(not begins, "Still nearly even. A larger start, or a larger width?")],
    )


def features_question(cosine: float, prose: str, shown: Photo) -> Question:
    """For a model without classes: how far each patch's feature turns when the scale changes."""
    return Question(
        "scale_answer",
        "This model names no classes; its answer is its features, one vector a patch. With the other scale, their mean "
        "cosine with what they were is ▢.",
        Number(-1, 1, step=0.01), cosine,
        "1 would be the same direction, 0 a right angle. Bright: patches whose feature turned most.",
        prose=prose,
        tempting=(((0.97, 1), "In layer 0 the order of weights stays, but not their size: what each token receives is "
                   "another mixture, layer upon layer."),),
        picture=shown,
    )  # fmt: skip


def verdict_question(labels: Sequence[str], on: Sequence[float], off: float, d: int, prose: str) -> Question:
    """The likeliest classes in per cent, and what is left of the first with the other scale."""
    return Question(
        "scale_answer", f"*{labels[0]}* has {on[0]:.1f} % with its own scale. With the other one it has ▢.",
        Number(0, 100, " %"), off,
        "The softmax of each layer is sharper or more even than the next layers were trained for. How much of the "
        "answer is left depends on the picture; there is no rule.",
        prose=prose,
        tempting=(
            ((on[0] - 1, on[0] + 1), "In layer 0 the order of weights stays, but not their size: what each token "
             "receives is another mixture."),
            ((0, 0.5), "Every mixture is still one of this picture’s values: much of what they say stays."),
        ),
        picture=Bars(
            tuple(labels), tuple(on), 100, across=True, unit=" %", at=0,
            title=f"Likeliest classes with 1/√{d}",
        ),
    )  # fmt: skip


def other_scale(model: str, d: int, instead: str) -> str:
    how = "without a scale" if instead.startswith("1,") else f"with {instead} instead of 1/√{d}"
    return f"Every layer of {model} runs {how}, and nothing is trained anew."


# What it then predicts ------------------------------------------------------------------------------------------------


def answer(subject: Subject, chosen: Settings) -> Iterator[Part]:
    yield Wait("Running the network with the scale and without …")
    on = subject.trace()
    d = key_width(on)
    off = subject.trace(softmax.scale_of(d, chosen.instead))
    about, prose = f"{subject.about} {chosen.instead}", other_scale(subject.model, d, instead(chosen, d))
    verdicts = softmax.verdicts(on, off)
    if not verdicts:
        cosine, shown = turned(subject, on, off, chosen)
        yield Ask(features_question(cosine, prose, shown), about)
        yield choice_of_scale(d)
        return
    labels, shares = [one.label for one in verdicts], [100 * one.on for one in verdicts]
    yield Ask(verdict_question(labels, shares, 100 * verdicts[0].off, d, prose), about)
    changed = ", ".join(f"*{v.label}* from {percent(v.on)} to {percent(v.off)}" for v in softmax.changed(on, off)[:3])
    yield After(
        "scale_answer",
        choice_of_scale(d),
        charts.verdicts(verdicts, d, instead(chosen, d)),
        Words(f"Most changed, of all classes: {changed}."),
    )


def turned(subject: Subject, on, off, chosen: Settings) -> tuple[float, Photo]:
    """How alike a patch's feature is to what it was, on average, and where they are not."""
    import torch

    def work():
        with subject.turns():
            before, after = (seen.features()[len(seen.prefix) :] for seen in (on, off))
        return torch.cosine_similarity(before, after, dim=-1)  # (patches,)

    alike = subject.kept(("turned by a scale", chosen.instead), work)
    heat = tuple((1 - alike).clamp(min=0).tolist())
    return float(alike.mean()), Photo(subject.photo(), on.grid, on.grid[1] / on.grid[0], heat=heat)


SETTINGS = {
    "dk": Setting.of(64, WIDTHS),
    "power": Setting.of(0.5, POWERS),
    "row": Setting.of(0, range(ROWS)),
    "off": Setting.of(EACH, (EACH, WHOLE)),
    "instead": Setting.of(0.0, INSTEAD),
    "width": Setting.of(768, START_WIDTHS),
    "start": Setting.of(0.02, STARTS),
}
ROW = {
    "settings": ("dk", "power", "row"), "ahead": ({"row": range(SOME_ROWS)},),
    "beyond": f"Here are {SOME_ROWS} random rows; the app has {ROWS}.",
}  # fmt: skip
LESSON = Lesson(
    "scale",
    "A score q·k is a sum of d_k products. The more there are, the further apart scores lie, and the softmax gives "
    "*nearly everything to one key*. Divided by √d_k, scores of independent numbers (mean 0, variance 1) have a "
    "standard deviation of 1.",
    SETTINGS,
    {
        "row": Step("1 · One random row", row, "scale_spread", ("scale_one_key",), **ROW, own=None),
        "rows": Step("2 · Many rows", rows, "scale_gradient", ("scale_lower",), **ROW, own=None),
        "model": Step(
            "3 · A real model", model, "scale_trained", ("scale_start",), ("off", "instead", "width", "start"),
            ahead=({"off": None, "instead": None}, {"width": None, "start": None}), beyond=OWN,
        ),
        "answer": Step(
            "4 · What it then predicts", answer, "scale_answer", settings=("instead",), ahead=({"instead": None},),
            beyond=OWN,
        ),
    },
)  # fmt: skip
