"""The lesson on heads in a browser: the atlas answers the mouse and opens the microscope, and its switches work."""

from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from browser.truth import model, python_trace
from browser.visitor import Visitor, finish_exercise, with_small_picture
from playground.analysis.ablation import ablation_effect
from playground.analysis.heads import measure_heads


@pytest.fixture
def lesson(arrive, server):
    """lesson("measure=distance") gives a visitor on the lesson Heads."""

    def open_(address: str = "", **options):
        visitor = arrive(Visitor, server.url, **options)
        visitor.page.goto(f"{visitor.url}/heads?{with_small_picture(address)}")
        visitor.page.locator(".atlas .cell, .board .cell").first.wait_for()
        return visitor

    return open_


def cell(page, layer: int, head: int, board: str = "atlas"):
    return page.locator(f'.{board} [data-layer="{layer}"][data-head="{head}"]')


def colours(page) -> list[str]:
    return page.locator(".atlas .cell").evaluate_all("cells => cells.map((c) => c.style.background)")


def test_the_atlas_says_what_python_says_and_its_measure_changes_its_colours(lesson):
    page = lesson("sample=flock&step=atlas").page
    habits = measure_heads(python_trace("flock"))
    cell(page, 2, 3).hover()
    card = page.locator(".atlas .card")
    card.get_by_text("Layer 2 · head 3").wait_for()
    assert card.locator(".habit").inner_text().lower() == habits.habit_names()[2][3].lower()
    assert f"{habits.entropy[2, 3]:.2f} bits" in card.inner_text()
    assert f"{habits.distance[2, 3]:.1f} patches" in card.inner_text()
    colours_before = colours(page)
    page.get_by_role("button", name="distance", exact=True).click()
    page.locator('.atlas[data-measure="distance"]').wait_for()
    assert colours(page) != colours_before
    page.wait_for_url("**measure=distance**")


def test_a_link_restores_the_measure_and_the_switches(lesson):
    page = lesson("sample=flock&measure=self&off=1.2+3.0").page
    page.locator('.atlas[data-measure="self"]').wait_for()
    page.get_by_role("button", name="Switch a head off").first.click()
    page.locator('.board[data-off="1.2 3.0"]').wait_for()
    assert cell(page, 3, 0, "board").get_attribute("aria-pressed") == "true"
    query = parse_qs(urlsplit(page.url).query)
    assert (query["measure"], query["off"]) == (["self"], ["1.2 3.0"])


def test_a_click_opens_the_head_in_the_microscope(lesson):
    visitor = lesson("sample=flock&step=atlas")
    link = cell(visitor.page, 3, 4).get_attribute("href")
    assert parse_qs(urlsplit(link).query) == {
        "model": ["bundled"], "sample": ["flock"], "layer": ["3"], "head": ["4"],
    }  # fmt: skip
    cell(visitor.page, 3, 4).click()
    state = visitor.until("r => r.layer === 3 && r.head === 4")
    truth = python_trace("flock").row(3, 4, tuple(int(n) for n in state["query"].split(",")))
    assert np.abs(np.array(state["row"]) - truth.numpy()).max() < 1e-3


def test_one_click_switches_a_head_off_and_another_one_on_again(lesson):
    page = lesson("step=off").page
    layer = python_trace().layers // 2
    head = int(np.nanargmax(measure_heads(python_trace()).effect[layer]))  # a head that adds something
    without_head = ablation_effect(python_trace(), {(layer, head)})
    cell(page, layer, head, "board").click()
    page.locator(f'.board[data-off="{layer}.{head}"]:not(.waiting)').wait_for()
    page.wait_for_url(f"**off={layer}.{head}**")
    captions = page.locator(".film figcaption").all_inner_texts()
    changes = without_head.change[:, len(python_trace().prefix) :].mean(1)
    is_unchanged = [caption.startswith(f"layer {i}: 0 %") for i, caption in enumerate(captions)]
    assert is_unchanged[: layer + 1] == [True] * layer + [False]
    for text, change in zip(captions, changes.tolist(), strict=True):
        assert abs(float(text.split(":")[1].split("%")[0]) - 100 * change) < 0.6
    label, share_before, share_after = without_head.predictions(model().config.labels)[0]
    line = page.locator(".prediction .line").filter(has_text=label).first.inner_text()
    for share in (share_before, share_after):
        assert f"{100 * share:.0f} %" in line or f"{100 * share:.1f} %" in line
    page.get_by_text("switch all on").click()
    page.locator('.board[data-off=""]').wait_for()
    page.wait_for_url(lambda url: "off=" not in url.replace("step=off", ""))
    cell(page, layer, head, "board").click()
    page.locator(f'.board[data-off="{layer}.{head}"]:not(.waiting)').wait_for()


@pytest.mark.slow
def test_the_number_of_a_layer_switches_all_its_heads(lesson):
    page = lesson("step=off&off=1.2").page
    page.get_by_role("button", name="4", exact=True).click()
    page.locator('.board[data-off="1.2 4.0 4.1 4.2 4.3 4.4 4.5"]:not(.waiting)').wait_for()
    finish_exercise(page, "heads_layer_off")


@pytest.mark.slow
def test_over_all_samples_the_numbers_have_a_spread(lesson):
    page = lesson("over=samples").page
    assert "±" in page.locator(".atlas .card").inner_text()


@pytest.mark.parametrize("step", ["atlas", pytest.param("off", marks=pytest.mark.slow)])
def test_on_a_phone_nothing_is_cut_off(lesson, step):
    page = lesson(f"off=2.1&step={step}", viewport={"width": 390, "height": 844}, color_scheme="dark").page
    width_script = "[...document.querySelectorAll('html, body')].map((e) => e.scrollWidth - e.clientWidth)"
    assert max(page.evaluate(width_script)) <= 0
    board_parts = (".board .headgrid", ".board .prediction", ".board .film")
    for part in board_parts if step == "off" else (".atlas .headgrid", ".atlas .card"):
        box = page.locator(part).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
