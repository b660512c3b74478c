"""Weights that come down from a hub: a small one, made by this test, on this machine."""

import os
import resource
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

NAME = "vit_tiny_patch16_224.augreg_in21k_ft_in1k"
FETCH = """
import sys, tqdm
import playground
from playground.models import zoo
from playground.errors import PlaygroundError

class Report(tqdm.tqdm):
    reached = []
    def __init__(self, *a, **k):
        super().__init__(*a, **{**k, "disable": False})
    def update(self, n=1):
        super().update(n)
        Report.reached.append((self.n, self.total))

try:
    zoo.download(sys.argv[1], Report)
    vit = playground.load(sys.argv[1], device="cpu")
    print("loaded", vit.name, Report.reached[-1][0] == Report.reached[-1][1] if Report.reached else "from the cache")
except PlaygroundError as error:
    print("refused", error)
"""


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    import timm
    from safetensors.torch import save

    return save(timm.create_model(NAME.split(".")[0]).state_dict())


class Hub(ThreadingHTTPServer):
    """Answers as a hub does for one file; a broken one hangs up in the middle of it."""

    def __init__(self, weights: bytes, broken: bool = False):
        self.weights, self.broken = weights, broken
        super().__init__(("127.0.0.1", 0), Answer)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answer(BaseHTTPRequestHandler):
    def do_HEAD(self):
        self._head()

    def do_GET(self):
        if self._head():
            weights = self.server.weights
            self.wfile.write(weights[: len(weights) // 2] if self.server.broken else weights)

    def _head(self) -> bool:
        found = self.path == f"/timm/{NAME}/resolve/main/model.safetensors"
        self.send_response(200 if found else 404)
        if found:
            self.send_header("Content-Length", str(len(self.server.weights)))
            self.send_header("ETag", '"0123456789abcdef"')
            self.send_header("X-Repo-Commit", "a" * 40)
        else:
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("Content-Length", "0")
        self.end_headers()
        return found

    def log_message(self, *arguments):
        pass


def fetch(endpoint: str, home, most_bytes: int | None = None) -> str:
    """What the program says at last; `most_bytes` is the largest file that it can write, as on a full disk."""

    def limit():
        if most_bytes:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    env = {**os.environ, "HF_ENDPOINT": endpoint, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1"}
    env.pop("HF_HUB_OFFLINE", None)
    run = subprocess.run(
        [sys.executable, "-c", FETCH, NAME], env=env, capture_output=True, text=True, timeout=240, preexec_fn=limit
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip().splitlines()[-1]


def test_weights_come_down_with_a_report_and_are_found_in_the_cache_afterwards(weights, tmp_path):
    hub = Hub(weights)
    assert fetch(hub.url, tmp_path) == f"loaded {NAME} True"
    gone = hub.url
    hub.shutdown()
    hub.server_close()
    assert fetch(gone, tmp_path) == f"loaded {NAME} from the cache"


def test_weights_that_are_a_log_in_page_are_refused(tmp_path):
    hub = Hub(b"<html>please log in</html>")
    assert fetch(hub.url, tmp_path).startswith("refused ")


def test_a_connection_that_always_breaks_off_is_given_up_and_a_later_try_works(weights, tmp_path):
    hub = Hub(weights, broken=True)
    assert "breaks off again and again" in fetch(hub.url, tmp_path)
    hub.broken = False
    assert fetch(hub.url, tmp_path).startswith(f"loaded {NAME}")


@pytest.mark.parametrize("broken", ["full", "no folder"])
def test_weights_that_can_not_be_kept_are_refused_in_a_sentence(weights, tmp_path, broken):
    hub = Hub(weights)
    (tmp_path / "file").touch()
    home = tmp_path / "file" / "home" if broken == "no folder" else tmp_path
    said = fetch(hub.url, home, most_bytes=10**6 if broken == "full" else None)
    assert said.startswith("refused ")
    assert "Traceback" not in said
