"""All routes alike: hostile words in an address; and the few that belong to no subject."""

import re

import pytest
from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.testclient import TestClient

from playground.serving import chosen, figure_words, ledger, pictures, routes_figures, settings
from playground.serving.routes import ROUTES
from playground.serving.traces import Setup
from serving.test_people import PATH_FIELDS
from serving.visits import ANNA, assert_refused, client

A_STEP = {"lesson": "by_hand", "step": "colours"}


@pytest.fixture
def words_read(monkeypatch):
    read_words = set()

    class Reading(QueryParams):
        def __getitem__(self, key):
            read_words.add(key)
            return super().__getitem__(key)

        def get(self, key, default=None):
            read_words.add(key)
            return super().get(key, default)

        def __contains__(self, key):
            read_words.add(key)
            return super().__contains__(key)

    monkeypatch.setattr("starlette.requests.QueryParams", Reading)
    return read_words


HOSTILE_VALUES = ("\x00", "../../etc/passwd", "<script>" + "é" * 300, "NaN", "1e309", "9" * 5000, "[{}]")
# These routes read the whole address, and choose the words in it that they know.
READERS_OF_ALL = ("/figure.{kind}", "/api/exports", "/api/lessons/{lesson}/{step}", "/api/teach/slides.html")
ALL_WORDS = {*chosen.PAGE_PATTERNS, *figure_words.SUBJECT_WORDS, *figure_words.CHOICES_OF_VIEW}
ALL_WORDS |= {*figure_words.LOOK_FIELDS, *routes_figures.EXPORT_WORDS, "held", "scenes"}


@pytest.mark.usefixtures("nothing_fetched")
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{'+'.join(sorted(route.methods))} {route.path}")
def test_no_hostile_value_of_any_word_brings_out_more_than_a_sentence(route, words_read):
    digest = chosen.digest(pictures.sample("flock"), Setup("bundled"))
    fields = PATH_FIELDS | A_STEP | {"digest": digest, "kind": "csv", "id": "0" * 16}
    path = route.path.replace("{entry:path}", "{entry}").format(**fields)
    usual_words = {"sample": "flock", "model": "bundled", "layer": "0", "layers": "0", "query": "1,1"}
    words = ALL_WORDS if route.path in READERS_OF_ALL else words_read
    with client() as http:
        for method in sorted(route.methods - {"HEAD"}):
            attacked = set()
            http.request(method, path, params=usual_words, headers=ANNA)
            while left := words - attacked:  # a route may read more words where another one is hostile
                word = min(left)
                attacked.add(word)
                for hostile in HOSTILE_VALUES:
                    answer = http.request(method, path, params=usual_words | {word: hostile}, headers=ANNA)
                    assert answer.status_code < 500, (word, hostile[:20], answer.text[:300])
                    if answer.status_code >= 400:
                        assert_refused(answer)
    assert attacked or "trace" not in route.path


# Metrics, which only the operator may read


def client_at(address: str) -> TestClient:
    return TestClient(Starlette(routes=ROUTES), client=(address, 5))


@pytest.fixture
def present(monkeypatch):
    present = ledger.Present(ledger.costs())
    monkeypatch.setattr(ledger, "present", lambda: present)
    return present


def metric(text: str, name: str) -> float:
    return float(re.search(rf"^playground_{re.escape(name)} (.+)$", text, re.MULTILINE)[1])


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_metrics_are_read_on_the_machine_itself_and_name_nobody(present, address):
    for key in ("the same key of two tabs", "the same key of two tabs", "another key"):
        present.note(ledger.Visitor(key, "203.0.113.7"))
    ledger.costs().charge(ledger.Visitor(key, "203.0.113.7"), 1.5, "passes")
    ledger.refusals()["requests"] += 1
    answer = client_at(address).get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    assert metric(answer.text, "people") == 2
    assert metric(answer.text, 'waiting{queue="passes"}') == 0
    assert metric(answer.text, 'seconds_total{kind="passes"}') >= 1.5
    assert metric(answer.text, 'refused_total{reason="requests"}') >= 1
    assert metric(answer.text, "memory_bytes") > 1e7
    assert not any(word in answer.text for word in ("203.0.113", "the same key", "another key"))


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Forwarded-Proto", "X-Real-IP", "Via"])
def test_metrics_are_refused_through_a_proxy_on_the_machine(header):
    assert client_at("127.0.0.1").get("/metrics", headers={header: "127.0.0.1"}).status_code == 404


@pytest.mark.parametrize("address", ["203.0.113.7", "10.0.0.1", "testclient"])
def test_strangers_find_no_metrics_until_the_operator_names_their_address(address, monkeypatch):
    assert client_at(address).get("/metrics").status_code == 404
    monkeypatch.setattr(settings, "now", lambda: settings.Settings(operators=("10.0.0.0/8", "203.0.113.7/32")))
    assert client_at(address).get("/metrics").status_code == (404 if address == "testclient" else 200)
