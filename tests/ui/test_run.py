"""The server as a process: wrong settings, readiness, its log."""

import json
import logging
import os
import re
import subprocess
import sys

import pytest
from browser.server import ROOT, serving
from browser.stranger import answer
from waiting import PATIENCE, until

from playground.ui.log import JsonFormatter

LAUNCH, RUN = ["-m", "playground", "--no-browser"], ["-m", "playground.ui.run", "app.sock"]
PROXY = [str(ROOT / "deploy" / "start.py"), "--replicas", "127.0.0.1:9"]


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
    assert {json.loads(event)["message"].split()[0] for event in events} == {"trace"}


def test_each_event_is_one_line_with_fields_and_an_error_s_trace_is_one_of_them():
    try:
        raise ValueError("no memory")
    except ValueError as error:
        error_info = (type(error), error, error.__traceback__)
    record = logging.LogRecord("playground", logging.WARNING, "here.py", 1, "a model of %d MB", (28,), error_info)
    line = JsonFormatter().format(record)
    assert "\n" not in line
    event = json.loads(line)
    assert (event["level"], event["message"]) == ("warning", "a model of 28 MB")
    assert event["time"].endswith("+00:00")
    assert "ValueError: no memory" in event["trace"]
