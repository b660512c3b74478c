"""The lesson on the scale 1/√d_k: one random row with two dials, many random rows, and a real model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import numpy as np
import plotly.graph_objects as go

from playground.analysis import scale as softmax
from playground.analysis.scale import CURVE_ROW_COUNT, ROW_COUNT, WIDTHS, Curve
from playground.lessons.lesson import Lesson, Setting, Settings, Step, Subject
from playground.lessons.parts import (
    CHANGED,
    WEIGHTS,
    After,
    Ask,
    Chart,
    Drawing,
    Exercise,
    Fold,
    Part,
    Reported,
    Row,
    Wait,
    When,
    Words,
    think,
)
from playground.lessons.questions import Bars, Lines, Number, Question, Series
from playground.lessons.scale_model import (
    EACH_LAYER,
    OTHER_SCALES,
    START_DEVIATION,
    START_DEVIATIONS,
    START_WIDTH,
    START_WIDTHS,
    WHOLE_PASS,
    answer,
    model,
)
from playground.numbers import percent

POWERS = tuple(step / 20 for step in range(20, -1, -1))  # p of the scale 1/d_k^p, as on the microscope's dial
SOME_ROWS = 24  # number of random rows to choose from in the folder without a server


# One row --------------------------------------------------------------------------------------------------------------


def spread_question(
    scaled_weights: Sequence[float], plain_weights: Sequence[float], median: float, row_count: int
) -> Question:
    """The question about one row. `scaled_weights`, `plain_weights`: the row's weights in per cent, with the scale and
    without. `median`: the median of the largest weight over many rows without the scale."""
    return Question(
        "scale_spread",
        "One random query among 64 random keys, vectors of 64 numbers, scores ÷ √64. **Without the division**, the "
        "largest weight is ▢.",
        Number(0, 100, " %"), max(plain_weights),
        f"Undivided, the same scores lie 8 times as far apart. In the median of {row_count:,} random rows the largest "
        f"weight is {median:.0f} %; an even row would have {100 / 64:.1f} %.",
        tempting=(
            ((max(scaled_weights) - 2, max(scaled_weights) + 3), "That is where it is now. The softmax is not blind to "
             "a common factor, only to a common summand."),
            ((0, 1.5), "The row sums to 100 %: the largest of 64 weights is at least 1.6 %."),
            ((99.5, 100), "All of it would need scores that are infinitely far apart."),
        ),
        picture=Bars(
            tuple(str(n) for n in range(64)), tuple(scaled_weights), 100, later=tuple(plain_weights),
            title="64 weights of one row (grey: scores ÷ √64)", x="keys", unit=" %",
        ),
    )  # fmt: skip


def row(subject: Subject, settings: Settings) -> Iterator[Part]:
    index = WIDTHS.index(64)
    peaks = softmax.peak(softmax.softmax(softmax.experiment()[:, index]))  # (rows,) without the scale
    scores = softmax.experiment()[int(np.argsort(peaks)[ROW_COUNT // 2]), index]  # of the row with the median peak
    scaled_weights, plain_weights = (
        100 * softmax.softmax(scores * softmax.scale_of(64, power)) for power in (0.5, 0.0)
    )
    median = 100 * softmax.curve("peak", 0.0).median[index]
    yield Ask(spread_question(scaled_weights.tolist(), plain_weights.tolist(), median, CURVE_ROW_COUNT))
    yield Wait("Counting many random rows …")
    numbers = row_numbers()
    yield After(
        "scale_spread",
        Words("**One random query among 64 random keys.** Turn the dials."),
        dials(settings),
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


def dials(settings: Settings) -> Drawing:
    scores = softmax.experiment()[settings.row].round(4).tolist()  # (widths, keys)
    return Drawing(
        "softmaxbars", {"widths": WIDTHS, "powers": POWERS, "rows": ROW_COUNT, "scores": scores}, ("dk", "power", "row")
    )


@cache
def row_numbers() -> Mapping[str, float]:
    """Numbers of many random rows with the scale ("on") and without it ("off"). At d_k = 64, "peak_on" and "peak_off"
    are the medians of the largest weight, "on" and "off" the median gradients; nine of ten rows have a larger gradient
    than "on_low" or "off_low". "on_last" and "off_last" are the median gradients at the largest d_k. "less" is the
    smallest d_k at which the median gradient is lower without the scale."""
    index = WIDTHS.index(64)
    (off_peaks, on_peaks), (off_curve, on_curve) = (
        [softmax.curve(quantity, power) for power in (0.0, 0.5)] for quantity in ("peak", "gradient")
    )
    return {
        "peak_on": on_peaks.median[index], "peak_off": off_peaks.median[index],
        "on": on_curve.median[index], "off": off_curve.median[index],
        "on_low": on_curve.low[index], "off_low": off_curve.low[index],
        "on_last": on_curve.median[-1], "off_last": off_curve.median[-1],
        "less": next(width for width, a, b in zip(WIDTHS, off_curve.median, on_curve.median, strict=True) if a < b),
    }  # fmt: skip


# Many rows ------------------------------------------------------------------------------------------------------------


def gradient_question(
    widths: Sequence[int], scaled_gradients: Sequence[float], unscaled_gradients: Sequence[float], row_count: int
) -> Question:
    """`scaled_gradients`, `unscaled_gradients`: the median gradient at each width, with the scale and without."""
    index = widths.index(64)
    first_width = next(width for width, a, b in zip(widths, unscaled_gradients, scaled_gradients, strict=True) if a < b)
    return Question(
        "scale_gradient",
        f"With 1/√d_k the gradient that comes through falls slowly. **Without** it, at d_k = {widths[-1]:,}, it is ▢.",
        Number(0.0001, 1, step=0.0001, log=True), unscaled_gradients[-1],
        "The lines cross: at d_k = 64 the median row lets *more* through without the scale, "
        f"{unscaled_gradients[index]:.2f} against {scaled_gradients[index]:.3f}. From d_k = {first_width} on it is "
        "less: one key has won by chance.",
        prose=f"One row may be an accident: the median of {row_count:,} random rows. What comes through is the norm of "
        "∂weights/∂(q·k): what goes back through softmax and scale to queries and keys.",
        tempting=(
            ((0.003, 0.01), "That is what it is *with* the scale."),
            ((0.1, 1), "For few numbers it is so. With many, the softmax gives all to one key, and then it hardly "
             "reacts to anything."),
        ),
        picture=Lines(
            tuple(widths),
            (
                Series("1/√d_k", tuple(scaled_gradients), WEIGHTS),
                Series("no scale", tuple(unscaled_gradients), CHANGED, shown=4),
            ),
            0.0001, 1, "d_k", at=(1, len(widths) - 1), title="Gradient let through to q·k, median row", log_x=True,
            log_y=True, x_ticks=(4, 16, 64, 256, 1024),
        ),
    )  # fmt: skip


def rows(subject: Subject, settings: Settings) -> Iterator[Part]:
    scaled_gradients, unscaled_gradients = (softmax.curve("gradient", power).median.tolist() for power in (0.5, 0.0))
    yield Ask(gradient_question(WIDTHS, scaled_gradients, unscaled_gradients, CURVE_ROW_COUNT))
    numbers = row_numbers()
    first_width = int(numbers["less"])
    yield After(
        "scale_gradient",
        Words("The line is the median; in the band lie eight of ten rows."),
        dials(settings),
        Row(*(
            Chart(
                curves(quantity, *(softmax.curve(quantity, power) for power in (0.0, 0.5))), f"curve_{quantity}", 260,
            )
            for quantity in QUANTITIES
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
            f"d_k = {first_width}. Below it the scale itself makes every gradient smaller. Above it most rows without "
            "the scale have one winner, and let next to nothing through.",
            hint="In the fourth chart, where do the two lines cross?",
            id="scale_lower",
            done=When({"power": [0.0], "dk": [first_width]}),
            tempting=[
                (When({"power": [0.0], "dk": [width for width in WIDTHS if width > first_width]}),
                 "Here it is lower. But it is so at a smaller d_k already."),
                (When({"power": [0.0], "dk": [width for width in WIDTHS if width < first_width]}),
                 "Here the median row still lets more through without the scale."),
            ],
        ),
        think(
            "At d_k = 64 the median row lets *more* gradient through without the scale. Why is the scale there?",
            f"The median is {numbers['off']:.2f} without the scale, {numbers['on']:.3f} with it, for the scale itself "
            "multiplies the gradient by 1/8. But one row in ten, in which one key has won by chance, lets less than "
            f"{numbers['off_low']:.3f} through without it, {numbers['on_low']:.3f} with it: it learns slowly. From d_k "
            f"= {first_width} on the median is lower too; at 1024 it is {numbers['off_last']:.4f} against "
            f"{numbers['on_last']:.4f}.",
        ),
    )  # fmt: skip


QUANTITIES = {  # name -> (title, words for a value)
    "deviation": ("How far apart scores lie", "scores lie {:.2f} apart"),
    "entropy": ("Entropy of the row, bits", "the row has an entropy of {:.2f} bits"),
    "peak": ("Largest of 64 weights", "the largest weight is {:.3f}"),
    "gradient": ("Gradient let through to q·k", "the derivative by q·k has a norm of {:.2g}"),
}


def curves(quantity: str, unscaled_curve: Curve, scaled_curve: Curve) -> go.Figure:
    """The quantity by d_k, with and without the scale."""
    title, words = QUANTITIES[quantity]
    figure = go.Figure()
    for curve, name, colour in ((unscaled_curve, "no scale", CHANGED), (scaled_curve, "1/√d<sub>k</sub>", WEIGHTS)):
        _band(figure, curve, colour, name, words, quantity == "deviation")
    if quantity == "deviation":
        for power in (0.0, 0.5):
            line_style = {"color": "gray", "dash": "dot", "width": 2.5}
            figure.add_scatter(
                x=WIDTHS, y=softmax.expected_deviation(power), mode="lines", line=line_style, hoverinfo="skip"
            )
    figure.update_layout(title={"text": title, "font": {"size": 14}}, showlegend=False)
    ticks = [4, 16, 64, 256, 1024]
    figure.update_xaxes(
        type="log", tickvals=ticks, ticktext=[str(t) for t in ticks], title="d<sub>k</sub>", title_standoff=4
    )
    figure.update_yaxes(**_axis(quantity))
    return figure


def _axis(quantity: str) -> dict:
    if quantity == "deviation":
        return {"type": "log", "tickvals": [0.5, 1, 2, 4, 8, 16, 32], "range": [np.log10(0.4), np.log10(42)]}
    if quantity == "gradient":
        ticks = [0.0001, 0.001, 0.01, 0.1, 1]
        return {"type": "log", "tickvals": ticks, "ticktext": [f"{t:g}" for t in ticks], "range": [-4.4, 0.05]}
    return {"range": [-0.2, 6.2] if quantity == "entropy" else [-0.03, 1.03]}


def _band(figure: go.Figure, curve: Curve, colour: str, name: str, words: str, in_legend: bool) -> None:
    low_ends, high_ends = np.maximum(curve.low, 1e-9), curve.high
    fill = f"rgba({','.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))},0.22)"
    invisible_style = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    figure.add_scatter(x=WIDTHS, y=high_ends, **invisible_style)
    figure.add_scatter(x=WIDTHS, y=low_ends, fill="tonexty", fillcolor=fill, **invisible_style)
    number_format = words[words.index("{") : words.index("}") + 1]
    texts = [
        f"d<sub>k</sub> = {d}, {name}: {words.format(m)}<br>in the median; for eight of ten rows from "
        f"{number_format.format(a)} to {number_format.format(b)}"
        for d, m, a, b in zip(WIDTHS, curve.median, curve.low, curve.high, strict=True)
    ]
    figure.add_scatter(
        x=WIDTHS, y=np.maximum(curve.median, 1e-9), mode="lines", line={"color": colour, "width": 3},
        text=texts, hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip
    if in_legend:
        figure.add_annotation(
            x=np.log10(160), y=np.log10(curve.median[WIDTHS.index(192)] * 1.9), text=name, showarrow=False,
            font={"color": colour, "size": 14}, xanchor="right",
        )  # fmt: skip


SETTINGS = {
    "dk": Setting.of(64, WIDTHS),
    "power": Setting.of(0.5, POWERS),
    "row": Setting.of(0, range(ROW_COUNT), range(SOME_ROWS)),
    "off": Setting.in_python(EACH_LAYER, (EACH_LAYER, WHOLE_PASS)),
    "instead": Setting.in_python(0.0, OTHER_SCALES),
    "width": Setting.in_python(START_WIDTH, START_WIDTHS),
    "start": Setting.in_python(START_DEVIATION, START_DEVIATIONS),
}
ROW_SETTINGS = ("dk", "power", "row")
LESSON = Lesson(
    "scale",
    "A score q·k is a sum of d_k products. The more there are, the further apart scores lie, and the softmax gives "
    "*nearly everything to one key*. Divided by √d_k, scores of independent numbers (mean 0, variance 1) have a "
    "standard deviation of 1.",
    SETTINGS,
    {
        "row": Step("1 · One random row", row, "scale_spread", ("scale_one_key",), ROW_SETTINGS, picture=False),
        "rows": Step("2 · Many rows", rows, "scale_gradient", ("scale_lower",), ROW_SETTINGS, picture=False),
        "model": Step(
            "3 · A real model", model, "scale_trained", ("scale_start",), ("off", "instead", "width", "start"),
        ),
        "answer": Step(
            "4 · What it then predicts", answer, "scale_answer", settings=("instead",),
        ),
    },
)  # fmt: skip
