"""From a trace to what a panel shows: numbers on the patch grid, and the range of their colours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from PIL import Image

from playground.errors import PlaygroundError
from playground.figures.drawing import light
from playground.figures.drawing.spec import POOLINGS, VALUES, Query, Spec

if TYPE_CHECKING:
    from torch import Tensor

    from playground.analysis.occlusion import Step
    from playground.relevance import Method
    from playground.tracing import Trace


@dataclass(frozen=True)
class Subject:
    """A trace, and its picture as it is drawn."""

    seen: Trace
    image: Image.Image
    name: str


GridSubjects = dict[tuple[str, str], Subject]  # the traces of a grid: (picture, model) -> trace and picture
Other = Subject | GridSubjects | None  # the second subject of a figure, or all subjects of a grid


@dataclass(frozen=True)
class OneMap:
    """What a panel asks for."""

    subject: Subject
    spec: Spec  # with this map's layer, head and query
    scale: str | None  # the scale in this layer; None: the scale of the pass
    asker: Trace | None = None  # for similarity between two pictures: the trace whose patch is the query
    given: np.ndarray | None = None  # values of one's own, (rows, columns), drawn instead of the trace's

    @property
    def seen(self) -> Trace:
        return self.subject.seen

    @property
    def place(self) -> tuple[Any, ...]:
        return self.spec.layer, self.spec.head, self.spec.query, self.scale

    @property
    def layer(self) -> int:
        return cast(int, self.spec.layer)  # settled, like the query

    @property
    def query(self) -> Any:
        return self.spec.query

    @property
    def by_row(self) -> bool:
        return self.spec.direction == "row"

    @property
    def explained(self) -> dict[str, Any]:
        return {"label": int(self.spec.label)} if self.spec.label else {"query": self.spec.query}


# The functions that compute the numbers of each way to look, one for each record of ways.py. Those of the browser are
# in microscope/core/ways.js.


def weight(one: OneMap) -> Tensor:
    return (one.seen.row if one.by_row else one.seen.column)(*one.place)


def value(one: OneMap) -> Tensor:
    norms = one.seen.value_norms(one.layer)[cast(int, one.spec.head)]
    return weight(one) * (norms if one.by_row else norms[one.seen.token(one.query)])


def contribution(one: OneMap) -> Tensor:
    from playground.analysis.sinks import in_the_stream, parts_of_written

    if not one.by_row:
        raise PlaygroundError("A contribution is a part of what a head writes into one query: it has no column.")
    return parts_of_written(weight(one), in_the_stream(one.seen, one.layer)[cast(int, one.spec.head)])


def score(one: OneMap) -> Tensor:
    return (one.seen.scores if one.by_row else one.seen.column_scores)(*one.place)


def similarity(one: OneMap) -> Tensor:
    if one.asker is None:
        return one.seen.similarity(one.query, one.layer)
    import torch

    query_feature = one.asker.features(one.layer)[one.asker.token(one.query)]
    return torch.cosine_similarity(one.seen.features(one.layer), query_feature[None], dim=-1)


def norm(one: OneMap) -> Tensor:
    return one.seen.features(one.layer).norm(dim=-1)


def rollout(one: OneMap) -> Tensor:
    return one.seen.rollout(one.query)


def relevance(one: OneMap) -> Tensor:
    return one.seen.relevance(**one.explained, method=cast("Method", one.spec.method), signed=one.spec.for_and_against)


def occlusion(one: OneMap) -> tuple[Tensor, Step]:
    """(how far blanking each patch moves the answer, 0 for prefix tokens; the blocks that were blanked)"""
    import torch

    from playground.analysis import occlusion

    target = occlusion.Target(**one.explained)
    *_, last_step = occlusion.occlusion(occlusion.Blanking(one.seen, target, one.spec.blank))
    return torch.cat([torch.zeros(len(one.seen.prefix)), last_step.map.flatten()]), last_step


def label(one: OneMap) -> Tensor:
    number = one.seen.label(int(one.spec.label)) if one.spec.label else int(cast("Tensor", one.seen.logits).argmax())
    return one.seen.answers(one.layer)[:, number]  # (tokens, labels)


def text(one: OneMap) -> Tensor:
    from playground.analysis.explain import likeness
    from playground.models import text_tower

    return likeness(one.seen, text_tower.direction(one.seen._network, one.spec.text), one.layer)


NUMBERS: dict[str, Callable[[OneMap], Tensor | tuple[Tensor, Step]]] = {
    f.__name__: f
    for f in (weight, value, contribution, score, similarity, norm, rollout, relevance, occlusion, label, text)
}


def answer(one: OneMap) -> tuple[Tensor, Step | None]:
    """(the numbers of the tokens, the blocks that an occlusion has blanked)"""
    if one.spec.way.of_heads and one.spec.head in POOLINGS:  # the mean or the maximum over heads
        import torch

        every = [answer(replace(one, spec=replace(one.spec, head=n)))[0] for n in range(one.seen.heads)]
        head_numbers = torch.stack(every)  # (heads, tokens)
        return head_numbers.mean(0) if one.spec.head == "mean" else head_numbers.amax(0), None
    numbers = NUMBERS[one.spec.what](one)
    return numbers if isinstance(numbers, tuple) else (numbers, None)


POOLED = {"mean": "the mean of all heads", "max": "the largest of all heads"}
LEAST_PEAK = 0.01  # × the end of a signed scale: a smaller number is not written on the picture
LOG_RANGE = 1000  # a logarithmic scale begins at 1/LOG_RANGE of its end


@dataclass(frozen=True)
class Map:
    """What one panel shows of each token: numbers of a head, of a rollout or of another way to look."""

    one: OneMap  # what the panel asks for
    grid: np.ndarray  # (rows, columns)
    prefix: tuple[tuple[str, float], ...] = ()  # (name, value) of the prefix tokens
    breadth: float | None = None  # 2^entropy of a row: about how many tokens it listens to
    colours: np.ndarray | None = None  # (rows, columns, 3) bytes: colours of features, drawn instead of numbers
    variance_share: float = 0.0  # share of the variance between patches that the colours show
    values: np.ndarray | None = None  # (tokens,): numbers of the prefix tokens, then of the patches
    blanked: Step | None = None  # the blocks that an occlusion has blanked

    @property
    def spec(self) -> Spec:
        return self.one.spec

    @property
    def subject(self) -> Subject:
        return self.one.subject

    @property
    def seen(self) -> Trace:
        return self.one.subject.seen


@dataclass(frozen=True)
class Domain:
    low: float
    high: float  # the value that is drawn brightest
    words: str  # the text beside the colour bar
    percent: bool = False
    open_end: bool = False  # whether larger numbers may occur, drawn in the last colour
    log: bool = False
    bare: bool = False  # whether no photograph lies beneath
    signed: bool = False  # whether there are two colours around zero


def map_of(one: OneMap) -> Map:
    if one.given is not None:
        return Map(one, one.given)
    spec, trace, (numbers, blanked), breadth = one.spec, one.seen, answer(one), None
    if spec.way.rows and spec.direction == "row" and spec.head != "max":  # maxima over heads don't sum to 1
        from playground.tracing import entropy

        breadth = 2 ** float(entropy(numbers))
    prefix = tuple(zip(trace.prefix, numbers.tolist(), strict=False))
    grid = trace.on_grid(numbers).numpy()
    return Map(one, grid, prefix, breadth, values=numbers.numpy(), blanked=blanked)


def domain(spec: Spec, maps: list[Map], small: bool = False) -> Domain:
    """The range of brightness that these maps share: set by their brightest patches, like a photograph's exposure,
    unless `spec.ceiling` sets it. The screen has the same rules (microscope/core/answers.js). Of small maps brightness
    is by the logarithm, where the numbers are parts of a whole."""
    way = spec.way
    if way.coloured:
        return Domain(0, 1, "")  # colours have no bar
    column = way.column[0] if spec.direction == "column" else ""
    words = (way.of_label[0] if spec.for_and_against else column) or way.bar
    if spec.head in POOLINGS and way.of_heads:
        words = f"{words}, {POOLED[spec.head]}"
    values = np.concatenate([map_.grid.ravel() for map_ in maps])
    least = least_move(spec) if moved_by_nothing(maps) else 0.0  # keeps a map dark if blanking moves nothing
    if spec.for_and_against or (way is VALUES and values.min() < 0):
        high = max(float(np.abs(values).max()), least) or 1.0
        return Domain(-high, high, words, percent=spec.in_percent, signed=True, bare=small)
    if way.spread:
        low, high = float(values.min()), float(values.max())
        return Domain(low, high if high > low else low + 1, words, bare=small)
    if way.exposed == "largest":
        high = max(float(values.max()), least) or 1.0
    else:
        high = spec.ceiling or light.exposure(values)
    is_log = small and spec.shares_a_whole
    is_open = way.exposed == "brightest" and high < float(values.max())
    low = high / LOG_RANGE if is_log else 0.0
    return Domain(low, high, words, percent=spec.in_percent, open_end=is_open, log=is_log, bare=small)


def moved_by_nothing(maps: list[Map]) -> bool:
    return all(map_.blanked is not None and map_.blanked.answer_stays for map_ in maps)


def least_move(spec: Spec) -> float:
    """The smallest effect of blanking that counts as an effect."""
    from playground.analysis.occlusion import LEAST_MOVE

    return LEAST_MOVE["label" if spec.explains_label else "feature"]


def shares(values: np.ndarray, domain: Domain) -> np.ndarray:
    """The brightness of each cell: 0 … 1, or −1 … 1 in a signed domain."""
    if domain.signed:
        return np.sign(values) * light.shares(np.abs(values), domain.high)
    if domain.log:
        return np.clip(np.log(np.maximum(values, domain.low) / domain.low) / np.log(domain.high / domain.low), 0, 1)
    return light.shares(np.maximum(values - domain.low, 0), domain.high - domain.low)


def is_even(map_: Map, tokens: int) -> bool:
    return map_.breadth is not None and light.is_even(np.log2(map_.breadth), tokens)


def clipped_patches(map_: Map, domain: Domain) -> list[tuple[int, int]]:
    """Patches (row, column) brighter than the colour scale's top, as on the screen."""
    if not domain.open_end:
        return []
    return [(int(row), int(column)) for row, column in np.argwhere(map_.grid > domain.high)]


def neighbourhood(query_row: int, query_column: int, grid: tuple[int, int], kernel: int) -> list[tuple[int, int]]:
    """The patches that a kernel centred on the query's patch reads; fewer at the edges."""
    reach = kernel // 2
    return [
        (row, column)
        for row in range(max(0, query_row - reach), min(grid[0], query_row + reach + 1))
        for column in range(max(0, query_column - reach), min(grid[1], query_column + reach + 1))
    ]


def peaks(map_: Map, domain: Domain) -> list[tuple[int, int]]:
    """The patches with the largest positive and the largest negative value of a signed map; [] for other maps."""
    if not domain.signed:
        return []
    largest, smallest = (divmod(int(at), map_.grid.shape[1]) for at in (map_.grid.argmax(), map_.grid.argmin()))
    least = LEAST_PEAK * domain.high
    found = (largest, map_.grid[largest] > least), (smallest, map_.grid[smallest] < -least)
    return [place for place, has_sign in found if has_sign]


def patch_of(trace: Trace, query: Query) -> tuple[int, int] | None:
    """(row, column) of the query's patch; None for a prefix token, and without a query."""
    if query is None:
        return None
    patch = trace.token(query) - len(trace.prefix)
    return None if patch < 0 else divmod(patch, trace.grid[1])


def same_place(query: Query, trace: Trace, other: Trace) -> Query:
    """The query at the same place in the picture of `other`, whose grid may be finer or of another shape."""
    patch = patch_of(trace, query)
    if query is None:
        return None
    if patch is None:
        if query not in other.prefix:
            raise PlaygroundError(f"{other.model} has no token called {query!r} to compare with; choose a patch.")
        return query
    row, column = (min(n - 1, int((i + 0.5) / m * n)) for i, m, n in zip(patch, trace.grid, other.grid, strict=True))
    return row, column


def same_label(label: str, trace: Trace, other: Trace) -> str:
    """The number of the same label in the model of `other`."""
    if not label or trace.vit is None or other.vit is None or trace.vit.config.labels == other.vit.config.labels:
        return label
    names = trace.vit.config.labels
    return str(other.label(names[int(label)] if names else int(label)))


def same_layer(layer: int, trace: Trace, other: Trace) -> int:
    """The layer at the same relative depth in another network: layer 8 of 12 is compared with layer 16 of 24."""
    if trace.layers == other.layers:
        return layer
    return round(layer / max(1, trace.layers - 1) * (other.layers - 1))
