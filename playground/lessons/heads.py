"""The lesson on heads: numbers of what each head does, and what changes without it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import numpy as np
import plotly.graph_objects as go

from playground.lessons.heads_numbers import (
    EACH_ALONE,
    HEADS_PATTERN,
    habits,
    sampled_rows_note,
    sum_of_heads,
    switch_off,
)
from playground.lessons.lesson import LAYER, Lesson, Setting, Settings, Step, Subject, TextSetting
from playground.lessons.made import made, made_words
from playground.lessons.parts import CONVOLUTION, QUIET, Ask, Chart, Choice, Drawing, Part, Wait, Words
from playground.lessons.questions import Painting, Question, choice_question

if TYPE_CHECKING:
    from playground.analysis.heads import Habits
    from playground.tracing import Trace

ENTROPY, DISTANCE, SELF, CLASS, REGISTERS = "entropy", "distance", "self", "class", "registers"
MEASURE_NAMES = {
    ENTROPY: "entropy",
    DISTANCE: "distance",
    SELF: "share to itself",
    CLASS: "share to CLS",
    REGISTERS: "share to registers",
}
MEASURE_TEXTS = {
    ENTROPY: "**Entropy**, in bits: 0 if one token gets all the weight, and largest if all tokens get the same.",
    DISTANCE: "**Mean attention distance**: how many patches away the places lie that a patch listens to.",
    SELF: "**Share to itself**: the weight that a patch gives to itself.",
    CLASS: "**Share to CLS**: the weight that the patches give to the class token.",
    REGISTERS: "**Share to registers**: the weight that the patches give to tokens without a place in the picture.",
}
BRIGHT_SHARE = 50  # per cent of a row: the end of a share's colour scale; above it a head has a habit
NEAR_DISTANCE = (4 + 4 * 2**0.5) / 9  # patches: the mean distance of equal weights on a patch and its eight neighbours


# Where will it look? --------------------------------------------------------------------------------------------------

ENLARGED_CAPTION = "the patch that asks, enlarged"

QUESTION_TEXT = "Paint where the outlined patch will look, in head {head} of layer {layer}."
ANSWER_TEXT = (  # `share`: what the brightest 2 % of the patches hold of the row's weight
    "The brightest 2 % of the patches hold {share:%} of the row, its largest weight is {largest:%}. For the "
    "overlap, what you painted counts as a row, too, with equal weights: of each patch the smaller of its two weights "
    "is taken, and all are added up."
)


def row(subject: Subject, settings: Settings) -> Iterator[Part]:
    """A row to guess, in the head that the reader chose in the microscope, or else in a head that looks far."""
    chosen = dict(zip(("layer", "head"), subject.chosen_head or (), strict=False))
    asks = made_words(QUESTION_TEXT, head=made("far_head", **chosen), layer=made("far_layer", **chosen))
    answer = made_words(ANSWER_TEXT, share=made("far_share", **chosen), largest=made("far_peak", **chosen))
    picture = made("far_row", caption=ENLARGED_CAPTION, **chosen)
    context = " ".join(map(str, chosen.values()))
    yield Ask(Question("heads_row", asks, Painting(), None, answer, picture), context, afresh=True)


# All heads ------------------------------------------------------------------------------------------------------------


def entropy_question() -> Question:
    return choice_question(
        "heads_entropy", "A head’s rows have an entropy of 6 bits. Over how many tokens does an even row of 6 bits "
        "spread?",
        {"six": "6", "twelve": "12", "sixtyfour": "64"},
        "sixtyfour",
        "2⁶ = 64. One bit more is twice as many tokens, so the colours of the cells count in doublings.",
        {
            "six": "Bits count doublings, not tokens: 6 tokens alike are 2.6 bits.",
            "twelve": "Twice as many tokens are one bit more, not twice the bits.",
        },
    )  # fmt: skip


def atlas(subject: Subject, settings: Settings) -> Iterator[Part]:
    """All heads of all layers as cells. A click on a cell opens its head in the microscope."""
    yield Words(
        "One cell is one head, averaged over patches. Point at a cell: what does it mostly do? A click opens it in the "
        "microscope."
    )
    offered_measures = measures_of(subject.vit.config.prefix)
    measure = settings.measure if settings.measure in offered_measures else ENTROPY
    yield Choice("measure", "Colour shows", {key: MEASURE_NAMES[key] for key in offered_measures})
    yield Words(f"{MEASURE_TEXTS[measure]} {missing_sentence(offered_measures)}".strip(), small=True)
    yield Wait("Measuring heads on this picture …")
    means, trace = habits(subject), subject.trace()
    yield from sampled_rows_note(trace)
    yield Drawing("atlas", atlas_data(subject, trace, means), ("measure",))
    yield Ask(entropy_question())


def measures_of(prefix: tuple[str, ...]) -> list[str]:
    """The measures that make sense for a model with these prefix tokens."""
    has_registers = any(name.startswith("reg") for name in prefix)
    available = {CLASS: bool({*prefix} & {"cls", "dist"}), REGISTERS: has_registers}
    return [key for key in MEASURE_NAMES if available.get(key, True)]


def missing_sentence(offered_measures: list[str]) -> str:
    """A sentence that says why a measure is missing."""
    missing_words = [
        word for key, word in ((CLASS, "class token"), (REGISTERS, "registers")) if key not in offered_measures
    ]
    return f"This model has no {' and no '.join(missing_words)}." if missing_words else ""


def atlas_data(subject: Subject, trace: Trace, means: Habits) -> dict:
    return {
        "layers": trace.layers,
        "heads": trace.heads,
        "measures": [_measure_record(key, trace, means) for key in measures_of(trace.prefix)] + [_effect_record(means)],
        "habits": _habit_names(means, subject.vit),
        "offsets": np.round(means.offsets.reshape(trace.layers, trace.heads, -1).astype(float), 4).tolist(),
        "reach": means.offsets.shape[-1] // 2,
        "shown": list(subject.shown_head),
        "words": urlencode(subject.words()),
    }


def _habit_names(means: Habits, vit: Any) -> list[list[dict[str, str | None]]]:
    """[layer][head]: names of habits. `told`: what a training loss asked of the head's weights, or None."""
    from playground.analysis.heads import short_label, training_task

    names_and_habits = zip(means.habit_names(), means.habits(), strict=True)
    return [
        [
            {
                "long": name,
                "short": short_label(means.head(layer, head), habit),
                "told": training_task(vit, layer, head),
            }
            for head, (name, habit) in enumerate(zip(names, habits, strict=True))
        ]
        for layer, (names, habits) in enumerate(names_and_habits)
    ]


def _measure_record(key: str, trace: Trace, means: Habits) -> dict:
    from playground.analysis.heads import even_distance

    name, factor = {SELF: "to_self", CLASS: "to_class", REGISTERS: "to_registers"}.get(key, key), 1
    scale_end, unit, digits = float(BRIGHT_SHARE), "%", 1
    if key == ENTROPY:
        scale_end, unit, digits = float(np.log2(trace.tokens)), "bits", 2
    elif key == DISTANCE:
        scale_end, unit = even_distance(*trace.grid), "patches"
    else:
        factor = 100
    return {
        "key": key, "name": MEASURE_NAMES[key], "unit": unit, "digits": digits, "high": scale_end,
        "over": key != ENTROPY,
        "values": (getattr(means, name) * factor).tolist(),
    }  # fmt: skip


def _effect_record(means: Habits) -> dict:
    return {
        "key": "effect", "name": "adds to the tokens", "unit": "× average", "digits": 2, "high": 3,
        "over": True, "values": means.effect.tolist(),
    }  # fmt: skip


# Near first, far later? -----------------------------------------------------------------------------------------------


def far_question() -> Question:
    return choice_question(
        "heads_far", "A mark lies high up, at the line of an even row. Does this head fetch something from far away?",
        {
            "no": "not necessarily: a row that is the same everywhere lies there too",
            "yes": "yes: its distance is large",
            "edge": "yes: it looks at the edges of the picture",
        },
        "no",
        "A mean distance says how far, not how pointedly. An even row has a large one, because most patches are far "
        "away. Look at the entropy, too: a head that is far *and* sharp fetches something.",
        {
            "yes": "The distance is large, but nothing is picked out: each patch gets the same small share.",
            "edge": "Then the mark would lie above that line: the edges are farther away than patches are on average.",
        },
    )  # fmt: skip


def distances_by_layer(subject: Subject, settings: Settings) -> Iterator[Part]:
    """The heads' mean attention distances by layer, as in a figure of the ViT paper."""
    yield Wait("Measuring heads on this picture …")
    means, trace = habits(subject), subject.trace()
    yield from sampled_rows_note(trace)
    yield Words(near_or_far(means.distance))
    yield Chart(scatter(trace, means), "heads-distance-by-depth", 290)
    yield Ask(far_question())


def near_or_far(distance: np.ndarray) -> str:
    """Sentences that say whether heads look farther in higher layers. distance: (layers, heads)"""
    by_layer = distance.mean(axis=1)
    near, far = int(by_layer.argmin()), int(by_layer.argmax())
    return (
        "A figure of the ViT paper. A mark is a head: across, its layer; upwards, its mean attention distance. On the "
        "pink line a patch and its eight neighbours get a ninth each. Here the nearest layer on average is layer "
        f"{near} ({by_layer[near]:.1f} patches), the farthest layer {far} ({by_layer[far]:.1f}): {trend(by_layer)}."
    )


def trend(by_layer: np.ndarray) -> str:
    """A word for whether heads attend farther in higher layers."""
    slope = float(np.corrcoef(np.arange(len(by_layer)), by_layer)[0, 1]) if len(by_layer) > 2 else 0.0
    return "near first, far later" if slope > 0.5 else "far first, near later" if slope < -0.5 else "no steady trend"


def scatter(trace: Trace, means: Habits) -> go.Figure:
    """One mark for each head: its layer across, its mean distance upwards."""
    from playground.analysis.heads import HABITS, Habit, even_distance

    even_level = even_distance(*trace.grid)
    figure, kinds = go.Figure(), means.habit_names()
    spots_by_habit: dict[Habit, list[tuple[int, int]]] = {}
    for layer, habits_of_layer in enumerate(means.habits()):
        for head, habit in enumerate(habits_of_layer):
            spots_by_habit.setdefault(habit, []).append((layer, head))
    for habit, spots in sorted(spots_by_habit.items(), key=lambda group: HABITS.index(group[0])):
        layers, heads = (np.array(numbers) for numbers in zip(*spots, strict=True))
        distances = means.distance[layers, heads]
        hover_texts = [
            f"layer {layer}, head {head}: {kinds[layer][head]}<br>listens {x:.1f} patches away, "
            f"{x * trace.patch_size:.0f} pixels"
            for (layer, head), x in zip(spots, distances, strict=True)
        ]
        figure.add_scatter(
            x=layers + (heads - (trace.heads - 1) / 2) * 0.5 / trace.heads, y=distances,
            name=habit.label, mode="markers", text=hover_texts, hoverinfo="text",
            marker={"size": 11, "symbol": habit.symbol, "color": habit.colour, "line": {"width": 1.5}},
        )  # fmt: skip
    layer_range = [-0.5, trace.layers - 0.5]
    for level, label, colour in (
        (even_level, "an even row", QUIET),
        (NEAR_DISTANCE, "nine equal weights", CONVOLUTION),
    ):
        line = {"color": colour, "width": 2, "dash": "dot"}
        figure.add_scatter(x=layer_range, y=[level] * 2, name=label, mode="lines", line=line, hoverinfo="name")
    figure.update_layout(
        xaxis={"title": "layer", "dtick": 1 if trace.layers <= 14 else 2, "range": layer_range, "zeroline": False},
        yaxis={"title": "mean attention distance, patches", "range": [0, max(even_level, means.distance.max()) * 1.1]},
        legend={"orientation": "h", "y": 1, "yanchor": "bottom"},
    )
    return figure


LESSON = Lesson(
    "heads",
    "A layer asks several questions at once: every **head** has its own queries, keys and values.",
    {
        "measure": Setting.in_python(ENTROPY, MEASURE_NAMES),
        "off": TextSetting("", played=EACH_ALONE, pattern=HEADS_PATTERN),
        "summed": LAYER,
    },
    {
        "row": Step(
            "1 · Where will it look?", row, "heads_row",
        ),
        "atlas": Step(
            "2 · All heads", atlas, "heads_entropy", settings=("measure",),
        ),
        "far": Step(
            "3 · Near first, far later?", distances_by_layer, "heads_far",
        ),
        "off": Step(
            "4 · Switch a head off", switch_off, "heads_off", ("heads_strongest", "heads_layer_off"), ("off",),
        ),
        "sum": Step(
            "5 · Is a layer the sum of its heads?", sum_of_heads, "heads_sum", settings=("summed",),
        ),
    },
)  # fmt: skip
