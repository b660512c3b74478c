"""Relevance singles out a planted patch, and is of a patch or of a label."""

import pytest
import torch

import playground
from playground.analysis import explain, occlusion
from playground.errors import PlaygroundError


def test_for_a_label_that_depends_on_one_patch_relevance_scores_more_than_a_random_map(small, picture):
    """In every layer all tokens attend to one patch; the label is read from the class token."""
    trace = playground.trace(small, picture, cut=[f"*>{all_patches_but(6, 1)}"])
    patch_block = occlusion.blocks(trace.grid, 1)[8 * 6 + 1]
    margin_losses = [occlusion.Blanking(trace, occlusion.Target(label=i)).moved([patch_block])[0] for i in range(10)]
    target = occlusion.Target(label=margin_losses.index(max(margin_losses)))
    relevance = {method: trace.relevance(label=target.label, method=method) for method in ("chefer", "gradient")}
    maps = {method: trace.on_grid(values) for method, values in relevance.items()}
    maps["random"] = torch.rand(trace.grid, generator=torch.Generator().manual_seed(0))
    deletion = {name: occlusion.deletion(map_, occlusion.Blanking(trace, target)).area for name, map_ in maps.items()}
    assert min(deletion["chefer"], deletion["gradient"]) > deletion["random"], deletion
    assert relevance["chefer"][trace.token((6, 1))] == relevance["chefer"][3:].max()
    changes = occlusion.Blanking(trace, target).moved(occlusion.blocks(trace.grid, 1))
    assert torch.tensor(changes).abs().argmax() == 8 * 6 + 1


def all_patches_but(row: int, column: int) -> str:
    return "+".join(f"{r},{c}" for r in range(8) for c in range(8) if (r, c) != (row, column))


def test_a_patch_and_a_label_at_once_are_refused(small_trace):
    with pytest.raises(PlaygroundError, match="give one of the two"):
        explain.answer_of(small_trace, (1, 1), 3)
