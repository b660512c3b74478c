"""What the page Scale says, and the first it asks. Its numbers are measured in analysis/scale.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playground.lessons.questions import Bars, Lines, Number, Question, Series
from playground.lessons.texts import Exercise, Step, Text


@dataclass(frozen=True)
class Measured:
    """Of many random rows: at d_k = 64, with the scale (on) and without (off), and at the largest d_k (last)."""

    peak_on: float  # the median row's largest weight
    peak_off: float
    on: float  # the median gradient
    off: float
    on_low: float  # of one row in ten
    off_low: float
    on_last: float
    off_last: float
    less: int  # the first d_k at which the median gradient is lower without the scale


IDEA = (
    "A score q·k is a sum of d_k products. The more there are, the further apart scores lie, and the softmax gives "
    "*nearly everything to one key*. Divided by √d_k, scores of independent numbers (mean 0, variance 1) have a "
    "standard deviation of 1."
)
TITLES = {
    "row": "1 · One random row",
    "rows": "2 · Many rows",
    "model": "3 · A real model",
    "answer": "4 · What it then predicts",
}


def text(numbers: Measured) -> Text:
    return Text(
        "scale",
        IDEA,
        {
            "row": Step(
                TITLES["row"],
                "scale_spread",
                settings=("dk", "power", "row"),
                exercises=(
                    Exercise(
                        "Make one key take more than 99 % of the weight.",
                        "Many numbers in a vector, and no scale: then the scores lie so far apart that the largest "
                        "is far ahead. e to a difference of 5 is already 148.",
                        hint="Both dials: more numbers, less scale.",
                        id="scale_one_key",
                    ),
                    Exercise(
                        "Leave the scale at 1/√d_k and turn d_k from 4 to 1024. Then once more with no scale. What "
                        "is different?",
                        "With 1/√d_k the scores keep a standard deviation of about 1, and the row keeps its shape: "
                        "a few keys ahead. Without it, the same turn leads to one single key. At d_k = 64, as in "
                        f"most ViTs, the median row's largest weight is {numbers.peak_off:.0%}; with the scale it is "
                        f"{numbers.peak_on:.0%}.",
                    ),
                ),
            ),
            "rows": Step(
                TITLES["rows"],
                "scale_gradient",
                settings=("dk", "power", "row"),
                exercises=(
                    Exercise(
                        "Turn the scale off, and d_k to the first width at which the median gradient is lower "
                        "without the scale.",
                        f"d_k = {numbers.less}. Below it, the median row without the scale lets more through: the "
                        "scale itself makes every gradient smaller. Above it, most rows without the scale have one "
                        "winner, and let next to nothing through.",
                        hint="In the fourth chart, where do the two lines cross?",
                        id="scale_lower",
                    ),
                    Exercise(
                        "At d_k = 64 the median row lets *more* gradient through without the scale. Why is the scale "
                        "there?",
                        f"It is so: {numbers.off:.3f} without the scale, {numbers.on:.3f} with it, mostly because "
                        "the scale itself multiplies the gradient by 1/8. But look at the lower edge of the band: "
                        f"one row in ten lets less than {numbers.off_low:.3f} through without the scale, and "
                        f"{numbers.on_low:.3f} with it. Such a row, in which one key has won by chance, learns "
                        f"slowly. With more numbers it gets worse: from d_k = {numbers.less} on the median is lower "
                        f"too, and at 1024 it is {numbers.off_last:.4f} against {numbers.on_last:.4f}.",
                    ),
                ),
            ),
            "model": Step(TITLES["model"], "scale_trained", settings=("off", "instead")),
            "answer": Step(TITLES["answer"], "scale_answer", settings=("instead",)),
        },
    )


def spread(scaled: Sequence[float], plain: Sequence[float], median: float, many: int) -> Question:
    """One row's weights in per cent, with the scale and without; `median`: the largest without it, of many rows."""
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
        ),
        picture=Bars(
            tuple(str(n) for n in range(64)), tuple(scaled), 100, later=tuple(plain),
            title="64 weights of one row, scaled", x="keys", unit=" %",
        ),
    )  # fmt: skip


def gradient(widths: Sequence[int], on: Sequence[float], off: Sequence[float], many: int) -> Question:
    """The median gradients at each width, with the scale and without."""
    at = widths.index(64)
    less = next(width for width, a, b in zip(widths, off, on, strict=True) if a < b)
    return Question(
        "scale_gradient",
        f"With 1/√d_k the gradient that comes through falls slowly. **Without** it, at d_k = {widths[-1]:,}, it is ▢.",
        Number(0.0001, 1, step=0.0001, log=True), off[-1],
        f"The two lines cross: at d_k = 64 the median row lets *more* through without the scale, {off[at]:.3f} "
        f"against {on[at]:.3f}, for the scale itself multiplies the gradient. From d_k = {less} on it is less: one "
        "key has won by chance, and such a row learns next to nothing.",
        prose=f"One row may be an accident: here are {many:,} random rows at every d_k, their median. What comes "
        "through is the norm of ∂weights/∂(q·k): what goes back through softmax and scale to queries and keys.",
        tempting=(
            ((0.003, 0.01), "That is what it is *with* the scale."),
            ((0.1, 1), "For few numbers it is so. With many, the softmax gives all to one key, and then it hardly "
             "reacts to anything."),
        ),
        picture=Lines(
            tuple(widths),
            (
                Series("1/√d_k", tuple(on), "#B63679"),
                Series("no scale", tuple(off), "#E8963A", shown=4),
            ),
            0.0001, 1, "d_k", at=(1, len(widths) - 1), title="Gradient let through to q·k, median row", log_x=True,
            log_y=True, x_ticks=(4, 16, 64, 256, 1024),
        ),
    )  # fmt: skip
