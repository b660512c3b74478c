"""Watching a run, and its time-lapse."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from tiny_runs import RECIPE

import playground
from playground import tracing
from playground.errors import PlaygroundError
from playground.pack import unpack
from playground.training import timelapse
from playground.training.loop import train
from playground.training.recipe import moments
from workshop import preview


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A whole run, and its folder."""
    folder = tmp_path_factory.mktemp("run")
    return train(RECIPE, folder, device="cpu"), folder


def test_the_wall_shows_every_head_and_outlines_the_query(small, picture):
    wall = preview.wall(small, picture, (2, 3))
    maps = np.asarray(wall)[:, -4 * (80 + 4) :]
    assert wall.height == 3 * 84 - 4
    assert len(np.unique(maps.reshape(-1, 3), axis=0)) > 20
    black = preview.wall(small, picture, "cls")
    assert np.asarray(wall).shape == np.asarray(black).shape


@pytest.mark.slow
def test_the_time_lapse_holds_every_moment_of_a_run(run, tmp_path):
    file = tmp_path / "lapse.bin"
    assert timelapse.main([str(run[1]), "-o", str(file)]) == 0
    lapse = timelapse.read(file)
    assert [moment.step for moment in lapse.moments] == moments(RECIPE)
    last = lapse.moments[-1]
    assert last.mass.shape == last.habits.entropy.shape == (2, 2)
    seen = playground.Trace.from_bytes(last.trace)
    vit = playground.load(str(run[1] / f"snapshot-{last.step:06}.safetensors"), device="cpu")
    fresh = playground.trace(vit, playground.open_image(timelapse.SAMPLE.path))
    assert torch.allclose(seen.row(1, 0, (2, 3)), fresh.row(1, 0, (2, 3)), atol=1e-3)


def test_eight_bits_keep_every_number_of_a_run_and_its_rows_within_one_and_a_half_hundredths(
    run, tmp_path, monkeypatch
):
    exact, converted, written = (tmp_path / name for name in ("exact.bin", "converted.bin", "written.bin"))
    timelapse.write(run[1], written, 2)
    to_bytes = tracing.Trace.to_bytes
    with monkeypatch.context() as changes:
        changes.setattr(tracing.Trace, "to_bytes", lambda seen, numbers: to_bytes(seen))
        timelapse.write(run[1], exact, 2)
    assert timelapse.main([str(exact), "-o", str(converted)]) == 0
    assert written.stat().st_size < exact.stat().st_size
    whole = timelapse.read(exact)
    for half in (timelapse.read(written), timelapse.read(converted)):
        assert (half.model, half.losses, half.chance) == (whole.model, whole.losses, whole.chance)
        assert np.array_equal(half.curve, whole.curve)
        for moment, same in zip(whole.moments, half.moments, strict=True):
            assert np.array_equal(moment.mass, same.mass)
            for name in timelapse.HABITS:
                assert np.array_equal(getattr(moment.habits, name), getattr(same.habits, name)), name
            seen, kept = playground.Trace.from_bytes(moment.trace), playground.Trace.from_bytes(same.trace)
            assert seen.predictions == kept.predictions
            for layer in range(seen.layers):
                off = (seen.weights(layer) - kept.weights(layer)).abs().max().item()
                assert off < 0.015, f"step {moment.step}, layer {layer}: {off}"
                assert torch.equal(seen.value_norms(layer), kept.value_norms(layer))


def test_the_run_that_ships_is_in_eight_bits_and_ends_as_the_bundled_model_sees():
    last = playground.Trace.from_bytes(timelapse.read().moments[-1].trace)
    kinds = {array.dtype.name for name, array in unpack(timelapse.read().moments[-1].trace)[1].items() if name in "qk"}
    assert kinds == {"uint8"}
    now = playground.trace(playground.load("bundled"), playground.open_image(timelapse.SAMPLE.path))
    for layer in range(now.layers):
        off = (last.weights(layer) - now.weights(layer)).abs()
        print(f"layer {layer}: at most {off.max():.4f}, on average {off.mean():.6f}")
        assert off.max() < 0.02
        assert off.mean() < 2e-4


def test_the_run_that_ships_has_6_mb_and_no_two_moments_that_show_the_same():
    seen = timelapse.read()
    assert timelapse.FILE.stat().st_size <= 6e6
    rows = [playground.Trace.from_bytes(moment.trace).weights(3) for moment in seen.moments]
    moved = [float((a - b).abs().sum(-1).mean() / 2) for a, b in pairwise(rows)]
    print({moment.step: round(tv, 3) for moment, tv in zip(seen.moments[1:], moved, strict=True)})
    assert min(moved) > 0.2, "of a row of layer 3, at least so much of the weight moves from one moment to the next"


def test_a_time_lapse_within_a_size_loses_the_moments_whose_neighbours_are_most_alike(run, tmp_path):
    whole, less = tmp_path / "lapse.bin", tmp_path / "less.bin"
    timelapse.write(run[1], whole, 2)
    most = whole.stat().st_size - 100
    assert timelapse.main([str(whole), "--within", str(most / 1e6), "-o", str(less)]) == 0
    assert less.stat().st_size <= most
    before, after = timelapse.read(whole), timelapse.read(less)
    steps = [moment.step for moment in after.moments]
    assert len(steps) == len(before.moments) - 1 >= 2
    assert (steps[0], steps[-1]) == (before.moments[0].step, before.moments[-1].step)
    assert np.array_equal(before.curve, after.curve)
    for moment in after.moments:
        same = next(one for one in before.moments if one.step == moment.step)
        assert moment.trace == same.trace
        assert np.array_equal(moment.mass, same.mass)
        assert np.array_equal(moment.habits.offsets, same.habits.offsets)


def test_of_three_equal_moments_the_middle_ones_go_first(small, picture):
    still = playground.trace(small, picture).to_bytes(numbers="int8")
    other = playground.trace(small, picture.rotate(90)).to_bytes(numbers="int8")
    room = 4 * max(len(still), len(other))
    assert timelapse.where_most_happens([still, still, still, other, still], room) == [0, 2, 3, 4]
    assert timelapse.where_most_happens([still, other], 1) == [0, 1]


def test_the_curve_is_an_average_of_stretches_and_losses_that_came_later_are_zero_before():
    history = [[20 * (i + 1), 1.0, *([2.0] if i > 1 else [])] for i in range(4)]
    assert timelapse.smoothed(history).tolist() == [[20, 1, 0], [40, 1, 0], [60, 1, 2], [80, 1, 2]]
    assert len(timelapse.smoothed([[i, 1.0] for i in range(5000)])) == timelapse.POINTS


def test_a_folder_without_snapshots_and_a_missing_file_are_told(tmp_path, capsys):
    assert timelapse.main([str(tmp_path)]) == 2
    assert "no snapshots" in capsys.readouterr().err
    with pytest.raises(PlaygroundError, match=r"playground\.training\.timelapse"):
        timelapse.read(tmp_path / "none.bin")


def test_the_curves_alone_are_read_without_pictures(run, tmp_path):
    whole, curves = tmp_path / "lapse.bin", tmp_path / "curves.bin"
    timelapse.write(run[1], whole, 2)
    assert timelapse.main([str(whole), "--curves", "-o", str(curves)]) == 0
    lapse, kept = timelapse.read(whole), timelapse.read(curves)
    assert np.array_equal(lapse.curve, kept.curve)
    assert lapse.chance == kept.chance > 0
    for moment, same in zip(lapse.moments, kept.moments, strict=True):
        assert np.array_equal(moment.mass, same.mass)
        assert (len(moment.trace) > 0, same.trace) == (True, b"")
    assert curves.stat().st_size < whole.stat().st_size / 2
