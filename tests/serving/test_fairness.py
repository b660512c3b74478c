"""Repeats attacks that once kept people waiting, on the real ledger and queue with a simulated clock.
benchmarks/fairness.py simulates a thousand adversaries for two hours."""

import sys
from pathlib import Path

import pytest

from playground.serving import ledger
from playground.serving.ledger import Visitor

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "benchmarks"))

from fairness import COSTLY_WORK, HALL, Player, World, join, p95, people, play


@pytest.fixture(autouse=True)
def real_ledger(own_app, monkeypatch):
    for name in ("present", "costs"):  # `World` replaces them; monkeypatch puts them back
        monkeypatch.setattr(ledger, name, getattr(ledger, name))


def calm_and_attacked_wait(enemies: list[Player], seconds: float = 150) -> tuple[float, float]:
    """The 95th percentile of the waits of ten people: alone, and beside these enemies."""
    calm_people, attacked_people = people(10, []), people(10, [])
    World().play(calm_people, seconds)
    World().play([*attacked_people, *enemies], seconds)
    assert not any(player.refusals for player in attacked_people)
    return p95(calm_people), p95(attacked_people)


def test_beside_a_few_adversaries_nobody_waits_long():
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
    calm_wait, attacked_wait = calm_and_attacked_wait(house)
    assert attacked_wait <= 2 * calm_wait + 1, (calm_wait, attacked_wait)


def test_costly_figures_from_forty_networks_keep_nobody_waiting():
    """Figures of seven seconds each, without a pause. Once, newcomers waited for twenty seconds."""
    networks = [Player(Visitor("", f"10.{n}.0.1"), seconds=COSTLY_WORK, every=10.0, hostile=True) for n in range(40)]
    calm_wait, attacked_wait = calm_and_attacked_wait(networks)
    assert attacked_wait <= 3 * calm_wait + 1, (calm_wait, attacked_wait)


def test_a_class_behind_one_address_gets_its_turns_whoever_else_is_behind_it():
    """Eighty students, one who asks for work of seven seconds without a pause, and a flood from the same hall."""
    students = [Player(Visitor(f"student {n}", HALL), every=120.0) for n in range(80)]
    hostile = Player(Visitor("hostile student", HALL), COSTLY_WORK, 2.0, 12, hostile=True)
    flooders = [Player(Visitor(f"minted {n}", HALL), every=3.0, at_once=4, hostile=True) for n in range(20)]
    world = World()
    join([*students, hostile], Visitor("lecturer", "10.0.0.1"))
    world.play([*students, hostile, *flooders], 240)
    assert p95(students) <= 1, p95(students)
    assert not any(player.refusals for player in students)


@pytest.mark.slow
def test_classes_that_hostile_networks_start_keep_nobody_waiting():
    """Forty classes, whose phones ask every three seconds."""
    calm_people, attacked_people, phones = people(10, []), people(10, []), []
    World().play(calm_people, 150)
    world = World()
    for n in range(40):
        class_phones = [Player(Visitor(f"phone {n} {m}", f"10.{n}.0.1"), every=3.0, hostile=True) for m in range(5)]
        join(class_phones, Visitor(f"lecturer {n}", f"10.{n}.0.1"))
        phones += class_phones
    world.play([*attacked_people, *phones], 150)
    assert not any(player.refusals for player in attacked_people)
    assert p95(attacked_people) <= 3 * p95(calm_people) + 1, (p95(calm_people), p95(attacked_people))
