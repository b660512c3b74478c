"""The models over HTTP: their cards, and downloads for which people wait; one who stops asking counts as gone."""

import threading
import time
from dataclasses import replace

import pytest
from waiting import until

from playground.errors import PlaygroundError
from playground.models import catalogue
from playground.models import hub as real_hub
from playground.serving import downloads as module
from playground.serving import models, settings
from playground.serving.downloads import downloads
from playground.serving.ledger import MOST_DOWNLOADS
from serving.visits import ANNA, BERT

ANNA_KEY, BERT_KEY = ANNA["X-Playground-Key"], BERT["X-Playground-Key"]
CLIP = "vit_base_patch16_clip_224.openai"
DOWNLOAD = f"/api/fetching?model={CLIP}"


@pytest.fixture
def server(monkeypatch):
    def change_settings(**changes):
        new_settings = replace(settings.Settings(), **changes)
        monkeypatch.setattr(settings, "now", lambda: new_settings)

    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.delenv("PLAYGROUND_OFFLINE", raising=False)
    change_settings()
    return change_settings


@pytest.fixture
def hub(own_app, server, monkeypatch):
    """A hub whose download goes on from 3 of 8 MB by `step` until `let_go` is set, and then raises the first of
    `errors`. `now` is the time by the clock of those who wait."""

    class Hub:
        is_half_way, let_go, errors, step, now = threading.Event(), threading.Event(), [], 0, 0.0

    def fetch(name, report):
        with report(total=8e6, desc=name) as bar:
            bar.update(3e6)
            Hub.is_half_way.set()
            while not Hub.let_go.wait(0.005):
                bar.update(Hub.step)
            if Hub.errors:
                raise Hub.errors[0]
            bar.update(5e6)

    monkeypatch.setattr(models, "is_here", lambda name: False)
    monkeypatch.setattr(models, "fetch", fetch)
    monkeypatch.setattr(models, "load", lambda name: None)
    monkeypatch.setattr(module, "clock", lambda: Hub.now)
    yield Hub
    Hub.let_go.set()
    until(lambda: not under_way(), "a download goes on")


def under_way() -> list:
    return [download for download in downloads()._downloads.values() if not download.over]


def status_and_sentence(response) -> tuple[int, str]:
    return response.status_code, response.json()["says"]


# Cards


def test_the_cards_say_which_models_are_here(client, server, monkeypatch):
    facts = {CLIP: {"megabytes": 345, "licence": "mit", "good_for": "learned from captions"}}
    monkeypatch.setattr(catalogue, "short_list", lambda: facts)
    monkeypatch.setattr(models, "is_here", lambda name: name in models.OUR_MODELS)
    reply = client.get("/api/models").json()
    assert reply["open"] is True
    cards = {card["name"]: card for card in reply["cards"]}
    assert list(cards)[-1] == CLIP
    assert cards[CLIP] == {
        "name": CLIP, "title": "CLIP B/16", "good_for": "learned from captions", "suits": "photographs",
        "megabytes": 345, "licence": "mit", "assumed": "", "here": False,
    }  # fmt: skip
    assert (cards["bundled"]["here"], cards["bundled"]["title"]) == (True, "our small ViT")


def test_a_search_finds_models_that_are_not_in_the_list(client, server):
    names = [card["name"] for card in client.get("/api/models", params={"search": "deit tiny"}).json()["cards"]]
    assert names
    assert all("deit_tiny" in name for name in names)
    assert client.get("/api/models?search=resnet50").json()["cards"] == []


def test_a_server_with_a_list_of_its_own_is_not_searched(client, server, monkeypatch):
    server(open=False)
    monkeypatch.setattr(models, "search", lambda text: pytest.fail("it was searched"))
    assert client.get("/api/models").json()["open"] is False
    answer = client.get("/api/models?search=clip")
    assert status_and_sentence(answer) == (403, "This server offers the models of its list and no others.")


# Downloads


def test_a_download_says_how_far_it_is_and_arrives(client, hub):
    assert client.post(DOWNLOAD, headers=ANNA).status_code == 200
    hub.is_half_way.wait()
    reply = client.get(DOWNLOAD, headers=ANNA).json()
    assert reply == {"bytes": 3_000_000, "total": 8_000_000, "arrived": False, "over": False, "trouble": None}
    hub.let_go.set()
    until(lambda: client.get(DOWNLOAD, headers=ANNA).json()["over"], "it does not arrive")
    reply = client.get(DOWNLOAD, headers=ANNA).json()
    assert reply == {"bytes": 8_000_000, "total": 8_000_000, "arrived": True, "over": True, "trouble": None}


def test_a_failed_download_says_why(client, hub):
    hub.errors.append(PlaygroundError("The disk is full."))
    client.post(DOWNLOAD, headers=ANNA)
    hub.let_go.set()
    until(lambda: client.get(DOWNLOAD, headers=ANNA).json()["over"], "it does not end")
    reply = client.get(DOWNLOAD, headers=ANNA).json()
    assert (reply["arrived"], reply["trouble"]) == (False, "The disk is full.")


def test_a_download_ends_when_its_only_waiter_leaves(client, hub):
    client.post(DOWNLOAD, headers=ANNA)
    assert client.delete(DOWNLOAD, headers=ANNA).status_code == 204
    until(lambda: not under_way(), "it goes on, though nobody waits")
    sentence = "CLIP B/16 is not being fetched for you: ask for it again."
    assert status_and_sentence(client.get(DOWNLOAD, headers=ANNA)) == (404, sentence)


def test_another_person_does_not_see_a_download_and_cannot_end_it(client, hub):
    client.post(DOWNLOAD, headers=ANNA)
    assert client.get(DOWNLOAD, headers=BERT).status_code == 404
    assert client.get(DOWNLOAD).status_code == 404
    client.delete(DOWNLOAD, headers=BERT)
    assert client.get(DOWNLOAD, headers=ANNA).json()["over"] is False


def test_one_house_of_many_networks_leaves_a_download_for_others(hub, monkeypatch):
    for number in range(3):
        downloads().wait_for(f"key {number}", f"model {number}", f"2001:db8:1:2{number:02x}::/64")
    with pytest.raises(PlaygroundError, match="3 models are on their way"):
        downloads().wait_for("key 3", "model 3", "2001:db8:1:203::/64")
    downloads().wait_for("anna", "model 3", "10.0.0.1")


def test_a_person_who_has_not_asked_for_five_seconds_counts_as_gone(hub):
    download = downloads().wait_for(ANNA_KEY, "model")
    hub.now = 5
    assert downloads().of(ANNA_KEY, "model") is download
    hub.now = 10
    assert downloads().of(ANNA_KEY, "model") is download
    hub.now = 15.1
    assert downloads().of(ANNA_KEY, "model") is None
    until(lambda: download.over, "it goes on, though nobody waits")
    assert (download.arrived, download.trouble) == (False, None)


def test_one_who_leaves_does_not_stop_the_download_for_another(hub):
    download = downloads().wait_for(BERT_KEY, "model")
    assert downloads().wait_for(ANNA_KEY, "model") is download
    downloads().leave(ANNA_KEY, "model")
    former_bytes, hub.step = download.bytes, 1000
    until(lambda: download.bytes > former_bytes, "it does not go on for the other")
    assert (downloads().of(ANNA_KEY, "model"), downloads().of(BERT_KEY, "model")) == (None, download)
    downloads().leave(BERT_KEY, "model")
    until(lambda: download.over, "it goes on, though nobody waits")
    assert (download.arrived, download.trouble) == (False, None)


def test_a_person_who_asks_for_another_model_has_left_the_first(hub):
    first_download = downloads().wait_for(ANNA_KEY, "model")
    second_download = downloads().wait_for(ANNA_KEY, "another")
    until(lambda: first_download.over, "the first goes on")
    assert downloads().of(ANNA_KEY, "model") is None
    assert downloads().of(ANNA_KEY, "another") == second_download
    assert not second_download.over


def test_the_number_of_simultaneous_downloads_is_bounded(hub):
    for number in range(MOST_DOWNLOADS):
        downloads().wait_for(f"{number}" * 22, f"model {number}")
    with pytest.raises(PlaygroundError, match=r"4 models are on their way to this server already: try again"):
        downloads().wait_for(ANNA_KEY, "one more")
    downloads().wait_for(ANNA_KEY, "model 0")  # more people may wait for a model that is on its way
    downloads().leave("1" * 22, "model 1")
    downloads().wait_for(BERT_KEY, "one more")


def test_without_a_key_no_download_begins(client, hub):
    assert client.post(DOWNLOAD).status_code == 403
    assert not under_way()


def test_another_site_begins_and_ends_no_download(client, hub):
    client.post(DOWNLOAD, headers=ANNA)
    foreign_headers = ANNA | {"Origin": "https://elsewhere.example"}
    other_model = "/api/fetching?model=vit_base_patch16_224.mae"
    answers = client.delete(DOWNLOAD, headers=foreign_headers), client.post(other_model, headers=foreign_headers)
    assert [answer.status_code for answer in answers] == [403, 403]
    assert client.get(DOWNLOAD, headers=ANNA).json()["over"] is False


def test_a_server_that_fetches_nothing_says_so(client, hub, server):
    server(offline=True)
    sentence = "CLIP B/16 is not on this machine, and this server fetches nothing."
    assert status_and_sentence(client.post(DOWNLOAD, headers=ANNA)) == (403, sentence)
    assert not under_way()


@pytest.mark.parametrize("name", ["vit_base_patch16_224.dino", "", "x" * 5000, "../secret.safetensors", "own/secret"])
def test_a_model_that_is_not_offered_is_refused_with_a_sentence(client, hub, server, name):
    server(open=False)
    status, sentence = status_and_sentence(client.post("/api/fetching", params={"model": name}, headers=ANNA))
    assert (status, sentence[-1]) == (400, "."), sentence
    assert not under_way()


def test_a_hub_out_of_reach_is_said_within_three_seconds_and_remembered(monkeypatch):
    from huggingface_hub import constants

    names = []
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(real_hub, "_silent_since", -real_hub.REMEMBERED_SECONDS)
    never = threading.Event()
    monkeypatch.setattr(real_hub, "_hub_answers", lambda address: names.append(address) or never.wait())
    assert real_hub.PATIENCE < 3
    monkeypatch.setattr(real_hub, "PATIENCE", 0.05)
    for _ in range(2):
        with pytest.raises(PlaygroundError, match=r"CLIP B/16 could not be fetched: the hub.* can't be reached"):
            real_hub.check("vit_base_patch16_clip_224.openai")
    assert len(names) == 1
    monkeypatch.setattr(real_hub, "_silent_since", time.monotonic() - 2 * real_hub.REMEMBERED_SECONDS)
    monkeypatch.setattr(real_hub, "_hub_answers", lambda address: True)
    real_hub.check("vit_base_patch16_clip_224.openai")


def test_models_on_this_machine_come_first_and_have_plain_names(monkeypatch):
    name = "vit_base_patch16_224.mae"
    present_names = {name, *models.OUR_MODELS}
    monkeypatch.setattr(models, "is_here", lambda name: name in present_names)
    cards = models.cards()
    assert {card.name for card in cards[: len(present_names)]} == present_names
    assert not any(card.here for card in cards[len(present_names) :])
    assert not [card.title for card in cards if "_" in card.title]
