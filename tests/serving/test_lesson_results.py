"""Results about pictures: their true size is counted, and one limit holds for those about all own pictures."""

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
