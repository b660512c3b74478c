"""The state of a class that guesses together, with a clock that the tests move."""

import asyncio
import json
import re
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from test_javascript import ROOT, node

from playground.serving import classes, ledger, phones
from playground.serving.answering import Refused
from playground.serving.classes import Question
from playground.serving.ledger import Visitor

NGINX_CONF = Path(__file__).parent.parent.parent / "deploy" / "nginx.conf"


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(own_app, monkeypatch):
    clock = Clock()
    for module in (classes, phones):
        monkeypatch.setattr(module, "clock", clock)
    return clock


@pytest.fixture
def group():
    return classes.classes().start("lecturer", "10.0.0.1")


def number_question(low=0, high=100, scene="1") -> Question:
    return Question(0, scene, "Number", low, high, (), {"asks": "How many?"})


def new_question(group, question=None) -> Question:
    group.go_to({"name": "1"})
    group.ask(question or number_question())
    return group.question


def test_one_browser_has_one_guess_and_may_change_it(group):
    question = new_question(group)
    for key, guess in (("a", 3), ("a", 5), ("b", 5.0)):
        group.enter(Visitor(key))
        group.take_guess(key, question.number, 1, guess)
    assert question.counts() == [{"5": 2}]


def test_classes_phones_and_questions_are_bounded(group, monkeypatch):
    monkeypatch.setattr(group.crowd, "capacity", 2)
    group.enter(Visitor("a")), group.enter(Visitor("b"))
    with pytest.raises(Refused, match="full"):
        group.enter(Visitor("c"))
    for scene in range(classes.MOST_QUESTIONS):
        group.ask(number_question(scene=str(scene)))
    with pytest.raises(Refused, match="room"):
        group.ask(number_question(scene=str(classes.MOST_QUESTIONS)))


HALL = "10.7.0.1"


def let_in(group, count: int, address: str, name: str = "phone") -> int:
    """The number of new phones of this address that the class lets in."""
    return sum(1 for number in range(count) if not refuses(group, Visitor(f"{name} {number}", address)))


def refuses(group, visitor) -> bool:
    try:
        group.enter(visitor)
    except Refused:
        return True
    return False


def test_a_hall_behind_one_address_is_in_within_a_minute_and_made_up_phones_do_not_fill_a_class_at_once(group, clock):
    """Once, one machine filled a class with 488 made-up phones in 1.3 seconds."""
    assert let_in(group, 488, HALL) == phones.ARRIVALS_A_SECOND
    assert let_in(group, 20, "10.8.0.1", "other") == phones.ARRIVALS_A_SECOND, "another network is bounded with it"
    for _ in range(60):
        clock.now += 1
        let_in(group, 400, HALL, "student")
    assert sum(key.startswith("student") for key in group.phones) == 400


def test_the_networks_of_a_house_enter_as_one(group):
    assert sum(let_in(group, 1, f"2001:db8:1:2{n:02x}::/64", str(n)) for n in range(256)) == phones.ARRIVALS_A_SECOND


def test_the_network_that_holds_most_of_a_full_class_gives_way_to_others(group, clock, monkeypatch):
    monkeypatch.setattr(group.crowd, "capacity", 8)
    let_in(group, 8, "10.8.0.1", "made up")
    clock.now += 1
    for number in (1, 2, 3):
        group.enter(Visitor(f"made up {number}", "10.8.0.1"))
    assert let_in(group, 8, HALL) == 4, "both networks have half"
    made_up = [key for key in group.phones if key.startswith("made up")]
    assert made_up[:3] == ["made up 1", "made up 2", "made up 3"], "not the longest silent has left"
    assert (len(group.phones), len(made_up)) == (8, 4)


def test_in_a_network_that_fills_a_class_only_a_phone_that_is_silent_for_long_gives_way(group, clock, monkeypatch):
    monkeypatch.setattr(group.crowd, "capacity", 8)
    let_in(group, 8, HALL)
    clock.now += phones.SILENT_SECONDS - 1
    assert let_in(group, 1, HALL, "late") == 0
    group.enter(Visitor("phone 0", HALL))
    clock.now += 1
    assert let_in(group, 1, HALL, "late") == 1
    assert "phone 0" in group.phones
    assert "phone 1" not in group.phones


def test_the_classes_of_one_network_leave_room_for_the_phones_of_others(group, monkeypatch):
    monkeypatch.setattr(classes.classes().phones, "capacity", 20)
    hostile = [classes.classes().start(f"hostile {n}", f"2001:db8:1:2{n:02x}::/64") for n in range(10)]
    for n, class_ in enumerate(hostile):
        let_in(class_, 8, f"10.{20 + n}.0.1", f"of {n}")
    assert let_in(group, 8, HALL) == 8
    assert sum(len(class_.phones) for class_ in hostile) == 12
    classes.classes().end_all()
    assert len(classes.classes().phones) == 0


def test_the_largest_network_is_sent_away_with_its_open_guesses_until_the_class_has_a_new_code(group):
    question = new_question(group)
    let_in(group, 3, HALL)
    for network in range(5):
        let_in(group, 1, f"2001:db8:1:20{network}::/64", f"made up {network}")
    for key in group.phones:
        group.take_guess(key, question.number, 1, 7)
    group.send_largest_away()
    assert list(group.phones) == ["phone 0", "phone 1", "phone 2"]
    assert question.counts() == [{"7": 3}]
    with pytest.raises(Refused, match="sent the phones of your network away"):
        group.enter(Visitor("made up again", "2001:db8:1:2ff::/64"))
    classes.classes().renew_code(group)
    group.enter(Visitor("made up again", "2001:db8:1:2ff::/64"))


def test_a_new_code_sends_all_phones_away_and_keeps_what_was_revealed(group):
    revealed = new_question(group)
    for key in ("a", "b"):
        group.enter(Visitor(key, HALL))
        group.take_guess(key, revealed.number, 1, 7)
    group.show()
    group.go_to({"name": "2"})
    group.ask(number_question(scene="2"))
    group.take_guess("a", group.question.number, 1, 5)
    former_code, address = group.code, group.address
    classes.classes().renew_code(group)
    assert classes.classes().find(former_code) is None
    assert classes.classes().find(group.code) is group
    assert group.address == address.replace(former_code, group.code)
    assert not group.phones
    assert not ledger.costs().phones
    assert (revealed.counts(), group.question.counts()) == ([{"7": 2}], [{}])
    classes.classes().end(group)
    assert classes.classes().find(group.code) is None


def test_a_class_that_its_lecturer_left_gives_way_and_no_other(group, clock, monkeypatch):
    monkeypatch.setattr(ledger.classes(), "capacity", 2)
    other_group = classes.classes().start("another", "10.1.0.1")
    with pytest.raises(Refused, match="room"):
        classes.classes().start("third", "10.2.0.1")
    clock.now += classes.ABANDONED_AFTER + 1
    other_group.heard_at = clock.now
    classes.classes().start("third", "10.2.0.1")
    assert group.ended
    assert not other_group.ended


def test_one_house_of_many_networks_leaves_room_for_the_classes_of_others(group):
    """Once, the 256 networks of one IPv6 house held all classes of a server."""
    for number in range(256):
        with suppress(Refused):
            classes.classes().start(f"key {number}", f"2001:db8:1:2{number:02x}::/64")
    for number in range(5):
        classes.classes().start(f"other lecturer {number}", f"10.0.{number}.1")


def test_a_key_has_two_classes_and_a_third_ends_the_first(group):
    second_class = classes.classes().start("lecturer", "10.0.0.1")
    classes.classes().start("lecturer", "10.0.0.1")
    assert (group.ended, second_class.ended) == (True, False)


def test_a_phone_is_charged_to_its_class_until_that_ends_and_starting_a_class_costs(group):
    costs = ledger.costs()
    second_class = classes.classes().start("lecturer", "10.0.0.1")
    assert costs.cost("10.0.0.1/32") == pytest.approx(2 * ledger.CLASS_START_SECONDS, rel=0.01)
    for phone in ("a", "b"):
        second_class.enter(Visitor(phone))
    assert costs.payer(Visitor("a", "10.0.0.1")) == Visitor("a", second_class.account)
    third_class = classes.classes().start("another", "10.0.0.2")
    third_class.enter(Visitor("b"))
    classes.classes().end(second_class)
    assert costs.payer(Visitor("a", "10.0.0.1")) == Visitor("a", "10.0.0.1")
    assert costs.payer(Visitor("b", "10.0.0.1")) == Visitor("b", third_class.account)


def test_a_class_s_code_says_on_which_server_it_is():
    """deploy/nginx.conf reads the lecturer's server from the code. If no proxy gave the seat, the code is random."""
    tables = re.findall(r"map \$letter. \$digit. \{ ((?:[A-Z] [0-9a-f]; )+)\}", NGINX_CONF.read_text())
    digit_tables = [dict(pair.split() for pair in table.strip("; ").split("; ")) for table in tables]
    assert len(digit_tables) == 2
    for seat in ("07af" + "0" * 28, "e9" * 16, "ff" * 16):
        code = classes.classes().start("lecturer", "10.0.0.1", seat).code
        assert "".join(mapping[letter] for mapping, letter in zip(digit_tables, code, strict=False)) == seat[:2]
        assert len(code) == classes.CODE_LENGTH
    for seat in ("", "x", "é2", "G" * 32):
        assert len(classes.classes().start("lecturer", "10.0.0.1", seat).code) == classes.CODE_LENGTH


def test_a_class_ends_after_four_hours(group, clock):
    clock.now += classes.LONGEST_LIFE + 1
    assert classes.classes().find(group.code) is None
    assert group.ended


def test_a_flood_of_one_phone_is_stopped_and_passes(group, clock):
    phone = group.enter(Visitor("a"))
    assert sum(phone.requests.take() for _ in range(1000)) == phones.REQUEST_BURST
    clock.now += 1
    assert phone.requests.take()


def test_tries_are_forgotten_after_a_minute(clock):
    tries = classes.Tries(2)
    tries.add("a"), tries.add("a")
    assert tries.too_many("a")
    assert not tries.too_many("b")
    clock.now += classes.TRIES_SECONDS + 1
    assert not tries.too_many("a")


def test_a_waiting_phone_hears_of_a_change_and_its_earlier_wait_ends(group):
    async def waiting():
        first_wait = group.enter(Visitor("a")).next_news()
        second_wait = group.enter(Visitor("a")).next_news()
        other_wait = group.enter(Visitor("b")).next_news()
        assert (first_wait.done(), second_wait.done(), other_wait.done()) == (True, False, False)
        group.take_guess("a", new_question(group).number, 1, 5)
        assert second_wait.done()
        assert other_wait.done()
        third_wait = group.enter(Visitor("b")).next_news()
        group.take_guess("a", group.question.number, 1, 6)
        assert not third_wait.done(), "a guess is no news for the others"
        screen_wait = group.next_lecturer_news()
        group.take_guess("a", group.question.number, 1, 7)
        assert screen_wait.done()

    asyncio.run(waiting())


PRINT_REFUSALS = """
import { REFUSALS } from "./playground/microscope/classroom/words.js";
console.log(JSON.stringify(REFUSALS));
"""


def test_every_refusal_of_a_class_has_the_same_placeholders_in_every_language():
    result = subprocess.run(
        [node(), "--input-type=module", "-e", PRINT_REFUSALS], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    for language, sentences in json.loads(result.stdout).items():
        assert sentences.keys() == classes.REFUSALS.keys(), language
        for key, sentence in sentences.items():
            assert re.findall(r"{(\w+)}", sentence) == re.findall(r"{(\w+)}", classes.REFUSALS[key]), (language, key)


@pytest.mark.parametrize("wrong", [{}, {"ranks": "0.1"}, {"ranks": "0.1A"}, {"shares": [2]}, {"shares": ["1"]}, None])
def test_the_grades_of_places_are_kept_if_they_have_a_rank_for_each_patch_and_shares(group, wrong):
    whole = {"ranks": "0.1z", "shares": [0.2, 0.7]}
    grades = None if wrong is None else whole | wrong
    question = new_question(group, Question(0, "1", "Place", 0, 3, (), {"guess": {"rows": 2, "columns": 2}}))
    group.say_truth(2, {"en": "there"}, "0f9a", grades)
    assert question.grades == (whole if wrong == {} else None)


@pytest.mark.parametrize(
    ("heat", "stored_heat"), [("0f9a", "0f9a"), ("0f9", ""), ("0f9x", ""), (None, ""), (["0"] * 4, "")]
)
def test_the_heat_is_kept_with_the_truth_if_it_has_a_digit_for_each_square(group, heat, stored_heat):
    question = new_question(group, Question(0, "1", "Place", 0, 3, (), {"guess": {"rows": 2, "columns": 2}}))
    group.show()
    group.say_truth(2, {"en": "there"}, heat)
    assert (question.phase, question.heat) == (classes.TELLS, stored_heat)
