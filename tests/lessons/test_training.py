"""The lesson on training: its exercises, what it says, and what its drawing gets, against the runs."""

import dataclasses

import numpy as np
import pytest

from lessons.playing import RIGHT, SILLY, exercises_of, judged, meadow, text_of
from playground.errors import PlaygroundError
from playground.lessons import training, training_now
from playground.lessons.training_reel import layer_of
from playground.pack import unpack
from playground.training import quick, timelapse
from playground.training.quick import ALONE, TOLD
from workshop.distil import LOSSES

CONFIG = dataclasses.replace(quick.SMALL, width=12, mlp_width=12)
TINY = {name: dataclasses.replace(one, steps=20, batch=2, config=CONFIG) for name, one in quick.recipes().items()}


def test_attention_is_sharp_from_the_moment_that_the_exercise_asks_for():
    run = timelapse.read()
    sharp, bits = training.first_sharp(run), training.sharp_bits(run)
    assert bits == run.moments[0].habits.entropy.min() - training.SHARPER
    for moment in run.moments:
        assert (moment.habits.entropy.min() <= bits) <= (moment.step >= sharp.step)
    total = run.curve[:, 1:].sum(1)
    done = (total[0] - total[np.searchsorted(run.curve[:, 0], sharp.step)]) / (total[0] - total[-1])
    assert training.share_of_the_fall(run, sharp) == pytest.approx(done)
    assert training.sharp_exercise(run).answer.startswith("After" if done > 0.5 else "Before")


def test_heads_are_named_layer_by_layer():
    assert training.in_words([(1, 0), (1, 2), (1, 5), (3, 4)]) == "heads 0, 2 and 5 of layer 1, head 4 of layer 3"


def test_every_loss_of_the_run_is_explained():
    assert timelapse.read().losses == LOSSES
    assert tuple(training.LOSSES) == LOSSES


def test_the_head_that_stays_on_its_own_object_most_is_called_after_it():
    """Two thirds of its attention, beside a chart that says so: "no single habit" was its name."""
    run = timelapse.read()
    last = run.moments[-1]
    layer, head = np.unravel_index(last.mass.argmax(), last.mass.shape)
    assert last.mass[layer, head] > 0.6
    assert last.habits.kinds(last.mass)[layer][head] == "same object or colour"


def test_the_folder_has_the_layer_in_which_heads_first_have_a_habit():
    step, habits = timelapse.first_with_a_habit(timelapse.read())
    assert training.FIRST_HABITS in {layer for heads in habits.values() for layer, _ in heads}
    exercise = exercises_of("training", "timelapse")["training_first"]
    case = {"exercise": exercise, "settings": {"moment": str(step), "layer": "1", "head": "0"}, "reports": {}}
    assert judged([case]) == [{"done": True, "why": ""}]


def test_without_its_file_the_lesson_says_how_it_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "TIMELAPSE", tmp_path / "none.bin")
    training.timelapse_run.cache_clear()
    with pytest.raises(PlaygroundError, match=r"python -m playground\.training\.timelapse"):
        list(training.timelapse(meadow(), training.LESSON.defaults()))


def test_the_drawing_gets_one_layer_of_each_moment_and_it_says_the_same():
    (drawing,) = (
        part
        for after in training.timelapse(meadow(), training.LESSON.defaults(layer=1))
        if isinstance(after, tuple)
        for part in after
        if hasattr(part, "settings") and hasattr(part, "data")
    )
    header, arrays = unpack(drawing.data)
    moments = timelapse.read().moments
    assert header["moments"] == [moment.step for moment in moments]
    layer, numbers = unpack(arrays["pack4"].tobytes())
    _, whole = unpack(moments[4].trace)
    assert layer["held"] == [1]
    for name in ("q", "k", "q_low", "q_step", "k_low", "k_step"):
        np.testing.assert_array_equal(numbers[name], whole[name][1:2])
    assert layer_of(moments[4].trace, 1) == arrays["pack4"].tobytes()


# Two models -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trial():
    (*_, learned) = quick.train_now(TINY)
    return training_now.Trial(0, learned=learned)


@pytest.fixture
def trained(trial, monkeypatch):
    """The meadow of somebody whose two models have learned for a few steps."""
    subject = meadow()
    monkeypatch.setattr(type(subject), "come_to", lambda self, run: trial)
    return subject


def test_what_became_of_each_is_said_in_its_own_numbers(trial):
    one = trial.learned[ALONE]
    assert "from step" not in training_now.in_numbers(ALONE, one)  # it has learned nothing yet
    mass, layer, head = one.best
    assert f"head {head} of layer {layer} gives the twin {mass:.0%}" in training_now.in_numbers(ALONE, one)


def test_habits_masses_and_what_was_told_go_to_the_drawing(trial):
    one = trial.learned[TOLD]
    header, arrays = unpack(training_now.reel(trial, TOLD, growing=True))
    assert header["kinds"] == [quick.kinds(moment) for moment in one.lapse.moments]
    assert header["told"] == [[*quick.TOLD_HEAD, quick.TOLD_TO]]
    assert (header["chance"], header["growing"], header["first"]) == (quick.EVEN, True, [*quick.TOLD_HEAD])
    assert arrays["mass"].shape == (3, 2, 3)
    np.testing.assert_allclose(arrays["entropy"][2], one.lapse.moments[2].habits.entropy, rtol=1e-6)
    other, _ = unpack(training_now.reel(trial, ALONE, growing=True))
    assert other["told"] == []
    assert [one["run"].partition("-")[0] for one in (header, other)] == [trial.id] * 2  # they share the clock


def test_a_head_that_looks_at_the_twin_is_shown_first(trial):
    learner = trial.learned[ALONE]
    mass = learner.lapse.moments[-1].mass.copy()
    mass[0, 2] = 2 * training_now.LARGE
    moments = (*learner.lapse.moments[:-1], dataclasses.replace(learner.lapse.moments[-1], mass=mass))
    better = dataclasses.replace(learner, lapse=dataclasses.replace(learner.lapse, moments=moments))
    found, _ = unpack(training_now.reel(training_now.Trial(0, learned={ALONE: better}), ALONE, growing=False))
    assert found["first"] == [0, 2]


def test_once_they_have_learned_the_exercise_can_be_done(trained):
    layer, head = quick.TOLD_HEAD
    told, alone, other = (
        {"learner": learner, "layer": layer, "head": at} for learner, at in ((TOLD, head), (ALONE, head), (TOLD, 2))
    )
    for state, kind in ((told, RIGHT), (alone, 0), (other, SILLY)):
        exercise = exercises_of("training", "now", **state)["training_told_head"]
        why = exercise["tempting"][0][1] if kind == 0 else ""
        case = {"exercise": exercise, "settings": text_of(training.LESSON, state), "reports": {}}
        assert judged([case]) == [{"done": kind == RIGHT, "why": why}], state
    assert "by step 20" in exercise["answer"]


def test_it_says_how_many_steps_they_learned_where_it_was_stopped(trained):
    words, *_ = training_now.now(trained, training.LESSON.defaults())
    assert "Stopped after 20 steps" in words.text  # of 240
