"""The models over HTTP: their cards, small pictures, and downloads for which people wait."""

import threading
from dataclasses import replace

import pytest
from waiting import until

from playground.errors import PlaygroundError
from playground.models import catalogue
from playground.serving import models, settings
from playground.serving.downloads import downloads

ANNA, BERT = {"X-Playground-Key": "anna" * 6}, {"X-Playground-Key": "bert" * 6}
CLIP = "vit_base_patch16_clip_224.openai"
DOWNLOAD = f"/api/fetching?model={CLIP}"


@pytest.fixture
def server(monkeypatch):
    """A function that changes the server's settings: server(open=False, …)."""

    def change_settings(**changes):
        new_settings = replace(settings.Settings(), **changes)
        monkeypatch.setattr(settings, "now", lambda: new_settings)

    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.delenv("PLAYGROUND_OFFLINE", raising=False)
    change_settings()
    return change_settings


@pytest.fixture
def hub(own_app, server, monkeypatch):
    """A hub whose download stops at 3 of 8 MB until `let_go` is set, and then raises the first of `errors`."""

    class Hub:
        is_half_way, let_go, errors = threading.Event(), threading.Event(), []

    def fetch(name, report):
        with report(total=8e6, desc=name) as bar:
            bar.update(3e6)
            Hub.is_half_way.set()
            while not Hub.let_go.wait(0.005):
                bar.update(0)
            if Hub.errors:
                raise Hub.errors[0]
            bar.update(5e6)

    monkeypatch.setattr(models, "is_here", lambda name: False)
    monkeypatch.setattr(models, "fetch", fetch)
    monkeypatch.setattr(models, "load", lambda name: None)
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
