"""The microscope shows what Python computes, and follows the pointer, keys and buttons."""

import io
from itertools import pairwise

from PIL import Image

from browser.truth import CLOSE, assert_close, entropy, largest_difference, seen, sent

PATCHES = ((0, 0), (7, 5), (12, 11))


def test_the_first_picture_appears_with_no_action_and_has_attention_in_it(visit):
    visitor = visit()
    state = visitor.read()
    assert abs(sum(state["row"]) - 1) < CLOSE
    assert state["peak"] > 2 / len(state["row"])
    colours = visitor.part("picture").evaluate(
        "c => new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size"
    )
    assert colours > 1000
    assert visitor.page.locator('.strip [data-sample="meadow"]').get_attribute("aria-pressed") == "true"


def test_the_row_under_the_cursor_is_python_s_row(visitor):
    truth, rows = sent(), []
    for layer in (0, truth.layers // 2, truth.layers - 1):
        visitor.layer(layer)
        for head in (0, truth.heads - 1):
            visitor.head(head)
            for patch in PATCHES:
                state = visitor.hover(patch)
                assert (state["layer"], state["head"]) == (layer, head)
                assert_close(state["row"], truth.row(layer, head, patch), 1e-4)
                assert_close(state["row"], seen().row(layer, head, patch), 2e-3)  # the error of 16-bit numbers
                rows.append(state["row"])
    assert all(largest_difference(a, b) > CLOSE for a, b in pairwise(rows))


def test_the_switch_changes_the_entropy_to_what_python_computes(visitor):
    state, truth = visitor.lock((7, 5)), sent()
    place = state["layer"], state["head"], (7, 5)
    assert abs(state["entropy"] - entropy(truth.row(*place))) < CLOSE
    switch = visitor.part("switch")
    switch.click()
    state = visitor.until("r => r.scale === 1")
    assert switch.get_attribute("aria-checked") == "false"
    assert abs(state["entropy"] - entropy(truth.row(*place, scale="off"))) < CLOSE
    assert_close(state["row"], truth.row(*place, scale="off"))
    assert "in this layer only" in visitor.part("badge").inner_text()
    switch.click()
    visitor.until("r => r.scale < 1")
    assert not visitor.part("badge").is_visible()


def test_a_png_of_both_pictures_comes_at_one_two_and_four_times_its_size(visitor):
    sizes = {}
    for factor in (1, 2, 4):
        visitor.part("saving").click()
        button = visitor.page.locator(f'.lens [data-save="{factor}"]').nth(1)
        with visitor.page.expect_download() as download:
            button.click()
        file = Image.open(io.BytesIO(download.value.path().read_bytes()))
        assert file.format == "PNG"
        assert download.value.suggested_filename.endswith(f"@{factor}x.png" if factor > 1 else ".png")
        sizes[factor] = file.size
        left, middle = 6 * factor, file.size[1] // 2
        assert file.convert("L").crop((0, 0, left, middle)).getextrema() == (255, 255), "the left margin is white"
    box = visitor.part("pictureBox").bounding_box()
    assert sizes[1][0] >= 2 * box["width"]
    assert sizes[1][1] > box["height"]
    for factor in (2, 4):
        assert sizes[factor] == (sizes[1][0] * factor, sizes[1][1] * factor)
