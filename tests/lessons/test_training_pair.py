"""Two runs, one of them told where to look: what the page draws and says, against the runs' own numbers."""

import numpy as np
import pytest
import torch

from playground.assets import TAUGHT_CURVES
from playground.lessons import training_pair
from playground.models import zoo
from playground.scenes import generate
from playground.scenes.labels import patch_targets
from playground.training import evaluate, timelapse
from playground.training.recipe import Recipe


@pytest.fixture(scope="module")
def runs():
    return timelapse.read(), timelapse.read(TAUGHT_CURVES)


@pytest.fixture(scope="module")
def begins(runs):
    return tuple(one for one in timelapse.begun(Recipe(), runs[1]) if one.loss == "gathered")


def test_before_the_guess_no_head_stands_out(runs):
    for run in runs:
        figure = training_pair.drawn(run, "", ())
        assert len(figure.data) == run.moments[0].mass.size
        assert {line.line.color for line in figure.data} == {training_pair.QUIET}


def test_after_it_the_told_heads_do(runs, begins):
    figure = training_pair.drawn(runs[1], "", begins)
    coloured = [line for line in figure.data if line.line.color == training_pair.TOLD]
    assert len(coloured) == len(Recipe().gathering)
    for line in coloured:  # nothing was saved around step 4,860, at which the loss began: the line is open
        gap = line.x.index(None)
        assert (line.x[gap - 1], line.x[gap + 1]) == (2671, 5371)
        assert np.isnan(line.y[gap])
        assert not line.connectgaps
    (label,) = [note for note in figure.layout.annotations if "begins" in note.text]
    assert 10**label.x == pytest.approx(4860)  # the axis is logarithmic: it stood at 10 to the power of 4,860
    ends = sorted(line.y[-1] for line in coloured)
    assert ends == sorted(runs[1].moments[-1].mass[head] for head in Recipe().gathering)


def test_what_is_said_is_what_was_measured(runs, begins):
    words = training_pair.what_became(*runs, begins)
    layer, head = training_pair.BEST
    best = runs[0].moments[-1].mass[layer, head]
    told = np.mean([runs[1].moments[-1].mass[place] for place in Recipe().gathering])
    for part in (
        "at 27% at step 2,671, at 75% at step 5,371",
        f"{training_pair.FILTER:.0%}",
        f"{told:.0%}",
        f"{best:.0%}",
        f"head {head} of layer {layer}",
        f"{len(Recipe().gathering)} coloured",
    ):
        assert part in words


def test_the_head_that_is_called_best_is_so_on_other_scenes():
    first = generate.HELD_OUT + timelapse.SCENES
    scenes = [generate.scene(number) for number in range(first, first + timelapse.SCENES)]
    grids = [patch_targets(scene).objects for scene in scenes]
    mass = evaluate.own_mass(zoo.load("bundled", device="cpu"), [scene.image for scene in scenes], grids)
    assert np.unravel_index(mass.argmax(), mass.shape) == training_pair.BEST


def test_the_dotted_line_is_the_filter_on_the_scenes_of_the_heads():
    """Its widths are chosen on as many others."""

    def filtered(first: int) -> torch.Tensor:
        masses = []
        for number in range(first, first + timelapse.SCENES):
            scene = generate.scene(number)
            grid = patch_targets(scene).objects
            asked = evaluate.Asked.of(grid)
            masses.append((evaluate.of_filter(scene.image, grid, asked) * asked.same).sum(-1))
        return torch.cat(masses, dim=1).mean(1)  # (settings,)

    there, here = filtered(generate.HELD_OUT + timelapse.SCENES), filtered(generate.HELD_OUT)
    assert float(here[there.argmax()]) == pytest.approx(training_pair.FILTER, abs=5e-4)
    for run in (timelapse.read(), timelapse.read(TAUGHT_CURVES)):
        assert any(shape.y0 == training_pair.FILTER for shape in training_pair.drawn(run, "", ()).layout.shapes)


def test_the_taught_run_is_shown_without_its_pictures():
    assert not any(moment.trace for moment in timelapse.read(TAUGHT_CURVES).moments)
    assert TAUGHT_CURVES.stat().st_size < 200_000
