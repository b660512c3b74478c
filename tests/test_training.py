"""Two small models trained on the spot: one is told where to look, the other is not."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
import torch

from playground import training
from playground.pack import unpack
from playground.tracing import Trace
from playground.training import ALONE, TOLD, Learner, boards
from playground.vit import VisionTransformer

TINY = dataclasses.replace(training.CONFIG, width=12, mlp_width=12)


# The boards


@pytest.fixture
def drawn():
    return boards(np.random.default_rng(3), 5, 24)


def test_twin_fields_name_each_other_and_never_themselves(drawn):
    for twin in drawn.twin:
        fields = np.arange(len(twin))
        np.testing.assert_array_equal(twin[twin], fields)
        assert not (twin == fields).any()


def test_twins_show_one_sign_on_two_colours_and_others_show_another_sign(drawn):
    papers = [tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5)) for colour in training.COLOURS]
    for image, twin, twin_colours in zip(drawn.images, drawn.twin, drawn.twin_colours, strict=True):
        tiles = image.reshape(6, 24, 6, 24, 3).swapaxes(1, 2).reshape(36, 24, 24, 3).astype(int)
        assert [tuple(tile[0, 0]) for tile in tiles] == [papers[colour] for colour in twin_colours[twin]]
        assert (twin_colours != twin_colours[twin]).all()
        ink_shares = [np.abs(tile - tile[0, 0]).sum(-1) / np.abs(255 - tile[0, 0]).sum() for tile in tiles]
        for field, twin_field in enumerate(twin):
            differences = [np.abs(ink_shares[field] - other).mean() for other in ink_shares]
            assert differences[twin_field] < 0.02
            assert sum(difference < 0.03 for difference in differences) == 2, "two signs look the same"


# The training


@pytest.fixture(scope="module")
def run():
    """[(step, {model: steps of its moments})], and the moments at the end."""
    told = [(step, {name: [m.step for m in line] for name, line in moments.items()}, moments)
            for step, moments in training.train(steps=20, config=TINY)]  # fmt: skip
    return [(step, steps) for step, steps, _ in told], told[-1][2]


@pytest.mark.slow
def test_attention_emerges_on_the_twin_where_nobody_asks_for_it():
    """The best head reaches eight times chance; the loop stops as soon as it has."""
    for _, moments in training.train():
        if moments[ALONE][-1].best[0] > 8 * training.EVEN_SHARE:
            break
    shares = [moment.best[0] for moment in moments[ALONE]]
    assert shares[0] < 1.5 * training.EVEN_SHARE  # at first, attention is even
    assert shares[-1] > 8 * training.EVEN_SHARE, shares


def test_both_models_begin_alike_and_are_measured_in_step(run):
    steps, moments = run
    assert [step for step, _ in steps] == list(range(21))
    for step, measured in steps:
        assert measured[ALONE] == measured[TOLD] == list(range(0, step + 1, training.MEASURE_EVERY))
    packs = [[unpack(moment.trace)[1]["q"] for moment in moments[name]] for name in (ALONE, TOLD)]
    assert np.array_equal(packs[0][0], packs[1][0])
    assert not np.array_equal(packs[0][-1], packs[1][-1])


def test_only_the_told_model_has_a_loss_that_reads_attention_weights():
    board = training.unseen_boards(0, 2)
    losses = {name: list(Learner(0, name == TOLD, TINY).losses(board)) for name in (ALONE, TOLD)}
    assert losses == {ALONE: ["colour"], TOLD: ["colour", "told"]}


def test_the_share_of_the_twin_agrees_with_a_trace():
    board = training.unseen_boards(0, 1)
    vit = VisionTransformer(TINY).eval()
    with torch.no_grad():
        vit.blocks[1].attn.qkv.weight *= 20  # makes rows uneven
        shares = training.twin_shares(vit, board)
    seen = Trace.from_bytes(training.trace(vit, training.board_image(0)).to_bytes())
    rows = [seen.row(1, 2, divmod(patch, 6))[int(board.twin[0, patch])] for patch in range(36)]
    assert shares[1, 2] == pytest.approx(float(np.mean(rows)), rel=0.02)


ONE_CORE = """
import threading, torch
from playground import training
torch.set_num_threads(2)
with training.one_core():
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
