"""Python and JavaScript write a share as the same text."""

import math

import pytest
from twins import in_javascript

from playground.numbers import percent

WRITTEN = {
    0: "0 %", 1e-9: "< 0.01 %", 0.0034: "0.34 %", 0.034: "3.4 %", 0.0996: "10 %", 0.125: "13 %", 0.638: "64 %",
    0.9949: "99 %", 0.998: "99.8 %", 0.9998: "99.98 %", 0.999999: "> 99.99 %", 1: "100 %", 1.5: "150 %",
}  # fmt: skip


@pytest.mark.parametrize(("share", "text"), WRITTEN.items())
def test_what_is_not_nothing_is_not_0_and_what_is_not_all_is_not_100(share, text):
    assert percent(share) == text


def test_the_browser_writes_it_the_same():
    shares = [*WRITTEN, *(math.exp(-n / 40) for n in range(420)), *(1 - math.exp(-n / 40) for n in range(420))]
    assert in_javascript(["numbers"], "return given.map(numbers.percent)", shares) == [percent(x) for x in shares]
