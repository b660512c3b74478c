"""The wall with the maps of all heads loads by itself; the film under the picture shows one patch in all layers."""

import pytest
from waiting import until

from browser.own_picture import hand_over, picture
from browser.truth import python_trace
from playground.analysis.heads import HABITS

LARGE_TRACE = {"model": "ViT-S/16", "detail": 2, "sample": "meadow"}


def test_the_film_shows_every_layer_a_click_goes_there_and_dragging_plays_them(visit):
    visitor, truth = visit("sample=meadow&model=bundled&detail=1"), python_trace()
    film = visitor.page.locator(".lens .film canvas")
    box = film.bounding_box()

    def place(layer: int) -> tuple[float, float]:
        return box["x"] + (layer + 0.5) * box["width"] / truth.layers, box["y"] + box["height"] / 2

    visitor.page.mouse.click(*place(1))
    visitor.until("r => r.layer === 1")
    visitor.page.mouse.move(*place(0))
    visitor.page.mouse.down()
    for layer in range(truth.layers):
        visitor.page.mouse.move(*place(layer))
        visitor.until(f"r => r.layer === {layer}")
    visitor.page.mouse.up()
    read_pixels = "c => Array.from(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).join()"
    pictures = set()
    visitor.open_more()
    for film_kind in ("head", "sharpest", "mean"):
        visitor.page.locator(f'.lens [data-film="{film_kind}"][aria-pressed]').click()
        visitor.page.locator(f'.lens [data-film="{film_kind}"][aria-pressed="true"]').wait_for()
        visitor.until()
        pictures.add(film.evaluate(read_pixels))
    assert len(pictures) == 3


@pytest.mark.slow
def test_below_a_panorama_the_film_fills_the_free_band_in_several_lines(visit):
    visitor = visit("model=bundled&detail=1", viewport={"width": 1280, "height": 720})
    hand_over(visitor, "drop", picture(900, 300))
    visitor.page.locator(".lens.filled").wait_for()
    visitor.rest()

    def space_below() -> float:
        legend_box = visitor.part("legend").bounding_box()
        return 720 - (legend_box["y"] + legend_box["height"])

    until(lambda: 0 <= space_below() < 60, "the film's legend ends the window")
    film = visitor.page.locator(".lens .film canvas")
    box = film.bounding_box()
    film.click(position={"x": box["width"] / 6, "y": 0.75 * box["height"]})
    visitor.until("r => r.layer === 3")  # layers 0–2 stand in the first line, so the second begins with 3


@pytest.mark.slow
def test_the_film_is_painted_before_anybody_looks_and_heads_carry_the_name_of_their_habit(visit):
    visitor = visit(LARGE_TRACE)
    film = visitor.page.locator(".lens .film canvas")
    read_opacities = """c => Array.from({ length: 12 }, (_, i) => {
      const x = Math.floor(((i + 0.5) * c.width) / 12);
      return c.getContext("2d").getImageData(x, c.height >> 1, 1, 1).data[3];
    })"""
    visitor.page.wait_for_function(f"c => ({read_opacities})(c).every((alpha) => alpha > 0)", arg=film.element_handle())
    habit_names = visitor.page.locator(".lens .heads .habit")
    habit_names.first.wait_for()
    assert habit_names.count() == 6
    assert set(habit_names.all_inner_texts()) <= {habit.short for habit in HABITS} | {"left", "right", "up", "down"}
    visitor.part("switch").click()  # without the scale, heads carry no names of habits
    habit_names.first.wait_for(state="detached")
