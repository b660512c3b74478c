"""What the lesson on the scale asks. Its numbers are measured in analysis/scale.py."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playground.lessons.colours import CHANGED, QUIET, WEIGHTS
from playground.lessons.questions import Bars, Lines, Number, Photo, Question, Series


def spread(scaled: Sequence[float], plain: Sequence[float], median: float, many: int) -> Question:
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
        ),
        picture=Bars(
            tuple(str(n) for n in range(64)), tuple(scaled), 100, later=tuple(plain),
            title="64 weights of one row (grey: scores ÷ √64)", x="keys", unit=" %",
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
        f"The two lines cross: at d_k = 64 the median row lets *more* through without the scale, {off[at]:.2f} "
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
                Series("1/√d_k", tuple(on), WEIGHTS),
                Series("no scale", tuple(off), CHANGED, shown=4),
            ),
            0.0001, 1, "d_k", at=(1, len(widths) - 1), title="Gradient let through to q·k, median row", log_x=True,
            log_y=True, x_ticks=(4, 16, 64, 256, 1024),
        ),
    )  # fmt: skip


def trained(model: str, d: int, apart: np.ndarray, random: bool, drawn: str) -> Question:
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
        "The rule “standard deviation 1” is about independent numbers. Training makes queries and keys that depend on "
        f"each other: here the scaled scores have standard deviations from **{low} to {high}** (the largest in layer "
        f"{layer}, head {head}). Training can enlarge the scores of a head; the scale only sets the size that they "
        "start from.") + (drawn and f" {drawn}"),
        prose=f"Divided by √{d}, scores of *independent* numbers have a standard deviation of 1 (dashed). And those of "
        f"{model} on your picture?",
        tempting=() if random else (
            ((0.9, 1.1), "So it would be with independent queries and keys, as the rule has it."),
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


def other_scale(model: str, d: int, instead: str) -> str:
    how = "without a scale" if instead.startswith("1,") else f"with {instead} instead of 1/√{d}"
    return f"Every layer of {model} runs {how}, and nothing is trained anew."


def verdict(labels: Sequence[str], on: Sequence[float], off: float, d: int, prose: str) -> Question:
    """The likeliest classes in per cent, and what is left of the first with the other scale."""
    return Question(
        "scale_answer", f"*{labels[0]}* has {on[0]:.1f} % with its own scale. With the other one it has ▢.",
        Number(0, 100, " %"), off,
        "The softmax of each layer is sharper or more even than the next layers were trained for. How much of the "
        "answer is left depends on the picture; there is no rule.",
        prose=prose,
        tempting=(((on[0] - 1, on[0] + 1), "In layer 0 the order of weights stays, but not their size: what each token "
                   "receives is another mixture."),),
        picture=Bars(
            tuple(labels), tuple(on), 100, across=True, unit=" %", at=0,
            title=f"Likeliest classes with 1/√{d}",
        ),
    )  # fmt: skip


def features(cosine: float, prose: str, shown: Photo) -> Question:
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
