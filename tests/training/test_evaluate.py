"""The measurements of attention, on rows with known answers."""

import dataclasses

import numpy as np
import pytest
import torch
from own_mass import own_mass
from PIL import Image

import playground
from playground.analysis import colour_nearness
from playground.scenes import generate
from playground.scenes.generate import patch_targets
from playground.training import evaluate
from playground.training.evaluate import Questions, f1, measure
from playground.training.recipe import BUNDLED_CONFIG
from playground.vit import VisionTransformer

TINY = dataclasses.replace(BUNDLED_CONFIG, depth=2, width=24, mlp_width=48, heads=2)


@pytest.fixture(scope="module")
def pictures():
    return [generate.scene(generate.FIRST_HELD_OUT + i) for i in range(6)]


@pytest.fixture(scope="module")
def vit():
    return VisionTransformer(TINY).eval()


def perfect_rows(questions):
    return questions.same_object / questions.same_object.sum(-1, keepdim=True)


def test_queries_are_patches_of_objects_and_are_compared_with_the_rest_of_their_object(pictures):
    grid = patch_targets(pictures[0]).objects.ravel()
    questions = Questions.of(patch_targets(pictures[0]).objects)
    assert set(grid[questions.queries]) == {n for n in set(grid) - {0} if (grid == n).sum() >= 3}
    for query, same in zip(questions.queries.tolist(), questions.same_object, strict=True):
        assert same.tolist() == [(n == grid[query]) and i != query for i, n in enumerate(grid)]


def test_perfect_rows_have_all_the_mass_with_and_without_neighbours(pictures):
    questions = Questions.of(patch_targets(pictures[0]).objects)
    tables, count = evaluate._near_sums(perfect_rows(questions)[None, None], [], questions)
    assert tables[0].item() / count == pytest.approx(1)
    far_tables, far_count = evaluate._far_sums(perfect_rows(questions)[None, None], [], questions)
    assert far_tables[0].item() / far_count == pytest.approx(1)
    assert far_count <= count


def test_overlap_of_a_row_on_two_of_three_is_two_thirds():
    object_mask = torch.tensor([[False, True, True, True, False, False]])
    row = torch.tensor([[0.0, 0.4, 0.3, 0.1, 0.1, 0.1]])
    assert evaluate._overlap(row, object_mask).item() == pytest.approx(2 / 3)
    assert evaluate._overlap(torch.tensor([[0.0, 0.0, 0.0, 0.0, 0.5, 0.5]]), object_mask).item() == 0
    assert evaluate._overlap(torch.tensor([[0.0, 0.34, 0.33, 0.33, 0.0, 0.0]]), object_mask).item() == pytest.approx(
        2 / 3
    )


def test_f1_agrees_with_precision_and_recall():
    is_predicted = torch.tensor([[1, 0], [1, 0], [0, 1], [1, 1]]).bool()
    is_true = torch.tensor([[1, 0], [0, 0], [1, 1], [1, 0]]).bool()
    assert f1(is_predicted, is_true).tolist() == pytest.approx([2 / 3, 2 / 3])


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


def test_pictures_of_anything_are_measured_as_scenes_are(vit, pictures):
    grids = [patch_targets(scene).objects.astype(np.uint8) for scene in pictures[:3]]
    masses = evaluate.own_mass(vit, [scene.image for scene in pictures[:3]], grids)
    assert torch.allclose(masses, evaluate.Sums(vit, pictures[:3]).mass, atol=1e-5)


def test_an_untrained_model_sees_no_objects(vit, pictures):
    numbers = measure(vit, pictures[:3], pictures[3:])
    assert numbers["mass"] == pytest.approx(numbers["area"], abs=0.05)
    assert numbers["f1"] <= numbers["f1 of yes"] < 0.6
    assert numbers["class token on objects"] == pytest.approx(numbers["area of objects"], abs=0.05)
    assert {kind for layer in numbers["kinds"] for kind in layer} <= {"everywhere", "idle"}
    assert numbers["area"] < numbers["colour"] < numbers["gaussian"]


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


def test_a_candidate_is_chosen_on_the_other_pictures_and_measured_here():
    other_masses = torch.tensor([[0.1, 0.9, torch.nan], [0.3, 0.5, torch.nan]])
    own_masses = torch.tensor([[0.8, 0.2, 0.1], [0.7, torch.nan, 0.1]])
    best_candidate, shares = evaluate.best_candidate(torch.nan_to_num(other_masses), own_masses)
    assert best_candidate == 1
    assert shares[0] == pytest.approx(0.2)
    assert evaluate.mean_and_error(torch.tensor([0.1, 0.3, torch.nan])) == pytest.approx((0.2, 0.1))


def test_shares_of_all_heads_are_those_of_scenes(vit, pictures):
    """`Shares` equals `Sums` scene by scene, with and without the eight neighbours, for heads and for the filter."""
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
    black_share, white_share = (
        1 / 2,
        1 / 5,
    )
    assert shares.unlike.item() == pytest.approx((black_share + white_share) / 2, abs=1e-6)
