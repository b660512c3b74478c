"""How the app plays a lesson: settings that a step does not offer, and results that are not available."""

import dataclasses
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from waiting import until

from playground.serving import here
from playground.training import quick

pytestmark = pytest.mark.usefixtures("nothing_fetched")
ROOT = Path(__file__).parent.parent.parent


def open_page(**words: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    for name, word in ({"sample": "meadow"} | words).items():
        app.query_params[name] = word
    app.switch_page("pages/block.py").run()
    assert not app.exception
    return app


@pytest.mark.parametrize(("word", "text"), [("layer", "40"), ("layer", "4")])
def test_a_value_that_a_step_does_not_offer_becomes_the_default(word, text):
    """Layer 4 exists, but it is the bundled model's `upper_layer`, which this step calls -1, its default value."""
    app = open_page(step="mlp", model="bundled", **{word: text})
    assert (app.session_state[word], word in app.session_state.address) == (-1, False)


def test_in_place_of_a_label_that_the_model_lacks_the_true_one_is_shown():
    app = open_page(step="answer", model="bundled", supposed="999")
    assert app.selectbox(key="supposed").value == ""
    assert "| **7: textured** |" in " ".join(element.value for element in app.markdown)


def test_a_model_that_is_too_large_is_refused_with_a_sentence():
    app = open_page(step="stream", model="ViT-H/14")
    (error,) = app.error
    assert "choose a smaller one" in error.value


# Training runs, started by the button of their lesson; these tests need no browser


APP = Path(__file__).parent.parent.parent / "app.py"


@pytest.fixture
def short_runs(monkeypatch):
    """Replaces the training runs by short ones with a few milliseconds per step."""
    config = dataclasses.replace(quick.SMALL_CONFIG, width=12, mlp_width=12)
    recipes = {
        name: dataclasses.replace(recipe, steps=20, batch=2, config=config) for name, recipe in quick.recipes().items()
    }
    monkeypatch.setattr(quick, "recipes", lambda seed=0: recipes)


def train(page: AppTest) -> here.Work:
    page.query_params["step"] = "now"
    page.switch_page("pages/training.py").run()
    next(button for button in page.button if button.label == "Train now").click().run()
    work = page.session_state.works["two"]
    until(lambda: work.look() == 0 and work.is_over, "the two have not learned")  # looking keeps the run alive
    page.run()
    assert work.trouble is None
    return work


def button_labels(page: AppTest) -> list[str]:
    return [button.label for button in page.button]


@pytest.mark.usefixtures("short_runs")
def test_both_models_are_trained_and_either_is_shown():
    page = AppTest.from_file(str(APP), default_timeout=120).run()
    work = train(page)
    assert work.result.step == 20
    assert "Train again" in button_labels(page)
    page.session_state.learner = quick.TOLD
    page.run()
    assert any("Stopped after 20 steps" in words.value for words in page.markdown)
    assert not page.exception


@pytest.mark.usefixtures("short_runs")
def test_a_second_run_gets_the_result_of_the_first():
    page = AppTest.from_file(str(APP), default_timeout=120).run()
    first_result = train(page).result
    next(button for button in page.button if button.label == "Train again").click().run()
    work = page.session_state.works["two"]
    until(lambda: work.look() == 0 and work.is_over, "the two have not learned again")
    assert work.result.seed == first_result.seed + 1


@pytest.mark.usefixtures("short_runs")
def test_results_of_all_runs_share_a_bound_and_a_sentence_says_that_one_was_dropped(monkeypatch):
    first_page, second_page = (AppTest.from_file(str(APP), default_timeout=120).run() for _ in range(2))
    older_work = train(first_page)
    monkeypatch.setattr(here, "MOST_RESULT_BYTES", here.worked.bytes_of(older_work.result))
    newer_work = train(second_page)
    assert (older_work.result, older_work.was_dropped) == (None, True)
    assert newer_work.result.learners
    first_page.run()
    assert any("Your result was dropped" in words.value for words in first_page.markdown)
    assert "Train now" in button_labels(first_page)
    assert not first_page.exception


def test_a_run_that_breaks_off_says_why(monkeypatch):
    monkeypatch.setattr(quick, "recipes", lambda seed=0: {})
    page = AppTest.from_file(str(APP), default_timeout=120).run()
    page.query_params["step"] = "now"
    page.switch_page("pages/training.py").run()
    next(button for button in page.button if button.label == "Train now").click().run()
    work = page.session_state.works["two"]
    until(lambda: work.look() == 0 and work.is_over, "the run has not ended")
    page.run()
    assert any("It broke off" in words.value for words in page.markdown)
    assert "Train now" in button_labels(page)
