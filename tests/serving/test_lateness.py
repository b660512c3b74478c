"""Where the server is late, who asks seldom comes first."""

import asyncio

import pytest

from playground.serving import lateness
from playground.serving.lateness import Habits, Lag, Turns


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_the_lag_is_remembered_for_a_while_and_one_alone_says_nothing(clock):
    lag = Lag(clock)
    lag.note(0.5)
    assert lag.now() == 0
    lag.note(0.2)
    lag.note(0.001)
    assert lag.now() == 0.2
    clock.now += lateness.REMEMBERED + 1
    assert lag.now() == 0


def test_who_asked_much_is_forgiven_with_time(clock):
    habits = Habits(clock)
    for _ in range(8):
        habits.note("greedy")
    habits.note("seldom")
    assert habits.lately("greedy") > habits.lately("seldom") > habits.lately("never") == 0
    clock.now += 3 * lateness.FORGOTTEN_BY_HALF
    assert habits.lately("greedy") == pytest.approx(1)
    for number in range(6000):
        habits.note(number)
        clock.now += 0.1
    assert len(habits._ranks) <= lateness.MOST_KNOWN


def test_who_asked_most_is_remembered_longest(clock):
    habits = Habits(clock)
    for _ in range(3):
        habits.note("greedy")
    for number in range(2 * lateness.MOST_KNOWN):
        habits.note(number)
    assert habits.lately("greedy") == pytest.approx(3)
    assert habits.rank("greedy") > habits.rank(2 * lateness.MOST_KNOWN - 1) > habits.rank("never")


def test_the_order_stays_right_however_long_the_server_runs():
    clock = Clock()
    clock.now = 3e7  # a year
    habits = Habits(clock)
    for who, times in (("seldom", 1), ("often", 3)):
        for _ in range(times):
            habits.note(who)
    assert habits.lately("often") == pytest.approx(3)
    assert habits.rank("often") > habits.rank("seldom")


# Turns


class Late(Lag):
    def __init__(self, late: bool):
        super().__init__()
        self.late = late

    def now(self) -> float:
        return 1.0 if self.late else 0.0


def turns(late: bool = True, at_once: int = 2, seconds: float = 60.0) -> Turns:
    return Turns(Late(late), Habits(lambda: 0.0), at_once, seconds)


def order(found: Turns, *asking: tuple[str, str]) -> list[str]:
    """In which these (network, what asks in it) come to their turns, each of which ends when others could ask."""
    came = []

    async def asks(network: str, within: str) -> None:
        turn = await found.take(network, within)
        came.append(within)
        await asyncio.sleep(0)
        found.end(turn)

    async def all_of_them() -> None:
        await asyncio.gather(*(asks(*one) for one in asking))

    asyncio.run(all_of_them())
    assert not found.going
    assert found.waiting == 0
    return came


def test_where_nothing_is_late_nobody_waits():
    people = [f"{number}" for number in range(10)]
    assert order(turns(late=False, at_once=1), *(("hall", one) for one in people)) == people


def test_in_a_network_who_asks_most_waits_behind_those_who_ask_seldom():
    """Hundreds of pipelined requests without a key, and a class of the same address."""
    found = turns()
    came = order(found, *[("hall", "")] * 300, *(("hall", f"{number}") for number in range(5)))
    assert came[:2] == ["", ""]  # nobody else was there yet
    assert sorted(came[2:7]) == ["0", "1", "2", "3", "4"]


def test_whatever_one_network_asks_keeps_no_stranger_waiting():
    minted = [("attacker", f"key {number}") for number in range(300)]
    came = order(turns(), *minted, ("elsewhere", "stranger"))
    assert came.index("stranger") == 2


def continuous(found: Turns, who: str, hostile: list[str | None], asks: int = 200) -> int:
    """How many turns others of the hall have while one of them waits, where as many always ask again at once."""
    before = []

    async def waits(within: str | None) -> None:
        turn = await found.take("hall", None if within in (None, "newcomer") else within)
        before.append(within)
        await asyncio.sleep(0)  # the others ask meanwhile
        found.end(turn)

    async def goes_on(within: str | None) -> None:
        for _ in range(asks):
            await waits(within)

    async def all_of_them() -> int:
        greedy = asyncio.gather(*map(goes_on, hostile))
        while len(before) < asks:
            await asyncio.sleep(0)
        begun = len(before)
        await waits(who)
        found_at = before.index(who) - begun
        greedy.cancel()
        await asyncio.gather(greedy, return_exceptions=True)
        return found_at

    return asyncio.run(all_of_them())


def test_in_a_network_minted_keys_come_after_who_has_a_page_open_and_asked_before():
    """A key that nobody saw before has asked for nothing, so each new one stood before all who look at pictures."""
    found = turns(at_once=1)
    found.habits.note(("hall", "has a page"))
    assert continuous(found, "has a page", [None] * 10) <= 2 * lateness.NEWCOMERS


def test_in_a_network_pages_that_ask_without_a_pause_do_not_keep_a_newcomer_out():
    """Their keys came before everybody who had no page open yet, for as long as they asked."""
    assert continuous(turns(at_once=1), "newcomer", [f"{number}" for number in range(20)]) <= 20


def test_in_a_network_newcomers_have_their_turns_in_the_order_in_which_they_came():
    """A minted key had asked for less than a newcomer who asked before, and so stood before them."""
    assert continuous(turns(at_once=1), "newcomer", [None] * 10) <= 10


def test_of_all_who_have_no_page_open_one_has_a_turn_at_a_time():
    """They took every turn that people with pages left, and the loop had more to do than it could."""

    async def going(found: Turns) -> set[str | None]:
        asking = [(f"network {number}", None) for number in range(3)] + [("hall", "one"), ("hall", "another")]
        asks = [asyncio.create_task(found.take(*one)) for one in asking]
        await asyncio.sleep(0)
        assert len(found.going) == (3 if found.lag.is_late() else 5)
        has = {turn.within for turn in found.going}
        for one in asks:
            found.end(await one)
        return has

    assert asyncio.run(going(turns(at_once=4))) == {None, "one", "another"}
    asyncio.run(going(turns(late=False)))  # where nobody waits


def test_who_asked_much_before_comes_last_also_with_few_questions_now():
    found = turns(at_once=1)
    for _ in range(20):
        found.habits.note("attacker")
    assert order(found, ("attacker", "first"), ("attacker", "x"), ("hall", "a"), ("hall", "b")) == [
        "first",
        "a",
        "b",
        "x",
    ]


def test_a_turn_that_takes_long_keeps_nobody_waiting():
    async def second_comes() -> bool:
        found = turns(at_once=1, seconds=0.0)
        first = await found.take("hall", "computes for long")
        await found.take("hall", "second")
        return first not in found.going

    assert asyncio.run(second_comes())


def test_who_left_while_waiting_keeps_nobody_waiting():
    async def leaves() -> bool:
        found = turns(at_once=1)
        first = await found.take("hall", "first")
        gone, stays = (asyncio.create_task(found.take("hall", name)) for name in ("gone", "stays"))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        found.end(first)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return stays.done() and found.waiting == 0

    assert asyncio.run(leaves())


def test_who_waits_goes_on_as_soon_as_nothing_is_late_any_more():
    async def goes_on() -> bool:
        found = turns(at_once=1)
        first = await found.take("hall", "first")
        waiting = [asyncio.create_task(found.take("hall", f"{number}")) for number in range(5)]
        await asyncio.sleep(0)
        found.lag.late = False
        found.end(first)
        await asyncio.gather(*waiting)
        return True

    assert asyncio.run(goes_on())
