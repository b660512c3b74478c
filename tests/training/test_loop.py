"""A training run is repeatable and resumable, and its model learns."""

import dataclasses
import itertools
import os

import numpy as np
import pytest
import torch
from tiny_runs import RECIPE, TINY, weights

import playground
from playground.errors import PlaygroundError
from playground.scenes import generate
from playground.scenes.generate import LABELS
from playground.training.loop import read_checkpoint, steps_done, train
from playground.training.losses import LOSSES, Scenes
from playground.training.recipe import BUNDLED_CONFIG, Recipe, kept_steps, pace, snapshot_steps
from playground.vit import VisionTransformer


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run and its folder."""
    folder = tmp_path_factory.mktemp("run")
    return train(RECIPE, folder, device="cpu"), folder


def test_the_same_seed_gives_the_same_weights_with_any_number_of_workers(run, tmp_path):
    resumed = train(dataclasses.replace(RECIPE, workers=2), tmp_path, device="cpu")
    assert torch.equal(weights(resumed), weights(run[0]))
    files = (playground.load(str(folder / "model.safetensors"), device="cpu") for folder in (tmp_path, run[1]))
    assert torch.equal(*map(weights, files))


def test_training_leaves_everybody_else_s_random_numbers_alone(tmp_path):
    state_before = torch.get_rng_state()
    train(RECIPE, tmp_path, device="cpu")
    assert torch.equal(torch.get_rng_state(), state_before)


def test_another_seed_gives_other_weights_from_other_scenes(run, tmp_path):
    other_recipe = dataclasses.replace(RECIPE, seed=1, steps=1)
    assert not torch.equal(weights(train(other_recipe, tmp_path, device="cpu")), weights(run[0]))
    assert not np.array_equal(Scenes(other_recipe)[0]["image"], Scenes(RECIPE)[0]["image"])


def test_a_run_that_was_stopped_goes_on_to_the_same_weights(run, tmp_path):
    stops = iter([False, False, False, True])
    train(RECIPE, tmp_path, device="cpu", stopped=lambda: next(stops))
    assert steps_done(tmp_path) == 3
    assert (tmp_path / "model.safetensors").exists()
    assert torch.equal(weights(train(RECIPE, tmp_path, device="cpu")), weights(run[0]))


def test_an_error_in_the_middle_keeps_what_was_learned(tmp_path):
    class Broken(Scenes):
        def __getitem__(self, i):
            if i == 9:
                raise RuntimeError("the disk is full")
            return super().__getitem__(i)

    with pytest.raises(RuntimeError):
        train(RECIPE, tmp_path, data=Broken(RECIPE), device="cpu")
    assert steps_done(tmp_path) == 2


def test_a_finished_run_is_left_as_it_is(run):
    vit, folder = run
    assert torch.equal(weights(train(RECIPE, folder, device="cpu")), weights(vit))


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


def test_about_a_dozen_snapshots_are_spaced_logarithmically():
    steps = snapshot_steps(7500)
    assert len(steps) == 12
    assert (steps[0], steps[1], steps[-1]) == (0, 10, 7500)
    ratios = [b / a for a, b in itertools.pairwise(steps[1:])]
    assert max(ratios) / min(ratios) < 1.1


def test_a_second_round_is_kept_in_its_middle_at_its_end_and_after_its_polish():
    one_round, two_rounds = (Recipe(steps=100, polish=0.1, rounds=rounds) for rounds in (1, 2))
    assert kept_steps(two_rounds) == [*kept_steps(one_round), 160, 210, 220]


def test_the_finished_model_loads_with_its_labels_and_small_enough(run):
    loaded = playground.load(str(run[1] / "model.safetensors"), device="cpu")
    assert (loaded.name, loaded.config.labels, loaded.config.multi_label) == ("bundled-taught", LABELS, True)
    assert torch.allclose(weights(loaded), weights(run[0]), atol=1e-2)


def test_the_rate_rises_then_falls_to_a_hundredth():
    recipe = Recipe()
    rates = [pace(step, recipe) for step in range(recipe.steps)]
    assert rates.index(max(rates)) in (recipe.warm_up - 1, recipe.warm_up)
    assert (max(rates), rates[-1]) == pytest.approx((1, 0.01), abs=1e-3)
    polish_rates = [pace(step, recipe) for step in range(recipe.steps, recipe.total)]
    assert (polish_rates[0], polish_rates[-1]) == pytest.approx((0.3, 0.003), abs=1e-3)
    assert sorted(polish_rates, reverse=True) == polish_rates
    two_rounds = dataclasses.replace(recipe, rounds=2)
    assert [pace(recipe.round + step, two_rounds) for step in range(recipe.round)] == [*rates, *polish_rates]
    assert pace(0, Recipe(steps=30)) == pytest.approx(1 / 3)  # a short run warms up in its first tenth


def test_the_bundled_recipe_is_the_one_that_the_card_tells():
    assert (Recipe().total, Recipe().batch, Recipe().seed) == (12_420, 32, 0)
    assert sum(p.numel() for p in VisionTransformer(BUNDLED_CONFIG).parameters()) * 2 < 10e6  # bytes in float16


def test_training_scenes_are_never_held_out_ones():
    last_scenes = Scenes(Recipe(seed=255))
    assert 255 * 2**32 + len(last_scenes) < generate.FIRST_HELD_OUT


@pytest.mark.slow
def test_losses_fall_on_a_few_scenes_learned_by_heart(tmp_path):
    class Few(Scenes):
        def __getitem__(self, i):
            return super().__getitem__(i % 4)

    recipe = dataclasses.replace(
        RECIPE, steps=60, rate=3e-3, near_until=0, gathering_from=0, even_from=0, small_until=0
    )
    train(recipe, tmp_path, data=Few(recipe), device="cpu")
    history = read_checkpoint(tmp_path)["history"]
    assert [row[0] for row in history] == [20, 40, 60]
    first_losses, last_losses = (dict(zip(LOSSES, row[1:], strict=True)) for row in (history[0], history[-1]))
    assert sum(last_losses.values()) < 0.9 * sum(first_losses.values())
    assert last_losses["alike"] < first_losses["alike"]


def test_settings_that_can_not_be_read_are_not_called_unwritable(tmp_path):
    (tmp_path / "recipe.json").mkdir()
    with pytest.raises(PlaygroundError, match=r"recipe\.json can't be read: Is a directory"):
        train(RECIPE, tmp_path, device="cpu")
