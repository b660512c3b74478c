"""The server ends soon after it is told to, whatever it is about: compose and systemd give it five seconds."""

import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import witnesses
from waiting import until
from websockets.exceptions import ConnectionClosed

from browser.server import Server, serving
from browser.stranger import Stranger, ask, form

MODEL = "vit_tiny_patch16_224.augreg_in21k_ft_in1k"  # not on this machine


class Hub(ThreadingHTTPServer):
    """It says that it is there, and then nothing more."""

    daemon_threads = True

    def __init__(self):
        self.asked, self.over = threading.Event(), threading.Event()
        super().__init__(("127.0.0.1", 0), Answer)

    @property
    def environment(self) -> dict[str, str]:
        return {"HF_ENDPOINT": f"http://127.0.0.1:{self.server_port}", "HF_HUB_OFFLINE": "0"}


class Answer(BaseHTTPRequestHandler):
    def do_HEAD(self):
        if self.path.strip("/"):
            self.server.asked.set()
            self.server.over.wait()
        self.send_response(200)
        self.end_headers()

    do_GET = do_HEAD

    def log_message(self, *words):
        pass


@pytest.fixture
def hub():
    hub = Hub()
    threading.Thread(target=hub.serve_forever, daemon=True).start()
    yield hub
    hub.over.set()
    hub.shutdown()


def stalled_upload(server: Server, stranger: Stranger) -> socket.socket:
    """It has begun, and goes no further."""
    _, headers = ask(f"{server.url}/_stcore/health")
    token = headers["set-cookie"].partition("=")[2].partition(";")[0]
    path = stranger.upload_url().removeprefix(server.url)
    lines = [
        f"PUT {path} HTTP/1.1", f"Host: {server.address}", f"Cookie: _streamlit_xsrf={token}", f"X-Xsrftoken: {token}",
        f"Content-Type: {form(b'')[1]}", "Content-Length: 1000000", "", "--edge\r\n",
    ]  # fmt: skip
    line = socket.create_connection(("127.0.0.1", server.port))
    line.sendall("\r\n".join(lines).encode())
    return line


def computation(server: Server) -> None:
    """One that takes a while."""
    somebody = Stranger(server.url, "model=ViT-B/14&sample=meadow")

    def ask() -> None:
        with suppress(ConnectionClosed):  # nobody waits for the answer
            somebody.choose("Patches", "48 × 48")

    threading.Thread(target=ask, daemon=True).start()
    until(lambda: "ViT-B/14" in server.log, "the model was never loaded")


def test_it_ends_with_models_loaded_a_computation_a_hung_fetch_and_a_stalled_upload(hub):
    with serving(OMP_NUM_THREADS="1", **hub.environment) as server:
        stranger = Stranger(server.url, f"model={MODEL}")
        stranger.press("fetch it")
        until(hub.asked.is_set, f"nothing was fetched: {stranger.said}")
        line = stalled_upload(server, stranger)
        computation(server)
        server.process.terminate()
        assert server.process.wait(120) in (-signal.SIGTERM, -signal.SIGALRM)  # by itself, or by its own alarm
        line.close()


def test_who_presses_ctrl_c_sees_no_traceback(tmp_path, monkeypatch):
    server = Server(tmp_path)
    command = [sys.executable, "-m", "playground", "--no-browser", "--host", "127.0.0.1", "--port", str(server.port)]
    start = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda _, **how: start(command, **how))
    server.start().wait()
    Stranger(server.url)
    server.process.send_signal(signal.SIGINT)
    server.process.wait(120)
    witnesses.leave(server)
    assert "Traceback" not in server.log
