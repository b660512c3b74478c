"""Serves relevance, occlusion, the logit lens, and likeness to a text.

Relevance and occlusion explain a token's feature (`query=7,5`) or, if the model has a classifier, a label (`label=3`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.serving import chosen, effort, queue
from playground.serving.answering import Refused
from playground.serving.routes_traces import Asked, matrix, part, place

if TYPE_CHECKING:
    from playground.analysis import occlusion
    from playground.analysis.faithfulness import Foretold
    from playground.tracing import Trace
    from playground.vit import Config

RELEVANCE_PASSES = 3.5  # highest cost of relevance in forward passes, as measured
FIRST_PASSES = (24, 48, 96)  # numbers of passes after which the browser shows a map of occlusion
MOST_SECONDS = 60.0  # most seconds of an occlusion; other people's work runs between its passes
MOST_LABELS = 1000
LIKELIEST_COUNT = 3


@part
def relevance(asked: Asked) -> Response:
    """The relevance of each token for the answer, through all layers."""
    trace = asked.trace()
    question = _question(asked.words, trace)
    effort.check(trace._network, trace.grid, RELEVANCE_PASSES)
    with queue.turns() as give_way:
        return matrix(trace.relevance(**question, give_way=give_way).numpy()[None])


@part
def labels(asked: Asked) -> Response:
    """[number, name, probability] of the model's labels, the likeliest first; an empty list without a classifier."""
    trace = asked.trace()
    if trace.logits is None:
        return JSONResponse({"labels": []})
    c = trace.vit.config  # type: ignore[union-attr]
    shares = c.shares(trace.logits).tolist()
    label_numbers = sorted(range(c.classes), key=lambda i: -shares[i])[:MOST_LABELS]
    return JSONResponse({"labels": [(i, _label_name(c, i), round(shares[i], 5)) for i in label_numbers]})


@part
def answers(asked: Asked) -> Response:
    """The logit lens. With `layer` and `label`: the label's probability for each token after that layer. With `query`:
    the likeliest labels of one token after each layer."""
    trace = asked.trace()
    if "query" in asked.words:
        token = trace.token(place(asked.words["query"]))
        effort.check(trace._network, trace.grid, trace.layers / 2)
        with queue.turns() as give_way:
            return JSONResponse({"layers": [_likeliest(trace, i, token, give_way) for i in range(trace.layers)]})
    layer, label = chosen.number(asked.words, "layer", trace.layers), _label(asked.words, trace)
    with queue.turn():
        return matrix(trace.answers(layer)[:, label].numpy()[None])


def _likeliest(trace: Trace, layer: int, token: int, give_way: Callable[[], None]) -> list[tuple[str, float]]:
    give_way()
    logits = trace.answers(layer)[token]
    likeliest = logits.topk(min(LIKELIEST_COUNT, len(logits)))
    c = trace.vit.config  # type: ignore[union-attr]
    likeliest_pairs = zip(likeliest.values.tolist(), likeliest.indices.tolist(), strict=True)
    return [(_label_name(c, i), round(p, 5)) for p, i in likeliest_pairs]


@part
def text(asked: Asked) -> Response:
    """The cosine of each token after a layer with a text."""
    from playground.analysis.explain import likeness
    from playground.models import text_tower

    trace = asked.trace()
    layer = chosen.number(asked.words, "layer", trace.layers)
    with queue.turn():
        text_direction = text_tower.direction(trace.vit, asked.words.get("text", ""))  # type: ignore[arg-type]
        return matrix(likeness(trace, text_direction, layer).numpy()[None])


# Occlusion ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OcclusionResult:
    passes: int
    map: np.ndarray  # (patches,)
    side: int  # side of the smallest blocks, if all of them were blanked; else 0
    moves: np.ndarray  # (blocks,)
    sides: tuple[int, ...]  # sides of all blanked blocks
    answer_stays: bool  # whether no block moves the answer
    known_moves: tuple[list[bytes], list[float]]  # the blanked blocks, and how far each moved the answer


@part
def occluded(asked: Asked) -> Response:
    """Occlusion: how far the answer moves when patches are blanked, and how well relevance predicts this. A request
    with the next `step` continues the measurement with more passes."""
    from playground.analysis import occlusion

    trace = asked.trace()
    question, blanking = _question(asked.words, trace), asked.words.get("by", "mean")
    if blanking not in occlusion.FILLINGS:
        raise Refused(f"Patches are blanked by {', '.join(occlusion.FILLINGS)}; asked was {blanking[:20]!r}.")
    effort.check(trace._network, trace.grid, occlusion.BATCH_SIZE)
    pass_seconds = effort.seconds(trace._network, math.prod(trace.grid))
    most_passes = int(max(FIRST_PASSES[0], min(occlusion.passes_of(trace.grid), MOST_SECONDS / pass_seconds)))
    steps = [*(passes for passes in FIRST_PASSES if passes < most_passes), most_passes]
    step = chosen.number(asked.words, "step", len(steps))

    def result_of(step: int) -> OcclusionResult:
        return asked.kept(("occluded", *question.items(), blanking, steps[step]), lambda: run(step))

    def run(step: int) -> OcclusionResult:
        history = result_of(step - 1).known_moves if step else ([], [])
        with queue.turns() as give_way:
            measurement = occlusion.Blanking(trace, occlusion.Target(**question), blanking, give_way)
            measurement.known.update(zip(*history, strict=True))
            *_, state = occlusion.occlusion(measurement, steps[step])
        history = (list(measurement.known), list(measurement.known.values()))
        numbers = state.map.flatten().numpy(), state.complete_side, np.array(state.moves)
        return OcclusionResult(state.passes, *numbers, state.sides, state.answer_stays, history)

    result = result_of(step)
    blocks = occlusion.comparable(occlusion.blocks(trace.grid, result.side)) if result.side else []
    header: dict[str, object] = {"passes": result.passes, "of": most_passes, "steps": len(steps), "side": result.side}
    header |= {"blocks": len(blocks)} | _measurement_fields(trace, occlusion.Target(**question), result)
    if len(blocks) >= occlusion.FEWEST_BLOCKS:
        comparison = _tested_by_occlusion(asked, trace, question, blanking, result)
        header |= {"foretells": round(comparison.correlation, 4), "random": round(comparison.random, 4)}
    return matrix(result.map[None], **header)


def _measurement_fields(trace: Trace, question: occlusion.Target, result: OcclusionResult) -> dict[str, object]:
    """A sentence on how the map was measured, as in a figure; if blanking moves nothing, also the smallest change that
    counts."""
    from playground.figures.drawing import captions  # imported on demand, with matplotlib

    method = f"blanked in {captions.sides(result.sides)}"
    if question.label is not None:
        method += f"; in logits ({captions.margin(trace)})"
    if not result.answer_stays:
        return {"how": method}
    least = question.least_move
    least_change = captions.percent(least) if question.label is None else f"{least:g} logits"
    return {"how": method, "floor": least, "unmoved": least_change}


def _tested_by_occlusion(
    asked: Asked, trace: Trace, question: dict, blanking: str, result: OcclusionResult
) -> Foretold:
    """Measures how well relevance predicts occlusion. The trace also keeps the result, for figures of the trace."""
    from playground.analysis import faithfulness
    from playground.analysis.occlusion import Target
    from playground.relevance import DEFAULT_METHOD

    compared = trace, Target(**question), DEFAULT_METHOD

    def make() -> Foretold:
        with queue.turns() as give_way:
            return faithfulness.compare(*compared, blanking, result.side, result.moves.tolist(), give_way)

    key = ("foretells", *question.items(), blanking, result.side, hash(result.moves.tobytes()))
    return faithfulness.remember(*compared, asked.kept(key, make))


# Words ----------------------------------------------------------------------------------------------------------------


def _question(words: Mapping[str, str], trace: Trace) -> dict:
    """{"label": 3} or {"query": (7, 5)}"""
    if "label" in words:
        return {"label": _label(words, trace)}
    query = place(words.get("query", ""))
    trace.token(query)  # raises for an unknown token
    return {"query": query}


def _label(words: Mapping[str, str], trace: Trace) -> int:
    classes = trace.vit.classes  # type: ignore[union-attr]
    if not classes:
        trace.label(0)  # raises: no labels are shown
    return chosen.number(words, "label", classes)


def _label_name(config: Config, number: int) -> str:
    return config.labels[number] if config.labels else f"class {number}"


ROUTES = [
    Route("/api/trace/{digest}/relevance", relevance),
    Route("/api/trace/{digest}/labels", labels),
    Route("/api/trace/{digest}/answers", answers),
    Route("/api/trace/{digest}/text", text),
    Route("/api/trace/{digest}/occluded", occluded),
]
