"""The lesson on training: its exercises, its words and the data of its drawing, against the stored runs."""

import numpy as np
import pytest
import torch

from lessons.playing import exercises_of, meadow, verdicts_of
from playground.assets import TAUGHT_CURVES, TIMELAPSE
from playground.lessons import training
from playground.lessons.timelapse import first_habits, one_layer_pack, read
from playground.models import loading
from playground.numbers import percent
from playground.pack import unpack
from workshop import evaluate, timelapse
from workshop.distil import LOSSES
from workshop.recipe import Recipe
from workshop.scenes import generate
from workshop.scenes.generate import patch_targets


def test_attention_is_sharp_from_the_moment_that_the_exercise_asks_for():
    run = read(TIMELAPSE)
    sharp_moment, bits = training.first_sharp_moment(run), training.sharp_bits(run)
    assert bits == run.moments[0].habits.entropy.min() - training.SHARPER_BITS
    for moment in run.moments:
        assert (moment.habits.entropy.min() <= bits) <= (moment.step >= sharp_moment.step)
    total = run.curve[:, 1:].sum(1)
    fall_share = (total[0] - total[np.searchsorted(run.curve[:, 0], sharp_moment.step)]) / (total[0] - total[-1])
    assert training.share_of_the_fall(run, sharp_moment) == pytest.approx(fall_share)
    assert training.sharp_exercise(run).answer.startswith("After" if fall_share > 0.5 else "Before")


def test_every_loss_of_the_run_is_explained():
    assert read(TIMELAPSE).losses == LOSSES
    assert tuple(training.LOSS_TEXTS) == LOSSES


def test_the_head_that_stays_on_its_own_object_most_is_called_after_it():
    """Once, this head was called "no single habit", although it gives two thirds of its weight to its own object."""
    run = read(TIMELAPSE)
    last_moment = run.moments[-1]
    layer, head = np.unravel_index(last_moment.mass.argmax(), last_moment.mass.shape)
    assert last_moment.mass[layer, head] > 0.6
    assert last_moment.habits.habit_names(last_moment.mass)[layer][head] == "same object or colour"


def test_the_folder_has_the_layer_in_which_heads_first_have_a_habit():
    step, habits = first_habits(read(TIMELAPSE))
    assert training.FIRST_HABIT_LAYER in {layer for heads in habits.values() for layer, _ in heads}
    exercise = exercises_of("training", "timelapse")["training_first"]
    case = {"exercise": exercise, "settings": {"moment": str(step), "layer": "1", "head": "0"}, "reports": {}}
    assert verdicts_of([case]) == [{"done": True, "why": ""}]


def test_the_drawing_gets_one_unchanged_layer_of_each_moment():
    (drawing,) = (
        part
        for step_parts in training.timelapse(meadow(), training.LESSON.defaults(layer=1))
        if isinstance(step_parts, tuple)
        for part in step_parts
        if hasattr(part, "settings") and hasattr(part, "data")
    )
    header, arrays = unpack(drawing.data)
    moments = read(TIMELAPSE).moments
    assert header["moments"] == [moment.step for moment in moments]
    layer_header, layer_arrays = unpack(arrays["pack4"].tobytes())
    _, whole_arrays = unpack(moments[4].trace)
    assert layer_header["held"] == [1]
    for name in ("q", "k", "q_low", "q_step", "k_low", "k_step"):
        np.testing.assert_array_equal(layer_arrays[name], whole_arrays[name][1:2])
    assert one_layer_pack(moments[4].trace, 1) == arrays["pack4"].tobytes()


# Two runs, in one of which some heads were told where to look: the page's drawing and words


@pytest.fixture(scope="module")
def runs():
    return read(TIMELAPSE), read(TAUGHT_CURVES)


@pytest.fixture(scope="module")
def begins(runs):
    return next(beginning for beginning in runs[1].beginnings if beginning.loss == "gathered")


def test_after_the_guess_the_told_heads_stand_out(runs, begins):
    figure = training.mass_figure(runs[1], "", begins)
    coloured = [line for line in figure.data if line.line.color == training.TOLD_COLOUR]
    assert len(coloured) == len(Recipe().gathering)
    for line in coloured:  # each line has a gap at step 4,860, where the loss began and no moment was saved
        gap = line.x.index(None)
        assert (line.x[gap - 1], line.x[gap + 1]) == (2671, 5371)
        assert np.isnan(line.y[gap])
        assert not line.connectgaps
    (label,) = [note for note in figure.layout.annotations if "begins" in note.text]
    assert 10**label.x == pytest.approx(4860)  # on the log axis; once, the label was placed at 4,860 itself
    last_values = sorted(line.y[-1] for line in coloured)
    assert last_values == pytest.approx(sorted(100 * runs[1].moments[-1].mass[head] for head in Recipe().gathering))


def test_the_words_about_both_runs_state_measured_numbers(runs, begins):
    words = training.outcome_words(*runs, begins)
    layer, head = training.BEST_HEAD
    best_mass = runs[0].moments[-1].mass[layer, head]
    told_share = np.mean([runs[1].moments[-1].mass[place] for place in Recipe().gathering])
    for part in (
        "at 27 % at step 2,671, at 75 % at step 5,371",
        percent(training.FILTER_SHARE),
        percent(told_share),
        percent(best_mass),
        f"head {head} of layer {layer}",
        f"{len(Recipe().gathering)} coloured",
    ):
        assert part in words


def test_the_head_that_is_called_best_is_best_on_other_scenes():
    first_scene = generate.FIRST_HELD_OUT + timelapse.SCENE_COUNT
    scenes = [generate.scene(number) for number in range(first_scene, first_scene + timelapse.SCENE_COUNT)]
    grids = [patch_targets(scene).objects for scene in scenes]
    mass = evaluate.own_mass(loading.load("bundled", device="cpu"), [scene.image for scene in scenes], grids)
    assert np.unravel_index(mass.argmax(), mass.shape) == training.BEST_HEAD


def test_the_dotted_line_is_the_filter_on_the_scenes_of_the_heads():
    """The filter's settings are chosen on other scenes, and measured on the scenes on which the heads are measured."""

    def filter_masses(first: int) -> torch.Tensor:
        masses = []
        for number in range(first, first + timelapse.SCENE_COUNT):
            scene = generate.scene(number)
            grid = patch_targets(scene).objects
            questions = evaluate.Questions.of(grid)
            masses.append((evaluate.rows_of_filter(scene.image, grid, questions) * questions.same_object).sum(-1))
        return torch.cat(masses, dim=1).mean(1)  # (settings,)

    other_scenes, held_out = (
        filter_masses(generate.FIRST_HELD_OUT + timelapse.SCENE_COUNT),
        filter_masses(generate.FIRST_HELD_OUT),
    )
    assert float(held_out[other_scenes.argmax()]) == pytest.approx(training.FILTER_SHARE, abs=5e-4)
    for run in (read(TIMELAPSE), read(TAUGHT_CURVES)):
        assert any(shape.y0 == 100 * training.FILTER_SHARE for shape in training.mass_figure(run, "").layout.shapes)


def test_the_file_of_the_taught_run_has_no_pictures():
    assert not any(moment.trace for moment in read(TAUGHT_CURVES).moments)
    assert TAUGHT_CURVES.stat().st_size < 200_000
