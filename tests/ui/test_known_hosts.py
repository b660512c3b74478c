"""Which Host headers the server accepts, tested without a network. tests/ui/test_served.py asks the whole server."""

import socket

import pytest

from playground.serving import hosts, settings
from playground.serving.settings import Settings

OUR_HOSTS = (
    "localhost", "LocalHost", "localhost.", "localhost:9000", "127.0.0.1", "127.0.0.1:8501", "[::1]",
    "[::1]:8501", "192.168.1.5:8501", "10.244.3.17:8501", "[fd00::17]:8501", "[FE80::1]",
    "[::ffff:192.168.1.5]:80", "0.0.0.0:8501", "box", "BOX:8501", "box.local",
    "hall.example", "Hall.Example.:443", "attention.hall.example",
)  # fmt: skip
FOREIGN_HOSTS = (
    "evil.example", "evil.example:8501", "EVIL.EXAMPLE.", "localhost.evil.example", "evil-localhost",
    "127.0.0.1.evil.example", "localhost@evil.example", "evil.example@localhost", "localhost:80@evil.example",
    "user:localhost@evil.example", "localhost/evil.example", "localhost#evil.example", "evil.example#localhost",
    "localhost?x", "localhost evil.example", "localhost,evil.example", "localhost:8501:evil.example",
    "localhost..", "[::1].evil.example", "[::1", "::1", "[localhost]", "1.2.3", "1.2.3.4.5", "256.1.1.1",
    "box.evil.example", "other.box.local", "www.hall.example", "example", "", ".", ":8501", "l\u00f6calhost",
    "localhost\x00", "box.example.org:8501",
)  # fmt: skip


@pytest.fixture(autouse=True)
def box(own_app, monkeypatch):
    """A machine with the host name box; its operator gives two more names."""
    monkeypatch.setattr(socket, "gethostname", lambda: "Box")
    monkeypatch.setattr(settings, "now", lambda: Settings(hosts=("hall.example", "attention.hall.example")))


def is_answered(*host_names: str) -> bool:
    headers = [(b"host", name.encode("latin-1")) for name in host_names] + [(b"x-forwarded-host", b"localhost")]
    return hosts.is_answered({"headers": headers})


@pytest.mark.parametrize("name", OUR_HOSTS)
def test_this_machine_is_answered_by_its_names_its_addresses_and_the_names_that_are_given(name):
    assert is_answered(name)


@pytest.mark.parametrize("name", FOREIGN_HOSTS)
def test_no_other_host_is_answered_whatever_x_forwarded_host_says(name):
    assert not is_answered(name)


def test_a_request_without_a_host_is_answered_and_one_with_two_is_refused():
    """A probe in HTTP/1.0 may send no Host header."""
    assert is_answered()
    assert not is_answered("localhost", "evil.example")
    assert not is_answered("localhost", "localhost")


@pytest.mark.parametrize("option", ["attention", "/attention", "attention/", "/attention/"])
def test_the_base_path_is_read_as_streamlit_reads_it(option):
    assert hosts.base_path(option) == "/attention"
    assert hosts.base_path("") == hosts.base_path("/") == hosts.base_path(None) == ""
    assert hosts.base_path("tools/attention") == "/tools/attention"
