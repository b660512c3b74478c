"""Scores of maps, compared with a loop; blanking, compared with a pass on the blanked picture."""

import numpy as np
import pytest
import torch

from playground.analysis import explain, occlusion
from playground.pictures.images import displayed
from playground.serving.here import Here

QUERY = (2, 3)


@pytest.fixture
def found(small_trace, picture):
    side = occlusion.side_of(small_trace.grid)
    *_, moves = explain.moves_of(small_trace, QUERY, side)
    return explain.explain(
        explain.maps(small_trace, np.asarray(displayed(picture, small_trace.size)), QUERY), QUERY, side, moves
    )


@pytest.fixture
def own(small_trace, found):
    return explain.own_block(small_trace.grid, found.side, QUERY)


def test_every_map_is_of_the_patches_none_is_empty_and_the_asker_s_own_block_is_blank(small_trace, found, own):
    names = {"weight", "arrives", "rollout", "gradient", "colour", *explain.CHANCE}
    assert found.maps.keys() == found.scores.keys() == names
    for name, relevance in (found.maps | {"moved": found.moved}).items():
        assert relevance.shape == small_trace.grid, name
        assert float(relevance.sum()) > 0, name
        assert float(relevance.min()) >= 0, name
        assert float(relevance[own].sum()) == 0, name


UNEVEN = (5, 7)  # a grid of patches whose blocks of 2 × 2 are cut off at two edges


def test_a_map_that_is_the_same_everywhere_scores_nothing_though_blocks_at_the_edge_are_smaller():
    """A constant map once scored 0.74, because maps were summed over blocks of 36, 30, 24 and 20 patches."""
    blocks = occlusion.blocks(UNEVEN, 2)
    moves = [float(block.sum()) for block in blocks]  # a larger block moves more
    maps = {"constant": torch.ones(UNEVEN), "rollout": torch.rand(UNEVEN)}
    explanation = explain.explain(maps, (1, 1), 2, moves)
    assert explanation.scores["constant"] == 0
    assert (explanation.blocks, explanation.compared) == (12, 11)


def test_only_equal_blocks_are_compared_where_enough_of_them_are_whole():
    grid = (9, 9)
    blocks = occlusion.blocks(grid, 2)
    moves = [float(n) for n in range(len(blocks))]
    rising_map = sum(block * (n if int(block.sum()) == 4 else -n) for n, block in enumerate(blocks)).float()
    explanation = explain.explain({"constant": torch.ones(grid), "rollout": rising_map}, (0, 0), 2, moves)
    assert (explanation.blocks, explanation.compared) == (25, 15)
    assert explanation.scores["rollout"] == pytest.approx(1)


def test_the_weights_are_the_last_layer_s_and_what_arrives_counts_its_values(small_trace, found, own):
    rows = torch.stack([small_trace.row(small_trace.layers - 1, head, QUERY) for head in range(small_trace.heads)])
    torch.testing.assert_close(found.maps["weight"], small_trace.on_grid(rows.mean(0)).masked_fill(own, 0))
    arrival_means = (rows * small_trace.value_norms(small_trace.layers - 1)).mean(0)
    torch.testing.assert_close(found.maps["arrives"], small_trace.on_grid(arrival_means).masked_fill(own, 0))
    rollout_map = small_trace.on_grid(small_trace.rollout(QUERY).flatten()).masked_fill(own, 0)
    torch.testing.assert_close(found.maps["rollout"], rollout_map)


def test_a_score_is_the_rank_correlation_over_the_other_blocks(small_trace, found):
    blocks = [block for block in occlusion.blocks(small_trace.grid, found.side) if not block[QUERY]]
    assert found.blocks - 1 == len(blocks)
    moves = [float(found.moved[block].mean()) for block in blocks]
    for name, relevance in found.maps.items():
        means = [float(relevance[block].mean()) for block in blocks]
        if len(set(means)) < len(means):
            continue  # most patches have the value 0 in the filter, and equal values share a rank
        ranks = (np.argsort(np.argsort(values)) for values in (means, moves))
        assert found.scores[name] == pytest.approx(np.corrcoef(*ranks)[0, 1], abs=0.02), name
    assert max(found.scores.values()) <= 1


def test_where_rollout_s_favourite_really_stands_is_counted(small_trace, found, own):
    rollout_map = found.maps["rollout"].masked_fill(own, 0)
    assert found.top_share == pytest.approx(float(rollout_map.max()))
    assert found.top_moves == pytest.approx(float(found.moved[found.top]))
    blocks = [block for block in occlusion.blocks(small_trace.grid, found.side) if not block[QUERY]]
    assert found.top_rank == sum(float(found.moved[block].mean()) >= found.top_moves - 1e-7 for block in blocks)


@pytest.mark.slow
def test_what_the_lesson_prints_of_several_patches_is_measured():
    """Recomputes the stored numbers of one sample; all samples were measured in the same way."""
    subject = Here({"sample": "meadow", "model": "bundled"})
    trace = subject.trace()
    scores = explain.mean_scores(trace, np.asarray(displayed(subject.image, trace.size)))
    assert explain.FORETOLD["meadow"] == pytest.approx(scores, abs=0.02)
