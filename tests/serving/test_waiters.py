"""People who wait for a model: one at a time of each, and who asks no more has left."""

import threading

import pytest
from waiting import until

from playground.errors import PlaygroundError
from playground.serving import fetching, models
from playground.serving.ledger import MODELS

ANNA, BERT = "anna" * 6, "bert" * 6


@pytest.fixture
def coming(monkeypatch):
    """Downloads that go on until nobody waits or they are let go; the clock is moved by hand."""
    let_go, now = threading.Event(), [0.0]

    def fetch(name, report):
        with report(total=100e6, desc=name) as bar:
            while not let_go.wait(0.005):
                bar.update(1000)

    monkeypatch.setattr(models, "fetch", fetch)
    monkeypatch.setattr(models, "load", lambda name: None)
    monkeypatch.setattr(fetching, "_clock", lambda: now[0])
    yield now
    let_go.set()
    now[0] += 1000
    until(lambda: not fetching._drop_silent(), "somebody still waits")


def test_who_does_not_ask_for_five_seconds_has_left_and_the_download_ends(coming):
    download = fetching.wait_for(ANNA, "model")
    coming[0] = 5
    assert fetching.asks(ANNA, "model") is download
    coming[0] = 10
    fetching._drop_silent()
    assert fetching.asks(ANNA, "model") is download
    coming[0] = 15.1
    fetching._drop_silent()
    assert fetching.asks(ANNA, "model") is None
    until(lambda: download.over, "it goes on, though nobody waits")
    assert (download.arrived, download.trouble) == (False, None)


def test_the_watch_finds_by_itself_who_has_left(coming, monkeypatch):
    monkeypatch.setattr(fetching, "STILL_WAITS", 0.05)
    download = fetching.wait_for(ANNA, "model")
    coming[0] = 1
    until(lambda: download.over, "it goes on, though nobody waits")


def test_one_who_leaves_does_not_stop_it_for_the_other(coming):
    download = fetching.wait_for(BERT, "model")
    assert fetching.wait_for(ANNA, "model") is download
    fetching.leave(ANNA, "model")
    before = download.bytes
    until(lambda: download.bytes > before, "it does not go on for the other")
    assert (fetching.asks(ANNA, "model"), fetching.asks(BERT, "model")) == (None, download)


def test_a_person_who_asks_for_another_model_has_left_the_first(coming):
    first = fetching.wait_for(ANNA, "model")
    second = fetching.wait_for(ANNA, "another")
    until(lambda: first.over, "the first goes on")
    assert (fetching.asks(ANNA, "model"), fetching.asks(ANNA, "another")) == (None, second)
    assert not second.over


def test_who_asks_twice_waits_once(coming):
    download = fetching.wait_for(ANNA, "model")
    assert fetching.wait_for(ANNA, "model") is download
    fetching.leave(ANNA, "model")
    until(lambda: download.over, "it goes on, though nobody waits")


def test_only_so_many_models_come_at_the_same_time(coming):
    for number in range(MODELS):
        fetching.wait_for(f"{number}" * 22, f"model {number}")
    with pytest.raises(PlaygroundError, match=r"4 models are on their way to this server already: try again"):
        fetching.wait_for(ANNA, "one more")
    fetching.wait_for(ANNA, "model 0")  # one of those that come may be waited for
    fetching.leave("1" * 22, "model 1")
    fetching.wait_for(BERT, "one more")


def test_one_network_leaves_a_model_s_place_to_others(coming):
    for number in range(MODELS - 1):
        fetching.wait_for(f"{number}" * 22, f"model {number}", "greedy")
    with pytest.raises(PlaygroundError, match="on their way to this server already"):
        fetching.wait_for(ANNA, "one more", "greedy")
    fetching.wait_for(BERT, "one more", "elsewhere")
