"""Reads folders of labelled pictures: CIFAR-10's own binary files, or one folder of pictures per class.

The validation pictures are those in test_batch.bin, or in val/ or test/ beside train/; without these, a tenth of all
pictures, drawn by the seed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from PIL import Image

from playground.errors import PlaygroundError
from playground.pictures.images import open_image

CIFAR_PAGE = "www.cs.toronto.edu/~kriz/cifar.html"
ADVICE = (
    f"CIFAR-10's binary version is at {CIFAR_PAGE}: unpack it and give the folder that holds data_batch_1.bin to "
    "data_batch_5.bin, test_batch.bin and batches.meta.txt; or give a folder with one folder of pictures per class."
)
SIDE = 32  # pixels along a side of CIFAR's pictures
RECORD_BYTES = 1 + 3 * SIDE * SIDE  # bytes of a picture: its label, then all red bytes, all green, all blue
CIFAR_LABELS = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
MOST_RECORDS = 200_000  # CIFAR-10 has 60,000
LONGEST_META = 65_536  # most bytes of a file of labels; CIFAR-10's has 61
MOST_LABELS = 256  # a label is one byte
LONGEST_LABEL = 60
SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".heic")
HELD_OUT_FOLDERS = ("val", "valid", "validation", "test")
HELD_OUT_SHARE = 0.1


@dataclass(frozen=True)
class Place:
    """The location of one picture: a file, or a record in one of CIFAR's files."""

    file: Path
    label: int
    record: int | None = None

    def open(self) -> Image.Image:
        if self.record is not None:
            with _readable(self.file), self.file.open("rb") as file:
                file.seek(self.record * RECORD_BYTES + 1)
                data = file.read(RECORD_BYTES - 1)
            if len(data) != RECORD_BYTES - 1:
                raise PlaygroundError(f"{self.file} has become shorter: start again.")
            return Image.fromarray(_from_planes(np.frombuffer(data, np.uint8)))
        try:
            return open_image(self.file)
        except PlaygroundError as error:
            raise PlaygroundError(f"{self.file}: {error}") from None


@dataclass(frozen=True)
class LabelledPictures:
    """The labelled pictures of a folder. `places` has the training pictures first."""

    name: str
    labels: tuple[str, ...]
    training: tuple[Place, ...]
    validation: tuple[Place, ...]
    tiny: bool  # whether the pictures have 32 × 32 pixels

    @property
    def places(self) -> tuple[Place, ...]:
        return self.training + self.validation


def browse(folder: str | Path, index: int) -> tuple[Image.Image, str]:
    """(picture, label) of picture number `index` in a folder, in the order of the files."""
    data_set = _browsable(Path(folder))
    if not 0 <= index < len(data_set.places):
        raise PlaygroundError(f"There is no picture {index}; they count from 0 to {len(data_set.places) - 1}.")
    place = data_set.places[index]
    return place.open(), data_set.labels[place.label]


def count(folder: str | Path) -> int:
    """The number of pictures that can be browsed."""
    return len(_browsable(Path(folder)).places)


@lru_cache(maxsize=2)
def _browsable(folder: Path) -> LabelledPictures:
    return read(folder, held_out_share=0)


def read(folder: str | Path, seed: int = 0, held_out_share: float = HELD_OUT_SHARE) -> LabelledPictures:
    """Lists the labelled pictures of a folder, without decoding them."""
    folder = Path(folder)
    if not folder.is_dir():
        raise PlaygroundError(f"There is no folder {folder}. {ADVICE}")
    with _readable(folder):
        for candidate in (folder, folder / "cifar-10-batches-bin"):
            if list(candidate.glob("data_batch_*.bin")):
                return _cifar(candidate, seed, held_out_share)
        if (folder / "data_batch_1").is_file():
            raise PlaygroundError(f"{folder} holds CIFAR-10's Python version, which can't be read safely. {ADVICE}")
        return _class_folders(folder, seed, held_out_share)


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PlaygroundError(f"{error.filename or file} can't be read: {error.strerror or error}.") from None


# CIFAR-10 -------------------------------------------------------------------------------------------------------------


def _cifar(folder: Path, seed: int, held_out_share: float) -> LabelledPictures:
    labels_file = folder / "batches.meta.txt"
    labels = _labels(labels_file) if labels_file.is_file() else CIFAR_LABELS
    files, test_file = sorted(folder.glob("data_batch_*.bin")), folder / "test_batch.bin"
    _check_sizes([*files, *([test_file] if test_file.is_file() else [])])
    training = [place for file in files for place in _records(file, labels)]
    if test_file.is_file():
        return LabelledPictures("cifar-10", labels, tuple(training), tuple(_records(test_file, labels)), tiny=True)
    return LabelledPictures("cifar-10", labels, *_split(training, seed, held_out_share), tiny=True)


def _labels(meta: Path) -> tuple[str, ...]:
    if (size := meta.stat().st_size) > LONGEST_META:
        raise PlaygroundError(f"{meta} is {size:,} bytes long, and not a list of names. {ADVICE}")
    lines = meta.read_text(encoding="utf-8", errors="replace").split("\n")
    labels = tuple(name.strip() for name in lines if name.strip())
    if len(labels) > MOST_LABELS or any(len(name) > LONGEST_LABEL for name in labels):
        raise PlaygroundError(
            f"{meta} has {len(labels):,} lines; at most {MOST_LABELS} names of {LONGEST_LABEL} letters belong there. "
            f"{ADVICE}"
        )
    return labels


def _check_sizes(files: list[Path]) -> None:
    """Checks the files' sizes before any of them is read."""
    records = 0
    for file in files:
        size = file.stat().st_size
        if not file.is_file() or not size or size % RECORD_BYTES:
            raise PlaygroundError(
                f"{file} is {size:,} bytes long, which is no multiple of CIFAR-10's {RECORD_BYTES:,} per picture. "
                f"{ADVICE}"
            )
        records += size // RECORD_BYTES
    if records > MOST_RECORDS:
        raise PlaygroundError(f"{files[0].parent} claims {records:,} pictures; at most {MOST_RECORDS:,} are read.")


def _records(file: Path, labels: Sequence[str]) -> list[Place]:
    label_numbers = np.memmap(file, np.uint8, "r").reshape(-1, RECORD_BYTES)[:, 0]
    if label_numbers.max() >= len(labels):
        raise PlaygroundError(f"{file} has a label {label_numbers.max()}, and only {len(labels)} are named. {ADVICE}")
    return [Place(file, int(label), record) for record, label in enumerate(label_numbers)]


def _from_planes(record: np.ndarray) -> np.ndarray:
    return record.reshape(3, SIDE, SIDE).transpose(1, 2, 0)


# Folders of pictures --------------------------------------------------------------------------------------------------


def _class_folders(folder: Path, seed: int, held_out_share: float) -> LabelledPictures:
    training_folder, validation_folder = folder, None
    if (folder / "train").is_dir():
        training_folder = folder / "train"
        validation_folder = next((folder / name for name in HELD_OUT_FOLDERS if (folder / name).is_dir()), None)
    labels = tuple(sorted(entry.name for entry in training_folder.iterdir() if entry.is_dir() and _pictures(entry)))
    if len(labels) < 2:
        contents = f"only one folder with pictures, {labels[0]}" if labels else "no folders with pictures"
        raise PlaygroundError(f"{training_folder} holds {contents}; at least two classes are needed. {ADVICE}")
    training_places, validation_places = (
        _places(training_folder, labels),
        _places(validation_folder, labels) if validation_folder else [],
    )
    parts = (
        (tuple(training_places), tuple(validation_places))
        if validation_places
        else _split(training_places, seed, held_out_share)
    )
    return LabelledPictures(folder.resolve().name, labels, *parts, tiny=False)


def _places(folder: Path, labels: Sequence[str]) -> list[Place]:
    return [Place(file, number) for number, label in enumerate(labels) for file in _pictures(folder / label)]


def _pictures(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob("*") if file.suffix.lower() in SUFFIXES and file.is_file())


def _split(places: list[Place], seed: int, held_out_share: float) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
    """(training, validation), each in the order of `places`."""
    least_count = 1 if held_out_share and len(places) > 1 else 0
    held_out_indices = np.random.default_rng(seed).permutation(len(places))[
        : max(least_count, round(held_out_share * len(places)))
    ]
    held_out_numbers = set(held_out_indices.tolist())
    return (
        tuple(place for i, place in enumerate(places) if i not in held_out_numbers),
        tuple(place for i, place in enumerate(places) if i in held_out_numbers),
    )


# Drawings of the same small size --------------------------------------------------------------------------------------

DRAWING_COUNT = 10_000  # number of drawings that can be browsed
ZOOM = 1.8  # factor of the size of things, so that they fill about as much of the picture as in CIFAR-10
LEAST_COVER = 0.08  # the least share of the picture that the thing in a drawing covers


def labelled_drawing(number: int) -> tuple[Image.Image, str]:
    """(drawing, label of the one thing in it). Scenes are drawn until the thing covers a large enough share."""
    from playground.scenes import drawing, generate
    from playground.scenes.silhouettes import SHAPES

    if number >= DRAWING_COUNT:
        raise PlaygroundError(
            f"There are {DRAWING_COUNT:,} drawings, from 0 to {DRAWING_COUNT - 1:,}; asked was {number:,}."
        )
    scenes = (
        drawing.draw(generate.describe(seed, most_things=1, zoom=ZOOM), SIDE)
        for seed in itertools.count(number, DRAWING_COUNT)
    )
    scene = next(candidate for candidate in scenes if (candidate.objects == 1).mean() >= LEAST_COVER)
    return Image.fromarray(scene.image), SHAPES[scene.shapes[0]]
