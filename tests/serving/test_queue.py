import threading

import pytest
from waiting import PATIENCE, until

from playground.errors import Busy, PlaygroundError
from playground.serving import asker, ledger
from playground.serving.ledger import Ledger
from playground.serving.queue import FEW, OF_KEY, OVER, SERVED, WAITING, Queue, Ticket


def go_away(ticket) -> None:
    """As if nobody had looked at it for long."""
    ticket._looked = float("-inf")


def test_never_more_at_once_than_allowed_and_all_get_their_turn():
    queue, lock, now, most, done = Queue(2), threading.Lock(), 0, 0, []
    both = threading.Barrier(2, timeout=PATIENCE)

    def work(i):
        nonlocal now, most
        with queue.take():
            with lock:
                now += 1
                most = max(most, now)
            both.wait()  # nobody gets on who is alone
            with lock:
                now -= 1
                done.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, sorted(done), queue._line) == (2, list(range(12)), [])


@pytest.fixture
def busy():
    """A queue whose only place at work is taken until the test says `go`."""
    queue, go, begun = Queue(1, charged=Ledger()), threading.Event(), threading.Event()

    def hold():
        with queue.take():
            begun.set()
            go.wait(PATIENCE)

    thread = threading.Thread(target=hold)
    thread.start()
    assert begun.wait(PATIENCE)
    yield queue, go
    go.set()
    thread.join()


@pytest.fixture
def no_seats(monkeypatch):
    monkeypatch.setattr(ledger, "seats", ledger.Seats(Ledger()))


def test_who_waits_is_told_how_many_come_first(busy):
    queue, go = busy
    heard = []

    def tell(before):
        heard.append(before)
        go.set()

    with queue.take(tell):
        assert heard == [1, 0]


def test_nobody_who_is_alone_is_told_that_a_person_comes_first():
    queue = Queue(1)
    me, keyless, stranger = asker.Who("me", "here"), asker.Who("", "here"), asker.Who("them", "there")
    for before, people in ((me, 0), (keyless, 0), (stranger, 1)):  # what needs no key may be of the same page
        heard = []
        first = queue.take(who=before)
        first.__enter__()

        def tell(count, heard=heard, first=first):
            heard.append(count)
            if len(heard) == 1:
                first.__exit__(None, None, None)

        with queue.take(tell, who=me):
            assert heard == [people, 0], (before, heard)


def test_who_leaves_gives_the_place_back(busy):
    queue, go = busy

    class Left(Exception):
        pass

    def tell(_):
        raise Left

    with pytest.raises(Left), queue.take(tell):
        raise AssertionError("it was not the turn")
    assert len(queue._line) == 1
    go.set()
    with queue.take():
        pass


def test_what_goes_wrong_in_a_turn_does_not_keep_it():
    queue = Queue(1)
    with pytest.raises(ZeroDivisionError), queue.take():
        raise ZeroDivisionError
    with queue.take():
        pass


# Work in a thread of its own -----------------------------------------------------------------------------------------


def test_one_is_served_at_a_time_in_the_order_of_coming():
    queue, served, go = Queue(), [], threading.Event()

    def work(name):
        def run(ticket):
            served.append(name)
            go.wait(PATIENCE)

        return run

    first, second, third = (queue.run(work(name)) for name in "abc")
    until(lambda: first.state == SERVED, "the first is not served")
    assert [queue.before(ticket) for ticket in (first, second, third)] == [0, 1, 2]
    assert (second.state, served) == (WAITING, ["a"])
    second.stop()
    assert queue.before(third) == 1
    go.set()
    until(lambda: third.state == OVER, "the third is not done")
    assert served == ["a", "c"]


def test_who_has_gone_gives_the_turn_back():
    queue = Queue(patience=2 * PATIENCE)

    def until_stopped(ticket):
        until(ticket.stopped, "nobody stopped it")

    first, second = queue.run(until_stopped), queue.run(until_stopped)
    until(lambda: first.state == SERVED, "the first is not served")
    go_away(first)
    until(lambda: second.state == SERVED, "the second is not served")
    assert first.state == OVER
    second.stop()
    until(lambda: second.state == OVER, "the second does not stop")


def test_what_breaks_is_told_and_holds_nobody_up():
    queue, done = Queue(), []

    def broken(ticket):
        raise RuntimeError("no memory")

    first, second = queue.run(broken), queue.run(done.append)
    until(lambda: second.state == OVER, "the second is not done")
    assert str(first.trouble) == "no memory"
    assert done == [second]


def test_who_comes_back_after_giving_up_is_not_served_beside_another():
    """A hidden tab may be silent for long, and then look again."""
    queue, now, most, go = Queue(patience=2 * PATIENCE), [], [], threading.Event()

    def work(ticket):
        now.append(ticket)
        most.append(len(now))
        go.wait(PATIENCE)
        now.remove(ticket)

    first, silent = queue.run(work), queue.run(work)
    until(lambda: first.state == SERVED, "the first is not served")
    go_away(silent)
    third = queue.run(work)
    queue.before(silent)
    go.set()
    until(lambda: third.state == OVER, "the third is not done")
    assert max(most) == 1


def test_both_ways_to_wait_share_one_queue(busy):
    queue, go = busy
    ticket = queue.run(lambda ticket: None)
    assert queue.before(ticket) == 1
    go.set()
    until(lambda: ticket.state == OVER, "it is not done")


# Fair by person -------------------------------------------------------------------------------------------------------


class Person(asker.Nobody):
    def __init__(self, name: str, address: str = ""):
        self.name = asker.Who(name, address)

    def who(self) -> asker.Who:
        return self.name


def ask(monkeypatch, queue, done, name: str, address: str = ""):
    monkeypatch.setattr(asker, "find", lambda: Person(name, address))
    return queue.run(lambda ticket: done.append(name))


def test_who_asks_ten_things_keeps_a_stranger_waiting_for_one(busy, monkeypatch):
    queue, go = busy
    done = []
    mine = [ask(monkeypatch, queue, done, "me") for _ in range(10)]
    stranger = ask(monkeypatch, queue, done, "stranger")
    assert queue.before(stranger) == 2  # what is at work now, and one of mine
    assert [queue.before(ticket) for ticket in mine] == [1, *range(3, 12)]
    go.set()
    until(lambda: len(done) == 11, "all are served")
    assert done == ["me", "stranger", *["me"] * 9], done


def test_people_take_turns_also_when_one_comes_later(busy, monkeypatch):
    queue, go = busy
    done = []
    for name in "aaabbc":
        ask(monkeypatch, queue, done, name)
    go.set()
    until(lambda: len(done) == 6, "all are served")
    assert "".join(done) == "abcaba"
    for name in "ddaa":  # what they had before counts for nobody
        ask(monkeypatch, queue, done, name)
    until(lambda: len(done) == 10, "all are served")


def test_a_person_may_fill_the_line_only_so_far(busy, monkeypatch):
    queue, _ = busy
    waiting = [ask(monkeypatch, queue, [], "me") for _ in range(OF_KEY)]
    with pytest.raises(PlaygroundError, match="12 of your questions wait already"):
        ask(monkeypatch, queue, [], "me")
    for ticket in waiting:
        ticket.stop()


def test_where_too_many_wait_the_last_is_sent_away_and_a_stranger_finds_a_place(busy, monkeypatch):
    queue, _ = busy
    queue.most = 5
    crowd = [ask(monkeypatch, queue, [], "", "10.0.0.1") for _ in range(5)]
    with pytest.raises(Busy, match="no place in the line"):
        ask(monkeypatch, queue, [], "", "10.0.0.1")
    stranger = ask(monkeypatch, queue, [], "", "10.9.0.2")
    until(lambda: crowd[-1].state == OVER, "nobody has gone")
    assert isinstance(crowd[-1].trouble, Busy)
    assert stranger.state == WAITING
    for ticket in (*crowd, stranger):
        ticket.stop()


def asks(queue, who: list[asker.Who], finer: bool = False) -> tuple[list[threading.Thread], list[asker.Who]]:
    """Each of them in a thread, in this order; and the order in which they are served."""
    threads, served = [], []

    def ask(one):
        with queue.take(who=one, finer=finer):
            served.append(one)

    for one in who:
        threads.append(threading.Thread(target=ask, args=(one,)))
        before = len(queue._line)
        threads[-1].start()
        until(lambda before=before: len(queue._line) > before, "nobody joined the queue")
    return threads, served


def test_a_stranger_is_next_however_many_people_a_script_at_one_address_is(busy):
    queue, go = busy
    script = [asker.Who(f"nobody {i}", "10.0.0.1") for i in range(30)]
    stranger = asker.Who("ann", "10.0.0.2")
    threads, served = asks(queue, [*script, stranger])
    go.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert served.index(stranger) <= 1
    assert [one for one in served if one != stranger] == script


def test_two_networks_take_turns(busy):
    queue, go = busy
    first, second = ([asker.Who(f"{i}", address) for i in range(5)] for address in ("a", "b"))
    threads, served = asks(queue, [*first, *second])
    go.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert "".join(one.address for one in served) in ("ab" * 5, "ba" * 5)


@pytest.mark.parametrize("minted", [True, False], ids=["minted keys", "no keys"])
def test_in_a_network_all_who_have_no_page_open_are_one_person(busy, minted, no_seats):
    """Four hundred questions without a key made somebody else of the same address wait for half a minute."""
    queue, go = busy
    seat = ledger.seats.enter("10.0.0.1", list)
    seat.key = "ann"
    script = [asker.Who(f"nobody {i}" if minted else "", "10.0.0.1") for i in range(30)]
    ann = asker.Who("ann", "10.0.0.1")
    threads, served = asks(queue, [*script, ann, ann])
    go.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert [place for place, one in enumerate(served) if one == ann] == [1, 3]
    assert [one for one in served if one != ann] == script


def test_what_makes_an_answer_finer_waits_for_those_who_have_none(busy):
    queue, go = busy
    finer, served = [], []

    def refine():
        with queue.take(who=asker.Who("ann", "a"), finer=True):
            finer.append(len(served))

    thread = threading.Thread(target=refine)
    thread.start()
    until(lambda: len(queue._line) == 2, "nobody joined the queue")
    threads, served = asks(queue, [asker.Who(f"{i}", "a") for i in range(3)])
    go.set()
    for one in (thread, *threads):
        one.join(PATIENCE)
    assert finer == [3]


def test_of_hundreds_who_wait_only_those_wake_whose_turn_it_is(monkeypatch):
    """All woke whenever one had been served, and each looked at the whole line: four hundred took half a core."""
    monkeypatch.setattr("playground.serving.queue.TELL_EVERY", PATIENCE)  # nobody looks by themselves
    queue, go = Queue(1), [threading.Event() for _ in range(20)]
    tickets = [queue.run(lambda ticket, each=each: each.wait(PATIENCE)) for each in go]
    until(lambda: tickets[0].state == SERVED, "nobody is served")
    looked = []
    before = queue._ahead_of
    monkeypatch.setattr(queue, "_ahead_of", lambda ticket: looked.append(ticket) or before(ticket))
    go[0].set()
    until(lambda: tickets[1].state == SERVED, "the next one is not served")
    assert {*looked} <= {tickets[1]}
    for each in go:
        each.set()
    until(lambda: all(ticket.state == OVER for ticket in tickets), "somebody was forgotten")


def joined(queue, who: asker.Who) -> Ticket:
    ticket = Ticket(who=who)
    queue._join(ticket)
    return ticket


def test_a_flood_does_not_order_a_long_line_anew_for_each_question(monkeypatch, no_seats):
    """A line of 600 took five milliseconds each time, and two hundred questions a second a core and more."""
    queue, ordered = Queue(charged=Ledger(lambda: 0.0)), []
    monkeypatch.setattr(Queue, "_order", lambda queue, order=Queue._order: (ordered.append(queue), order(queue)))
    for number in range(300):
        joined(queue, asker.Who("", f"10.{number % 30}.0.1"))
    assert len(ordered) <= FEW
    stranger = joined(queue, asker.Who("ann", "10.99.0.1"))
    assert queue._line.index(stranger) <= 31  # behind the first question of each network


def test_where_no_more_may_wait_who_has_cost_least_of_a_network_finds_a_place(no_seats):
    queue = Queue(charged=Ledger(lambda: 0.0), most=60)
    keys = [asker.Who(f"key {number}", "10.0.0.1") for number in range(7)]
    for key in keys:
        ledger.seats.enter(key.address, list).key = key.person
    tickets = [joined(queue, keys[number // 10]) for number in range(60)]
    newcomer = joined(queue, keys[6])
    assert not newcomer.sent_away
    assert sum(ticket.sent_away for ticket in tickets) == 1


def test_what_a_house_asks_from_its_many_networks_counts_before_it_is_served(no_seats):
    """The first questions of 25 networks of one /48 were as cheap as a newcomer's, and stood before it."""
    queue = Queue(charged=Ledger(lambda: 0.0))
    for number in range(25):
        joined(queue, asker.Who("", f"2001:db8:1:{number:x}00::/64"))
    newcomer = joined(queue, asker.Who("ann", "10.99.0.1"))
    assert queue._line.index(newcomer) <= 1


def test_what_makes_an_answer_finer_waits_for_those_of_other_networks_too(no_seats):
    queue = Queue(charged=Ledger(lambda: 0.0))
    finer = Ticket(who=asker.Who("ann", "10.0.0.1"), finer=True)
    queue._join(finer)
    for _ in range(3):  # the third would cost more than hers
        joined(queue, asker.Who("ben", "10.0.0.2"))
    assert queue._line[-1] is finer
