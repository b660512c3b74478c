"""Results in memory: their true size is counted and bounded, each is made once, however many ask for it."""

import threading
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from PIL import Image
from waiting import until

from playground.errors import PlaygroundError
from playground.serving import worked
from playground.serving.cache import MB, Cache
from playground.serving.pictures import Picture
from playground.serving.traces import Setup


def results_at_once(work, thread_count: int = 2) -> list:
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


SETUP = Setup("bundled")


@dataclass(frozen=True)
class Result:
    lengths: torch.Tensor
    pictures: tuple[Image.Image, ...]
    says: str = ""


pytestmark = pytest.mark.usefixtures("own_app")


def picture(shade: int, sample: bool = False) -> Picture:
    return Picture("grey", sample, bytes([shade]), Image.new("RGB", (8, 8)))


def array_of(megabytes: float) -> np.ndarray:
    return np.zeros(int(megabytes * MB), np.uint8)


@pytest.mark.parametrize(
    ("value", "megabytes"),
    [
        (bytes(3 * MB), 3),
        (array_of(2), 2),
        (array_of(2).reshape(4, -1)[0], 2),  # a slice keeps the whole array in memory from which it was cut
        (torch.zeros(MB, 2), 8),
        (torch.zeros(MB, 2)[:10], 8),
        (torch.zeros(MB, 2).numpy()[:10], 8),
        (Image.new("RGB", (512, 512)), 1),
        (Result(torch.zeros(MB), (Image.new("RGB", (512, 512)),) * 2, "x" * MB), 4 + 2 + 1),
        ({"rows": 3, "curve": [array_of(1), {"more": (array_of(1), None, 0.5, np.float32(1))}]}, 2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_bytes_of_a_value_include_all_that_is_in_it(value, megabytes):
    assert worked.bytes_of(value) / MB == pytest.approx(megabytes, abs=0.01)


@pytest.mark.parametrize("is_sample", [True, False])
def test_results_about_samples_and_about_own_pictures_are_made_once_and_bounded(monkeypatch, is_sample):
    monkeypatch.setattr(worked, "SHARED_BYTES" if is_sample else "OWN_BYTES", 3 * MB)
    one, other = picture(1, is_sample), picture(1, not is_sample)
    result = worked.cached_result(one, SETUP, "x", lambda: array_of(1))
    assert worked.cached_result(one, SETUP, "x", lambda: pytest.fail("it is there")) is result
    for name in range(10):
        worked.cached_result(one, SETUP, name, lambda: array_of(1))
        assert worked.results_about(one).bytes <= 3 * MB
    assert worked.results_about(other).bytes == 0
