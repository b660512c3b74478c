"""Models on their way: once for everybody, stopped when nobody waits, and a hub out of reach is said at once."""

import threading
import time

import pytest
from waiting import until

from playground.errors import PlaygroundError
from playground.models import hub
from playground.serving import fetching, models


@pytest.fixture
def slow(monkeypatch):
    """A download that goes on until it is let go, and how often it was begun."""
    begun = []

    def fetch(name, report):
        begun.append(name)
        with report(total=100e6, desc=name) as bar:
            for _ in range(10_000):
                bar.update(1000)
                if begun[-1] == "let go":
                    return
                time.sleep(0.005)

    monkeypatch.setattr(models, "fetch", fetch)
    monkeypatch.setattr(models, "load", lambda name: None)
    return begun


def test_two_people_wait_for_one_download_and_it_ends_when_both_have_left(slow):
    one, two = fetching.begin("dinov2-small"), fetching.begin("dinov2-small")
    assert one is two
    until(lambda: one.bytes > 0, "bytes come")
    one.leave()
    before = two.bytes
    until(lambda: two.bytes > before, "it goes on for the other")
    two.leave()
    until(lambda: two.over, "it has ended")
    assert (slow, two.arrived, two.trouble) == (["dinov2-small"], False, None)


def test_what_has_come_is_loaded(slow):
    coming = fetching.begin("dinov2-small")
    until(lambda: coming.total == 100e6, "its size is known")
    slow.append("let go")
    until(lambda: coming.over, "it has ended")
    assert (coming.arrived, coming.trouble) == (True, None)


def test_what_went_wrong_is_kept_for_who_waits(monkeypatch):
    def broken(name, report):
        raise PlaygroundError("The disk is full.")

    monkeypatch.setattr(models, "fetch", broken)
    coming = fetching.begin("dinov2-small")
    until(lambda: coming.over, "it has ended")
    assert coming.trouble == "The disk is full."


def test_a_hub_out_of_reach_is_said_within_three_seconds_and_remembered(monkeypatch):
    from huggingface_hub import constants

    asked = []
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(hub, "_silent_since", -hub.REMEMBERED)
    never = threading.Event()
    monkeypatch.setattr(hub, "_answers", lambda address: asked.append(address) or never.wait())
    assert hub.PATIENCE < 3
    monkeypatch.setattr(hub, "PATIENCE", 0.05)
    for _ in range(2):
        with pytest.raises(PlaygroundError, match=r"CLIP B/16 could not be fetched: the hub.* can't be reached"):
            hub.check("vit_base_patch16_clip_224.openai")
    assert len(asked) == 1
    monkeypatch.setattr(hub, "_silent_since", time.monotonic() - 2 * hub.REMEMBERED)
    monkeypatch.setattr(hub, "_answers", lambda address: True)
    hub.check("vit_base_patch16_clip_224.openai")


def test_what_is_on_this_machine_stands_first_among_the_cards_under_a_plain_name(monkeypatch):
    name = "vit_base_patch16_224.mae"
    here = {name, *models.OURS}
    monkeypatch.setattr(models, "is_here", lambda asked: asked in here)
    cards = models.cards()
    assert {card.name for card in cards[: len(here)]} == here
    assert not any(card.here for card in cards[len(here) :])
    assert not [card.title for card in cards if "_" in card.title]


def test_a_search_finds_any_plain_vit_by_its_plain_name_too():
    found = models.search("clip large 14")
    assert found
    assert all("CLIP L/14" in card.title or "clip" in card.name for card in found)
    assert models.search("resnet50") == []
