import threading
import time

import pytest

from playground.serving.turns import Turns


def test_never_more_at_once_than_allowed_and_all_get_their_turn():
    turns, lock, now, most, done = Turns(2), threading.Lock(), 0, 0, []

    def work(i):
        nonlocal now, most
        with turns.take():
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(0.01)
            with lock:
                now -= 1
                done.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert (most, sorted(done), turns.waiting) == (2, list(range(12)), 0)


@pytest.fixture
def busy():
    """Turns of which the only one is taken until the test says `go`."""
    turns, go, begun = Turns(1), threading.Event(), threading.Event()

    def hold():
        with turns.take():
            begun.set()
            go.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    begun.wait(20)
    yield turns, go
    go.set()
    thread.join(20)


def test_who_waits_is_told_how_many_come_first(busy):
    turns, go = busy
    heard = []

    def tell(before):
        heard.append(before)
        go.set()

    with turns.take(tell):
        assert heard == [1, 0]


def test_who_leaves_gives_the_place_back(busy):
    turns, go = busy

    class Left(Exception):
        pass

    def tell(_):
        raise Left

    with pytest.raises(Left), turns.take(tell):
        raise AssertionError("it was not the turn")
    assert turns.waiting == 0
    go.set()
    with turns.take():
        pass


def test_what_goes_wrong_in_a_turn_does_not_keep_it():
    turns = Turns(1)
    with pytest.raises(ZeroDivisionError), turns.take():
        raise ZeroDivisionError
    with turns.take():
        pass
