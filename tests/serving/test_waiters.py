"""People who wait for a model: each person waits for one model, and one who stops asking counts as gone."""

import threading
import time

import pytest
from waiting import until

from playground.errors import PlaygroundError
from playground.models import hub
from playground.serving import models, routes_models
from playground.serving.ledger import MOST_DOWNLOADS

ANNA, BERT = "anna" * 6, "bert" * 6


@pytest.fixture
def clock(monkeypatch):
    """Replaces downloads: each goes on until nobody waits or the test ends. Yields the time of a clock that the test
    sets."""
    let_go, now = threading.Event(), [0.0]

    def fetch(name, report):
        with report(total=100e6, desc=name) as bar:
            while not let_go.wait(0.005):
                bar.update(1000)

    monkeypatch.setattr(models, "fetch", fetch)
    monkeypatch.setattr(models, "load", lambda name: None)
    monkeypatch.setattr(routes_models, "_clock", lambda: now[0])
    yield now
    let_go.set()
    now[0] += 1000
    until(lambda: not routes_models._drop_silent(), "somebody still waits")


def test_a_person_who_has_not_asked_for_five_seconds_counts_as_gone(clock):
    download = routes_models.wait_for(ANNA, "model")
    clock[0] = 5
    assert routes_models.download_for(ANNA, "model") is download
    clock[0] = 10
    routes_models._drop_silent()
    assert routes_models.download_for(ANNA, "model") is download
    clock[0] = 15.1
    routes_models._drop_silent()
    assert routes_models.download_for(ANNA, "model") is None
    until(lambda: download.over, "it goes on, though nobody waits")
    assert (download.arrived, download.trouble) == (False, None)


def test_the_watch_ends_a_download_whose_waiter_has_left(clock, monkeypatch):
    monkeypatch.setattr(routes_models, "PATIENCE", 0.05)
    download = routes_models.wait_for(ANNA, "model")
    clock[0] = 1
    until(lambda: download.over, "it goes on, though nobody waits")


def test_one_who_leaves_does_not_stop_the_download_for_another(clock):
    download = routes_models.wait_for(BERT, "model")
    assert routes_models.wait_for(ANNA, "model") is download
    routes_models.stop_waiting(ANNA, "model")
    former_bytes = download.bytes
    until(lambda: download.bytes > former_bytes, "it does not go on for the other")
    assert (routes_models.download_for(ANNA, "model"), routes_models.download_for(BERT, "model")) == (None, download)


def test_a_person_who_asks_for_another_model_has_left_the_first(clock):
    first_download = routes_models.wait_for(ANNA, "model")
    second_download = routes_models.wait_for(ANNA, "another")
    until(lambda: first_download.over, "the first goes on")
    assert routes_models.download_for(ANNA, "model") is None
    assert routes_models.download_for(ANNA, "another") == second_download
    assert not second_download.over


def test_the_number_of_simultaneous_downloads_is_bounded(clock):
    for number in range(MOST_DOWNLOADS):
        routes_models.wait_for(f"{number}" * 22, f"model {number}")
    with pytest.raises(PlaygroundError, match=r"4 models are on their way to this server already: try again"):
        routes_models.wait_for(ANNA, "one more")
    routes_models.wait_for(ANNA, "model 0")  # more people may wait for a model that is on its way
    routes_models.stop_waiting("1" * 22, "model 1")
    routes_models.wait_for(BERT, "one more")


# Downloads: one per model for everybody, stopped when nobody waits, refused at once without the hub


@pytest.fixture
def begun_downloads(monkeypatch):
    """Replaces downloads: each lasts until the test lets it go. Returns the names of the downloads that have begun."""
    names = []

    def fetch(name, report):
        names.append(name)
        with report(total=100e6, desc=name) as bar:
            for _ in range(10_000):
                bar.update(1000)
                if names[-1] == "let go":
                    return
                time.sleep(0.005)

    monkeypatch.setattr(models, "fetch", fetch)
    monkeypatch.setattr(models, "load", lambda name: None)
    return names


def test_two_people_wait_for_one_download_and_it_ends_when_both_have_left(begun_downloads):
    download, second_download = (
        routes_models.begin_fetching("dinov2-small"),
        routes_models.begin_fetching("dinov2-small"),
    )
    assert download is second_download
    until(lambda: download.bytes > 0, "bytes come")
    download.leave()
    former_bytes = second_download.bytes
    until(lambda: second_download.bytes > former_bytes, "it goes on for the other")
    second_download.leave()
    until(lambda: second_download.over, "it has ended")
    assert (begun_downloads, second_download.arrived, second_download.trouble) == (["dinov2-small"], False, None)


def test_a_model_that_has_arrived_is_loaded(begun_downloads):
    download = routes_models.begin_fetching("dinov2-small")
    until(lambda: download.total == 100e6, "its size is known")
    begun_downloads.append("let go")
    until(lambda: download.over, "it has ended")
    assert (download.arrived, download.trouble) == (True, None)


def test_the_error_of_a_download_is_kept_for_those_who_wait(monkeypatch):
    def broken(name, report):
        raise PlaygroundError("The disk is full.")

    monkeypatch.setattr(models, "fetch", broken)
    download = routes_models.begin_fetching("dinov2-small")
    until(lambda: download.over, "it has ended")
    assert download.trouble == "The disk is full."


def test_a_hub_out_of_reach_is_said_within_three_seconds_and_remembered(monkeypatch):
    from huggingface_hub import constants

    names = []
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(hub, "_silent_since", -hub.REMEMBERED_SECONDS)
    never = threading.Event()
    monkeypatch.setattr(hub, "_hub_answers", lambda address: names.append(address) or never.wait())
    assert hub.PATIENCE < 3
    monkeypatch.setattr(hub, "PATIENCE", 0.05)
    for _ in range(2):
        with pytest.raises(PlaygroundError, match=r"CLIP B/16 could not be fetched: the hub.* can't be reached"):
            hub.check("vit_base_patch16_clip_224.openai")
    assert len(names) == 1
    monkeypatch.setattr(hub, "_silent_since", time.monotonic() - 2 * hub.REMEMBERED_SECONDS)
    monkeypatch.setattr(hub, "_hub_answers", lambda address: True)
    hub.check("vit_base_patch16_clip_224.openai")


def test_models_on_this_machine_come_first_and_have_plain_names(monkeypatch):
    name = "vit_base_patch16_224.mae"
    present_names = {name, *models.OUR_MODELS}
    monkeypatch.setattr(models, "is_here", lambda name: name in present_names)
    cards = models.cards()
    assert {card.name for card in cards[: len(present_names)]} == present_names
    assert not any(card.here for card in cards[len(present_names) :])
    assert not [card.title for card in cards if "_" in card.title]
