"""The guided tour: its steps as data, and what an address with a step in it does."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from playground.serving import address
from playground.ui import tour
from playground.ui.pages import PAGES
from playground.ui.tour_steps import STEPS

ROOT = Path(__file__).parent.parent.parent
NUMBERS = range(1, len(STEPS) + 1)


@pytest.fixture
def app():
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)


def said(app) -> dict[str, str]:
    assert not app.exception
    return {key: value[0] if isinstance(value, list) else value for key, value in app.query_params.items()}


def opened(app, words: dict[str, str], page: str | None = None) -> dict[str, str]:
    app.query_params.clear()
    for key, value in words.items():
        app.query_params[key] = value
    if page:
        app.switch_page(PAGES[page].file)
    return said(app.run())


def test_the_tour_has_ten_steps_of_two_sentences():
    assert len(STEPS) == 10
    assert len({step.id for step in STEPS}) == 10
    for step in STEPS:
        assert step.page in PAGES
        assert len(re.findall(r"[.!?](?= |$)", step.text)) == 2, step.text
        assert len(step.text) < 240
        assert step.point


def test_the_microscope_accepts_the_views_of_its_steps():
    for step in STEPS:
        if step.page == "microscope":
            assert address.read(step.words) == ({}, step.words)


@pytest.mark.parametrize("n", NUMBERS)
def test_the_page_of_a_step_accepts_every_word_of_it(app, n):
    """What a page does not accept, or what is its default anyway, is not in the address any more after its run."""
    step = STEPS[n - 1]
    accepted = opened(app, tour.words(n), step.page if step.page != "microscope" else None)
    assert tour.words(n).items() <= accepted.items()
    assert app.session_state.page == step.page
    assert app.session_state.tour == n


def test_a_step_alone_in_the_address_is_enough(app):
    assert opened(app, {"tour": "4"}) == tour.words(4)
    assert app.session_state.here.view == STEPS[3].words
    assert said(app.run()) == tour.words(4)  # and stays


def test_what_has_been_chosen_since_stays_in_a_step_s_link(app):
    words = tour.words(4) | {"layer": "2", "sample": "flock"}
    assert opened(app, words) == words


def test_another_step_shows_its_own_view_whatever_was_chosen_before(app):
    opened(app, tour.words(4))
    assert opened(app, tour.words(3)) == tour.words(3)
    assert app.session_state.here.view == STEPS[2].words


@pytest.mark.parametrize("hostile", ["0", "11", "-1", "1.5", "x", "", "١", "1" * 99])
def test_a_step_that_there_is_not_begins_no_tour(app, hostile):
    assert "tour" not in opened(app, {"tour": hostile, "sample": "flock", "model": "bundled", "layer": "2"})
    assert "tour" not in app.session_state


def test_an_address_without_a_step_ends_the_tour_on_its_page(app):
    opened(app, tour.words(2))
    assert "tour" not in opened(app, {"model": "bundled", "sample": "flock"})
    assert "tour" not in app.session_state


def test_by_the_menu_one_may_leave_and_the_card_comes_along(app):
    opened(app, tour.words(2))
    words = opened(app, {"model": "bundled", "sample": "meadow"}, "cost")
    assert "tour" not in words  # a link to this page is none to the step
    assert app.session_state.tour == 2
