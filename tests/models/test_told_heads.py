"""Heads that were told where to look in training: the file of weights lists them, and no conversion loses the list."""

import json

import pytest
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from tiny_runs import RECIPE, TINY

import playground
from playground.analysis.heads import training_task
from playground.errors import PlaygroundError
from playground.models import model_file
from playground.vit import VisionTransformer
from workshop.losses import guided_heads
from workshop.recipe import Recipe


def test_the_taught_model_lists_the_heads_that_its_recipe_told():
    vit = playground.load("bundled-taught", device="cpu")
    assert vit.told_heads == guided_heads(Recipe())
    assert training_task(vit, 4, 0) == "stay on the object that the patch belongs to"
    assert training_task(vit, 0, 5) == "look at the left neighbour"
    assert training_task(vit, 4, 0, "cls") == training_task(vit, 5, 3, "cls") == "look at objects"
    assert training_task(vit, 3, 0, "cls") is training_task(vit, 2, 0) is None


def test_all_other_models_have_no_told_heads():
    assert playground.load("bundled", device="cpu").told_heads == ()
    assert playground.load("untrained", device="cpu").told_heads == ()
    assert playground.load("dinov2-small", pretrained=False, device="cpu").told_heads == ()


def test_told_heads_survive_saving_and_loading(tmp_path):
    vit = VisionTransformer(TINY)
    vit.told_heads = guided_heads(RECIPE)
    model_file.save(vit, tmp_path / "a.safetensors")
    loaded = playground.load(str(tmp_path / "a.safetensors"), device="cpu")
    assert loaded.told_heads == vit.told_heads
    model_file.save(loaded, tmp_path / "b.safetensors")
    assert playground.load(str(tmp_path / "b.safetensors"), device="cpu").told_heads == vit.told_heads


ENTRY = {"layer": 0, "head": 0, "query": "patch", "what": "look"}
WRONG = [{"layer": "0"}, {"head": True}, {"query": 1}, {"what": None}, {"more": 1}]
DAMAGED = ["{", "3", "[3]", '[{"layer": 0}]', "[" * 100_000, *(json.dumps([ENTRY | wrong]) for wrong in WRONG)]


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_list_of_told_heads_is_refused(tmp_path, text):
    _save(tmp_path / "a.safetensors", text)
    with pytest.raises(PlaygroundError, match="can't be built"):
        playground.load(str(tmp_path / "a.safetensors"), device="cpu")


def test_an_older_file_without_the_list_has_no_told_heads(tmp_path):
    _save(tmp_path / "a.safetensors", None)
    assert playground.load(str(tmp_path / "a.safetensors"), device="cpu").told_heads == ()


def _save(path, text):
    """Saves a tiny model's file with `text` as its list of told heads."""
    model_file.save(VisionTransformer(TINY), path)
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    del metadata["told"]
    save_file(load_file(path), path, metadata=metadata | ({} if text is None else {"told": text}))
