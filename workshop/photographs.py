"""Makes training pictures of photographs: crops, and cut-out things in front of other photographs.

A folder has photographs as files, and in its subfolder cut-outs/ things on transparent ground (PNG or WebP).
The subfolder apart/ is for measuring only, never for training. In a folder without apart/, a
tenth of the photographs and a quarter of the cut-outs, chosen by their names, are kept for measuring.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter

from playground.errors import PlaygroundError

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")
MEASURING_FOLDER = "apart"  # the subfolder of pictures for measuring
ONE_PHOTOGRAPH_IN, ONE_THING_IN = 10, 4  # without that subfolder, one file in 10 or in 4 is kept for measuring
LARGEST_SIDE = 512  # pixels of the shorter side: larger photographs are reduced when read
ADVICE = (
    "It is a folder of photographs with a subfolder cut-outs/ of things on transparent ground; "
    "workshop/PHOTOGRAPHS.md says which ones the bundled model saw, and where they come from."
)


@dataclass(frozen=True)
class Album:
    """Files of photographs and of cut-out things."""

    photographs: tuple[Path, ...]
    things: tuple[Path, ...]


def albums(folder: Path) -> tuple[Album, Album]:
    """(pictures for training, pictures kept for measuring)"""
    if not folder.is_dir():
        raise PlaygroundError(f"There is no folder {folder}. {ADVICE}")
    photographs, things = _files(folder), _files(folder / "cut-outs")
    if (folder / MEASURING_FOLDER).is_dir():
        both_albums = [
            Album(photographs, things),
            Album(_files(folder / MEASURING_FOLDER), _files(folder / MEASURING_FOLDER / "cut-outs")),
        ]
    else:
        both_albums = [
            Album(
                tuple(file for file in photographs if is_one_in(ONE_PHOTOGRAPH_IN, file) == is_apart),
                tuple(file for file in things if is_one_in(ONE_THING_IN, file) == is_apart),
            )
            for is_apart in (False, True)
        ]
    if not all(album.photographs and album.things for album in both_albums):
        contents = f"{len(photographs)} photographs and {len(things)} cut-out things"
        raise PlaygroundError(f"{folder} holds {contents}, too few to keep some apart for measuring. {ADVICE}")
    return both_albums[0], both_albums[1]


def _files(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(file for file in folder.glob("*") if file.suffix.lower() in SUFFIXES))


def is_one_in(count: int, file: Path) -> bool:
    """True for about one in `one_of` file names; a name always gives the same answer."""
    return int(sha256(file.stem.encode()).hexdigest(), 16) % count == 0


@lru_cache(maxsize=1024)
def _opened(file: Path) -> Image.Image:
    try:
        image = Image.open(file)
        image.draft("RGB", (LARGEST_SIDE, LARGEST_SIDE))
        image = image.convert("RGBA" if file.parent.name == "cut-outs" else "RGB")
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise PlaygroundError(f"{file} can't be opened: {error}") from None
    shrink = LARGEST_SIDE / min(image.size)
    return image.resize([round(side * shrink) for side in image.size], reducing_gap=3) if shrink < 1 else image


def crop(album: Album, side: int, rng: np.random.Generator) -> Image.Image:
    """A part of a photograph, `side` pixels square. Half of the crops are mirrored."""
    image = _opened(album.photographs[rng.integers(len(album.photographs))])
    area, aspect = rng.uniform(0.15, 1) * min(image.size) ** 2, math.exp(rng.uniform(-0.25, 0.25))
    width, height = min(image.width, int(math.sqrt(area * aspect))), min(image.height, int(math.sqrt(area / aspect)))
    left, top = rng.integers(0, image.width - width + 1), rng.integers(0, image.height - height + 1)
    box = (left, top, left + width, top + height)
    return _mirrored(image.resize((side, side), Image.Resampling.BICUBIC, box=box, reducing_gap=2), rng)


def composite(album: Album, side: int, rng: np.random.Generator) -> tuple[Image.Image, np.ndarray]:
    """A picture of one to four things in front of a photograph, and for each pixel the number of its thing, 0 for none:
    (side, side) uint8."""
    picture, thing_numbers = crop(album, side, rng), np.zeros((side, side), np.uint8)
    if rng.random() < 0.3:
        picture = picture.filter(ImageFilter.GaussianBlur(rng.uniform(0.5, 3) * side / 196))
    for number in range(1, int(rng.integers(1, 5)) + 1):
        thing = _thing(album, side * rng.uniform(0.25, 0.8) / (1 + 0.06 * number), rng)
        x, y = rng.uniform(0.1, 0.9) * side - thing.width / 2, rng.uniform(0.15, 0.9) * side - thing.height / 2
        alpha = Image.new("L", (side, side))
        alpha.paste(thing.getchannel("A"), (int(x), int(y)))
        picture.paste(thing, (int(x), int(y)), thing)
        thing_numbers[np.asarray(alpha) > 127] = number
    if rng.random() < 0.5:
        light = rng.uniform(0.7, 1.25) * (1 + rng.uniform(-0.08, 0.08, 3))
        picture = Image.fromarray((np.asarray(picture) * light).clip(0, 255).astype(np.uint8))
    return picture, thing_numbers


def _thing(album: Album, longest: float, rng: np.random.Generator) -> Image.Image:
    thing = _opened(album.things[rng.integers(len(album.things))])
    size = [max(2, int(side * longest / max(thing.size))) for side in thing.size]
    thing = _mirrored(thing.resize(size, Image.Resampling.BICUBIC, reducing_gap=2), rng)
    if rng.random() < 0.4:
        thing = thing.rotate(rng.uniform(-25, 25), Image.Resampling.BICUBIC, expand=True)
    return thing


def _mirrored(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if rng.random() < 0.5 else image
