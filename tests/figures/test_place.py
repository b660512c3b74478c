"""The share of scores that place explains equals a loop, is 1 where only place speaks, and 0 where there is none."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import SMALL, scramble

import playground
from playground.errors import PlaygroundError
from playground.figures import place
from playground.vit import VisionTransformer


@pytest.fixture
def noises():
    random = np.random.default_rng(0)
    return [random.integers(0, 255, (64, 64, 3), dtype=np.uint8) for _ in range(6)]


def test_the_share_equals_an_analysis_of_variance_by_hand(small, noises):
    found = playground.place_share(noises, small, progress=False)
    traces = [playground.trace(small, noise, size=(64, 64)) for noise in noises]
    first = len(traces[0].prefix)
    for layer, head in ((0, 1), (2, 3)):
        scores = np.array([
            [trace.scores(layer, head, token)[first:].numpy() for token in range(first, trace.tokens)]
            for trace in traces
        ]).astype(float)  # fmt: skip
        scores -= scores.mean(-1, keepdims=True)
        content = scores.var(axis=0, ddof=1).sum()
        by_place = (scores.mean(0) ** 2).sum() - content / len(traces)
        assert float(found[layer, head]) == pytest.approx(by_place / (by_place + content), abs=1e-3)


def test_where_patches_say_nothing_all_is_place_and_without_places_nothing_is(noises):
    vit = scramble(VisionTransformer(SMALL))
    with torch.no_grad():
        vit.patch_embed.proj.weight.zero_()
    assert (playground.place_share(noises, vit, progress=False) > 0.999).all()
    vit = scramble(VisionTransformer(replace(SMALL, positions="none")))
    assert playground.place_share(noises, vit, progress=False).max() < 0.05


def test_one_picture_and_too_many_scores_are_refused_in_a_sentence(small, noises, monkeypatch):
    with pytest.raises(PlaygroundError, match="needs two of them"):
        playground.place_share(noises[:1], small, progress=False)
    monkeypatch.setattr(place, "MOST_BYTES", 1000)
    with pytest.raises(PlaygroundError, match="choose a smaller size="):
        playground.place_share(noises, small, progress=False)
