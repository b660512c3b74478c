"""Results of lessons: their true size is counted, one limit holds for all sessions, and a dropped result is made
again."""

import gc
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from playground.serving import worked
from playground.serving.cache import MB, Cache
from playground.serving.pictures import Picture
from playground.serving.traces import Setup

ROOT = Path(__file__).parent.parent.parent
WISH = Setup("bundled")


@dataclass(frozen=True)
class Found:
    lengths: torch.Tensor
    pictures: tuple[Image.Image, ...]
    says: str = ""


@pytest.fixture(autouse=True)
def nothing_kept():
    gc.collect()
    worked.shared_results.cache_clear()
    yield
    worked.shared_results.cache_clear()


def picture(shade: int, sample: bool = False) -> Picture:
    return Picture("grey", sample, bytes([shade]), Image.new("RGB", (8, 8)))


def numbers(megabytes: float) -> np.ndarray:
    return np.zeros(int(megabytes * MB), np.uint8)


def held_by_all() -> int:
    return sum(session_cache.bytes for session_cache in worked._session_caches)


@pytest.mark.parametrize(
    ("value", "megabytes"),
    [
        (bytes(3 * MB), 3),
        (numbers(2), 2),
        (numbers(2).reshape(4, -1)[0], 2),  # a slice keeps the whole array in memory from which it was cut
        (torch.zeros(MB, 2), 8),
        (torch.zeros(MB, 2)[:10], 8),
        (torch.zeros(MB, 2).numpy()[:10], 8),
        (Image.new("RGB", (512, 512)), 1),
        (Found(torch.zeros(MB), (Image.new("RGB", (512, 512)),) * 2, "x" * MB), 4 + 2 + 1),
        ({"rows": 3, "curve": [numbers(1), {"more": (numbers(1), None, 0.5, np.float32(1))}]}, 2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_things_hold_is_counted_with_all_that_is_in_them(value, megabytes):
    assert worked.bytes_of(value) / MB == pytest.approx(megabytes, abs=0.01)


def test_what_can_t_be_counted_is_not_kept():
    session_cache = worked.lesson_cache()
    with pytest.raises(TypeError, match="Cache"):
        worked.cached_result(picture(1), WISH, session_cache, "x", lambda: (Cache(1),))
    assert session_cache.bytes == 0


def test_a_hundred_sessions_stay_below_their_bound_and_who_was_away_longest_gives_first(monkeypatch):
    monkeypatch.setattr(worked, "ALL_OWN_BYTES", 10 * MB)
    session_caches = [worked.lesson_cache() for _ in range(100)]
    for n, session_cache in enumerate(session_caches):
        for name in "ab":
            worked.cached_result(picture(n), WISH, session_cache, name, lambda: numbers(0.99))
            assert held_by_all() <= 10 * MB
    assert [session_cache.bytes > 0 for session_cache in session_caches] == [False] * 95 + [True] * 5


def test_one_person_alone_keeps_no_more_than_their_share():
    session_cache = worked.lesson_cache()
    for name in range(40):
        worked.cached_result(picture(1), WISH, session_cache, name, lambda: numbers(1))
        assert session_cache.bytes <= worked.ONE_OWN_BYTES < worked.ALL_OWN_BYTES


def test_what_is_about_a_sample_is_made_once_for_everybody_and_bounded_as_well(monkeypatch):
    monkeypatch.setattr(worked, "SHARED_BYTES", 3 * MB)
    first_cache, second_cache = worked.lesson_cache(), worked.lesson_cache()
    result = worked.cached_result(picture(1, sample=True), WISH, first_cache, "x", lambda: numbers(1))
    second_result = worked.cached_result(
        picture(1, sample=True), WISH, second_cache, "x", lambda: pytest.fail("it is there")
    )
    assert second_result is result
    for name in range(10):
        worked.cached_result(picture(1, sample=True), WISH, first_cache, name, lambda: numbers(1))
        assert worked.shared_results().bytes <= 3 * MB
    assert first_cache.bytes == second_cache.bytes == 0


def test_another_picture_model_or_question_has_its_own():
    session_cache, made_values = worked.lesson_cache(), []
    for shade, setup, name in ((1, WISH, "x"), (2, WISH, "x"), (1, Setup("bundled", 2), "x"), (1, WISH, "y")) * 2:
        worked.cached_result(picture(shade), setup, session_cache, name, lambda: made_values.append(1))
    assert len(made_values) == 4


def test_what_is_about_an_upload_is_its_person_s_and_goes_with_them():
    first_cache, second_cache = worked.lesson_cache(), worked.lesson_cache()
    worked.cached_result(picture(1), WISH, first_cache, "x", lambda: numbers(1))
    second_result = worked.cached_result(picture(1), WISH, second_cache, "x", lambda: numbers(2))
    assert len(second_result) == 2 * MB
    assert worked.shared_results().bytes == 0
    del first_cache
    gc.collect()
    assert held_by_all() / MB == pytest.approx(2, abs=0.01)


def test_the_table_of_what_a_process_holds_counts_on_the_same_number():
    match = re.search(r"^\| what lessons worked out.* \| (\d+) MB \|", (ROOT / "deploy/README.md").read_text(), re.M)
    assert int(match[1]) * MB == worked.SHARED_BYTES + worked.ALL_OWN_BYTES
