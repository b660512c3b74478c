"""What who runs the server may read, and nobody else."""

import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from playground.serving import ledger, settings
from playground.serving.routes import ROUTES

ROOT = Path(__file__).parent.parent.parent


def from_where(address: str) -> TestClient:
    return TestClient(Starlette(routes=ROUTES), client=(address, 5))


@pytest.fixture
def seats(monkeypatch):
    found = ledger.Seats(ledger.costs)
    monkeypatch.setattr(ledger, "seats", found)
    return found


def number(text: str, name: str) -> float:
    return float(re.search(rf"^playground_{re.escape(name)} (.+)$", text, re.MULTILINE)[1])


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_who_asks_on_the_machine_itself_reads_numbers_and_nobody_s_name(seats, address):
    for place, key in enumerate(["the same key of two tabs"] * 2 + ["", ""]):
        seat = seats.enter("203.0.113.7", lambda: None)
        seat.session, seat.key = f"session {place}", key
    ledger.costs.charge(seat.who(), 1.5, "passes")
    ledger.refused["seats"] += 1
    answer = from_where(address).get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    assert (number(answer.text, "people"), number(answer.text, "pages")) == (3, 4)
    assert number(answer.text, 'waiting{queue="passes"}') == 0
    assert number(answer.text, 'seconds_total{kind="passes"}') >= 1.5
    assert number(answer.text, 'refused_total{reason="seats"}') >= 1
    assert number(answer.text, "memory_bytes") > 1e7
    assert not any(word in answer.text for word in ("203.0.113", "the same key", "session "))


def test_its_labels_come_from_the_program_and_never_from_a_request(seats):
    """Whoever could name one would fill the operator's memory."""
    source = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "playground").rglob("*.py"))
    named = set(re.findall(r'="([^"]+)"}', from_where("127.0.0.1").get("/metrics").text))
    assert {f'"{name}"' in source for name in named} == {True}


@pytest.mark.parametrize("line", ["# HELP", "# TYPE"])
def test_each_metric_is_described_once_as_prometheus_reads_it(line):
    text = from_where("127.0.0.1").get("/metrics").text
    named = re.findall(rf"^{line} (\w+) ", text, re.MULTILINE)
    assert len(named) == len(set(named)) > 8
    assert re.fullmatch(r"(?:# (?:HELP|TYPE) \w+ [\w ,']+\n|\w+(?:{\w+=\"[\w ]+\"})? [\d.e+-]+\n)+", text), text


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Forwarded-Proto", "X-Real-IP", "Via"])
def test_who_comes_through_a_proxy_on_the_machine_is_a_stranger(header):
    assert from_where("127.0.0.1").get("/metrics", headers={header: "127.0.0.1"}).status_code == 404


@pytest.mark.parametrize("address", ["203.0.113.7", "10.0.0.1", "testclient"])
def test_strangers_find_nothing_there_until_the_operator_names_their_address(address, monkeypatch):
    assert from_where(address).get("/metrics").status_code == 404
    monkeypatch.setattr(settings, "now", lambda: settings.Settings(operators=("10.0.0.0/8", "203.0.113.7/32")))
    assert from_where(address).get("/metrics").status_code == (404 if address == "testclient" else 200)
