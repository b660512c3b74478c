"""The measurements of attention, on rows with known answers."""

import dataclasses

import numpy as np
import pytest
import torch
from PIL import Image

import playground
from playground.analysis import colour_nearness
from playground.vit import VisionTransformer
from workshop import evaluate
from workshop.evaluate import measure
from workshop.recipe import BUNDLED_CONFIG
from workshop.scenes import generate
from workshop.scenes.generate import FEWEST_PATCHES, patch_targets

TINY = dataclasses.replace(BUNDLED_CONFIG, depth=2, width=24, mlp_width=48, heads=2)


@pytest.fixture(scope="module")
def pictures():
    return [generate.scene(generate.FIRST_HELD_OUT + i) for i in range(6)]


@pytest.fixture(scope="module")
def vit():
    return VisionTransformer(TINY).eval()


def own_mass(rows: np.ndarray, objects: np.ndarray) -> np.ndarray:
    """(patches on objects,): for each such patch, the share of its row that falls on its own object."""
    objects = objects.ravel()
    queries = np.flatnonzero((objects > 0) & (np.bincount(objects)[objects] >= FEWEST_PATCHES))
    return (rows[queries] * (objects[queries, None] == objects[None])).sum(1)


def test_the_mass_agrees_with_whole_matrices(vit, pictures):
    numbers = measure(vit, pictures[:3], pictures[3:])
    layer, head = numbers["best head"]
    masses = []
    for scene in pictures[:3]:
        weights = playground.trace(vit, Image.fromarray(scene.image)).matrix(layer, head)[5:, 5:].numpy().copy()
        np.fill_diagonal(weights, 0)
        masses.append(own_mass(weights / weights.sum(-1, keepdims=True), patch_targets(scene).objects))
    assert numbers["mass"] == pytest.approx(np.concatenate(masses).mean(), abs=1e-4)
    assert numbers["mass, prefix counted"] < numbers["mass"]


def noisy(scene):
    """The scene with pixels of noise, so that only nearness tells which patches share an object."""
    image = np.random.default_rng(0).integers(0, 256, scene.image.shape, np.uint8)
    return dataclasses.replace(scene, image=image)


def test_the_filter_s_widths_are_never_chosen_on_what_is_measured(vit, pictures):
    scenes, other_scenes = pictures[:3], pictures[3:]
    noisy_scenes = [noisy(scene) for scene in scenes]
    results = {
        name: measure(vit, scene_set, other_scenes)
        for name, scene_set in (("as drawn", scenes), ("noise", noisy_scenes))
    }
    on_noise = measure(vit, other_scenes, noisy_scenes)
    for kind in ("filter's widths", "far filter's widths"):
        assert results["as drawn"][kind] == results["noise"][kind] != on_noise[kind]
    assert results["as drawn"]["filter"] != results["noise"]["filter"]


def test_shares_of_all_heads_are_those_of_scenes(vit, pictures):
    scene = pictures[0]
    grid = patch_targets(scene).objects
    shares = evaluate.Shares.of([scene.image], [grid], evaluate.rows_of_heads(vit))
    sums = evaluate.Sums(vit, [scene])
    assert torch.allclose(shares.near[0].view(sums.mass.shape), sums.mass, atol=1e-5)
    assert torch.allclose(shares.far[0].view(sums.far.shape), sums.far, atol=1e-5)
    filter_shares = evaluate.Shares.of([scene.image], [grid], evaluate.rows_of_filter)
    assert torch.allclose(filter_shares.near[0], sums.filter, atol=1e-5)
    widths = colour_nearness.SETTINGS[int(sums.filter.argmax())]
    weights = colour_nearness.weights(
        *colour_nearness.differences(colour_nearness.mean_colours(scene.image, grid.shape)), *widths
    )
    assert own_mass(weights, grid).mean() == pytest.approx(float(sums.filter.max()), abs=1e-4)


def test_distant_patches_unlike_in_colour_are_measured_separately():
    """A thing has three black patches and, at its end, a white one; only its first and its last patch are both distant
    and unlike in colour. Even attention divides its weight among all such patches of the picture."""
    grid = np.zeros((2, 8), np.uint8)
    grid[0, :4] = 1
    image = np.zeros((4, 16, 3), np.uint8)
    image[:2, 6:8] = 255  # the thing's white end, three patches from its first patch
    image[2:, 14:] = 255  # a white patch of the background
    shares = evaluate.Shares.of([image], [grid], evaluate.rows_of_area)
    # from black patches, 1 of 2 distant white ones is the thing's; from its white end, 1 of 5 distant black ones
    black_share, white_share = (1 / 2, 1 / 5)
    assert shares.unlike.item() == pytest.approx((black_share + white_share) / 2, abs=1e-6)
