"""Who is served next and who gives way, with a clock that the tests move."""

import pytest

from playground.serving import ledger
from playground.serving.ledger import GONE_AFTER, HALF_LIFE, KNOWN_AFTER, MOST_PRESENT, Ledger, Present, Room, Visitor
from playground.serving.queue import Queue, Ticket


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def costs(clock):
    return Ledger(clock)


def at(address: str, person: str = "") -> Visitor:
    return Visitor(person, address)


def served_order(costs: Ledger, *visitors: Visitor) -> list[Visitor]:
    """The order in which these visitors are served if all ask at the same moment for almost no work."""
    line = Queue(at_once=0, costs=costs)
    for visitor in visitors:
        line.join(Ticket(visitor, seconds=1e-9))
    return [ticket.payer for ticket in line.line]


def test_an_address_is_part_of_wider_networks():
    assert [name for name, _ in ledger.networks_of("10.1.2.3")] == ["10.1.2.3/32", "10.1.2.0/24", "10.1.0.0/16"]
    assert [name for name, _ in ledger.networks_of("2001:db8:1:203::/64")] == [
        "2001:db8:1:203::/64", "2001:db8:1:200::/56", "2001:db8:1::/48", "2001:db8::/32",
    ]  # fmt: skip
    assert ledger.networks_of("login ann") == (("login ann", 1),)
    assert ledger.networks_of("") == ()


def test_half_of_a_cost_is_forgotten_in_two_minutes_and_the_order_stays(costs, clock):
    costs.charge(at("10.0.0.1"), 8)
    costs.charge(at("10.0.9.2"), 4)
    clock.now += HALF_LIFE
    assert costs.cost("10.0.0.1/32") == pytest.approx(4)
    costs.charge(at("10.0.9.2"), 3)
    cheap_visitor, dear_visitor = at("10.0.0.1"), at("10.0.9.2")
    assert served_order(costs, dear_visitor, cheap_visitor) == [cheap_visitor, dear_visitor]
    clock.now += 1000 * HALF_LIFE  # costs must stay finite after 1,000 half-lives
    costs.charge(at("10.0.9.2"), 1)
    assert costs.cost("10.0.9.2/32") == pytest.approx(1)


def test_many_networks_of_one_house_share_a_cost_that_others_nearby_hardly_pay(costs):
    for number in range(40):
        costs.charge(at(f"2001:db8:1:2{number:02x}::/64"), 5)
    costs.charge(at("2001:db8:2:1::/64"), 6)
    newcomer, neighbour, stranger = at("2001:db8:1:2ff::/64"), at("2001:db8:9:1::/64"), at("2001:db8:2:1::/64")
    assert served_order(costs, newcomer, stranger, neighbour) == [neighbour, stranger, newcomer]


def test_the_table_of_costs_does_not_grow_without_end(costs, monkeypatch):
    monkeypatch.setattr(ledger, "MOST_KNOWN", 100)
    for number in range(500):
        costs.charge(at(f"10.{number // 250}.{number % 250}.1"), 1 + number)
    assert len(costs._scaled_costs) <= 100
    assert costs.cost("10.1.249.1/32") == pytest.approx(500), "the costliest was forgotten"
    assert costs.cost("10.0.0.1/32") == 0, "the cheapest was kept"


# Rooms, which limit a resource


@pytest.fixture
def room():
    return Room("requests", 100, 20)


def test_one_network_gets_three_quarters_and_a_stranger_some_of_the_rest(room):
    network_refusals = [room.take(at("10.0.0.1", f"key {number}")) for number in range(100)]
    assert network_refusals.count("") == 75
    stranger_refusals = [room.take(at(f"10.{number}.0.1")) for number in range(1, 25)]
    assert set(stranger_refusals) == {""}


def test_many_networks_of_one_house_get_the_room_of_one(room):
    refusals = [room.take(at(f"2001:db8:1:2{number:02x}::/64")) for number in range(100)]
    assert refusals.count("") == 75


def test_one_key_holds_at_most_its_part_of_a_room(room):
    refusals = [room.take(at("10.0.0.1", "ann")) for _ in range(30)]
    assert (refusals.count(""), refusals[-1]) == (20, "key")


def test_room_that_was_taken_is_given_back(room):
    with room.holding(at("10.0.0.1", "ann"), 5) as refusal:
        assert (refusal, room.taken) == ("", 5)
    assert (room.taken, room.holdings.by_address, room.holdings._by_network, room._taken_by_key) == (0, {}, {}, {})


# Browsers that asked lately


@pytest.fixture
def present(costs, monkeypatch):
    present = Present(costs)
    monkeypatch.setattr(ledger, "present", lambda: present)
    monkeypatch.setattr(ledger, "costs", lambda: costs)
    return present


def test_a_browser_that_has_been_here_for_a_while_has_a_cost_of_its_own(present, costs, clock):
    visitors = [at("10.0.0.1", person) for person in ("greedy", "ann", "bea")]
    for visitor in visitors:
        present.note(visitor)
    clock.now += KNOWN_AFTER
    costs.charge(at("10.0.0.1", "greedy"), 50)
    costs.charge(at("10.0.0.1", "ann"), 1)
    assert served_order(costs, *visitors) == visitors[::-1]


def test_who_makes_a_key_for_each_request_does_not_come_before_others_of_the_network(present, costs, clock):
    ann, line = at("10.0.0.1", "ann"), Queue(at_once=0, costs=costs)
    for second in range(120):
        if second % 10 == 0:
            present.note(ann)
        minted = at("10.0.0.1", f"minted {second}")
        present.note(minted)
        costs.charge(present.account(minted), 0.3)
        clock.now += 1
    costs.charge(ann, 1)
    for visitor in (*(at("10.0.0.1", f"new {number}") for number in range(20)), ann):
        present.note(visitor)
        line.join(Ticket(visitor))
    assert line.line[0].visitor == ann
    assert {ticket.payer for ticket in line.line[1:]} == {at("10.0.0.1")}, "all minted keys pay together"


def test_who_was_away_for_long_is_a_newcomer_again(present, clock):
    ann = at("10.0.0.1", "ann")
    accounts = []
    for wait in (0, KNOWN_AFTER / 2, KNOWN_AFTER / 2, GONE_AFTER - 1, GONE_AFTER):
        clock.now += wait
        accounts.append(present.account(ann))
        present.note(ann)
    own, shared = ann, at("10.0.0.1")
    assert accounts == [shared, shared, own, own, shared]


def test_the_latest_browsers_are_kept_and_the_gone_are_forgotten(present, clock):
    for number in range(MOST_PRESENT + 500):
        present.note(at(f"10.0.{number % 250}.1", f"key {number}"))
    assert len(present._times) == present.count() == MOST_PRESENT
    assert at("10.0.0.1", "key 0") not in present._times
    clock.now += GONE_AFTER + 1
    assert present.count() == 0
    present.note(at("10.0.0.1", "ann"))
    assert [*present._times] == [at("10.0.0.1", "ann")]
    assert present._by_household == {"10.0.0.1/32": 1}


def test_a_house_that_makes_many_keys_makes_the_server_forget_nobody_else(present, clock):
    ann = at("10.9.0.1", "ann")
    present.note(ann)
    clock.now += KNOWN_AFTER
    for number in range(3 * MOST_PRESENT):
        present.note(at(f"2001:db8:1:2{number % 256:02x}::/64", f"key {number}"))
    assert len(present._times) == MOST_PRESENT
    assert present.account(ann) == ann


# Classes


def visitor_in_class(costs, phone: str, name: str = "class ACDEF") -> Visitor:
    costs.phones[phone] = name, at("10.0.0.1", "lecturer")
    return at("10.0.0.1", phone)


def test_a_class_pays_for_its_phones_and_its_network_does_not(costs):
    for number in range(40):
        costs.charge(costs.payer(visitor_in_class(costs, f"phone {number}")), 1)
    assert costs.cost("class ACDEF") == pytest.approx(40)
    assert costs.cost("10.0.0.1/32") == 0
    assert costs.payer(at("10.0.0.1", "no phone")) == at("10.0.0.1", "no phone")


def test_a_phone_that_costs_more_than_its_part_pays_itself(costs, clock):
    hostile_phone, quiet_phone = visitor_in_class(costs, "hostile"), visitor_in_class(costs, "other")
    costs.charge(costs.payer(hostile_phone), ledger.MOST_PHONE_COST + 1)
    assert costs.payer(hostile_phone) == hostile_phone
    assert costs.payer(quiet_phone).address == "class ACDEF"
    clock.now += HALF_LIFE
    assert costs.payer(hostile_phone).address == "class ACDEF"


def test_costs_of_a_class_beyond_its_bound_are_charged_to_its_lecturer(costs):
    phones = [visitor_in_class(costs, f"phone {number}") for number in range(60)]
    for phone in phones:
        costs.charge(costs.payer(phone), ledger.MOST_PHONE_COST)
    assert ledger.MOST_CLASS_COST < costs.cost("class ACDEF") <= ledger.MOST_CLASS_COST + ledger.MOST_PHONE_COST
    assert costs.cost(at("10.0.0.1", "lecturer")) > 0
    assert costs.payer(phones[-1]) == at("10.0.0.1", "lecturer")


def test_all_classes_together_are_charged_like_one(costs):
    for number in range(30):
        costs.charge(costs.payer(visitor_in_class(costs, f"phone {number}", f"class {number}")), 5)
    newcomer = costs.payer(visitor_in_class(costs, "fresh", "class fresh"))
    costs.charge(at("10.9.0.1"), 0.5)
    stranger = at("10.9.0.1")
    first, second = served_order(costs, newcomer, stranger)
    assert (first.address, second.address) == (stranger.address, newcomer.address)
