"""The colour scale ends at the same value in Python and in the browser: tests/js/view.test.mjs has these numbers."""

import pytest

from playground.analysis.scale import nice_number, shared_ceiling


def test_colours_end_where_the_browser_s_do():
    assert [shared_ceiling(tokens) for tokens in (201, 257, 10)] == [0.1, 0.1, 1]
    assert shared_ceiling(4097) == pytest.approx(0.005)
    assert [nice_number(x) for x in (0.013, 0.02, 0.04, 0.9, 7)] == pytest.approx([0.01, 0.02, 0.05, 1, 5])
