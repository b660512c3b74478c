"""The operator's own models: the description beside a model file, and assumptions without one."""

import json
import os

import pytest
import timm
from conftest import scramble
from safetensors.torch import save_file

import playground
from playground.errors import PlaygroundError
from playground.pack import unpack
from playground.serving import chosen, models, pictures, settings, traces
from playground.serving.settings import Settings
from playground.serving.traces import Setup

NAME = "own/leaves"
DESCRIPTION = {
    "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225], "num_heads": 3, "act_layer": "gelu",
    "global_pool": "token",
}  # fmt: skip


@pytest.fixture
def folder(monkeypatch, tmp_path):
    reference = scramble(timm.create_model("vit_tiny_patch16_224", depth=2, num_classes=7))
    state = {key: value.clone().contiguous() for key, value in reference.state_dict().items()}
    save_file(state, tmp_path / "leaves.safetensors", metadata={"arch": "vit_tiny_patch16_224"})
    monkeypatch.setattr(settings, "now", lambda: Settings(models_dir=str(tmp_path), device="cpu"))
    return tmp_path


def write_description(folder, **fields) -> None:
    """Writes the description beside the model's file, with a later time than before."""
    file = folder / "leaves.json"
    next_time = file.stat().st_mtime_ns + 10**9 if file.exists() else None
    file.write_text(json.dumps(DESCRIPTION | fields))
    if next_time:
        os.utime(file, ns=(next_time, next_time))


def flock_trace():
    return traces.trace(pictures.sample("flock"), Setup(NAME))


def test_assumptions_stand_in_the_model_s_card_and_with_the_numbers(folder):
    traces.sample_traces().drop_where(lambda key: True)
    assumed = "mean 0.5 0.5 0.5, std 0.5 0.5 0.5, 3 heads of 64, the activation gelu"
    header, _ = unpack(flock_trace().to_bytes([1]))
    assert header["assumed"] == assumed
    card = next(card for card in models.cards() if card.name == NAME)
    assert card.assumed.startswith(f"Assumed: {assumed}, the class token read out. leaves.json beside its file says")
    assert "Labels are not shown: they depend on act_layer= and global_pool=" in card.assumed
    assert str(folder) not in card.assumed
    assert all(card.assumed == "" for card in models.cards() if not card.name.startswith("own/"))


def test_a_changed_description_takes_effect_at_once(folder):
    first_trace, digest = flock_trace(), chosen.digest(pictures.sample("flock"), Setup(NAME))
    assert first_trace.logits is None
    write_description(folder)
    assert chosen.digest(pictures.sample("flock"), Setup(NAME)) != digest, "a browser would keep the old rows"
    trace = playground.trace(models.load(NAME), pictures.sample("flock").image)
    assert (trace.assumed, trace.vit.config.std, trace.logits is None) == ("", (0.229, 0.224, 0.225), False)
    second_trace = flock_trace()
    assert second_trace.vit is trace.vit, "the trace of the model as it was is not shown any more"
    write_description(folder, std=[0.5, 0.5, 0.5])
    assert models.load(NAME).config.std == (0.5, 0.5, 0.5)


def test_a_wrong_description_is_refused_without_naming_its_folder(folder):
    write_description(folder, mean="grey")
    with pytest.raises(PlaygroundError, match=r"leaves\.json can't be loaded: mean is a number for red") as refusal:
        models.load(NAME)
    assert str(folder) not in str(refusal.value)
