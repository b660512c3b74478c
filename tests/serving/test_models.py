"""What a server does where memory or its settings do not allow more."""

import shutil
import socket

import pytest

from playground.assets import BUNDLED
from playground.errors import PlaygroundError
from playground.serving import address, models, pictures, settings, traces
from playground.serving.settings import Settings
from playground.serving.traces import Wish


def test_a_model_larger_than_the_shelf_is_refused_before_it_is_built(monkeypatch):
    monkeypatch.setattr(settings, "now", lambda: Settings(model_mb=50))
    with pytest.raises(PlaygroundError, match="50 MB for models"):
        models.load("ViT-S/32")


def test_a_server_may_offer_nothing_but_its_list(monkeypatch):
    monkeypatch.setattr(settings, "now", lambda: Settings(open=False))
    with pytest.raises(PlaygroundError, match="offers no"):
        models.load("vit_tiny_patch16_224.augreg_in21k")
    assert models.load("untrained")


def test_offline_nobody_is_asked_for_weights(monkeypatch):
    asked = []
    monkeypatch.setattr(socket.socket, "connect", lambda *where: asked.append(where))
    monkeypatch.setattr(settings, "now", lambda: Settings(offline=True))
    for get in (models.fetch, models.load):
        with pytest.raises(PlaygroundError, match="could not be fetched"):
            get("vit_tiny_patch16_384.augreg_in21k_ft_in1k")
    assert asked == []


def test_a_full_graphics_card_leaves_the_work_to_the_cpu(monkeypatch):
    import torch

    from playground import tracing

    whole, tries = tracing.trace, []

    def trace(*arguments, **options):
        tries.append(1)
        if len(tries) == 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return whole(*arguments, **options)

    monkeypatch.setattr(tracing, "trace", trace)
    seen = traces._run(pictures.sample("flock"), Wish("untrained"))
    assert (len(tries), seen.tokens > 0) == (2, True)


# Model files of whoever runs the server


@pytest.fixture
def own(monkeypatch, tmp_path):
    """A folder with a small model's file, one that is no model, and a server that offers the folder."""
    shutil.copy(BUNDLED, tmp_path / "my-cats.safetensors")
    (tmp_path / "broken.safetensors").write_bytes(b"nothing of the kind")
    monkeypatch.setattr(settings, "now", lambda: Settings(models_dir=str(tmp_path), open=False))
    return tmp_path


def test_a_folder_s_model_files_are_offered_by_their_own_names(own):
    card = next(card for card in models.cards() if card.name == "own/my-cats")
    assert (card.title, card.here) == ("my-cats", True)
    assert "model" in address.readable({"model": "own/my-cats"})
    assert models.is_here("own/my-cats")
    assert models.fetch("own/my-cats") is None
    assert traces.trace(pictures.sample("flock"), Wish("own/my-cats"), traces.own_cache()).layers


def test_a_path_is_still_no_name(own):
    for name in ("own/../my-cats", f"own/{own}/my-cats", "own/my-cats.safetensors", f"{own}/my-cats.safetensors"):
        with pytest.raises(PlaygroundError):
            models.load(name)
    with pytest.raises(PlaygroundError, match="no model file called dogs"):
        models.load("own/dogs")


def test_a_broken_model_file_is_said_without_its_path(own):
    with pytest.raises(PlaygroundError) as refusal:
        models.load("own/broken")
    assert str(own) not in str(refusal.value)
    assert "broken" in str(refusal.value)


def test_a_folder_that_is_not_there_offers_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(settings, "now", lambda: Settings(models_dir=str(tmp_path / "later")))
    assert not [card for card in models.cards() if card.name.startswith("own/")]
