"""Tracks what one person's browser already has of the microscope's data, and builds the bytes with what it lacks."""

from __future__ import annotations

import time
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from playground.names import plain_name
from playground.pack import pack
from playground.samples import named
from playground.serving import traces
from playground.serving.cache import MB, Cache
from playground.serving.everybody import Everybody
from playground.serving.pictures import Picture
from playground.serving.traces import Wish

MINE = "mine:"  # in the strip of samples: the prefix of the id of a picture of one's own
FORGET = "forget:"  # what the strip says when the person's own pictures are to be forgotten
LENS_HEIGHT = -82  # pixels; negative: the window's height minus what stands above the microscope
ADVICE_HEIGHT = 32  # of the line that may stand between
HALF = 65504  # the largest number of sixteen bits
MESSAGES = 100 * MB  # of all people's last messages together; deploy/README.md counts on it


@dataclass(frozen=True)
class Overlay:
    """The server's answer to a question about one patch."""

    what: str  # "rollout"
    query: str
    scale: float | str  # of the whole pass; "on" for the trained one
    values: np.ndarray  # (tokens,)


@dataclass(frozen=True)
class Choice:
    """What a person looks at. Immutable: a change makes a new object, so that `is` detects it."""

    picture: Picture
    wish: Wish
    other: tuple[Picture, Wish] | None = None  # to compare with
    whole: Wish | None = None  # the same picture, the whole pass with another scale
    verdict: tuple[tuple[str, float, float], ...] = ()  # labels that this changes: before and after
    overlay: Overlay | None = None
    first: Wish | None = None  # a coarse first look, shown instead of `wish` until that one is made
    mine: tuple[Picture, ...] = ()  # pictures of the person's own, the latest last: one click brings one back

    def pairs(self) -> list[tuple[Picture, Wish]]:
        """The (picture, wish) pairs whose packs the microscope needs."""
        whole = [] if self.whole is None else [(self.picture, self.whole)]
        return [(self.picture, self.first or self.wish), *whole, *([] if self.other is None else [self.other])]

    def strip(self) -> dict:
        """Which picture is chosen in the strip, and which of the person's own the server has."""
        own = [{"id": mine.id, "title": mine.name, "src": mine.thumbnail} for mine in self.mine]
        return {"chosen": self.picture.name if self.picture.sample else MINE + self.picture.id, "own": own}


class Browser:
    def __init__(self):
        self._held: set[str] = set()  # ids of packs and pictures that the browser has
        self._more: tuple[str, list[int]] | None = None  # (pack id, layers) that the browser has asked for
        self._matrix: tuple[dict, np.ndarray] | None = None  # features or flows that it asked for, and whose they are
        self._names: dict | None = None  # of what heads do
        self._last: tuple[Choice, int, bool] | None = None  # what the last message was about
        self._message: bytes | None = None  # that one, so that it is not made and sent again
        self._made = 0.0  # when
        _all.add(self)

    def has_nothing(self) -> None:
        """Called when another page is opened: the browser then forgets all data."""
        self._held.clear()
        self._last = None

    def lost(self, ids: set[str]) -> None:
        """Called when the browser reports that these are missing, though they were sent."""
        self._held -= ids
        self._last = None

    def wants(self, pack_id: str, layers: list[int]) -> None:
        self._more = (pack_id, layers)
        self._last = None

    def learns(self, names: dict) -> None:
        """Names of heads go with the next bytes, once."""
        self._names = names
        self._last = None

    def gets(self, whose: dict, matrix: np.ndarray) -> None:
        """A matrix goes with the next bytes, once, in float16."""
        self._matrix = (whose, np.clip(matrix, -HALF, HALF).astype(np.float16))
        self._last = None

    def blob(self, choice: Choice, place: str, view: dict[str, str], view_id: int, own: Cache, advised: bool) -> bytes:
        """The message for the browser. The same object as long as nothing has changed, so that it isn't sent twice."""
        if self._last is None or self._last[0] is not choice or self._last[1:] != (view_id, advised):
            self._message = None
            self._last = (choice, view_id, advised)
        if (message := self._message) is None:
            self._made = time.monotonic()
            self._message = message = self._build(choice, place, view, view_id, own, advised)
            _forget_old_messages()
        return message

    def _build(
        self, choice: Choice, place: str, view: dict[str, str], view_id: int, own: Cache, advised: bool
    ) -> bytes:
        layer = int(view["layer"]) if "layer" in view else None
        arrays, packs, images, held, complete = {}, [], {}, set(self._held), True
        for picture, wish in choice.pairs():
            if picture.id not in images:
                images[picture.id] = {"id": picture.id, "title": picture.name, "mime": "image/jpeg"}
                if picture.sample:
                    images[picture.id] |= {"start": named(picture.name).start, "credit": _credit(picture.name)}
                if picture.id not in held:
                    images[picture.id]["section"] = f"image{len(images)}"
                    arrays[f"image{len(images)}"] = picture.jpeg
            its_id, section = pack_id(picture, wish), f"pack{len(packs)}"
            complete &= traces.make(picture, wish, own)
            if its_id not in held:
                arrays[section] = traces.pack(picture, wish, own, layer)
            elif self._more is not None and self._more[0] == its_id:
                arrays[section] = traces.layers(picture, wish, own, self._more[1])
            entry = {"id": its_id, "title": plain_name(wish.model), "image": list(images).index(picture.id)}
            if wish is choice.whole:
                entry["verdict"] = choice.verdict
            packs.append(entry | ({"section": section} if section in arrays else {}))
            held |= {its_id, picture.id}
        asks = ["features", "rollout", "whole", "compare", "habits"] + ([] if complete else ["layers"])
        header = {
            "format": "attention-playground/page-1",
            "packs": packs,
            "images": list(images.values()),
            "place": place,
            "view": view,
            "view_id": view_id,
            "shows": choice.strip(),
            "ui": {
                "height": LENS_HEIGHT - (ADVICE_HEIGHT if advised else 0),
                "uploaded": not choice.picture.sample,
                "asks": asks,
            },
        }
        if (overlay := choice.overlay) is not None:
            arrays["overlay"] = overlay.values.astype(np.float32)
            header["overlay"] = {
                "what": overlay.what, "query": overlay.query, "scale": overlay.scale,
                "section": "overlay",
            }  # fmt: skip
        if self._names is not None:
            header["habits"] = self._names
        if self._matrix is not None:
            whose, arrays["matrix"] = self._matrix
            header["matrix"] = whose | {"section": "matrix"}
        self._held, self._more, self._matrix, self._names = held, None, None, None
        return pack(header, arrays)


_all: Everybody[Browser] = Everybody()


def _forget_old_messages() -> None:
    """Without its last message, the next one of a browser only names what the browser has, and is a small one."""
    browsers = sorted(_all, key=lambda browser: browser._made, reverse=True)  # the latest first
    kept = 0
    for browser in browsers:
        kept += len(browser._message or b"")
        if kept > MESSAGES and browser is not browsers[0]:
            browser._message = None


def _credit(sample: str) -> str:
    """Who took a photograph, and what may be done with it; nothing for our own drawings."""
    found = named(sample)
    return f"{found.author} · {found.licence}" if found.kind == "photograph" else ""


def pack_id(picture: Picture, wish: Wish) -> str:
    return f"{picture.id}-{sha256(repr(wish).encode()).hexdigest()[:12]}"
