"""Results of lessons: their true size is counted, one limit holds for all sessions, and a dropped result is made
again."""

import gc
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from PIL import Image

from playground.serving import worked
from playground.serving.cache import MB
from playground.serving.pictures import Picture
from playground.serving.traces import Setup

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


def bytes_of_sessions() -> int:
    return sum(session_cache.bytes for session_cache in worked.session_caches())


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


def test_a_hundred_sessions_stay_below_their_bound_and_the_longest_unread_one_gives_first(monkeypatch):
    monkeypatch.setattr(worked, "ALL_OWN_BYTES", 10 * MB)
    session_caches = [worked.lesson_cache() for _ in range(100)]
    for n, session_cache in enumerate(session_caches):
        for name in "ab":
            worked.cached_result(picture(n), SETUP, session_cache, name, lambda: array_of(0.99))
            assert bytes_of_sessions() <= 10 * MB
    assert [session_cache.bytes > 0 for session_cache in session_caches] == [False] * 95 + [True] * 5


def test_one_person_alone_keeps_no_more_than_their_share():
    session_cache = worked.lesson_cache()
    for name in range(40):
        worked.cached_result(picture(1), SETUP, session_cache, name, lambda: array_of(1))
        assert session_cache.bytes <= worked.ONE_OWN_BYTES < worked.ALL_OWN_BYTES


def test_a_result_about_a_sample_is_made_once_for_everybody_and_bounded(monkeypatch):
    monkeypatch.setattr(worked, "SHARED_BYTES", 3 * MB)
    first_cache, second_cache = worked.lesson_cache(), worked.lesson_cache()
    result = worked.cached_result(picture(1, sample=True), SETUP, first_cache, "x", lambda: array_of(1))
    second_result = worked.cached_result(
        picture(1, sample=True), SETUP, second_cache, "x", lambda: pytest.fail("it is there")
    )
    assert second_result is result
    for name in range(10):
        worked.cached_result(picture(1, sample=True), SETUP, first_cache, name, lambda: array_of(1))
        assert worked.shared_results().bytes <= 3 * MB
    assert first_cache.bytes == second_cache.bytes == 0


def test_a_result_about_an_upload_is_its_session_s_and_goes_with_it():
    first_cache, second_cache = worked.lesson_cache(), worked.lesson_cache()
    worked.cached_result(picture(1), SETUP, first_cache, "x", lambda: array_of(1))
    second_result = worked.cached_result(picture(1), SETUP, second_cache, "x", lambda: array_of(2))
    assert len(second_result) == 2 * MB
    assert worked.shared_results().bytes == 0
    del first_cache
    gc.collect()
    assert bytes_of_sessions() / MB == pytest.approx(2, abs=0.01)
