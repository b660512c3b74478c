"""Makes the drawings in assets/: python -m workshop.samples

samples/ has the sample drawings. drawings/ has small drawings of one thing each with its name, in the format of
CIFAR-10's binary files, to be browsed by their numbers.
"""

from __future__ import annotations

import itertools
from pathlib import Path

from PIL import Image

from playground.assets import DRAWINGS
from playground.assets import SAMPLES as SAMPLES_FOLDER
from playground.pictures.cifar import SIDE
from playground.samples import SAMPLES
from workshop.scenes import generate
from workshop.scenes.compositions import COMPOSITIONS
from workshop.scenes.drawing import Scene, draw
from workshop.scenes.silhouettes import SHAPES

SAMPLE_HEIGHT = 768
JPEG_QUALITY = 90
DRAWING_COUNT = 300
FIRST_SEEDS = 10_000  # drawing n tries the seeds n, n + 10,000, …
ZOOM = 1.8  # factor of the size of things, so that they fill about as much of the picture as in CIFAR-10
LEAST_COVER = 0.08  # the least share of the picture that the thing in a drawing covers


def draw_sample(name: str, height: int = SAMPLE_HEIGHT) -> Scene:
    """The scene that a sample shows, with its masks and labels."""
    return draw(COMPOSITIONS[name](), height)


def small_drawing(number: int) -> Scene:
    """Scenes of one thing are drawn until the thing covers a large enough share."""
    scenes = (
        draw(generate.describe(seed, most_things=1, zoom=ZOOM), SIDE) for seed in itertools.count(number, FIRST_SEEDS)
    )
    return next(scene for scene in scenes if (scene.objects == 1).mean() >= LEAST_COVER)


def small_drawings(numbers: range = range(DRAWING_COUNT)) -> bytes:
    """A file of CIFAR-10's format: of each drawing its label, all red bytes, all green and all blue."""
    scenes = map(small_drawing, numbers)
    return b"".join(bytes([scene.shapes[0]]) + scene.image.transpose(2, 0, 1).tobytes() for scene in scenes)


def write(samples: Path = SAMPLES_FOLDER, drawings: Path = DRAWINGS) -> None:
    for sample in SAMPLES:
        image = Image.fromarray(draw_sample(sample.name).image)
        image.save(samples / sample.path.name, quality=JPEG_QUALITY, subsampling=0, optimize=True)
    (drawings / "batches.meta.txt").write_text("\n".join(SHAPES) + "\n", encoding="utf-8")
    (drawings / "data_batch_1.bin").write_bytes(small_drawings())


if __name__ == "__main__":
    write()
