"""The microscope shows what Python computes, and follows the pointer, keys and buttons."""

from itertools import pairwise

from browser.truth import TOLERANCE, assert_close, entropy, largest_difference, python_trace, rounded_trace

PATCHES = ((0, 0), (7, 5), (12, 11))


def test_the_row_under_the_cursor_is_python_s_row(visitor):
    truth, rows = rounded_trace(), []
    for layer in (0, truth.layers // 2, truth.layers - 1):
        visitor.choose_layer(layer)
        for head in (0, truth.heads - 1):
            visitor.choose_head(head)
            for patch in PATCHES:
                state = visitor.hover(patch)
                assert (state["layer"], state["head"]) == (layer, head)
                assert_close(state["row"], truth.row(layer, head, patch), 1e-4)
                assert_close(state["row"], python_trace().row(layer, head, patch), 2e-3)  # the error of 16-bit numbers
                rows.append(state["row"])
    assert all(largest_difference(a, b) > TOLERANCE for a, b in pairwise(rows))


def test_the_switch_changes_the_entropy_to_what_python_computes(visitor):
    state, truth = visitor.lock((7, 5)), rounded_trace()
    row_key = state["layer"], state["head"], (7, 5)
    assert abs(state["entropy"] - entropy(truth.row(*row_key))) < TOLERANCE
    switch = visitor.part("switch")
    switch.click()
    state = visitor.until("r => r.scale === 1")
    assert switch.get_attribute("aria-checked") == "false"
    assert abs(state["entropy"] - entropy(truth.row(*row_key, scale="off"))) < TOLERANCE
    assert_close(state["row"], truth.row(*row_key, scale="off"))
    assert "in this layer only" in visitor.part("badge").inner_text()
    switch.click()
    visitor.until("r => r.scale < 1")
    assert not visitor.part("badge").is_visible()
