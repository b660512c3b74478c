"""Requests for single maps (trace, layer, head, query, scale), and panels that hold the maps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from playground.figures.drawing import maps, prints
from playground.figures.drawing.maps import Map
from playground.figures.drawing.spec import Spec

if TYPE_CHECKING:
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
    subject: Subject
    spec: Spec  # with this map's layer, head and query
    scale: str | None  # the scale in this layer; None: the scale of the pass
    asker: Trace | None = None  # for similarity between two pictures: the trace whose patch is the query
    given: np.ndarray | None = None  # values of one's own, (rows, columns), drawn instead of the trace's

    def map(self) -> Map:
        if self.given is not None:
            return Map(self.given, (), None)
        return maps.map_of(self.subject.seen, self.spec, self.spec.layer, self.spec.head, self.scale, self.asker)


@dataclass(frozen=True)
class ShownMap:
    """A panel: the request `one`, and the map that it gave."""

    one: OneMap
    map: Map

    @property
    def spec(self) -> Spec:
        return self.one.spec

    @property
    def subject(self) -> Subject:
        return self.one.subject

    @property
    def seen(self) -> Trace:
        return self.one.subject.seen


def maps_of(requests: list[OneMap]) -> list[Map]:
    """The map of each panel. Colours of features are computed for all panels together, so that equal colours mean
    similar features in all of them."""
    compute_together = prints.COMPUTED_TOGETHER.get(requests[0].spec.what)
    if compute_together:
        return compute_together([(request.subject.seen, request.spec.layer) for request in requests])
    return [request.map() for request in requests]
