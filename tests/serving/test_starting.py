"""What a server does once, when it starts: it checks its settings, and warms up until it is ready."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from playground.errors import PlaygroundError
from playground.serving import cache, models, prepared, settings, starting
from playground.serving.settings import Settings
from serving.visits import client

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (Settings(models=("vit_smal",)), "PLAYGROUND_MODELS: .*vit_smal"),
        (Settings(models=("bundled", "resnet50")), "PLAYGROUND_MODELS: .*resnet50"),
        (Settings(models=("own/mine",)), "PLAYGROUND_MODELS: .*mine"),
        (Settings(models=("ViT-S/999",)), "PLAYGROUND_MODELS: .*patches of 999 pixels"),
        (Settings(models_dir="/no/such/folder"), "PLAYGROUND_MODELS_DIR: .*/no/such/folder"),
        (Settings(device="cuda:99"), "PLAYGROUND_DEVICE is cuda:99"),
    ],
)
def test_a_model_a_folder_or_a_device_that_there_is_not_is_refused(wrong, sentence, monkeypatch):
    monkeypatch.setattr(settings, "now", lambda: wrong)
    with pytest.raises(PlaygroundError, match=sentence):
        starting.check_settings()


def test_a_folder_without_a_labelled_data_set_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_CIFAR", str(tmp_path))
    with pytest.raises(PlaygroundError, match=r"PLAYGROUND_CIFAR: .*data_batch_1\.bin"):
        starting.check_settings()


def test_every_kind_of_model_may_be_offered(tmp_path, monkeypatch):
    names = ("untrained", "dinov2-small", "ViT-S/16", "vit_tiny_patch16_224.augreg_in21k")
    wanted = Settings(models=names, models_dir=str(tmp_path), device="cpu", open=False)
    monkeypatch.setattr(settings, "now", lambda: wanted)
    starting.check_settings()


@pytest.fixture
def is_ready(monkeypatch):
    """Whether /readyz says yes for a server that has just started."""
    monkeypatch.setattr(starting, "is_warm", threading.Event())
    monkeypatch.setattr(cache, "freeze_objects", lambda: None)
    monkeypatch.setattr(prepared, "prepare_behind_everybody", lambda: None)
    browser = client()

    def ask() -> bool:
        answer = browser.get("/readyz")
        assert (answer.status_code, answer.json()["ready"]) in ((200, True), (503, False)), answer.text
        return answer.json()["ready"]

    return ask


def test_a_server_is_ready_when_the_models_of_drawings_and_photographs_are_loaded_and_before_samples_are_prepared(
    is_ready, monkeypatch
):
    events = [("started", is_ready())]
    monkeypatch.setattr(models, "has_photographs", lambda: True)
    monkeypatch.setattr(models, "load", lambda name: events.append((name, is_ready())))
    monkeypatch.setattr(prepared, "prepare_behind_everybody", lambda: events.append(("prepared", is_ready())))
    starting.warm_up()
    assert events == [("started", False), ("bundled", False), (models.PHOTOGRAPH_MODEL, False), ("prepared", True)]


def test_a_model_that_cannot_be_loaded_keeps_no_server_from_being_ready(is_ready, monkeypatch, caplog):
    def fail(name: str) -> None:
        raise PlaygroundError(f"{name} is damaged")

    monkeypatch.setattr(models, "load", fail)
    starting.warm_up()
    assert is_ready()
    assert "bundled is damaged" in caplog.text


def test_torch_s_threads_sleep_while_they_wait_for_each_other():
    """Their library reads the wish once, when torch is imported, so the app has to make it earlier."""
    code = "import sys, playground.ui.server; assert 'torch' not in sys.modules; import torch"
    environment = {name: word for name, word in os.environ.items() if name not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment | {"OMP_DISPLAY_ENV": "verbose"},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    spins = re.findall(r"(?:GOMP_SPINCOUNT|KMP_BLOCKTIME) ?= ?'(\d+)", ran.stderr)
    assert spins == ["0"] or "OMP_WAIT_POLICY" not in ran.stderr, ran.stderr
