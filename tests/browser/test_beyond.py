"""The app's views beyond the weights show what Python computes: relevance of a label, occlusion, the logit lens,
cuts, and a patch of another picture."""

import pytest

import playground
from browser.truth import assert_close, model, python_trace
from playground.samples import named

ADDRESS = "sample=meadow&model=bundled&detail=1&layer=4&head=0"
LOCKED_PATCH = (7, 5)


def part(visitor, name):
    return visitor.reach(name)


def trace(sample="meadow", cut=()):
    return playground.trace(model(), playground.open_image(named(sample).path), size=python_trace().size, cut=cut)


def test_relevance_of_a_label_is_chosen_by_its_name_and_stands_in_the_address(go):
    visitor = go(f"{ADDRESS}&what=relevance&query=7,5&locked=true")
    visitor.until("r => r.map")
    chooser = part(visitor, ".explained select[aria-label='What is explained']")
    chooser.locator("option", has_text="animal or face").wait_for(state="attached")
    chooser.select_option("1")
    visitor.page.wait_for_function("() => new URLSearchParams(location.search).get('label') === '1'")
    part(visitor, ".see-says").filter(has_text="speaks most for “animal or face”").wait_for()
    state = visitor.until("r => r.map && Math.min(...r.map) < 0")
    truth = python_trace().relevance(label=1)
    assert_close(state["map"], truth)
    largest = float(python_trace().on_grid(truth).abs().max())
    assert state["domain"]["low"] == -state["domain"]["high"] == pytest.approx(-largest, rel=2e-3)
    text = part(visitor, ".see-says").inner_text()
    for sign, words in ((1, "speaks most for"), (-1, "most against it")):
        row, column = divmod(int((sign * python_trace().on_grid(truth)).argmax()), python_trace().grid[1])
        assert f"row {row}, column {column} {words}" in text, text
    second_visitor = go(f"{ADDRESS}&what=relevance&label=1")
    assert_close(second_visitor.until("r => r.map")["map"], python_trace().relevance(label=1))


def test_a_whole_head_is_cut_and_the_labels_that_change_most_are_named(go):
    visitor = go(f"{ADDRESS}&query=7,5&locked=true")
    visitor.open_row("change")
    visitor.page.get_by_role("button", name="cut this head").click()
    state = visitor.until("r => r.pass === 'whole'")
    assert state["row"][python_trace().token(LOCKED_PATCH)] == 1
    scores_before, scores_after = (
        trace_of_pass.logits.sigmoid() for trace_of_pass in (python_trace(), trace(cut="*>*@4.0"))
    )
    most_changed = int((scores_after - scores_before).abs().argmax())
    name = model().config.labels[most_changed]
    part(visitor, ".cuts [data-labels]").filter(has_text=name).wait_for()


def test_a_patch_of_the_compared_picture_is_put_into_this_one(go):
    visitor = go(f"{ADDRESS}&query=9,5&locked=true&beside=compare&with=sample:flock")
    visitor.open_row("change")
    visitor.page.get_by_role("button", name="put the other picture's patch here").click()
    visitor.until("r => r.pass === 'whole'")
    assert "cut=residual%404%3A9%2C5" in visitor.page.url
