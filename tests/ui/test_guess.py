"""Questions before their answers: every lesson has one, and a hostile guess is none."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from playground.ui import guess, lesson
from playground.ui.pages import LESSONS, PARTS

ROOT = Path(__file__).parent.parent.parent
CHECKED = re.compile(r"[( ,]id=\"(\w+)\"")
ASKED = re.compile(r"guess\.(?:number|choice|row)\(\s*\"(\w+)\"")


def test_every_question_is_asked_once_and_every_lesson_has_one():
    sources = [file.read_text(encoding="utf-8") for file in (ROOT / "playground/ui/lessons").glob("*.py")]
    asked = [id for source in sources for id in ASKED.findall(source)]
    assert sorted(asked) == sorted(guess.IDS)
    for page in LESSONS:
        assert any(id.startswith(page.name) for id in asked), page.name


def test_every_exercise_that_a_page_checks_is_counted_once_and_is_one_of_its_page():
    files = [*(ROOT / "playground/ui/lessons").glob("*.py"), *(ROOT / "pages").glob("*.py")]
    found = [id for file in files for id in CHECKED.findall(file.read_text(encoding="utf-8"))]
    assert sorted(found) == sorted(lesson.EXERCISES)
    pages = {page.name for page in LESSONS if any(id.startswith(page.name) for id in found)}
    assert pages == {page.name for page in LESSONS}


@pytest.mark.parametrize("said", [None, [], {}, "c", 1, ["a"]])
def test_a_choice_that_there_is_not_is_no_guess(said):
    assert guess._choice(said, {"a": "A", "b": "B"}) is None


@pytest.mark.parametrize("said", [None, "3", float("nan"), float("inf"), -1, 101, [1], {}, True])
def test_a_number_out_of_its_range_is_no_guess(said):
    found = guess._number(said, 0, 100)
    assert found is None or (said is True and found == 1)


@pytest.mark.parametrize("said", [None, [], [4], [-1], ["0"], [0] * 9, {"0": 1}, [0.5]])
def test_patches_that_there_are_not_are_no_guess(said):
    assert guess._patches(said, 4) is None


def test_a_right_guess_is_read():
    assert guess._number(42, 0, 100) == 42
    assert guess._patches([0, 3], 4) == [0, 3]


def opened(page: str, **state: object) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    for key, value in state.items():
        app.session_state[key] = value
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


def drawn(app) -> set[str]:
    return {component.proto.component_name.rpartition("attention_")[2] for component in app.get("bidi_component")}


@pytest.mark.usefixtures("nothing_fetched")
def test_a_result_is_not_there_before_its_question_was_guessed_and_in_the_tour_none_is_asked():
    assert "guess" in drawn(opened("weight"))
    assert "carried" not in drawn(opened("weight"))
    known = drawn(opened("weight", guessed={"weight_differs"}))
    assert {"guess", "carried"} <= known
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params["tour"] = "4"
    app.switch_page("pages/patches.py").run()
    assert not app.exception
    assert "guess" not in drawn(app)


def test_every_lesson_lights_a_part_of_the_model():
    for page in LESSONS:
        assert any(page.name in lit for _, lit in PARTS.values()), page.name
    assert {about for about, _ in PARTS.values()} <= {page.name for page in LESSONS}


class State(dict):
    """As Streamlit's."""

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


@pytest.fixture
def browser(monkeypatch):
    """Session state and what stands on the page, without Streamlit: `lock` is what a person does."""
    state, shown = State(address={}), {}

    def lock(name: str, said: object) -> None:
        state[f"guess_{name}"] = State(lock={"guess": said})
        shown["on_lock_change"]()

    monkeypatch.setattr(guess, "state", state)
    monkeypatch.setattr(guess, "component", lambda *files: lambda **more: shown.update(more))
    return SimpleNamespace(state=state, shown=shown, lock=lock)


def test_of_a_painted_row_the_guess_alone_is_kept_and_the_row_is_found_anew(browser):
    def asked() -> bool:
        return guess.row("x", "Where?", "data:", (2, 2), 0, lambda: guess.Truth([0.25] * 4, " Even."), context="here")

    assert not asked()
    browser.lock("x", [1, 2])
    assert browser.state.guesses == {("x", "here"): {"locked": [1, 2]}}
    assert asked()
    assert browser.shown["data"].items() >= {"locked": [1, 2], "truth": [0.25] * 4, "says": " Even."}.items()
    assert browser.state.guesses == {("x", "here"): {"locked": [1, 2]}}


def test_an_answer_is_worked_out_once_and_of_very_many_the_oldest_go(browser):
    answers = []

    def asked(n: int) -> bool:
        return guess.number("x", "How many?", 0, 9, "", lambda: guess.Truth(answers.append(n), " So."), context=n)

    for n in range(guess.MOST + 5):
        asked(n)
        browser.lock("x", 3)
        assert asked(n)
    assert answers == list(range(guess.MOST + 5))
    assert [n for _, n in browser.state.guesses] == list(range(5, guess.MOST + 5))
