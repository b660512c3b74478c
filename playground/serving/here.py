"""The picture and the model that a person looks at, for the pages that the server draws. `Here` is the subject of a
lesson (lessons/lesson.py), and runs the work that a lesson's buttons start.

The browser keeps the choice of picture and model (microscope/shell/choice.js), made in the toolbar or by an address.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager, closing, suppress
from copy import copy
from dataclasses import replace
from itertools import count
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from playground.errors import PlaygroundError
from playground.lessons.parts import Run
from playground.models.names import plain_name
from playground.pack import upper_layer
from playground.pictures import jpegs
from playground.serving import chosen, effort, models, people, pictures, queue, traces, worked
from playground.serving.cache import MB, Cache
from playground.serving.ledger import Visitor
from playground.serving.pictures import Picture
from playground.serving.queue import Left

if TYPE_CHECKING:
    from PIL import Image

    from playground.tracing import Trace
    from playground.vit import VisionTransformer


# A button of a lesson starts a run (lessons/parts.py, Run) in a thread, one run at a time for each person. A run stops
# when no page polls it any more. The results of all runs share one limit in bytes.

MOST_RESULT_BYTES = 100 * MB  # bytes of all people's results together; deploy/README.md relies on this number
PATIENCE = 12.0  # seconds after a page's last poll, after which a run stops; long, because busy pages poll late
_queue = queue.Queue()
_ended_works: WeakSet[Work] = WeakSet()  # weak, so that a run is dropped with its session
_ended_lock = Lock()


class Work(queue.Nobody):
    """A run on behalf of the person who started it. The run stops when no page of that person polls it."""

    def __init__(self, run: Run, former_work: Work | None = None):
        self.progress = ""
        self.result: Any = None
        self.has_begun = self.is_over = False
        self.trouble: Exception | None = None  # the error that ended the run
        self.ended_at = 0.0  # the time at which the run ended
        self.was_dropped = False  # whether the result was dropped to make room for newer results
        self._visitor = queue.current().visitor()
        self._ahead, self._looked_at, self._stopped = 0, time.monotonic(), False
        Thread(target=self._do, args=(run, former_work and former_work.result), name="run", daemon=True).start()

    def _do(self, run: Run, former_result: Any) -> None:
        try:
            with suppress(Left), queue.working_for(self), _queue.take(self.waits):
                self.has_begun = True
                with closing(run.work(former_result)) as waiting_parts:
                    for wait in waiting_parts:
                        self.progress, self.result = wait.words, wait.result
                        self.raise_if_left()
        except Exception as error:  # the page shows it
            self.trouble = error
        finally:
            self._keep()
            self.is_over = True

    def visitor(self) -> Visitor:
        return self._visitor

    def raise_if_left(self) -> None:
        if self._stopped or time.monotonic() - self._looked_at > PATIENCE:
            raise Left

    def waits(self, ahead: int) -> None:
        self._ahead = ahead
        self.raise_if_left()

    def look(self) -> int:
        """Returns the number of people who come first. A person whose page stops calling this counts as having left."""
        self._looked_at = time.monotonic()
        return 0 if self.has_begun else self._ahead

    def stop(self) -> None:
        self._stopped = True

    def _keep(self) -> None:
        """Drops the oldest results until all people's results fit MOST_RESULT_BYTES."""
        with _ended_lock:
            self.ended_at = time.monotonic()
            _ended_works.add(self)
            sizes = {work: worked.bytes_of(work.result) for work in _ended_works}
            for work in sorted(sizes, key=lambda work: work.ended_at):
                if sum(sizes.values()) <= MOST_RESULT_BYTES or work is self:
                    break
                del sizes[work]
                work.result, work.was_dropped = None, True


PICTURE_WORDS = {"sample", "mine"}  # the words of an address that name a picture
_view_ids = count(1)  # for `Here.view_id`: no number comes twice on this server


class Here:
    """A picture in a model. Raises Refused, a PlaygroundError, if it is not available."""

    def __init__(self, words: Mapping[str, str], view: Mapping[str, str] | None = None, key: str | None = None):
        self.person = people.find_person(key) if key else None
        picture, self.setup = chosen.read(words, self.person)
        self._sample = picture if picture.is_sample else None
        self.own_picture_id = "" if picture.is_sample else picture.id
        self.key = key
        self.view = dict(view or {})  # the microscope's layer and head, as in an address
        self.view_id = next(_view_ids)  # a new number for each choice that is made outside the microscope
        self.works: Mapping[str, Work] = {}  # name of a run -> its work, in this session
        self._with = words.get("with", "")
        self._results = self.person.results if self.person else worked.lesson_cache()

    @property
    def picture(self) -> Picture:
        """Looks up an own picture each time, so that an open page does not keep the picture of a forgotten person."""
        return self._sample or chosen.own_picture(self.own_picture_id, self.person)

    @property
    def identity(self) -> str:
        return f"{self.picture.id} {self.setup.model}"

    @property
    def model(self) -> str:
        return plain_name(self.setup.model)

    @property
    def name(self) -> str:
        return self.picture.name

    @property
    def sample_name(self) -> str | None:
        return self.picture.sample_name

    @property
    def model_name(self) -> str:
        return self.setup.model

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

    @property
    def image(self) -> Image.Image:
        return self.picture.image

    @property
    def jpeg(self) -> bytes:
        return self.picture.jpeg

    def photo(self) -> str:
        return self.cached("photo", lambda: jpegs.small_url(self.picture.jpeg))

    @property
    def own_traces(self) -> Cache | None:
        """The cache of this person's traces."""
        return self.person and self.person.traces

    @property
    def has_trace(self) -> bool:
        """Whether the picture's pass is in memory."""
        return traces.is_kept(self.picture, self.setup, self.own_traces)

    def trace(self, scale: float | None = None) -> Trace:
        return traces.trace(
            self.picture, self.setup if scale is None else replace(self.setup, scale=scale), self.own_traces
        )

    def with_sample(self, name: str) -> Here:
        subject = copy(self)
        subject._sample, subject.own_picture_id = pictures.sample(name), ""
        return subject

    @property
    def passes_in_time(self) -> int:
        return effort.passes_in_time(self.vit, traces.grid(self.picture, self.setup))

    def why_too_long(self, passes: float) -> str:
        try:
            effort.check(self.vit, traces.grid(self.picture, self.setup), passes)
        except PlaygroundError as error:
            return str(error)
        return ""

    def result_of(self, run: str) -> Any:
        return self.works[run].result if run in self.works else None

    def at_work(self, run: str) -> bool:
        return run in self.works and not self.works[run].is_over

    def turns(self) -> AbstractContextManager[Callable[[], None]]:
        return queue.turns()

    def with_other(self, model: str = "", sample: str = "") -> Here | None:
        picture_words = (
            {"sample": sample} if sample else {word: self.words()[word] for word in PICTURE_WORDS & self.words().keys()}
        )
        try:
            if models.is_here(model or self.setup.model):
                return Here(picture_words | {"model": model or self.setup.model}, key=self.key)
        except PlaygroundError:
            pass
        return None

    def with_naming_model(self) -> Here:
        return self.with_other(model=models.naming_model() or "bundled")

    @property
    def results(self) -> Cache:
        return self._results

    def has_cached(self, key: Hashable) -> bool:
        return worked.has_result(self.picture, self.setup, self.results, key)

    def cached(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Returns `make()`, a value about the picture and its trace; the cache keeps the value for the next call."""
        return worked.cached_result(self.picture, self.setup, self.results, key, make)

    def words(self, view: bool = False) -> dict[str, str]:
        """The words of an address that opens this picture and model. `view`: whether the microscope's layer and head
        are included."""
        words = {"model": self.setup.model}
        words |= {"sample": self._sample.name} if self._sample else {"mine": self.own_picture_id}
        if self.setup.detail > 1:
            words["detail"] = str(self.setup.detail)
        if self._with:
            words["with"] = self._with
        return chosen.readable_settings(words) | (self.view if view else {})
