"""The wall with the maps of all heads loads by itself; the film shows one patch in all layers."""

import pytest

from browser.truth import python_trace
from playground.analysis.heads import HABITS

LARGE_TRACE = {"model": "ViT-S/16", "detail": 2, "sample": "meadow"}


def test_the_film_shows_every_layer_a_click_goes_there_and_dragging_plays_them(visit):
    visitor, truth = visit("sample=meadow&model=bundled&detail=1"), python_trace()
    film = visitor.reach(".film canvas")
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
    for film_kind in ("head", "sharpest", "mean"):
        visitor.page.locator(f'.lens [data-film="{film_kind}"][aria-pressed]').click()
        visitor.page.locator(f'.lens [data-film="{film_kind}"][aria-pressed="true"]').wait_for()
        visitor.until()
        pictures.add(film.evaluate(read_pixels))
    assert len(pictures) == 3


@pytest.mark.slow
def test_the_film_has_all_layers_and_heads_carry_the_name_of_their_habit(visit):
    visitor = visit(LARGE_TRACE)
    film = visitor.reach(".film canvas")
    read_opacities = """c => Array.from({ length: 12 }, (_, i) => {
      const [x, y] = [((i % 6) + 0.5) * c.width / 6, (Math.floor(i / 6) + 0.5) * c.height / 2];
      return c.getContext("2d").getImageData(x, y, 1, 1).data[3];
    })"""
    visitor.page.wait_for_function(f"c => ({read_opacities})(c).every((alpha) => alpha > 0)", arg=film.element_handle())
    habit_names = visitor.page.locator(".lens .heads .habit")
    habit_names.first.wait_for()
    assert habit_names.count() == 6
    assert {name.split()[0] for name in habit_names.all_inner_texts()} <= {habit.short for habit in HABITS} | {
        "left",
        "right",
        "up",
        "down",
    }
    visitor.page.keyboard.press("s")  # without the scale, heads carry no names of habits
    habit_names.first.wait_for(state="detached")
