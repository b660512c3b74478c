"""The losses of the bundled model, against loops written by hand."""

import math

import numpy as np
import pytest
import torch
from PIL import Image
from tiny_runs import RECIPE, TINY

import playground
from playground.scenes import generate
from playground.scenes.generate import patch_targets, presence
from playground.training.losses import (
    LOSSES,
    Scenes,
    Teachers,
    contrastive_loss,
    cropped_positions,
    example,
    neighbour_loss,
    neighbours,
    normalised_pixels,
    off_object_loss,
    off_segment_loss,
    unevenness_loss,
)
from playground.vit import VisionTransformer


def test_an_example_holds_the_targets_of_every_patch():
    scene = generate.scene(generate.FIRST_HELD_OUT + 3, 64)
    targets, labels = patch_targets(scene, 8), example(scene, 8)
    is_object = targets.objects.ravel() > 0
    assert labels["shape"][is_object].tolist() == targets.shapes.ravel()[is_object].tolist()
    assert set(labels["shape"][~is_object]) <= {Teachers(RECIPE).says["shape"].out_features - 1}
    assert (labels["ground"][is_object] == -100).all()
    assert np.array_equal(labels["present"], presence(scene))
    objects, regions = labels["segment"][is_object], labels["segment"][~is_object]
    assert objects.min() > 0
    assert regions.max() < 0


def test_pixels_are_what_a_trace_gives_the_model():
    image = generate.scene(5, 64).image
    trace = playground.trace(VisionTransformer(TINY).eval(), Image.fromarray(image))
    assert torch.allclose(normalised_pixels(torch.from_numpy(image)[None], TINY), trace.input, atol=1e-6)


def by_hand(scores, segment, cost):
    """The weighted mean of `cost` over patches in segments of at least three; the weight is (segment's size)^−¾."""
    total = weight = 0.0
    for b, i in np.ndindex(segment.shape):
        mates = [j for j in range(segment.shape[1]) if j != i and segment[b, j] == segment[b, i]]
        if len(mates) < 2:
            continue
        w = (len(mates) + 1) ** -0.75
        total, weight = total + w * cost(scores[b, i].tolist(), i, mates), weight + w
    return total / weight


def test_neighbours_are_one_patch_away():
    left_neighbour, ring = neighbours((3, 4))
    for i, j in np.ndindex(12, 12):
        down, right = j // 4 - i // 4, j % 4 - i % 4
        assert left_neighbour[i, j] == (down == 0 and right == -1)
        assert (ring[i, j] > 0) == (max(abs(down), abs(right)) == 1)
    assert ring.sum(1).tolist() == pytest.approx([1.0] * 12)


def test_a_small_picture_gets_the_positions_of_a_part_of_the_grid():
    vit = VisionTransformer(TINY)
    with torch.no_grad():
        vit.pos_embed.normal_()
        native_positions = vit.pos_embed[0, 2:].unflatten(0, vit.native_grid)  # (8, 8, D)
        for step in range(3):
            crop = (cropped_positions(vit, (6, 6), step) + vit.positions((6, 6))[:, 2:])[0].unflatten(0, (6, 6))
            places = [
                (y, x)
                for y in range(3)
                for x in range(3)
                if torch.allclose(crop, native_positions[y : y + 6, x : x + 6], atol=1e-5)
            ]
            assert len(places) == 1
        assert cropped_positions(vit, (8, 8), 0).abs().max() == 0


def test_neighbour_loss_is_the_mean_cross_entropy_of_patches_with_a_left_neighbour():
    scores = torch.randn(2, 6, 7, generator=torch.Generator().manual_seed(0))  # a prefix token comes first
    left_neighbour, _ = neighbours((2, 3))
    costs = [-scores[b, i].softmax(-1)[1 + i - 1].log() for b in range(2) for i in (1, 2, 4, 5)]
    assert neighbour_loss(scores, left_neighbour).item() == pytest.approx(float(torch.stack(costs).mean()), rel=1e-5)


@pytest.fixture
def scores():
    return torch.randn(2, 9, 9, generator=torch.Generator().manual_seed(0))


SEGMENT = torch.tensor([[1, 1, 1, 2, 2, -1, -1, -1, -1], [1, 1, 1, 1, -1, -1, -1, 2, -2]])


def test_the_off_segment_loss_agrees_with_a_loop(scores):
    def cost(row, i, mates):
        total = sum(math.exp(s) for j, s in enumerate(row) if j != i)
        return -math.log(sum(math.exp(row[j]) for j in mates) / total)

    assert off_segment_loss(scores, SEGMENT).item() == pytest.approx(by_hand(scores, SEGMENT, cost), rel=1e-5)


def test_the_unevenness_loss_agrees_with_a_loop(scores):
    def cost(row, i, mates):
        own_sum = sum(math.exp(row[j]) for j in mates)
        return sum(math.log(1 / len(mates) / (math.exp(row[j]) / own_sum)) for j in mates) / len(mates)

    assert unevenness_loss(scores, SEGMENT).item() == pytest.approx(by_hand(scores, SEGMENT, cost), rel=1e-4)


def test_the_contrastive_loss_is_lowest_where_patches_of_one_segment_are_alike():
    features = torch.nn.functional.one_hot(SEGMENT + 2, 5).float()
    noise = torch.randn(features.shape, generator=torch.Generator().manual_seed(2))
    assert contrastive_loss(features, SEGMENT, 0.1) < 0.01 < contrastive_loss(noise, SEGMENT, 0.1)
    cosines = torch.nn.functional.normalize(noise, dim=-1)
    assert contrastive_loss(noise, SEGMENT, 0.1) == pytest.approx(
        off_segment_loss(cosines @ cosines.mT / 0.1, SEGMENT).item(), 1e-5
    )


def test_the_losses_on_attention_begin_at_their_steps():
    batch = {name: torch.from_numpy(np.stack([value] * 2)) for name, value in Scenes(RECIPE)[0].items()}
    torch.manual_seed(0)
    teachers, vit = Teachers(RECIPE), VisionTransformer(TINY)
    early_losses, middle_losses, late_losses, polish_losses = (teachers(vit, batch, step) for step in (0, 4, 7, 8))
    assert tuple(early_losses) == LOSSES
    assert (early_losses["gathered"], early_losses["uneven"], middle_losses["uneven"]) == (0, 0, 0)
    assert min(middle_losses["gathered"], late_losses["gathered"], late_losses["uneven"], polish_losses["looked"]) > 0
    assert late_losses["looked"] == 0
    assert polish_losses["uneven"] > late_losses["uneven"]  # in the polish, one head has a larger weight


def test_off_object_loss_measures_the_weight_beside_objects():
    rows = torch.tensor([[0.1, 0.3, 0.2], [0.2, 0.2, 0.4], [0.1, 0.1, 0.1]])  # the rest of each row is on prefix tokens
    segment = torch.tensor([[1, -1, 2], [-1, 3, -2], [-1, -1, -2]])  # the last picture has no object
    assert off_object_loss(rows, segment).item() == pytest.approx(-(math.log(0.3 / 0.6) + math.log(0.2 / 0.8)) / 2)
