"""What a server does once, when it starts: it checks its settings."""

import pytest

from playground.errors import PlaygroundError
from playground.serving import settings, starting
from playground.serving.settings import Settings


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
