"""The sample pictures: names, files, and what to look for in each. Photographs are downloaded (models/borrowed.py);
`python -m workshop.samples` makes the drawings again."""

from dataclasses import dataclass
from pathlib import Path

from playground.assets import PROGRAM
from playground.assets import SAMPLES as FOLDER
from playground.errors import PlaygroundError
from playground.models import borrowed


@dataclass(frozen=True)
class Look:
    """The view in which a photograph opens, chosen by eye among candidates of benchmarks/eyes.py."""

    model: str
    grid: tuple[int, int]  # patches
    layer: int
    head: int


@dataclass(frozen=True)
class Part:
    """A part of a photograph. microscope/lens/words.js has the words for each kind of part."""

    kind: str
    box: tuple[float, float, float, float]  # top, left, bottom, right, as shares of height and width

    def holds(self, patch: int, grid: tuple[int, int]) -> bool:
        """Whether the patch's centre lies in the box; isInPart in microscope/core/places.js has the same rule."""
        row, column = divmod(patch, grid[1])
        top, left, bottom, right = self.box
        return top <= (row + 0.5) / grid[0] < bottom and left <= (column + 0.5) / grid[1] < right


@dataclass(frozen=True)
class Sample:
    name: str
    title: str
    start: tuple[float, float]  # the first query, as shares of height and width
    hint: str  # what to look for, one sentence
    labels: tuple[str, ...] = ()  # true labels: all of our model's for a drawing, some of ImageNet's otherwise
    look: Look | None = None  # None: the bundled model in its default view
    loan: borrowed.BorrowedFile | None = None  # None: a drawing
    parts: tuple[Part, ...] = ()

    @property
    def kind(self) -> str:
        return "drawing" if self.loan is None else "photograph"

    @property
    def author(self) -> str:
        return "Attention Playground" if self.loan is None else self.loan.author

    @property
    def credit(self) -> str:
        return f"{self.author} · {self.licence}"

    @property
    def licence(self) -> str:
        return "MIT" if self.loan is None else self.loan.licence

    @property
    def source(self) -> str:
        return "drawn by workshop/scenes" if self.loan is None else self.loan.source

    @property
    def is_here(self) -> bool:
        return self.loan is None or borrowed.find(self.loan.file) is not None

    @property
    def path(self) -> Path:
        if self.loan is None:
            return FOLDER / f"{self.name}.jpg"
        if (path := borrowed.find(self.loan.file)) is None:
            raise PlaygroundError(
                f"The photograph {self.name} is not on this machine; `{PROGRAM} download photographs` fetches it."
            )
        return path


def _photograph(
    file: str,
    title: str,
    patch: tuple[int, int],
    grid: tuple[int, int],
    layer: int,
    head: int,
    hint: str,
    labels: tuple[str, ...] = (),
    parts: tuple[Part, ...] = (),
) -> Sample:
    photograph = next(item for item in borrowed.PHOTOGRAPHS if item.file == file)
    start = ((patch[0] + 0.5) / grid[0], (patch[1] + 0.5) / grid[1])
    return Sample(
        Path(file).stem, title, start, hint, labels, Look("dinov2-small", grid, layer, head), photograph, parts
    )


PHOTOGRAPHS = (  # about 28 × 28 patches, three times as fast as DINOv2's usual 37 × 37
    _photograph(
        "chelsea.png", "Chelsea the cat", (11, 23), (23, 34), 6, 5,
        "Point at one eye: the other eye lights up, across the whole face.",
        ("tabby", "tiger cat", "Egyptian cat"),
        (
            Part("eye", (0.27, 0.28, 0.52, 0.47)), Part("eye", (0.33, 0.64, 0.58, 0.78)),
            Part("nose", (0.72, 0.49, 0.9, 0.63)),
        ),
    ),
    _photograph(
        "coffee.png", "A cup of coffee", (14, 20), (23, 34), 9, 4,
        "Point at the spoon: it looks at the cup.",
        ("espresso", "cup", "coffee mug"),
        (
            Part("spoon", (0.58, 0.53, 0.84, 0.69)), Part("coffee", (0.24, 0.33, 0.5, 0.63)),
            Part("cup", (0.03, 0.28, 0.78, 0.69)),
        ),
    ),
    _photograph(
        "astronaut.png", "Eileen Collins, astronaut", (19, 16), (28, 28), 7, 2,
        "Point at one badge: the badge on the other side of the suit lights up.",
        parts=(
            Part("badge", (0.66, 0.25, 0.85, 0.42)), Part("badge", (0.65, 0.53, 0.75, 0.66)),
            Part("face", (0.13, 0.36, 0.37, 0.55)), Part("helmet", (0.67, 0.55, 1, 1)),
            Part("shuttle", (0, 0.7, 0.56, 0.9)),
        ),
    ),
    _photograph(
        "rocket.jpg", "Before the launch", (14, 24), (23, 34), 8, 5,
        "Point at one tower: its twin on the other side of the rocket lights up, and the rocket's tip.",
        parts=(
            Part("tower", (0.28, 0.25, 0.95, 0.36)), Part("tower", (0.28, 0.66, 0.95, 0.76)),
            Part("rocket", (0.29, 0.47, 0.97, 0.54)),
        ),
    ),
    _photograph(
        "camera.png", "The cameraman", (24, 20), (28, 28), 9, 1,
        "Point at one leg of the tripod: the others answer.",
        ("tripod",),
        (
            Part("leg", (0.66, 0.43, 0.96, 0.54)), Part("leg", (0.66, 0.55, 0.96, 0.62)),
            Part("leg", (0.66, 0.62, 1, 0.8)), Part("head", (0.11, 0.31, 0.42, 0.5)),
            Part("camera", (0.25, 0.5, 0.4, 0.66)),
        ),
    ),
)  # fmt: skip

SAMPLES = (  # the drawings, which are always there
    Sample(
        "meadow", "Morning in the meadow", (0.62, 0.4),
        "Hover the cat, then the grass: each patch finds the rest of its own thing.",
        ("animal or face", "plant", "made thing", "patterned thing", "thing of natural texture", "landscape"),
    ),
    Sample(
        "flock", "A flock of equal birds", (0.4, 0.42),
        "Point at one bird: does its attention cross the empty sky to the others?",
        ("animal or face", "landscape"),
    ),
    Sample(
        "still-life", "Still life", (0.62, 0.62),
        "Mug, bottle and fruit touch and overlap: where does each object end for a head?",
        ("plain shape", "plant", "made thing", "indoors"),
    ),
    Sample(
        "portrait", "Portrait", (0.49, 0.44),
        "An eye can look at the other eye, which no small convolution window reaches.",
        ("animal or face", "textured"),
    ),
    Sample(
        "twins", "Two look-alikes", (0.58, 0.29),
        "The same face twice: does a patch stay with its own face or jump to the twin?",
        ("animal or face", "textured"),
    ),
    Sample(
        "landscape", "Lake and hills", (0.48, 0.17),
        "Sky with sky, water with water: attention by content, at any distance.",
        ("plant", "thing of natural texture", "landscape"),
    ),
    Sample(
        "odd-tile", "One odd tile", (0.58, 0.42),
        "Every tile has many equals but one: hover it, and see what it can look at.",
        ("plain shape", "thing of natural texture", "empty"),
    ),
    Sample(
        "camouflage", "Hidden by colour", (0.74, 0.3),
        "Three animals in the very colours of the ground: only texture and outline tell.",
        ("animal or face", "thing of natural texture", "textured"),
    ),
    Sample(
        "one-colour", "Two things, one colour", (0.58, 0.35),
        "The pear and the mug share one red: colour alone can't keep them apart.",
        ("plant", "made thing", "indoors"),
    ),
    Sample(
        "two-colours", "One thing, two colours", (0.62, 0.35),
        "Half light and half dark, yet one car: do its halves find each other?",
        ("made thing", "landscape"),
    ),
)  # fmt: skip


def samples() -> tuple[Sample, ...]:
    """The samples that are on this machine: photographs first, then the drawings."""
    return (*(sample for sample in PHOTOGRAPHS if sample.is_here), *SAMPLES)


def find(name: str) -> Sample | None:
    """A sample by its name. Its `path` raises if its photograph is not on this machine."""
    return next((sample for sample in (*PHOTOGRAPHS, *SAMPLES) if sample.name == name), None)


def named(name: str) -> Sample:
    """The sample of this name, which there is."""
    return next(sample for sample in (*PHOTOGRAPHS, *SAMPLES) if sample.name == name)


def start_patch(name: str, grid: tuple[int, int]) -> tuple[int, int]:
    """The first query of a picture; the middle patch if it is not a sample."""
    y, x = sample.start if (sample := find(name)) else (0.5, 0.5)
    return int(y * grid[0]), int(x * grid[1])
