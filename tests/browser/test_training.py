"""The lesson Training: its clock, its picture at every moment, and models that are trained during the test."""

import numpy as np
import pytest

from browser.visitor import Visitor
from playground.assets import TIMELAPSE
from playground.lessons.timelapse import read
from playground.tracing import Trace


class Watcher(Visitor):
    def until(self, condition="r => true"):
        return self.drawing(".reel", f"r => r.painted && ({condition})(r)")

    def part(self, name):
        return self.page.locator(f'.reel [data-ref="{name}"]')


@pytest.fixture(scope="module")
def moments():
    """The moments of the time-lapse that ships with the app."""
    return read(TIMELAPSE).moments


def test_the_picture_is_the_model_s_row_at_every_moment(arrive, server, moments):
    watcher = arrive(Watcher, server.url)
    watcher.page.goto(f"{server.url}/training")
    state = watcher.until()
    assert state["step"] == moments[-1].step
    rows, columns = state["grid"]
    for number, patch in ((0, (2, 3)), (len(moments) // 2, (9, 9)), (len(moments) - 1, (5, 1))):
        watcher.part("ticks").get_by_role("button").nth(number).click()
        watcher.until(f"r => r.step === {moments[number].step}")
        watcher.page.wait_for_url(f"**moment={moments[number].step}*")
        watcher.part("picture").scroll_into_view_if_needed()
        box = watcher.part("picture").bounding_box()
        x, y = ((index + 0.5) / count for index, count in zip(patch[::-1], (columns, rows), strict=True))
        watcher.page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
        step = moments[number].step
        state = watcher.until(f"r => r.step === {step} && r.patch === '{patch[0]},{patch[1]}'")
        trace = Trace.from_bytes(moments[number].trace)
        np.testing.assert_allclose(state["row"], trace.row(state["layer"], state["head"], patch), atol=1e-5)
