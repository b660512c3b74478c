"""What a weight is not: the softmax of three scores, with and without subtracting the largest."""

import math
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from playground.serving import pictures

pytestmark = pytest.mark.usefixtures("nothing_fetched")
ROOT = Path(__file__).parent.parent.parent.parent


def words(app) -> str:
    assert not app.exception
    return " ".join(element.value for element in app.markdown)


def test_a_difference_of_scores_is_a_ratio_of_weights_and_a_large_power_breaks_the_plain_softmax():
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params["step"] = "scores"
    app.switch_page("pages/weight.py").run()
    assert f"e⁸ = {math.exp(8):,.0f} times" in words(app)
    assert f"e⁻⁸ = {math.exp(-8):.5f} times" in words(app)
    assert "nan |" not in words(app)
    app.slider(key="score_A").set_value(1000.0).run()
    assert "| A | 1000 | ∞ | nan | 1 | **1** |" in words(app)


def test_three_powers_whose_sum_is_infinite_break_it_too():
    """Each is finite: 88, 88, 88 gives 0, 0, 0."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params["step"] = "scores"
    app.switch_page("pages/weight.py").run()
    for name in "ABC":
        app.slider(key=f"score_{name}").set_value(88.0)
    app.run()
    assert "| A | 88 | 1.65e+38 | 0 | 1 | **0.333** |" in words(app)
    assert "The fourth column sums to 0, not to 1" in words(app)


def test_the_head_that_agrees_most_is_found_whether_on_a_patch_or_on_a_token_without_a_place(monkeypatch, seen):
    """Layer 0, head 5 of DINOv2 gives 99.98 % to one patch on the coffee: none of 72 heads did, the page said."""
    from playground.analysis.heads import look
    from playground.ui.lessons import heads_numbers, weight

    asked, habits = [], look(seen)
    habits.to_one[1, 2] = 0.97
    here = SimpleNamespace(
        picture=pictures.sample("meadow"),
        wish=SimpleNamespace(model="x"),
        traced=lambda: seen,
        own=None,
        kept=lambda what, make: make(),
    )
    monkeypatch.setattr(heads_numbers, "habits_here", lambda here: habits)
    monkeypatch.setattr(weight.guess, "ask", lambda question, context: asked.append(question))
    monkeypatch.setattr(weight.guess, "after", lambda id: nullcontext())
    weight.locked_on(here)
    (question,) = asked
    assert question.id == "weight_locked"
    assert question.asks.startswith("Head 2 of layer 1 agrees most")
    assert question.truth == pytest.approx(97)
    assert "That place is one patch" in question.says
    assert "1 of 8 heads gives more than 30%" in question.says.replace(f"1 of {habits.to_one.size}", "1 of 8")
