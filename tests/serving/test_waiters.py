"""People who wait for a model: each person waits for one model, and one who stops asking counts as gone."""

import threading
import time

import pytest
from waiting import until

from playground.errors import PlaygroundError
from playground.models import hub
from playground.serving import downloads as module
from playground.serving import models
from playground.serving.downloads import downloads
from playground.serving.ledger import MOST_DOWNLOADS

ANNA, BERT = "anna" * 6, "bert" * 6


@pytest.fixture
def clock(own_app, monkeypatch):
    """Replaces downloads: each goes on until nobody waits or the test ends. Yields the time of a clock that the test
    sets."""
    let_go, now = threading.Event(), [0.0]

    def fetch(name, report):
        with report(total=100e6, desc=name) as bar:
            while not let_go.wait(0.005):
                bar.update(1000)

    monkeypatch.setattr(models, "fetch", fetch)
    monkeypatch.setattr(models, "load", lambda name: None)
    monkeypatch.setattr(module, "clock", lambda: now[0])
    yield now
    let_go.set()
    until(lambda: all(download.over for download in downloads()._downloads.values()), "a download goes on")


def test_a_person_who_has_not_asked_for_five_seconds_counts_as_gone(clock):
    download = downloads().wait_for(ANNA, "model")
    clock[0] = 5
    assert downloads().of(ANNA, "model") is download
    clock[0] = 10
    assert downloads().of(ANNA, "model") is download
    clock[0] = 15.1
    assert downloads().of(ANNA, "model") is None
    until(lambda: download.over, "it goes on, though nobody waits")
    assert (download.arrived, download.trouble) == (False, None)


def test_one_who_leaves_does_not_stop_the_download_for_another(clock):
    download = downloads().wait_for(BERT, "model")
    assert downloads().wait_for(ANNA, "model") is download
    downloads().leave(ANNA, "model")
    former_bytes = download.bytes
    until(lambda: download.bytes > former_bytes, "it does not go on for the other")
    assert (downloads().of(ANNA, "model"), downloads().of(BERT, "model")) == (None, download)
    downloads().leave(BERT, "model")
    until(lambda: download.over, "it goes on, though nobody waits")
    assert (download.arrived, download.trouble) == (False, None)


def test_a_person_who_asks_for_another_model_has_left_the_first(clock):
    first_download = downloads().wait_for(ANNA, "model")
    second_download = downloads().wait_for(ANNA, "another")
    until(lambda: first_download.over, "the first goes on")
    assert downloads().of(ANNA, "model") is None
    assert downloads().of(ANNA, "another") == second_download
    assert not second_download.over


def test_the_number_of_simultaneous_downloads_is_bounded(clock):
    for number in range(MOST_DOWNLOADS):
        downloads().wait_for(f"{number}" * 22, f"model {number}")
    with pytest.raises(PlaygroundError, match=r"4 models are on their way to this server already: try again"):
        downloads().wait_for(ANNA, "one more")
    downloads().wait_for(ANNA, "model 0")  # more people may wait for a model that is on its way
    downloads().leave("1" * 22, "model 1")
    downloads().wait_for(BERT, "one more")


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
