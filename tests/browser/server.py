"""A real server of the app, for the browser tests, the benchmarks and the pictures of the README."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 180  # seconds: a busy machine is no failure


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextmanager
def running() -> Iterator[str]:
    """Gives its address once it is healthy. It has a home of its own, without caches, and no way to the hub."""
    with tempfile.TemporaryDirectory() as home, open(Path(home) / "log.txt", "w+") as log:
        port = free_port()
        env = {k: v for k, v in os.environ.items() if not k.startswith(("STREAMLIT_", "HF_", "XDG_"))}
        process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app.py",
             "--server.port", str(port), "--server.address", "127.0.0.1"],
            cwd=ROOT, env=env | {"HOME": home, "HF_HUB_OFFLINE": "1"}, stdout=log, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            url = f"http://127.0.0.1:{port}"
            if not _is_healthy(url, process):
                log.seek(0)
                raise RuntimeError(f"The app's server did not start:\n{log.read()}")
            yield url
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _is_healthy(url: str, process: subprocess.Popen) -> bool:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5) as answer:
                if answer.status == 200:
                    return True
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    return False
