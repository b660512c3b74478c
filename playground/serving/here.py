"""What a person looks at, for the pages that the server draws: the picture, the model, and what is kept about them. It
is the subject of a lesson (lessons/lesson.py).

The browser owns the choice (microscope/shell/choice.js). The toolbar tells it, or it is read in an address.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from playground.models.names import plain_name
from playground.serving import chosen, people, pictures, queue, traces
from playground.serving.cache import Cache
from playground.serving.pictures import Picture

if TYPE_CHECKING:
    from PIL import Image

    from playground.tracing import Trace

_view_ids = count(1)  # never the same twice on a server


class Here:
    """Refused, a PlaygroundError, says what can't be had."""

    def __init__(self, words: Mapping[str, str], view: Mapping[str, str] | None = None, key: str | None = None):
        self.person = people.known(key) if key else None
        picture, self.wish = chosen.read(words, self.person)
        self._sample = picture if picture.sample else None
        self.mine = "" if picture.sample else picture.id
        self.key = key
        self.view = dict(view or {})  # of the microscope: which layer and head, as in an address
        self.view_id = next(_view_ids)  # another one for each choice that comes from elsewhere
        self._with = words.get("with", "")
        self._worked = self.person.worked if self.person else people.lesson_cache()

    @property
    def picture(self) -> Picture:
        """One's own is the person's: a page that is left open must not keep it when they are forgotten."""
        return self._sample or chosen.own_picture(self.mine, self.person)

    @property
    def about(self) -> str:
        return f"{self.picture.id} {self.wish.model}"

    @property
    def model(self) -> str:
        return plain_name(self.wish.model)

    @property
    def image(self) -> Image.Image:
        return self.picture.image

    def photo(self) -> str:
        return self.kept("photo", lambda: pictures.small_url(self.picture.jpeg))

    @property
    def own(self) -> Cache | None:
        """The traces of this person's pictures."""
        return self.person and self.person.traces

    def traced(self) -> Trace:
        """The picture's pass through the model; it waits for its turn if it has to be made."""
        return traces.trace(self.picture, self.wish, self.own)

    def trace(self, scale: float | None = None) -> Trace:
        """The same, if given with another scale in every layer."""
        return traces.trace(self.picture, self.wish if scale is None else replace(self.wish, scale=scale), self.own)

    def turns(self) -> AbstractContextManager[Callable[[], None]]:
        return queue.turns()

    @property
    def worked(self) -> Cache:
        return self._worked

    def kept(self, what: Hashable, make: Callable[[], Any]) -> Any:
        """`what` was worked out about the picture and its trace; made again if it had to be dropped."""
        return people.worked_out(self.picture, self.wish, self.worked, what, make)

    def words(self, view: bool = False) -> dict[str, str]:
        """The choice as in an address; with the microscope's `view` where the way leads there."""
        words = {"model": self.wish.model}
        words |= {"sample": self._sample.name} if self._sample else {"mine": self.mine}
        if self.wish.detail > 1:
            words["detail"] = str(self.wish.detail)
        if self._with:
            words["with"] = self._with
        return chosen.readable(words) | (self.view if view else {})
