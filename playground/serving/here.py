"""What a person looks at, for the pages that the server draws: the picture, the model, and what is kept about them. It
is the subject of a lesson (lessons/lesson.py), and has the work that a lesson's buttons start.

The browser owns the choice (microscope/shell/choice.js). The toolbar tells it, or it is read in an address.
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


# Work that a button of a lesson starts (lessons/parts.py, Run): in a thread, one after another for each person. It
# stops when nobody looks at it any more. The results of all runs share one bound in bytes.

MOST_KEPT = 100 * MB  # bytes of all people's results together; deploy/README.md counts on it
PATIENCE = 12.0  # seconds; a page looks more than once a second, but a busy server or a hidden tab makes it late
_queue = queue.Queue()
_ended: WeakSet[Work] = WeakSet()  # a session that goes takes its runs along
_ending = Lock()


class Work(queue.Nobody):
    """A run, which asks as the person who started it, for as long as they look."""

    def __init__(self, run: Run, former: Work | None = None):
        self.words = ""
        self.come_to: Any = None
        self.begun = self.over = False
        self.trouble: Exception | None = None  # what ended it
        self.ended = 0.0  # when
        self.let_go = False  # others have ended since, and there was no room for all
        self._visitor = queue.current().visitor()
        self._ahead, self._looked, self._stopped = 0, time.monotonic(), False
        Thread(target=self._do, args=(run, former and former.come_to), name="run", daemon=True).start()

    def _do(self, run: Run, former_result: Any) -> None:
        try:
            with suppress(Left), queue.working_for(self), _queue.take(self.waits):
                self.begun = True
                with closing(run.work(former_result)) as waits:
                    for wait in waits:
                        self.words, self.come_to = wait.words, wait.come_to
                        self.stays()
        except Exception as error:  # the page says it
            self.trouble = error
        finally:
            self._keep()
            self.over = True

    def visitor(self) -> Visitor:
        return self._visitor

    def stays(self) -> None:
        if self._stopped or time.monotonic() - self._looked > PATIENCE:
            raise Left

    def waits(self, ahead: int) -> None:
        self._ahead = ahead
        self.stays()

    def look(self) -> int:
        """How many people come first. Whoever looks no more is taken to have left."""
        self._looked = time.monotonic()
        return 0 if self.begun else self._ahead

    def stop(self) -> None:
        self._stopped = True

    def _keep(self) -> None:
        """Drops the results that ended longest ago until all together fit the bound."""
        with _ending:
            self.ended = time.monotonic()
            _ended.add(self)
            sizes = {work: worked.held(work.come_to) for work in _ended}
            for work in sorted(sizes, key=lambda work: work.ended):
                if sum(sizes.values()) <= MOST_KEPT or work is self:
                    break
                del sizes[work]
                work.come_to, work.let_go = None, True


PICTURE = {"sample", "mine"}  # the words of an address that say it
_view_ids = count(1)  # unique on this server


class Here:
    """Raises Refused, a PlaygroundError, where the choice can't be had."""

    def __init__(self, words: Mapping[str, str], view: Mapping[str, str] | None = None, key: str | None = None):
        self.person = people.known(key) if key else None
        picture, self.setup = chosen.read(words, self.person)
        self._sample = picture if picture.sample else None
        self.mine = "" if picture.sample else picture.id
        self.key = key
        self.view = dict(view or {})  # of the microscope: which layer and head, as in an address
        self.view_id = next(_view_ids)  # a new one for each choice that the microscope did not make
        self.works: Mapping[str, Work] = {}  # of this session, by the names of their runs
        self._with = words.get("with", "")
        self._worked = self.person.worked if self.person else worked.lesson_cache()

    @property
    def picture(self) -> Picture:
        """An own picture is looked up at its person: an open page must not keep it after they are forgotten."""
        return self._sample or chosen.own_picture(self.mine, self.person)

    @property
    def about(self) -> str:
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
    def shown(self) -> tuple[int, int]:
        c = self.vit.config
        layer, head = int(self.view.get("layer", upper_layer(c.depth))), int(self.view.get("head", 0))
        return min(layer, c.depth - 1), head % c.heads

    @property
    def chosen_head(self) -> tuple[int, int] | None:
        return self.shown if {"layer", "head"} <= self.view.keys() else None

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
        return self.kept("photo", lambda: jpegs.small_url(self.picture.jpeg))

    @property
    def own(self) -> Cache | None:
        """The cache of this person's traces."""
        return self.person and self.person.traces

    def trace(self, scale: float | None = None) -> Trace:
        return traces.trace(self.picture, self.setup if scale is None else replace(self.setup, scale=scale), self.own)

    def sample(self, name: str) -> Here:
        copied = copy(self)
        copied._sample, copied.mine = pictures.sample(name), ""
        return copied

    @property
    def passes_in_time(self) -> int:
        return effort.passes_in_time(self.vit, traces.grid(self.picture, self.setup))

    def too_long(self, passes: float) -> str:
        try:
            effort.check(self.vit, traces.grid(self.picture, self.setup), passes)
        except PlaygroundError as error:
            return str(error)
        return ""

    def come_to(self, run: str) -> Any:
        return self.works[run].come_to if run in self.works else None

    def at_work(self, run: str) -> bool:
        return run in self.works and not self.works[run].over

    def turns(self) -> AbstractContextManager[Callable[[], None]]:
        return queue.turns()

    def other(self, model: str = "", sample: str = "") -> Here | None:
        picture = {"sample": sample} if sample else {word: self.words()[word] for word in PICTURE & self.words().keys()}
        try:
            if models.is_here(model or self.setup.model):
                return Here(picture | {"model": model or self.setup.model}, key=self.key)
        except PlaygroundError:
            pass
        return None

    def that_names(self) -> Here:
        return self.other(model=models.that_names() or "bundled")

    @property
    def worked(self) -> Cache:
        return self._worked

    def has(self, what: Hashable) -> bool:
        return worked.is_worked_out(self.picture, self.setup, self.worked, what)

    def kept(self, what: Hashable, make: Callable[[], Any]) -> Any:
        """Computes a value about the picture and its trace once; again if the cache had to drop it."""
        return worked.worked_out(self.picture, self.setup, self.worked, what, make)

    def words(self, view: bool = False) -> dict[str, str]:
        """The choice as words of an address; with the microscope's `view` for a link to the microscope."""
        words = {"model": self.setup.model}
        words |= {"sample": self._sample.name} if self._sample else {"mine": self.mine}
        if self.setup.detail > 1:
            words["detail"] = str(self.setup.detail)
        if self._with:
            words["with"] = self._with
        return chosen.readable(words) | (self.view if view else {})
