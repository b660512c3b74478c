"""Serves the description of a trace, layers, features, flows, names of heads, the story's row, and the effect of
another scale.

A trace's address holds a digest of the inputs, so every cache may keep the trace of a sample. A request for a trace of
somebody's own picture needs that person's key.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.errors import PlaygroundError
from playground.models.names import plain_name
from playground.pack import in_eight_bits, pack
from playground.samples import named, start_patch
from playground.serving import chosen, models, own_models, people, queue, traces, worked
from playground.serving.answering import Refused, answer
from playground.serving.cache import Cache
from playground.serving.people import Person
from playground.serving.pictures import Picture
from playground.serving.routes_pictures import PRIVATE
from playground.serving.routes_samples import FOREVER, credit, picture_address
from playground.serving.traces import Setup

MOST_LAYERS = 64  # layers in one answer
MOST_HEADS = 64
MOST_FLOWS = 1400  # number of tokens up to which all rollouts are sent together; lens/features.js has the same number
LARGEST_FLOAT16 = 65504  # the largest float16
BINARY = "application/octet-stream"


async def describe(request: Request) -> Response:
    person = people.person_of(request)

    def work() -> Response:
        picture, setup = chosen.read(request.query_params, person)
        return JSONResponse(trace_record(picture, setup, person), headers={"Cache-Control": "no-store"})

    return await answer(request, work)


def trace_record(picture: Picture, setup: Setup, person: Person | None) -> dict:
    """The description of a trace, which the browser needs before it asks for numbers."""
    if picture.is_sample:
        sample = named(picture.name)
        fields = {"start": list(sample.start), "credit": credit(sample), "address": picture_address(picture.name)}
        fields |= {"title": picture.name, "sample": picture.name}
    else:
        fields = {"title": picture.name, "mine": picture.id, "address": f"api/pictures/{picture.id}.jpg"}
    coarse_setup = traces.first_look(picture, setup, cache_of(person))
    grids = [
        {"detail": detail, "grid": list(traces.grid(picture, replace(setup, detail=detail, is_first_look=False)))}
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
        "first": coarse_setup is not None,  # whether a coarser trace, shown first, saves time
        "usual": picture.is_sample and setup == chosen.usual_setup(picture.sample_name),
        "opens": {key: int(word) for key, word in chosen.opening_view(picture.sample_name, setup).items()},
        "picture": {"id": picture.id, **fields},
        "text": own_models.text_tower_folder(setup.model) is not None,
        "private": not picture.is_sample,
    }


def cache_of(person: Person | None) -> Cache | None:
    return person and person.traces


async def part(request: Request, make) -> Response:
    """Answers with `make(picture, setup, person)`; caches may keep answers about samples."""
    person = people.person_of(request)

    def work() -> Response:
        picture, setup = chosen.read(request.query_params, person)
        chosen.check_digest(request.path_params["digest"], picture, setup)
        response = make(picture, setup, person)
        if "Cache-Control" not in response.headers:
            response.headers.update(FOREVER if picture.is_sample else PRIVATE)
        return response

    return await answer(request, work)


async def layers(request: Request) -> Response:
    words = request.query_params

    def make(picture: Picture, setup: Setup, person: Person | None) -> Response:
        layer_numbers = chosen.numbers(words, "layers", MOST_LAYERS) if "layers" in words else None
        heads = chosen.numbers(words, "heads", MOST_HEADS) if "heads" in words else None
        if not picture.is_sample and "finer" in words:  # a coarser trace is on the screen, so this one may wait
            traces.trace(picture, setup, cache_of(person), finer=True)
        data = traces.pack_of_layers(picture, setup, cache_of(person), layer_numbers, heads)
        return Response(in_eight_bits(data) if "rounded" in words else data, media_type=BINARY)

    return await part(request, make)


async def features(request: Request) -> Response:
    """Every token's vector after a layer, as float16."""

    def make(picture: Picture, setup: Setup, person: Person | None) -> Response:
        trace = traces.trace(picture, setup, cache_of(person))
        layer = chosen.number(request.query_params, "layer", trace.layers)
        with queue.turn():
            return matrix(trace.features(layer).numpy())

    return await part(request, make)


async def flows(request: Request) -> Response:
    """The rollout of every token, or of one: `query=7,5` or the name of a prefix token."""

    def make(picture: Picture, setup: Setup, person: Person | None) -> Response:
        trace, query = traces.trace(picture, setup, cache_of(person)), request.query_params.get("query")
        if query is None and trace.tokens > MOST_FLOWS:
            raise Refused(f"The rollout of all {trace.tokens} tokens is too much to send: lock a patch.")
        with queue.turns() as give_way:
            if query is None:
                return matrix(trace.rollout(give_way=give_way).numpy())
            return matrix(trace.rollout(place(query), give_way).numpy()[None])

    return await part(request, make)


def place(query: str) -> tuple[int, int] | str:
    if patch := re.fullmatch(r"([0-9]{1,4}),([0-9]{1,4})", query):
        return int(patch[1]), int(patch[2])
    if re.fullmatch(r"[a-z0-9]{1,8}", query):  # the trace checks whether it has such a token
        return query
    raise Refused(f"A patch is row,column, such as 7,5, or the name of a prefix token; asked was {query[:20]!r}.")


def matrix(values: np.ndarray) -> Response:
    return Response(
        pack({}, {"matrix": np.clip(values, -LARGEST_FLOAT16, LARGEST_FLOAT16).astype(np.float16)}), media_type=BINARY
    )


async def names(request: Request) -> Response:
    """What each head of a layer does on average over the picture."""

    def make(picture: Picture, setup: Setup, person: Person | None) -> Response:
        trace = traces.trace(picture, setup, cache_of(person))
        layer = chosen.number(request.query_params, "layer", trace.layers)
        cache = traces.names_of_samples() if picture.is_sample else person.head_names
        return JSONResponse(
            {"heads": cache.get((picture.id, setup, layer), lambda: traces.names_of_heads(trace, layer))}
        )

    return await part(request, make)


async def heads(request: Request) -> Response:
    """The numbers of all heads, from which the browser makes what lessons say. `at`: another scale for their rows."""

    def make(picture: Picture, setup: Setup, person: Person | None) -> Response:
        from playground.analysis.heads import head_report

        scale = _scale(request.query_params.get("at", ""))
        trace = traces.trace(picture, setup, cache_of(person))

        def work() -> dict:
            with queue.turns() as give_way:
                return head_report(trace, start_patch(picture.name, trace.grid), scale, give_way)

        own_results = person.results if person else worked.shared_results()
        return JSONResponse(worked.cached_result(picture, setup, own_results, ("heads", scale), work))

    return await part(request, make)


def _scale(text: str) -> float | None:
    if text and not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,20})?", text, re.ASCII):
        raise Refused(f"A scale is a number such as 0.125; asked was {text[:20]!r}.")
    return float(text) or None if text else None


async def moved(request: Request) -> Response:
    """How far this pass's cuts move a patch's feature; as a control, also how far the feature moves if the cuts are
    made to other patches with the same total attention."""

    def make(picture: Picture, setup: Setup, person: Person | None) -> Response:
        from playground.analysis import cutting

        query = place(request.query_params.get("query", ""))
        uncut_trace = traces.trace(picture, replace(setup, cut=(), other_sample=""), cache_of(person))
        if traces.further_cuts(setup):
            return JSONResponse({"by": traces.trace(picture, setup, cache_of(person)).moved(uncut_trace, query)})
        with queue.turns() as give_way:
            try:
                effect = cutting.moved_beside_controls(uncut_trace, setup.cut, query, give_way)
            except PlaygroundError as error:  # no other patches have as much attention
                return JSONResponse({"by": cutting.feature_move(uncut_trace, setup.cut, query), "says": str(error)})
        return JSONResponse({"by": effect.move, "times": effect.times, "attention": effect.attention})

    return await part(request, make)


async def story_row(request: Request) -> Response:
    """A patch's row of weights, computed as in the code that the story shows: once from the float32 numbers of the
    pass, and once from float16 copies, such as the browser has."""

    def make(picture: Picture, setup: Setup, person: Person | None) -> Response:
        import torch

        words, trace = request.query_params, traces.trace(picture, setup, cache_of(person))
        layer, head = chosen.number(words, "layer", trace.layers), chosen.number(words, "head", trace.heads)
        i, rows = trace.token(place(words.get("query", ""))), []
        with queue.turn():
            q, k = trace.record[layer].q[head], trace.record[layer].k[head]
            for some_q, some_k in ((q, k), (q.half().float(), k.half().float())):
                scores = some_q[i] @ some_k.T
                rows.append((scores / q.shape[-1] ** 0.5).softmax(-1).tolist())
        return JSONResponse({"torch": torch.__version__, "full": rows[0], "halves": rows[1]})

    return await part(request, make)


async def changed_labels(request: Request) -> Response:
    """The labels whose probabilities change with another scale in the whole pass, each with its probability before and
    after."""

    def make(picture: Picture, setup: Setup, person: Person | None) -> Response:
        from playground.analysis.scale import changed_verdicts

        trained_pass, rescaled_pass = (
            traces.trace(picture, pass_setup, cache_of(person))
            for pass_setup in (replace(setup, scale=None, cut=(), other_sample=""), setup)
        )
        return JSONResponse(
            {
                "labels": [
                    (v.label, round(v.scaled_share, 5), round(v.unscaled_share, 5))
                    for v in changed_verdicts(trained_pass, rescaled_pass)
                ]
            }
        )

    return await part(request, make)


ROUTES = [
    Route("/api/trace", describe),
    Route("/api/trace/{digest}/layers", layers),
    Route("/api/trace/{digest}/features", features),
    Route("/api/trace/{digest}/flows", flows),
    Route("/api/trace/{digest}/heads", heads),
    Route("/api/trace/{digest}/moved", moved),
    Route("/api/trace/{digest}/names", names),
    Route("/api/trace/{digest}/ran", story_row),
    Route("/api/trace/{digest}/verdict", changed_labels),
]
