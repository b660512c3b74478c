"""Learning the classes of pictures: CIFAR-10, or a folder per class."""

import numpy as np
from training.test_datasets import write_cifar, write_class_folders

from playground.training import datasets
from playground.training.recipe import Recipe
from workshop import classifier


def test_recipes_suit_the_pictures(tmp_path):
    write_cifar(tmp_path / "small")
    write_class_folders(tmp_path / "large")
    small_recipe, large_recipe = (classifier.recipe_for(datasets.read(tmp_path / name)) for name in ("small", "large"))
    assert (small_recipe.config.image_size, small_recipe.config.patch_size) == ((32, 32), 4)
    assert (large_recipe.config.image_size, large_recipe.config.patch_size) == ((112, 112), 8)
    assert (small_recipe.config.width, small_recipe.config.depth, small_recipe.steps) == (192, 6, 1000)


def test_variations_are_the_picture_flipped_or_shifted():
    image = np.arange(16 * 16 * 3).reshape(16, 16, 3)
    variations = [classifier.flipped_and_shifted(image, np.random.default_rng(seed)) for seed in range(300)]
    assert all(v.shape == image.shape for v in variations)
    assert any(np.array_equal(v, image) for v in variations)
    assert any(np.array_equal(v, image[:, ::-1]) for v in variations)
    assert any(np.array_equal(v[:-2], image[2:]) for v in variations)


def test_every_epoch_shows_every_picture_once_in_an_order_of_its_own(tmp_path):
    write_cifar(tmp_path)
    dataset = datasets.read(tmp_path)
    pool = classifier.Pool.fill(dataset.training, 32, tmp_path / "pool.npy")
    pool.labels = np.arange(len(pool))
    flipped_pictures = classifier.FlippedPictures(pool, Recipe(steps=10, batch=4))
    epochs = [[int(flipped_pictures[i]["label"]) for i in range(start, start + 20)] for start in (0, 20)]
    assert sorted(epochs[0]) == sorted(epochs[1]) == list(range(20))
    assert epochs[0] != epochs[1]
    assert np.array_equal(flipped_pictures[7]["image"], flipped_pictures[7]["image"])


def test_accuracy_is_the_share_of_right_answers(tmp_path, monkeypatch):
    labels = write_cifar(tmp_path, test_count=0)
    pool = classifier.Pool.fill(datasets.read(tmp_path, held_out_share=0).training, 32, tmp_path / "pool.npy")
    monkeypatch.setattr(classifier, "predicted_classes", lambda vit, images: np.zeros(len(images), int))
    assert classifier.accuracy(None, pool) == labels.count(0) / 20
    assert classifier.accuracy(None, pool, at_most=10) == labels[::2].count(0) / 10
