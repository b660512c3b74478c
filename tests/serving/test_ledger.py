"""Who is served next and who gives way, with a clock that the tests move."""

import pytest

from playground.serving import ledger
from playground.serving.ledger import HALF_LIFE, IDLE_SECONDS, Holdings, Ledger, Room, Seats, Visitor, networks_of
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
    assert [name for name, _ in networks_of("10.1.2.3")] == ["10.1.2.3/32", "10.1.2.0/24", "10.1.0.0/16"]
    assert [name for name, _ in networks_of("2001:db8:1:203::/64")] == [
        "2001:db8:1:203::/64", "2001:db8:1:200::/56", "2001:db8:1::/48", "2001:db8::/32",
    ]  # fmt: skip
    assert networks_of("login ann") == (("login ann", 1),)
    assert networks_of("") == ()


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


def test_keys_of_one_network_have_costs_of_their_own(costs, monkeypatch):
    monkeypatch.setattr(ledger, "seats", Seats(costs))
    visitors = [at("10.0.0.1", person) for person in ("greedy", "ann", "bea")]
    for visitor in visitors:
        ledger.seats.enter(visitor.address, list).key = visitor.person
    costs.charge(at("10.0.0.1", "greedy"), 50)
    costs.charge(at("10.0.0.1", "ann"), 1)
    assert served_order(costs, *visitors) == visitors[::-1]


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


def test_however_many_come_a_stranger_finds_room(room):
    for network in range(6):
        for _ in range(200):
            room.take(at(f"10.{network}.0.1"))
    assert [room.take(at(f"172.{number}.0.1")) for number in range(4)] == [""] * 4


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


def test_the_furthest_above_its_share_is_the_largest_holder_in_the_largest_house():
    house = {f"2001:db8:1:2{number:02x}::/64": 3 for number in range(10)} | {"2001:db8:1:2aa::/64": 4}
    holdings = Holdings()
    for address, amount in (house | {"10.0.0.1": 20}).items():
        holdings.add(address, amount)
    assert holdings.fullest_address() == "2001:db8:1:2aa::/64"


# Seats


class ClosedPages(list):
    """The names of the pages that were closed."""

    def enter(self, seats: Seats, name: str, address: str, key: str = ""):
        seat = seats.enter(address, lambda: self.append(name))
        if seat:
            seat.session, seat.key, seat.asked_for_page = name, key, True
        return seat


@pytest.fixture
def closed_pages():
    return ClosedPages()


@pytest.fixture
def seats(costs):
    return Seats(costs, capacity=10)


def test_two_addresses_that_hold_all_pages_lock_no_newcomer_out(closed_pages, costs, clock):
    """Each address holds 200 pages and sends a request with each page's key every fifty seconds. Once, newcomers were
    refused 720 of 720 times."""
    seats = Seats(costs)
    for number in range(400):
        closed_pages.enter(seats, f"{number}", f"10.{number % 2}.0.1", f"key {number}")
    refusal_count = 0
    for minute in range(20):
        for name in [seat.session for seat in seats.open]:
            seats.note_request(name, f"key {name}")
        for number in range(6):
            newcomer = closed_pages.enter(seats, f"new {minute} {number}", f"172.{minute}.{number}.1", "newcomer")
            refusal_count += newcomer is None
            clock.now += 8
            if newcomer:
                seats.leave(newcomer)
        for number in range(2):  # the attackers take every free seat again
            while closed_pages.enter(
                seats, f"again {len(closed_pages)}", f"10.{number}.0.1", f"key {len(closed_pages)}"
            ):
                pass
    assert refusal_count == 0


def test_one_house_with_many_networks_locks_nobody_out(seats, closed_pages):
    for number in range(10):
        closed_pages.enter(seats, f"{number}", f"2001:db8:1:2{number:02x}::/64", "key")
    assert closed_pages.enter(seats, "ann", "10.0.0.1")
    assert len(closed_pages) == 1


def test_a_newcomer_from_a_full_hall_takes_only_an_idle_seat(seats, closed_pages, clock):
    for number in range(10):
        closed_pages.enter(seats, f"{number}", "10.0.0.1", f"key {number}")
    assert closed_pages.enter(seats, "one more", "10.0.0.1") is None
    clock.now += IDLE_SECONDS + 1
    for number in range(1, 10):
        seats.note_request(f"{number}", f"key {number}")
    assert closed_pages.enter(seats, "one more", "10.0.0.1")
    assert closed_pages == ["0"]


def test_a_heartbeat_does_not_keep_a_seat(seats, closed_pages, clock):
    for number in range(10):
        closed_pages.enter(seats, f"{number}", "10.0.0.1", f"key {number}")
    clock.now += IDLE_SECONDS + 1
    for number in range(10):
        seats.note_request(f"{number}", f"key {number}", by_person=False)
    assert closed_pages.enter(seats, "one more", "10.0.0.1")


def test_nobody_takes_a_seat_from_a_network_with_fewer(seats, closed_pages, clock):
    for number in range(8):
        closed_pages.enter(seats, f"many {number}", "10.0.0.1", f"many {number}")
    for number in range(2):
        closed_pages.enter(seats, f"few {number}", "10.9.0.1", f"few {number}")
    assert seats.has_room("10.9.0.1")
    assert not seats.has_room("10.0.0.1")


def test_one_browser_keeps_a_bounded_number_of_pages(costs, closed_pages, clock):
    seats = Seats(costs)
    for number in range(ledger.MOST_SEATS_OF_BROWSER + 2):
        closed_pages.enter(seats, f"tab {number}", "10.0.0.1")
        clock.now += 1
        seats.note_request(f"tab {number}", "one key")
    assert closed_pages == ["tab 0", "tab 1"]


def test_in_the_fullest_network_a_page_without_a_key_goes_before_an_older_one_with_one(seats, closed_pages, clock):
    """A page without a key is most likely opened by a script: every browser sends one."""
    for number in range(10):
        closed_pages.enter(seats, f"page {number}", "10.9.0.1", "" if number == 7 else f"key {number}")
        clock.now += 1
    closed_pages.enter(seats, "newcomer", "10.7.0.1", "newcomer")
    assert closed_pages == ["page 7"]


def test_open_pages_cost_and_a_key_without_one_pays_with_its_network(seats, closed_pages, costs, clock):
    closed_pages.enter(seats, "session", "10.0.0.1", "ann")
    clock.now += 60
    seats.charge()
    assert costs.cost(at("10.0.0.1", "ann")) == pytest.approx(60 * ledger.SEAT_RATE)
    accounts = [seats.account(at("10.0.0.1", person)) for person in ("ann", "session", "minted")]
    assert accounts == [at("10.0.0.1", "ann"), at("10.0.0.1", "session"), at("10.0.0.1")]


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
    assert [visitor.address for visitor in served_order(costs, newcomer, stranger)] == [
        stranger.address,
        newcomer.address,
    ]


def test_a_hall_s_class_keeps_its_seats_and_a_hostile_network_gives_way(costs, closed_pages, clock):
    seats = Seats(costs, capacity=100)
    for number in range(60):
        closed_pages.enter(seats, f"student {number}", "10.0.0.1")
        seats.note_request(f"student {number}", visitor_in_class(costs, f"phone {number}").person)
    for number in range(40):
        closed_pages.enter(seats, f"many {number}", "10.9.0.1", f"many {number}")
    closed_pages.enter(seats, "somebody", "10.7.0.1")
    assert closed_pages == ["many 0"]
