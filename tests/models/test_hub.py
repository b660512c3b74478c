"""Weights are downloaded from a small hub, which this test runs on this machine."""

import os
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

NAME = "vit_tiny_patch16_224.augreg_in21k_ft_in1k"
FETCH = """
import sys, time, tqdm
import playground
from playground.models import zoo, catalogue
from playground.errors import PlaygroundError

class Report(tqdm.tqdm):
    reached = []
    def __init__(self, *a, **k):
        super().__init__(*a, **{**k, "disable": False})
    def update(self, n=1):
        super().update(n)
        Report.reached.append((self.n, self.total))

time.sleep = lambda seconds: None  # the hub's library waits for seconds between two of its tries
for _ in sys.stdin:  # each line is another try
    try:
        catalogue.fetch(sys.argv[1], Report)
        vit = playground.load(sys.argv[1], device="cpu")
        whole = Report.reached and Report.reached[-1][0] == Report.reached[-1][1]
        print("loaded", vit.name, "whole" if whole else "from the cache", flush=True)
    except PlaygroundError as error:
        print("refused", error, flush=True)
"""


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    import timm
    from safetensors.torch import save

    return save(timm.create_model(NAME.split(".")[0]).state_dict())


class Hub(ThreadingHTTPServer):
    def __init__(self, weights: bytes):
        self.weights = weights
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
            self.wfile.write(self.server.weights)

    def _head(self) -> bool:
        exists = self.path == f"/timm/{NAME}/resolve/main/model.safetensors"
        self.send_response(200 if exists else 404)
        if exists:
            self.send_header("Content-Length", str(len(self.server.weights)))
            self.send_header("ETag", '"0123456789abcdef"')
            self.send_header("X-Repo-Commit", "a" * 40)
        else:
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("Content-Length", "0")
        self.end_headers()
        return exists

    def log_message(self, *arguments):
        pass


@contextmanager
def program(hub: Hub, home):
    env = {**os.environ, "HF_ENDPOINT": hub.url, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1"}
    env.pop("HF_HUB_OFFLINE", None)
    command, pipe = [sys.executable, "-c", FETCH, NAME], subprocess.PIPE
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(command, env=env, text=True, stdin=pipe, stdout=pipe, stderr=log) as process,
    ):

        def load_again() -> str:
            print("again", file=process.stdin, flush=True)
            line = process.stdout.readline().strip()
            log.seek(0)
            assert line, log.read()
            return line

        yield load_again
        process.stdin.close()


@pytest.mark.slow
def test_weights_are_downloaded_after_failures_and_then_found_in_the_cache(weights, tmp_path):
    hub = Hub(b"<html>please log in</html>")
    with program(hub, tmp_path) as load_again:
        assert load_again().startswith("refused ")
        hub.weights = weights
        assert load_again() == f"loaded {NAME} whole"
    hub.shutdown()
    hub.server_close()
    with program(hub, tmp_path) as load_again:
        assert load_again() == f"loaded {NAME} from the cache"
