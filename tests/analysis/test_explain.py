"""Does the map explain: the scores against a loop, and what is blanked against a pass without those patches."""

import numpy as np
import pytest
import torch

from playground.analysis import explain, occlusion
from playground.pictures.images import displayed

QUERY = (2, 3)


@pytest.fixture
def found(seen, picture):
    return explain.explain(seen, np.asarray(displayed(picture, seen.size)), QUERY, occlusion.side_of(seen.grid))


def test_every_map_is_of_the_patches_and_none_is_empty(seen, found):
    assert found.maps.keys() == found.scores.keys() == {"weight", "arrives", "rollout", "gradient", "colour"}
    for name, drawn in found.maps.items():
        assert drawn.shape == seen.grid, name
        assert float(drawn.sum()) > 0, name
        assert float(drawn.min()) >= 0, name


def test_the_weights_are_the_last_layer_s_and_what_arrives_counts_its_values(seen, found):
    rows = torch.stack([seen.row(seen.layers - 1, head, QUERY) for head in range(seen.heads)])
    torch.testing.assert_close(found.maps["weight"], seen.on_grid(rows.mean(0)))
    arrives = (rows * seen.value_norms(seen.layers - 1)).mean(0)
    torch.testing.assert_close(found.maps["arrives"], seen.on_grid(arrives))
    torch.testing.assert_close(found.maps["rollout"], seen.on_grid(seen.rollout(QUERY).flatten()))


def test_a_score_is_the_rank_correlation_over_the_other_blocks(seen, found):
    blocks = [block for block in occlusion.blocks(seen.grid, found.side) if not block[QUERY]]
    assert found.blocks - 1 == len(blocks)
    moved = [float(found.moved[block].mean()) for block in blocks]
    for name, drawn in found.maps.items():
        said = [float(drawn[block].sum()) for block in blocks]
        if len(set(said)) < len(said):
            continue  # of a filter that says 0 of most, ranks are shared
        ranks = (np.argsort(np.argsort(values)) for values in (said, moved))
        assert found.scores[name] == pytest.approx(np.corrcoef(*ranks)[0, 1], abs=0.02), name
    assert max(found.scores.values()) <= 1


def test_where_rollout_s_favourite_really_stands_is_counted(seen, found):
    own = next(block for block in occlusion.blocks(seen.grid, found.side) if block[QUERY])
    rolled = found.maps["rollout"].masked_fill(own, 0)
    assert found.top_share == pytest.approx(float(rolled.max()))
    assert found.top_moves == pytest.approx(float(found.moved[found.top]))
    blocks = [block for block in occlusion.blocks(seen.grid, found.side) if not block[QUERY]]
    assert found.top_rank == sum(float(found.moved[block].mean()) >= found.top_moves - 1e-7 for block in blocks)
