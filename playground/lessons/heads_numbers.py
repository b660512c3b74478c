"""Numbers of what every head does on a picture, measured layer by layer and shared by several lessons; and the steps
that switch heads off."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from playground.lessons.lesson import Settings, Subject, choice_of_layer, layer_of
from playground.lessons.parts import Ask, Drawing, Exercise, Part, Reported, Wait, Words
from playground.lessons.questions import Bars, Number, Question, choice_question
from playground.numbers import percent
from playground.pictures.jpegs import small_url

if TYPE_CHECKING:
    from playground.analysis.ablation import AblationEffect, Additivity
    from playground.analysis.heads import Habits
    from playground.tracing import Trace


def habits(subject: Subject) -> Habits:
    """The numbers of every head of every layer."""
    from playground.analysis.heads import stacked

    return stacked([_layer_habits(subject, layer) for layer in range(subject.vit.config.depth)])


def _layer_habits(subject: Subject, layer: int) -> Habits:
    from playground.analysis.heads import measure_layers

    def work() -> Habits:
        trace = subject.trace()
        with subject.turns():
            return measure_layers(trace, [layer])

    return subject.cached(("habits", layer), work)


def spot_of(index: int, numbers: np.ndarray) -> tuple[int, int]:
    """(layer, head) of an index into the flattened `numbers`, whose shape is (layers, heads)."""
    layer, head = np.unravel_index(index, numbers.shape)
    return int(layer), int(head)


def sampled_rows_note(trace: Trace) -> Iterator[Words]:
    """Yields a sentence if only some of the rows were measured."""
    from playground.analysis import heads

    if words := heads.sampling_note(trace):
        yield Words(words, small=True)


# Two steps of the lesson on heads. The first switches heads off; the second asks whether the effects of single heads
# add up.

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


# Switch a head off ----------------------------------------------------------------------------------------------------


OFF_TEXT = (
    "Switched off on this picture, the sharpest, head {sharpest_head} of layer {sharpest_layer} (rows of "
    "{sharpest_entropy} bits), moves the patches after the last layer by {sharpest_zero}, and by {sharpest_mean} with "
    "its mean in its place; the most even, head {evenest_head} of layer {evenest_layer} ({evenest_entropy} bits), by "
    "{evenest_zero} and {evenest_mean}. Weights say how values are mixed. But a value may be short, or W_O (and "
    "LayerScale) may shorten it."
)


def off_question(says: str) -> Question:
    return choice_question(
        "heads_off", "A head’s weights are very sharp. Does much change when it is switched off?",
        {
            "may": "that can’t be told from its weights",
            "yes": "yes: sharp weights carry more",
            "no": "no: it hears few tokens only",
        },
        "may",
        says,
        {
            "yes": "All rows sum to 1, sharp or even. What arrives depends on the values and on W_O.",
            "no": "One token may be all that is needed, if its value is long.",
        },
    )  # fmt: skip


def switch_off(subject: Subject, settings: Settings) -> Iterator[Part]:
    yield Words(
        "In a second pass the result of a head is replaced by zeros, for all tokens. How do tokens differ after every "
        "layer? The layers above have never met zeros, so these tend to overstate what a head matters. Beside them "
        "stands the change with the head’s mean over all tokens in its place."
    )
    yield Wait("Running the network without heads that are off …")
    means, trace = habits(subject), subject.trace()
    yield from sampled_rows_note(trace)
    strongest_head = spot_of(int(np.nanargmax(means.effect)), means.effect)
    board = board_data(subject, trace, means, strongest_head, switched_off(settings.off, trace))
    yield Drawing("board", board, ("off",))
    layer, head = strongest_head
    yield Exercise(
        "Switch off one head alone: the one that adds most to the tokens, compared with the average of its layer.",
        f"Head {head} of layer {layer}: it adds {means.effect[layer, head]:.2f} × the average of its layer. What adds "
        "much need not matter most for the answer.",
        hint="Point at the switches: each says what its head adds. Or colour *All heads* and read the cards.",
        id="heads_strongest",
        done=Reported("board", "strongest_alone"),
        tempting=[
            (Reported("board", "strongest_among_others"), "It is among them. Switch it off alone."),
            (Reported("board", "another_head"), "Another head adds more, compared with the average of its layer."),
        ],
    )
    yield Exercise(
        "Switch off all heads of one layer. What do the tokens still get from it?",
        "What its MLP adds, and the constant vector of W_O’s bias. The token itself goes past on the skip connection.",
        hint="The number at the left of a row switches the row.",
        id="heads_layer_off",
        done=Reported("board", "whole_layer"),
        answers=(
            ("nothing", "A layer is more than its heads: look at the MLP and at a bias."),
            ("what the MLP adds, and a constant vector", ""),
        ),
        tempting=[
            (Reported("board", "several_layers"),
             "These are heads of several layers. The heads of one layer stand in one row."),
        ],
    )  # fmt: skip
    yield Ask(off_question(OFF_TEXT.format(**numbers_without(subject, trace, means))))


def numbers_without(subject: Subject, trace: Trace, means: Habits) -> dict[str, str]:
    """How far the patches move after the last layer without the head with the sharpest or the evenest rows."""
    numbers: dict[str, str] = {}
    for which, index in (("sharpest", means.entropy.argmin()), ("evenest", means.entropy.argmax())):
        layer, head = spot_of(int(index), means.entropy)
        entropy = f"{means.entropy[layer, head]:.1f}"
        numbers |= {f"{which}_layer": str(layer), f"{which}_head": str(head), f"{which}_entropy": entropy}
        for to in REPLACEMENTS:
            change = loss_without(subject, trace, [(layer, head)], to).change[-1, len(trace.prefix) :]
            numbers[f"{which}_{to}"] = percent(float(change.mean()))
    return numbers


def switched_off(text: str, trace: Trace) -> list[Spot]:
    """The heads in the text, without heads that this model does not have."""
    spots = [(int(layer), int(head)) for layer, head in (spot.split(".") for spot in text.split())]
    return sorted({(layer, head) for layer, head in spots if layer < trace.layers and head < trace.heads})


def board_data(subject: Subject, trace: Trace, means: Habits, strongest_head: Spot, silenced_heads: list[Spot]) -> dict:
    loss = loss_without(subject, trace, silenced_heads)
    patch_changes, averaged_changes = (
        loss_without(subject, trace, silenced_heads, to).change[:, len(trace.prefix) :].numpy() for to in REPLACEMENTS
    )  # (layers, patches)
    scale_end = _colour_scale_end(float(np.quantile(patch_changes, 0.98))) if silenced_heads else 1.0
    summary = None
    if trace.prefix[:1] == ("cls",):
        summary = {"name": "CLS", "values": _rounded(loss.change[:, 0].numpy())}
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
        "summary": summary,
    }


def loss_without(subject: Subject, trace: Trace, silenced_heads: list[Spot], to: str = "zero") -> AblationEffect:
    from playground.analysis.ablation import ablation_effect

    def work() -> AblationEffect:
        with subject.turns() as give_way:
            return ablation_effect(trace, silenced_heads, give_way, to)

    return subject.cached(("lost", tuple(silenced_heads), to), work)


def _rounded(numbers: np.ndarray) -> list:
    return np.round(numbers.astype(float), 4).tolist()


def _feature_sentence(trace: Trace, loss: AblationEffect, silenced_heads: list[Spot]) -> str:
    """The sentence about the effect in a model without labels."""
    explanation = (
        "This model names no classes."
        if trace.logits is not None
        else "This model has no classifier, or none that is sure: no label is shown."
    )
    if not silenced_heads:
        return f"{explanation} Switch a head off, and see how far its summary turns."
    return (
        f"{explanation} The vector that sums the picture up has turned: its cosine with what it was is "
        f"{1 - loss.cosine_change:.3f}."
    )


def _colour_scale_end(x: float) -> float:
    """A round end for the colour scale: the first of 5, 10, 20, 50, 100 % that is at least x / 1.2; else 200 %."""
    return next((n for n in (0.05, 0.1, 0.2, 0.5, 1.0) if x <= n * 1.2), 2.0)


# Is a layer the sum of its heads? -------------------------------------------------------------------------------------


def layer_sum_question(
    layer: int, head_moves: Sequence[float], moves_sum: float, layer_move: float, cosine: float
) -> Question:
    """The question: is a layer's effect the sum of its heads' effects? `head_moves`: how far tokens move without each
    head; `moves_sum`: the sum of `head_moves`; `layer_move`: how far tokens move without all heads. `cosine`: the mean
    cosine between the vectors that two heads add."""
    digits = 1 if moves_sum > 0.02 else 2
    parts = [round(100 * loss, digits) for loss in head_moves]
    total, axis_end = sum(parts), 100 * max(2 * moves_sum, 1.2 * layer_move)
    losses = (*parts, total, 100 * layer_move)
    comparison = "more" if layer_move > moves_sum else "less"
    return Question(
        "heads_sum",
        f"One after the other, that adds up to {total:.0f} %. Switch off **all heads of layer {layer} at once**, and "
        "the tokens move by ▢.",
        Number(0, round(axis_end, 1), " %", step=round(total / 50, 2) or 0.01), losses[-1],
        f"One head of layer {layer} after the other is switched off: after the last layer the patches’ tokens move by "
        f"{' + '.join(f'{part:.{digits}f} %' for part in parts)} = {total:.{digits}f} %. Without all at once they move "
        f"by {percent(layer_move, 1)}, {comparison} than the sum. There is no rule: the vectors that two heads add to "
        f"a patch have a mean cosine of {cosine:.2f} here (0: at right angles), and the norms and MLPs above are not "
        "linear. Other layers and pictures answer differently.",
        Bars(
            (*(f"head {head}" for head in range(len(head_moves))), "their sum", "all at once"), losses, axis_end,
            at=len(losses) - 1, unit=" %", title="How far the patches’ tokens move after the last layer",
        ),
        prose="The heads of a layer are a **committee**: each writes an opinion of its own, none hears another’s, and "
        f"W_O adds them up. Each bar: how far tokens move when one head of layer {layer} is silent.",
        tempting=(
            ((0.97 * total, 1.03 * total), "So it would be if all that follows were linear, and all heads pushed a "
             "token in the same direction."),
            ((0, min(parts) / 2), "One head alone moves them farther."),
            ((1.1 * max(total, losses[-1]), axis_end), "They would move as far as that if heads held each other back."),
        ),
    )  # fmt: skip


def sum_of_heads(subject: Subject, settings: Settings) -> Iterator[Part]:
    from playground.analysis.ablation import additivity, passes_of_additivity

    config = subject.vit.config
    yield choice_of_layer(subject, "summed")
    layer = layer_of(settings.summed, subject)
    if reason := subject.why_too_long(passes_of_additivity(config.depth, config.heads, layer)):
        yield Words(reason)
        return
    yield Wait("Switching heads off, one after the other …")

    def work() -> Additivity:
        trace = subject.trace()
        with subject.turns() as give_way:
            return additivity(trace, layer, give_way)

    effects = subject.cached(("addition", layer), work)
    question = layer_sum_question(layer, effects.single, effects.together, effects.whole, effects.cosine)
    yield Ask(question, f"{subject.identity} {layer}", afresh=True)
