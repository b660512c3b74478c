"""Runs interventions, which are named changes of a pass. An intervention is a function of a point and the tensor there
(`at` in playground/vit.py), so the model stays unchanged, and the changed pass is a trace like any other."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from playground import cuts, tracing
from playground.analysis import explain, faithfulness, occlusion, sinks
from playground.analysis.ablation import by_layer, chained, muting_heads, replacing_heads
from playground.analysis.direct import Direct, direct
from playground.analysis.faithfulness import Foretold, MapMethod
from playground.analysis.occlusion import Filling
from playground.errors import PlaygroundError
from playground.pictures import images
from playground.relevance import DEFAULT_METHOD
from playground.tracing import Query, index
from playground.vit import At, VisionTransformer, untouched
from playground.vit_parts import plainly

Head = tuple[int, int]  # layer, head
Positions = Query | Sequence[Query] | Mapping[Query, Query] | None
ABLATED_WORDS = {
    "mean": "at their mean over the tokens",
    "zero": "off",
    "shuffle": "with outputs of other tokens",
    "noise": "as noise",
}
PASSES = 5  # the most passes that `run_texts` needs for one text
PATCHABLE_PARTS = (*cuts.PUT_VALUES[:-1], "head:NUMBER")


class Trace(tracing.Trace):
    """A trace (playground/tracing.py: its rows, columns, features, relevance), with a pass that can be changed."""

    def again(self, at: At | Mapping[str, Callable[[Tensor], Tensor]], words: str = "an intervention at=") -> Trace:
        """Runs the same pass again with `at` (see `playground.trace`); captions say `words`.

        >>> seen = playground.trace("untrained", "meadow")
        >>> seen.again({"layers.2.mlp": lambda x: x * 0}, "the MLP of layer 2 off")
        Trace(untrained: 6 layers × 6 heads, 14 × 14 patches, the MLP of layer 2 off)
        """
        if not at:
            raise PlaygroundError("again runs the pass with something else in it: give at={point: function}.")
        return _again(self, as_function(self._need_vit(), at), words)

    def ablate(
        self,
        heads: Sequence[Head],
        to: cuts.Ablation = "mean",
        tokens: Sequence[Query] | None = None,
        mean_of: str | os.PathLike[str] | None = None,
    ) -> Trace:
        """The same pass in which each of these heads, (layer, head), gives its mean output: over the tokens of this
        picture, or over those of all pictures in the folder `mean_of`. `to`: "mean", "zero", "shuffle" (the outputs of
        other tokens) or "noise" (with the mean and the deviation of each number). Zeros overstate what a head matters:
        layers above never met them (Parodi et al., 2026). `tokens`: only there; by default everywhere.

        >>> seen = playground.trace("untrained", "meadow")
        >>> seen.ablate(heads=[(4, 0), (5, 3)])
        Trace(untrained: 6 layers × 6 heads, 14 × 14 patches, cut mean@4.0; mean@5.3)
        """
        if to not in cuts.ABLATIONS:
            raise PlaygroundError(f"A head is ablated to= {', '.join(cuts.ABLATIONS)}; given was {to!r:.40}.")
        if not isinstance(mean_of, str | os.PathLike | None):
            raise PlaygroundError(f"mean_of= is a folder of pictures; given was {mean_of!r:.40}.")
        if mean_of is not None and (to != "mean" or tokens is not None):
            raise PlaygroundError('mean_of= is a folder for to="mean", and for all tokens.')
        layers = by_layer(self, heads)
        if not layers:
            raise PlaygroundError("No head is ablated: name some as (layer, head), such as heads=[(4, 0)].")
        names = ", ".join(f"{layer}.{head}" for layer in sorted(layers) for head in sorted(layers[layer]))
        if mean_of is not None:
            means = means_of(self, sorted(layers), Path(mean_of))
            put_means = replacing_heads(layers, lambda layer, x: means[layer].to(x)[None, :, None].expand_as(x))
            return _again(self, put_means, f"heads {names} at their mean over {Path(mean_of).name}")
        texts = cuts.ablation_texts(layers, to)
        # As a text, which the command line, links and Lab read; but a text would run before functions of another at=
        is_text = to in cuts.REPLACEMENTS and tokens is None and self.at is untouched
        if is_text and len(texts) + len(self.cuts.all) <= cuts.MOST_CUTS:
            return _again(self, untouched, cut=texts)
        at = muting_heads(layers, to, None if tokens is None else [self.token(token) for token in tokens])
        where = "" if tokens is None else f" at {len(tokens)} tokens"
        return _again(self, at, f"heads {names} {ABLATED_WORDS[to]}{where}")

    def patch(
        self, other: tracing.Trace, layers: int | Sequence[int], positions: Positions = None, what: str = "residual"
    ) -> Trace:
        """The same pass with values from the pass of `other` in these layers and positions (by default all positions).
        `what`: "residual" (the tokens that leave the layer), "mlp", "attention", "queries", "keys", "values", or
        "head:3". {(7, 5): (3, 2)} puts the values of patch (3, 2) of `other` at patch (7, 5). Two numbers are a
        patch, as in `row`; [(7, 5), (7, 6)] are two.

        >>> meadow, flock = (playground.trace("untrained", name, size=(224, 224)) for name in ("meadow", "flock"))
        >>> meadow.patch(flock, layers=4, positions=(7, 5)).interventions
        ('residual of flock in layers 4 at 7,5',)
        """
        return _again(self, *patching_function(self, other, layers, positions, what))

    def paths(self, source: Head, to: Head, other: tracing.Trace | None = None) -> Paths:
        """The part of a head's effect that goes through another head's queries, keys and values, with all other heads
        unchanged. By default the source is switched off; with `other`, it gives its output in that pass.

        >>> seen = playground.trace("untrained", "meadow")
        >>> paths = seen.paths(source=(1, 0), to=(4, 5))
        >>> paths.moved("cls").through < paths.moved("cls").whole
        True
        """
        return paths(self, source, to, other)

    def occlude(
        self, blocks: int = 1, label: str | int | None = None, query: Query | None = None, by: Filling = "mean"
    ) -> Tensor:
        """(rows, columns): for each patch, the change when its block of `blocks` × `blocks` patches is blanked. For a
        label: the loss of its margin in logits, above zero if the block speaks for the label. For a query: how far its
        feature moves. `by`: "mean" (the picture's colour), "noise" or "neighbours".

        >>> seen = playground.trace("untrained", "meadow")
        >>> seen.occlude(blocks=7, query="cls").shape
        torch.Size([14, 14])
        """
        if (label is None) == (query is None):
            raise PlaygroundError("Occlusion is of a label's margin or of a query's feature: give one of the two.")
        if index(blocks) is None or not 1 <= blocks <= max(self.grid):
            raise PlaygroundError(
                f"blocks= is the side of a block, 1 to {max(self.grid)} patches of this picture; given was "
                f"{blocks!r:.40}."
            )
        squares = occlusion.blocks(self.grid, int(blocks))
        target = occlusion.Target(query, None if label is None else self.label(label))
        moves = torch.zeros(self.grid)
        for square, move in zip(squares, occlusion.Blanking(self, target, by).moved(squares), strict=True):
            moves[square] = move
        return moves

    def foretells(
        self,
        query: Query | None = None,
        label: str | int | None = None,
        method: MapMethod = DEFAULT_METHOD,
        by: Filling = "mean",
    ) -> Foretold:
        """How well a map predicts the effect of blanking each block of this picture: the rank correlation of the two,
        and the correlations of a random and of a constant map. `method`: a way of computing relevance ("gradient",
        "integrated", "attnlrp", "chefer", "legrad"), "rollout" or "raw". From now on, the figures of this trace show
        this number.

        >>> seen = playground.trace("untrained", "meadow", size=(112, 112))
        >>> seen.foretells("cls").constant
        0.0
        """
        return faithfulness.measure(self, explain.answer_of(self, query, label), method, by)

    def sinks(self, least: float = sinks.SINK_SHARE) -> list[sinks.Sink]:
        """The heads in which one token takes at least this share of everybody's weight, and which of two things that
        is: what the token carries is next to nothing, or one thing for all (see analysis/sinks.py).

        >>> seen = playground.trace("untrained", "meadow")
        >>> seen.sinks()
        []
        """
        return sinks.sinks(self, least)

    def contribution(self, layer: int, head: int, query: Query) -> Tensor:
        """(tokens,): each token's part in what the head writes into the query, signed; the parts sum to 1. A weight
        times a value may point away from the sum: then the token works against the rest of the head. It does not say
        what later layers make of it. `what="contribution"` draws them as lengths. (Cunningham, Muca Cirone, 2026.)

        >>> seen = playground.trace("untrained", "meadow")
        >>> round(float(seen.contribution(4, 0, (7, 5)).sum()), 4)
        1.0
        """
        layer, token, head = self.layer_number(layer), self.token(query), self.head_number(head)
        parts = sinks.parts_of_written(self.row(layer, head, token), sinks.in_the_stream(self, layer)[head])
        return parts / parts.sum().clamp(min=1e-30)

    def direct(self, label: str | int) -> Direct:
        """What each head and each MLP adds to a label's score on the straight way, with the last norm's deviation as it
        was: `.heads` (layers, heads) and `.mlps` (layers,) in logits, which sum, with `.rest`, to the score. It does
        not show what later layers make of a head.

        >>> seen = playground.trace("bundled", "meadow")
        >>> parts = seen.direct(label=0)
        >>> parts.heads.shape, round(parts.score - float(seen.logits[0]), 3) == 0
        (torch.Size([6, 6]), True)
        """
        return direct(self, label)

    def moved(self, before: tracing.Trace, query: Query) -> float:
        """How far a token's last feature has moved since another pass of this picture: ‖x' − x‖ / ‖x‖."""
        same_model(self, before)
        if self.grid != before.grid:
            raise PlaygroundError("The other pass has another grid: trace both with one size=.")
        return _feature_change(before, self, query)


def _again(trace: tracing.Trace, at: At, *words: str, cut: Sequence[str] = ()) -> Trace:
    vit = trace._need_vit()
    new_trace = tracing.trace_input(
        vit,
        trace._need_input(),
        scale=trace.scale,
        cut=[*trace.cuts.texts, *cut],
        at=trace.at if at is untouched else chained(trace.at, at),
        interventions=(*trace.interventions, *words),
        keep=trace.keep,
    )
    return Trace(**vars(new_trace.of(trace.picture, trace.picture_name) if trace.picture is not None else new_trace))


def as_function(vit: VisionTransformer, at: At | Mapping[str, Callable[[Tensor], Tensor]] | None) -> At:
    """Turns {point: function of the tensor there} into one function of point and tensor; a function stays as it is."""
    if at is None:
        return untouched
    if not isinstance(at, Mapping):
        if not callable(at):
            raise PlaygroundError(
                f"at= is a function of (point, tensor), or {{point: function}}; given was {at!r:.60}."
            )
        return at
    points = vit.points()
    for point, function in at.items():
        if point not in points:
            similar = difflib.get_close_matches(str(point), points, 1)
            raise PlaygroundError(
                f"{vit.name} has no point {point!r:.60}{f': did you mean {similar[0]!r}?' if similar else ''} "
                f"vit.points() lists its {len(points)}."
            )
        if not callable(function):
            raise PlaygroundError(f"At {point!r} belongs a function of a tensor; given was {type(function).__name__}.")
    return lambda point, x: at[point](x) if point in at else x


def means_of(trace: tracing.Trace, layers: Sequence[int], folder: Path) -> dict[int, Tensor]:
    """{layer: (h, d)}: the mean output of each head over all tokens of all pictures in a folder."""
    vit, c = trace._need_vit(), trace._need_vit().config
    points = [f"layers.{layer}.attention.heads" for layer in layers]
    totals = dict.fromkeys(layers, torch.zeros(()))
    if not (pictures := images.in_folder(folder)):
        raise PlaygroundError(f"mean_of={str(folder)!r} has no pictures to take a mean over: name one that has some.")
    for file in pictures:
        pixels = images.model_input(images.open_image(file), trace.size, c.mean, c.std, c.interpolation)
        for layer, head_outputs in zip(layers, collect_tensors(vit, pixels, points, trace).values(), strict=True):
            totals[layer] = totals[layer] + head_outputs[0].float().mean(-2)
    return {layer: total / len(pictures) for layer, total in totals.items()}


@plainly
def collect_tensors(
    vit: VisionTransformer, pixels: Tensor, points: Iterable[str], model_trace: tracing.Trace
) -> dict[str, Tensor]:
    """{point: tensor} from a pass with the scale and cuts of `model_trace`, in the order of the pass."""
    point_set, tensors, intervene = set(points), {}, model_trace.intervening()

    def at(point: str, x: Tensor) -> Tensor:
        x = intervene(point, x)
        if point in point_set:
            tensors[point] = x.detach()
        return x

    with torch.no_grad():
        vit.record(pixels.to(vit.patch_embed.proj.weight), model_trace.scale, at)
    return tensors


# Patching -------------------------------------------------------------------------------------------------------------


def patching_function(
    trace: tracing.Trace, other: tracing.Trace, layers: int | Sequence[int], positions: Positions, what: str
) -> tuple[At, str]:
    same_model(trace, other)
    given: Any = layers
    is_many = isinstance(given, Iterable) and index(given) is None and not isinstance(given, str)
    layer_numbers = list(dict.fromkeys(map(trace.layer_number, given if is_many else [given])))
    part, head = _point_and_head(trace, what)
    targets, sources, position_words = _token_pairs(trace, other, positions)
    points = {f"layers.{layer}.{part}" for layer in layer_numbers}
    if not points:
        raise PlaygroundError("Nothing is put in place of anything: name a layer.")
    other_tensors = collect_tensors(other._need_vit(), other._need_input(), points, other)

    def at(point: str, x: Tensor) -> Tensor:
        if point not in points:
            return x
        x, other_x = x.clone(), other_tensors[point].to(x)
        head_index = slice(None) if head is None else head
        if x.dim() == 4:  # (B, h, N, d)
            x[:, head_index, targets] = other_x[:, head_index, sources]
        else:
            x[:, targets] = other_x[:, sources]
        return x

    other_name = other.picture_name or "another picture"
    return at, f"{what} of {other_name} in layers {', '.join(map(str, layer_numbers))}{position_words}"


def _point_and_head(trace: tracing.Trace, what: str) -> tuple[str, int | None]:
    """(the point in a layer, the head or None)"""
    kind, _, number = str(what).partition(":")
    if kind == "head" and number.isdecimal():
        return "attention.heads", trace.head_number(int(number))
    if number or kind not in PATCHABLE_PARTS:
        raise PlaygroundError(f"What is patched is {', '.join(PATCHABLE_PARTS)}; given was {what!r:.60}.")
    return (f"attention.{kind}" if kind in ("queries", "keys", "values") else kind), None


def _token_pairs(trace: tracing.Trace, other: tracing.Trace, positions: Positions) -> tuple[list[int], list[int], str]:
    """(tokens that are replaced in this pass, tokens of the other pass that replace them, words for a caption)."""
    if positions is None:
        if trace.grid != other.grid:
            grids = " and ".join(f"{rows} × {columns}" for rows, columns in (trace.grid, other.grid))
            raise PlaygroundError(f"These passes have {grids} patches: name positions, or trace both with one size=.")
        all_tokens = list(range(trace.tokens))
        return all_tokens, all_tokens, ""
    if isinstance(positions, Mapping):
        pairs = list(positions.items())
    else:
        given: Any = positions
        is_single = isinstance(given, str) or not isinstance(given, Iterable) or index(given) is not None
        queries = [given] if is_single else list(given)
        is_patch = not is_single and len(queries) == 2 and all(index(n) is not None for n in queries)
        pairs = [(query, query) for query in ([given] if is_patch else queries)]
    if not pairs:
        raise PlaygroundError("Nothing is put in place of anything: name a position.")
    targets, sources = [trace.token(target) for target, _ in pairs], [other.token(source) for _, source in pairs]
    names = [
        (_token_name(trace, target), _token_name(other, source))
        for target, source in zip(targets, sources, strict=True)
    ]
    words = " ".join(f"{target} (from {source})" if target != source else target for target, source in names)
    return targets, sources, f" at {words}"


def _token_name(trace: tracing.Trace, token: int) -> str:
    place = token - len(trace.prefix)
    return trace.prefix[token] if place < 0 else "{},{}".format(*divmod(place, trace.grid[1]))


def same_model(trace: tracing.Trace, other: tracing.Trace) -> VisionTransformer:
    vit, other_vit = trace._need_vit(), tracing.checked_trace(other)._need_vit()
    if (trace.model, vit.config) != (other.model, other_vit.config):
        raise PlaygroundError(
            f"Tokens can be moved within one model only; given were traces of {trace.model} and {other.model}. Trace "
            "both pictures through the same model."
        )
    return vit


# Paths ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Moves:
    whole: float  # the move if everything after the source gets the changed source
    through: float  # the move if only the receiver gets the changed source


@dataclass(frozen=True)
class Paths:
    """The passes of path patching on one picture: one without a change, and two with a changed source."""

    before: tracing.Trace
    whole: Trace  # everything after the source gets the changed source
    through: Trace  # only the receiver gets the changed source; everything after the receiver changes with it

    def moved(self, query: Query) -> Moves:
        """How far a token's last feature moves: ‖x' − x‖ / ‖x‖."""
        return Moves(_feature_change(self.before, self.whole, query), _feature_change(self.before, self.through, query))

    def margin(self, label: str | int) -> Moves:
        """The fall of a label's margin, in logits."""
        number, multi = self.before.label(label), self.before._need_vit().config.multi_label
        logits = (trace.logits for trace in (self.before, self.whole, self.through))
        margins = [float(occlusion.margin(each, number, multi)) for each in logits if each is not None]
        return Moves(margins[0] - margins[1], margins[0] - margins[2])


def paths(trace: tracing.Trace, source: Head, to: Head, other: tracing.Trace | None = None) -> Paths:
    """Path patching (Wang et al., 2023). A pass with the changed source and all other heads as before gives the
    receiver's queries, keys and values. These are put into the receiver of a pass that is otherwise unchanged."""
    ((layer, (head,)),) = by_layer(trace, [source]).items()
    ((receiver_layer, (receiver,)),) = by_layer(trace, [to]).items()
    if receiver_layer <= layer:
        raise PlaygroundError(
            f"Nothing of layer {layer} reaches a head of layer {receiver_layer}: the receiver lies in a later layer."
        )
    head_points = [f"layers.{number}.attention.heads" for number in range(trace.layers)]
    vit, head_outputs = trace._need_vit(), collect_tensors(trace._need_vit(), trace._need_input(), head_points, trace)
    if other is None:
        new_output, caption = torch.zeros_like(head_outputs[head_points[layer]]), f"head {layer}.{head} off"
    else:
        same_model(trace, other)
        if trace.grid != other.grid:
            raise PlaygroundError("The other picture's pass has another grid: trace both with one size=.")
        new_output = collect_tensors(vit, other._need_input(), [head_points[layer]], other)[head_points[layer]]
        caption = f"head {layer}.{head} of {other.picture_name or 'another picture'}"
    change_source = replacing_heads({layer: [head]}, lambda _, x: new_output.to(x))
    points = [f"layers.{receiver_layer}.attention.{part}" for part in ("queries", "keys", "values")]
    receiver_inputs: dict[str, Tensor] = {}

    def keep(point: str, x: Tensor) -> Tensor:
        if point in points:
            receiver_inputs[point] = x
        return x

    _again(trace, chained(chained(head_outputs.get, change_source), keep), "")

    def receive(point: str, x: Tensor) -> Tensor:
        if point not in receiver_inputs:
            return x
        x = x.clone()
        x[:, receiver] = receiver_inputs[point][:, receiver]
        return x

    path_caption = f"{caption}, through head {receiver_layer}.{receiver} alone"
    return Paths(trace, _again(trace, change_source, caption), _again(trace, receive, path_caption))


# As texts -------------------------------------------------------------------------------------------------------------


def run_texts(trace: tracing.Trace, texts: Sequence[str], other: tracing.Trace | None) -> tracing.Trace:
    """Runs interventions given as texts (see `cuts.is_put`), one after the other. `other`: the other picture's pass."""
    for text in texts:
        intervention = cuts.read_put(text)
        if intervention.what in cuts.PUT_VALUES and other is None:
            raise PlaygroundError(f"{text!r:.80} takes something of another picture's pass: name that picture, too.")
        layers = range(trace.layers) if intervention.layers is None else intervention.layers
        heads = range(trace.heads) if intervention.heads is None else intervention.heads
        if intervention.to is not None:
            giver = other if intervention.what in cuts.PUT_VALUES else None
            trace = paths(trace, (layers[0], heads[0]), intervention.to, giver).through
            continue
        for what in (f"head:{head}" for head in heads) if intervention.what == "head" else (intervention.what,):
            places: Any = intervention.places and dict(intervention.places)
            source: Any = other
            trace = _again(trace, *patching_function(trace, source, layers, places, what))
    return trace


def _feature_change(before: tracing.Trace, after: tracing.Trace, query: Query) -> float:
    return float(tracing.relative_change(*(trace.features()[trace.token(query)] for trace in (after, before))))
