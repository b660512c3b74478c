"""A caption says what could mislead: exposure, signs, what the prefix tokens take, and what is not as trained."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from conftest import SMALL, scramble

import playground
from playground.figures import Spec, layouts
from playground.figures.compose import subjects
from playground.figures.drawing import captions, maps, naming
from playground.figures.drawing.maps import Domain, Map
from playground.figures.drawing.spec import METHODS
from playground.numbers import percent
from playground.vit import VisionTransformer
from playground.vit_parts import GuidedHead

SPEC = Spec(image="disc.png", model="small", layer=1, head=2, query=(3, 4))


def caption_of(trace, picture=None, **options) -> str:
    spec = replace(SPEC, **options)
    other = {"other": trace} if layouts.of(spec).beside == "other" else {}
    return layouts.content(*subjects(spec, trace, picture, **other)).caption


def numbers_of(trace, tmp_path, **options) -> tuple[dict, dict]:
    with np.load(playground.save(trace, tmp_path / "n.npz", **options)) as held:
        return json.loads(str(held["about"])), {key: held[key][0] for key in set(held) - {"about", "of"}}


def test_a_caption_is_one_sentence_with_the_place_the_query_and_how_it_is_counted(small_trace):
    caption = caption_of(small_trace)
    assert "layer 1, head 2: what patch 3, 4 (row, column, from 0) attends to" in caption, caption
    assert caption.count(". ") == 0, caption
    assert "who attends to patch 3, 4" in caption_of(small_trace, direction="column")
    assert "what the class token attends to" in caption_of(small_trace, query="cls")
    assert "what register 1 attends to" in caption_of(small_trace, query="reg1")
    assert "the mean of all heads" in caption_of(small_trace, head="mean")


@pytest.mark.parametrize("layout", ["head", "heads", "wall", "grid"])
def test_every_caption_tells_of_patches_that_are_brighter_than_can_be_shown(layout, small_trace):
    options = {"rows": "heads:all"} if layout == "grid" else {}
    caption = caption_of(small_trace, layout=layout, ceiling=0.02, **options)
    assert re.search(r"brightest from 2\.0 %, \d+ patches above it, up to \d", caption), caption


def test_the_patches_above_the_exposure_are_counted_and_the_largest_is_named(small_trace):
    row = small_trace.row(1, 2, (3, 4))[len(small_trace.prefix) :].sort(descending=True).values
    for count, words in ((1, "1 patch above it"), (3, "3 patches above it")):
        ceiling = float(row[count - 1 : count + 1].mean())
        caption = caption_of(small_trace, ceiling=ceiling)
        found = re.search(rf"{words}, up to ([\d.]+) %", caption)
        assert found, caption
        assert float(found[1]) == pytest.approx(100 * float(row[0]), rel=0.01)


def test_a_number_above_another_is_written_larger():
    assert captions.distinct_numbers(0.1001, 0.10019, captions.percent) == ("10.01 %", "10.02 %")


def test_the_caption_says_what_the_prefix_takes(small_trace):
    row = small_trace.row(1, 2, (3, 4))
    shares = f"CLS {captions.percent(float(row[0]))}, registers {captions.percent(float(row[1:3].sum()))}"
    assert f"not in the picture: {shares}." in caption_of(small_trace)
    totals = small_trace.rows(1, (3, 4))[:, :3].sum(1)
    words = captions.range_words(float(totals.min()), float(totals.max()))
    assert f"the prefix tokens, which are not in the pictures, take {words}." in caption_of(small_trace, layout="heads")
    assert "not in the picture" not in caption_of(small_trace, direction="column")


def test_an_even_row_is_called_even(picture):
    vit = scramble(VisionTransformer(SMALL))
    with torch.no_grad():
        for block in vit.blocks:
            block.attn.qkv.weight.zero_()
            block.attn.qkv.bias.zero_()
    content = layouts.content(*subjects(SPEC, playground.trace(vit, picture), picture))
    assert "attends to, evenly" in content.caption
    assert not content.shown[0].grid.max() > content.domain.high / 2 + 1e-6


def test_counterfactuals_say_which_they_are(small, small_trace, picture):
    assert "Without 1/√dₖ in this layer alone." in caption_of(small_trace, scale="off")
    caption = caption_of(small_trace, scale="0.1", layout="wall")
    assert "Scale 0.1 instead of 1/√12 in each layer alone." in caption, caption
    whole = playground.trace(small, picture, scale=1.0)
    assert "Without 1/√dₖ in the whole forward pass." in caption_of(whole, scale="off", whole=True)
    assert "With 1/√dₖ in this layer alone: the forward pass ran with another scale." in caption_of(whole)
    cut = playground.trace(small, picture, cut=["3,4>5,5", "zero@1.2"])
    caption = caption_of(cut)
    assert "Cut in the whole forward pass: 3,4 > 5,5." in caption, caption
    assert "Off in the whole forward pass: heads 1.2." in caption, caption


def test_a_caption_says_that_a_head_was_told(small_trace):
    small_trace.vit.told_heads = (GuidedHead(1, 2, "patch", "stay on its object"),)
    assert "In training this head was told to stay on its object." in caption_of(small_trace)
    assert "In training" not in caption_of(small_trace, head=1)


def test_random_weights_and_weights_changed_in_memory_are_named(picture):
    vit = playground.load("untrained")
    seen = playground.trace(vit, picture)
    assert "(random weights)" in caption_of(seen, model="untrained")
    assert naming.weights(seen).startswith("random weights, sha256:")
    with torch.no_grad():
        vit.blocks[0].attn.qkv.weight.mul_(1.5)
    changed = playground.trace(vit, picture)
    assert "(changed in memory)" in caption_of(changed, model="untrained")
    assert naming.weights(seen) == "unknown, changed after this pass"


def test_a_comparison_of_two_grids_names_the_patch_of_each(small, small_trace, picture):
    fine = playground.trace(small, picture, size=(128, 128))
    spec = replace(SPEC, layout="compare", other_model="small")
    content = layouts.content(*subjects(spec, small_trace, picture, other=fine))
    assert content.shown[1].spec.query == (7, 9)
    assert "; the same place in the other grid is patch 7, 9" in content.caption


# Labels ---------------------------------------------------------------------------------------------------------------


def test_the_numbers_of_a_label_s_relevance_have_autograd_s_signs(small, small_trace, tmp_path):
    x = small.embed(small_trace.input)[0].detach().requires_grad_()
    *_, (tokens, _) = small.layers(x, None)
    small.classify(tokens)[0, 3].backward()
    expected = (x.grad * x).sum(-1)[0].detach()
    facts, record = numbers_of(small_trace, tmp_path, what="relevance", label=3, method="gradient")
    np.testing.assert_allclose(record["values"], expected / expected.abs().sum(), atol=1e-6)
    assert record["sign"] == facts["sign"] == "+ speaks for it, - against it"
    assert (record["label"], record["made"]) == ("3", "gradient × input")


def test_the_caption_names_the_largest_on_both_sides_and_the_trust(small_trace):
    caption = caption_of(small_trace, what="relevance", label="3")
    grid = small_trace.on_grid(small_trace.relevance(label=3)).numpy()
    assert f"for it up to +{percent(float(grid.max()))}, against it up to −{percent(-float(grid.min()))}" in caption, (
        caption
    )
    assert ": not measured." in caption, caption
    assert "patch 3, 4" not in caption


@pytest.mark.parametrize("method", METHODS)
def test_what_is_drawn_has_a_sign_where_the_numbers_have_one(method, small_trace):
    content = layouts.content(*subjects(replace(SPEC, what="relevance", label="3", method=method), small_trace))
    assert content.domain.signed == (method in ("gradient", "integrated", "attnlrp"))
    assert (content.shown[0].grid.min() < 0) == content.domain.signed
    assert METHODS[method].partition(",")[0] in content.caption


def test_an_occlusion_of_a_label_says_its_unit_and_its_blocks(small_trace, tmp_path):
    _, record = numbers_of(small_trace, tmp_path, what="occlusion", label=3)
    assert (record["blocks"], record["unit"]) == ("4x4, 2x2, 1x1", "logits, how far it is above the largest other")
    caption = caption_of(small_trace, what="occlusion", label="3")
    assert "what label 3 loses in logits when patches become the mean colour" in caption, caption
    assert "blocks of 4 × 4, 2 × 2 and 1 × 1, the smaller where more moved" in caption, caption


def test_where_nothing_moves_nothing_is_bright_and_the_caption_says_so():
    still = Map(None, np.full((2, 2), 1e-6), blanked=SimpleNamespace(sides=(1,), answer_stays=True))
    spec = replace(SPEC, what="occlusion")
    assert maps.domain(spec, [still]).high == maps.least_move(spec)
    assert "nothing here moves it" in captions._blanking_note(spec, [still])


# Words ----------------------------------------------------------------------------------------------------------------


def test_numbers_are_written_as_people_write_them():
    numbers = [0, 0.00001, 0.0123, 1.5, 42.1, 123.4, 12345.6]
    assert [captions.number(x) for x in numbers] == ["0", "1.0e-05", "0.012", "1.5", "42", "123", "12,346"]


def test_an_exposure_without_clipped_patches_is_not_said():
    map_ = Map(None, np.array([[0.1, 0.2]]))
    assert captions.exposure_note([map_], Domain(0, 0.5, "", percent=True, open_end=True)) == ""
