"""The lesson Training: its clock, its picture at every moment, and models that are trained during the test."""

import numpy as np
import pytest

from browser.visitor import Visitor
from playground.assets import TIMELAPSE
from playground.lessons.timelapse import read
from playground.tracing import Trace

FIND_REEL = """
window.theReel = (root = document) => {
  for (const element of root.querySelectorAll("*")) {
    const here = element.__drawing?.read && element.querySelector(".reel");
    const found = here ? element.__drawing : element.shadowRoot && window.theReel(element.shadowRoot);
    if (found) return found;
  }
  return null;
};
"""


class Watcher(Visitor):
    def open(self, address=""):
        self.context.add_init_script(FIND_REEL)
        self.page.goto(f"{self.url}/training?{address}")
        return self

    def until(self, condition="() => true"):
        script = f"() => {{ const r = window.theReel?.()?.read(); return r?.painted && ({condition})(r) ? r : null; }}"
        return self.page.wait_for_function(script).json_value()

    def read(self):
        return self.page.evaluate("theReel().read()")

    def part(self, name):
        return self.page.locator(f'.reel [data-ref="{name}"]')

    def button(self, name):
        return self.page.get_by_role("button", name=name, exact=True)


@pytest.fixture
def watch(arrive, server):
    return lambda address="": arrive(Watcher, server.url).open(address)


@pytest.fixture(scope="module")
def moments():
    """The moments of the time-lapse that ships with the app."""
    return read(TIMELAPSE).moments


def test_the_picture_is_the_model_s_row_at_every_moment(watch, moments):
    watcher = watch()
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
