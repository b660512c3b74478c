"""Copies the photographs for training the bundled model from Debian's packages into a folder.

Most packages hold plain files. GCompris has Qt resource files, which pack many entries.
"""

from __future__ import annotations

import io
import re
import shutil
import struct
import subprocess
import tempfile
import zlib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from PIL import Image

from playground.errors import PlaygroundError
from workshop.photographs import MEASURING_FOLDER, ONE_THING_IN, is_one_in

PHOTOGRAPHS = {  # package -> patterns of the files to take
    "gcompris-qt-data": (
        "*/categorization/resource/images/*", "*/clickgame/resource/sea*", "*/details/resource/image/*_background.*",
        "*/erase/resource/*", "*/explore_*_animals/resource/*", "*/explore_monuments/resource/*",
        "*/explore_world_music/resource/*",
    ),
    "kphotoalbum": ("*/demo/*.jpg",),
    "lomiri-wallpapers-16.04": ("*.jpg",),
    "lomiri-wallpapers-20.04": ("*/Kleiber*",),
    "mate-backgrounds": ("*/mate/nature/*",),
    "palapeli-data": ("*/collection/*.jpg",),
    "plasma-workspace-wallpapers": ("*/images/2560x1600.jpg",),
}  # fmt: skip
MEASURED_PHOTOGRAPHS = {
    "tuxpaint-data": ("*/tuxpaint/templates/*.jpg",)
}  # photographs for measuring, never for training
THINGS = {"tuxpaint-stamps-default": ("*/stamps/*.png",), "gcompris-qt-data": ("*/solar_system/resource/*.webp",)}
LEFT_OUT = (  # patterns of files that are left out: drawings, signs, and mirrored copies
    "*/cartoon/*", "*/symbols/*", "*/roadsigns/*", "*/flags/*", "*/easter/*", "*/hanukkah/*", "*/newyears/*",
    "*_mirror.*", "*/texture0*", "*/analogpattern*", "*/umang*", "*/eye.png", "*/Santa.png", "*outline*",
    "*/images/numbers/*", "*/images/alphabets/*",
)  # fmt: skip
SMALLEST_PHOTOGRAPH, SMALLEST_THING = 180, 60  # pixels: smaller pictures show too little
LARGEST_SIDE = 640  # pixels of the shorter side; larger photographs are reduced


def gather(folder: Path) -> tuple[int, int]:
    """Fills the folder; returns how many photographs and how many cut-out things it holds now. The subfolder apart/ is
    for measuring only: photographs of other packages, and things that share no name with a training thing."""
    for tool in ("apt-get", "dpkg-deb"):
        if not shutil.which(tool):
            raise PlaygroundError(
                f"This machine has no {tool}: the photographs come out of Debian's packages, which Debian and Ubuntu "
                "fetch. Any folder of photographs does too, with things on transparent ground in a subfolder cut-outs."
            )
    for subfolder in (folder, folder / MEASURING_FOLDER):
        subfolder.joinpath("cut-outs").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as cache_folder:
        for package in dict.fromkeys([*PHOTOGRAPHS, *MEASURED_PHOTOGRAPHS, *THINGS]):
            for name, data in entries(unpacked(package, Path(cache_folder))):
                if any(fnmatch(name, pattern) for pattern in LEFT_OUT):
                    continue
                if any(fnmatch(name, pattern) for pattern in PHOTOGRAPHS.get(package, ())):
                    _save(data, folder / f"{plain_name(name)}.jpg", "RGB", SMALLEST_PHOTOGRAPH)
                if any(fnmatch(name, pattern) for pattern in MEASURED_PHOTOGRAPHS.get(package, ())):
                    _save(data, folder / MEASURING_FOLDER / f"{plain_name(name)}.jpg", "RGB", SMALLEST_PHOTOGRAPH)
                if any(fnmatch(name, pattern) for pattern in THINGS.get(package, ())):
                    _save(data, folder / "cut-outs" / f"{plain_name(name)}.png", "RGBA", SMALLEST_THING)
    _put_apart(folder)
    return len(list(folder.rglob("*.jpg"))), len(list(folder.rglob("cut-outs/*.png")))


def _put_apart(folder: Path) -> None:
    """Moves a quarter of the things, chosen by their names, to the subfolder for measuring. Deletes those of them whose
    names share a word with a training thing, because they could show the same thing."""
    things = sorted(folder.glob("cut-outs/*.png"))
    training_words = {word for file in things if not is_one_in(ONE_THING_IN, file) for word in stamp_words(file.stem)}
    for file in things:
        if is_one_in(ONE_THING_IN, file):
            if stamp_words(file.stem) & training_words:
                file.unlink()
            else:
                file.replace(folder / MEASURING_FOLDER / "cut-outs" / file.name)


def stamp_words(name: str) -> set[str]:
    """The words of a stamp's name: "pig" and "golden" of mammals-animals-pig_golden2."""
    return set(re.findall("[a-z]{3,}", name.split("-", 2)[-1].lower()))


def unpacked(package: str, cache_folder: Path) -> Path:
    """The folder with the unpacked package. Nothing is installed."""
    target = cache_folder / package
    target.mkdir()
    result = subprocess.run(["apt-get", "download", package], cwd=cache_folder, capture_output=True, text=True)
    files = list(cache_folder.glob(f"{package}_*.deb"))
    if result.returncode or not files:
        last_line = (result.stderr.strip().splitlines() or ["nothing came"])[-1]
        raise PlaygroundError(f"The package {package} can't be fetched: {last_line} (`apt-get update` may help).")
    subprocess.run(["dpkg-deb", "-x", files[0], target], check=True)
    files[0].unlink()
    return target


def entries(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yields (name, content) of all files below the folder, and of the entries of resource files."""
    for file in sorted(folder.rglob("*")):
        if file.is_symlink() or not file.is_file():
            continue
        if file.suffix == ".rcc":
            yield from resources(file.read_bytes())
        elif file.suffix.lower() in (".jpg", ".jpeg", ".png", ".webp"):
            yield str(file.relative_to(folder)), file.read_bytes()


def resources(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yields the entries of a Qt resource file. It has three tables: the nodes of a tree, the contents, and the
    names."""
    _, version, tree, contents, names = struct.unpack(">4sIIII", data[:20])
    node_length = 22 if version >= 2 else 14

    def entries_below(number: int, path: str) -> Iterator[tuple[str, bytes]]:
        entry_start = tree + node_length * number
        name_offset, flags = struct.unpack(">IH", data[entry_start : entry_start + 6])
        if number:
            letter_count = int.from_bytes(data[names + name_offset : names + name_offset + 2])
            path += "/" + data[names + name_offset + 6 : names + name_offset + 6 + 2 * letter_count].decode("utf-16-be")
        if flags & 2:  # a folder
            count, first_entry = struct.unpack(">II", data[entry_start + 6 : entry_start + 14])
            for child in range(first_entry, first_entry + count):
                yield from entries_below(child, path)
        else:
            content_start = contents + int.from_bytes(data[entry_start + 10 : entry_start + 14])
            content = data[
                content_start + 4 : content_start + 4 + int.from_bytes(data[content_start : content_start + 4])
            ]
            yield path, zlib.decompress(content[4:]) if flags & 1 else content

    yield from entries_below(0, "")


def plain_name(name: str) -> str:
    """A file name made of the last three parts of a path, without general ones such as images. Files of two folders get
    different names."""
    dull_parts = ("resource", "images", "contents", "/")
    return "-".join([part for part in Path(name).with_suffix("").parts if part not in dull_parts][-3:])


def _save(data: bytes, file: Path, mode: str, smallest: int) -> None:
    try:
        image = Image.open(io.BytesIO(data))
        if min(image.size) >= smallest:
            image = image.convert(mode)
            image.thumbnail((2 * LARGEST_SIDE, 2 * LARGEST_SIDE), reducing_gap=3)
            image.save(file, quality=92)
    except OSError:  # not a picture, or a format that Pillow does not know
        return
