"""Repeats attacks that once kept people waiting, on the real ledger, seats and queue with a simulated clock.
benchmarks/fairness.py simulates a thousand adversaries for two hours."""

import sys
from pathlib import Path

import pytest

from playground.serving import classes, ledger
from playground.serving.ledger import Visitor

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "benchmarks"))

from fairness import COSTLY, HALL, Player, World, join, p95, people, play


@pytest.fixture(autouse=True)
def seats(monkeypatch):
    monkeypatch.setattr(ledger, "seats", ledger.seats)  # `World` replaces it; monkeypatch puts it back
    monkeypatch.setattr(ledger, "costs", ledger.costs)
    yield
    classes.end_all()


def waits_beside(enemies: list[Player], seconds: float = 150) -> tuple[float, float]:
    """The 95th percentile of the waits of ten people: alone, and beside these enemies."""
    calm, attacked = people(10, []), people(10, [])
    World().play(calm, seconds)
    World().play([*attacked, *enemies], seconds)
    assert not any(player.refused for player in attacked)
    return p95(calm), p95(attacked)


def test_the_smallest_play_of_many_adversaries():
    waits = play(10, 60, 8, 20, 100)
    assert waits["attacked"] <= 3 * waits["calm"] + 1, waits
    assert waits["class"] <= 3 * waits["calm"] + 1, waits
    assert waits["refused"] == 0, waits
    assert waits["longest"] < 30, waits
    assert waits["beside an attacker"] < 30, waits


def test_forty_costly_pictures_from_one_house_keep_nobody_waiting():
    """Legal PNGs of 62 megapixels, five seconds each, from forty networks of one /56. Once, others waited a minute."""
    house = [
        Player(Visitor("", f"2001:db8:1:2{number:02x}::/64"), seconds=5.0, every=30.0, hostile=True)
        for number in range(40)
    ]
    calm, attacked = waits_beside(house)
    assert attacked <= 2 * calm + 1, (calm, attacked)


def test_costly_figures_from_forty_networks_keep_nobody_waiting():
    """Figures of seven seconds each, without a pause. Once, newcomers waited for twenty seconds."""
    networks = [Player(Visitor("", f"10.{n}.0.1"), seconds=COSTLY, every=10.0, hostile=True) for n in range(40)]
    calm, attacked = waits_beside(networks)
    assert attacked <= 3 * calm + 1, (calm, attacked)


@pytest.mark.slow
def test_many_cheap_questions_from_forty_networks_keep_nobody_waiting():
    networks = [Player(Visitor("", f"10.{n}.0.1"), every=3.0, at_once=4, hostile=True) for n in range(40)]
    calm, attacked = waits_beside(networks)
    assert attacked <= 3 * calm + 1, (calm, attacked)


def test_a_class_behind_one_address_gets_its_turns_whoever_else_is_behind_it():
    """Eighty students, one who asks for work of seven seconds without a pause, and a flood from the same hall."""
    students = [Player(Visitor(f"student {n}", HALL), every=120.0) for n in range(80)]
    hostile = Player(Visitor("hostile student", HALL), COSTLY, 2.0, 12, hostile=True)
    flood = [Player(Visitor(f"minted {n}", HALL), every=3.0, at_once=4, hostile=True) for n in range(20)]
    world = World()
    join([*students, hostile], Visitor("lecturer", "10.0.0.1"))
    world.play([*students, hostile, *flood], 240)
    assert p95(students) <= 1, p95(students)
    assert not any(player.refused for player in students)


@pytest.mark.slow
def test_classes_that_hostile_networks_start_keep_nobody_waiting():
    """Forty classes, whose phones ask every three seconds."""
    calm, attacked, phones = people(10, []), people(10, []), []
    World().play(calm, 150)
    world = World()
    for n in range(40):
        mine = [Player(Visitor(f"phone {n} {m}", f"10.{n}.0.1"), every=3.0, hostile=True) for m in range(5)]
        join(mine, Visitor(f"lecturer {n}", f"10.{n}.0.1"))
        phones += mine
    world.play([*attacked, *phones], 150)
    assert not any(player.refused for player in attacked)
    assert p95(attacked) <= 3 * p95(calm) + 1, (p95(calm), p95(attacked))
