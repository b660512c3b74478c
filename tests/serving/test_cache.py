import threading
import time

import pytest

from playground.errors import PlaygroundError
from playground.serving.cache import Shelf, trim


def together(work, people: int = 2) -> list:
    """What `work` gives to each of them, all starting at the same moment."""
    answers, start = [], threading.Barrier(people)

    def one() -> None:
        start.wait()
        answers.append(work())

    threads = [threading.Thread(target=one) for _ in range(people)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_a_shelf_keeps_at_most_its_bytes_and_the_longest_unused_goes_first():
    shelf = Shelf(100)
    for name in "abc":
        shelf.get(name, lambda: bytes(40))
        assert shelf.bytes <= 100
    shelf.get("b", lambda: pytest.fail("b was still there"))
    shelf.get("d", lambda: bytes(40))
    shelf.get("b", lambda: pytest.fail("b was used last"))
    assert shelf.get("c", lambda: "made again") == "made again"


def test_a_thing_larger_than_the_shelf_is_kept_alone_until_the_next_comes():
    shelf = Shelf(100)
    shelf.get("large", lambda: bytes(500))
    assert shelf.bytes == 500
    shelf.get("small", lambda: bytes(10))
    assert shelf.bytes == 10


def test_what_many_ask_for_at_one_moment_is_made_once():
    shelf, made = Shelf(100), []

    def make() -> bytes:
        made.append(1)
        time.sleep(0.05)
        return b"thing"

    assert together(lambda: shelf.get("key", make), people=8) == [b"thing"] * 8
    assert len(made) == 1


def test_one_who_waits_does_not_stop_others_who_want_something_else():
    shelf, free = Shelf(100), threading.Event()
    waiting = threading.Thread(target=lambda: shelf.get("slow", lambda: free.wait(60) and b"slow"))
    waiting.start()
    assert shelf.get("quick", lambda: b"quick") == b"quick"
    free.set()
    waiting.join()


def test_after_a_failure_the_next_one_may_try():
    shelf = Shelf(100)
    for _ in range(2):
        with pytest.raises(PlaygroundError):
            shelf.get("key", lambda: (_ for _ in ()).throw(PlaygroundError("not now")))
    assert shelf.get("key", lambda: b"now") == b"now"


def test_many_shelves_share_one_bound_and_the_longest_away_gives_first():
    shelves = [Shelf(100) for _ in range(3)]
    for shelf in shelves:
        shelf.get("first", lambda: b"x" * 20)
        shelf.get("second", lambda: b"x" * 20)
    shelves[0].get("second", bytes)  # somebody came back
    trim(shelves, 70)
    assert [shelf.bytes for shelf in shelves] == [40, 0, 20]
    trim(shelves, 5)
    assert [shelf.bytes for shelf in shelves] == [40, 0, 0]  # whoever asks now keeps what was just made
