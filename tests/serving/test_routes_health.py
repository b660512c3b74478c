"""What who runs the server may read, and nobody else."""

import json

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from playground.errors import PlaygroundError
from playground.serving import admission, settings
from playground.serving.routes import ROUTES
from serving.visits import refused

KEY = "the operator's own secret"


def from_where(address: str) -> TestClient:
    return TestClient(Starlette(routes=ROUTES), client=(address, 5))


@pytest.fixture
def places(monkeypatch):
    found = admission.Places()
    monkeypatch.setattr(admission, "sockets", found)
    return found


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_who_asks_on_the_machine_itself_reads_numbers_and_nobody_s_name(places, address):
    for number, key in enumerate(["the same key of two tabs"] * 2 + ["", ""]):
        place = places.enter("203.0.113.7", lambda: None)
        place.session, place.key = f"session {number}", key
    answer = from_where(address).get("/api/status")
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    found = answer.json()
    assert (found["people"], found["pages"], found["waiting"]) == (3, 4, 0)
    assert found.keys() == {
        "people", "pages", "waiting", "requests", "late_ms", "memory_mb", "memory_limit_mb", "own_pictures_mb",
        "refused",
    }  # fmt: skip
    assert found["memory_mb"] > 10
    assert found["refused"].keys() <= {*admission.BOUNDS, "pages", "foreign pages", "foreign names"}
    assert not any(word in json.dumps(found) for word in ("203.0.113.7", "the same key", "session "))


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Forwarded-Proto", "X-Real-IP", "Via"])
def test_who_comes_through_a_proxy_on_the_machine_is_a_stranger(header):
    refused(from_where("127.0.0.1").get("/api/status", headers={header: "127.0.0.1"}), 403)


@pytest.mark.parametrize("address", ["203.0.113.7", "10.0.0.1", "testclient"])
def test_strangers_read_nothing_but_with_the_key(address, monkeypatch):
    ask = from_where(address).get
    refused(ask("/api/status"), 403)
    refused(ask("/api/status", headers={"X-Playground-Operator": ""}), 403)
    monkeypatch.setattr(settings, "now", lambda: settings.Settings(operator_key=KEY))
    assert ask("/api/status", headers={"X-Playground-Operator": KEY}).status_code == 200
    assert ask("/api/status", headers={"X-Playground-Operator": KEY, "X-Forwarded-For": "1.2.3.4"}).status_code == 200
    for wrong in ("", KEY[:-1], "é"):
        refused(ask("/api/status", headers={"X-Playground-Operator": wrong.encode()}), 403)


def test_a_short_key_is_none():
    with pytest.raises(PlaygroundError, match="16 letters"):
        settings.read({"PLAYGROUND_OPERATOR_KEY": "short"})
    assert settings.read({"PLAYGROUND_OPERATOR_KEY": KEY}).operator_key == KEY
    assert settings.read({}).operator_key is None
