"""What a weight is not: the softmax of three scores, with and without subtracting the largest."""

import math
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

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
