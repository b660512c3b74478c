"""Scores of maps, compared with a loop; blanking, compared with a pass on the blanked picture."""

import numpy as np
import pytest
import torch

from playground.analysis import explain, occlusion
from playground.pictures.images import displayed
from playground.serving.here import Here

QUERY = (2, 3)


@pytest.fixture
def explained(small_trace, picture):
    side = occlusion.side_of(small_trace.grid)
    moves = explain.moves_of(small_trace, QUERY, side)
    return explain.explain(
        explain.maps(small_trace, np.asarray(displayed(picture, small_trace.size)), QUERY), QUERY, side, moves
    )


@pytest.fixture
def query_block(small_trace, explained):
    return explain.block_of_query(small_trace.grid, explained.side, QUERY)


def test_only_blocks_of_full_size_are_compared_if_there_are_enough():
    grid = (9, 9)
    blocks = occlusion.blocks(grid, 2)
    moves = [float(n) for n in range(len(blocks))]
    agreeing_map = sum(block * (n if int(block.sum()) == 4 else -n) for n, block in enumerate(blocks)).float()
    explanation = explain.explain({"constant": torch.ones(grid), "rollout": agreeing_map}, (0, 0), 2, moves)
    assert (explanation.blocks, explanation.compared) == (25, 15)
    assert explanation.scores["rollout"] == pytest.approx(1)


def test_the_maps_weight_arrives_and_rollout_equal_those_of_the_trace(small_trace, explained, query_block):
    rows = torch.stack([small_trace.row(small_trace.layers - 1, head, QUERY) for head in range(small_trace.heads)])
    torch.testing.assert_close(explained.maps["weight"], small_trace.on_grid(rows.mean(0)).masked_fill(query_block, 0))
    arrival_means = (rows * small_trace.value_norms(small_trace.layers - 1)).mean(0)
    torch.testing.assert_close(
        explained.maps["arrives"], small_trace.on_grid(arrival_means).masked_fill(query_block, 0)
    )
    rollout_map = small_trace.on_grid(small_trace.rollout(QUERY).flatten()).masked_fill(query_block, 0)
    torch.testing.assert_close(explained.maps["rollout"], rollout_map)


def test_a_score_is_the_rank_correlation_over_all_blocks_but_the_query_s(small_trace, explained):
    blocks = [block for block in occlusion.blocks(small_trace.grid, explained.side) if not block[QUERY]]
    assert explained.blocks - 1 == len(blocks)
    moves = [float(explained.moved[block].mean()) for block in blocks]
    for name, relevance in explained.maps.items():
        means = [float(relevance[block].mean()) for block in blocks]
        if len(set(means)) < len(means):
            continue  # most patches have the value 0 in the filter, and equal values share a rank
        ranks = (np.argsort(np.argsort(values)) for values in (means, moves))
        assert explained.scores[name] == pytest.approx(np.corrcoef(*ranks)[0, 1], abs=0.02), name
    assert max(explained.scores.values()) <= 1


@pytest.mark.slow
def test_the_lesson_s_stored_correlations_are_measured_again():
    """Recomputes the stored numbers of one sample; all samples were measured in the same way."""
    subject = Here({"sample": "meadow", "model": "bundled"})
    trace = subject.trace()
    pixels, side = np.asarray(displayed(subject.image, trace.size)), occlusion.side_of(trace.grid)
    scores = []
    for row_share, column_share in explain.QUERY_PLACES:
        query = (int(row_share * trace.grid[0]), int(column_share * trace.grid[1]))
        moves = explain.moves_of(trace, query, side)
        scores.append(explain.explain(explain.maps(trace, pixels, query), query, side, moves).scores)
    means = {name: np.mean([query_scores[name] for query_scores in scores]) for name in scores[0]}
    assert explain.RANK_CORRELATIONS["meadow"] == pytest.approx(means, abs=0.02)
