"""`trace_many` gives the numbers of a trace of each picture, also with little memory; NaN stops nobody else's."""

import copy
import math

import numpy as np
import pytest
import torch

import playground
from figures.many_pictures import assert_close, trace_of_one
from playground import PlaygroundError, tracing
from playground.errors import PlaygroundWarning
from playground.figures import many

KINDS = ("weights:1,-1", "features", "entropy", "distance")


@pytest.mark.parametrize("block_scores", [many.BLOCK_SCORES, 2000])
def test_each_picture_s_numbers_are_those_of_its_own_trace(small, pictures, block_scores, monkeypatch):
    monkeypatch.setattr(many, "BLOCK_SCORES", block_scores)  # a picture's rows fit into one block, or need several
    all_numbers = list(playground.trace_many(sorted(pictures.iterdir())[:3], small, KINDS, batch=2))
    assert [numbers.name[-5:] for numbers in all_numbers] == [f"{n}.png" for n in range(3)]
    distances = tracing.distances((8, 8))
    for numbers in all_numbers:
        seen = trace_of_one(small, numbers.name)
        tokens = range(seen.tokens)
        for index, layer in enumerate((1, 2)):
            assert_close(numbers.arrays["weights"][index], seen.weights(layer))
        assert_close(numbers.arrays["features"][0], seen.features())
        for layer in range(seen.layers):
            assert_close(numbers.arrays["entropy"][layer], seen.entropy(layer, tokens), 1e-4)
            patches = seen.weights(layer)[:, 3:, 3:]
            assert_close(
                numbers.arrays["distance"][layer][:, 3:], (patches * distances).sum(-1) / patches.sum(-1), 1e-4
            )
            assert np.isnan(numbers.arrays["distance"][layer][:, :3]).all()


def test_only_a_batch_is_held_at_a_time(small, pictures, monkeypatch):
    opened_files = []
    open_image = many.images.open_image
    monkeypatch.setattr(many.images, "open_image", lambda file: opened_files.append(file) or open_image(file))
    all_numbers = iter(playground.trace_many(sorted(pictures.iterdir()), small, "entropy", batch=1))
    next(all_numbers)
    assert len(opened_files) <= 2  # the current picture, and the next one, which is decoded ahead
    assert len(list(all_numbers)) == 4


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("weights", "weights of which layers"), ("weights:9", "they count to 2"), ("weights:x", "of which layers"),
        ("size", "Of many pictures there are"), ("entropy:2", "Of many pictures there are"),
    ],
)  # fmt: skip
def test_impossible_questions_are_refused_in_a_sentence(what, sentence, small, pictures):
    with pytest.raises(PlaygroundError, match=sentence):
        playground.trace_many(pictures, small, what)


def test_what_can_not_be_looked_at_is_refused_in_a_sentence(small, pictures, tmp_path):
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "none", tmp_path / "empty"):
        with pytest.raises(PlaygroundError, match=r"no folder|no pictures"):
            playground.trace_many(folder, small)
    with pytest.raises(PlaygroundError, match="can't be cut into patches"):
        playground.trace_many(pictures, small, size=(63, 64))
    (pictures / "2.png").write_bytes(b"nothing")
    with pytest.raises(PlaygroundError, match=r"2\.png: "):
        list(playground.trace_many(pictures, small))


def test_logits_labels_and_norms_are_those_of_each_trace_also_where_edges_are_cut(small, pictures):
    what = ("logits", "labels", "norms", "weights:1", "entropy")
    files, cut = sorted(pictures.iterdir())[:3], ("2,3>4,4@1", "*>3x3@2.0")
    for numbers in playground.trace_many(files, small, what, batch=2, cut=cut):
        picture = many._centre_crop(playground.open_image(numbers.name), (64, 64))
        trace = playground.trace(small, picture, size=(64, 64), cut=cut)
        assert_close(numbers.arrays["logits"], trace.logits, 1e-4)
        assert_close(numbers.arrays["labels"], trace.logits.softmax(-1), 1e-4)
        assert_close(numbers.arrays["weights"][0], trace.weights(1))
        for layer in range(3):
            assert_close(numbers.arrays["norms"][layer], trace.value_norms(layer), 1e-4)
            assert_close(numbers.arrays["entropy"][layer], trace.entropy(layer), 1e-3)


def test_impossible_cuts_are_refused_in_a_sentence(small, pictures):
    with pytest.raises(PlaygroundError, match="A cut names patches"):
        playground.trace_many(pictures, small, "entropy", cut="7>3")


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


def test_a_model_that_computes_nan_is_refused_before_anything_is_written(zarr, small, pictures, tmp_path):
    with torch.no_grad():
        small.blocks[1].attn.qkv.weight[5] = math.nan
    for kind in ("weights:1", "features", "entropy", "distance"):
        run = playground.trace_many(pictures, small, kind, batch=2)
        with pytest.raises(PlaygroundError, match=r"computes what is no number .* for .*0\.png: its weights"):
            next(iter(run))
        with pytest.raises(PlaygroundError, match="computes what is no number"):
            run.write(tmp_path / f"{kind[:4]}.zarr")
        assert not zarr.open_group(tmp_path / f"{kind[:4]}.zarr")["done"][:].any()


def test_one_picture_without_numbers_stops_nobody_else(zarr, small, pictures, tmp_path, monkeypatch):
    """One picture may give NaN, for example a bright one that overflows in float16."""
    run = playground.trace_many(pictures, small, "entropy", batch=5)
    real_pass = many.Many._pass

    def pass_with_nan(self, *arguments):
        numbers = real_pass(self, *arguments)
        numbers["entropy"][2, 0, 0, 5] = np.nan
        return numbers

    monkeypatch.setattr(many.Many, "_pass", pass_with_nan)
    with pytest.warns(PlaygroundWarning, match=r"lacks the numbers of 1 of 5 pictures, .*2\.png"):
        run.write(tmp_path / "out.zarr")
    assert zarr.open_group(tmp_path / "out.zarr")["done"][:].tolist() == [True, True, False, True, True]
    with pytest.raises(PlaygroundError, match=r"no number .* for .*2\.png"):
        list(run)
