"""How the app plays a lesson: a setting that a step does not offer, and what cannot be had."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.usefixtures("nothing_fetched")
ROOT = Path(__file__).parent.parent.parent


def opened(**words: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    for name, word in ({"sample": "meadow"} | words).items():
        app.query_params[name] = word
    app.switch_page("pages/block.py").run()
    assert not app.exception
    return app


@pytest.mark.parametrize(("word", "text"), [("layer", "40"), ("layer", "4")])
def test_a_value_that_a_step_does_not_offer_becomes_the_default(word, text):
    """Layer 4 is the upper one of our small model, with which the step opens."""
    app = opened(step="mlp", model="bundled", **{word: text})
    assert (app.session_state[word], word in app.session_state.address) == (-1, False)


def test_a_label_that_the_model_has_not_is_the_true_one():
    app = opened(step="answer", model="bundled", supposed="999")
    assert app.selectbox(key="supposed").value == ""
    assert "| **7: textured** |" in " ".join(element.value for element in app.markdown)


def test_a_model_that_cannot_be_had_is_a_sentence():
    app = opened(step="stream", model="ViT-H/14")
    (error,) = app.error
    assert "choose a smaller one" in error.value
