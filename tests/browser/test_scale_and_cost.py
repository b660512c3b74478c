"""The lessons on the scale and on the cost in a browser: their dials, their links and their measurements."""

import re

import pytest

from browser.visitor import Visitor, with_small_picture
from playground.analysis import scale
from playground.lessons.scale import POWERS

BARS = ".softmax"
TURN_DIALS = f"""([width, power]) => {{
  const dial = (name) => theDrawing("{BARS}").querySelector(`[data-ref="${{name}}Dial"]`);
  dial("width").value = {[*scale.WIDTHS]}.indexOf(width);
  dial("power").value = {[*POWERS]}.indexOf(power);
  dial("power").dispatchEvent(new Event("input"));
  return readDrawing("{BARS}"); }}"""


@pytest.fixture
def lesson(arrive, server):
    """lesson("scale", "dk=64") gives a visitor of that lesson."""

    def open_(name: str, address: str = "", **options):
        visitor = arrive(Visitor, server.url, **options)
        visitor.page.goto(f"{visitor.url}/{name}?{with_small_picture(address)}")
        visitor.page.get_by_text(re.compile("^Next: ")).first.wait_for()
        return visitor

    return open_


@pytest.mark.slow
def test_the_dials_turn_the_row_at_once_and_the_link_opens_it_again(lesson):
    visitor = lesson("scale", "step=rows")
    assert len(visitor.drawing(BARS)["weights"]) == scale.KEY_COUNT
    row_state = visitor.page.evaluate(TURN_DIALS, [512, 0])  # in one task, so no server can have answered
    scores = scale.experiment()[0, scale.WIDTHS.index(512)]
    for name, value in scale.measured(scores, 1.0).items():
        assert row_state[name] == pytest.approx(float(value), abs=1e-3)
    visitor.page.wait_for_url("**dk=512**")
    visitor.page.reload()
    assert visitor.drawing(BARS, "r => r.dk === 512 && r.power === 0")["peak"] == pytest.approx(row_state["peak"])


def test_the_classic_cases_turn_the_picture_and_stand_in_the_address(lesson):
    page = lesson("cost").page
    page.get_by_text("38,416", exact=True).wait_for()
    page.get_by_text("1,024 px, patch 16").click()
    page.get_by_text("16,777,216", exact=True).wait_for()
    page.wait_for_url("**image=1024**")
    page.get_by_text("One head: 16,777,216 scores, to scale").wait_for()
    page.reload()
    page.get_by_text("16,777,216", exact=True).wait_for()
    page = lesson("cost", "width=1024").page
    page.get_by_text("1024 can't be shared out evenly among 12 heads").wait_for()
