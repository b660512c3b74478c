"""The steps of a page: one at a time, named in the address and reached by the button Next."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from playground.lessons import scale_model
from playground.lessons.by_hand import first_arrows
from playground.lessons.lesson import Setting, StepSetting
from playground.lessons.registry import LESSONS, QUESTIONS
from playground.ui import teach

pytestmark = pytest.mark.usefixtures("nothing_fetched")
ROOT = Path(__file__).parent.parent.parent


def open_page(page: str, **words: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.session_state["guessed"] = set(QUESTIONS)
    for key, value in ({"sample": "meadow", "model": "bundled"} | words).items():
        app.query_params[key] = value
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


def word_of_address(app, word: str) -> str | None:
    return app.session_state.address.get(word)


@pytest.mark.parametrize("page", LESSONS)
def test_next_leads_through_all_steps_and_each_stands_in_the_address(page):
    app, steps = open_page(page), list(LESSONS[page].steps)
    for step in steps[1:]:
        app.button(key="next_step").click().run()
        assert not app.exception
        assert app.session_state.step == step
        assert word_of_address(app, "step") == step
    assert not [button for button in app.button if button.key == "next_step"]


def test_a_setting_of_one_step_is_still_there_after_another():
    app = open_page("by_hand", patch="32", step="colours")
    app.button(key="next_step").click().run()
    assert (app.session_state.step, word_of_address(app, "patch")) == ("masks", "32")
    app.session_state.step = "colours"
    app.run()
    assert app.session_state.patch == 32


def test_a_setting_stays_after_several_steps_and_a_page_with_a_setting_of_the_same_name_begins_without_it():
    app = open_page("scale", step="model")
    app.session_state.off = scale_model.WHOLE_PASS  # on this page: in which layers the scale changes
    for step in ("model", "answer", "row", "rows", "model", "answer"):
        app.session_state.step = step
        app.run()
        assert word_of_address(app, "off") == scale_model.WHOLE_PASS, step
    app.switch_page("pages/heads.py").run()
    for step in ("atlas", "far", "off"):
        app.session_state.step = step
        app.run()
        assert not app.exception
        assert (app.session_state.off, word_of_address(app, "off")) == ("", None), step  # here: the heads that are off


OLD_ADDRESSES = {
    "by_hand": {"mask": "causal", "hidden": "AQ", "arrows": first_arrows()},
    "block": {"box": "MLP", "layer": "3", "supposed": "2"},
    "patches": {"patch": "32", "filter": "14", "table": "sinusoidal", "positions": "on"},
    "scale": {"dk": "512", "instead": "-1.0"},
    "heads": {"measure": "distance", "off": "1.2"},
    "cost": {"image": "1024", "count": "scores"},
}
STEPS_OF_WORDS = {
    "by_hand": ("masks", "colours", "arrows"),
    "block": ("whole", "stream", "answer"),
    "patches": ("cut", "filters", "positions", "shuffle"),
    "scale": ("row", "model"),
    "heads": ("atlas", "off"),
    "cost": ("pairs", "formulas"),
}


@pytest.mark.parametrize("page", OLD_ADDRESSES)
def test_an_address_without_a_step_opens_the_step_that_its_words_belong_to(page):
    steps = LESSONS[page].settings["step"]
    for (word, text), step in zip(OLD_ADDRESSES[page].items(), STEPS_OF_WORDS[page], strict=True):
        assert steps.value_in("step", {word: text}) == step


@pytest.mark.parametrize("page", LESSONS)
def test_the_words_of_steps_are_settings_of_the_page_and_step_is_the_last(page):
    settings: dict[str, Setting] = LESSONS[page].settings
    if isinstance(steps := settings["step"], StepSetting):
        assert {word for words in steps.words.values() for word in words} < settings.keys()
        assert set(steps.words) <= {*LESSONS[page].steps}
        assert list(settings)[-1] == "step"
    assert steps.read("<b>") == next(iter(LESSONS[page].steps))


def test_no_button_has_the_name_of_a_setting_or_of_another_button():
    """Buttons and settings share the session's state: a setting called like a button would press this button."""
    files = (ROOT / "playground/ui").glob("*.py")
    button_key = re.compile(r"\.button\((?:[^()]|\([^()]*\))*?key=\"(\w+)\"")
    keys = [key for file in files for key in button_key.findall(file.read_text(encoding="utf-8"))]
    settings = {name for lesson in LESSONS.values() for name in lesson.settings} | {*teach.SETTINGS}
    assert len(keys) > 2
    assert len(settings) > 20
    assert sorted(key for key in {*keys} if key in settings or keys.count(key) > 1) == []
