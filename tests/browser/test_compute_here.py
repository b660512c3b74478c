"""PLAYGROUND_COMPUTE=browser: a person's own photograph is computed by their own machine."""

import re

import numpy as np
import pytest

from browser.own_picture import hand_over
from browser.server import serving
from browser.truth import rounded_trace
from browser.visitor import Visitor
from playground.samples import named

EIGHT_BITS = 0.05  # most error of an attention weight if the model's weights have 8 bits


@pytest.fixture(scope="module")
def server():
    with serving(PLAYGROUND_COMPUTE="browser") as running_server:
        yield running_server


@pytest.mark.slow
def test_an_own_photograph_is_not_sent_and_a_lesson_asks_before_it_is(arrive, server):
    visitor = arrive(Visitor, server.url).open("sample=flock")
    assert "stays in this browser" in visitor.unfold("photo").inner_text()
    visitor.page.keyboard.press("Escape")
    hand_over(visitor, "drop", named("meadow").path.read_bytes())
    state = visitor.until("r => r.picture !== 'flock' && r.layersHeld.length === 6")
    assert visitor.uploaded == [], "nothing was sent"
    query = tuple(map(int, state["query"].split(",")))
    row = rounded_trace().row(state["layer"], state["head"], query).numpy()
    assert np.abs(np.asarray(state["row"]) - row).max() < EIGHT_BITS

    visitor.forgiven_errors = re.compile("404")  # the server does not have the photograph
    visitor.unfold("pages").get_by_role("link", name="Heads").click()
    visitor.hears("your photograph would travel")
    assert visitor.uploaded == []
    visitor.page.locator(".attention-notice button", has_text="Send it").click()
    visitor.page.wait_for_function("() => !document.querySelector('.attention-notice:not([hidden])')")
    visitor.rest()
    assert visitor.uploaded == ["dropped.jpg"]
