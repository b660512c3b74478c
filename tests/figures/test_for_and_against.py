"""Figures that explain a label: two colours around zero, signed numbers, no query patch."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

import playground
from playground import relevance
from playground.__main__ import main
from playground.analysis import occlusion
from playground.analysis.occlusion import Step
from playground.errors import PlaygroundError
from playground.figures import layouts
from playground.figures.command_line import unused_reasons
from playground.figures.compose import subjects
from playground.figures.drawing import captions, light, maps, prints
from playground.figures.drawing.maps import Domain, Map
from playground.figures.drawing.one_map import OneMap, ShownMap, Subject
from playground.figures.drawing.spec import METHODS, Spec

LABEL = {"label": 3}
WAYS = ("relevance", "occlusion")
GREY = np.full((64, 64, 3), 110, np.uint8)


def caption_of(trace, tmp_path, **options) -> str:
    return playground.save(trace, tmp_path / "words.txt", **options).read_text(encoding="utf-8")


def numbers_of(trace, tmp_path, **options) -> tuple[dict, dict]:
    """The facts and the first map of the figure's JSON file."""
    record = json.loads(playground.save(trace, tmp_path / "n.json", **options).read_text(encoding="utf-8"))
    return record["figure"], record["tables"][0]["maps"][0]


def gradient_times_input(small, trace) -> torch.Tensor:
    """Gradient × input of the label's logit for each token, (tokens,), computed by torch alone."""
    x = small.embed(trace.input)[0].detach().requires_grad_()
    *_, (tokens, _) = small.layers(x, None)
    small.classify(tokens)[0, LABEL["label"]].backward()
    return (x.grad * x).sum(-1)[0].detach()


# Numbers and words ----------------------------------------------------------------------------------------------------


def test_the_numbers_of_a_label_s_relevance_have_autograd_s_signs(small, small_trace, tmp_path):
    facts, map_record = numbers_of(small_trace, tmp_path, what="relevance", **LABEL)
    expected = gradient_times_input(small, small_trace)
    expected = expected / expected.abs().sum()
    np.testing.assert_allclose(map_record["values"], expected, atol=1e-6)
    assert map_record["sign"] == facts["sign"] == "+ speaks for it, - against it"
    assert (map_record["label"], map_record["made"]) == ("3", "gradient × input")
    _, unsigned_map = numbers_of(small_trace, tmp_path, what="relevance", signed=False, **LABEL)
    np.testing.assert_allclose(unsigned_map["values"], expected.abs(), atol=1e-6)
    assert "sign" not in unsigned_map


def test_the_caption_names_both_sides_with_their_shares_and_their_largest(small_trace, tmp_path):
    caption = caption_of(small_trace, tmp_path, what="relevance", **LABEL)
    grid = small_trace.on_grid(small_trace.relevance(label=3))
    for words, sign, mark in (("for it", 1, "+"), ("against it", -1, "−")):
        share = captions.percent(float((sign * grid).clamp(min=0).sum()))
        row, column = divmod(int((sign * grid).argmax()), small_trace.grid[1])
        largest = captions.percent(float((sign * grid).max()))
        assert f"{share} {words}, most patch {row}, {column} ({mark}{largest})" in caption, caption
    class_share = float(small_trace.relevance(label=3)[0])
    assert f"CLS {captions.signed(class_share, True)}" in caption, caption


def test_an_occlusion_of_a_label_is_what_its_margin_loses_block_by_block(small, small_trace, tmp_path):
    """The last step blanks each patch alone, so each value of the map comes from one pass over a blanked picture."""
    _, map_record = numbers_of(small_trace, tmp_path, what="occlusion", **LABEL)
    values = np.array(map_record["values"])[len(small_trace.prefix) :].reshape(small_trace.grid)
    assert map_record["blocks"] == "4x4, 2x2, 1x1"
    assert map_record["unit"] == "logits, how far it is above the largest other"

    def margin(pixels) -> float:
        with torch.no_grad():
            logits = small(pixels)[0]
        return float(logits[3] - torch.cat([logits[:3], logits[4:]]).max())

    margin_before, mean_colour = margin(small_trace.input), small_trace.input.mean((2, 3), keepdim=True)
    for row, column in ((0, 0), (3, 5), (7, 2)):
        pixels = small_trace.input.clone()
        pixels[:, :, 8 * row : 8 * row + 8, 8 * column : 8 * column + 8] = mean_colour
        assert values[row, column] == pytest.approx(margin_before - margin(pixels), abs=1e-4), (row, column)
    caption = caption_of(small_trace, tmp_path, what="occlusion", **LABEL)
    assert "what label 3 loses in logits" in caption, caption
    assert "blocks of 4 × 4, 2 × 2 and 1 × 1" in caption, caption


def test_for_a_model_that_says_yes_or_no_to_each_label_the_caption_says_so(small_trace, monkeypatch):
    monkeypatch.setattr(small_trace.vit, "config", replace(small_trace.vit.config, multi_label=True))
    spec = Spec(what="occlusion", label="3")
    statement = captions._statement(
        spec, "", [ShownMap(OneMap(Subject(small_trace, small_trace.shown, ""), spec, None), None)]
    )
    assert "(its own: this model says yes or no to each label)" in statement


def test_other_methods_are_named_in_the_caption_and_have_no_sign(small_trace, tmp_path):
    for method in ("chefer", "legrad"):
        caption = caption_of(small_trace, tmp_path, what="relevance", method=method, **LABEL)
        assert METHODS[method] in caption, caption
        assert "against" not in caption.replace("for and against", "")
        _, map_record = numbers_of(small_trace, tmp_path, what="relevance", method=method, **LABEL)
        np.testing.assert_allclose(map_record["values"], small_trace.relevance(label=3, method=method), atol=1e-6)
    with pytest.raises(PlaygroundError, match="has no sign: leave signed=True out"):
        playground.figure(small_trace, what="relevance", method="chefer", signed=True, **LABEL)


@pytest.mark.parametrize("method", relevance.METHODS)
@pytest.mark.parametrize("signed", [None, True, False])
@pytest.mark.parametrize("label", ["", "3"])
def test_what_is_drawn_has_a_sign_where_the_numbers_have_one(method, signed, label):
    assert tuple(METHODS) == relevance.METHODS
    if signed and method not in relevance.SIGNED_METHODS:
        return
    spec = Spec(what="relevance", label=label, method=method, signed=signed)
    assert spec.for_and_against == relevance.is_signed(bool(label), method, signed)


# No query patch -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", WAYS)
def test_a_figure_about_a_label_has_no_query_and_no_box(what, small_trace, tmp_path):
    figure = playground.figure(small_trace, what=what, **LABEL)
    texts = [text.get_text() for text in figure.texts]
    assert "picture" in texts, texts
    assert not any("query" in text or text == "patch 4, 4" for text in texts), texts
    boxes = [patch for axes in figure.axes for patch in axes.patches if patch.get_zorder() == 4]
    assert not boxes, "the outline of the patch that asks"
    facts, map_record = numbers_of(small_trace, tmp_path, what=what, **LABEL)
    assert "patch" not in {**facts, **map_record}, (facts, map_record)


@pytest.mark.parametrize("what", WAYS)
def test_a_figure_about_a_patch_keeps_the_query_and_its_box(what, small_trace):
    figure = playground.figure(small_trace, what=what, query=(2, 5))
    assert {"query", "patch 2, 5"} <= {text.get_text() for text in figure.texts}
    assert any(patch.get_zorder() == 4 for axes in figure.axes for patch in axes.patches)


@pytest.mark.parametrize("what", WAYS)
def test_the_command_and_the_title_of_a_label_name_no_patch(what, picture, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    picture.save("leaf.png")
    arguments = ["figure", "leaf.png", "--model", "bundled", "--size", "64x64", "--what", what, "--label", "3"]
    assert main([*arguments, "--dpi", "20", "-o", "a.png"]) == 0
    with Image.open("a.png") as image:
        metadata = image.info
    assert "patch" not in metadata["Title"] + metadata["Description"], metadata
    assert "label 3" in metadata["Title"], metadata
    assert "--patch" not in metadata["Command"], metadata
    assert main([*arguments, "--patch", "1,1", "-o", "b.png"]) == 2, "a patch has no use there"


def test_two_passes_compared_by_a_label_name_no_patch(small, picture, tmp_path):
    coarse_trace, fine_trace = (playground.trace(small, picture, size=size) for size in ((64, 64), (96, 96)))
    fine_trace = replace(fine_trace, picture_name="other")
    text = playground.save(
        coarse_trace,
        tmp_path / "w.txt",
        layout="compare",
        other=fine_trace,
        what="relevance",
        other_image=fine_trace.shown,
        **LABEL,
    ).read_text(encoding="utf-8")
    assert "patch" not in text.replace("each patch", ""), text


# Exposure and colours -------------------------------------------------------------------------------------------------


def test_where_nothing_moves_the_label_nothing_is_bright_and_the_caption_says_so(small, picture, tmp_path):
    deaf_trace = playground.trace(small, picture, cut="cls>*")
    caption = caption_of(deaf_trace, tmp_path, what="occlusion", **LABEL)
    assert "nothing here moves it: no block by 0.1 logits" in caption, caption
    assert "for it" not in caption, caption
    spec = Spec(what="occlusion", label="3").settled(deaf_trace)
    map_ = maps.map_of(deaf_trace, spec, 0, 0, None)
    map_domain = maps.domain(spec, [map_])
    assert map_domain.high == occlusion.LEAST_MOVE["label"]
    assert np.abs(maps.shares(map_.grid, map_domain)).max() < 0.1


@pytest.mark.parametrize(("label", "least_move"), [("3", 0.1), ("", 0.01)])
def test_the_least_exposure_is_the_least_move_that_counts(label, least_move):
    tiny_grid = np.array([[1e-6, -1e-6 if label else 0.0]])
    step = Step(1, torch.zeros(1, 2), 1, (0.0,), (1,), 1e-6, True)
    map_domain = maps.domain(Spec(what="occlusion", label=label), [Map(tiny_grid, (), None, blanked=step)])
    assert map_domain.high == least_move
    moving_step = replace(step, answer_stays=False)
    map_domain = maps.domain(Spec(what="occlusion", label=label), [Map(tiny_grid, (), None, blanked=moving_step)])
    assert map_domain.high == pytest.approx(1e-6)


def test_for_and_against_are_equally_light_and_differ_in_colour_and_zero_is_the_photograph():
    shares = np.linspace(0, 1, 9)
    pairs = [
        [light.heat(GREY, np.full((64, 64), sign * share))[0, 0].astype(float) for sign in (1, -1)] for share in shares
    ]
    for share, (warm, cold) in zip(shares, pairs, strict=True):
        assert abs(lightness(warm) - lightness(cold)) < 0.02, (share, warm, cold)
    assert np.array_equal(*pairs[0]), "zero has one colour"
    assert np.abs(pairs[0][0] - light.faded_photo(GREY, light.TONES_BENEATH, light.COLOUR_KEPT)[0, 0]).max() <= 1
    warm, cold = pairs[-1]
    assert warm[0] > warm[2] + 80, "gold"
    assert cold[2] > cold[0] + 80, "blue"
    assert np.all(np.diff([lightness(cold) for _, cold in pairs]) > 0), "lightness rises with the size"


def lightness(rgb) -> float:
    """The lightness L of OKLab, computed by the definition of OKLab."""
    x = np.asarray(rgb) / 255
    linear = np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)
    to_cones = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005]]  # fmt: skip
    return float(np.cbrt(np.array(to_cones) @ linear) @ [0.2104542553, 0.7936177850, -0.0040720468])


def test_in_grey_what_speaks_against_is_hatched_and_what_speaks_for_is_not():
    grid = np.array([[1.0, -1.0]])
    image = prints.photo_with_map(
        Image.new("RGB", (128, 64), (110, 110, 110)), grid, Spec(over="photo"), Domain(-1, 1, "", signed=True)
    )
    grey = np.asarray(image.convert("L"), float)
    assert grey[:, :64].std() < 1, "one tone"
    assert grey[:, 64:].std() > 8, "lines"


def test_the_colour_bar_has_both_signs_around_zero(small_trace):
    figure = playground.figure(small_trace, what="relevance", **LABEL)
    texts = [text.get_text() for text in figure.texts]
    largest = captions.number(100 * float(small_trace.on_grid(small_trace.relevance(label=3)).abs().max()))
    assert {f"−{largest}", "0", f"{largest} %"} <= set(texts), texts
    assert any("against it (hatched)" in text for text in texts), texts


def test_what_may_be_negative_is_neither_lit_nor_outlined_nor_on_a_logarithm():
    spec = Spec(what="relevance", label="3", query=(1, 1))
    assert {"log", "draw", "mass", "mask", "query", "marker", "other_queries"} <= unused_reasons(spec).keys()
    assert not {"log", "draw", "mass"} & unused_reasons(replace(spec, signed=False)).keys()
    assert {"signed", "method"} <= unused_reasons(replace(spec, what="occlusion")).keys()


def test_beside_a_convolution_too_a_figure_about_a_label_has_no_query():
    spec = Spec(image="meadow", model="bundled", layer=4, query=(8, 5), what="relevance", label="11")
    with_convolution = replace(spec, layout="convolution")
    panels = layouts.content(*subjects(with_convolution, playground.trace("bundled", "meadow"), None)).body.panels
    assert "query" not in [panel.heading for panel in panels], panels
