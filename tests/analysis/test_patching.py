"""Patching gives the numbers of a loop over the blocks, written by hand."""

import pytest
import torch
from PIL import Image, ImageOps

import playground
from playground.analysis import patching
from playground.errors import PlaygroundError


@pytest.fixture
def other_trace(small, picture):
    return playground.trace(small, ImageOps.mirror(ImageOps.posterize(picture, 2)))


def patched_by_hand(vit, trace, other_trace, target_tokens, source_tokens, layer, depth=3):
    """Reference: runs both pictures block by block; after `layer`, copies tokens of `other_trace` into `trace`."""
    with torch.no_grad():
        (x, _), (y, _) = vit.embed(trace.input), vit.embed(other_trace.input)
        for number in range(depth):
            x, y = (vit.blocks[number](t, None, None)[0] for t in (x, y))
            if number == layer:
                x = x.clone()
                x[0, target_tokens] = y[0, source_tokens]
        return x, vit.classify(x)[0].softmax(-1)


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_patching_equals_a_loop_that_copies_tokens_after_a_layer(small, small_trace, other_trace, layer):
    patched = patching.patch(small_trace, other_trace, {(2, 5): (4, 4), "cls": "cls"}, layer)
    tokens = [small_trace.token((2, 5)), 0], [small_trace.token((4, 4)), 0]
    x, shares = patched_by_hand(small, small_trace, other_trace, *tokens, layer)
    torch.testing.assert_close(patched.features, x[0], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(patched.after, shares, atol=1e-6, rtol=1e-4)
    torch.testing.assert_close(patched.before, small_trace.logits.softmax(-1), atol=1e-6, rtol=1e-4)
    old_features = small_trace.features()
    torch.testing.assert_close(
        patched.moved, (x[0] - old_features).norm(dim=-1) / old_features.norm(dim=-1), atol=1e-5, rtol=1e-4
    )


def test_changed_labels_come_with_the_probabilities_before_and_after(small, small_trace, other_trace):
    patched = patching.patch(small_trace, other_trace, {"cls": "cls"}, 2)
    label_changes = patching.changed_labels(small, patched, least=0)
    assert len(label_changes) == 10
    name, share_before, share_after = label_changes[0]
    number = int(name.split()[-1])
    assert (share_before, share_after) == (float(patched.before[number]), float(patched.after[number]))
    assert abs(share_after - share_before) == max(abs(b - a) for _, a, b in label_changes)


@pytest.mark.parametrize(
    ("put", "layer", "sentence"),
    [({}, 1, "Nothing is put"), ({(9, 9): (0, 0)}, 1, "no patch (9, 9)"), ({(0, 0): (9, 9)}, 1, "no patch (9, 9)"),
     ({(0, 0): (0, 0)}, 3, "no layer 3")],
)  # fmt: skip
def test_tokens_that_can_not_be_patched_are_errors(small_trace, other_trace, put, layer, sentence):
    with pytest.raises(PlaygroundError) as error:
        patching.patch(small_trace, other_trace, put, layer)
    assert sentence in str(error.value)


def test_tokens_of_another_model_are_refused(small_trace, picture):
    stranger = playground.trace(playground.load("untrained"), Image.new("RGB", (64, 64)))
    with pytest.raises(PlaygroundError, match="within one model only"):
        patching.patch(small_trace, stranger, {(0, 0): (0, 0)}, 1)
