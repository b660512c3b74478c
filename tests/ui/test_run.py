"""The web server that runs the app, tested with a small app."""

import json
import os
import re
import subprocess
import sys
import threading

import pytest
import uvicorn
from browser.server import ROOT, serving
from browser.stranger import answer
from waiting import PATIENCE, until
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from playground.ui import run

LAUNCH, RUN = ["-m", "playground", "--no-browser"], ["-m", "playground.ui.run", "app.sock"]
PROXY = [str(ROOT / "deploy" / "start.py"), "--replicas", "127.0.0.1:9"]
PING, EMPTY_FRAME = b"\x89\x80\0\0\0\0", b"\0\x80\0\0\0\0"  # frames: a ping, and an empty continuation
FIRST_FRAME = b"\x02\x80\0\0\0\0"


async def echo(scope, receive, send):
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "bytes": message["bytes"]})


@pytest.fixture
def url():
    (listener,) = run.at_port("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(echo, ws=run.Socket, lifespan="off", log_level="critical"))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    until(lambda: server.started, "it does not start")
    yield f"ws://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join(PATIENCE)


@pytest.mark.parametrize("flood", [PING * 5000, FIRST_FRAME + EMPTY_FRAME * 5000], ids=["pings", "empty frames"])
def test_a_flood_of_pings_or_empty_frames_is_cut_off(url, flood):
    with connect(url) as connection:
        connection.socket.sendall(flood)
        with pytest.raises(ConnectionClosed):
            connection.recv(PATIENCE)


def test_a_client_with_some_pings_and_a_long_message_is_heard(url):
    with connect(url) as connection:
        for _ in range(20):
            assert connection.ping().wait(PATIENCE)
        connection.send(b"x" * 100_000)
        assert connection.recv(PATIENCE) == b"x" * 100_000
        connection.send([b"in ", b"three ", b"pieces"])
        assert connection.recv(PATIENCE) == b"in three pieces"


@pytest.mark.parametrize("command", [LAUNCH, RUN, PROXY], ids=["by hand", "behind nginx", "nginx alone"])
@pytest.mark.parametrize("setting", ["OPEN", "HOST"])
def test_a_wrong_setting_ends_the_server_with_a_sentence_before_it_listens(command, setting, tmp_path):
    environment = os.environ | {f"PLAYGROUND_{setting}": "maybe", "PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    (sentence,) = result.stderr.splitlines()
    assert f"PLAYGROUND_{setting}" in sentence
    assert result.returncode in (1, 2)
    assert (result.stdout, list(tmp_path.iterdir())) == ("", [])


def test_a_server_whose_page_nobody_opened_has_loaded_its_models_when_it_is_ready_and_logs_in_json():
    with serving(PLAYGROUND_LOG="json") as server:
        until(lambda: answer(f"{server.url}/readyz")[0] == 200, f"it is not ready: {server.log}")
        metrics = answer(f"{server.url}/metrics")[2].decode()
        assert int(re.search(r'cache_misses_total{cache="models"} (\d+)', metrics)[1]) > 0, metrics
        words = "sample=flock&model=bundled&scale=0.5"
        digest = json.loads(answer(f"{server.url}/api/trace?{words}")[2])["digest"]
        assert answer(f"{server.url}/api/trace/{digest}/layers?{words}")[0] == 200
        place, *events = server.log.splitlines()
    assert "The playground is at" in place
    assert [json.loads(event)["message"].split()[0] for event in events] == ["trace"]
