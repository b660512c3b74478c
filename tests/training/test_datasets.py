"""Reading folders of labelled pictures; the tests write the files."""

import numpy as np
import pytest
from PIL import Image

from playground.errors import PlaygroundError
from playground.training.datasets import CIFAR_PAGE, browse, count, read

COLOURS = {"red": (220, 30, 30), "green": (30, 220, 30), "blue": (30, 30, 220)}


def write_cifar(folder, batches=2, per_batch=10, test_count=5, names="red\ngreen\nblue\n\n"):
    """Writes three classes of noisy colours in CIFAR-10's binary format. Returns the labels in the files' order."""
    folder.mkdir(parents=True, exist_ok=True)
    rng, labels = np.random.default_rng(0), []
    for file, size in [
        *((f"data_batch_{n + 1}.bin", per_batch) for n in range(batches)),
        ("test_batch.bin", test_count),
    ]:
        if not size:
            continue
        labels_drawn = rng.integers(0, 3, size)
        pixels = rng.integers(0, 60, (size, 3, 32, 32))
        pixels[np.arange(size), labels_drawn] += 180
        np.concatenate([labels_drawn[:, None], pixels.reshape(size, -1)], 1).astype(np.uint8).tofile(folder / file)
        labels += labels_drawn.tolist()
    if names:
        (folder / "batches.meta.txt").write_text(names)
    return labels


def write_class_folders(folder, per_class=4, size=(40, 30)):
    for name, colour in COLOURS.items():
        (folder / name).mkdir(parents=True)
        for number in range(per_class):
            Image.new("RGB", size, colour).save(folder / name / f"{number}.png")


def test_cifar_files_are_read_with_their_labels(tmp_path):
    labels = write_cifar(tmp_path)
    data_set = read(tmp_path)
    assert data_set.labels == ("red", "green", "blue")
    assert (len(data_set.training), len(data_set.validation), data_set.tiny) == (20, 5, True)
    assert [place.label for place in data_set.places] == labels


def test_cifar_pictures_are_browsed_by_index_with_the_right_colours(tmp_path):
    labels = write_cifar(tmp_path)
    assert count(tmp_path) == 25
    for index in (0, 9, 10, 24):
        image, label = browse(tmp_path, index)
        assert image.size == (32, 32)
        assert image.mode == "RGB"
        assert label == list(COLOURS)[labels[index]]
        assert np.asarray(image).mean((0, 1)).argmax() == labels[index]


def test_planes_become_pixels(tmp_path):
    record = np.concatenate([[0], np.arange(3072) % 251]).astype(np.uint8)
    np.stack([record, record]).tofile(tmp_path / "data_batch_1.bin")
    image = np.asarray(browse(tmp_path, 1)[0])
    assert image[3, 5].tolist() == [(plane * 1024 + 3 * 32 + 5) % 251 for plane in range(3)]


def test_cifar_is_read_from_the_folder_above_it_and_without_its_names(tmp_path):
    write_cifar(tmp_path / "cifar-10-batches-bin", names=None)
    assert read(tmp_path).labels[:2] == ("airplane", "automobile")


def test_without_a_test_batch_a_tenth_is_held_out_by_the_seed(tmp_path):
    write_cifar(tmp_path, test_count=0)
    first_read, second_read, other_read = read(tmp_path, seed=1), read(tmp_path, seed=1), read(tmp_path, seed=2)
    assert (len(first_read.training), len(first_read.validation)) == (18, 2)
    assert first_read == second_read
    assert first_read.validation != other_read.validation
    assert not set(first_read.training) & set(first_read.validation)


def test_class_folders_are_read_and_browsed(tmp_path):
    write_class_folders(tmp_path)
    (tmp_path / "red" / "notes.txt").write_text("not a picture")
    (tmp_path / "empty").mkdir()
    data_set = read(tmp_path)
    assert data_set.labels == ("blue", "green", "red")
    assert (len(data_set.places), len(data_set.validation), data_set.tiny) == (12, 1, False)
    image, label = browse(tmp_path, 4)
    assert (label, image.getpixel((0, 0)), count(tmp_path)) == ("green", COLOURS["green"], 12)


@pytest.mark.parametrize("name", ["val", "test"])
def test_train_and_val_folders_are_kept_apart(tmp_path, name):
    write_class_folders(tmp_path / "train", per_class=3)
    write_class_folders(tmp_path / name, per_class=2)
    data_set = read(tmp_path)
    assert (len(data_set.training), len(data_set.validation)) == (9, 6)
    assert all(name in place.file.parts for place in data_set.validation)


def test_a_missing_folder_says_where_to_get_cifar_and_what_it_should_hold(tmp_path):
    with pytest.raises(PlaygroundError) as error:
        read(tmp_path / "nowhere")
    sentence = str(error.value)
    assert sentence.startswith(f"There is no folder {tmp_path / 'nowhere'}")
    assert CIFAR_PAGE in sentence
    assert "data_batch_1.bin" in sentence
    assert "one folder of pictures per class" in sentence


def test_wrong_folders_say_what_is_wrong(tmp_path):
    with pytest.raises(PlaygroundError, match="no folders with pictures"):
        read(tmp_path)
    (tmp_path / "data_batch_1").write_bytes(b"pickle")
    with pytest.raises(PlaygroundError, match="Python version"):
        read(tmp_path)
    (tmp_path / "data_batch_1.bin").write_bytes(b"\0" * 3000)
    with pytest.raises(PlaygroundError, match="no multiple of"):
        read(tmp_path)
    (tmp_path / "data_batch_1.bin").write_bytes(b"\x0c" + b"\0" * 3072)
    with pytest.raises(PlaygroundError, match="label 12"):
        read(tmp_path)


def test_one_class_is_not_enough(tmp_path):
    (tmp_path / "cats").mkdir()
    Image.new("RGB", (32, 32)).save(tmp_path / "cats" / "a.png")
    with pytest.raises(PlaygroundError, match="only one folder with pictures, cats"):
        read(tmp_path)


def test_an_index_outside_and_a_damaged_picture_are_refused(tmp_path):
    write_class_folders(tmp_path, per_class=1)
    (tmp_path / "blue" / "0.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
    with pytest.raises(PlaygroundError, match="count from 0 to 2"):
        browse(tmp_path, 3)
    with pytest.raises(PlaygroundError, match=r"0\.png: "):
        browse(tmp_path, 0)
