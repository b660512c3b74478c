import threading

import pytest
from waiting import until

from playground.errors import PlaygroundError
from playground.serving.cache import Cache


def results_at_once(work, thread_count: int = 2) -> list:
    """Calls `work` in so many threads, all at the same moment, and returns their results."""
    results, barrier = [], threading.Barrier(thread_count)

    def call() -> None:
        barrier.wait()
        results.append(work())

    threads = [threading.Thread(target=call) for _ in range(thread_count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_a_cache_keeps_at_most_its_bytes_and_the_longest_unused_goes_first():
    cache = Cache(100)
    for name in "abc":
        cache.get(name, lambda: bytes(40))
        assert cache.bytes <= 100
    cache.get("b", lambda: pytest.fail("b was still there"))
    cache.get("d", lambda: bytes(40))
    cache.get("b", lambda: pytest.fail("b was used last"))
    assert cache.get("c", lambda: "made again") == "made again"


def test_a_thing_larger_than_the_cache_is_kept_alone_until_the_next_comes():
    cache = Cache(100)
    cache.get("large", lambda: bytes(500))
    assert cache.bytes == 500
    cache.get("small", lambda: bytes(10))
    assert cache.bytes == 10


def test_an_entry_that_many_ask_for_at_one_moment_is_made_once():
    cache, makings, requests = Cache(100), [], []

    def make() -> bytes:
        makings.append(1)
        until(lambda: len(requests) == 8, "not everybody has asked")
        return b"thing"

    def ask() -> bytes:
        requests.append(1)
        return cache.get("key", make)

    assert results_at_once(ask, thread_count=8) == [b"thing"] * 8
    assert len(makings) == 1


def test_a_thread_that_waits_for_an_entry_does_not_hold_up_another_entry():
    cache, release = Cache(100), threading.Event()
    slow_thread = threading.Thread(target=lambda: cache.get("slow", lambda: release.wait(60) and b"slow"))
    slow_thread.start()
    assert cache.get("quick", lambda: b"quick") == b"quick"
    release.set()
    slow_thread.join()


def test_after_a_failure_an_entry_can_be_made():
    cache = Cache(100)
    for _ in range(2):
        with pytest.raises(PlaygroundError):
            cache.get("key", lambda: (_ for _ in ()).throw(PlaygroundError("not now")))
    assert cache.get("key", lambda: b"now") == b"now"
