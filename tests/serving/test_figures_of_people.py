"""Figures of a person's own picture need that person's key. Other pages may embed a figure and cache it."""

import threading

import pytest
from waiting import until

from playground.serving import people, pictures, queue, worked
from serving.figure_requests import FLOCK, KEY, PORTRAIT, STRANGER, TINY, ask, figure_bytes, refusal_of


@pytest.fixture
def mine_id():
    picture = pictures.upload(PORTRAIT.read_bytes(), "my cat.jpg")
    people.everybody().enter(KEY["X-Playground-Key"]).take(picture)
    yield picture.id
    people.everybody().forget(KEY["X-Playground-Key"])


# A person's own picture -----------------------------------------------------------------------------------------------


def test_a_figure_of_ones_own_picture_needs_its_key(client, mine_id):
    words = {"mine": mine_id, "model": "bundled", "layer": "3"} | TINY
    response = ask(client, "png", words, "POST")
    assert response.status_code == 200, response.text[:200]
    assert response.headers["cache-control"] == "no-store"
    assert "asked for by POST" in refusal_of(client, "png", words, status=403)
    assert "asked for by POST" in refusal_of(client, "png", words, status=403, headers=KEY)
    assert client.post("/figure.png", params=words).status_code == 403
    assert client.post("/figure.png", params=words, headers=STRANGER).status_code == 404
    foreign_headers = KEY | {"Origin": "https://elsewhere.example"}
    assert client.post("/figure.png", params=words, headers=foreign_headers).status_code == 403
    assert client.get("/api/exports", params=words).status_code in (400, 404)


def test_a_comparison_with_a_person_s_own_picture_needs_their_key(client, mine_id):
    words = FLOCK | TINY | {"layout": "compare", "with": f"mine:{mine_id}"}
    worked.shared_results().drop_where(lambda key: True)
    assert "asked for by POST" in refusal_of(client, "png", words, status=403)
    assert client.post("/figure.png", params=words, headers=STRANGER).status_code == 404
    assert ask(client, "png", words, "POST").status_code == 200
    assert worked.shared_results().bytes == 0 < worked.own_results().bytes


# In somebody else's page ----------------------------------------------------------------------------------------------


def test_a_figure_can_be_embedded_in_a_page(client):
    inline_answer = ask(client, "svg", FLOCK | TINY)
    assert inline_answer.headers["content-disposition"] == "inline; filename*=UTF-8''flock-head.svg"
    assert "attachment" in ask(client, "html", FLOCK, "POST").headers["content-disposition"]


def test_a_figure_in_a_page_waits_for_its_turn(client, monkeypatch):
    figure_bytes(client, "csv", FLOCK)  # traced before: two requests for one new trace would share a turn
    line = queue.Queue(1)
    monkeypatch.setattr(queue, "figures", lambda: line)
    answers = []
    worked.shared_results().drop_where(lambda key: True)
    with line.take():
        page_thread = threading.Thread(target=lambda: answers.append(ask(client, "png", FLOCK | TINY)))
        page_thread.start()
        until(lambda: line.waiting_count, "the picture of a page waits")
        assert not answers
    page_thread.join(60)
    assert answers[0].headers["content-type"] == "image/png"
