"""The guided tour: its steps as data, and what an address with a step in it does."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from playground.serving import address, session
from playground.ui import tour
from playground.ui.pages import PAGES
from playground.ui.tour_steps import STEPS

ROOT = Path(__file__).parent.parent.parent
NUMBERS = range(1, len(STEPS) + 1)
OFF = 1 + [step.id for step in STEPS].index("switch")  # the step that shows rows without their scale


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


def words(n: int, address: dict[str, str] | None = None) -> dict[str, str]:
    """Of a step, for who has nothing chosen, or came by this address."""
    return tour.words(n, session.start(address or {}, {})[0])


def test_the_tour_has_ten_steps_of_at_most_two_sentences_and_one_task():
    assert len(STEPS) == 10
    assert len({step.id for step in STEPS}) == 10
    for step in STEPS:
        assert step.page in PAGES
        assert len(re.findall(r"[.!?](?= |$)", step.text)) in (1, 2), step.text
        assert len(re.findall(r"[.!?](?= |$)", step.task)) == 1, step.task
        assert len(step.text + step.task) < 240
        assert step.point


def test_queries_and_keys_come_before_values_positions_and_the_block_and_the_scale_after_tokens():
    ids = [step.id for step in STEPS]
    order = ["patches", "by-hand", "values", "positions", "block", "switch"]
    assert [id for id in ids if id in order] == order


def test_the_microscope_accepts_the_views_of_its_steps():
    for step in STEPS:
        if step.page == "microscope":
            assert address.read(step.words) == ({}, step.words)


@pytest.mark.parametrize("n", NUMBERS)
def test_the_page_of_a_step_accepts_every_word_of_it(app, n):
    """What a page does not accept, or what is its default anyway, is not in the address any more after its run."""
    step = STEPS[n - 1]
    accepted = opened(app, words(n), step.page if step.page != "microscope" else None)
    assert words(n).items() <= accepted.items()
    assert app.session_state.page == step.page
    assert app.session_state.tour == n


def test_a_step_alone_in_the_address_is_enough(app):
    assert opened(app, {"tour": str(OFF)}) == words(OFF)
    assert STEPS[OFF - 1].words.items() <= app.session_state.here.view.items()
    assert said(app.run()) == words(OFF)  # and stays


def test_what_has_been_chosen_since_stays_in_a_step_s_link(app):
    chosen = words(OFF) | {"layer": "2", "sample": "flock", "model": "bundled"}
    assert opened(app, chosen) == chosen


def test_another_step_shows_its_own_view_whatever_was_chosen_before(app):
    opened(app, words(OFF))
    assert opened(app, words(3)) == words(3)
    assert STEPS[2].words.items() <= app.session_state.here.view.items()
    assert "scale" not in app.session_state.here.view


@pytest.mark.parametrize("hostile", ["0", "11", "-1", "1.5", "x", "", "١", "1" * 99])
def test_a_step_that_there_is_not_begins_no_tour(app, hostile):
    assert "tour" not in opened(app, {"tour": hostile, "sample": "flock", "model": "bundled", "layer": "2"})
    assert "tour" not in app.session_state


def test_an_address_without_a_step_ends_the_tour_on_its_page(app):
    opened(app, words(2))
    assert "tour" not in opened(app, {"model": "bundled", "sample": "flock"})
    assert "tour" not in app.session_state


BEFORE = {"model": "bundled", "sample": "flock", "layer": "2", "query": "3,4", "locked": "true", "draw": "light"}


def test_it_runs_on_the_picture_and_the_model_of_whoever_begins_it(app):
    opened(app, BEFORE)
    app.session_state.tour_to = 1
    given = said(app.run())
    assert given == words(1, {"model": "bundled", "sample": "flock"})
    assert given["sample"] == "flock"


@pytest.mark.parametrize("way", ["ended", "left for another page", "back in the history"])
def test_whoever_ends_or_leaves_it_gets_back_what_they_had(app, way):
    opened(app, BEFORE)
    app.session_state.tour_to = OFF
    assert said(app.run())["scale"] == "off"
    if way == "ended":
        app.session_state.tour_to = 0
        assert said(app.run()) == BEFORE
    elif way == "left for another page":
        assert "tour" not in opened(app, {"model": "bundled", "sample": "flock"}, "cost")
    else:
        assert opened(app, BEFORE) == BEFORE
    assert "tour" not in app.session_state
    assert "before" not in app.session_state
    here = app.session_state.here
    assert (here.picture.name, here.wish.model) == ("flock", "bundled")
    assert here.view.items() >= {key: BEFORE[key] for key in ("layer", "query", "locked", "draw")}.items()


def test_what_a_reload_made_the_server_forget_comes_from_the_browser(app):
    opened(app, words(OFF, {"model": "bundled", "sample": "twins"}))
    app.session_state.tour_to, app.session_state.tour_lost = 0, BEFORE | {"page": "microscope"}
    assert said(app.run()) == BEFORE
