"""`trace_many` gives the same numbers as a trace of each single picture."""

import numpy as np
import pytest

import playground
from figures.many_pictures import assert_close, trace_of_one
from playground import PlaygroundError, tracing
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
