"""The steps at which losses and other pictures begin in a training run: in the two runs that ship with the app, they
agree with the recipes and with the runs' curves."""

import dataclasses

import numpy as np
import pytest
import tiny_runs

from playground.assets import TAUGHT_CURVES
from playground.training import timelapse
from playground.training.recipe import Emergent, Recipe
from playground.training.timelapse import beginnings, first_habits, used_beginnings
from workshop.distil import LOSSES


@pytest.fixture(scope="module")
def lapse():
    """The stored time-lapse of the run that was told where to look."""
    return timelapse.read(TAUGHT_CURVES)


def heads_told(beginnings, patches=True):
    """The heads that were told where patches look, and with `patches=False` also those of the class token."""
    return {
        head
        for beginning in beginnings
        for head in beginning.told_heads
        if not (patches and beginning.loss == "looked")
    }


def test_in_the_run_without_told_heads_only_other_pictures_begin():
    plain_lapse, recipe = timelapse.read(), Emergent()
    starts = used_beginnings(recipe, plain_lapse)
    whole_step = round(recipe.near_until * recipe.steps)
    second_round = recipe.round
    assert [beginning.step for beginning in starts] == [
        whole_step,
        recipe.steps,
        second_round,
        second_round + whole_step,
        second_round + recipe.steps,
    ]
    assert heads_told(starts, patches=False) == set()
    assert plain_lapse.losses == LOSSES
    assert [plain_lapse.moments[0].step, plain_lapse.moments[-1].step] == [0, recipe.total]


def test_the_chance_line_is_the_mass_of_even_rows(lapse):
    assert lapse.moments[0].mass.mean() == pytest.approx(lapse.chance, rel=0.01)
    assert timelapse.read().chance == pytest.approx(lapse.chance)


def test_a_loss_begins_in_the_curve_where_the_page_says(lapse):
    for beginning in used_beginnings(Recipe(), lapse):
        if beginning.loss:
            values = lapse.curve[:, 1 + lapse.losses.index(beginning.loss)]
            index = int(np.flatnonzero(values)[0])
            earlier_step = lapse.curve[index - 1, 0] if index else 0
            assert earlier_step <= beginning.step <= lapse.curve[index, 0], beginning


def test_a_loss_that_was_never_used_begins_nowhere(lapse):
    curve = lapse.curve.copy()
    curve[:, 1 + lapse.losses.index("gathered")] = 0
    shortened_lapse = dataclasses.replace(lapse, curve=curve)
    assert "gathered" not in {beginning.loss for beginning in used_beginnings(Recipe(), shortened_lapse)}


def test_the_heads_that_are_told_are_the_recipe_s():
    recipe = tiny_runs.RECIPE
    assert heads_told(beginnings(recipe)) == {*recipe.gathering, recipe.beside, recipe.around}
    recipe = Recipe()
    last_heads = {(layer, head) for layer in (4, 5) for head in range(6)}
    assert heads_told(beginnings(recipe), patches=False) == heads_told(beginnings(recipe)) | last_heads


def test_no_head_has_a_habit_before_the_step_of_the_first_habits(lapse):
    step, habits = first_habits(lapse)
    for moment in lapse.moments:
        kinds = {kind for row in moment.habits.habit_names(moment.mass) for kind in row}
        if moment.step < step:
            assert kinds <= {"everywhere", "no single habit", "idle"}
    assert all(heads for heads in habits.values())
