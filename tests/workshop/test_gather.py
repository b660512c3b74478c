"""Photographs gathered from packages: which files are taken, and how a Qt resource file is read."""

import io
import shutil
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from playground.__main__ import main
from playground.errors import PlaygroundError
from workshop import gather, photographs


def picture(side: int, kind: str = "JPEG", mode: str = "RGB") -> bytes:
    file = io.BytesIO()
    noise = np.random.default_rng(side).integers(0, 256, (side, side, len(mode)), np.uint8)
    Image.fromarray(noise, mode).save(file, kind)
    return file.getvalue()


def resource_file(folder: str, files: dict[str, tuple[bytes, bool]]) -> bytes:
    """A Qt resource file of version 1 with one folder, as Qt's documentation of the format describes it."""
    names, contents, name_offsets = b"", b"", []
    for name in [folder, *files]:
        name_offsets.append(len(names))
        names += struct.pack(">HI", len(name), 0) + name.encode("utf-16-be")
    tree = struct.pack(">IHII", 0, 2, 1, 1) + struct.pack(">IHII", name_offsets[0], 2, len(files), 2)
    for name, (data, is_packed) in zip(name_offsets[1:], files.values(), strict=True):
        content = struct.pack(">I", len(data)) + zlib.compress(data) if is_packed else data
        tree += struct.pack(">IHHHI", name, int(is_packed), 0, 0, len(contents))
        contents += struct.pack(">I", len(content)) + content
    tree_start = 20
    offsets = tree_start, tree_start + len(tree), tree_start + len(tree) + len(contents)
    return struct.pack(">4sIIII", b"qres", 1, *offsets) + tree + contents + names


def test_a_resource_file_gives_its_entries():
    files = {"cat.webp": (b"meow" * 9, False), "notes.txt": (b"words" * 99, True)}
    resources = dict(gather.resources(resource_file("animals", files)))
    assert resources == {"/animals/cat.webp": b"meow" * 9, "/animals/notes.txt": b"words" * 99}


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """A folder with four packages, as if they had been fetched."""
    stamps = tmp_path / "tuxpaint-stamps-default" / "usr" / "stamps"
    for name in ("animals/cat.png", "animals/cat_mirror.png", "animals/cartoon/dog.png", "symbols/plus.png"):
        (stamps / name).parent.mkdir(parents=True, exist_ok=True)
        (stamps / name).write_bytes(picture(80, "PNG", "RGBA"))
    (stamps / "animals" / "flea.png").write_bytes(picture(20, "PNG", "RGBA"))
    demo = tmp_path / "kphotoalbum" / "share" / "demo"
    demo.mkdir(parents=True)
    (demo / "dog.jpg").write_bytes(picture(300))
    (demo / "damaged.jpg").write_bytes(picture(300)[:50])
    templates = tmp_path / "tuxpaint-data" / "usr" / "share" / "tuxpaint" / "templates"
    templates.mkdir(parents=True)
    (templates / "cliff.jpg").write_bytes(picture(300))
    (tmp_path / "gcompris-qt-data").mkdir()
    resource_files = {"gorilla.webp": (picture(200, "WEBP"), False), "small.webp": (picture(100, "WEBP"), False)}
    (tmp_path / "gcompris-qt-data" / "erase.rcc").write_bytes(resource_file("x/erase/resource", resource_files))
    monkeypatch.setattr(shutil, "which", lambda tool: tool)

    def unpacked(package, _):
        (tmp_path / package).mkdir(exist_ok=True)
        return tmp_path / package

    monkeypatch.setattr(gather, "unpacked", unpacked)


def test_photographs_and_things_are_taken_and_drawings_are_not(packages, tmp_path, capsys):
    assert main(["photographs", str(tmp_path / "album")]) == 0
    assert "3 photographs and 1 cut-out things" in capsys.readouterr().out
    names = sorted(str(file.relative_to(tmp_path / "album")) for file in (tmp_path / "album").rglob("*.*"))
    assert names == [
        "apart/tuxpaint-templates-cliff.jpg",
        "cut-outs/stamps-animals-cat.png",
        "share-demo-dog.jpg",
        "x-erase-gorilla.jpg",
    ]


def test_pictures_for_measuring_come_from_packages_that_train_nothing():
    assert gather.MEASURED_PHOTOGRAPHS
    assert not gather.MEASURED_PHOTOGRAPHS.keys() & {*gather.PHOTOGRAPHS, *gather.THINGS}


def test_no_stamp_is_kept_for_measuring_if_its_family_is_trained_on(tmp_path):
    """Stamps of one family look alike, so they serve for measuring only if the whole family is kept out of training."""
    stamps = [
        f"animals-birds-{bird}{variant}"
        for bird in ["owl", "crow", "hen", "emu", "jay", "kite"]
        for variant in range(3)
    ]
    stamps += [
        f"animals-birds-{bird}"
        for bird in ["heron", "heron_flying", "swan_flying", "gull", "duck", "drake", "teal", "rook"]
    ]
    for part in ("cut-outs", "apart/cut-outs"):
        (tmp_path / part).mkdir(parents=True)
    for name in stamps:
        (tmp_path / "cut-outs" / f"{name}.png").write_bytes(b"")
    gather._put_apart(tmp_path)
    for file in (tmp_path / "x.jpg", tmp_path / "apart" / "y.jpg"):
        file.write_bytes(b"")
    training_album, apart_album = photographs.albums(tmp_path)
    training_words = {word for file in training_album.things for word in gather.stamp_words(file.stem)}
    measured_words = {word for file in apart_album.things for word in gather.stamp_words(file.stem)}
    assert measured_words
    assert not measured_words & training_words, measured_words & training_words
    assert not {*training_album.photographs} & {*apart_album.photographs}
    candidates = {file for file in stamps if photographs.is_one_in(photographs.ONE_THING_IN, tmp_path / f"{file}.png")}
    assert candidates > {file.stem for file in apart_album.things}, (
        "no stamp had kin that trains: the test shows nothing"
    )


def test_a_machine_without_debian_s_tools_gets_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "which", lambda tool: None)
    with pytest.raises(PlaygroundError, match="has no apt-get"):
        gather.gather(tmp_path)
