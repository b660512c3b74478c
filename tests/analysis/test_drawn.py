"""Means over rows use the rows of all patches or, in a fine grid, of randomly drawn patches; the page says which.

This file recomputes the lessons' numbers on `chelsea` in DINOv2 from queries and keys, in float64."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import playground
from playground import samples
from playground.analysis import heads


@pytest.fixture(scope="module")
def chelsea(really_here):
    really_here("dinov2-small")
    really_here("photographs")
    image = playground.open_image(samples.named("chelsea").path)
    return playground.trace(playground.load("dinov2-small"), image, size=(23 * 14, 34 * 14))


@pytest.fixture(scope="module")
def numbers_of_all_rows(chelsea):
    """Arrays over all layers and heads, computed from the rows of all patches. `mean` is the mean row, `distance` the
    mean distance and `apart` the deviation of the scores. `differs` says, for each row, whether the patch with the
    largest weight differs from the patch that adds most."""
    places = np.stack(np.divmod(np.arange(23 * 34), 34), -1).astype(float)
    distances = np.sqrt(((places[:, None] - places) ** 2).sum(-1))
    numbers = {"mean": [], "distance": [], "apart": [], "differs": []}
    for layer, qkv in chelsea.record.items():
        q, k = (x.double().numpy() for x in qkv[:2])
        scores = q[:, 1:] @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])  # (heads, patches, tokens)
        exponentials = np.exp(scores - scores.max(-1, keepdims=True))
        rows = exponentials / exponentials.sum(-1, keepdims=True)
        patches = rows[..., 1:]
        added_lengths = (rows * chelsea.value_norms(layer).double().numpy()[:, None])[..., 1:]
        numbers["mean"].append(rows.mean(1))
        numbers["distance"].append(((patches * distances).sum(-1) / patches.sum(-1)).mean(-1))
        numbers["apart"].append(scores.std(-1).mean(1))
        numbers["differs"].append(patches.argmax(-1) != added_lengths.argmax(-1))
    return {name: np.stack(layers) for name, layers in numbers.items()}


def test_rows_of_a_fine_grid_are_drawn_from_all_columns_and_a_note_says_how_many():
    fine_trace = SimpleNamespace(prefix=("cls",), tokens=1 + 56 * 56)
    queries = np.array(heads.measured_tokens(fine_trace)) - 1
    assert len(set(queries.tolist())) == heads.SAMPLE_SIZE
    assert set(queries.tolist()) <= set(range(56 * 56))
    assert len(set((queries % 56).tolist())) == 56, "some columns ask nothing"
    assert heads.sampling_note(fine_trace) == "Measured on the rows of 400 of 3,136 patches, drawn at random."


def test_step_3_of_scale_states_the_deviation_over_all_rows(chelsea, numbers_of_all_rows):
    deviations = [head["deviation"] for head in heads.head_report(chelsea, (0, 0), None)["all"]]
    assert deviations == pytest.approx(numbers_of_all_rows["apart"].ravel(), rel=1e-4)
    assert numbers_of_all_rows["apart"][-1].max() == pytest.approx(4.89, abs=0.005)  # every fourth row alone gives 4.86


def test_step_1_of_weight_counts_all_rows(chelsea, numbers_of_all_rows):
    disagreement = heads.disagreement(chelsea)
    assert disagreement.rows == numbers_of_all_rows["differs"].size
    assert disagreement.overall == pytest.approx(numbers_of_all_rows["differs"].mean(), abs=1e-3)
