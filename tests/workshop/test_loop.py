"""A training run is repeatable and resumable, and its model learns."""

import dataclasses
import os

import pytest
import torch
from tiny_runs import RECIPE, TINY, weights

import playground
from playground.errors import PlaygroundError
from playground.vit import VisionTransformer
from workshop.loop import read_checkpoint, steps_done, train
from workshop.losses import Scenes
from workshop.recipe import BUNDLED_CONFIG, Recipe, snapshot_steps
from workshop.scenes import generate
from workshop.scenes.generate import LABELS


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    return train(RECIPE, folder, device="cpu"), folder


def test_the_same_seed_gives_the_same_weights_with_any_number_of_workers(run, tmp_path):
    resumed = train(dataclasses.replace(RECIPE, workers=2), tmp_path, device="cpu")
    assert torch.equal(weights(resumed), weights(run[0]))
    files = (playground.load(str(folder / "model.safetensors"), device="cpu") for folder in (tmp_path, run[1]))
    assert torch.equal(*map(weights, files))


def test_a_run_that_was_stopped_goes_on_to_the_same_weights(run, tmp_path):
    stops = iter([False, False, False, True])
    train(RECIPE, tmp_path, device="cpu", stopped=lambda: next(stops))
    assert steps_done(tmp_path) == 3
    assert (tmp_path / "model.safetensors").exists()
    assert torch.equal(weights(train(RECIPE, tmp_path, device="cpu")), weights(run[0]))


def test_a_folder_of_another_recipe_is_refused(run, tmp_path):
    with pytest.raises(PlaygroundError, match="run with other settings"):
        train(dataclasses.replace(RECIPE, steps=9), run[1], device="cpu")
    (tmp_path / "checkpoint.pt").write_bytes(b"nonsense")
    with pytest.raises(PlaygroundError, match=r"checkpoint\.pt can't be read"):
        train(RECIPE, tmp_path, device="cpu")
    with pytest.raises(PlaygroundError, match="no device 'abacus'"):
        train(RECIPE, tmp_path, device="abacus")


def test_a_checkpoint_runs_no_code_as_it_is_read(tmp_path):
    class Nasty:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    torch.save({"step": Nasty()}, tmp_path / "checkpoint.pt")
    with pytest.raises(PlaygroundError, match="can't be read"):
        read_checkpoint(tmp_path)
    assert not (tmp_path / "ran").exists()


def test_snapshots_are_saved_at_their_steps_and_load_by_themselves(tmp_path):
    recipe = dataclasses.replace(RECIPE, steps=25, batch=1)
    train(recipe, tmp_path, device="cpu")
    steps = sorted(int(path.stem[-6:]) for path in tmp_path.glob("snapshot-*.safetensors"))
    assert steps == [*snapshot_steps(25), recipe.total]
    assert steps[0] == 0
    assert steps[-2:] == [25, 31]
    first_model, last_model = (
        playground.load(str(tmp_path / f"snapshot-{step:06}.safetensors"), device="cpu") for step in (0, 31)
    )
    assert torch.allclose(weights(first_model), weights(VisionTransformer(TINY, 0)), atol=1e-3)
    assert not torch.allclose(weights(first_model), weights(last_model), atol=1e-3)


def test_the_finished_model_loads_with_its_labels_and_small_enough(run):
    loaded = playground.load(str(run[1] / "model.safetensors"), device="cpu")
    assert (loaded.name, loaded.config.labels, loaded.config.multi_label) == ("bundled-taught", LABELS, True)
    assert torch.allclose(weights(loaded), weights(run[0]), atol=1e-2)


def test_the_bundled_recipe_is_the_one_that_the_card_tells():
    assert (Recipe().total, Recipe().batch, Recipe().seed) == (12_420, 32, 0)
    assert sum(p.numel() for p in VisionTransformer(BUNDLED_CONFIG).parameters()) * 2 < 10e6  # bytes in float16


def test_training_scenes_are_never_held_out_ones():
    last_scenes = Scenes(Recipe(seed=255))
    assert 255 * 2**32 + len(last_scenes) < generate.FIRST_HELD_OUT
