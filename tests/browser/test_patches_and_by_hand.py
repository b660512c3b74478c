"""The lessons Patches and By hand in a browser: the mouse changes the drawings, the numbers are Python's, and a link
restores the page."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from PIL import Image

from browser.truth import assert_close, colour_row
from browser.visitor import Visitor, with_small_picture
from playground.analysis import by_hand
from playground.pictures.images import fit
from playground.samples import named

# For each drawing, a selector of something that only this drawing contains.
ARROWS, FRIENDS = '[data-ref="matrix"]', '[data-ref="mosaic"]'


class Reader(Visitor):
    def turn_to(self, page: str, address: str = "") -> Reader:
        self.page.goto(f"{self.url}/{page}?{with_small_picture(address)}")
        return self

    def until_drawn(self, name: str, condition: str = "true") -> dict:
        return self.drawing(name, f"r => !r.still && ({condition})")

    def canvas(self, drawing: str, name: str):
        return self.page.locator(".drawing").filter(has=self.page.locator(drawing)).locator(f'[data-ref="{name}"]')

    def point(self, drawing: str, name: str, x_share: float, y_share: float) -> tuple[float, float]:
        """Moves the mouse to a place on a canvas, in shares of its width and height; returns the place on the page."""
        canvas = self.canvas(drawing, name)
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        place = box["x"] + x_share * box["width"], box["y"] + y_share * box["height"]
        self.page.mouse.move(*place)
        return place

    def button(self, drawing: str, words: str):
        return self.page.locator(".drawing").filter(has=self.page.locator(drawing)).get_by_role("button", name=words)

    def link_with(self, part: str) -> str:
        self.page.wait_for_url(lambda url: part in url)
        return urlsplit(self.page.url).query


@pytest.fixture
def read(arrive, server):
    """read("patches", "sample=twins") gives a Reader on that page."""
    return lambda page, address="", **options: arrive(Reader, server.url, **options).turn_to(page, address)


def sample(name: str) -> Image.Image:
    return Image.open(named(name).path).convert("RGB")


def weights_by_formula(arrows: str) -> list[float]:
    """softmax(q·kᵀ/√2) of nine tokens whose queries and keys are two-dimensional."""
    q, k = by_hand.arrows_from_text(arrows, tokens=18).chunk(2)
    return (q @ k.T / 2**0.5).softmax(-1).flatten().tolist()


def test_a_dragged_arrow_changes_the_matrix_and_the_link(read):
    reader = read("by_hand")
    state_before = reader.until_drawn(ARROWS)
    assert_close(state_before["weights"], weights_by_formula(state_before["arrows"]), 1e-6)
    canvas = reader.canvas(ARROWS, "grid")
    canvas.scroll_into_view_if_needed()
    box, tip = canvas.bounding_box(), reader.until_drawn(ARROWS)["tips"][0]["k"]
    reader.page.mouse.move(box["x"] + tip[0], box["y"] + tip[1])
    reader.page.mouse.down()
    reader.page.mouse.move(box["x"] + tip[0] - 30, box["y"] + tip[1] + 20, steps=3)
    reader.page.mouse.up()
    state_after = reader.until_drawn(ARROWS, f"r.arrows !== '{state_before['arrows']}'")
    assert_close(state_after["weights"], weights_by_formula(state_after["arrows"]), 1e-6)
    reader.button(ARROWS, "Make one key match").click()
    matched_state = reader.until_drawn(ARROWS, f"r.arrows !== '{state_after['arrows']}'")
    row = matched_state["weights"][9 * matched_state["token"] :][:9]
    assert max(row) > 0.7
    address = reader.link_with(matched_state["arrows"])
    reopened_state = read("by_hand", address).until_drawn(ARROWS)
    assert reopened_state["arrows"] == matched_state["arrows"]


def test_a_patch_attends_to_patches_of_its_colour(read):
    reader = read("by_hand", "sample=twins&patch=16")
    reader.until_drawn(FRIENDS)
    rows, columns = (side // 16 for side in fit(sample("twins").size, 16, (224, 224)))
    reader.point(FRIENDS, "picture", 2.5 / columns, 1.5 / rows)
    hovered_state = reader.until_drawn(FRIENDS, f"r.at === {columns + 2}")
    expected_row = colour_row(sample("twins"), 16, columns + 2, hovered_state["temperature"])
    assert_close(hovered_state["row"], expected_row, 1e-3)
    reader.page.get_by_label("temperature").fill("0")
    assert reader.until_drawn(FRIENDS, "r.temperature === 1")["row"][0] < 1.2 / (rows * columns)
    address = reader.link_with("temperature=1")
    reopened_state = read("by_hand", address).until_drawn(FRIENDS, "r.temperature === 1")
    assert reopened_state["at"] == columns + 2
