"""The program `attention-playground` without a subcommand, which starts the app."""

import http.server
import os
import socket
import threading

import pytest

from playground.__main__ import main
from playground.ui import launch


@pytest.fixture
def taken_port():
    """A port of localhost on which another socket listens."""
    with socket.socket() as other_socket:
        other_socket.bind(("127.0.0.1", 0))
        other_socket.listen()
        yield other_socket.getsockname()[1]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--port", "70000"], "--port goes from 1 to 65535"),
        (["--port", "0"], "--port goes from 1 to 65535"),
        (["--host", "no such place"], "This machine has no address 'no such place'"),
        (["--host", "192.0.2.1"], "This machine has no address '192.0.2.1'"),  # an address reserved for documentation
    ],
)
def test_a_host_or_port_where_nothing_can_listen_is_refused_with_a_sentence(options, sentence, capsys):
    assert main([*options, "--no-browser"]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ""),
        (["--host", "127.0.0.1"], ""),
        (["--host", "::1"], ""),
        (["--host", "box", "--allow-host", "hall.example"], "hall.example box"),
        (["--allow-host", "a.example", "--allow-host", "b.example"], "a.example b.example"),
    ],
)
def test_host_names_from_the_options_reach_the_server(options, expected, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_HOSTS", "")
    served_sockets = []
    monkeypatch.setattr(launch, "_is_of_this_machine", lambda host: True)
    monkeypatch.setattr(launch, "_listeners", lambda *_: [socket.socket()])
    monkeypatch.setattr(launch.run, "serve", lambda sockets: served_sockets.append(sockets))
    assert main([*options, "--no-browser"]) == 0
    assert os.environ["PLAYGROUND_HOSTS"].split() == expected.split()
    assert len(served_sockets) == 1


@pytest.mark.parametrize(("host", "is_open"), [("localhost", False), ("127.0.0.1", False), ("0.0.0.0", True)])
def test_a_server_that_others_can_reach_prints_what_is_not_protected(host, is_open, monkeypatch, capsys):
    monkeypatch.setattr(launch.run, "serve", lambda sockets: [sock.close() for sock in sockets])
    assert main(["--host", host, "--no-browser"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "only the image is protected" in line] == (
        [launch.OPEN_WARNING] if is_open else []
    )
    assert launch.OPEN_WARNING.count(".") == 2  # one in the file's name, one at the end of the sentence


def test_a_taken_port_that_was_asked_for_is_refused(taken_port, capsys):
    assert main(["--host", "127.0.0.1", "--port", str(taken_port), "--no-browser"]) == 2
    assert f"Port {taken_port} is taken" in capsys.readouterr().err


def test_without_the_option_port_a_taken_port_is_passed_over(taken_port, monkeypatch):
    monkeypatch.setattr(launch, "FIRST_PORT", taken_port)
    (listener,) = launch._listeners("127.0.0.1", None)
    with listener:
        assert listener.getsockname()[1] > taken_port


def test_the_browser_opens_once_the_server_answers(monkeypatch):
    opened_urls, requests = [], []

    class Health(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)
            self.send_response(200 if len(requests) > 1 else 503)
            self.end_headers()

        def log_message(self, *words):
            pass

    monkeypatch.setattr(launch.webbrowser, "open", lambda url: opened_urls.append((url, len(requests))))
    with http.server.HTTPServer(("127.0.0.1", 0), Health) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        launch._open_when_ready(url)
        server.shutdown()
    assert opened_urls == [(url, 2)], requests
    assert set(requests) == {"/healthz"}
