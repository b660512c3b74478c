"""Serves the description of a trace, layers, features, flows, names of heads, the story's row, and the effect of
another scale.

A trace's address holds a digest of the inputs, so every cache may keep the trace of a sample. A request for a trace of
somebody's own picture needs that person's key.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.errors import PlaygroundError
from playground.models.names import plain_name
from playground.pack import pack
from playground.samples import named, start_patch
from playground.serving import chosen, models, own_models, people, pictures, queue, traces, worked
from playground.serving.answering import Refused, answered
from playground.serving.pictures import Picture
from playground.serving.routes_pictures import PRIVATE
from playground.serving.routes_samples import FOREVER, picture_address
from playground.serving.traces import Setup

if TYPE_CHECKING:
    from playground.tracing import Query, Trace

MOST_LAYERS = 64  # layers in one answer
MOST_HEADS = 64
MOST_FLOWS = 1400  # number of tokens up to which all rollouts are sent together; lens/features.js has the same number
LARGEST_FLOAT16 = 65504  # the largest float16
BINARY = "application/octet-stream"


@answered
def describe(request: Request) -> Response:
    picture, setup = chosen.read(request.query_params, people.person_of(request))
    return JSONResponse(trace_record(picture, setup), headers={"Cache-Control": "no-store"})


def trace_record(picture: Picture, setup: Setup) -> dict:
    """The description of a trace, which the browser needs before it asks for numbers."""
    fields: dict[str, object]
    if picture.is_sample:
        sample = named(picture.name)
        fields = {"start": list(sample.start), "credit": sample.credit, "address": picture_address(picture.name)}
        fields |= {"title": picture.name, "sample": picture.name}
    else:
        fields = {"title": picture.name, "mine": picture.id, "address": f"api/pictures/{picture.id}.jpg"}
    grids = [
        {"detail": detail, "grid": list(traces.grid(picture, replace(setup, detail=detail)))}
        for detail in models.details(setup.model)
    ]
    digest = chosen.digest(picture, setup)
    return {
        "id": f"{picture.id}-{digest}",
        "digest": digest,
        "model": setup.model,
        "title": plain_name(setup.model),
        "detail": setup.detail,
        "layers": None if picture.is_sample else models.load(setup.model).config.depth,  # unknown without torch
        "scale": setup.scale,
        "cut": list(setup.cut),
        "grid": list(traces.grid(picture, setup)),
        "grids": grids,
        "usual": picture.is_sample and setup == chosen.usual_setup(picture.sample_name),
        "opens": {key: int(word) for key, word in chosen.opening_view(picture.sample_name, setup).items()},
        "picture": {"id": picture.id, **fields},
        "text": own_models.text_tower_folder(setup.model) is not None,
        "private": not picture.is_sample,
    }


@dataclass(frozen=True)
class Asked:
    """A request for a part of a trace."""

    words: Mapping[str, str]
    picture: Picture
    setup: Setup

    def trace(self, **changes: Any) -> Trace:
        """The trace, or that of a pass with other settings."""
        return traces.trace(self.picture, replace(self.setup, **changes))

    def kept(self, key: tuple, make: Callable[[], Any]) -> Any:
        """What `make` gives, kept for the next request."""
        return worked.cached_result(self.picture, self.setup, key, make)


def part(make: Callable[[Asked], Response]) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that answers with what `make` gives; caches may keep answers about samples."""

    @answered
    def endpoint(request: Request) -> Response:
        words = request.query_params
        asked = Asked(words, *chosen.read(words, people.person_of(request)))
        chosen.check_digest(request.path_params["digest"], asked.picture, asked.setup)
        response = make(asked)
        if "Cache-Control" not in response.headers:
            response.headers.update(FOREVER if asked.picture.is_sample else PRIVATE)
        return response

    return endpoint


@part
def layers(asked: Asked) -> Response:
    layer_numbers = chosen.numbers(asked.words, "layers", MOST_LAYERS) if "layers" in asked.words else None
    heads = chosen.numbers(asked.words, "heads", MOST_HEADS) if "heads" in asked.words else None
    return Response(traces.pack_of_layers(asked.picture, asked.setup, layer_numbers, heads), media_type=BINARY)


@part
def features(asked: Asked) -> Response:
    """Every token's vector after a layer, as float16."""
    trace = asked.trace()
    layer = chosen.number(asked.words, "layer", trace.layers)
    with queue.turn():
        return matrix(trace.features(layer).numpy())


@part
def values(asked: Asked) -> Response:
    """Each head's values of a layer after W_O, as float16."""
    from playground.analysis.sinks import in_the_stream

    trace = asked.trace()
    layer = chosen.number(asked.words, "layer", trace.layers)
    with queue.turn():
        return matrix(in_the_stream(trace, layer).numpy())


@part
def flows(asked: Asked) -> Response:
    """The rollout of every token, or of one: `query=7,5` or the name of a prefix token."""
    trace, query = asked.trace(), asked.words.get("query")
    if query is None and trace.tokens > MOST_FLOWS:
        raise Refused(f"The rollout of all {trace.tokens} tokens is too much to send: lock a patch.")
    with queue.turns() as give_way:
        if query is None:
            return matrix(trace.rollout(give_way=give_way).numpy())
        return matrix(trace.rollout(place(query), give_way).numpy()[None])


def place(query: str) -> tuple[int, int] | str:
    if patch := re.fullmatch(r"([0-9]{1,4}),([0-9]{1,4})", query):
        return int(patch[1]), int(patch[2])
    if re.fullmatch(r"[a-z0-9]{1,8}", query):  # the trace checks whether it has such a token
        return query
    raise Refused(f"A patch is row,column, such as 7,5, or the name of a prefix token; asked was {query[:20]!r}.")


def matrix(values: np.ndarray, **header: Any) -> Response:
    data = pack(header, {"matrix": np.clip(values, -LARGEST_FLOAT16, LARGEST_FLOAT16).astype(np.float16)})
    return Response(data, media_type=BINARY)


@part
def names(asked: Asked) -> Response:
    """What each head of a layer does on average over the picture."""
    trace = asked.trace()
    layer = chosen.number(asked.words, "layer", trace.layers)
    return JSONResponse({"heads": asked.kept(("names", layer), lambda: traces.names_of_heads(trace, layer))})


@part
def heads(asked: Asked) -> Response:
    """The numbers of all heads, from which the browser makes what lessons say. `at`: another scale for their rows."""
    return JSONResponse(_numbers_of_heads(asked, _scale(asked.words.get("at", ""))))


def _numbers_of_heads(asked: Asked, scale: float | None) -> dict:
    from playground.analysis.heads import head_report

    trace = asked.trace()

    def work() -> dict:
        with queue.turns() as give_way:
            return head_report(trace, start_patch(asked.picture.name, trace.grid), scale, give_way)

    return asked.kept(("heads", scale), work)


def look_at_first_picture() -> None:
    """Runs the model on the picture that opens first, and measures its heads: a server's first reader does not wait."""
    picture = pictures.sample(chosen.first_sample())
    _numbers_of_heads(Asked({}, picture, chosen.usual_setup(picture.sample_name)), None)


def _scale(text: str) -> float | None:
    if text and not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,20})?", text, re.ASCII):
        raise Refused(f"A scale is a number such as 0.125; asked was {text[:20]!r}.")
    return float(text) or None if text else None


@part
def moved(asked: Asked) -> Response:
    """How far this pass's cuts move a patch's feature; as a control, also how far the feature moves if the cuts are
    made to other patches with the same total attention, or if heads give nothing instead of their mean (Parodi et al.,
    2026: zeros overstate)."""
    from playground.analysis import cutting

    query = place(asked.words.get("query", ""))
    uncut_trace = asked.trace(cut=(), other_sample="")
    if traces.further_cuts(asked.setup):
        changed: Any = asked.trace()  # an intervention
        return JSONResponse({"by": changed.moved(uncut_trace, query)})
    with queue.turns() as give_way:
        try:
            effect = cutting.moved_beside_controls(uncut_trace, asked.setup.cut, query, give_way)
        except PlaygroundError as error:  # no other patches have as much attention
            answer: dict[str, Any] = {"by": cutting.feature_move(uncut_trace, asked.setup.cut, query)}
            zeros = [re.sub("^mean@", "zero@", text) for text in asked.setup.cut]
            if zeros != list(asked.setup.cut):
                answer["zero"] = cutting.feature_move(uncut_trace, zeros, query)
            return JSONResponse(answer | {"says": str(error)})
    return JSONResponse({"by": effect.move, "times": effect.times, "attention": effect.attention})


@part
def story_row(asked: Asked) -> Response:
    """A patch's row of weights, computed as in the code that the story shows: once from the float32 numbers of the
    pass, and once from float16 copies, such as the browser has."""
    import torch

    trace = asked.trace()
    layer, head = chosen.number(asked.words, "layer", trace.layers), chosen.number(asked.words, "head", trace.heads)
    i, rows = trace.token(place(asked.words.get("query", ""))), []
    with queue.turn():
        q, k = trace.record[layer].q[head], trace.record[layer].k[head]
        for some_q, some_k in ((q, k), (q.half().float(), k.half().float())):
            scores = some_q[i] @ some_k.T
            rows.append((scores / q.shape[-1] ** 0.5).softmax(-1).tolist())
    return JSONResponse({"torch": torch.__version__, "full": rows[0], "halves": rows[1]})


@part
def inside(asked: Asked) -> Response:
    """One token's way through one head, see playground/analysis/inside.py."""
    trace = asked.trace()
    layer, head = chosen.number(asked.words, "layer", trace.layers), chosen.number(asked.words, "head", trace.heads)
    with queue.turn():
        data = inside_bytes(trace, layer, head, place(asked.words.get("query", "")))
    return Response(data, media_type=BINARY)


def inside_bytes(trace: Trace, layer: int, head: int, query: Query) -> bytes:
    from playground.analysis.inside import inside, largest_number, query_bias

    arrays = inside(trace, layer, head, query)
    halves = {name: x.clamp(-LARGEST_FLOAT16, LARGEST_FLOAT16).half().numpy() for name, x in arrays.items()}
    header = {"bias": query_bias(trace, layer, head, query), "number": largest_number(trace, layer, head, query)}
    return pack(header, halves)


@part
def changed_labels(asked: Asked) -> Response:
    """The labels whose probabilities change with another scale in the whole pass, each with its probability before and
    after."""
    from playground.analysis.scale import changed_verdicts

    verdicts = changed_verdicts(asked.trace(scale=None, cut=(), other_sample=""), asked.trace())
    labels = [(v.label, round(v.scaled_share, 5), round(v.unscaled_share, 5)) for v in verdicts]
    return JSONResponse({"labels": labels})


ROUTES = [
    Route("/api/trace", describe),
    Route("/api/trace/{digest}/layers", layers),
    Route("/api/trace/{digest}/features", features),
    Route("/api/trace/{digest}/values", values),
    Route("/api/trace/{digest}/flows", flows),
    Route("/api/trace/{digest}/heads", heads),
    Route("/api/trace/{digest}/inside", inside),
    Route("/api/trace/{digest}/moved", moved),
    Route("/api/trace/{digest}/names", names),
    Route("/api/trace/{digest}/ran", story_row),
    Route("/api/trace/{digest}/verdict", changed_labels),
]
