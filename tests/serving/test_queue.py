import threading

import pytest
from waiting import PATIENCE, until

from playground.errors import Busy, PlaygroundError
from playground.serving import ledger
from playground.serving import queue as serving_queue
from playground.serving.ledger import NOBODY, Ledger, Visitor
from playground.serving.queue import MOST_OF_KEY, SHORT_LINE, Asker, Left, Queue, Ticket, working_for


def test_never_more_at_once_than_allowed_and_all_get_their_turn():
    queue, lock, active_count, most_at_once, finish_order = Queue(2), threading.Lock(), 0, 0, []
    barrier = threading.Barrier(2, timeout=PATIENCE)

    def work(i):
        nonlocal active_count, most_at_once
        with queue.take():
            with lock:
                active_count += 1
                most_at_once = max(most_at_once, active_count)
            barrier.wait()  # goes on only when two are at work at once
            with lock:
                active_count -= 1
                finish_order.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most_at_once, sorted(finish_order), queue.line) == (2, list(range(12)), [])


@pytest.fixture
def busy():
    """A queue whose only place at work is taken until the test sets `release`."""
    queue, release, has_begun = Queue(1, costs=Ledger()), threading.Event(), threading.Event()

    def hold():
        with queue.take():
            has_begun.set()
            release.wait(PATIENCE)

    thread = threading.Thread(target=hold)
    thread.start()
    assert has_begun.wait(PATIENCE)
    yield queue, release
    release.set()
    thread.join()


@pytest.fixture
def known(monkeypatch):
    """known(visitor): this browser, and no other, has been here for a while."""
    now = [0.0]
    present = ledger.Present(Ledger(lambda: now[0]))
    monkeypatch.setattr(ledger, "present", lambda: present)

    def note(visitor: Visitor) -> Visitor:
        present.note(visitor)
        now[0] += ledger.KNOWN_AFTER
        return visitor

    return note


def test_a_waiter_who_leaves_gives_the_place_back(busy, monkeypatch):
    queue, release = busy
    monkeypatch.setattr(serving_queue, "LOOK_EVERY", 0.01)

    asker = Asker()
    asker.has_left = True
    with working_for(asker), pytest.raises(Left), queue.take():
        raise AssertionError("it was not the turn")
    assert queue.line == []
    release.set()
    with queue.take():
        pass


def test_an_error_in_a_turn_ends_the_turn():
    queue = Queue(1)
    with pytest.raises(ZeroDivisionError), queue.take():
        raise ZeroDivisionError
    with queue.take():
        pass


# Fair by person -------------------------------------------------------------------------------------------------------


def join(queue: Queue, visitor: Visitor, **question) -> Ticket:
    ticket = Ticket(visitor, **question)
    queue.join(ticket)
    return ticket


def service_order(queue: Queue) -> list[Visitor]:
    order = []
    while queue.at_work:
        queue.leave(queue.at_work[0])
        order += [ticket.visitor for ticket in queue.at_work]
    return order


@pytest.fixture
def line(known):
    """A queue with somebody at work, and a clock that stands still."""
    queue = Queue(costs=Ledger(lambda: 0.0))
    join(queue, NOBODY)
    return queue


def test_a_person_with_ten_questions_keeps_a_stranger_waiting_for_one(line):
    for _ in range(10):
        join(line, Visitor("me"))
    join(line, Visitor("stranger"))
    assert [visitor.person for visitor in service_order(line)] == ["me", "stranger", *["me"] * 9]


def test_a_person_may_fill_the_line_only_so_far(line):
    for _ in range(MOST_OF_KEY):
        join(line, Visitor("me"))
    with pytest.raises(PlaygroundError, match="12 of your questions wait already"):
        join(line, Visitor("me"))
    assert len(line.line) == MOST_OF_KEY


def test_where_too_many_wait_the_last_is_sent_away_and_a_stranger_finds_a_place(busy, known):
    queue, _ = busy
    queue.capacity = 5
    crowd = [join(queue, Visitor("", "10.0.0.1")) for _ in range(5)]
    with pytest.raises(Busy, match="no place in the line"), queue.take(visitor=Visitor("", "10.0.0.1")):
        raise AssertionError("it was not the turn")
    stranger = join(queue, Visitor("", "10.9.0.2"))
    assert [ticket.sent_away for ticket in crowd] == [False] * 4 + [True]
    assert stranger in queue.line
    assert len(queue.line) == 5


def ask_in_threads(queue, visitors: list[Visitor], last: bool = False) -> tuple[list[threading.Thread], list[Visitor]]:
    """Starts one thread for each visitor, in this order. Returns the threads, and the list to which each visitor is
    added when served."""
    threads, served_visitors = [], []

    def ask(asker):
        with queue.take(visitor=asker, last=last):
            served_visitors.append(asker)

    for asker in visitors:
        threads.append(threading.Thread(target=ask, args=(asker,)))
        former_length = len(queue.line)
        threads[-1].start()
        until(lambda former_length=former_length: len(queue.line) > former_length, "nobody joined the queue")
    return threads, served_visitors


@pytest.mark.parametrize("has_keys", [True, False], ids=["minted keys", "no keys"])
def test_all_newcomers_of_a_network_count_as_one_person(busy, has_keys, known):
    """Once, 400 questions without a key made another person of the same address wait for half a minute."""
    queue, release = busy
    script = [Visitor(f"nobody {i}" if has_keys else "", "10.0.0.1") for i in range(30)]
    ann = known(Visitor("ann", "10.0.0.1"))
    threads, served_visitors = ask_in_threads(queue, [*script, ann, ann])
    release.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert [place for place, visitor in enumerate(served_visitors) if visitor == ann] == [1, 3]
    assert [visitor for visitor in served_visitors if visitor != ann] == script


def test_of_hundreds_who_wait_only_those_wake_whose_turn_it_is(known):
    """Once, all waiting threads woke when one was served and searched the line: 400 of them took half a core."""
    queue = Queue(costs=Ledger(lambda: 0.0))
    tickets = [join(queue, Visitor("", f"10.0.{number}.1")) for number in range(200)]
    assert [ticket for ticket in tickets if ticket.turn.is_set()] == queue.at_work == tickets[:1]
    queue.leave(tickets[0])
    assert [ticket for ticket in tickets if ticket.turn.is_set()] == [tickets[0], *queue.at_work]
    assert len(queue.at_work) == 1


def test_a_flood_does_not_order_a_long_line_anew_for_each_question(monkeypatch, known):
    """Ordering a line of 600 takes five milliseconds: at 200 questions a second, more than one core."""
    now, sorted_queues = 0.0, []
    queue = Queue(costs=Ledger(lambda: now))
    monkeypatch.setattr(Queue, "_order", lambda queue, order=Queue._order: (sorted_queues.append(queue), order(queue)))
    for number in range(300):
        join(queue, Visitor("", f"10.{number % 30}.0.1"))
    assert len(sorted_queues) <= SHORT_LINE + 2
    stranger = join(queue, Visitor("ann", "10.99.0.1"))
    now = 0.2
    join(queue, Visitor("", "10.5.0.1"))
    assert queue.line.index(stranger) <= 31  # behind the first question of each network


def test_in_a_full_line_a_newcomer_replaces_a_costly_key_of_the_same_network(known):
    now = 0.0
    queue = Queue(costs=Ledger(lambda: now), capacity=60)
    join(queue, NOBODY)
    keys = [known(Visitor(f"key {number}", "10.0.0.1")) for number in range(7)]
    tickets = [join(queue, keys[number // 10]) for number in range(60)]
    now = 0.2
    newcomer = join(queue, keys[6])
    assert not newcomer.sent_away
    assert sum(ticket.sent_away for ticket in tickets) == 1


def test_waiting_questions_of_a_house_s_many_networks_count_before_they_are_served(line):
    """Once, first questions from 25 networks of one /48 counted as free and stood before a newcomer's."""
    for number in range(25):
        join(line, Visitor("", f"2001:db8:1:{number:x}00::/64"))
    newcomer = join(line, Visitor("ann", "10.99.0.1"))
    assert line.line.index(newcomer) <= 1


def test_an_answer_that_comes_last_waits_for_people_of_other_networks_too(line):
    last_ticket = join(line, Visitor("ann", "10.0.0.1"), last=True)
    for _ in range(3):  # the third question costs ben more than ann's question costs her
        join(line, Visitor("ben", "10.0.0.2"))
    assert line.line[-1] is last_ticket
