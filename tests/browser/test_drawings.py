"""Lessons' drawings in a browser: the mouse, dials and steps change them, their numbers are Python's, and a link brings
them back."""

from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image

from browser.truth import assert_close, colour_row, python_trace
from browser.visitor import Visitor, with_small_picture
from playground.analysis import by_hand, scale
from playground.analysis.heads import measure_heads
from playground.assets import TIMELAPSE
from playground.lessons import timelapse
from playground.lessons.scale import POWERS
from playground.pictures.images import fit
from playground.samples import named
from playground.tracing import Trace

# Of drawings, a selector of a part that only this one has
ARROWS, FRIENDS, BARS, REEL = '[data-ref="matrix"]', '[data-ref="mosaic"]', ".softmax", ".reel"
TURN_DIALS = f"""([width, power]) => {{
  const dial = (name) => theDrawing("{BARS}").querySelector(`[data-ref="${{name}}Dial"]`);
  dial("width").value = {[*scale.WIDTHS]}.indexOf(width);
  dial("power").value = {[*POWERS]}.indexOf(power);
  dial("power").dispatchEvent(new Event("input"));
  return readDrawing("{BARS}"); }}"""


@pytest.fixture
def lesson(arrive, server):
    """lesson("shapes", "example=sentence") gives a visitor on that page."""

    def open_lesson(page: str, address: str = "") -> Visitor:
        visitor = arrive(Visitor, server.url)
        visitor.page.goto(f"{server.url}/{page}?{with_small_picture(address)}")
        return visitor

    return open_lesson


def query_with(visitor: Visitor, part: str) -> str:
    visitor.page.wait_for_url(lambda url: part in url)
    return urlsplit(visitor.page.url).query


def canvas_of(visitor: Visitor, part: str, name: str):
    drawing = visitor.page.locator(".drawing").filter(has=visitor.page.locator(part))
    canvas = drawing.locator(f'[data-ref="{name}"]')
    canvas.scroll_into_view_if_needed()
    return canvas


def place_on(canvas, x_share: float, y_share: float) -> tuple[float, float]:
    box = canvas.bounding_box()
    return box["x"] + x_share * box["width"], box["y"] + y_share * box["height"]


# By hand


def weights_by_formula(arrows: str) -> list[float]:
    q, k = by_hand.arrows_from_text(arrows, tokens=18).chunk(2)
    return (q @ k.T / 2**0.5).softmax(-1).flatten().tolist()


def drawn_arrows(visitor: Visitor, condition: str = "true") -> dict:
    return visitor.drawing(ARROWS, f"r => !r.still && ({condition})")


def test_a_dragged_arrow_changes_the_matrix_and_the_link(lesson):
    visitor = lesson("by_hand")
    state_before = drawn_arrows(visitor)
    assert_close(state_before["weights"], weights_by_formula(state_before["arrows"]), 1e-6)
    box, tip = canvas_of(visitor, ARROWS, "grid").bounding_box(), drawn_arrows(visitor)["tips"][0]["k"]
    visitor.page.mouse.move(box["x"] + tip[0], box["y"] + tip[1])
    visitor.page.mouse.down()
    visitor.page.mouse.move(box["x"] + tip[0] - 30, box["y"] + tip[1] + 20, steps=3)
    visitor.page.mouse.up()
    state_after = drawn_arrows(visitor, f"r.arrows !== '{state_before['arrows']}'")
    assert_close(state_after["weights"], weights_by_formula(state_after["arrows"]), 1e-6)
    visitor.page.get_by_role("button", name="Make one key match").first.click()
    matched_state = drawn_arrows(visitor, f"r.arrows !== '{state_after['arrows']}'")
    assert max(matched_state["weights"][9 * matched_state["token"] :][:9]) > 0.7
    address = query_with(visitor, matched_state["arrows"])
    assert drawn_arrows(lesson("by_hand", address))["arrows"] == matched_state["arrows"]


def test_a_patch_attends_to_patches_of_its_colour(lesson):
    visitor = lesson("by_hand", "sample=twins&patch=16")
    visitor.drawing(FRIENDS, "r => !r.still")
    image = Image.open(named("twins").path).convert("RGB")
    rows, columns = (side // 16 for side in fit(image.size, 16, (224, 224)))
    visitor.page.mouse.move(*place_on(canvas_of(visitor, FRIENDS, "picture"), 2.5 / columns, 1.5 / rows))
    hovered_state = visitor.drawing(FRIENDS, f"r => !r.still && r.at === {columns + 2}")
    assert_close(hovered_state["row"], colour_row(image, 16, columns + 2, hovered_state["temperature"]), 1e-3)
    visitor.page.get_by_label("temperature").fill("0")
    assert visitor.drawing(FRIENDS, "r => !r.still && r.temperature === 1")["row"][0] < 1.2 / (rows * columns)
    reopened = lesson("by_hand", query_with(visitor, "temperature=1"))
    assert reopened.drawing(FRIENDS, "r => !r.still && r.temperature === 1")["at"] == columns + 2


# Shapes, code, weight


@pytest.mark.slow
def test_stepping_shows_the_next_tensor_and_the_link_brings_it_back(lesson):
    visitor = lesson("shapes", "example=sentence")
    assert visitor.drawing("*", "r => r.step === 1")["shape"] == [1, 4, 512]
    visitor.page.locator(".walk [data-step='4']").click()
    weights_state = visitor.drawing("*", "r => r.step === 5")
    assert weights_state["shape"] == [1, 8, 4, 4]
    row_sums = [sum(weights_state["groups"][0]["values"][i : i + 4]) for i in range(0, 8 * 16, 4)]
    assert all(abs(total - 1) < 2e-3 for total in row_sums)
    reopened_state = lesson("shapes", query_with(visitor, "walk=5")).drawing("*", "r => r.step === 5")
    assert reopened_state["groups"] == weights_state["groups"]


def test_the_formula_stands_in_the_line_that_it_belongs_to(lesson):
    visitor = lesson("code", "part=layer")
    line = visitor.page.locator(".read .noted").filter(has_text="self.ls1(mixture)")
    line.wait_for()
    assert "MSA(LN(" in line.locator("em").inner_text()
    visitor.page.get_by_role("button", name="Heads", exact=True).click()
    visitor.page.locator(".read .noted").filter(has_text="self.qkv(x)").wait_for()
    query_with(visitor, "part=heads")


def test_weight_and_contribution_follow_the_cursor_and_the_link(lesson):
    visitor = lesson("weight")
    state_before = visitor.drawing("*", "r => r.weights")
    canvas = visitor.page.locator(".drawing canvas").first
    canvas.scroll_into_view_if_needed()
    visitor.page.mouse.click(*place_on(canvas, 0.2, 0.2))
    state_after = visitor.drawing("*", f"r => r.patch !== {state_before['patch']}")
    assert abs(sum(state_after["weights"]) - 1) < 1e-3
    assert state_after["weights"] != state_before["weights"]
    for channel in state_after["desk"]:
        assert channel["heard"] == pytest.approx(channel["weight"] * channel["loud"])
    reopened = lesson("weight", query_with(visitor, "look="))
    assert reopened.drawing("*", f"r => r.patch === {state_after['patch']}")["tops"] == state_after["tops"]


# Scale and cost


@pytest.mark.slow
def test_the_dials_turn_the_row_at_once_and_the_link_opens_it_again(lesson):
    visitor = lesson("scale", "step=rows")
    assert len(visitor.drawing(BARS)["weights"]) == scale.KEY_COUNT
    row_state = visitor.page.evaluate(TURN_DIALS, [512, 0])  # in one task, so no server can have answered
    scores = scale.experiment()[0, scale.WIDTHS.index(512)]
    for name, value in scale.measured(scores, 1.0).items():
        assert row_state[name] == pytest.approx(float(value), abs=1e-3)
    query_with(visitor, "dk=512")
    visitor.page.reload()
    assert visitor.drawing(BARS, "r => r.dk === 512 && r.power === 0")["peak"] == pytest.approx(row_state["peak"])


def test_the_classic_cases_turn_the_picture_and_stand_in_the_address(lesson):
    page = lesson("cost").page
    page.get_by_text("38,416", exact=True).wait_for()
    page.get_by_text("1,024 px, patch 16").click()
    page.get_by_text("16,777,216", exact=True).wait_for()
    page.wait_for_url("**image=1024**")
    page.get_by_text("One head: 16,777,216 scores, to scale").wait_for()
    page.reload()
    page.get_by_text("16,777,216", exact=True).wait_for()
    lesson("cost", "width=1024").page.get_by_text("1024 can't be shared out evenly among 12 heads").wait_for()


# Heads and training


def test_the_atlas_says_what_python_says_and_its_measure_changes_its_colours(lesson):
    page = lesson("heads", "sample=flock&step=atlas").page
    habits = measure_heads(python_trace("flock"))
    page.locator('.atlas [data-layer="2"][data-head="3"]').hover()
    card = page.locator(".atlas .card")
    card.get_by_text("Layer 2 · head 3").wait_for()
    assert card.locator(".habit").inner_text().lower() == habits.habit_names()[2][3].lower()
    assert f"{habits.entropy[2, 3]:.2f} bits" in card.inner_text()
    assert f"{habits.distance[2, 3]:.1f} patches" in card.inner_text()
    cells, read_colours = page.locator(".atlas .cell"), "cells => cells.map((c) => c.style.background)"
    colours_before = cells.evaluate_all(read_colours)
    page.get_by_role("button", name="distance", exact=True).click()
    page.locator('.atlas[data-measure="distance"]').wait_for()
    assert cells.evaluate_all(read_colours) != colours_before
    page.wait_for_url("**measure=distance**")


def test_the_picture_of_the_training_is_the_model_s_row_at_every_moment(lesson):
    visitor, moments = lesson("training"), timelapse.read(TIMELAPSE).moments
    state = visitor.drawing(REEL, "r => r.painted")
    assert state["step"] == moments[-1].step
    rows, columns = state["grid"]
    for number, (row, column) in ((0, (2, 3)), (len(moments) // 2, (9, 9)), (len(moments) - 1, (5, 1))):
        step = moments[number].step
        visitor.page.locator(f'{REEL} [data-ref="ticks"]').get_by_role("button").nth(number).click()
        visitor.drawing(REEL, f"r => r.painted && r.step === {step}")
        visitor.page.wait_for_url(f"**moment={step}*")
        picture = visitor.page.locator(f'{REEL} [data-ref="picture"]')
        picture.scroll_into_view_if_needed()
        visitor.page.mouse.move(*place_on(picture, (column + 0.5) / columns, (row + 0.5) / rows))
        state = visitor.drawing(REEL, f"r => r.painted && r.step === {step} && r.patch === '{row},{column}'")
        trace = Trace.from_bytes(moments[number].trace)
        np.testing.assert_allclose(state["row"], trace.row(state["layer"], state["head"], (row, column)), atol=1e-5)
