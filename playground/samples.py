"""The pictures that come with the playground: their names, what to look for in them, where they lie.

`python -m playground.samples` draws them again, from playground/compositions.py.
"""

from dataclasses import dataclass
from pathlib import Path

from playground.assets import SAMPLES as FOLDER

HEIGHT = 768
QUALITY = 90


@dataclass(frozen=True)
class Sample:
    name: str
    title: str
    start: tuple[float, float]  # which patch is asked first: where it lies, as parts of height and width
    hint: str  # what to look for, one sentence

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.jpg"


SAMPLES = (
    Sample(
        "meadow", "Morning in the meadow", (0.62, 0.4),
        "Hover the cat, then the grass: each patch finds the rest of its own thing.",
    ),
    Sample(
        "flock", "A flock of equal birds", (0.4, 0.42),
        "Point at one bird: does its attention cross the empty sky to the others?",
    ),
    Sample(
        "still-life", "Still life", (0.62, 0.62),
        "Mug, bottle and fruit touch and overlap: where does each object end for a head?",
    ),
    Sample(
        "portrait", "Portrait", (0.49, 0.44),
        "An eye can listen to the other eye, which no small convolution window reaches.",
    ),
    Sample(
        "twins", "Two look-alikes", (0.58, 0.29),
        "The same face twice: does a patch stay with its own face or jump to the twin?",
    ),
    Sample(
        "landscape", "Lake and hills", (0.48, 0.17),
        "Sky with sky, water with water: attention by content, at any distance.",
    ),
    Sample(
        "odd-tile", "One odd tile", (0.58, 0.42),
        "Every tile has many equals but one: hover it, and see whom it can listen to.",
    ),
    Sample(
        "camouflage", "Hidden by colour", (0.74, 0.3),
        "Three animals in the very colours of the ground: only texture and outline tell.",
    ),
    Sample(
        "one-colour", "Two things, one colour", (0.58, 0.35),
        "The pear and the mug share one red: colour alone can't keep them apart.",
    ),
    Sample(
        "two-colours", "One thing, two colours", (0.62, 0.35),
        "Half light and half dark, yet one car: do its halves find each other?",
    ),
)  # fmt: skip


def named(name: str) -> Sample | None:
    return next((sample for sample in SAMPLES if sample.name == name), None)


def start_patch(name: str, grid: tuple[int, int]) -> tuple[int, int]:
    """Which patch of a picture is asked first: of one that is no sample, the middle."""
    sample = named(name)
    return tuple(int(part * side) for part, side in zip(sample.start if sample else (0.5, 0.5), grid, strict=True))


def draw_sample(name: str, height: int = HEIGHT):
    """The scene behind a sample, with its masks and labels (playground.drawing.Scene)."""
    from playground.scenes.compositions import COMPOSITIONS
    from playground.scenes.drawing import draw

    return draw(COMPOSITIONS[name](), height)


def write_samples(folder: Path = FOLDER) -> None:
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    for sample in SAMPLES:
        image = Image.fromarray(draw_sample(sample.name).image)
        image.save(folder / sample.path.name, quality=QUALITY, subsampling=0, optimize=True)
        print(
            f"{sample.name:12} {image.width}×{image.height}  {(folder / sample.path.name).stat().st_size / 1000:.0f} kB"
        )


if __name__ == "__main__":
    write_samples()
