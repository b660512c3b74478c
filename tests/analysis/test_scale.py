"""The effect of the scale on a row, compared with theory, autograd, rows by hand and a loop over a real trace."""

import math

import numpy as np
import pytest
import torch

import playground
from playground.analysis import scale as rows


def test_a_row_can_be_computed_by_hand():
    weights = rows.softmax(np.log([4.0, 2.0, 1.0, 1.0]))
    assert weights == pytest.approx([1 / 2, 1 / 4, 1 / 8, 1 / 8])
    assert rows.entropy(weights) == pytest.approx(0.5 * 1 + 0.25 * 2 + 2 * 0.125 * 3)  # 1.75 bits
    assert rows.peak(weights) == pytest.approx(1 / 2)
    squares, cubes = 1 / 4 + 1 / 16 + 2 / 64, 1 / 8 + 1 / 64 + 2 / 512
    assert rows.gradient(weights) == pytest.approx(math.sqrt(squares - 2 * cubes + squares**2))


def test_the_deviation_of_scores_is_the_root_of_d_k_and_with_the_scale_1():
    for power in (0.0, 0.5):
        curve = rows.curve("deviation", power)
        assert (curve.low <= rows.expected_deviation(power)).all()
        assert (rows.expected_deviation(power) <= curve.high).all()
    assert rows.expected_deviation(0.0) == pytest.approx([math.sqrt(width) for width in rows.WIDTHS])
    assert rows.expected_deviation(0.5) == pytest.approx(np.ones(len(rows.WIDTHS)))


def test_rows_from_separate_vectors_for_each_width_fall_into_the_bands():
    random = torch.Generator().manual_seed(11)
    for width in (4, 64, 1024):
        width_index = rows.WIDTHS.index(width)
        for power in (0.0, 0.5):
            q = torch.randn(300, 1, width, generator=random)
            k = torch.randn(300, rows.KEY_COUNT, width, generator=random)
            scores = (q * k).sum(-1).numpy().astype(float)
            for name, values in rows.measured(scores, width**-power).items():
                curve = rows.curve(name, power)
                low, high = curve.low[width_index], curve.high[width_index]
                assert low <= np.median(values) <= high, (name, width, power)


def test_without_the_scale_entropy_collapses_one_key_takes_all_and_the_gradient_dies():
    unscaled_medians, scaled_medians = (
        {name: rows.curve(name, power).median for name in ("entropy", "peak", "gradient")} for power in (0.0, 0.5)
    )
    assert unscaled_medians["entropy"][-1] < 0.5 < 4 < scaled_medians["entropy"][-1]
    assert unscaled_medians["peak"][-1] > 0.9 > 0.3 > scaled_medians["peak"][-1]
    assert unscaled_medians["gradient"][-1] < 0.001 < 0.005 < scaled_medians["gradient"][-1]
    assert max(scaled_medians["entropy"]) - min(scaled_medians["entropy"]) < 0.5  # the width no longer matters


@pytest.mark.parametrize("width", [64, 1024])
def test_the_gradient_of_products_is_autograd_s_derivative_by_q_k(width):
    products = torch.randn(64, dtype=torch.float64, generator=torch.Generator().manual_seed(5)) * math.sqrt(width)
    for power in (0.0, 0.5):
        scale = width**-power
        jacobian = torch.autograd.functional.jacobian(lambda s, scale=scale: (s * scale).softmax(-1), products)
        gradients = rows.measured(products.numpy(), scale)["gradient"]
        assert gradients == pytest.approx(jacobian.norm().item(), rel=1e-6, abs=1e-7)


def test_without_the_scale_the_median_gradient_is_larger_up_to_a_width_and_the_lowest_tenth_smaller():
    unscaled_curve, scaled_curve = rows.curve("gradient", 0.0), rows.curve("gradient", 0.5)
    width_index = rows.WIDTHS.index(64)
    assert unscaled_curve.median[width_index] > 5 * scaled_curve.median[width_index]
    assert unscaled_curve.low[width_index] < scaled_curve.low[width_index] / 3
    assert unscaled_curve.median[-1] < scaled_curve.median[-1] / 10
    crossed_widths = [
        width for width, a, b in zip(rows.WIDTHS, unscaled_curve.median, scaled_curve.median, strict=True) if a < b
    ]
    assert crossed_widths == [width for width in rows.WIDTHS if width >= crossed_widths[0]]
    assert 192 <= crossed_widths[0] <= 512


def test_verdicts_are_the_probabilities_of_both_passes(small, picture):
    scaled_trace, unscaled_trace = playground.trace(small, picture), playground.trace(small, picture, scale=1.0)
    scaled_shares, unscaled_shares = scaled_trace.logits.softmax(-1), unscaled_trace.logits.softmax(-1)
    verdicts = rows.verdicts(scaled_trace, unscaled_trace, top=3)
    top_numbers = set(scaled_shares.topk(3).indices.tolist()) | set(unscaled_shares.topk(3).indices.tolist())
    assert [v.label for v in verdicts] == [f"class {i}" for i in sorted(top_numbers, key=lambda i: -scaled_shares[i])]
    for verdict in verdicts:
        number = int(verdict.label.split()[1])
        assert (verdict.scaled_share, verdict.unscaled_share) == pytest.approx(
            (scaled_shares[number].item(), unscaled_shares[number].item())
        )


def test_every_label_that_changes_is_named_the_largest_change_first(small, picture):
    scaled_trace, unscaled_trace = playground.trace(small, picture), playground.trace(small, picture, scale="off")
    scaled_shares, unscaled_shares = (seen.logits.softmax(-1) for seen in (scaled_trace, unscaled_trace))
    differences = (unscaled_shares - scaled_shares).abs()
    assert len(rows.changed_verdicts(scaled_trace, unscaled_trace, least=0)) == len(scaled_shares)
    least = differences.sort().values[-3].item() - 1e-6
    verdicts = rows.changed_verdicts(scaled_trace, unscaled_trace, least=least)
    assert [int(v.label.split()[1]) for v in verdicts] == differences.argsort(descending=True)[:3].tolist()
    assert [v.label for v in rows.changed_verdicts(scaled_trace, scaled_trace)] == [f"class {scaled_shares.argmax()}"]
