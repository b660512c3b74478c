"""The one rule: who may hold how much."""

import pytest

from playground.serving import admission
from playground.serving.admission import BOUNDS, Bound, Places, Shares
from playground.serving.asker import Who, network

ANNA, BERT, STRANGER = Who("anna", "hall"), Who("bert", "hall"), Who("somebody", "elsewhere")


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


# Shares


@pytest.fixture
def shares(monkeypatch):
    monkeypatch.setitem(BOUNDS, "requests", Bound(10, 6, 4))
    return Shares("requests")


def test_a_key_a_network_and_everybody_have_each_their_bound(shares):
    assert [shares.take(ANNA) for _ in range(5)] == [""] * 4 + ["key"]
    assert [shares.take(BERT) for _ in range(3)] == [""] * 2 + ["network"]
    assert [shares.take(STRANGER) for _ in range(5)] == [""] * 4 + ["key"]
    assert shares.take(Who("another", "third")) == "everybody"
    shares.give_back(ANNA)
    assert shares.take(BERT) == ""


def test_keys_are_free_to_mint_and_bring_a_network_nothing(shares):
    minted = [Who(f"{number}", "hall") for number in range(50)]
    assert sum(shares.take(who) == "" for who in minted) == 6
    assert shares.take(STRANGER) == ""


def test_what_is_given_back_leaves_nothing(shares):
    with shares.holding(ANNA, 3) as trouble:
        assert (trouble, shares.held) == ("", 3)
    with pytest.raises(ZeroDivisionError), shares.holding(ANNA, 3):
        raise ZeroDivisionError
    assert (shares.held, shares.of_networks, shares.of_keys) == (0, {}, {})


def test_who_is_refused_is_counted_and_holds_nothing(shares):
    before = admission.refused["requests"]
    with shares.holding(ANNA, 5) as trouble:
        assert (trouble, shares.held) == ("key", 0)
    assert shares.held == 0
    assert admission.refused["requests"] == before + 1


def test_of_each_thing_there_is_room_for_a_stranger():
    """The pictures' greediest network gives way instead."""
    assert all(bound.network < bound.everybody for kind, bound in BOUNDS.items() if kind != "pictures")
    assert all(BOUNDS[kind].network >= 300 for kind in ("connections", "sockets", "requests", "questions"))  # a class


# Sockets


@pytest.fixture
def places(clock, monkeypatch):
    monkeypatch.setitem(BOUNDS, "sockets", Bound(10, 8, 3))
    return Places(clock)


class Ended(list):
    """Whose sockets were closed."""

    def enter(self, places: Places, name: str, home: str, key: str = ""):
        place = places.enter(home, lambda: self.append(name))
        if place:
            place.session, place.key = name, key
        return place


@pytest.fixture
def ended():
    return Ended()


def test_silent_sockets_give_way_and_lock_nobody_out(places, ended, clock):
    for number in range(8):
        ended.enter(places, f"silent{number}", "attacker")
    assert ended.enter(places, "ninth", "attacker") is None
    clock.now += admission.NEW + 1
    assert [bool(ended.enter(places, f"{number}", f"home{number}")) for number in range(5)] == [True] * 5
    assert sorted(ended) == ["silent0", "silent1", "silent2"]


def test_a_hall_that_listens_is_left_alone_while_others_have_no_key(places, ended, clock):
    for number in range(6):
        ended.enter(places, f"listens{number}", "hall", f"key{number}")
    for number in range(4):
        ended.enter(places, f"attacks{number}", "attacker")
    clock.now += 3600
    for number in range(2):
        assert ended.enter(places, f"newcomer{number}", "hall", f"new{number}")
    assert ended == ["attacks0", "attacks1"]


def test_who_asked_for_anything_in_the_last_minute_stays(places, ended, clock):
    for number in range(8):
        ended.enter(places, f"{number}", "hall", f"key{number}")
    for number in range(2):
        ended.enter(places, f"one{number}", f"home{number}", f"one{number}")
    clock.now += 3600
    for number in range(1, 8):
        places.asks(f"{number}", f"key{number}")
    assert ended.enter(places, "newcomer", "elsewhere")
    assert ended == ["0"]


def test_nobody_takes_a_place_from_a_network_that_has_fewer(places, ended, clock):
    for number in range(8):
        ended.enter(places, f"many{number}", "many", f"many{number}")
    for number in range(2):
        ended.enter(places, f"few{number}", "few", f"few{number}")
    clock.now += 3600
    assert places.has_room("few")
    assert not places.has_room("many")
    assert ended.enter(places, "again", "many") is None
    assert ended == []


def test_a_socket_s_key_is_known_as_soon_as_its_browser_asks(places, ended, clock):
    place = ended.enter(places, "session", "hall")
    places.asks("another session", "key")
    assert place.key == ""
    clock.now += 30
    assert place.is_idle(clock.now)
    places.asks("session", "key")
    assert (place.key, place.is_idle(clock.now)) == ("key", False)


def test_one_key_has_a_few_pages_and_no_more(places, ended, clock):
    for number in range(5):
        ended.enter(places, f"tab{number}", "hall")
        clock.now += 1
        places.asks(f"tab{number}", "one key")
    assert ended == ["tab0", "tab1"]


def test_the_first_half_of_an_address_of_the_new_kind_is_one_network(places, ended):
    addresses = [f"2001:db8:1:2::{number:x}" for number in range(20)]
    homes = {network(address) for address in addresses}
    assert homes == {"2001:db8:1:2::/64"}
    entered = [ended.enter(places, address, network(address)) for address in addresses]
    assert sum(map(bool, entered)) == 8
    assert ended.enter(places, "mapped", network("::ffff:10.0.0.1")).network == "10.0.0.1"


def test_a_page_is_open_for_its_key_and_for_its_session(places, ended):
    ended.enter(places, "session", "hall", "key")
    known = [places.is_open_for(Who(person, "hall")) for person in ("session", "key", "another", "")]
    assert known == [True, True, False, False]
