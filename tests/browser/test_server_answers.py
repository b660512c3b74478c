"""Views that need more than queries and keys come from the server: they arrive, are marked and are correct."""

import re

import numpy as np
import pytest
import torch

import playground
from browser.truth import assert_close, entropy, largest_difference, model, python_trace, rounded_trace
from playground.figures.drawing import light, maps
from playground.samples import named

LOCKED_PATCH, OTHER_PATCH = (7, 5), (2, 11)


def show_map(visitor, map_name: str) -> dict:
    visitor.choice("what", map_name).click()
    return visitor.until(f"r => r.what === '{map_name}' && r.map")


def test_similarity_and_rollout_follow_the_cursor_and_nobody_is_asked_meanwhile(go):
    visitor = go("sample=meadow&model=bundled&detail=1")
    truth, layer = python_trace(), visitor.read()["layer"]
    for map_name, python_map in (
        ("similarity", lambda patch: truth.similarity(patch, layer)),
        ("rollout", truth.rollout),
    ):
        show_map(visitor, map_name)
        visitor.page.wait_for_url(f"**what={map_name}**")  # waits, because the address changes with a delay
        visitor.rest()
        asked_count = len(visitor.asked)
        for patch in ((3, 4), (9, 2), (12, 12)):
            assert_close(visitor.hover(patch)["map"], python_map(patch), 2e-3)
        assert not visitor.part("waiting").is_visible()
        assert visitor.asked[asked_count:] == []


def test_the_lengths_of_features_are_python_s_and_colours_show_many_colours(go):
    visitor = go("sample=meadow&model=bundled&detail=1")
    state = show_map(visitor, "norm")
    norms = python_trace().features(state["layer"]).norm(dim=-1)
    assert_close(state["map"], norms, 2e-3 * float(norms.max()))
    show_map(visitor, "components")
    colour_count = visitor.part("picture").evaluate(
        "c => new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)"
        ".map((p) => p & 0xe0e0e0)).size"
    )
    assert colour_count > 30


def test_pointing_in_one_picture_finds_what_resembles_it_in_the_other(go):
    visitor = go("sample=meadow&model=bundled&detail=1&with=sample:flock&beside=compare&what=similarity")
    patch = (5, 6)
    state = visitor.hover(patch)
    foot_line = visitor.part("otherFoot").filter(has_text="Most alike here")
    foot_line.wait_for()
    features_here, features_there = (python_trace(name).features(state["layer"]) for name in ("meadow", "flock"))
    cosines = torch.cosine_similarity(features_there, features_here[python_trace().token(patch)], dim=-1)
    other_trace = python_trace("flock")
    prefix_count = len(other_trace.prefix)
    row, column = divmod(int(cosines[prefix_count:].argmax()), other_trace.grid[1])
    assert f"patch row {row}, column {column}, cosine {cosines[prefix_count:].max():.2f}" in foot_line.inner_text()
    x, y = visitor.place((2, 2), canvas="twin")
    visitor.page.mouse.move(x, y)
    map_here = visitor.until("r => r.query === '2,2' && r.map")["map"]
    assert_close(
        map_here, torch.cosine_similarity(features_here, features_there[python_trace().token((2, 2))], dim=-1), 2e-3
    )


def test_the_whole_pass_without_the_scale_arrives_is_marked_and_is_right(visitor):
    visitor.lock((7, 5))
    visitor.part("switch").click()
    visitor.choice("pass", "whole").click()
    state = visitor.until("r => r.pass === 'whole'")
    truth = rounded_trace(scale="off").row(state["layer"], state["head"], (7, 5))
    assert_close(state["row"], truth, 0.02)  # without the scale, each layer's sharper softmax enlarges rounding errors
    assert largest_difference(state["row"], rounded_trace().row(state["layer"], state["head"], (7, 5))) > 0.02
    assert "in the whole forward pass" in visitor.part("badge").inner_text()
    text = visitor.part("verdict").inner_text()  # the labels before and after
    assert " → " in text or "no label changed" in text, text
    assert "below" not in text


def test_the_finer_grid_has_twice_the_rows_and_columns(go):
    visitor = go()
    rows, columns = visitor.read()["grid"]
    visitor.unfold("more").locator("select").select_option(f"{2 * rows} × {2 * columns}")
    visitor.until(f"r => r.grid[0] === {2 * rows} && r.grid[1] === {2 * columns}")
    state = visitor.hover((13, 9))
    assert_close(state["row"], python_trace(detail=2).row(state["layer"], state["head"], (13, 9)))
    visitor.page.wait_for_url("**detail=2**")


def test_another_picture_stands_beside_under_the_same_cursor(go):
    visitor = go()
    visitor.unfold("compare").get_by_role("button", name="A flock of equal birds").click()
    visitor.page.wait_for_url("**with=sample**")
    visitor.part("twinBadge").filter(has_text="flock").wait_for()
    state = visitor.hover((5, 6))
    other_row = python_trace("flock").row(state["layer"], state["head"], (5, 6))
    match = re.search(r"looks at about ([\d.]+) of", visitor.part("otherFoot").inner_text())
    assert abs(float(match[1]) - 2 ** entropy(other_row)) < 0.2
    assert "meadow" in visitor.part("badge").inner_text()
    assert state["query"] == "5,6"
    x, y = visitor.place((2, 2), canvas="twin")  # a patch of the second picture becomes the query
    visitor.page.mouse.move(x, y)
    visitor.until("r => r.query === '2,2'")


def test_what_is_compared_shares_one_exposure_and_one_scale(go):
    first_trace, second_trace = python_trace("twins"), python_trace("portrait")
    visitor = go("model=bundled&sample=twins&with=sample:portrait&beside=compare")
    visitor.hover((4, 5))
    state = visitor.until("r => r.query === '4,5' && r.waits === ''")
    layer, head = state["layer"], state["head"]
    place = maps.same_place((4, 5), first_trace, second_trace)
    rows = [
        trace.on_grid(trace.row(layer, head, q)).numpy() for trace, q in ((first_trace, (4, 5)), (second_trace, place))
    ]
    exposure = light.exposure(np.concatenate([row.ravel() for row in rows]))
    assert state["domain"]["high"] == pytest.approx(exposure, rel=0.03)
    visitor.choice("what", "similarity").click()
    visitor.part("otherFoot").get_by_text("Most alike here").wait_for()
    state = visitor.until("r => r.what === 'similarity' && r.map")
    feature = first_trace.features(layer)[first_trace.token((4, 5))]
    similarities = [
        torch.cosine_similarity(trace.features(layer), feature[None], dim=-1) for trace in (first_trace, second_trace)
    ]
    smallest = min(
        float(trace.on_grid(similarity).min())
        for trace, similarity in zip((first_trace, second_trace), similarities, strict=True)
    )
    assert state["domain"]["high"] == pytest.approx(1, abs=1e-2)
    assert state["domain"]["low"] == pytest.approx(smallest, abs=1e-2)


def trace_with_cut(cut):
    image = playground.open_image(named("meadow").path)
    return playground.trace(model(), image, size=python_trace().size, cut=cut)


def test_a_cut_edge_has_no_weight_and_the_others_are_those_of_a_pass_without_it(go):
    visitor = go("sample=meadow&model=bundled&detail=1")
    visitor.lock(LOCKED_PATCH)
    visitor.aim(OTHER_PATCH)
    visitor.page.keyboard.press("x")
    state = visitor.until("r => r.pass === 'whole'")
    cut_trace = trace_with_cut("7,5>2,11")
    assert state["row"][cut_trace.token(OTHER_PATCH)] == 0
    assert_close(state["row"], cut_trace.row(state["layer"], state["head"], LOCKED_PATCH))
    visitor.open_row("change")
    visitor.page.locator(".lens .cuts p").filter(has_text="feature moved by").wait_for()
    assert "cut=7%2C5%3E2%2C11" in visitor.page.url
    visitor.page.locator(".lens .cuts select").select_option(f"{state['layer']}.{state['head']}")
    cut_text = f"7,5>2,11@{state['layer']}.{state['head']}"
    visitor.page.wait_for_function("(there) => new URLSearchParams(location.search).get('cut') === there", arg=cut_text)
    reopened_state = visitor.until("r => r.pass === 'whole'")
    assert_close(reopened_state["row"], trace_with_cut(cut_text).row(state["layer"], state["head"], LOCKED_PATCH))
    visitor.page.locator(".lens .cuts li button").click()
    plain_view = visitor.until("r => r.pass === 'layer'")
    assert_close(plain_view["row"], python_trace().row(state["layer"], state["head"], LOCKED_PATCH))
    visitor.page.locator(".lens .cuts li").first.wait_for(state="detached")
