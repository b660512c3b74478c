"""Python and JavaScript write a share as the same text."""

import math

import pytest
from twins import in_javascript

from playground.numbers import percent

TEXT_OF_SHARE = {
    0: "0 %", 1e-9: "< 0.01 %", 0.0034: "0.34 %", 0.034: "3.4 %", 0.0996: "10 %", 0.125: "13 %", 0.638: "64 %",
    0.9949: "99 %", 0.998: "99.8 %", 0.9998: "99.98 %", 0.999999: "> 99.99 %", 1: "100 %", 1.5: "150 %",
}  # fmt: skip


@pytest.mark.parametrize(("share", "text"), TEXT_OF_SHARE.items())
def test_a_share_above_0_is_never_written_as_0_nor_one_below_1_as_100_percent(share, text):
    assert percent(share) == text


def test_the_browser_writes_shares_as_python_does():
    shares = [*TEXT_OF_SHARE, *(math.exp(-n / 40) for n in range(420)), *(1 - math.exp(-n / 40) for n in range(420))]
    assert in_javascript(["numbers"], "return given.map(numbers.percent)", shares) == [percent(x) for x in shares]
