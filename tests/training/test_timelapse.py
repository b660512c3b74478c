"""The snapshots of a training run, and the time-lapse that is made of them."""

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
from playground.training.recipe import kept_steps
from workshop import preview


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run and its folder."""
    folder = tmp_path_factory.mktemp("run")
    return train(RECIPE, folder, device="cpu"), folder


def test_the_wall_shows_every_head_and_outlines_the_query(small, picture):
    wall = preview.attention_wall(small, picture, (2, 3))
    maps = np.asarray(wall)[:, -4 * (80 + 4) :]
    assert wall.height == 3 * 84 - 4
    assert len(np.unique(maps.reshape(-1, 3), axis=0)) > 20
    class_wall = preview.attention_wall(small, picture, "cls")
    assert np.asarray(wall).shape == np.asarray(class_wall).shape


@pytest.mark.slow
def test_the_time_lapse_holds_every_moment_of_a_run(run, tmp_path):
    file = tmp_path / "lapse.bin"
    assert timelapse.main([str(run[1]), "-o", str(file)]) == 0
    lapse = timelapse.read(file)
    assert [moment.step for moment in lapse.moments] == kept_steps(RECIPE)
    last_moment = lapse.moments[-1]
    assert last_moment.mass.shape == last_moment.habits.entropy.shape == (2, 2)
    seen = playground.Trace.from_bytes(last_moment.trace)
    vit = playground.load(str(run[1] / f"snapshot-{last_moment.step:06}.safetensors"), device="cpu")
    recomputed = playground.trace(vit, playground.open_image(timelapse.SAMPLE.path))
    assert torch.allclose(seen.row(1, 0, (2, 3)), recomputed.row(1, 0, (2, 3)), atol=1e-3)


def test_eight_bits_keep_every_number_of_a_run_and_its_rows_within_one_and_a_half_hundredths(
    run, tmp_path, monkeypatch
):
    exact_file, converted_file, written_file = (
        tmp_path / name for name in ("exact.bin", "converted.bin", "written.bin")
    )
    timelapse.write(run[1], written_file, 2)
    to_bytes = tracing.Trace.to_bytes
    with monkeypatch.context() as changes:
        changes.setattr(tracing.Trace, "to_bytes", lambda seen, numbers: to_bytes(seen))
        timelapse.write(run[1], exact_file, 2)
    assert timelapse.main([str(exact_file), "-o", str(converted_file)]) == 0
    assert written_file.stat().st_size < exact_file.stat().st_size
    exact_lapse = timelapse.read(exact_file)
    for packed_lapse in (timelapse.read(written_file), timelapse.read(converted_file)):
        assert (packed_lapse.model, packed_lapse.losses, packed_lapse.chance) == (
            exact_lapse.model,
            exact_lapse.losses,
            exact_lapse.chance,
        )
        assert np.array_equal(packed_lapse.curve, exact_lapse.curve)
        for moment, packed_moment in zip(exact_lapse.moments, packed_lapse.moments, strict=True):
            assert np.array_equal(moment.mass, packed_moment.mass)
            for name in timelapse.HABITS:
                assert np.array_equal(getattr(moment.habits, name), getattr(packed_moment.habits, name)), name
            seen, packed_trace = (
                playground.Trace.from_bytes(moment.trace),
                playground.Trace.from_bytes(packed_moment.trace),
            )
            assert seen.predictions == packed_trace.predictions
            for layer in range(seen.layers):
                difference = (seen.weights(layer) - packed_trace.weights(layer)).abs().max().item()
                assert difference < 0.015, f"step {moment.step}, layer {layer}: {difference}"
                assert torch.equal(seen.value_norms(layer), packed_trace.value_norms(layer))


def test_the_run_that_ships_is_in_eight_bits_and_ends_as_the_bundled_model_sees():
    last_trace = playground.Trace.from_bytes(timelapse.read().moments[-1].trace)
    kinds = {array.dtype.name for name, array in unpack(timelapse.read().moments[-1].trace)[1].items() if name in "qk"}
    assert kinds == {"uint8"}
    bundled_trace = playground.trace(playground.load("bundled"), playground.open_image(timelapse.SAMPLE.path))
    for layer in range(bundled_trace.layers):
        difference = (last_trace.weights(layer) - bundled_trace.weights(layer)).abs()
        print(f"layer {layer}: at most {difference.max():.4f}, on average {difference.mean():.6f}")
        assert difference.max() < 0.02
        assert difference.mean() < 2e-4


def test_the_run_that_ships_has_6_mb_and_no_two_moments_that_show_the_same():
    lapse = timelapse.read()
    assert timelapse.FILE.stat().st_size <= 6e6
    rows = [playground.Trace.from_bytes(moment.trace).weights(3) for moment in lapse.moments]
    weight_moves = [float((a - b).abs().sum(-1).mean() / 2) for a, b in pairwise(rows)]
    print({moment.step: round(move, 3) for moment, move in zip(lapse.moments[1:], weight_moves, strict=True)})
    assert min(weight_moves) > 0.2, (
        "of a row of layer 3, at least so much of the weight moves from one moment to the next"
    )


def test_a_time_lapse_within_a_size_loses_the_moments_whose_neighbours_are_most_alike(run, tmp_path):
    full_file, small_file = tmp_path / "lapse.bin", tmp_path / "less.bin"
    timelapse.write(run[1], full_file, 2)
    most_bytes = full_file.stat().st_size - 100
    assert timelapse.main([str(full_file), "--within", str(most_bytes / 1e6), "-o", str(small_file)]) == 0
    assert small_file.stat().st_size <= most_bytes
    full_lapse, small_lapse = timelapse.read(full_file), timelapse.read(small_file)
    steps = [moment.step for moment in small_lapse.moments]
    assert len(steps) == len(full_lapse.moments) - 1 >= 2
    assert (steps[0], steps[-1]) == (full_lapse.moments[0].step, full_lapse.moments[-1].step)
    assert np.array_equal(full_lapse.curve, small_lapse.curve)
    for moment in small_lapse.moments:
        original = next(candidate for candidate in full_lapse.moments if candidate.step == moment.step)
        assert moment.trace == original.trace
        assert np.array_equal(moment.mass, original.mass)
        assert np.array_equal(moment.habits.offsets, original.habits.offsets)


def test_the_middle_one_of_three_equal_moments_is_dropped_first(small, picture):
    trace_bytes = playground.trace(small, picture).to_bytes(numbers="int8")
    other_bytes = playground.trace(small, picture.rotate(90)).to_bytes(numbers="int8")
    byte_limit = 4 * max(len(trace_bytes), len(other_bytes))
    assert timelapse.most_different_moments(
        [trace_bytes, trace_bytes, trace_bytes, other_bytes, trace_bytes], byte_limit
    ) == [
        0,
        2,
        3,
        4,
    ]
    assert timelapse.most_different_moments([trace_bytes, other_bytes], 1) == [0, 1]


def test_the_curve_averages_groups_of_steps_and_is_zero_before_a_loss_begins():
    history = [[20 * (i + 1), 1.0, *([2.0] if i > 1 else [])] for i in range(4)]
    assert timelapse.smoothed(history).tolist() == [[20, 1, 0], [40, 1, 0], [60, 1, 2], [80, 1, 2]]
    assert len(timelapse.smoothed([[i, 1.0] for i in range(5000)])) == timelapse.MOST_POINTS


def test_a_folder_without_snapshots_and_a_missing_file_are_refused(tmp_path, capsys):
    assert timelapse.main([str(tmp_path)]) == 2
    assert "no snapshots" in capsys.readouterr().err
    with pytest.raises(PlaygroundError, match=r"playground\.training\.timelapse"):
        timelapse.read(tmp_path / "none.bin")


def test_the_curves_alone_are_read_without_pictures(run, tmp_path):
    full_file, curves_file = tmp_path / "lapse.bin", tmp_path / "curves.bin"
    timelapse.write(run[1], full_file, 2)
    assert timelapse.main([str(full_file), "--curves", "-o", str(curves_file)]) == 0
    lapse, curves_lapse = timelapse.read(full_file), timelapse.read(curves_file)
    assert np.array_equal(lapse.curve, curves_lapse.curve)
    assert lapse.chance == curves_lapse.chance > 0
    for moment, curves_moment in zip(lapse.moments, curves_lapse.moments, strict=True):
        assert np.array_equal(moment.mass, curves_moment.mass)
        assert (len(moment.trace) > 0, curves_moment.trace) == (True, b"")
    assert curves_file.stat().st_size < full_file.stat().st_size / 2
