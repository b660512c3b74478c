"""One idea on the screen at a time: the steps of a page, in its address and behind its Next."""

import importlib
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from playground.lessons.settings import Setting, Steps
from playground.lessons.words import LESSONS, QUESTIONS
from playground.ui.lessons import block, by_hand, code, cost, heads, patches, training, two_ways, weight

pytestmark = pytest.mark.usefixtures("nothing_fetched")
ROOT = Path(__file__).parent.parent.parent


class Moved:
    """A lesson that is one function a step."""

    def __init__(self, name: str):
        self.STEPS, self.SETTINGS = LESSONS[name].titles, LESSONS[name].settings


PAGES = {
    "by_hand": by_hand, "patches": patches, "block": block, "scale": Moved("scale"), "heads": heads, "weight": weight,
    "cost": cost, "two_ways": two_ways, "training": training, "code": code,
}  # fmt: skip


def opened(page: str, **words: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.session_state["guessed"] = set(QUESTIONS)
    for key, value in ({"sample": "meadow", "model": "bundled"} | words).items():
        app.query_params[key] = value
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


def said(app, word: str) -> str | None:
    return app.session_state.address.get(word)


@pytest.mark.parametrize("page", PAGES)
def test_next_leads_through_all_steps_and_each_stands_in_the_address(page):
    app, steps = opened(page), list(PAGES[page].STEPS)
    for step in steps[1:]:
        app.button(key="next_step").click().run()
        assert not app.exception
        assert app.session_state.step == step
        assert said(app, "step") == step
    assert not [button for button in app.button if button.key == "next_step"]


def test_what_was_chosen_in_one_step_is_still_there_after_another():
    app = opened("by_hand", patch="32", step="colours")
    app.button(key="next_step").click().run()
    assert (app.session_state.step, said(app, "patch")) == ("masks", "32")
    app.session_state.step = "colours"
    app.run()
    assert app.session_state.patch == 32


OLD = {
    "by_hand": {"mask": "causal", "hidden": "AQ", "arrows": by_hand.by_hand.start()},
    "patches": {"patch": "32", "filter": "14", "table": "sinusoidal", "positions": "on"},
    "scale": {"dk": "512", "instead": "-1.0"},
    "heads": {"measure": "distance", "off": "1.2"},
    "cost": {"image": "1024", "count": "scores"},
}
SHOWN = {
    "by_hand": ("masks", "colours", "arrows"),
    "patches": ("cut", "filters", "positions", "shuffle"),
    "scale": ("row", "model"),
    "heads": ("atlas", "off"),
    "cost": ("pairs", "formulas"),
}


@pytest.mark.parametrize("page", OLD)
def test_an_address_without_a_step_opens_the_one_that_its_words_belong_to(page):
    steps = PAGES[page].SETTINGS["step"]
    for (word, text), step in zip(OLD[page].items(), SHOWN[page], strict=True):
        assert steps.found("step", {word: text}) == step


@pytest.mark.parametrize("page", PAGES)
def test_the_words_of_steps_are_settings_of_the_page_and_step_is_the_last(page):
    settings: dict[str, Setting] = training.settings() if page == "training" else PAGES[page].SETTINGS
    if isinstance(steps := settings["step"], Steps):
        assert {word for words in steps.words.values() for word in words} < settings.keys()
        assert set(steps.words) <= set(PAGES[page].STEPS)
        assert list(settings)[-1] == "step"
    assert steps.read("<b>") == next(iter(PAGES[page].STEPS))


def test_no_button_has_the_name_of_a_setting_or_of_another_button():
    """The session keeps both under one name: a setting that says "entropy" would press a button of that name."""
    folder = ROOT / "playground/ui/lessons"
    pressed = re.compile(r"\.button\((?:[^()]|\([^()]*\))*?key=\"(\w+)\"")
    keys = [key for file in folder.glob("*.py") for key in pressed.findall(file.read_text(encoding="utf-8"))]
    modules = [importlib.import_module(f"playground.ui.lessons.{file.stem}") for file in folder.glob("*.py")]
    settings = {name for module in modules for name in getattr(module, "SETTINGS", {})}
    assert len(keys) > 3
    assert len(settings) > 20
    assert sorted(key for key in {*keys} if key in settings or keys.count(key) > 1) == []
