"""The time-lapse: what its script makes of a run, and the two files that ship."""

import dataclasses
import json

import numpy as np
import pytest
import torch
from tiny_runs import EMERGENT, RECIPE

import playground
from playground.assets import TAUGHT_CURVES, TIMELAPSE
from playground.lessons.timelapse import read
from playground.pack import unpack
from workshop import timelapse
from workshop.distil import LOSSES
from workshop.loop import train
from workshop.recipe import Emergent, Recipe, kept_steps
from workshop.timelapse import used_beginnings


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    train(RECIPE, folder, device="cpu")
    return folder


def test_the_file_holds_every_moment_of_a_run(run, tmp_path):
    file = tmp_path / "lapse.bin"
    timelapse.write(run, file, 2)
    lapse = read(file)
    assert [moment.step for moment in lapse.moments] == kept_steps(RECIPE)
    last_moment = lapse.moments[-1]
    assert last_moment.mass.shape == last_moment.habits.entropy.shape == (2, 2)
    seen = playground.Trace.from_bytes(last_moment.trace)
    vit = playground.load(str(run / f"snapshot-{last_moment.step:06}.safetensors"), device="cpu")
    recomputed = playground.trace(vit, playground.open_image(timelapse.SAMPLE.path))
    assert torch.allclose(seen.row(1, 0, (2, 3)), recomputed.row(1, 0, (2, 3)), atol=0.015)
    assert timelapse.recipe_of(run) == dataclasses.replace(RECIPE, workers=Recipe().workers)


def test_a_recipe_without_told_heads_is_recognised_too(tmp_path):
    settings = {name: value for name, value in vars(EMERGENT).items() if name != "workers"}
    text = json.dumps(settings | {"config": vars(EMERGENT.config)})
    (tmp_path / "recipe.json").write_text(text)
    assert timelapse.recipe_of(tmp_path) == Emergent(**settings)


def test_within_a_size_it_loses_moments_and_without_its_pictures_it_keeps_the_curves(run, tmp_path):
    full_file, small_file, curves_file = (tmp_path / name for name in ("full.bin", "small.bin", "curves.bin"))
    timelapse.write(run, full_file, 2)
    most_bytes = full_file.stat().st_size - 100
    assert timelapse.main([str(full_file), "--within", str(most_bytes / 1e6), "-o", str(small_file)]) == 0
    assert timelapse.main([str(full_file), "--curves", "-o", str(curves_file)]) == 0
    assert small_file.stat().st_size <= most_bytes
    full, small, curves = read(full_file), read(small_file), read(curves_file)
    assert len(small.moments) == len(full.moments) - 1
    assert (small.moments[0].step, small.moments[-1].step) == (full.moments[0].step, full.moments[-1].step)
    by_step = {moment.step: moment for moment in full.moments}
    for moment in small.moments:
        assert moment.trace == by_step[moment.step].trace
        assert np.array_equal(moment.habits.offsets, by_step[moment.step].habits.offsets)
    assert [(moment.step, moment.trace) for moment in curves.moments] == [(step, b"") for step in by_step]
    assert np.array_equal(curves.curve, full.curve)


def test_a_folder_without_snapshots_is_refused(tmp_path, capsys):
    assert timelapse.main([str(tmp_path)]) == 2
    assert "no snapshots" in capsys.readouterr().err


# The files that ship


def test_the_run_that_ships_ends_as_the_bundled_model_sees_in_eight_bits():
    trace_bytes = read(TIMELAPSE).moments[-1].trace
    assert {array.dtype.name for name, array in unpack(trace_bytes)[1].items() if name in "qk"} == {"uint8"}
    last_trace = playground.Trace.from_bytes(trace_bytes)
    bundled_trace = playground.trace(playground.load("bundled"), playground.open_image(timelapse.SAMPLE.path))
    for layer in range(bundled_trace.layers):
        difference = (last_trace.weights(layer) - bundled_trace.weights(layer)).abs()
        assert difference.max() < 0.02, layer
        assert difference.mean() < 2e-4, layer


@pytest.mark.parametrize(("file", "recipe"), [(TIMELAPSE, Emergent()), (TAUGHT_CURVES, Recipe())], ids=["A", "B"])
def test_what_begins_in_the_runs_that_ship_is_what_their_recipes_say(file, recipe):
    lapse = read(file)
    assert lapse.beginnings == used_beginnings(recipe, lapse.losses, lapse.curve)
    assert [lapse.moments[0].step, lapse.moments[-1].step] == [0, recipe.total]
    assert lapse.moments[0].mass.mean() == pytest.approx(lapse.chance, rel=0.05)
    for beginning in lapse.beginnings:
        if beginning.loss:
            values = lapse.curve[:, 1 + lapse.losses.index(beginning.loss)]
            index = int(np.flatnonzero(values)[0])
            earlier_step = lapse.curve[index - 1, 0] if index else 0
            assert earlier_step <= beginning.step <= lapse.curve[index, 0], beginning


def test_only_the_run_whose_losses_read_weights_tells_heads():
    assert read(TIMELAPSE).losses == LOSSES
    assert not any(beginning.told_heads for beginning in read(TIMELAPSE).beginnings)
    told = {head for one in read(TAUGHT_CURVES).beginnings if one.loss != "looked" for head in one.told_heads}
    recipe = Recipe()
    assert told == {*recipe.gathering, recipe.beside, recipe.around}
