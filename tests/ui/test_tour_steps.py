"""The guided tour: its steps as data. What an address with a step in it does is the browser's: shell/tour.js."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from playground.serving import chosen
from playground.ui.pages import PAGES
from playground.ui.tour_steps import STEPS

ROOT = Path(__file__).parent.parent.parent
ON_LESSONS = [step for step in STEPS if step.page != "microscope"]


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
            assert chosen.read_address(step.words) == ({}, step.words)


@pytest.mark.usefixtures("nothing_fetched")
@pytest.mark.parametrize("step", ON_LESSONS, ids=lambda step: step.id)
def test_the_page_of_a_step_accepts_every_word_of_it_and_keeps_the_step(step):
    """What a page does not accept, or what is its default anyway, is not in the address any more after its run."""
    app, n = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120), STEPS.index(step) + 1
    for key, value in {"sample": "flock", "model": "bundled", "tour": str(n), **step.words}.items():
        app.query_params[key] = value
    app.switch_page(PAGES[step.page].file).run()
    assert not app.exception
    assert app.session_state.address.items() >= {**step.words, "tour": str(n), "sample": "flock"}.items()
