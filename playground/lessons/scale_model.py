"""Two steps of the lesson on the scale: the rows of a real model with another scale, and what the model then
predicts."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from playground.analysis import scale as softmax
from playground.analysis.scale import Verdict
from playground.lessons.lesson import Settings, Subject
from playground.lessons.made import Made, made, made_words
from playground.lessons.parts import (
    CHANGED,
    QUIET,
    WEIGHTS,
    After,
    Ask,
    Chart,
    Choice,
    Code,
    Exercise,
    Fold,
    Part,
    Row,
    Wait,
    Words,
    figure_record,
)
from playground.lessons.questions import Bars, Lines, Number, Photo, Question, Series
from playground.numbers import percent

EACH_LAYER, WHOLE_PASS = "each layer alone", "the whole pass"
OTHER_SCALES = {0.0: "1, no scale", -0.5: "√d_k", -1.0: "d_k"}  # power -> 1/d_k^power in words
START_WIDTHS, START_DEVIATIONS = (192, 384, 768, 1024), (0.01, 0.02, 0.05, 0.1)
START_WIDTH, START_DEVIATION = 768, 0.02  # defaults of the settings `width` and `start`
UNEVEN_SHARE = 0.5  # a row counts as uneven if it spreads over less than this share of all tokens
LEGEND_BELOW = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0.5, "xanchor": "center"}
LINE_COLOUR = "rgba(128,128,128,0.35)"


# A real model ---------------------------------------------------------------------------------------------------------

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


def trained_question(model: str, d: int, layers: int, is_random: bool) -> Question:
    """The question about the head with the widest scores. `is_random`: whether the model is untrained."""
    answer = UNTRAINED_TEXT.replace("{times}", f"{d**0.5:.1f}") if is_random else SPREADS_TEXT
    lines = Lines(
        tuple(range(layers)),
        (
            Series("independent numbers", (1.0,) * layers, QUIET, dash=True),
            Series("widest head of the layer", (), WEIGHTS, shown=1, dots=True),
        ),
        0, 1, "layer", at=(1, layers - 1), title="Standard deviation of the scaled scores of a row",
    )  # fmt: skip
    return Question(
        "scale_trained", about_spreads(WIDEST_TEXT), Number(0, made("widest_end"), step=0.1),
        made("spread_of_scores", what="last"), about_spreads(answer + "{note}"),
        prose=f"Divided by √{d}, scores of *independent* numbers have a standard deviation of 1 (dashed). And those of "
        f"{model} on this picture?",
        tempting=() if is_random else (
            ((0.9, 1.1), "So it would be with independent queries and keys, as the rule has it."),
            ((0, 0.1), "Scores that do not differ make even rows: this head would hear all tokens alike."),
            ((made("widest_end", times=1 / 1.1), made("widest_end")), "No head of this model is so wide on this "
             "picture."),
        ),
        picture=made("widest", lines=lines),
    )  # fmt: skip


def model(subject: Subject, settings: Settings) -> Iterator[Part]:
    """How each head's entropy, largest weight and spread of scores change with the scale."""
    config = subject.vit.config
    d = config.width // config.heads
    scale, is_whole_pass = softmax.scale_of(d, settings.instead), settings.off == WHOLE_PASS
    yield Ask(trained_question(subject.model, d, config.depth, subject.vit.random_weights))
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
        Row(Choice("off", "Change the scale in", {EACH_LAYER: EACH_LAYER, WHOLE_PASS: WHOLE_PASS}), choice_of_scale(d)),
        Row(*head_charts(config.depth, config.heads, d, instead(settings, d), scale, is_whole_pass)),
        *before_training(settings),
    )


def key_width(trace: Any) -> int:
    return round(trace.native_scale**-2)


def instead(settings: Settings, d: int) -> str:
    return OTHER_SCALES[settings.instead].replace("d_k", str(d))


def choice_of_scale(d: int) -> Choice:
    return Choice(
        "instead", f"Instead of 1/√{d}", {power: words.replace("d_k", str(d)) for power, words in OTHER_SCALES.items()}
    )


def before_training(settings: Settings) -> Iterator[Part]:
    """How even rows are in a model with random parameters."""
    from playground.lessons import experiments

    weights = experiments.even_at_the_start(width=settings.width, start=settings.start)
    largest_weight, even_weight, breadth = experiments.evenness(weights)
    wide_breadth = experiments.evenness(experiments.even_at_the_start(start=0.1))[2]
    yield Words("**Before training.** How even is a row whose parameters are random? Change how they begin.")
    yield Code(inspect.getsource(experiments.even_at_the_start))
    yield Row(
        Choice("width", "width", {width: str(width) for width in START_WIDTHS}),
        Choice("start", "start", {deviation: str(deviation) for deviation in START_DEVIATIONS}),
    )
    yield Words(
        f"`even_at_the_start(width={settings.width}, start={settings.start})`: the largest weight of a row is "
        f"**{percent(largest_weight)}** on average, an even row’s is {percent(even_weight)}; a row spreads over "
        f"**{breadth:.0f} of {len(weights)} tokens** (2 to the power of its entropy)."
    )
    is_default = (settings.width, settings.start) == (START_WIDTH, START_DEVIATION)
    yield Exercise(
        "Find a start from which a row is not nearly even.",
        "A query’s number is a sum of width products with numbers of deviation *start*: its own is √width · start, "
        "0.55 for 768 and 0.02. A key’s is the same, and a scaled score’s is width · start², 0.31: such scores differ "
        f"little. With a start of 0.1 it is 7.7, and a row spreads over {wide_breadth:.1f} tokens.",
        hint="The deviation of a scaled score is width · start². Which start makes it large?",
        id="scale_start",
        done=breadth < UNEVEN_SHARE * len(weights),
        tempting=[(not is_default, "Still nearly even. A larger start, or a larger width?")],
    )


def features_question(cosine: float, prose: str, photo: Photo) -> Question:
    """The question for a model without classes. `cosine`: the mean over patches of the cosine between a patch's
    features with and without the scale."""
    return Question(
        "scale_answer",
        "This model names no classes; its answer is its features, one vector a patch. With the other scale, their mean "
        "cosine with what they were is ▢.",
        Number(-1, 1, step=0.01), cosine,
        "1 would be the same direction, 0 a right angle. Bright: patches whose feature turned most.",
        prose=prose,
        tempting=(((0.97, 1), "In layer 0 the order of weights stays, but not their size: what each token receives is "
                   "another mixture, layer upon layer."),),
        picture=photo,
    )  # fmt: skip


def verdict_question(
    labels: Sequence[str], scaled_shares: Sequence[float], unscaled_share: float, d: int, prose: str
) -> Question:
    """The question about the prediction, in per cent. `scaled_shares`: the likeliest classes' probabilities with the
    model's own scale; `unscaled_share`: that of the first of them with the scale that the reader chose."""
    return Question(
        "scale_answer", f"*{labels[0]}* has {scaled_shares[0]:.1f} % with its own scale. With the other one it has ▢.",
        Number(0, 100, " %"), unscaled_share,
        "The softmax of each layer is sharper or more even than the next layers were trained for. How much of the "
        "answer is left depends on the picture; there is no rule.",
        prose=prose,
        tempting=(
            ((scaled_shares[0] - 1, scaled_shares[0] + 1), "In layer 0 the order of weights stays, but "
             "not their size: what each token receives is another mixture."),
            ((0, 0.5), "Every mixture is still one of this picture’s values: much of what they say stays."),
        ),
        picture=Bars(
            tuple(labels), tuple(scaled_shares), 100, across=True, unit=" %", at=0,
            title=f"Likeliest classes with 1/√{d}",
        ),
    )  # fmt: skip


def other_scale_sentence(model: str, d: int, instead: str) -> str:
    condition = "without a scale" if instead.startswith("1,") else f"with {instead} instead of 1/√{d}"
    return f"Every layer of {model} runs {condition}, and nothing is trained anew."


# What the model then predicts -----------------------------------------------------------------------------------------


def answer(subject: Subject, settings: Settings) -> Iterator[Part]:
    yield Wait("Running the network with the scale and without …")
    scaled_trace = subject.trace()
    d = key_width(scaled_trace)
    unscaled_trace = subject.trace(softmax.scale_of(d, settings.instead))
    context, prose = (
        f"{subject.identity} {settings.instead}",
        other_scale_sentence(subject.model, d, instead(settings, d)),
    )
    verdicts = softmax.verdicts(scaled_trace, unscaled_trace)
    if not verdicts:
        cosine, photo = turned_features(subject, scaled_trace, unscaled_trace, settings)
        yield Ask(features_question(cosine, prose, photo), context)
        yield choice_of_scale(d)
        return
    labels, shares = [verdict.label for verdict in verdicts], [100 * verdict.scaled_share for verdict in verdicts]
    yield Ask(verdict_question(labels, shares, 100 * verdicts[0].unscaled_share, d, prose), context)
    changed = ", ".join(
        f"*{v.label}* from {percent(v.scaled_share)} to {percent(v.unscaled_share)}"
        for v in softmax.changed_verdicts(scaled_trace, unscaled_trace)[:3]
    )
    yield After(
        "scale_answer",
        choice_of_scale(d),
        likeliest_chart(verdicts, d, instead(settings, d)),
        Words(f"Most changed, of all classes: {changed}."),
    )


def turned_features(
    subject: Subject, scaled_trace: Any, unscaled_trace: Any, settings: Settings
) -> tuple[float, Photo]:
    """The mean cosine of a patch's features with both scales, and a map of how far each patch's feature turned."""
    import torch

    def work() -> Any:
        with subject.turns():
            scaled_features, unscaled_features = (
                trace.features()[len(trace.prefix) :] for trace in (scaled_trace, unscaled_trace)
            )
        return torch.cosine_similarity(scaled_features, unscaled_features, dim=-1)  # (patches,)

    cosines = subject.cached(("turned by a scale", settings.instead), work)
    heat = tuple((1 - cosines).clamp(min=0).tolist())
    return float(cosines.mean()), Photo(
        subject.photo(), scaled_trace.grid, scaled_trace.grid[1] / scaled_trace.grid[0], heat=heat
    )


# Charts ---------------------------------------------------------------------------------------------------------------


def head_charts(
    layers: int, heads: int, d: int, instead_words: str, scale: float, is_whole_pass: bool
) -> Iterator[Chart]:
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
            "sharpness", figure=figure_record(_head_figure(title, layers, heads, names, log=quantity == "deviation")),
            quantity=quantity, scale=scale, whole=is_whole_pass, digits=digits,
            hover=f"layer {{layer}}, head {{head}}<br>{names[0]} {{on}}{unit}, {other_words} {{off}}{unit}",
        )  # fmt: skip
        yield Chart(recipe, f"{quantity} per head")


def _head_figure(title: str, layers: int, heads: int, names: tuple[str, str], log: bool) -> go.Figure:
    """Layers from left to right. Each head gets a dot with the scale, a dot without it, and a line between the two."""
    x = np.arange(layers)[:, None] + (np.arange(heads) - (heads - 1) / 2) * 0.7 / heads  # (layers, heads)
    figure = go.Figure()
    figure.add_scatter(
        x=np.stack([x, x, x], -1).ravel(), mode="lines", line={"color": LINE_COLOUR, "width": 1}, hoverinfo="skip",
        showlegend=False,
    )  # fmt: skip
    for name, colour in zip(names, (WEIGHTS, CHANGED), strict=True):
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


def likeliest_chart(verdicts: list[Verdict], d: int, instead: str) -> Chart:
    labels, figure = [verdict.label for verdict in verdicts], go.Figure()
    for values, name, colour in (
        ([verdict.unscaled_share for verdict in verdicts], f"with {instead}, in every layer", CHANGED),
        ([verdict.scaled_share for verdict in verdicts], f"with 1/√{d}", WEIGHTS),
    ):
        figure.add_bar(
            y=labels, x=[100 * p for p in values], orientation="h", name=name, marker_color=colour,
            text=[percent(p) for p in values], textposition="outside", cliponaxis=False,
            hovertemplate="%{y}: %{text} " + name + "<extra></extra>",
        )  # fmt: skip
    figure.update_layout(barmode="group", bargap=0.25, legend=LEGEND_BELOW | {"traceorder": "reversed"})
    figure.update_xaxes(range=[0, 108], ticksuffix=" %", title="probability")
    figure.update_yaxes(autorange="reversed", type="category", ticksuffix="  ")
    return Chart(figure, "predictions with and without the scale", 120 + 44 * len(labels))
