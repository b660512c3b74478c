"""The pictures that people look at: samples, uploads, and pictures of a labelled data set, chosen by number."""

from __future__ import annotations

import base64
import io
import os
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path

from PIL import Image

from playground.errors import PlaygroundError
from playground.samples import named, samples
from playground.serving import queue

SHOWN_SIDE = 1024  # pixels of the picture in the browser
THUMB = 96  # pixels of a small one, shown at 38 on a screen with two pixels to a point
TINY = 64  # pixels: a smaller picture is enlarged for the eye, each pixel a square; the model gets it as it is


@dataclass(frozen=True)
class Picture:
    """An image that a person chose: a sample, or an upload that lives as long as their session."""

    name: str  # a sample's name, or what the upload's file was called
    sample: bool
    jpeg: bytes  # what the browser shows
    image: Image.Image

    @cached_property
    def thumbnail(self) -> str:
        """As a data URL."""
        return thumbnail(self.image)

    @cached_property
    def id(self) -> str:
        return sha256(self.jpeg).hexdigest()[:16]


@cache
def sample(name: str) -> Picture:
    path = named(name).path
    image = Image.open(path).convert("RGB")
    return Picture(name, True, path.read_bytes() if path.suffix == ".jpg" else as_jpeg(image), image)


def next_sample(picture: Picture) -> Picture:
    names = [s.name for s in samples()]
    place = names.index(picture.name) if picture.name in names else -1
    return sample(names[(place + 1) % len(names)])


def upload(data: bytes, name: str) -> Picture:
    """PlaygroundError says what is wrong with a file."""
    from playground.images import open_image

    with queue.decoding():
        image = open_image(data)
        image.thumbnail((2 * SHOWN_SIDE, 2 * SHOWN_SIDE))  # no model looks at more
    shown = image.copy()  # of the smaller one: from a photograph of 12 megapixels this would take three times as long
    shown.thumbnail((SHOWN_SIDE, SHOWN_SIDE))
    return Picture(name, False, as_jpeg(shown), image)


def from_message(photo: dict) -> Picture:
    """A picture that was dropped or pasted into the page; it came inside a message."""
    try:
        data = base64.b64decode(photo["data"], validate=True)
    except (KeyError, TypeError, ValueError):
        raise PlaygroundError("The picture did not arrive in one piece: try again, or save it and upload it.") from None
    return upload(data, str(photo.get("name", "picture"))[:60])


def as_jpeg(image: Image.Image, **options) -> bytes:
    out = io.BytesIO()
    image.save(out, "JPEG", **{"quality": 90} | options)
    return out.getvalue()


def thumbnail(image: Image.Image) -> str:
    """As a data URL."""
    image = image.copy()
    image.thumbnail((THUMB * 2, THUMB))
    return data_url(as_jpeg(image, quality=80))


def data_url(jpeg: bytes) -> str:
    return f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}"


# CIFAR-10's pictures --------------------------------------------------------------------------------------------------


def labelled_folder() -> Path | None:
    """Where CIFAR-10's files lie, or another data set in its format; None where PLAYGROUND_CIFAR names no folder."""
    named = os.environ.get("PLAYGROUND_CIFAR", "").strip()
    return Path(named) if named else None


def labelled(number: int) -> Picture:
    """The picture of that number, called "CIFAR-10 no. 17: frog". PlaygroundError says what the folder should hold."""
    from playground.training import datasets

    image, label = datasets.browse(labelled_folder(), number)
    image.thumbnail((2 * SHOWN_SIDE, 2 * SHOWN_SIDE))
    name = "CIFAR-10" if image.size == (datasets.SIDE, datasets.SIDE) else labelled_folder().name
    return Picture(f"{name} no. {number}: {label}", False, _labelled_jpeg(image), image)


def _labelled_jpeg(image: Image.Image) -> bytes:
    if max(image.size) < TINY:
        factor = SHOWN_SIDE // 2 // max(image.size)
        image = image.resize((image.width * factor, image.height * factor), Image.Resampling.NEAREST)
    else:
        image = image.copy()
        image.thumbnail((SHOWN_SIDE, SHOWN_SIDE))
    return as_jpeg(image, quality=92, subsampling=0)
