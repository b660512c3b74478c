"""Scissors and relevance in the app: cutting heads or patches, the row after a cut, undo, and cuts in a link."""

import playground
from browser.truth import assert_close, model, python_trace
from playground.samples import named

LOCKED_PATCH, OTHER_PATCH = (7, 5), (2, 11)


def trace_with_cut(cut):
    image = playground.open_image(named("meadow").path)
    return playground.trace(model(), image, size=python_trace().size, cut=cut)


def cut_edge(visitor) -> dict:
    visitor.lock(LOCKED_PATCH)
    visitor.aim(OTHER_PATCH)
    visitor.page.keyboard.press("x")
    return visitor.until("r => r.pass === 'whole'")


def test_a_cut_edge_has_no_weight_and_the_others_are_those_of_a_pass_without_it(go):
    visitor = go("sample=meadow&model=bundled&detail=1")
    state = cut_edge(visitor)
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
