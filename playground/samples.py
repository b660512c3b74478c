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
    hint: str  # what to look for, one sentence

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.jpg"


SAMPLES = (
    Sample(
        "meadow", "Morning in the meadow", "Hover the cat, then the grass: each patch finds the rest of its own thing."
    ),
    Sample(
        "flock", "A flock of equal birds", "Point at one bird: does its attention cross the empty sky to the others?"
    ),
    Sample(
        "still-life", "Still life", "Mug, bottle and fruit touch and overlap: where does each object end for a head?"
    ),
    Sample("portrait", "Portrait", "An eye can listen to the other eye, which no small convolution window reaches."),
    Sample("twins", "Two look-alikes", "The same face twice: does a patch stay with its own face or jump to the twin?"),
    Sample("landscape", "Lake and hills", "Sky with sky, water with water: attention by content, at any distance."),
    Sample("odd-tile", "One odd tile", "Every tile has many equals but one: hover it, and see whom it can listen to."),
    Sample(
        "camouflage",
        "Hidden by colour",
        "Three animals in the very colours of the ground: only texture and outline tell.",
    ),
    Sample(
        "one-colour",
        "Two things, one colour",
        "The pear and the mug share one red: colour alone can't keep them apart.",
    ),
    Sample(
        "two-colours", "One thing, two colours", "Half light and half dark, yet one car: do its halves find each other?"
    ),
)


def draw_sample(name: str, height: int = HEIGHT):
    """The scene behind a sample, with its masks and labels (playground.drawing.Scene)."""
    from playground.compositions import COMPOSITIONS  # only those who draw wait for it
    from playground.drawing import draw

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
