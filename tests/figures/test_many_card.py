"""A batch of many pictures becomes smaller if a graphics card has too little memory."""

import copy

import numpy as np
import pytest
import torch

import playground
from playground import PlaygroundError


def _with_little_memory(vit, most_pictures):
    """Makes the model fail as on a card with memory for `most_pictures` pictures."""
    mix_all = vit.blocks[1].attn.mix

    def mix(q, *arguments):
        if len(q) > most_pictures:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return mix_all(q, *arguments)

    vit.blocks[1].attn.mix = mix
    return vit


def test_a_batch_becomes_as_small_as_a_card_needs_it(small, pictures):
    expected = list(playground.trace_many(pictures, small, "features", batch=8))
    vit = _with_little_memory(copy.deepcopy(small), 1)
    run = playground.trace_many(pictures, vit, "features", batch=8)
    for expected_numbers, narrow_numbers in zip(expected, run, strict=True):
        np.testing.assert_allclose(expected_numbers.arrays["features"], narrow_numbers.arrays["features"], atol=1e-5)
    assert min(run.room) == 1, "it is remembered"


def test_too_little_memory_of_a_card_is_said_in_a_sentence(small, pictures, picture):
    vit = _with_little_memory(copy.deepcopy(small), 0)
    for call in (
        lambda: list(playground.trace_many(pictures, vit, "features")),
        lambda: playground.trace(vit, picture),
    ):
        with pytest.raises(
            PlaygroundError, match=r"over 1 × .* tokens keeps .* GB, and .* GB of cpu are free: .* would fit"
        ):
            call()


def test_a_sweep_takes_as_many_at_once_as_a_card_has_room_for(small, pictures):
    pytest.importorskip("xarray")
    options = {"metric": "moved", "over": "heads", "progress": False}
    full_sweep = playground.sweep(pictures, small, **options)
    narrow_sweep = playground.sweep(pictures, _with_little_memory(copy.deepcopy(small), 1), **options)
    np.testing.assert_allclose(full_sweep["value"], narrow_sweep["value"], atol=1e-6)
