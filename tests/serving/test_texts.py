"""Texts in the app: an operator's model that learned from captions says so, and compares patches with a text."""

import pytest
import torch
from models.test_text_tower import save_towers
from starlette.applications import Starlette
from starlette.testclient import TestClient

from playground.pack import unpack
from playground.serving import settings
from playground.serving.routes import ROUTES

CAPTION_WORDS = {"sample": "meadow", "model": "own/captions"}


@pytest.fixture
def http(tmp_path, monkeypatch):
    (tmp_path / "captions").mkdir()
    save_towers("CLIP", tmp_path / "captions")
    monkeypatch.setenv("PLAYGROUND_MODELS_DIR", str(tmp_path))
    monkeypatch.setattr(settings, "now", settings.read)
    return TestClient(Starlette(routes=ROUTES))


def test_a_model_that_learned_from_captions_says_so_and_reads_a_text(http):
    assert http.get("/api/trace", params=CAPTION_WORDS | {"model": "bundled"}).json()["text"] is False
    reply = http.get("/api/trace", params=CAPTION_WORDS).json()
    assert reply["text"] is True
    path = f"/api/trace/{reply['digest']}/text"
    maps = []
    for text in ("a cat", "sky"):
        answer = http.get(path, params=CAPTION_WORDS | {"layer": "1", "text": text})
        assert answer.status_code == 200, answer.text
        maps.append(torch.from_numpy(unpack(answer.content)[1]["matrix"].copy()).view(torch.float16)[0])
        assert len(maps[-1]) == 1 + reply["grid"][0] * reply["grid"][1]
        assert maps[-1].abs().max() <= 1
    assert not torch.equal(*maps)
    for wrong_words in ({"text": ""}, {"text": 61 * "a"}, {}):
        response = http.get(path, params=CAPTION_WORDS | {"layer": "1"} | wrong_words)
        assert response.status_code == 400
        assert "1 to 60 letters" in response.json()["says"]


def test_a_model_without_a_text_tower_says_so(http):
    reply = http.get("/api/trace", params=CAPTION_WORDS | {"model": "bundled"}).json()
    path = f"/api/trace/{reply['digest']}/text"
    answer = http.get(path, params=CAPTION_WORDS | {"model": "bundled", "layer": "1", "text": "a cat"})
    assert answer.status_code == 400
    assert "has no text tower" in answer.json()["says"]
