"""Reads small labelled pictures from CIFAR-10's binary files, one at a time. A picture is a record of 3,073 bytes: its
label, then all red bytes, all green and all blue."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from PIL import Image

from playground.errors import PlaygroundError

SIDE = 32  # pixels along a side of a picture
RECORD_BYTES = 1 + 3 * SIDE * SIDE
LABELS = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
MOST_RECORDS = 200_000  # CIFAR-10 has 60,000
LONGEST_META = 65_536  # most bytes of the file of labels; CIFAR-10's has 61
MOST_LABELS, LONGEST_LABEL = 256, 60  # a label is one byte; a name's letters
ADVICE = (
    "CIFAR-10's binary version is at www.cs.toronto.edu/~kriz/cifar.html: unpack it and give the folder that holds "
    "data_batch_1.bin to data_batch_5.bin, test_batch.bin and batches.meta.txt."
)


@dataclass(frozen=True)
class DataSet:
    labels: tuple[str, ...]
    batches: tuple[tuple[Path, int], ...]  # files, with the number of pictures in each

    def __len__(self) -> int:
        return sum(count for _, count in self.batches)

    def open(self, number: int) -> tuple[Image.Image, str]:
        """(picture, label) of a number, in the order of the files."""
        if not 0 <= number < len(self):
            raise PlaygroundError(f"There is no picture {number}; they count from 0 to {len(self) - 1:,}.")
        batches = iter(self.batches)
        file, count = next(batches)
        while number >= count:
            number -= count
            file, count = next(batches)
        try:
            with file.open("rb") as records:
                records.seek(number * RECORD_BYTES)
                record = np.frombuffer(records.read(RECORD_BYTES), np.uint8)
        except OSError as error:
            raise PlaygroundError(f"{file} can't be read: {error.strerror or error}.") from None
        if len(record) != RECORD_BYTES:
            raise PlaygroundError(f"{file} has become shorter: start again.")
        if record[0] >= len(self.labels):
            raise PlaygroundError(f"{file} has a label {record[0]}, and only {len(self.labels)} are named. {ADVICE}")
        return Image.fromarray(record[1:].reshape(3, SIDE, SIDE).transpose(1, 2, 0)), self.labels[record[0]]


@lru_cache(maxsize=2)
def read(given: Path) -> DataSet:
    """Lists a data set. Sizes are checked before anything is read."""
    try:
        folder = given / "cifar-10-batches-bin" if (given / "cifar-10-batches-bin").is_dir() else given
        files = [*sorted(folder.glob("data_batch_*.bin")), *folder.glob("test_batch.bin")]
        if not files:
            raise PlaygroundError(f"There is no file data_batch_1.bin in {given}. {ADVICE}")
        batches = tuple((file, _record_count(file)) for file in files)
        if (count := sum(count for _, count in batches)) > MOST_RECORDS:
            raise PlaygroundError(f"{folder} claims {count:,} pictures; at most {MOST_RECORDS:,} are read.")
        names = folder / "batches.meta.txt"
        return DataSet(_labels(names) if names.is_file() else LABELS, batches)
    except OSError as error:
        raise PlaygroundError(f"{error.filename or given} can't be read: {error.strerror or error}.") from None


def _record_count(file: Path) -> int:
    size = file.stat().st_size
    if not file.is_file() or not size or size % RECORD_BYTES:
        raise PlaygroundError(
            f"{file} is {size:,} bytes long, which is no multiple of CIFAR-10's {RECORD_BYTES:,} a picture. {ADVICE}"
        )
    return size // RECORD_BYTES


def _labels(names: Path) -> tuple[str, ...]:
    if (size := names.stat().st_size) > LONGEST_META:
        raise PlaygroundError(f"{names} is {size:,} bytes long, and not a list of names. {ADVICE}")
    lines = names.read_text(encoding="utf-8", errors="replace").split("\n")
    labels = tuple(line.strip() for line in lines if line.strip())
    if len(labels) > MOST_LABELS or any(len(label) > LONGEST_LABEL for label in labels):
        raise PlaygroundError(
            f"{names} has {len(labels):,} lines; at most {MOST_LABELS} names of {LONGEST_LABEL} letters belong there. "
            f"{ADVICE}"
        )
    return labels
