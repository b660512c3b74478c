"""The lesson on heads: numbers of what each head does, and what changes without it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import numpy as np
import plotly.graph_objects as go

from playground.assets import PLACE
from playground.lessons import parts as p
from playground.lessons.layers import LAYER, choice_of_layer, layer_of
from playground.lessons.lesson import Lesson, Setting, Settings, Step, Subject, TextSetting, in_turn
from playground.lessons.questions import Bars, Number, Painting, Question, choice_question, made, made_words
from playground.numbers import percent
from playground.pictures.jpegs import small_url

if TYPE_CHECKING:
    from playground.analysis.ablation import AblationEffect, Additivity
    from playground.analysis.heads import Habits
    from playground.tracing import Trace


ENTROPY, CLASS, REGISTERS, BY_PLACE = "entropy", "class", "registers", "place"
MEASURES = {  # name -> (in words, a sentence about it, the field of Habits)
    ENTROPY: (
        "entropy",
        "**Entropy**, in bits: 0 if one token gets all the weight, and largest if all tokens get the same.",
        "entropy",
    ),
    "distance": (
        "distance",
        "**Mean attention distance**: how many patches away the places lie that a patch listens to.",
        "distance",
    ),
    "self": ("share to itself", "**Share to itself**: the weight that a patch gives to itself.", "to_self"),
    CLASS: ("share to CLS", "**Share to CLS**: the weight that the patches give to the class token.", "to_class"),
    REGISTERS: (
        "share to registers",
        "**Share to registers**: the weight that the patches give to tokens without a place in the picture.",
        "to_registers",
    ),
    BY_PLACE: (
        "explained by place",
        "**Explained by place**: the share of the variance of a head’s scores that the places of the two patches alone "
        "explain, measured once over 100 photographs (after Doshi et al., 2026). It does not show what place and "
        "content make together; and what most photographs show at one place, a sky above, counts as place.",
        "",
    ),
}
BRIGHT_SHARE = 50  # per cent of a row: the end of a share's colour scale; above it a head has a habit
NEAR_DISTANCE = (4 + 4 * 2**0.5) / 9  # patches: the mean distance of equal weights on a patch and its eight neighbours


ENLARGED_CAPTION = "the patch that asks, enlarged"

QUESTION_TEXT = "Paint where the outlined patch will look, in head {head} of layer {layer}."
ANSWER_TEXT = (  # `share`: what the brightest 2 % of the patches hold of the row's weight
    "The brightest 2 % of the patches hold {share:%} of the row, its largest weight is {largest:%}. For the "
    "overlap, what you painted counts as a row, too, with equal weights: of each patch the smaller of its two weights "
    "is taken, and all are added up."
)


def row(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    """A row to guess, in the head that the reader chose in the microscope, or else in a head that looks far."""
    chosen = dict(zip(("layer", "head"), subject.chosen_head or (), strict=False))
    asks = made_words(QUESTION_TEXT, head=made("far_head", **chosen), layer=made("far_layer", **chosen))
    answer = made_words(ANSWER_TEXT, share=made("far_share", **chosen), largest=made("far_peak", **chosen))
    picture = made("far_row", caption=ENLARGED_CAPTION, **chosen)
    context = " ".join(map(str, chosen.values()))
    yield p.Ask(Question("heads_row", asks, Painting(), None, answer, picture), context, afresh=True)


def atlas(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    """All heads of all layers as cells. A click on a cell opens its head in the microscope."""
    yield p.Words(
        "One cell is one head, averaged over patches. Point at a cell: what does it mostly do? A click opens it in the "
        "microscope."
    )
    offered_measures = measures_of(subject.vit.config.prefix, subject.vit.name)
    measure = settings.measure if settings.measure in offered_measures else ENTROPY
    yield p.Choice("measure", "Colour shows", {key: MEASURES[key][0] for key in offered_measures})
    yield p.Words(f"{MEASURES[measure][1]} {missing_sentence(offered_measures)}".strip(), small=True)
    yield p.Wait("Measuring heads on this picture …")
    means, trace = habits(subject), subject.trace()
    yield from sampled_rows_note(trace)
    yield p.Drawing("atlas", atlas_data(subject, trace, means), ("measure",))
    yield p.Ask(choice_question(
        "heads_entropy", "A head’s rows have an entropy of 6 bits. Over how many tokens does an even row of 6 bits "
        "spread?",
        {
            "six": ("6", "Bits count doublings, not tokens: 6 tokens alike are 2.6 bits."),
            "twelve": ("12", "Twice as many tokens are one bit more, not twice the bits."),
            "sixtyfour": ("64", ""),
        },
        "2⁶ = 64. One bit more is twice as many tokens, so the colours of the cells count in doublings.",
    ))  # fmt: skip


def measures_of(prefix: tuple[str, ...], model: str) -> list[str]:
    has_registers = any(name.startswith("reg") for name in prefix)
    available = {CLASS: bool({*prefix} & {"cls", "dist"}), REGISTERS: has_registers, BY_PLACE: model in place_shares()}
    return [key for key in MEASURES if available.get(key, True)]


@cache
def place_shares() -> dict[str, list[list[float]]]:
    """Of each model that was measured: (layers, heads), see figures/place.py."""
    shares: dict[str, list[list[float]]] = json.loads(PLACE.read_text(encoding="utf-8"))["shares"]
    return shares


def missing_sentence(offered_measures: list[str]) -> str:
    missing_words = [
        word for key, word in ((CLASS, "class token"), (REGISTERS, "registers")) if key not in offered_measures
    ]
    return f"This model has no {' and no '.join(missing_words)}." if missing_words else ""


def atlas_data(subject: Subject, trace: Trace, means: Habits) -> dict:
    effect = {
        "key": "effect", "name": "adds to the tokens", "unit": "× average", "digits": 2, "high": 3, "over": True,
        "values": means.effect.tolist(),
    }  # fmt: skip
    return {
        "layers": trace.layers,
        "heads": trace.heads,
        "measures": [*(_measure_record(key, trace, means) for key in measures_of(trace.prefix, trace.model)), effect],
        "habits": _habit_names(means, subject.vit),
        "offsets": np.round(means.offsets.reshape(trace.layers, trace.heads, -1).astype(float), 4).tolist(),
        "reach": means.offsets.shape[-1] // 2,
        "shown": list(subject.shown_head),
        "words": urlencode(subject.words()),
    }


def _habit_names(means: Habits, vit: Any) -> list[list[dict[str, str | None]]]:
    """[layer][head]: names of habits. `told`: what a training loss asked of the head's weights, or None."""
    from playground.analysis.heads import short_label, training_task

    names, habits = means.habit_names(), means.habits()

    def record(layer: int, head: int) -> dict[str, str | None]:
        short = short_label(means.head(layer, head), habits[layer][head])
        return {"long": names[layer][head], "short": short, "told": training_task(vit, layer, head)}

    return [[record(layer, head) for head in range(len(row))] for layer, row in enumerate(names)]


def _measure_record(key: str, trace: Trace, means: Habits) -> dict:
    from playground.analysis.heads import even_distance

    name, _, field = MEASURES[key]
    factor, scale_end, unit, digits = 100, 100.0 if key == BY_PLACE else float(BRIGHT_SHARE), "%", 1
    if key == ENTROPY:
        factor, scale_end, unit, digits = 1, float(np.log2(trace.tokens)), "bits", 2
    elif key == "distance":
        factor, scale_end, unit = 1, even_distance(*trace.grid), "patches"
    numbers = np.array(place_shares()[trace.model]) if key == BY_PLACE else getattr(means, field)
    return {
        "key": key, "name": name, "unit": unit, "digits": digits, "high": scale_end,
        "over": key not in (ENTROPY, BY_PLACE), "values": (numbers * factor).tolist(),
    }  # fmt: skip


def distances_by_layer(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    """The heads' mean attention distances by layer, as in a figure of the ViT paper."""
    yield p.Wait("Measuring heads on this picture …")
    means, trace = habits(subject), subject.trace()
    yield from sampled_rows_note(trace)
    yield p.Words(near_or_far(means.distance))
    yield p.Chart(scatter(trace, means), "heads-distance-by-depth", 290)
    yield p.Ask(choice_question(
        "heads_far", "A mark lies high up, at the line of an even row. Does this head fetch something from far away?",
        {
            "no": ("not necessarily: a row that is the same everywhere lies there too", ""),
            "yes": ("yes: its distance is large",
              "The distance is large, but nothing is picked out: each patch gets the same small share."),
            "edge": ("yes: it looks at the edges of the picture",
              "Then the mark would lie above that line: the edges are farther away than patches are on average."),
        },
        "A mean distance says how far, not how pointedly. An even row has a large one, because most patches are far "
        "away. Look at the entropy, too: a head that is far *and* sharp fetches something.",
    ))  # fmt: skip


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
        (even_level, "an even row", p.QUIET),
        (NEAR_DISTANCE, "nine equal weights", p.CONVOLUTION),
    ):
        line = {"color": colour, "width": 2, "dash": "dot"}
        figure.add_scatter(x=layer_range, y=[level] * 2, name=label, mode="lines", line=line, hoverinfo="name")
    figure.update_layout(
        xaxis={"title": "layer", "dtick": 1 if trace.layers <= 14 else 2, "range": layer_range, "zeroline": False},
        yaxis={"title": "mean attention distance, patches", "range": [0, max(even_level, means.distance.max()) * 1.1]},
        legend={"orientation": "h", "y": 1, "yanchor": "bottom"},
    )
    return figure


def habits(subject: Subject) -> Habits:
    from playground.analysis.heads import stacked

    return stacked([_layer_habits(subject, layer) for layer in range(subject.vit.config.depth)])


def _layer_habits(subject: Subject, layer: int) -> Habits:
    from playground.analysis.heads import measure_layers

    return in_turn(subject, ("habits", layer), lambda trace, _: measure_layers(trace, [layer]))


def spot_of(index: int, numbers: np.ndarray) -> tuple[int, int]:
    """(layer, head) of an index into the flattened `numbers`, whose shape is (layers, heads)."""
    layer, head = np.unravel_index(index, numbers.shape)
    return int(layer), int(head)


def sampled_rows_note(trace: Trace) -> Iterator[p.Words]:
    from playground.analysis import heads

    if words := heads.sampling_note(trace):
        yield p.Words(words, small=True)


Spot = tuple[int, int]  # (layer, head)
MOST_HEADS_OFF = 40
# "3.0 4.2": head 0 of layer 3 and head 2 of layer 4
HEADS_PATTERN = rf"\d{{1,3}}\.\d{{1,3}}( \d{{1,3}}\.\d{{1,3}}){{0,{MOST_HEADS_OFF - 1}}}"
REPLACEMENTS = ("zero", "mean")  # what stands in the place of a head that is off, as in cuts.py
THUMB_SIDE = 200  # pixels along the thumbnail's longer side


def as_text(spots: list[Spot]) -> str:
    return " ".join(f"{layer}.{head}" for layer, head in spots)


# Values of the setting `off` for our small model of 6 layers with 6 heads: none, each head alone, each whole layer
EACH_ALONE = (
    "",
    *(as_text([(layer, head)]) for layer in range(6) for head in range(6)),
    *(as_text([(layer, head) for head in range(6)]) for layer in range(6)),
)


OFF_TEXT = (
    "Switched off on this picture, the sharpest, head {sharpest_head} of layer {sharpest_layer} (rows of "
    "{sharpest_entropy} bits), moves the patches after the last layer by {sharpest_zero}, and by {sharpest_mean} with "
    "its mean in its place; the most even, head {evenest_head} of layer {evenest_layer} ({evenest_entropy} bits), by "
    "{evenest_zero} and {evenest_mean}. Weights say how values are mixed. But a value may be short, or W_O (and "
    "LayerScale) may shorten it."
)


def switch_off(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    yield p.Words(
        "In a second pass the result of a head is replaced by zeros, for all tokens. How do tokens differ after every "
        "layer? The layers above have never met zeros, so these tend to overstate what a head matters. Beside them "
        "stands the change with the head’s mean over all tokens in its place."
    )
    yield p.Wait("Running the network without heads that are off …")
    means, trace = habits(subject), subject.trace()
    yield from sampled_rows_note(trace)
    strongest_head = spot_of(int(np.nanargmax(means.effect)), means.effect)
    board = board_data(subject, trace, means, strongest_head, switched_off(settings.off, trace))
    yield p.Drawing("board", board, ("off",))
    layer, head = strongest_head
    yield p.Exercise(
        "Switch off one head alone: the one that adds most to the tokens, compared with the average of its layer.",
        f"Head {head} of layer {layer}: it adds {means.effect[layer, head]:.2f} × the average of its layer. What adds "
        "much need not matter most for the answer.",
        hint="Point at the switches: each says what its head adds. Or colour *All heads* and read the cards.",
        id="heads_strongest",
        done=p.Reported("board", "strongest_alone"),
        tempting=[
            (p.Reported("board", "strongest_among_others"), "It is among them. Switch it off alone."),
            (p.Reported("board", "another_head"), "Another head adds more, compared with the average of its layer."),
        ],
    )
    yield p.Exercise(
        "Switch off all heads of one layer. What do the tokens still get from it?",
        "What its MLP adds, and the constant vector of W_O’s bias. The token itself goes past on the skip connection.",
        hint="The number at the left of a row switches the row.",
        id="heads_layer_off",
        done=p.Reported("board", "whole_layer"),
        answers=(
            ("nothing", "A layer is more than its heads: look at the MLP and at a bias."),
            ("what the MLP adds, and a constant vector", ""),
        ),
        tempting=[
            (p.Reported("board", "several_layers"),
             "These are heads of several layers. The heads of one layer stand in one row."),
        ],
    )  # fmt: skip
    yield p.Ask(choice_question(
        "heads_off", "A head’s weights are very sharp. Does much change when it is switched off?",
        {
            "may": ("that can’t be told from its weights", ""),
            "yes": ("yes: sharp weights carry more",
              "All rows sum to 1, sharp or even. What arrives depends on the values and on W_O."),
            "no": ("no: it hears few tokens only", "One token may be all that is needed, if its value is long."),
        },
        OFF_TEXT.format(**numbers_without(subject, trace, means)),
    ))  # fmt: skip


def numbers_without(subject: Subject, trace: Trace, means: Habits) -> dict[str, str]:
    """How far the patches move after the last layer without the head with the sharpest or the evenest rows."""
    numbers: dict[str, str] = {}
    for which, index in (("sharpest", means.entropy.argmin()), ("evenest", means.entropy.argmax())):
        layer, head = spot_of(int(index), means.entropy)
        entropy = f"{means.entropy[layer, head]:.1f}"
        numbers |= {f"{which}_layer": str(layer), f"{which}_head": str(head), f"{which}_entropy": entropy}
        for to in REPLACEMENTS:
            change = loss_without(subject, [(layer, head)], to).change[-1, len(trace.prefix) :]
            numbers[f"{which}_{to}"] = percent(float(change.mean()))
    return numbers


def switched_off(text: str, trace: Trace) -> list[Spot]:
    """The heads in the text, without heads that this model does not have."""
    spots = [(int(layer), int(head)) for layer, head in (spot.split(".") for spot in text.split())]
    return sorted({(layer, head) for layer, head in spots if layer < trace.layers and head < trace.heads})


def board_data(subject: Subject, trace: Trace, means: Habits, strongest_head: Spot, silenced_heads: list[Spot]) -> dict:
    loss = loss_without(subject, silenced_heads)
    patch_changes, averaged_changes = (
        loss_without(subject, silenced_heads, to).change[:, len(trace.prefix) :].numpy() for to in REPLACEMENTS
    )  # (layers, patches)
    brightest = float(np.quantile(patch_changes, 0.98)) if silenced_heads else 1.0
    scale_end = next((end for end in (0.05, 0.1, 0.2, 0.5, 1.0) if brightest <= end * 1.2), 2.0)  # a round number
    has_class = trace.prefix[:1] == ("cls",)
    return {
        "layers": trace.layers,
        "heads": trace.heads,
        "most": MOST_HEADS_OFF,
        "effect": _rounded(means.effect),
        "strongest": list(strongest_head),
        "picture": subject.cached("thumbnail", lambda: small_url(subject.jpeg, THUMB_SIDE)),
        "grid": list(trace.grid),
        "rows": loss.predictions(trace.vit.config.labels) or None,  # type: ignore[union-attr]
        "read": _feature_sentence(trace, loss, silenced_heads),
        "maps": base64.b64encode((patch_changes / scale_end * 255).clip(0, 255).astype(np.uint8).tobytes()).decode(),
        "ceiling": scale_end,
        "means": _rounded(patch_changes.mean(axis=1)),
        "averaged": _rounded(averaged_changes.mean(axis=1)),
        "summary": {"name": "CLS", "values": _rounded(loss.change[:, 0].numpy())} if has_class else None,
    }


def loss_without(subject: Subject, silenced_heads: list[Spot], to: str = "zero") -> AblationEffect:
    from playground.analysis.ablation import ablation_effect

    key = ("lost", tuple(silenced_heads), to)
    return in_turn(subject, key, lambda trace, turn: ablation_effect(trace, silenced_heads, turn, to))


def _rounded(numbers: np.ndarray) -> list:
    return np.round(numbers.astype(float), 4).tolist()


def _feature_sentence(trace: Trace, loss: AblationEffect, silenced_heads: list[Spot]) -> str:
    """The sentence about the effect in a model without labels."""
    has_logits = trace.logits is not None
    no_label = "This model has no classifier, or none that is sure: no label is shown."
    explanation = "This model names no classes." if has_logits else no_label
    if not silenced_heads:
        return f"{explanation} Switch a head off, and see how far its summary turns."
    return (
        f"{explanation} The vector that sums the picture up has turned: its cosine with what it was is "
        f"{1 - loss.cosine_change:.3f}."
    )


def layer_sum_question(
    layer: int, head_moves: Sequence[float], moves_sum: float, layer_move: float, cosine: float, zeros: Sequence[float]
) -> Question:
    """The question: is a layer's effect the sum of its heads' effects? `head_moves`: how far tokens move when each head
    gives its mean; `moves_sum`: their sum; `layer_move`: the same of all heads at once; `cosine`: the mean cosine
    between what two heads add beyond their means; `zeros`: `moves_sum` and `layer_move` with zeros for the means."""
    digits = 1 if moves_sum > 0.02 else 2
    parts = [round(100 * loss, digits) for loss in head_moves]
    total, axis_end = sum(parts), round(100 * max(2 * moves_sum, 1.2 * layer_move), 1)
    losses = (*parts, total, 100 * layer_move)
    comparison = "more" if layer_move > moves_sum else "less"
    return Question(
        "heads_sum",
        f"One after the other, that adds up to {total:.0f} %. Switch off **all heads of layer {layer} at once**, and "
        "the tokens move by ▢.",
        Number(0, axis_end, " %", step=round(total / 50, 2) or 0.01), losses[-1],
        f"One head of layer {layer} after the other gives its mean: after the last layer the patches’ tokens move by "
        f"{' + '.join(f'{part:.{digits}f} %' for part in parts)} = {total:.{digits}f} %. Without all at once they move "
        f"by {percent(layer_move, 1)}, {comparison} than the sum. There is no rule: what two heads add to a patch "
        f"beyond their means has a mean cosine of {cosine:.2f} here (0: at right angles), and the norms and MLPs above "
        "are not linear. Other layers and pictures answer differently. With zeros in the place of means the sum is "
        f"{percent(zeros[0], 1)}, and all at once {percent(zeros[1], 1)}.",
        Bars(
            (*(f"head {head}" for head in range(len(head_moves))), "their sum", "all at once"), losses, axis_end,
            at=len(losses) - 1, unit=" %", title="How far the patches’ tokens move after the last layer",
        ),
        prose="The heads of a layer are a **committee**: each writes an opinion of its own, none hears another’s, and "
        f"W_O adds them up. Each bar: how far tokens move when one head of layer {layer} is off, that is, gives every "
        "token the same: its mean over all tokens.",
        tempting=(
            ((0.97 * total, 1.03 * total), "So it would be if all that follows were linear, and all heads pushed a "
             "token in the same direction."),
            ((0, min(parts) / 2), "One head alone moves them farther."),
            ((1.1 * max(total, losses[-1]), axis_end), "They would move as far as that if heads held each other back."),
        ),
    )  # fmt: skip


def sum_of_heads(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    from playground.analysis.ablation import additivity, passes_of_additivity

    config = subject.vit.config
    yield choice_of_layer(subject, "summed")
    layer = layer_of(settings.summed, subject)
    if reason := subject.why_too_long(len(REPLACEMENTS) * passes_of_additivity(config.depth, config.heads, layer)):
        yield p.Words(reason)
        return
    yield p.Wait("Switching heads off, one after the other …")

    def moves(to: str) -> Additivity:
        return in_turn(subject, ("addition", layer, to), lambda trace, turn: additivity(trace, layer, turn, to))

    zeros, means = map(moves, REPLACEMENTS)
    of_zeros = (zeros.together, zeros.whole)
    question = layer_sum_question(layer, means.single, means.together, means.whole, means.cosine, of_zeros)
    yield p.Ask(question, f"{subject.identity} {layer}", afresh=True)


LESSON = Lesson(
    "heads",
    "A layer asks several questions at once: every **head** has its own queries, keys and values.",
    {
        "measure": Setting.in_python(ENTROPY, MEASURES),
        "off": TextSetting("", played=EACH_ALONE, pattern=HEADS_PATTERN),
        "summed": LAYER,
    },
    {
        "row": Step("1 · Where will it look?", row, "heads_row"),
        "atlas": Step("2 · All heads", atlas, "heads_entropy", settings=("measure",)),
        "far": Step("3 · Near first, far later?", distances_by_layer, "heads_far"),
        "off": Step(
            "4 · Switch a head off", switch_off, "heads_off", ("heads_strongest", "heads_layer_off"), ("off",),
        ),
        "sum": Step("5 · Is a layer the sum of its heads?", sum_of_heads, "heads_sum", settings=("summed",)),
    },
    outcomes={
        "heads_entropy": "read the entropy of a row as a number of tokens",
        "heads_off": "say why a head is tested by switching it off, not by its weights",
    },
)  # fmt: skip
