"""Two small models trained on the page, without a browser."""

import dataclasses
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from waiting import until

from playground.training import quick
from playground.ui.lessons import train_now

APP = Path(__file__).parent.parent.parent / "app.py"


@pytest.fixture
def short(monkeypatch):
    """Runs of a few milliseconds a step."""
    config = dataclasses.replace(quick.SMALL, width=12, mlp_width=12)
    both = {name: dataclasses.replace(one, steps=20, batch=2, config=config) for name, one in quick.recipes().items()}
    monkeypatch.setattr(quick, "recipes", lambda seed=0: both)


def test_both_are_trained_and_either_is_shown_with_what_it_was_told(short):
    page = AppTest.from_file(str(APP), default_timeout=120).run()
    page.query_params["step"] = "now"
    page.switch_page("pages/training.py").run()
    assert [button.label for button in page.button if "rain" in button.label] == ["Train now"]
    next(button for button in page.button if button.label == "Train now").click().run()
    trial = page.session_state.trial
    until(lambda: not trial.before and trial.over, "the two have not learned")  # who does not ask loses their place
    page.run()
    assert trial.ticket.trouble is None
    assert trial.step == 20
    assert "Train again" in [button.label for button in page.button]
    told = {name: trial.films[name].told for name in trial.films}
    assert told == {quick.ALONE: (), quick.TOLD: ((*quick.TOLD_HEAD, "patch", quick.TOLD_TO),)}
    page.session_state.learner = quick.TOLD
    page.run()
    assert page.session_state.trial.pointed[0] == quick.TOLD
    assert not page.exception


def test_finished_runs_have_a_bound_in_common_and_the_oldest_goes_in_a_sentence(short, monkeypatch):
    def trained(page: AppTest) -> train_now.Trial:
        page.query_params["step"] = "now"
        page.switch_page("pages/training.py").run()
        next(button for button in page.button if button.label == "Train now").click().run()
        trial = page.session_state.trial
        until(lambda: not trial.before and trial.over, "the two have not learned")
        page.run()
        return trial

    first, second = (AppTest.from_file(str(APP), default_timeout=120).run() for _ in range(2))
    older = trained(first)
    monkeypatch.setattr(train_now, "MOST_FINISHED", older.bytes)
    newer = trained(second)
    assert older.bytes == 0 < newer.bytes
    assert newer.learned
    first.run()
    assert any("there was no room for yours any more: train again" in words.value for words in first.markdown)
    assert "Train again" in [button.label for button in first.button]
    assert not first.exception


def test_what_became_of_each_is_said_in_its_own_numbers(monkeypatch):
    recipes = {quick.ALONE: quick.recipes()[quick.ALONE]}
    one = quick.train_now(lambda said: None, lambda: True, recipes)[quick.ALONE]
    assert "from step" not in train_now._sentence(quick.ALONE, one)  # it has learned nothing yet
    mass, layer, head = one.best
    assert f"head {head} of layer {layer} gives the twin {mass:.0%}" in train_now._sentence(quick.ALONE, one)
