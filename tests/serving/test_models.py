"""What a server does where memory or its settings do not allow more."""

import socket

import pytest

from playground.errors import PlaygroundError
from playground.serving import models, pictures, settings, traces
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
