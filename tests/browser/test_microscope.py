"""What the microscope shows is what Python computes, and it follows hands, keys and buttons."""

import io
from itertools import pairwise

import pytest
from PIL import Image

from browser.truth import CLOSE, apart, assert_close, entropy, seen, sent

PATCHES = ((0, 0), (7, 5), (12, 11))


def test_the_first_picture_appears_with_no_action_and_has_attention_in_it(visit):
    visitor = visit()
    shown = visitor.read()
    assert abs(sum(shown["row"]) - 1) < CLOSE
    assert shown["peak"] > 2 / len(shown["row"])
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
                shown = visitor.hover(patch)
                assert (shown["layer"], shown["head"]) == (layer, head)
                assert_close(shown["row"], truth.row(layer, head, patch), 1e-4)
                assert_close(shown["row"], seen().row(layer, head, patch), 2e-3)  # what sixteen bits cost
                rows.append(shown["row"])
    assert all(apart(a, b) > CLOSE for a, b in pairwise(rows))


def test_the_switch_changes_the_entropy_to_what_python_computes(visitor):
    shown, truth = visitor.lock((7, 5)), sent()
    where = shown["layer"], shown["head"], (7, 5)
    assert abs(shown["entropy"] - entropy(truth.row(*where))) < CLOSE
    switch = visitor.part("switch")
    switch.click()
    shown = visitor.until("r => r.scale === 1")
    assert switch.get_attribute("aria-checked") == "false"
    assert abs(shown["entropy"] - entropy(truth.row(*where, scale="off"))) < CLOSE
    assert_close(shown["row"], truth.row(*where, scale="off"))
    assert "in this layer only" in visitor.part("badge").inner_text()
    switch.click()
    visitor.until("r => r.scale < 1")
    assert not visitor.part("badge").is_visible()


def test_the_dial_at_zero_makes_every_row_uniform(visitor):
    visitor.part("dial").fill("0")
    shown = visitor.until("r => r.scale === 0")
    assert_close(shown["row"], 1 / len(shown["row"]), 1e-6)
    assert abs(shown["effective"] - len(shown["row"])) < 0.01
    assert visitor.part("big").inner_text() == str(len(shown["row"]))


def test_a_click_locks_a_patch_and_escape_or_a_click_on_it_lets_go(visitor):
    visitor.lock((3, 4))
    visitor.aim((10, 10))
    visitor.leave()
    visitor.until("r => r.query === '3,4' && r.locked && !r.aim")
    assert "locked at row 3, column 4" in visitor.part("lock").inner_text()
    visitor.page.keyboard.press("Escape")
    visitor.until("r => !r.locked")
    visitor.lock((3, 4))
    visitor.page.mouse.click(*visitor.place((3, 4)))
    visitor.until("r => !r.locked")


def test_keys_move_the_patch_and_choose_layer_head_and_switch(visitor):
    shown = visitor.lock((7, 5))
    layer, head = shown["layer"], shown["head"]
    for key, query in (("ArrowUp", "6,5"), ("ArrowRight", "6,6"), ("ArrowDown", "7,6"), ("ArrowLeft", "7,5")):
        visitor.page.keyboard.press(key)
        visitor.until(f"r => r.locked && r.query === '{query}'")
    for key, then in (
        ("[", f"r.layer === {layer - 1}"),
        ("]", f"r.layer === {layer}"),
        (".", f"r.head === {head + 1}"),
        (",", f"r.head === {head}"),
        ("2", "r.head === 2"),
        ("s", "r.scale === 1"),
        ("Escape", "!r.locked"),
    ):
        visitor.page.keyboard.press(key)
        visitor.until(f"r => {then}")


def test_arrows_stop_at_the_border(visitor):
    visitor.lock((0, 0))
    visitor.page.keyboard.press("ArrowUp")
    visitor.page.keyboard.press("ArrowLeft")
    visitor.page.keyboard.press("ArrowRight")
    visitor.until("r => r.query === '0,1'")


def test_the_wall_shows_every_head_and_a_click_chooses_one(visitor):
    truth = seen()
    visitor.part("wallTab").click()
    visitor.until()
    box = visitor.part("wall").bounding_box()
    for at, layer, head in (((0.95, 0.95), truth.layers - 1, truth.heads - 1), ((0.12, 0.1), 0, 0)):
        visitor.page.mouse.click(box["x"] + at[0] * box["width"], box["y"] + at[1] * box["height"])
        shown = visitor.until(f"r => r.layer === {layer} && r.head === {head}")
        assert_close(shown["row"], truth.rows(layer, tuple(int(n) for n in shown["query"].split(",")))[head])


def test_special_tokens_can_ask_too(visitor):
    truth = seen()
    for name in (truth.prefix[0], truth.prefix[-1]):
        visitor.page.locator(f'.lens [data-token="{name}"]').click()
        shown = visitor.until(f"r => r.query === '{name}'")
        assert_close(shown["row"], truth.row(shown["layer"], shown["head"], name))


def test_what_the_special_tokens_take_is_printed(visitor):
    shown = visitor.hover((7, 5))
    printed = visitor.part("shares").locator("dd").all_inner_texts()
    assert len(printed) == len(shown["prefix"])
    for text, share in zip(printed, shown["prefix"].values(), strict=True):
        assert abs(float(text.strip("<% ").replace(",", "")) / 100 - share) < 0.006


def test_a_column_is_python_s_column(visitor):
    visitor.choice("direction", "column").click()
    shown = visitor.hover((7, 5))
    shown = visitor.until("r => r.direction === 'column' && r.query === '7,5' && r.ready")
    assert_close(shown["row"], seen().column(shown["layer"], shown["head"], (7, 5)))
    assert "Who listens to" in visitor.page.locator(".lens .title h2").inner_text()


def test_weight_times_value_and_raw_scores_are_python_s(visitor):
    truth = sent()
    shown = visitor.lock((7, 5))
    where = shown["layer"], shown["head"]
    visitor.more()
    visitor.choice("what", "value").click()
    shown = visitor.until("r => r.what === 'value'")
    assert_close(shown["drawn"], truth.row(*where, (7, 5)) * truth.value_norms(where[0])[where[1]])
    visitor.choice("what", "score").click()
    shown = visitor.until("r => r.what === 'score'")
    assert_close(shown["drawn"], truth.scores(*where, (7, 5)))


@pytest.mark.parametrize("both", [False, True], ids=["this picture", "both pictures"])
def test_a_png_comes_at_one_two_and_four_times_its_size(visitor, both):
    sizes = {}
    for factor in (1, 2, 4):
        visitor.part("saving").click()
        button = visitor.page.locator(f'.lens [data-save="{factor}"]').nth(1 if both else 0)
        with visitor.page.expect_download() as coming:
            button.click()
        file = Image.open(io.BytesIO(coming.value.path().read_bytes()))
        assert file.format == "PNG"
        assert coming.value.suggested_filename.endswith(f"@{factor}x.png" if factor > 1 else ".png")
        sizes[factor] = file.size
        left, middle = 6 * factor, file.size[1] // 2
        assert file.convert("L").crop((0, 0, left, middle)).getextrema() == (255, 255), "the left margin is white"
    box = visitor.part("pictureBox").bounding_box()
    assert sizes[1][0] >= box["width"] * (2 if both else 1)
    assert sizes[1][1] > box["height"]
    for factor in (2, 4):
        assert sizes[factor] == (sizes[1][0] * factor, sizes[1][1] * factor)


def test_presenting_fills_the_window_and_gives_it_back(visitor):
    visitor.part("present").click()
    visitor.page.locator(".lens.presenting").wait_for()
    visitor.until()
    box = visitor.page.locator(".lens").bounding_box()
    assert (box["x"], box["y"]) == (0, 0)
    visitor.part("present").click()
    visitor.page.locator(".lens:not(.presenting)").wait_for()


def test_screen_readers_hear_the_row_in_a_sentence(visitor):
    visitor.lock((7, 5))
    live = visitor.part("live")
    visitor.page.wait_for_function(
        "e => /^row 7, column 5 in layer \\d+, head \\d+ gives .* % to .* and .* % to /.test(e.textContent)",
        arg=live.element_handle(),
    )
