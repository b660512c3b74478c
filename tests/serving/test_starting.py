"""What a server does once, when it starts: it checks its settings, and warms up until it is ready."""

import pytest

from playground.errors import PlaygroundError
from playground.serving import cache, models, prepared, routes_traces, settings, starting
from playground.serving.settings import Settings
from serving.visits import client


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


@pytest.fixture
def is_ready(own_app, monkeypatch):
    monkeypatch.setattr(cache, "freeze_objects", lambda: None)
    monkeypatch.setattr(prepared, "prepare_behind_everybody", lambda: None)
    monkeypatch.setattr(routes_traces, "look_at_first_picture", lambda: None)
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
    monkeypatch.setattr(routes_traces, "look_at_first_picture", lambda: events.append(("looked at", is_ready())))
    starting.warm_up()
    loaded = [("bundled", False), (models.PHOTOGRAPH_MODEL, False)]
    assert events == [("started", False), *loaded, ("prepared", True), ("looked at", True)]


def test_a_model_that_cannot_be_loaded_keeps_no_server_from_being_ready(is_ready, monkeypatch, caplog):
    def fail(name: str) -> None:
        raise PlaygroundError(f"{name} is damaged")

    monkeypatch.setattr(models, "load", fail)
    starting.warm_up()
    assert is_ready()
    assert "bundled is damaged" in caplog.text
