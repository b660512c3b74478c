"""What a server refuses when memory, time or its settings do not allow more."""

import gc
import shutil
import socket
import weakref

import pytest

from playground.assets import BUNDLED_MODEL
from playground.errors import PlaygroundError
from playground.models import catalogue, loading, model_file, source, weights_file
from playground.serving import chosen, effort, models, pictures, settings, traces
from playground.serving.settings import Settings
from playground.serving.traces import Setup


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
    requests = []
    monkeypatch.setattr(socket.socket, "connect", lambda *where: requests.append(where))
    monkeypatch.setattr(settings, "now", lambda: Settings(offline=True))
    for get in (models.fetch, models.load):
        with pytest.raises(PlaygroundError, match="could not be fetched"):
            get("vit_tiny_patch16_384.augreg_in21k_ft_in1k")
    assert requests == []


def test_a_full_graphics_card_leaves_the_work_to_the_cpu(monkeypatch):
    import torch

    from playground import tracing

    real_trace, tries = tracing.trace, []

    def trace(*arguments, **options):
        tries.append(1)
        if len(tries) == 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real_trace(*arguments, **options)

    monkeypatch.setattr(tracing, "trace", trace)
    flock_trace = traces._run(pictures.sample("flock"), Setup("untrained"))
    assert (len(tries), flock_trace.tokens > 0) == (2, True)


def test_large_models_with_random_weights_are_refused():
    for name, message in (("ViT-H/14", "500 MB for models with random"), ("ViT-H/100", "cuts patches of 4 to 32")):
        with pytest.raises(PlaygroundError, match=message):
            models.load(name)
        assert name not in models.loaded_models()


def test_a_large_model_comes_only_after_the_others_have_gone_and_their_traces_with_them(own_app, monkeypatch):
    monkeypatch.setattr(settings, "now", lambda: Settings(model_mb=110))  # room for one ViT-S, which takes 88 MB
    builds, real_build = [], source.build

    def build(given_source, seed=0):
        builds.append((given_source.name, models.loaded_models().bytes))
        return real_build(given_source, seed)

    monkeypatch.setattr(source, "build", build)
    flock = pictures.sample("flock")
    traces.own_traces().get((flock.id, Setup("ViT-S/32")), lambda: traces.trace(flock, Setup("ViT-S/32")))
    model = weakref.ref(models.load("ViT-S/32"))
    models.load("ViT-S/28")
    assert builds == [("ViT-S/32", 0), ("ViT-S/28", 0)], "one was built beside the other"
    gc.collect()
    assert model() is None, gc.get_referrers(model())
    assert "ViT-S/32" not in {
        key[1].model for keys in (traces.own_traces(), traces.sample_traces()) for key in keys._entries
    }


def test_a_grid_that_would_take_too_long_is_neither_offered_nor_computed(monkeypatch):
    def per_second(device: str) -> float:
        return speed

    monkeypatch.setattr(effort, "multiplications_per_second", per_second)
    vit, new_picture = models.load("untrained"), pictures.sample("odd-tile")  # a picture that no other test has traced
    all_patches = effort.multiplications(vit, 196)
    speed = all_patches  # the usual work takes one second
    assert models.details("untrained") == [1, 2]  # detail 2: four times the patches, over four times the work
    speed = all_patches / 11
    assert models.details("untrained") == [1]
    with pytest.raises(PlaygroundError, match="14 × 14 patches would take about 11 seconds"):
        traces.trace(new_picture, Setup("untrained"))


def test_only_safetensors_on_the_hub_are_fetched_and_never_pickled_files(monkeypatch):
    requests = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *where, **how: requests.append(where))
    monkeypatch.setattr(socket.socket, "connect", lambda *where: requests.append(where))
    for get in (catalogue.fetch, loading.load):
        with pytest.raises(PlaygroundError, match="not on the hub as safetensors"):
            get("vit_huge_patch14_gap_224.in1k_ijepa")
    assert requests == []


# Model files of the operator


@pytest.fixture
def own_folder(monkeypatch, tmp_path):
    """A folder with a small model, a file that is no model, and a model whose scores overflow. The server offers it."""
    shutil.copy(BUNDLED_MODEL, tmp_path / "my-cats.safetensors")
    (tmp_path / "broken.safetensors").write_bytes(b"nothing of the kind")
    write_overflowing_model(tmp_path / "beyond.safetensors")
    monkeypatch.setattr(settings, "now", lambda: Settings(models_dir=str(tmp_path), open=False))
    return tmp_path


def test_a_folder_s_model_files_are_offered_by_their_own_names(own_folder):
    card = next(card for card in models.cards() if card.name == "own/my-cats")
    assert (card.title, card.here) == ("my-cats", True)
    assert chosen.read_address({"model": "own/my-cats"})[0]
    assert models.is_here("own/my-cats")
    assert models.fetch("own/my-cats") is None
    assert traces.trace(pictures.sample("flock"), Setup("own/my-cats")).layers


def test_a_model_file_that_was_just_deleted_is_refused_with_a_sentence(own_folder, monkeypatch):
    monkeypatch.setattr(model_file, "in_folder", lambda folder: {"my-cats": own_folder / "deleted.safetensors"})
    assert "own/my-cats" in [card.name for card in models.cards()]
    with pytest.raises(PlaygroundError, match=r"There is no file deleted.safetensors"):
        models.load("own/my-cats")


def test_a_path_is_refused_as_a_model_s_name(own_folder):
    names = ("own/../my-cats", "own/my-cats.safetensors")
    for name in (*names, f"own/{own_folder}/my-cats", f"{own_folder}/my-cats.safetensors"):
        with pytest.raises(PlaygroundError):
            models.load(name)
    with pytest.raises(PlaygroundError, match="no model file called dogs"):
        models.load("own/dogs")


def write_overflowing_model(file):
    """Writes the bundled model with keys so large that its scores overflow float32."""
    import torch
    from safetensors import safe_open
    from safetensors.torch import save_file

    with safe_open(BUNDLED_MODEL, "pt") as bundled_file:
        weights = {name: bundled_file.get_tensor(name) for name in bundled_file.keys()}  # noqa: SIM118
        metadata = bundled_file.metadata()
    weights["blocks.1.attn.qkv.bias"] = torch.full_like(weights["blocks.1.attn.qkv.bias"], 6e4).float() * 1e26
    save_file(weights, file, metadata)


def test_a_model_file_in_half_precision_is_refused_by_its_size_in_memory(own_app, own_folder, monkeypatch):
    file_mb = BUNDLED_MODEL.stat().st_size / 1e6
    monkeypatch.setattr(
        settings, "now", lambda: Settings(models_dir=str(own_folder), open=False, model_mb=round(1.5 * file_mb))
    )
    monkeypatch.setattr(weights_file, "read_weights", lambda path: pytest.fail("the data was read"))
    with pytest.raises(PlaygroundError, match=r"^my-cats takes \d+ MB, and this server keeps \d+ MB for models"):
        models.load("own/my-cats")
