"""Keeps the pictures that people look at: samples, uploads, and numbered pictures of a labelled data set. Separate
processes, which are kept ready here, decode the uploads."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from itertools import count
from pathlib import Path
from weakref import WeakValueDictionary

from PIL import Image

from playground.assets import DRAWINGS
from playground.errors import Busy, PlaygroundError
from playground.models import borrowed
from playground.pictures import cifar
from playground.pictures.decoder import Killed, Worker
from playground.pictures.jpegs import as_jpeg, data_url
from playground.samples import named
from playground.serving import app, ledger, queue
from playground.serving.effort import seconds_to_decode

# Uploads are never decoded in the server's own process, because a file may be hostile. Of the decoding processes one is
# at work and one is spare, so that nobody waits for an interpreter to start.

READY_COUNT = 2


class Workers:
    """The decoding processes that are ready."""

    def __init__(self) -> None:
        self.ready: deque[Worker] = deque()
        self._lock = threading.Lock()

    def warm_up(self) -> None:
        with self._lock, suppress(PlaygroundError):  # whoever uploads a picture gets the error
            while len(self.ready) < READY_COUNT:
                self.ready.append(Worker())

    def take(self) -> Worker:
        with self._lock:
            while self.ready:
                worker = self.ready.popleft()
                if worker.can_go_on():
                    return worker
                worker.end()
        return Worker()

    def give_back(self, worker: Worker) -> None:
        if worker.can_go_on():
            with self._lock:
                self.ready.appendleft(worker)
        else:
            worker.end()
        self.warm_up()


workers = app.part(Workers)


def decoded(data: bytes, most_pixels: int, longest_side: int) -> Image.Image:
    """Decodes a picture; stops when the person leaves, and tries again once if the process was killed from outside."""
    try:
        return _decoded(data, most_pixels, longest_side)
    except Killed:
        return _decoded(data, most_pixels, longest_side)


def _decoded(data: bytes, most_pixels: int, longest_side: int) -> Image.Image:
    worker = workers().take()
    try:
        return worker.decoded(data, most_pixels, longest_side, queue.current().raise_if_left)
    finally:
        workers().give_back(worker)


SHOWN_SIDE = 1024  # pixels of the picture in the browser
KEPT_PIXELS = (2 * SHOWN_SIDE) ** 2  # most pixels that are kept: no model uses more, and a JPEG is decoded faster
THUMB_SIDE = 96  # pixels of a thumbnail, which is shown at 38 CSS pixels
LONGEST_NAME = 60  # longest file name that is shown
LEAST_SIDE = 512  # pixels to which pictures are reduced when there are many


@dataclass(eq=False)
class Picture:
    """An image that a person chose: a sample, or an own picture, which is kept as long as the person's data."""

    name: str  # the sample's name, or the upload's file name
    is_sample: bool
    jpeg: bytes  # what the browser shows
    image: Image.Image
    id: str = ""  # a digest of the file
    is_found: bool = True  # whether `name` is the file's full name, by which a command in its folder finds the file
    network: str = ""  # the network of the person who uploaded the picture
    asked_at: float = field(default_factory=time.monotonic)  # time of the last request about the picture

    def __post_init__(self) -> None:
        self.size = self.image.size  # the original size, so that the grid of patches stays the same after `halve`
        self.id = self.id or digest(self.jpeg)

    @property
    def sample_name(self) -> str | None:
        return self.name if self.is_sample else None

    @property
    def bytes(self) -> int:
        return 4 * self.image.width * self.image.height + len(self.jpeg)  # Pillow takes four bytes a pixel

    def halve(self) -> bool:
        """Halves width and height to save memory; existing traces stay. Returns False if the picture is small
        already."""
        if max(self.image.size) <= LEAST_SIDE:
            return False
        smaller_image = self.image.copy()
        side = max(LEAST_SIDE, max(self.image.size) // 2)
        smaller_image.thumbnail((side, side))
        self.image = smaller_image
        return True


@cache
def sample(name: str) -> Picture:
    path = named(name).path
    image = Image.open(path).convert("RGB")
    return Picture(name, True, path.read_bytes() if path.suffix == ".jpg" else as_jpeg(image), image)


def upload(data: bytes, name: str) -> Picture:
    """Decodes an upload; PlaygroundError says what is wrong with the file."""
    with ledger.decodes().holding(queue.current().visitor, len(data)) as trouble:
        if trouble:
            raise Busy("So many pictures are being opened that there is no room for one more: try again.")
        with queue.decodings().take(seconds=seconds_to_decode(data)):
            image = decoded(data, KEPT_PIXELS, 2 * SHOWN_SIDE)
    screen_image = image.copy()  # made from the reduced image: for 12 megapixels three times as fast
    screen_image.thumbnail((SHOWN_SIDE, SHOWN_SIDE))
    shown_name = name[:LONGEST_NAME]
    return own_pictures().keep(
        Picture(shown_name, False, as_jpeg(screen_image), image, digest(data), is_found=shown_name == name != "")
    )


class OwnPictures:
    """All people's own pictures. A picture is dropped with its person."""

    def __init__(self) -> None:
        self._pictures: WeakValueDictionary[int, Picture] = WeakValueDictionary()  # oldest first
        self.on_drop: Callable[[Picture], object] = lambda picture: None  # called with a picture that is dropped
        self._numbers, self._lock = count(), threading.Lock()

    @property
    def bytes(self) -> int:
        return sum(picture.bytes for picture in list(self._pictures.values()))

    def keep(self, picture: Picture) -> Picture:
        """Stores a picture, then makes room: reduces pictures of the network that holds most, then drops the least
        recently used. A browser that still shows a dropped picture sends it again. A picture too large by itself is
        refused."""
        picture.network = queue.current().visitor.address
        with self._lock:
            self._pictures[next(self._numbers)] = picture
            while self.bytes > ledger.PICTURE_BYTES:
                self._make_room(picture)
        return picture

    def _make_room(self, newest: Picture) -> None:
        holdings, pictures = ledger.Holdings(), list(self._pictures.items())
        for _, picture in pictures:
            holdings.add(picture.network, picture.bytes)
        network = holdings.fullest_network()
        of_network = [(number, picture) for number, picture in pictures if ledger.is_within(picture.network, network)]
        of_network.sort(key=lambda pair: pair[1].asked_at)
        if any(picture.halve() for _, picture in of_network):
            return
        ledger.refusals()["pictures"] += 1
        number, oldest = of_network[0]
        if oldest is newest:
            raise PlaygroundError(
                "So many people look at pictures of their own that this server has no room for one more: take one of "
                "the samples, or try again in a few minutes."
            )
        del self._pictures[number]
        self.on_drop(oldest)


own_pictures = app.part(OwnPictures)


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:16]


def thumbnail(image: Image.Image) -> str:
    """A thumbnail as a data URL."""
    image = image.copy()
    image.thumbnail((THUMB_SIDE * 2, THUMB_SIDE))
    return data_url(as_jpeg(image, quality=80))


# Small pictures with a label, chosen by number: CIFAR-10's, or drawings of that size ---------------------------------


def labelled_folder() -> Path:
    """The folder of CIFAR-10 that PLAYGROUND_CIFAR names, or that `download cifar-10` fetched; else our drawings'."""
    fetched = borrowed.cache_folder() / borrowed.CIFAR
    return Path(os.environ.get("PLAYGROUND_CIFAR", "").strip() or (fetched if fetched.is_dir() else DRAWINGS))


def labelled_set() -> dict:
    """The number of pictures as `count`, and the key of a line about them as `word` (microscope/words)."""
    folder = labelled_folder()
    return {"count": len(cifar.read(folder)), "word": "byNumberDrawn" if folder == DRAWINGS else "byNumber"}


def labelled_picture(number: int) -> Picture:
    """The picture with this number, called for example "CIFAR-10 no. 17: frog". PlaygroundError says what the folder
    should hold."""
    folder = labelled_folder()
    image, label = cifar.read(folder).open(number)
    name = "Drawing" if folder == DRAWINGS else "CIFAR-10"
    enlarged = image.resize((SHOWN_SIDE // 2, SHOWN_SIDE // 2), Image.Resampling.NEAREST)
    jpeg = as_jpeg(enlarged, quality=92, subsampling=0)
    return own_pictures().keep(Picture(f"{name} no. {number}: {label}", False, jpeg, image, is_found=False))
