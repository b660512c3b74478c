"""What the server keeps of a person: for a limited time, within bounds, and readable by nobody else."""

import gc
import weakref
from itertools import product

import pytest
from starlette.testclient import TestClient

from playground.lessons.registry import LESSONS
from playground.serving import people, pictures, traces, worked
from playground.serving.app import App
from playground.serving.routes import ROUTES
from playground.ui.server import server_of
from serving.visits import ANNA, BERT, assert_refused, bring, photograph

pytestmark = pytest.mark.usefixtures("own_app")
ANNA_KEY, BERT_KEY = ANNA["X-Playground-Key"], BERT["X-Playground-Key"]


@pytest.fixture
def clock(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(people.time, "monotonic", lambda: now[0])
    return now


def picture(number: int = 0) -> pictures.Picture:
    return pictures.upload(photograph(number), f"{number}.jpg")


def keep_results(picture_id: str) -> None:
    worked.own_results().get((picture_id, "what a lesson found"), lambda: b"x" * 1000)


def test_a_person_is_forgotten_ten_minutes_after_their_last_request(clock):
    person = people.everybody().enter(ANNA_KEY)
    person.take(picture())
    clock[0] += 599
    assert people.everybody().find(ANNA_KEY) is person  # this call counts as a request
    clock[0] += 599
    people.everybody().forget_the_gone()
    assert people.everybody().find(ANNA_KEY) is person
    clock[0] += 601
    people.everybody().forget_the_gone()
    assert people.everybody()._people == {}
    assert people.everybody().find(ANNA_KEY) is None


def test_a_person_who_comes_back_too_late_finds_nothing_even_before_the_sweep(clock):
    people.everybody().enter(ANNA_KEY).take(picture())
    clock[0] += 601
    assert people.everybody().find(ANNA_KEY) is None
    assert people.everybody().enter(ANNA_KEY).pictures == {}


def test_a_page_that_is_left_open_holds_no_picture_of_somebody_who_is_forgotten(clock):
    person = people.everybody().enter(ANNA_KEY)
    person.take(picture())
    (reference,) = (weakref.ref(kept_picture) for kept_picture in person.pictures.values())
    keep_results(next(iter(person.pictures)))
    clock[0] += 601
    people.everybody().forget_the_gone()
    gc.collect()
    assert reference() is None
    assert (person.pictures, worked.own_results().bytes, traces.own_traces().bytes) == ({}, 0, 0)


def test_what_is_made_of_a_picture_while_it_is_dropped_is_dropped_with_the_next_sweep(clock):
    person = people.everybody().enter(ANNA_KEY)
    person.take(kept := picture(1))
    for picture_id in (kept.id, "dropped"):
        keep_results(picture_id)
    people.everybody().forget_the_gone()
    assert [key[0] for key in worked.own_results()._entries] == [kept.id]


@pytest.mark.parametrize("way", ["told to", "by too many others", "of one picture"])
def test_a_forgotten_picture_goes_with_all_results_about_it(clock, monkeypatch, way):
    person, portrait = people.everybody().enter(ANNA_KEY), picture()
    person.take(portrait)
    keep_results(portrait.id)
    if way == "told to":
        people.everybody().forget(ANNA_KEY)
    elif way == "of one picture":
        assert person.drop(portrait.id)
        assert not person.drop(portrait.id)
    else:
        monkeypatch.setattr(people, "MOST_PEOPLE", 3)
        for number in range(3):
            people.everybody().enter(f"{number}" * 22)
        assert people.everybody().find(ANNA_KEY) is None
    assert (portrait.id in person.pictures, worked.own_results().bytes) == (False, 0)


def test_of_too_many_people_the_one_who_asked_longest_ago_is_forgotten(clock, monkeypatch):
    monkeypatch.setattr(people, "MOST_PEOPLE", 3)
    keys = [f"{number}" * 22 for number in range(5)]
    for key in keys[:3]:
        people.everybody().enter(key)
    people.everybody().find(keys[0])
    people.everybody().enter(keys[3])
    assert list(people.everybody()._people) == [keys[2], keys[0], keys[3]]


def test_the_last_few_pictures_of_a_person_are_kept(clock):
    person = people.everybody().enter(ANNA_KEY)
    for number in range(people.MOST_PICTURES + 2):
        person.take(picture(number))
    assert [kept_picture.name for kept_picture in person.pictures.values()] == ["2.jpg", "3.jpg", "4.jpg"]
    person.take(picture(2))  # the same picture again
    assert [kept_picture.name for kept_picture in person.pictures.values()] == ["3.jpg", "4.jpg", "2.jpg"]


@pytest.mark.parametrize(
    "key", ["", "x" * 21, "x" * 65, "x" * 21 + "é", "x" * 30 + " ", "../" * 8, "x" * 10**5, "x" * 21 + "\n"]
)
def test_an_invalid_key_creates_no_person(http, key):
    try:
        answer = http.post("/api/pictures", content=photograph(), headers={"X-Playground-Key": key.encode()})
    except (ValueError, RuntimeError):  # the HTTP client refuses to send such a header
        return
    assert_refused(answer, 403)
    assert not people.everybody()._people


# No address gives a person's data to another person

PATH_FIELDS = {
    "digest": "0" * 16, "edition": "0" * 16, "name": "flock", "kind": "svg", "entry": "shell/served.js",
    "file": "bundled.bin", "number": "0", "code": "ABCDE", "lesson": "scale",
    "step": next(iter(LESSONS["scale"].steps)), "paper": "A4",
}  # fmt: skip
STRANGERS = {
    "another key": (BERT, {}),
    "no key": ({}, {}),
    "a key of another form": ({"X-Playground-Key": ANNA_KEY[:-1] + "!"}, {}),
    "the key in the address": ({}, {"key": ANNA_KEY, "X-Playground-Key": ANNA_KEY, "x-playground-key": ANNA_KEY}),
    "the key as a cookie": ({"Cookie": f"X-Playground-Key={ANNA_KEY}; key={ANNA_KEY}"}, {}),
    "the key as a password": ({"Authorization": f"Bearer {ANNA_KEY}"}, {}),
}


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{'+'.join(sorted(route.methods))} {route.path}")
def test_nobody_reads_another_s_picture_by_any_address(http, route):
    reply = bring(http, ANNA, name="secret-holiday.jpg")
    digest = http.get("/api/trace", params={"mine": reply["id"], "model": "bundled"}, headers=ANNA).json()["digest"]
    words = {"mine": reply["id"], "model": "bundled", "layers": "0", "layer": "0"}
    digests, methods = (PATH_FIELDS, PATH_FIELDS | {"digest": digest}), sorted(route.methods - {"HEAD"})
    for (stranger, (headers, extra_words)), known_digest, method in product(STRANGERS.items(), digests, methods):
        path = route.path.replace("{entry:path}", "{entry}")
        path = path.format(**known_digest, id=reply["id"])
        answer = http.request(method, path, params=words | extra_words, headers=headers)
        request = (stranger, method, path, answer.text[:300])
        assert answer.status_code not in (200, 202, 204) or is_everybody_s(answer, route), request
        assert "secret-holiday" not in answer.text, request
        assert digest not in answer.text, request
    assert http.get(f"/api/pictures/{reply['id']}.jpg", headers=ANNA).status_code == 200, "it is gone"


def is_everybody_s(answer, route) -> bool:
    """Whether this route answers everybody alike: lists, scripts, and what people do with their own pictures."""
    paths = "/api/models /api/moments /api/pictures /api/fetching /healthz /readyz /c /c/{code} /api/lessons /api/teach"
    return route.path in (*paths.split(), "/api/lessons/{lesson}", "/api/app/{digest}/{entry:path}")


def test_two_people_with_one_photograph_each_have_their_own_copy(http):
    first_reply, second_reply = bring(http, ANNA, name="a.jpg"), bring(http, BERT, name="b.jpg")
    assert first_reply["id"] == second_reply["id"]
    assert http.delete(f"/api/pictures/{first_reply['id']}", headers=ANNA).status_code == 204
    assert http.get(f"/api/pictures/{first_reply['id']}.jpg", headers=BERT).status_code == 200
    assert_refused(http.get(f"/api/pictures/{first_reply['id']}.jpg", headers=ANNA), 404)


def test_two_servers_in_one_process_share_no_pictures_no_people_and_no_counts(monkeypatch):
    monkeypatch.setenv("PLAYGROUND_WORKBENCH", "no")  # Streamlit is one in a process
    first, second = (
        TestClient(server_of(App()), base_url="http://localhost", client=("127.0.0.1", 5)) for _ in range(2)
    )
    brought = first.post("/api/pictures", content=photograph(), headers=ANNA).json()
    address = f"/api/pictures/{brought['id']}.jpg"
    assert [http.get(address, headers=ANNA).status_code for http in (first, second)] == [200, 404]
    assert first.post("/api/classes", json={"root": "http://localhost/"}, headers=ANNA).status_code == 200
    bytes_held = [http.get("/metrics").text.split("\nplayground_own_pictures_bytes ")[1] for http in (first, second)]
    assert [float(text.split()[0]) > 0 for text in bytes_held] == [True, False]
