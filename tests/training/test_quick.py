"""Two small models trained on the spot: one is told where to look, the other is not."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
import torch

from playground.analysis.heads import training_task
from playground.models import loading, model_file
from playground.pack import unpack
from playground.tracing import Trace
from playground.training import quick
from playground.training.loop import Run
from playground.training.quick import ALONE, TOLD

CONFIG = dataclasses.replace(quick.SMALL_CONFIG, width=12, mlp_width=12)
TINY = {name: dataclasses.replace(one, steps=20, batch=2, config=CONFIG) for name, one in quick.recipes().items()}


@pytest.fixture(scope="module")
def measured():
    by_moment_count = {len(learners[ALONE].lapse.moments): learners for learners in quick.train_now(TINY)}
    return [*by_moment_count.values()], by_moment_count[max(by_moment_count)]


@pytest.mark.slow
def test_attention_emerges_on_the_twin_where_nobody_asks_for_it():
    """The best head reaches eight times chance; the loop stops as soon as it has."""
    best_shares = []
    for learners in quick.train_now({ALONE: quick.recipes()[ALONE]}):
        best_shares.append(learners[ALONE].best[0])
        if best_shares[-1] > 8 * quick.EVEN_SHARE:
            break
    assert best_shares[0] < 1.5 * quick.EVEN_SHARE  # at first, attention is even
    assert best_shares[-1] > 8 * quick.EVEN_SHARE, best_shares


def test_both_models_begin_alike_and_learn_in_step(measured):
    measurements, last_learners = measured
    for name in (ALONE, TOLD):
        assert [[m.step for m in learners[name].lapse.moments] for learners in measurements] == [
            [0],
            [0, 10],
            [0, 10, 20],
        ]
        assert [len(learners[name].lapse.curve) for learners in measurements] == [0, 10, 20]
        assert len(last_learners[name].right_shares) == 1 + TINY[name].steps // quick.MEASURE_EVERY
    alone_pack, told_pack = (unpack(last_learners[name].lapse.moments[0].trace)[1] for name in (ALONE, TOLD))
    for name in ("q", "k"):  # sums in another order differ in the last digits
        np.testing.assert_allclose(alone_pack[name].astype(np.float32), told_pack[name].astype(np.float32), atol=1e-2)
    curves = last_learners[TOLD].lapse.curve[0][:2], last_learners[ALONE].lapse.curve[0]
    np.testing.assert_allclose(*curves, rtol=0.01)  # both models see the same first boards
    assert last_learners[ALONE].lapse.moments[2].trace != last_learners[TOLD].lapse.moments[2].trace


def test_the_told_head_s_task_is_saved_with_the_weights(tmp_path):
    for name, recipe in TINY.items():
        training_run = Run(recipe, tmp_path / name, quick.PairLosses, "cpu")
        model_file.save(training_run.mean, tmp_path / "saved.safetensors")
        expected = quick.TOLD_TASK if name == TOLD else None
        vit = loading.load(str(tmp_path / "saved.safetensors"), device="cpu")
        assert training_task(vit, *quick.TOLD_HEAD) == expected


def test_only_the_told_model_s_losses_read_attention_weights(tmp_path):
    """Only the model that is told where to look has a loss that is computed from queries and keys."""
    batch = quick._batch(quick.unseen_boards(0, 2))
    losses = {}
    for name, recipe in TINY.items():
        training_run = Run(recipe, tmp_path / name, quick.PairLosses, "cpu")
        losses[name] = list(training_run.teachers(training_run.vit, batch, 0))
    assert losses == {ALONE: ["colour"], TOLD: ["colour", "told"]}


def test_the_mass_on_the_twin_agrees_with_a_trace(measured):
    boards = quick.unseen_boards(0, 1)
    vit = TINY[TOLD].untrained().eval()
    with torch.no_grad():
        vit.blocks[1].attn.qkv.weight *= 20  # makes rows uneven
    trace = Trace.from_bytes(quick.trace(vit, quick.board_image(0)).to_bytes())
    twin = boards.twin[0]
    rows = [trace.row(1, 2, divmod(patch, 6))[int(twin[patch])] for patch in range(36)]
    assert quick.twin_mass(vit, boards)[1, 2] == pytest.approx(float(np.mean(rows)), rel=0.02)


def test_a_head_with_most_of_its_attention_on_the_twin_is_called_after_it(measured):
    moment = measured[1][ALONE].lapse.moments[-1]
    mass = np.zeros_like(moment.mass)
    mass[1, 2] = 0.6
    kind_names = quick.kinds(dataclasses.replace(moment, mass=mass))
    assert kind_names[1][2] == quick.TWIN.label
    assert quick.TWIN.label not in [*kind_names[0], *kind_names[1][:2]]


ONE_CORE = """
import threading, torch
from playground.training import quick
torch.set_num_threads(2)
with quick.one_core():
    print(torch.get_num_threads())
    other = threading.Thread(target=lambda: print(torch.get_num_threads()))
    other.start()
    other.join()
print(torch.get_num_threads())
"""


@pytest.mark.slow
def test_one_core_limits_this_thread_alone():
    """Runs in a separate process, because the test's own process may have only one core."""
    process = subprocess.run([sys.executable, "-c", ONE_CORE], capture_output=True, text=True, check=True)
    inside, of_others, afterwards = process.stdout.split()
    assert (inside, of_others, afterwards) == ("1", "2", "2")
