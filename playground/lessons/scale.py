"""The lesson on the scale 1/√d_k: one random row with two dials, many random rows, and a real model."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from playground.analysis import scale as softmax
from playground.analysis.scale import CURVE_ROW_COUNT, ROW_COUNT, WIDTHS, Curve, Verdict
from playground.lessons import parts as p
from playground.lessons.lesson import Lesson, Setting, Settings, Step, Subject, in_turn
from playground.lessons.questions import Bars, Lines, Made, Number, Photo, Question, Series, made, made_words
from playground.numbers import percent

if TYPE_CHECKING:
    from torch import Tensor

    from playground.tracing import Trace

POWERS = tuple(step / 20 for step in range(20, -1, -1))  # p of the scale 1/d_k^p, as on the microscope's dial
TICKS = (4, 16, 64, 256, 1024)  # at the axes of d_k
SOME_ROWS = 24  # number of random rows to choose from in the folder without a server


def row(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    index = WIDTHS.index(64)
    peaks = softmax.peak(softmax.softmax(softmax.experiment()[:, index]))  # (rows,) without the scale
    scores = softmax.experiment()[int(np.argsort(peaks)[ROW_COUNT // 2]), index]  # of the row with the median peak
    scaled, plain = (
        tuple((100 * softmax.softmax(scores * softmax.scale_of(64, power))).tolist()) for power in (0.5, 0.0)
    )
    median = 100 * softmax.curve("peak", 0.0).median[index]
    yield p.Ask(Question(
        "scale_spread",
        "One random query among 64 random keys, vectors of 64 numbers, scores ÷ √64. **Without the division**, the "
        "largest weight is ▢.",
        Number(0, 100, " %"), max(plain),
        f"Undivided, the same scores lie 8 times as far apart. In the median of {CURVE_ROW_COUNT:,} random rows the "
        f"largest weight is {median:.0f} %; an even row would have {100 / 64:.1f} %.",
        tempting=(
            ((max(scaled) - 2, max(scaled) + 3), "That is where it is now. The softmax is not blind to a common "
             "factor, only to a common summand."),
            ((0, 1.5), "The row sums to 100 %: the largest of 64 weights is at least 1.6 %."),
            ((99.5, 100), "All of it would need scores that are infinitely far apart."),
        ),
        picture=Bars(
            tuple(str(n) for n in range(64)), scaled, 100, later=plain, x="keys", unit=" %",
            title="64 weights of one row (grey: scores ÷ √64)",
        ),
    ))  # fmt: skip
    yield p.Wait("Counting many random rows …")
    numbers = row_numbers()
    yield p.After(
        "scale_spread",
        p.Words("**One random query among 64 random keys.** Turn the dials."),
        dials(settings),
        p.Exercise(
            "Make one key take more than 99 % of the weight.",
            "Many numbers in a vector, and no scale. Then scores lie far apart, and the largest is far ahead. A score "
            "that is only 5 higher already gets e⁵ = 148 times the weight.",
            hint="Both dials: more numbers, less scale.",
            id="scale_one_key",
            done=p.Reported("softmaxbars", "one_key"),
            tempting=[
                (p.When({"dk": WIDTHS[-1:], "power": [power for power in POWERS if power >= 0.5]}),
                 "More numbers alone do not do it: 1/√d_k takes away just what they bring."),
                (p.When({"power": [0.0]}),
                 "Without the scale, but with so few numbers scores do not lie far enough apart."),
            ],
        ),
        p.think(
            "Leave the scale at 1/√d_k and turn d_k from 4 to 1024. Then once more with no scale. What is different?",
            "With 1/√d_k the scores keep a standard deviation of about 1, and the row keeps its shape: a few keys "
            "ahead. Without it, the same turn leads to one single key. At d_k = 64, as in most ViTs, the median row’s "
            f"largest weight is {percent(numbers['peak_off'])}; with the scale it is {percent(numbers['peak_on'])}.",
        ),
    )  # fmt: skip


def dials(settings: Settings) -> p.Drawing:
    scores = softmax.experiment()[settings.row].round(4).tolist()  # (widths, keys)
    return p.Drawing(
        "softmaxbars", {"widths": WIDTHS, "powers": POWERS, "rows": ROW_COUNT, "scores": scores}, ("dk", "power", "row")
    )


@cache
def row_numbers() -> Mapping[str, float]:
    """Numbers of many random rows with the scale ("on") and without it ("off"), most at d_k = 64: the median largest
    weight ("peak"), the median gradient and the one that nine of ten rows exceed ("low"); the median gradient at the
    largest d_k ("last"); the smallest d_k at which the median gradient is lower without the scale ("less")."""
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


def rows(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    scaled, unscaled = (tuple(softmax.curve("gradient", power).median.tolist()) for power in (0.5, 0.0))
    numbers = row_numbers()
    first_width = int(numbers["less"])
    yield p.Ask(Question(
        "scale_gradient",
        f"With 1/√d_k the gradient that comes through falls slowly. **Without** it, at d_k = {WIDTHS[-1]:,}, it is ▢.",
        Number(0.0001, 1, step=0.0001, log=True), unscaled[-1],
        "The lines cross: at d_k = 64 the median row lets *more* through without the scale, "
        f"{numbers['off']:.2f} against {numbers['on']:.3f}. From d_k = {first_width} on it is less: one key has won by "
        "chance.",
        prose=f"One row may be an accident: the median of {CURVE_ROW_COUNT:,} random rows. What comes through is the "
        "norm of ∂weights/∂(q·k): what goes back through softmax and scale to queries and keys.",
        tempting=(
            ((0.003, 0.01), "That is what it is *with* the scale."),
            ((0.1, 1), "For few numbers it is so. With many, the softmax gives all to one key, and then it hardly "
             "reacts to anything."),
        ),
        picture=Lines(
            WIDTHS, (Series("1/√d_k", scaled, p.WEIGHTS), Series("no scale", unscaled, p.CHANGED, shown=4)),
            0.0001, 1, "d_k", at=(1, len(WIDTHS) - 1), title="Gradient let through to q·k, median row", log_x=True,
            log_y=True, x_ticks=TICKS,
        ),
    ))  # fmt: skip
    yield p.After(
        "scale_gradient",
        p.Words("The line is the median; in the band lie eight of ten rows."),
        dials(settings),
        p.Row(*(
            p.Chart(
                curves(quantity, *(softmax.curve(quantity, power) for power in (0.0, 0.5))), f"curve_{quantity}", 260,
            )
            for quantity in QUANTITIES
        )),
        p.Fold(
            "More: theory, and what is drawn",
            p.Words(
                "Dotted, in the first chart: the theory, √d_k × scale. For the others both ends are known. 64 even "
                "weights: 6 bits, 1/64, a gradient of 0.12 × scale. One key that takes all: 0 bits, 1, no gradient. "
                "*Gradient* is the Frobenius norm of ∂weights/∂(q·k). It is taken with respect to q·k, not to the "
                "scaled score, so that both lines are of the same quantity."
            ),
        ),
        p.Exercise(
            "Turn the scale off, and d_k to the first width at which the median gradient is lower without the scale.",
            f"d_k = {first_width}. Below it the scale itself makes every gradient smaller. Above it most rows without "
            "the scale have one winner, and let next to nothing through.",
            hint="In the fourth chart, where do the two lines cross?",
            id="scale_lower",
            done=p.When({"power": [0.0], "dk": [first_width]}),
            tempting=[
                (p.When({"power": [0.0], "dk": [width for width in WIDTHS if width > first_width]}),
                 "Here it is lower. But it is so at a smaller d_k already."),
                (p.When({"power": [0.0], "dk": [width for width in WIDTHS if width < first_width]}),
                 "Here the median row still lets more through without the scale."),
            ],
        ),
        p.think(
            "At d_k = 64 the median row lets *more* gradient through without the scale. Why is the scale there?",
            f"The median is {numbers['off']:.2f} without the scale, {numbers['on']:.3f} with it, for the scale itself "
            "multiplies the gradient by 1/8. But one row in ten, in which one key has won by chance, lets less than "
            f"{numbers['off_low']:.3f} through without it, {numbers['on_low']:.3f} with it: it learns slowly. From d_k "
            f"= {first_width} on the median is lower too; at 1024 it is {numbers['off_last']:.4f} against "
            f"{numbers['on_last']:.4f}.",
        ),
    )  # fmt: skip


GRADIENT_TICKS = [0.0001, 0.001, 0.01, 0.1, 1]
GRADIENT_AXIS = {"type": "log", "tickvals": GRADIENT_TICKS, "ticktext": [f"{t:g}" for t in GRADIENT_TICKS]}
DEVIATION_AXIS = {"type": "log", "tickvals": [0.5, 1, 2, 4, 8, 16, 32]}
QUANTITIES: dict[str, tuple[str, str, dict[str, Any]]] = {  # name -> (title, words for a value, the axis)
    "deviation": (
        "How far apart scores lie",
        "scores lie {:.2f} apart",
        DEVIATION_AXIS | {"range": [np.log10(0.4), np.log10(42)]},
    ),
    "entropy": ("Entropy of the row, bits", "the row has an entropy of {:.2f} bits", {"range": [-0.2, 6.2]}),
    "peak": ("Largest of 64 weights", "the largest weight is {:.3f}", {"range": [-0.03, 1.03]}),
    "gradient": (
        "Gradient let through to q·k",
        "the derivative by q·k has a norm of {:.2g}",
        GRADIENT_AXIS | {"range": [-4.4, 0.05]},
    ),
}


def curves(quantity: str, unscaled_curve: Curve, scaled_curve: Curve) -> go.Figure:
    title, words, axis = QUANTITIES[quantity]
    figure = go.Figure()
    for curve, name, colour in ((unscaled_curve, "no scale", p.CHANGED), (scaled_curve, "1/√d<sub>k</sub>", p.WEIGHTS)):
        _band(figure, curve, colour, name, words, quantity == "deviation")
    if quantity == "deviation":
        for power in (0.0, 0.5):
            line_style = {"color": "gray", "dash": "dot", "width": 2.5}
            figure.add_scatter(
                x=WIDTHS, y=softmax.expected_deviation(power), mode="lines", line=line_style, hoverinfo="skip"
            )
    figure.update_layout(title={"text": title, "font": {"size": 14}}, showlegend=False)
    ticks = [str(width) for width in TICKS]
    figure.update_xaxes(type="log", tickvals=TICKS, ticktext=ticks, title="d<sub>k</sub>", title_standoff=4)
    return figure.update_yaxes(**axis)


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


EACH_LAYER, WHOLE_PASS = "each layer alone", "the whole pass"
OTHER_SCALES = {0.0: "1, no scale", -0.5: "√d_k", -1.0: "d_k"}  # power -> 1/d_k^power in words
START_WIDTHS, START_DEVIATIONS = (192, 384, 768, 1024), (0.01, 0.02, 0.05, 0.1)
START_WIDTH, START_DEVIATION = 768, 0.02  # defaults of the settings `width` and `start`
UNEVEN_SHARE = 0.5  # a row counts as uneven if it spreads over less than this share of all tokens
LEGEND_BELOW = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0.5, "xanchor": "center"}
LINE_COLOUR = "rgba(128,128,128,0.35)"


WIDEST_TEXT = (
    "In layer 0 the scaled scores of the widest head have a standard deviation of {first:.2f}. In the last layer it is "
    "▢."
)
SPREADS_TEXT = (
    "The rule “standard deviation 1” is about independent numbers. Here scaled scores have standard deviations from "
    "**{least:.2f} to {most:.2f}** (the largest in layer {layer}, head {head}): training can enlarge them; the scale "
    "only sets where they start."
)
UNTRAINED_TEXT = (
    "Nothing is trained here. The first parameters are so small that queries and keys are short: the scaled scores "
    "have standard deviations from {least:.2f} to {most:.2f}, so every row is nearly even. Without 1/√d_k they lie "
    "{times} times as far apart: whether rows then stay nearly even depends on the model’s width."
)


def about_spreads(text: str) -> Made:
    values = {name: made("spread_of_scores", what=name) for name in ("first", "least", "most", "layer", "head")}
    values["note"] = made("sampling_note")
    return made_words(text, **{name: value for name, value in values.items() if f"{{{name}" in text})


def model(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    """How each head's entropy, largest weight and spread of scores change with the scale."""
    config = subject.vit.config
    d = config.width // config.heads
    other, is_whole_pass = instead(settings.instead, d), settings.off == WHOLE_PASS
    scale = softmax.scale_of(d, settings.instead)
    lines = Lines(
        tuple(range(config.depth)),
        (
            Series("independent numbers", (1.0,) * config.depth, p.QUIET, dash=True),
            Series("widest head of the layer", (), p.WEIGHTS, shown=1, dots=True),
        ),
        0, 1, "layer", at=(1, config.depth - 1), title="Standard deviation of the scaled scores of a row",
    )  # fmt: skip
    is_random = subject.vit.random_weights
    answer = UNTRAINED_TEXT.replace("{times}", f"{d**0.5:.1f}") if is_random else SPREADS_TEXT
    yield p.Ask(Question(
        "scale_trained", about_spreads(WIDEST_TEXT), Number(0, made("widest_end"), step=0.1),
        made("spread_of_scores", what="last"), about_spreads(answer + "{note}"),
        prose=f"Divided by √{d}, scores of *independent* numbers have a standard deviation of 1 (dashed). And those of "
        f"{subject.model} on this picture?",
        tempting=() if is_random else (
            ((0.9, 1.1), "So it would be with independent queries and keys, as the rule has it."),
            ((0, 0.1), "Scores that do not differ make even rows: this head would hear all tokens alike."),
            ((made("widest_end", times=1 / 1.1), made("widest_end")), "No head of this model is so wide on this "
             "picture."),
        ),
        picture=made("widest", lines=lines),
    ))  # fmt: skip
    yield p.After(
        "scale_trained",
        p.Words(f"This picture in **{subject.model}**, d_k = {d}: a dot is a head, the mean over its patches’ rows."),
        p.Fold(
            "More: each layer alone, or the whole pass",
            p.Words(
                f"**Each layer alone** keeps the queries and keys of the pass with 1/√{d} and changes the scale where "
                "they meet. In **the whole pass** every layer uses the other scale, and later layers get what earlier "
                "ones made of it."
            ),
        ),
        p.Row(
            p.Choice("off", "Change the scale in", {EACH_LAYER: EACH_LAYER, WHOLE_PASS: WHOLE_PASS}), choice_of_scale(d)
        ),
        p.Row(*head_charts(config.depth, config.heads, d, other, scale, is_whole_pass)),
        *before_training(settings),
    )


def choice_of_scale(d: int) -> p.Choice:
    return p.Choice("instead", f"Instead of 1/√{d}", {power: instead(power, d) for power in OTHER_SCALES})


def instead(power: float, d: int) -> str:
    return OTHER_SCALES[power].replace("d_k", str(d))


def before_training(settings: Settings) -> Iterator[p.Part]:
    from playground.lessons import experiments

    weights = experiments.even_at_the_start(width=settings.width, start=settings.start)
    largest_weight, even_weight, breadth = experiments.evenness(weights)
    wide_breadth = experiments.evenness(experiments.even_at_the_start(start=0.1))[2]
    yield p.Words("**Before training.** How even is a row whose parameters are random? Change how they begin.")
    yield p.Code(inspect.getsource(experiments.even_at_the_start))
    yield p.Row(
        p.Choice("width", "width", {width: str(width) for width in START_WIDTHS}),
        p.Choice("start", "start", {deviation: str(deviation) for deviation in START_DEVIATIONS}),
    )
    yield p.Words(
        f"`even_at_the_start(width={settings.width}, start={settings.start})`: the largest weight of a row is "
        f"**{percent(largest_weight)}** on average, an even row’s is {percent(even_weight)}; a row spreads over "
        f"**{breadth:.0f} of {len(weights)} tokens** (2 to the power of its entropy)."
    )
    is_default = (settings.width, settings.start) == (START_WIDTH, START_DEVIATION)
    yield p.Exercise(
        "Find a start from which a row is not nearly even.",
        "A query’s number is a sum of width products with numbers of deviation *start*: its own is √width · start, "
        "0.55 for 768 and 0.02. A key’s is the same, and a scaled score’s is width · start², 0.31: such scores differ "
        f"little. With a start of 0.1 it is 7.7, and a row spreads over {wide_breadth:.1f} tokens.",
        hint="The deviation of a scaled score is width · start². Which start makes it large?",
        id="scale_start",
        done=breadth < UNEVEN_SHARE * len(weights),
        tempting=[(not is_default, "Still nearly even. A larger start, or a larger width?")],
    )


def answer(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    yield p.Wait("Running the network with the scale and without …")
    scaled_trace = subject.trace()
    d = round(scaled_trace.native_scale**-2)
    other = instead(settings.instead, d)
    unscaled_trace = subject.trace(softmax.scale_of(d, settings.instead))
    context = f"{subject.identity} {settings.instead}"
    condition = f"with {other} instead of 1/√{d}" if settings.instead else "without a scale"
    prose = f"Every layer of {subject.model} runs {condition}, and nothing is trained anew."
    verdicts = softmax.verdicts(scaled_trace, unscaled_trace)
    if not verdicts:
        key = ("turned by a scale", settings.instead)
        cosines = in_turn(subject, key, lambda trace, _: turned(trace, unscaled_trace))
        rows, columns = scaled_trace.grid
        yield p.Ask(Question(
            "scale_answer",
            "This model names no classes; its answer is its features, one vector a patch. With the other scale, their "
            "mean cosine with what they were is ▢.",
            Number(-1, 1, step=0.01), float(cosines.mean()),
            "1 would be the same direction, 0 a right angle. Bright: patches whose feature turned most.",
            prose=prose,
            tempting=(((0.97, 1), "In layer 0 the order of weights stays, but not their size: what each token receives "
                       "is another mixture, layer upon layer."),),
            picture=Photo(
                subject.photo(), (rows, columns), columns / rows, heat=tuple((1 - cosines).clamp(min=0).tolist())
            ),
        ), context)  # fmt: skip
        yield choice_of_scale(d)
        return
    labels, shares = [verdict.label for verdict in verdicts], [100 * verdict.scaled_share for verdict in verdicts]
    yield p.Ask(Question(
        "scale_answer", f"*{labels[0]}* has {shares[0]:.1f} % with its own scale. With the other one it has ▢.",
        Number(0, 100, " %"), 100 * verdicts[0].unscaled_share,
        "The softmax of each layer is sharper or more even than the next layers were trained for. How much of the "
        "answer is left depends on the picture; there is no rule.",
        prose=prose,
        tempting=(
            ((shares[0] - 1, shares[0] + 1), "In layer 0 the order of weights stays, but not their size: what each "
             "token receives is another mixture."),
            ((0, 0.5), "Every mixture is still one of this picture’s values: much of what they say stays."),
        ),
        picture=Bars(
            tuple(labels), tuple(shares), 100, across=True, unit=" %", at=0, title=f"Likeliest classes with 1/√{d}",
        ),
    ), context)  # fmt: skip
    changed = ", ".join(
        f"*{v.label}* from {percent(v.scaled_share)} to {percent(v.unscaled_share)}"
        for v in softmax.changed_verdicts(scaled_trace, unscaled_trace)[:3]
    )
    yield p.After(
        "scale_answer",
        choice_of_scale(d),
        likeliest_chart(verdicts, d, other),
        p.Words(f"Most changed, of all classes: {changed}."),
    )


def turned(scaled_trace: Trace, unscaled_trace: Trace) -> Tensor:
    """(patches,): the cosine of each patch's features with both scales."""
    import torch

    scaled, unscaled = (trace.features()[len(trace.prefix) :] for trace in (scaled_trace, unscaled_trace))
    return torch.cosine_similarity(scaled, unscaled, dim=-1)


def head_charts(
    layers: int, heads: int, d: int, instead_words: str, scale: float, is_whole_pass: bool
) -> Iterator[p.Chart]:
    """Charts of the heads' numbers with the model's scale and with another one. `is_whole_pass`: whether every layer of
    the other pass has the other scale."""
    other_words = "without" if instead_words.startswith("1,") else f"with {instead_words}"
    names = (f"with 1/√{d}", other_words)
    for quantity, title, digits, unit in (
        ("entropy", "Entropy, bits (at most {most})", 2, " bits"),
        ("peak", "Largest weight", 3, ""),
        ("deviation", "How far apart scaled scores lie", 2, ""),
    ):
        recipe = made(
            "sharpness", figure=p.figure_record(_head_figure(title, layers, heads, names, log=quantity == "deviation")),
            quantity=quantity, scale=scale, whole=is_whole_pass, digits=digits,
            hover=f"layer {{layer}}, head {{head}}<br>{names[0]} {{on}}{unit}, {other_words} {{off}}{unit}",
        )  # fmt: skip
        yield p.Chart(recipe, f"{quantity} per head")


def _head_figure(title: str, layers: int, heads: int, names: tuple[str, str], log: bool) -> go.Figure:
    """Layers from left to right. Each head gets a dot with the scale, a dot without it, and a line between the two."""
    x = np.arange(layers)[:, None] + (np.arange(heads) - (heads - 1) / 2) * 0.7 / heads  # (layers, heads)
    figure = go.Figure()
    figure.add_scatter(
        x=np.stack([x, x, x], -1).ravel(), mode="lines", line={"color": LINE_COLOUR, "width": 1}, hoverinfo="skip",
        showlegend=False,
    )  # fmt: skip
    for name, colour in zip(names, (p.WEIGHTS, p.CHANGED), strict=True):
        figure.add_scatter(
            x=x.ravel(), mode="markers", name=name, hovertemplate="%{text}<extra></extra>",
            marker={"color": colour, "size": 8 if heads * layers < 100 else 6},
        )  # fmt: skip
    figure.update_layout(title={"text": title, "font": {"size": 14}}, legend=LEGEND_BELOW)
    figure.update_xaxes(title="layer", dtick=1 if layers <= 16 else 4, showgrid=False, range=[-0.6, layers - 0.4])
    if log:
        figure.update_yaxes(type="log", dtick=1)
        figure.add_hline(y=1, line={"color": "gray", "dash": "dot", "width": 2})
    else:
        figure.update_yaxes(rangemode="tozero")
    return figure


def likeliest_chart(verdicts: list[Verdict], d: int, instead: str) -> p.Chart:
    labels, figure = [verdict.label for verdict in verdicts], go.Figure()
    for values, name, colour in (
        ([verdict.unscaled_share for verdict in verdicts], f"with {instead}, in every layer", p.CHANGED),
        ([verdict.scaled_share for verdict in verdicts], f"with 1/√{d}", p.WEIGHTS),
    ):
        figure.add_bar(
            y=labels, x=[100 * share for share in values], orientation="h", name=name, marker_color=colour,
            text=[percent(share) for share in values], textposition="outside", cliponaxis=False,
            hovertemplate="%{y}: %{text} " + name + "<extra></extra>",
        )  # fmt: skip
    figure.update_layout(barmode="group", bargap=0.25, legend=LEGEND_BELOW | {"traceorder": "reversed"})
    figure.update_xaxes(range=[0, 108], ticksuffix=" %", title="probability")
    figure.update_yaxes(autorange="reversed", type="category", ticksuffix="  ")
    return p.Chart(figure, "predictions with and without the scale", 120 + 44 * len(labels))


SETTINGS = {
    "dk": Setting(64, WIDTHS),
    "power": Setting(0.5, POWERS),
    "row": Setting(0, range(ROW_COUNT), range(SOME_ROWS)),
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
        "answer": Step("4 · What it then predicts", answer, "scale_answer", settings=("instead",)),
    },
    outcomes={
        "scale_spread": "say what becomes of a row of random scores if nothing divides them",
        "scale_gradient": "say what that does to the gradient",
    },
)  # fmt: skip
