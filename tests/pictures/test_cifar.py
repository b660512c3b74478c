"""Reading labelled pictures in CIFAR-10's format; the tests write the files."""

import tarfile

import numpy as np
import pytest

from playground.errors import PlaygroundError
from playground.models import borrowed, catalogue
from playground.pictures.cifar import read
from playground.serving import pictures

COLOURS = ("red", "green", "blue")


def write_cifar(folder, batches=2, per_batch=10, test_count=5, names="red\ngreen\nblue\n\n"):
    """Writes three classes of noisy colours in CIFAR-10's binary format. Returns the labels in the files' order."""
    folder.mkdir(parents=True, exist_ok=True)
    rng, labels = np.random.default_rng(0), []
    for file, size in [
        *((f"data_batch_{n + 1}.bin", per_batch) for n in range(batches)),
        ("test_batch.bin", test_count),
    ]:
        labels_drawn = rng.integers(0, 3, size)
        pixels = rng.integers(0, 60, (size, 3, 32, 32))
        pixels[np.arange(size), labels_drawn] += 180
        np.concatenate([labels_drawn[:, None], pixels.reshape(size, -1)], 1).astype(np.uint8).tofile(folder / file)
        labels += labels_drawn.tolist()
    if names:
        (folder / "batches.meta.txt").write_text(names)
    return labels


def test_pictures_are_opened_by_number_with_their_label_and_the_right_colours(tmp_path):
    labels = write_cifar(tmp_path)
    data_set = read(tmp_path)
    assert len(data_set) == len(labels)
    for number, expected in enumerate(labels):
        image, label = data_set.open(number)
        assert (image.size, image.mode, label) == ((32, 32), "RGB", COLOURS[expected])
        assert np.asarray(image).mean((0, 1)).argmax() == expected
    with pytest.raises(PlaygroundError, match="from 0 to 24"):
        data_set.open(25)


def test_planes_become_pixels(tmp_path):
    record = np.concatenate([[0], np.arange(3072) % 251]).astype(np.uint8)
    np.stack([record, record]).tofile(tmp_path / "data_batch_1.bin")
    image = np.asarray(read(tmp_path).open(1)[0])
    assert image[3, 5].tolist() == [(plane * 1024 + 3 * 32 + 5) % 251 for plane in range(3)]


def test_cifar_is_read_from_the_folder_above_it_and_without_its_names(tmp_path):
    write_cifar(tmp_path / "cifar-10-batches-bin", names=None)
    assert read(tmp_path).labels[:2] == ("airplane", "automobile")


def test_wrong_folders_say_what_is_wrong(tmp_path):
    with pytest.raises(PlaygroundError, match=r"no file data_batch_1.bin .* www\.cs\.toronto\.edu"):
        read(tmp_path)
    (tmp_path / "data_batch_1.bin").write_bytes(b"\0" * 3000)
    with pytest.raises(PlaygroundError, match="no multiple of"):
        read(tmp_path)
    (tmp_path / "data_batch_1.bin").write_bytes(b"\x0c" + b"\0" * 3072)
    with pytest.raises(PlaygroundError, match="label 12"):
        read(tmp_path).open(0)


def test_a_command_fetches_cifar_by_its_digest_and_without_a_network_says_so(tmp_path, monkeypatch, nothing_fetched):
    monkeypatch.delenv("PLAYGROUND_CIFAR", raising=False)
    write_cifar(tmp_path / borrowed.CIFAR)
    archive = tmp_path / "archive.tar.gz"
    monkeypatch.setattr(borrowed, "CIFAR_ADDRESS", archive.as_uri())
    with pytest.raises(PlaygroundError, match=r"could not be fetched.*our own drawings stay"):
        catalogue.download(["cifar-10"])
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(tmp_path / borrowed.CIFAR, borrowed.CIFAR)
    with pytest.raises(PlaygroundError, match="its digest differs"):
        catalogue.download(["cifar-10"])
    assert pictures.labelled_set()["word"] == "byNumberDrawn"
    monkeypatch.setattr(borrowed, "CIFAR_SHA256", borrowed.digest_of(archive))
    catalogue.download(["cifar-10"])
    assert pictures.labelled_set() == {"count": 25, "word": "byNumber"}
    archive.unlink()
    catalogue.download(["cifar-10"])  # once
