"""The targets of the emergent model, against loops written by hand."""

import math

import numpy as np
import pytest
import torch

from workshop.targets import LOOKS_WIDTH, mean_over_thing, patch_looks, places


def test_the_rest_of_a_thing_is_a_mean_weighed_by_likeness_without_the_patch_itself():
    random = torch.Generator().manual_seed(0)
    features, appearance = torch.randn(2, 5, 7, generator=random), torch.randn(2, 5, 3, generator=random)
    rest_means = mean_over_thing(features, appearance, temperature=0.5)
    for b in range(2):
        centred_features = [(f - features[b].mean(0)).tolist() for f in features[b]]
        for i in range(5):
            likeness = [
                sum(a * b for a, b in zip(centred_features[i], centred_features[j], strict=True))
                / math.hypot(*centred_features[i])
                / math.hypot(*centred_features[j])
                for j in range(5)
            ]
            weights = [math.exp(likeness[j] / 0.5) if j != i else 0.0 for j in range(5)]
            for n in range(3):
                mean = sum(w * float(appearance[b, j, n]) for j, w in enumerate(weights)) / sum(weights)
                assert rest_means[b, i, n].item() == pytest.approx(mean, abs=1e-5)


def test_a_patch_s_target_holds_only_the_rest_of_its_own_thing():
    features = torch.tensor([[[1.0, 0], [1, 0], [1, 0], [0, 1], [0, 1]]])
    appearance = torch.tensor([[[1.0], [2], [3], [10], [20]]])
    assert mean_over_thing(features, appearance)[0, :, 0].tolist() == pytest.approx([2.5, 2, 1.5, 20, 10], abs=1e-4)


def test_looks_are_colours_their_spread_and_changes_of_brightness():
    image = torch.rand(2, 3, 8, 12, generator=torch.Generator().manual_seed(0))
    appearance = patch_looks(image, 4)
    assert appearance.shape == (2, 6, LOOKS_WIDTH)
    for b, i in np.ndindex(2, 6):
        y, x = divmod(i, 3)
        cell = image[b, :, 4 * y : 4 * y + 4, 4 * x : 4 * x + 4].numpy()
        grey = cell.mean(0)
        change_across, change_down = np.abs(np.diff(grey, axis=1)).mean(), np.abs(np.diff(grey, axis=0)).mean()
        expected = [*cell.mean((1, 2)), *cell.std((1, 2), ddof=1), change_across, change_down]
        assert appearance[b, i].tolist() == pytest.approx(expected, abs=1e-5)


def test_places_go_row_by_row_from_one_corner_to_the_other():
    assert places(2, 3).tolist() == [[-1, -1], [-1, 0], [-1, 1], [1, -1], [1, 0], [1, 1]]
