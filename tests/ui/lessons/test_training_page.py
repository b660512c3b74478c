"""The page of the training: its exercises and what it says, against the run that ships."""

import numpy as np

from playground.lessons.words import training as words
from playground.training import timelapse
from playground.ui.lessons import training
from workshop.distil import LOSSES


def test_attention_is_sharp_from_the_moment_that_the_exercise_asks_for():
    seen = timelapse.read()
    sharp, bits = training._sharp(seen), training._bits(seen)
    assert bits == seen.moments[0].habits.entropy.min() - training.SHARPER
    for moment in seen.moments:
        assert (moment.habits.entropy.min() <= bits) <= (moment.step >= sharp.step)
    total = seen.curve[:, 1:].sum(1)
    done = (total[0] - total[np.searchsorted(seen.curve[:, 0], sharp.step)]) / (total[0] - total[-1])
    assert training._when_sharp(seen, sharp) == {"share": done, "when": "After" if done > 0.5 else "Before"}


def test_heads_are_named_layer_by_layer():
    assert training._named([(1, 0), (1, 2), (1, 5), (3, 4)]) == "heads 0, 2 and 5 of layer 1, head 4 of layer 3"


def test_every_loss_of_the_run_is_explained():
    assert timelapse.read().losses == LOSSES
    assert tuple(words.LOSSES) == LOSSES


def test_the_head_that_stays_on_its_own_object_most_is_called_after_it():
    """Two thirds of its attention, beside a chart that says so: "no single habit" was its name."""
    run = timelapse.read()
    last = run.moments[-1]
    layer, head = np.unravel_index(last.mass.argmax(), last.mass.shape)
    assert last.mass[layer, head] > 0.6
    assert last.habits.kinds(last.mass)[layer][head] == "same object or colour"
