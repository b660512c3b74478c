"""The picture and the model that a person looks at, for the pages that the server draws. `Here` is the subject of a
lesson (lessons/lesson.py), and runs the work that a lesson's buttons start.

The browser keeps the choice of picture and model (microscope/shell/choice.js), made in the toolbar or by an address.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from playground.errors import PlaygroundError
from playground.models.names import plain_name
from playground.pack import upper_layer
from playground.pictures import jpegs
from playground.serving import chosen, effort, models, people, queue, traces, worked

if TYPE_CHECKING:
    from playground.tracing import Trace
    from playground.vit import VisionTransformer


class Here:
    """A picture in a model. Raises Refused, a PlaygroundError, if it is not available."""

    def __init__(self, words: Mapping[str, str], view: Mapping[str, str] | None = None, key: str | None = None):
        self.key = key
        self.picture, self.setup = chosen.read(words, people.everybody().find(key) if key else None)
        self.view = dict(view or {})  # the microscope's layer and head, as in an address
        self._with = words.get("with", "")
        self.name, self.sample_name = self.picture.name, self.picture.sample_name
        self.image, self.jpeg = self.picture.image, self.picture.jpeg
        self.model_name, self.model = self.setup.model, plain_name(self.setup.model)
        self.identity = f"{self.picture.id} {self.model_name}"

    @property
    def shown_head(self) -> tuple[int, int]:
        c = self.vit.config
        layer, head = int(self.view.get("layer", upper_layer(c.depth))), int(self.view.get("head", 0))
        return min(layer, c.depth - 1), head % c.heads

    @property
    def chosen_head(self) -> tuple[int, int] | None:
        return self.shown_head if {"layer", "head"} <= self.view.keys() else None

    @property
    def vit(self) -> VisionTransformer:
        return models.load(self.setup.model)

    @property
    def size(self) -> tuple[int, int]:
        return traces.size(self.picture, self.setup)

    def photo(self) -> str:
        return self.cached("photo", lambda: jpegs.small_url(self.picture.jpeg))

    @property
    def has_trace(self) -> bool:
        """Whether the picture's pass is in memory."""
        return traces.is_kept(self.picture, self.setup)

    def trace(self, scale: float | None = None) -> Trace:
        return traces.trace(self.picture, self.setup if scale is None else replace(self.setup, scale=scale))

    @property
    def passes_in_time(self) -> int:
        return effort.passes_in_time(self.vit, traces.grid(self.picture, self.setup))

    def why_too_long(self, passes: float) -> str:
        try:
            effort.check(self.vit, traces.grid(self.picture, self.setup), passes)
        except PlaygroundError as error:
            return str(error)
        return ""

    def turns(self) -> AbstractContextManager[Callable[[], None]]:
        return queue.turns()

    def with_other(self, model: str = "", sample: str = "") -> Here | None:
        words = {"sample": sample} if sample else chosen.picture_word(self.picture)
        try:
            if models.is_here(model or self.setup.model):
                return Here(words | {"model": model or self.setup.model}, key=self.key)
        except PlaygroundError:
            pass
        return None

    def with_naming_model(self) -> Here:
        return self.with_other(model=models.naming_model() or "bundled") or self

    def has_cached(self, key: Hashable) -> bool:
        return worked.has_result(self.picture, self.setup, key)

    def cached(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Returns `make()`, a value about the picture and its trace; the cache keeps the value for the next call."""
        return worked.cached_result(self.picture, self.setup, key, make)

    def words(self) -> dict[str, str]:
        """The words of an address that opens this picture and model."""
        words = {"model": self.setup.model, **chosen.picture_word(self.picture)}
        if self.setup.detail > 1:
            words["detail"] = str(self.setup.detail)
        return words | ({"with": self._with} if self._with else {})
