"""A class over HTTP: the answers to phones, to the lecturer and to strangers."""

import csv
import json
import math
import threading

import pytest
from waiting import until

from playground.serving import classes, ledger, people, phones, routes_classes
from serving.visits import ANNA, BERT, assert_refused, bring

pytestmark = pytest.mark.usefixtures("own_app")
LECTURER = {"X-Playground-Key": "lecturer" * 3}
ROOT = {"root": "https://attention.example.org/"}
OPTIONS = [["yes", {"en": "yes"}], ["no", {"en": "no"}]]
CHOICE = {"asks": {"en": "Is it?"}, "guess": {"kind": "Choice", "options": OPTIONS}}
NUMBER = {"asks": {"en": "How many?"}, "guess": {"kind": "Number", "low": 1, "high": 34}}
FINE_NUMBER = {"asks": {"en": "How much?"}, "guess": {"kind": "Number", "low": -1, "high": 1, "step": 0.01}}
PLACE = {
    "asks": {"en": "Press."}, "guess": {"kind": "Place", "rows": 6, "columns": 8},
    "picture": "api/samples/cat/0a1b.jpg",
}  # fmt: skip


class Lecturer:
    def __init__(self, http):
        self.http = http
        reply = http.post("/api/classes", json=ROOT, headers=LECTURER).json()
        self.code, self.reply = reply["code"], reply
        self.headers = LECTURER | {"X-Playground-Lecturer": reply["secret"]}

    def act(self, **action):
        return self.http.post(f"/api/classes/{self.code}/lecturer", json=action, headers=self.headers)

    def ask(self, question, n=1):
        answer = self.act(do="ask", scene={"name": str(n), "n": n, "title": {"en": "Where?"}}, question=question)
        assert answer.status_code == 200, answer.text
        return answer.json()["question"]["number"]

    def look(self):
        return self.http.get(f"/api/classes/{self.code}/lecturer", headers=self.headers).json()

    def phone(self, who=ANNA, after=-1):
        return self.http.get(f"/api/classes/{self.code}?after={after}", headers=who)

    def guess(self, number, guess, who=ANNA, turn=1, **options):
        body = {"question": number, "turn": turn, "guess": guess}
        return self.http.post(f"/api/classes/{self.code}/guesses", content=json.dumps(body), headers=who, **options)


def come_from(monkeypatch, address: str) -> None:
    monkeypatch.setattr(people, "network", lambda _: ledger.network(address))


@pytest.fixture
def group(http):
    return Lecturer(http)


def test_a_class_has_a_code_an_address_and_a_qr_code(group):
    assert group.reply["address"] == f"https://attention.example.org/c/{group.code}"
    assert group.reply["trouble"] == ""
    assert len(group.reply["qr"]) == len(group.reply["qr"][0])
    page = group.http.get(f"/c/{group.code}")
    assert page.status_code == 200
    script = page.text.partition('src="../')[2].partition('"')[0].replace("&amp;", "&")
    assert group.http.get(f"/{script}").status_code == 200
    assert group.http.get("/c").status_code == 200


def test_a_class_knows_how_many_questions_its_plan_has_and_counts_each_once(http):
    for planned, kept in ((8, 8), (None, 0), (-1, 0), ("8", 0), (10**9, 0)):
        message = {"root": "https://attention.example.org/", "planned": planned}
        assert http.post("/api/classes", json=message, headers=LECTURER).json()["planned"] == kept
    group = Lecturer(http)
    for n in (1, 1, 2):
        group.ask(NUMBER, n=n)
    assert group.look()["asked"] == 2


def test_a_class_on_a_server_for_this_machine_alone_says_which_command_opens_it(http, monkeypatch):
    for root in ("http://localhost:8501/", "http://127.0.0.1:8501/", "http://[::1]:8501/"):
        reply = http.post("/api/classes", json={"root": root}, headers=LECTURER).json()
        assert reply["trouble"] == routes_classes.REACHABLE_COMMAND
    monkeypatch.setattr(routes_classes, "_own_address", lambda: "192.0.2.7")
    monkeypatch.setattr(routes_classes, "_listens", lambda address, port: True)
    reply = http.post("/api/classes", json={"root": "http://localhost:8501/base/"}, headers=LECTURER).json()
    assert reply["address"].startswith("http://192.0.2.7:")
    assert "/base/c/" in reply["address"]


def test_a_phone_sees_all_guesses_and_the_truth_only_when_they_are_shown(group):
    number = group.ask(NUMBER)
    first_state = group.phone().json()
    assert first_state["question"]["asks"] == {"en": "How many?"}
    assert group.guess(number, 20).json() == {"guess": 20}
    assert group.guess(number, 7, BERT).status_code == 200
    state = group.phone().json()
    assert state["mine"] == [20]
    assert not {"counts", "truth", "after"} & state["question"].keys()
    assert not {"counts", "truth", "after"} & group.look()["question"].keys(), "the projector shows an answer"
    assert group.look()["question"]["answered"] == [2]
    group.act(do="show")
    assert group.phone().json()["question"]["counts"] == [{"20": 1, "7": 1}]
    assert "truth" not in group.phone().json()["question"]
    group.act(do="again")
    assert "counts" not in group.phone().json()["question"]
    assert_refused(group.guess(number, 4, turn=1), 409)
    assert group.guess(number, 12, turn=2).status_code == 200
    group.act(do="show")
    assert "twice" in assert_refused(group.act(do="again"))
    group.act(do="truth", truth=12, after={"en": "So far."})
    reply = group.phone().json()
    assert reply["question"]["counts"] == [{"20": 1, "7": 1}, {"12": 1}]
    assert (reply["question"]["truth"], reply["mine"]) == (12, [20, 12])


def test_phones_that_enter_too_fast_are_asked_to_come_again(group, monkeypatch):
    monkeypatch.setattr(phones, "clock", lambda: 7.0)
    answers = [group.phone({"X-Playground-Key": f"{number:024}"}) for number in range(phones.ARRIVALS_A_SECOND + 1)]
    assert {answer.status_code for answer in answers[:-1]} == {200}
    assert "follows" in assert_refused(answers[-1], 429)
    assert answers[-1].headers["Retry-After"] == routes_classes.RETRY_SECONDS


def test_a_phone_whose_place_another_one_takes_hears_that_the_class_is_full(group, monkeypatch):
    class_ = classes.classes().find(group.code)
    monkeypatch.setattr(class_.crowd, "capacity", 1)
    version, answers = group.phone().json()["version"], []
    phone = threading.Thread(target=lambda: answers.append(group.phone(after=version)))
    phone.start()
    until(lambda: class_.phones[ANNA["X-Playground-Key"]].wait, "the phone does not wait")
    come_from(monkeypatch, "10.7.0.1")
    assert group.phone(BERT).status_code == 200
    phone.join()
    assert (answers[0].status_code, answers[0].json()["key"]) == (503, "full")


def test_a_guess_off_the_picture_for_another_question_or_after_the_reveal_is_refused(group):
    number = group.ask(PLACE)
    assert "between 0 and 47" in assert_refused(group.guess(number, 48))
    for nonsense in (-1, 1.5, "3", None, True, [5], {}, 10**400, math.nan, math.inf):
        assert_refused(group.guess(number, nonsense))
    assert "another question" in assert_refused(group.guess(number + 1, 3), 409)
    assert group.guess(number, 47).status_code == 200
    group.act(do="show")
    assert "shown already" in assert_refused(group.guess(number, 3), 409)
    assert group.look()["question"]["counts"] == [{"47": 1}]


@pytest.mark.parametrize(
    "content", [b"", b"x", b"[]", b"\xff\xfe", b"1" * 1000, b"[" * 1000, b"a" * 1025, b"{" * 10**6]
)
def test_a_strange_or_large_body_is_refused_with_a_sentence(group, content):
    group.ask(NUMBER)
    assert_refused(group.http.post(f"/api/classes/{group.code}/guesses", content=content, headers=ANNA))


def test_foreign_pages_and_requests_without_a_key_may_not_guess(group):
    number = group.ask(NUMBER)
    assert_refused(group.guess(number, 3, ANNA | {"Origin": "https://evil.example"}), 403)
    assert_refused(group.guess(number, 3, {}), 403)
    assert_refused(group.phone({}), 403)
    assert group.look()["question"]["answered"] == [0]


def test_without_the_secret_nobody_acts_or_reads_as_the_lecturer(group):
    number = group.ask(NUMBER)
    for secret in ("", "x" * 32, "ä"):
        headers = ANNA | {"X-Playground-Lecturer": secret.encode()}
        assert_refused(group.http.get(f"/api/classes/{group.code}/lecturer", headers=headers), 403)
        for action in ("show", "end", "door"):
            assert_refused(
                group.http.post(f"/api/classes/{group.code}/lecturer", json={"do": action}, headers=headers), 403
            )
    assert group.guess(number, 3).status_code == 200


def test_an_unknown_code_is_refused_with_a_sentence_and_tries_are_few(group):
    for _ in range(classes.TRIES_OF_A_KEY):
        assert "no class" in assert_refused(group.http.get("/api/classes/AAAAA", headers=ANNA), 404)
    assert "minute" in assert_refused(group.http.get("/api/classes/AAAAA", headers=ANNA), 429)
    assert "minute" in assert_refused(group.phone(ANNA), 429)
    assert group.phone(BERT).status_code == 200, "another browser of the same network is shut out"
    assert "letters" in assert_refused(group.http.get("/api/classes/AB1", headers=BERT), 404)


def test_wrong_tries_of_a_network_delay_its_newcomers_and_shut_nobody_out(group, monkeypatch):
    """Once, each of the 65536 networks of an IPv6 house had tries of its own."""
    monkeypatch.setattr(routes_classes, "TRY_DELAY_SECONDS", 0.01)
    for number in range(classes.TRIES_OF_A_NETWORK):
        come_from(monkeypatch, f"2001:db8:1:{number:x}::7")
        group.http.get("/api/classes/AAAAA", headers={"X-Playground-Key": f"{number:024}"})
    come_from(monkeypatch, "2001:db8:1:ff::7")
    delays = []

    async def sleep(seconds):
        delays.append(seconds)

    monkeypatch.setattr(routes_classes.asyncio, "sleep", sleep)
    assert group.phone(BERT).status_code == 200
    assert delays == [0.01]
    assert group.phone(BERT).status_code == 200
    assert group.look()["phones"] == 1
    assert delays == [0.01], "who is in waits again"


def test_the_lecturer_closes_the_door_and_ends_the_class(group):
    number = group.ask(CHOICE)
    for nonsense in ("maybe", 0, None, ["yes"]):
        assert_refused(group.guess(number, nonsense))
    group.guess(number, "yes")
    assert group.act(do="door", open=False).json()["open"] is False
    assert "door" in assert_refused(group.phone(BERT), 403)
    assert group.phone(ANNA).status_code == 200
    assert group.act(do="show").json()["question"]["counts"] == [{"yes": 1}]
    assert group.act(do="end").json()["ended"] is True
    assert "ended" in assert_refused(group.phone(ANNA), 404)


def test_the_lecturer_saves_the_counts_of_all_rounds_that_were_shown(group):
    def rows(language="en"):
        path = f"/api/classes/{group.code}/lecturer/counts.csv?language={language}"
        return list(csv.reader(group.http.get(path, headers=group.headers).content.decode("utf-8-sig").splitlines()))

    for guess, who in ((21, ANNA), (7, BERT)):
        group.guess(group.ask(PLACE | {"of": "cat"}) if who is ANNA else 1, guess, who)
    group.act(do="show")
    group.act(do="truth", truth=21)
    group.guess(group.ask(PLACE | {"of": "dog"}), 3)
    group.act(do="show")
    number = group.ask(CHOICE, n=2)
    group.guess(number, "no")
    group.act(do="show")
    group.act(do="again")
    group.guess(number, "yes", turn=2)
    assert rows() == [
        ["scene", "question", "picture", "round", "guess", "people", "answer"],
        ["1", "Press.", "cat", "1", "(0, 7)", "1", "(2, 5)"],
        ["1", "Press.", "cat", "1", "(2, 5)", "1", "(2, 5)"],
        ["1", "Press.", "dog", "1", "(0, 3)", "1", ""],
        ["2", "Is it?", "", "1", "no", "1", ""],
    ], "an open round is in it, or a round is missing"
    assert_refused(group.http.get(f"/api/classes/{group.code}/lecturer/counts.csv", headers=ANNA), 403)


@pytest.mark.parametrize(
    "question",
    [
        None, {}, {"guess": "number"}, {"guess": {"kind": "Essay"}}, {"guess": {"kind": "Number"}},
        {"guess": {"kind": "Number", "low": 5, "high": 1}}, {"guess": {"kind": "Number", "low": 0, "high": 10**15}},
        {"guess": {"kind": "Number", "low": 0, "high": math.nan}},
        {"guess": {"kind": "Number", "low": 0, "high": True}},
        {"guess": {"kind": "Number", "low": 0, "high": 9, "step": "1"}}, {"guess": {"kind": "Choice", "options": []}},
        {"guess": {"kind": "Choice", "options": [["a", "A"], [1, "B"]]}},
        PLACE | {"guess": {"kind": "Place", "rows": 0, "columns": 8}},
        PLACE | {"guess": {"kind": "Place", "rows": 200, "columns": 200}},
        PLACE | {"guess": {"kind": "Place", "rows": 2.5, "columns": 2}},
        PLACE | {"picture": "https://evil.example/x.jpg"}, PLACE | {"picture": "../../etc/passwd"},
    ],
    ids=lambda question: json.dumps(question)[:50],
)  # fmt: skip
def test_a_question_that_cannot_be_asked_is_refused(group, question):
    body = json.dumps({"do": "ask", "scene": {"name": "1"}, "question": question})
    assert_refused(group.http.post(f"/api/classes/{group.code}/lecturer", content=body, headers=group.headers))
    assert group.look()["question"] is None


@pytest.mark.parametrize(
    "action", [{}, {"do": "fly"}, {"do": "go"}, {"do": "go", "scene": {"n": 1}}, {"do": "go", "scene": {"name": "a b"}}]
)
def test_an_unknown_or_incomplete_action_is_refused(group, action):
    assert_refused(group.act(**action))


def test_a_lesson_s_question_takes_numbers_that_are_not_whole_and_counts_them(group):
    number = group.ask(FINE_NUMBER, n="scale_cosine")
    assert group.guess(number, 0.25).json() == {"guess": 0.25}
    assert group.guess(number, -0.1, BERT).json() == {"guess": -0.1}
    for nonsense in (1.01, math.nan, math.inf, "0.5", True, None):
        assert_refused(group.guess(number, nonsense))
    group.act(do="show")
    group.act(do="truth", truth=0.31, after={"en": "So."})
    question = group.phone().json()["question"]
    assert question["counts"] == [{"0.25": 1, "-0.1": 1}]
    assert (question["truth"], question["after"]) == (0.31, {"en": "So."})
    assert question["guess"] == FINE_NUMBER["guess"]


def test_an_own_photograph_is_sent_to_phones_only_after_a_yes_and_ends_with_the_class(group):
    picture_id = bring(group.http, LECTURER)["id"]
    question = {**PLACE, "picture": None, "mine": picture_id}
    assert "yes" in assert_refused(group.act(do="ask", scene={"name": "1"}, question=question))
    group.ask(question | {"yes": True})
    address = "/" + group.phone().json()["question"]["picture"]
    assert group.http.get(address, headers=ANNA).headers["Content-Type"] == "image/jpeg"
    assert_refused(group.http.get(address, headers=BERT), 404)
    assert_refused(group.act(do="ask", scene={"name": "1"}, question=question | {"mine": "0" * 16, "yes": True}), 404)
    group.act(do="end")
    assert_refused(group.http.get(address, headers=ANNA), 404)
