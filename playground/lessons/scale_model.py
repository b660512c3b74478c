"""Two steps of the lesson on the scale: the rows of a real model with another scale, and what the model then
predicts."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go

from playground.analysis import scale as softmax
from playground.analysis.scale import Verdict
from playground.lessons.lesson import Settings, Subject
from playground.lessons.measures import Measured, number_of_spreads
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
    Maker,
    Part,
    Row,
    Wait,
    Words,
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


def about_spreads(spreads: np.ndarray, text: str) -> Words:
    """The text with its blanks filled. spreads: (layers, heads), the standard deviation of a row's scaled scores,
    averaged over the rows of patches."""
    names = [name for name in ("first", "least", "most", "layer", "head") if f"{{{name}" in text]
    return Words(
        text,
        values={name: Measured("spread_of_scores", number_of_spreads(spreads, name), {"what": name}) for name in names},
    )


def trained_question(model: str, d: int, spreads: np.ndarray, is_random: bool, sampling_note: str) -> Ask:
    """The question about the head with the widest scores. `spreads`: see `in_spreads`; `is_random`: whether the model
    is untrained; `sampling_note`: a sentence for a model with so many patches that only some of their rows were
    measured, else empty."""
    widest_spreads, layers = spreads.max(axis=1), len(spreads)
    axis_end = 1.25 * float(widest_spreads.max())
    asks = about_spreads(spreads, WIDEST_TEXT)
    answer_words = about_spreads(
        spreads, UNTRAINED_TEXT.replace("{times}", f"{d**0.5:.1f}") if is_random else SPREADS_TEXT
    )
    truth = Measured("spread_of_scores", number_of_spreads(spreads, "last"), {"what": "last"})
    question = Question(
        "scale_trained", asks.says, Number(0, round(axis_end, 1), step=0.1), float(widest_spreads[-1]),
        answer_words.says + (sampling_note and f" {sampling_note}"),
        prose=f"Divided by √{d}, scores of *independent* numbers have a standard deviation of 1 (dashed). And those of "
        f"{model} on this picture?",
        tempting=() if is_random else (
            ((0.9, 1.1), "So it would be with independent queries and keys, as the rule has it."),
            ((0, 0.1), "Scores that do not differ make even rows: this head would hear all tokens alike."),
            ((axis_end / 1.1, round(axis_end, 1)), "No head of this model is so wide on this picture."),
        ),
        picture=Lines(
            tuple(range(layers)),
            (
                Series("independent numbers", (1.0,) * layers, QUIET, dash=True),
                Series("widest head of the layer", tuple(widest_spreads.tolist()), WEIGHTS, shown=1, dots=True),
            ),
            0, axis_end, "layer", at=(1, layers - 1), title="Standard deviation of the scaled scores of a row",
        ),
    )  # fmt: skip
    makers = {"guess": "widest_guess", "tempting": "widest_tempting", "picture": "widest"}
    from_photo = {"asks": asks, "says": answer_words, "truth": truth} | {
        name: Maker(maker) for name, maker in makers.items()
    }
    return Ask(question, own=from_photo)


def model(subject: Subject, settings: Settings) -> Iterator[Part]:
    """How each head's entropy, largest weight and spread of scores change with the scale."""
    from playground.analysis import heads

    yield Wait("Running the network with the scale and without …")
    scaled_trace = subject.trace()
    d, scale = key_width(scaled_trace), softmax.scale_of(key_width(scaled_trace), settings.instead)
    scaled_numbers = sharpness(subject, scaled_trace, scaled_trace.native_scale)
    question = trained_question(
        subject.model, d, scaled_numbers[2], scaled_trace.vit.random_weights, heads.sampling_note(scaled_trace)
    )  # type: ignore[union-attr]
    yield replace(question, context=subject.identity)
    yield Wait("Running the network with the scale and without …")
    unscaled_numbers = sharpness(subject, scaled_trace if settings.off == EACH_LAYER else subject.trace(scale), scale)
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
        Row(
            *head_charts(
                scaled_numbers,
                unscaled_numbers,
                d,
                instead(settings, d),
                scaled_trace.tokens,
                scale,
                settings.off == WHOLE_PASS,
            )
        ),
        *before_training(settings),
    )


def key_width(trace) -> int:
    return round(trace.native_scale**-2)


def sharpness(subject: Subject, trace, scale: float) -> tuple[np.ndarray, ...]:
    """(entropy, largest weight, deviation of the scaled scores), each (layers, heads)."""

    def count() -> tuple[np.ndarray, ...]:
        with subject.turns() as give_way:
            return softmax.sharpness(trace, scale, give_way)

    return subject.cached(("sharpness", trace.scale, scale), count)


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


def turned_features(subject: Subject, scaled_trace, unscaled_trace, settings: Settings) -> tuple[float, Photo]:
    """The mean cosine of a patch's features with both scales, and a map of how far each patch's feature turned."""
    import torch

    def work():
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
    scaled_numbers: tuple[np.ndarray, ...],
    other_numbers: tuple[np.ndarray, ...],
    d: int,
    instead_words: str,
    tokens: int,
    scale: float,
    whole_pass: bool,
) -> Iterator[Chart]:
    """Charts of the heads' numbers (analysis.scale.sharpness) with the scale and with another one (`other_numbers`).
    `whole_pass`: whether `other_numbers` comes from a pass in which every layer had the other scale."""
    other_words = "without" if instead_words.startswith("1,") else f"with {instead_words}"
    hover = f"layer {{layer}}, head {{head}}<br>with 1/√{d} {{on}}, {other_words} {{off}}"
    kinds = (
        ("entropy", "Entropy, bits (at most {most})", 2, " bits", "entropy per head"),
        ("peak", "Largest weight", 3, "", "peak per head"),
        ("deviation", "How far apart scaled scores lie", 2, "", "deviation per head"),
    )
    for on, off, (quantity, title, digits, unit, name) in zip(scaled_numbers, other_numbers, kinds, strict=True):
        filled_hover = hover.replace("{on}", "{on}" + unit).replace("{off}", "{off}" + unit)
        arguments = {
            "quantity": quantity,
            "scale": scale,
            "whole": whole_pass,
            "hover": filled_hover,
            "digits": digits,
            "title": title,
        }
        title = title.replace("{most}", f"{np.log2(tokens):.1f}")
        figure = _head_figure(
            title, on, off, filled_hover, digits, (f"with 1/√{d}", other_words), log=quantity == "deviation"
        )
        yield Chart(figure, name, own=Maker("sharpness", arguments))


def _head_figure(
    title: str, scaled: np.ndarray, unscaled: np.ndarray, hover: str, digits: int, names: tuple[str, str], log: bool
) -> go.Figure:
    """Layers from left to right. Each head has a dot with the scale, a dot without it, and a line between the two."""
    layers, heads = scaled.shape
    x = np.arange(layers)[:, None] + (np.arange(heads) - (heads - 1) / 2) * 0.7 / heads  # (layers, heads)
    figure = go.Figure()
    gaps = np.full_like(scaled, np.nan)
    lines = {"x": np.stack([x, x, x], -1).ravel(), "y": np.stack([scaled, unscaled, gaps], -1).ravel()}
    figure.add_scatter(
        **lines, mode="lines", line={"color": LINE_COLOUR, "width": 1}, hoverinfo="skip", showlegend=False
    )
    texts = [
        hover.format(
            layer=layer,
            head=head,
            on=f"{scaled[layer, head]:.{digits}f}",
            off=f"{unscaled[layer, head]:.{digits}f}",
        )
        for layer, head in np.ndindex(layers, heads)
    ]
    for values, name, colour in zip((scaled, unscaled), names, (WEIGHTS, CHANGED), strict=True):
        figure.add_scatter(
            x=x.ravel(), y=values.ravel(), mode="markers", name=name, text=texts,
            marker={"color": colour, "size": 8 if heads * layers < 100 else 6}, hovertemplate="%{text}<extra></extra>",
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
