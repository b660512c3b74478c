"""The server ends within five seconds after SIGTERM, whatever it is doing: compose and systemd wait no longer."""

import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlencode

import pytest
import witnesses
from waiting import until

from browser.server import Server, serving
from browser.stranger import Stranger

MODEL = "vit_tiny_patch16_224.augreg_in21k_ft_in1k"  # a model that is not on this machine


class Hub(ThreadingHTTPServer):
    """Answers requests for "/", with which the app tests whether a hub is there. All other requests hang until
    `test_ended` is set."""

    daemon_threads = True

    def __init__(self):
        self.fetch_began, self.test_ended = threading.Event(), threading.Event()
        super().__init__(("127.0.0.1", 0), HubHandler)

    @property
    def environment(self) -> dict[str, str]:
        return {"HF_ENDPOINT": f"http://127.0.0.1:{self.server_port}", "HF_HUB_OFFLINE": "0"}


class HubHandler(BaseHTTPRequestHandler):
    def do_HEAD(self):
        if self.path.strip("/"):
            self.server.fetch_began.set()
            self.server.test_ended.wait()
        self.send_response(200)
        self.end_headers()

    do_GET = do_HEAD

    def log_message(self, *arguments):
        pass


@pytest.fixture
def hub():
    hub = Hub()
    threading.Thread(target=hub.serve_forever, daemon=True).start()
    yield hub
    hub.test_ended.set()
    hub.shutdown()


def stalled_upload(server: Server, stranger: Stranger) -> socket.socket:
    lines = [
        "POST /api/pictures HTTP/1.1", f"Host: {server.address}", f"X-Playground-Key: {stranger.key}",
        "Content-Length: 1000000", "", "x",
    ]  # fmt: skip
    connection = socket.create_connection(("127.0.0.1", server.port))
    connection.sendall("\r\n".join(lines).encode())
    return connection


def start_computation(server: Server) -> None:
    somebody = Stranger(server.url)
    parameters = {"model": "ViT-B/14", "sample": "meadow", "detail": "2"}  # a grid that slow machines offer, too
    digest = somebody.describe(**parameters)["digest"]

    def ask() -> None:
        with suppress(OSError):  # nobody waits for the answer
            somebody.get(f"api/trace/{digest}/layers?{urlencode(parameters)}")

    threading.Thread(target=ask, daemon=True).start()
    until(lambda: "ViT-B/14" in server.log, "the model was never loaded")


@pytest.mark.slow
def test_the_server_ends_during_a_computation_a_hung_fetch_and_a_stalled_upload(hub):
    with serving(OMP_NUM_THREADS="1", **hub.environment) as server:
        stranger = Stranger(server.url)
        stranger.get(f"api/fetching?model={MODEL}", "POST")
        until(hub.fetch_began.is_set, f"nothing was fetched: {stranger.sentences}")
        connection = stalled_upload(server, stranger)
        start_computation(server)
        server.process.terminate()
        assert server.process.wait(120) in (-signal.SIGTERM, -signal.SIGALRM)  # SIGALRM is the server's own time limit
        connection.close()


@pytest.mark.slow
def test_who_presses_ctrl_c_sees_no_traceback(tmp_path, monkeypatch):
    server = Server(tmp_path)
    command = [sys.executable, "-m", "playground", "--no-browser", "--host", "127.0.0.1", "--port", str(server.port)]
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda _, **options: popen(command, **options))
    server.start().wait()
    Stranger(server.url)
    server.process.send_signal(signal.SIGINT)
    server.process.wait(120)
    witnesses.leave(server)
    assert "Traceback" not in server.log
