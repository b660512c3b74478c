"""A real server of the app, for the browser tests, the benchmarks and the pictures of the README."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import witnesses
from filelock import FileLock
from waiting import PATIENCE

from playground.serving import hosts

ROOT = Path(__file__).resolve().parent.parent.parent
LAST_LINES = 30  # lines of the log that a failed test prints


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@cache
def drawn_packs() -> Path:
    """The folder of the drawings' packs, with which a server shows its first picture without a forward pass. A pack's
    name holds a digest of all that the pack depends on, so packs of an earlier run are used again."""
    hub = ROOT / ".pytest_cache" / "packs"
    hub.mkdir(parents=True, exist_ok=True)
    with FileLock(hub / "lock"):
        environment = {**os.environ, "HF_HUB_CACHE": str(hub), "HF_HUB_OFFLINE": "1", "PLAYGROUND_BORROWED": ""}
        subprocess.run([sys.executable, "-m", "playground", "prepare"], cwd=ROOT, env=environment, check=True)
    return hub / "attention-playground"


class Server:
    """The app in a process of its own, with its own home folder. Its cache holds only the drawings' packs. It cannot
    reach the Hugging Face Hub."""

    def __init__(self, home: Path, program: tuple[str, ...] = ("-m", "playground"), **environment: str):
        self.port, self.home, self.program = free_port(), home, program
        setting_prefixes = ("STREAMLIT_", "HF_", "XDG_", "PLAYGROUND_")
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(setting_prefixes)}
        own_settings = {"HOME": str(home), "HF_HUB_OFFLINE": "1", "PLAYGROUND_BORROWED": str(drawn_packs())}
        own_settings["PLAYGROUND_PROXIES"] = "127.0.0.1"  # so that tests can send requests as from other networks
        self.environment = inherited | own_settings | environment

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.address}{hosts.base_path(self.environment.get(hosts.BASE_PATH_OPTION))}"

    @property
    def log(self) -> str:
        return (self.home / "log.txt").read_text()

    @property
    def command(self) -> list[str]:
        return [*self.program, "--no-browser", "--host", "127.0.0.1", "--port", str(self.port)]

    @property
    def pids(self) -> list[int]:
        return [self.process.pid]

    def report(self) -> str:
        """A report for a failed test: the address, whether the server runs, and the last lines of its log."""
        exit_status = self.process.poll()
        lines = self.log.splitlines()[-LAST_LINES:]
        return "\n".join([self.url, "running" if exit_status is None else f"ended with status {exit_status}", *lines])

    def start(self) -> Server:
        """Starts the process without waiting for it. After a kill, a second start uses the same port."""
        with (self.home / "log.txt").open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, *self.command], cwd=ROOT, env=self.environment, stdout=log, stderr=subprocess.STDOUT
            )
        return self

    def wait(self) -> Server:
        witnesses.enter(self)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/healthz", timeout=5) as answer:
                    if answer.status == 200:
                        return self
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        raise RuntimeError(f"The app's server did not start:\n{self.log}")

    def kill(self) -> None:
        witnesses.leave(self)
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        witnesses.leave(self)
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()


@contextmanager
def serving(program: tuple[str, ...] = ("-m", "playground"), **environment: str) -> Iterator[Server]:
    """Starts a server with these environment variables, and yields the server once it is healthy."""
    with tempfile.TemporaryDirectory() as home:
        server = Server(Path(home), program, **environment).start()
        try:
            yield server.wait()
        finally:
            server.stop()


@contextmanager
def serving_url() -> Iterator[str]:
    with serving() as server:
        yield server.url
