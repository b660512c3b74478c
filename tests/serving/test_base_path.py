"""The base path of the app's addresses. tests/browser/test_next.py runs the whole app below a base path."""

import pytest

from playground.serving import hosts


@pytest.mark.parametrize("option", ["attention", "/attention", "attention/", "/attention/"])
def test_the_base_path_is_read_as_streamlit_reads_it(option):
    assert hosts.base_path(option) == "/attention"
    assert hosts.base_path("") == hosts.base_path("/") == hosts.base_path(None) == ""
    assert hosts.base_path("tools/attention") == "/tools/attention"
