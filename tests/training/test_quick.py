"""Two small models trained on the spot: one is told where to look, the other is not."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from streamlit.testing.v1 import AppTest

from playground.models import loading, model_file
from playground.models.source import told
from playground.pack import unpack
from playground.serving import people
from playground.serving.pictures import Picture
from playground.tracing import Trace
from playground.training import quick
from playground.training.loop import Run
from playground.training.quick import ALONE, TOLD
from playground.ui.lessons import reel, training

CONFIG = dataclasses.replace(quick.SMALL, width=12, mlp_width=12)
TINY = {name: dataclasses.replace(one, steps=20, batch=2, config=CONFIG) for name, one in quick.recipes().items()}


@pytest.fixture(scope="module")
def watched():
    said = []
    end = quick.train_now(said.append, both=TINY)
    return said, end


# The page


def test_without_its_file_the_page_says_how_it_is_made_and_offers_to_train(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "TIMELAPSE", tmp_path / "none.bin")
    page = AppTest.from_file(str(Path(__file__).parent.parent.parent / "app.py"), default_timeout=120).run()
    page.switch_page("pages/training.py").run()
    assert "python -m playground.training.timelapse" in page.info[0].value
    assert "Train now" in [button.label for button in page.button]
    assert not page.exception


# Training


def test_attention_emerges_on_the_twin_where_nobody_asks_for_it():
    """Eight times what chance gives, in the head that has most of it; the run ends as soon as it is there."""
    best = [0.0]
    quick.train_now(
        lambda said: best.append(said[ALONE].best[0]),
        lambda: best[-1] > 8 * quick.EVEN,
        {ALONE: quick.recipes()[ALONE]},
    )
    assert best[1] < 1.5 * quick.EVEN  # in the beginning it looks everywhere
    assert best[-1] > 8 * quick.EVEN, best


def test_both_begin_alike_and_learn_in_step(watched):
    said, end = watched
    for name in (ALONE, TOLD):
        assert [[m.step for m in one[name].lapse.moments] for one in said] == [[0], [0, 10], [0, 10, 20]]
        assert [len(one[name].lapse.curve) for one in said] == [0, 10, 20]
        assert len(end[name].right) == quick.planned(TINY[name])
    one, other = (unpack(end[name].lapse.moments[0].trace)[1] for name in (ALONE, TOLD))
    for name in ("q", "k"):  # sums of another order differ in the last digit
        np.testing.assert_allclose(one[name].astype(np.float32), other[name].astype(np.float32), atol=1e-2)
    same = end[TOLD].lapse.curve[0][:2], end[ALONE].lapse.curve[0]
    np.testing.assert_allclose(*same, rtol=0.01)  # the same first boards
    assert end[ALONE].lapse.moments[2].trace != end[TOLD].lapse.moments[2].trace


def test_what_the_told_head_was_told_stays_with_its_weights(tmp_path):
    for name, recipe in TINY.items():
        run = Run(recipe, tmp_path / name, quick.Colours, "cpu")
        model_file.save(run.mean, tmp_path / "saved.safetensors")
        wanted = quick.TOLD_TO if name == TOLD else None
        assert told(loading.load(str(tmp_path / "saved.safetensors"), device="cpu"), *quick.TOLD_HEAD) == wanted


def test_only_the_told_model_s_losses_read_attention_weights(tmp_path):
    """Without queries and keys there is no weight to read: the other model's loss does not miss them."""
    batch = quick._batch(quick.unseen(0, 2))
    losses = {}
    for name, recipe in TINY.items():
        run = Run(recipe, tmp_path / name, quick.Colours, "cpu")
        losses[name] = list(run.teachers(run.vit, batch, 0))
    assert losses == {ALONE: ["colour"], TOLD: ["colour", "told"]}


def test_the_mass_on_the_twin_is_the_traces(watched):
    boards = quick.unseen(0, 1)
    vit = TINY[TOLD].untrained().eval()
    with torch.no_grad():
        vit.blocks[1].attn.qkv.weight *= 20  # no even rows
    seen = Trace.from_bytes(quick.trace(vit, quick.image(0)).to_bytes())
    twin = boards.twin[0]
    rows = [seen.row(1, 2, divmod(patch, 6))[int(twin[patch])] for patch in range(36)]
    assert quick.on_the_twin(vit, boards)[1, 2] == pytest.approx(float(np.mean(rows)), rel=0.02)


def test_a_head_with_most_of_its_attention_on_the_twin_is_called_after_it(watched):
    moment = watched[1][ALONE].lapse.moments[-1]
    mass = np.zeros_like(moment.mass)
    mass[1, 2] = 0.6
    named = quick.kinds(dataclasses.replace(moment, mass=mass))
    assert named[1][2] == quick.TWIN.label
    assert quick.TWIN.label not in [*named[0], *named[1][:2]]


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


def test_one_core_is_for_this_thread_alone():
    """In a process of its own: the one of the tests may have one core itself."""
    run = subprocess.run([sys.executable, "-c", ONE_CORE], capture_output=True, text=True, check=True)
    inside, of_others, afterwards = run.stdout.split()
    assert (inside, of_others, afterwards) == ("1", "2", "2")


def test_it_stops_when_it_is_told_to():
    end = quick.train_now(lambda said: None, lambda: True, TINY)
    assert [moment.step for moment in end[ALONE].lapse.moments] == [0]


# What goes to the browser


def film(**changes):
    picture = Picture("red", False, b"jpeg", Image.new("RGB", (8, 8)))
    return reel.Film(**({"run": "r", "picture": picture, "planned": 3, "whole": True} | changes))


VIEW = {"moment": 0, "layer": 1, "head": 0, "patch": ""}


def sent(blob):
    header, arrays = unpack(blob)
    return [given["step"] for given in header["packs"]], "image" in arrays


def test_a_growing_run_sends_only_what_is_new(watched):
    told, end = ([one[ALONE].lapse for one in watched[0]], watched[1][ALONE].lapse)
    one, own = film(), people.lesson_cache()
    assert sent(one.blob(told[0], True, VIEW, "v", own)) == ([0], True)
    assert sent(one.blob(told[1], True, VIEW, "v", own)) == ([10], False)
    again = one.blob(told[1], True, VIEW, "v", own)
    assert again is one.blob(told[1], True, VIEW, "v", own)  # equal bytes are not sent twice
    assert sent(one.blob(end, False, VIEW, "v", own)) == ([20], False)
    one.forget()
    full = one.blob(end, False, VIEW, "v", own)
    assert sent(full) == ([0, 10, 20], True)
    assert own.bytes < len(full) + 2 * people.ENTRY  # of its messages the last alone is kept
    assert one.blob(end, False, VIEW, "v", own) is full
    assert own.drop_oldest()
    assert sent(one.blob(end, False, VIEW, "v", own)) == ([], False)  # the browser has them


def test_of_a_large_run_one_layer_goes_at_a_time_and_says_the_same(watched):
    end = watched[1][ALONE].lapse
    _, arrays = unpack(film(whole=False).blob(end, False, VIEW, "v", people.lesson_cache()))
    header, _ = unpack(arrays["pack2"].tobytes())
    assert header["held"] == [1]
    alone, full = (Trace.from_bytes(data) for data in (arrays["pack2"].tobytes(), end.moments[2].trace))
    assert torch.equal(alone.rows(1, (1, 2)), full.rows(1, (1, 2)))


def test_habits_masses_and_what_was_told_go_along(watched):
    end = watched[1][TOLD]
    header, arrays = unpack(
        film(kinds=quick.kinds, told=end.told).blob(end.lapse, False, VIEW, "v", people.lesson_cache())
    )
    assert header["kinds"] == [quick.kinds(moment) for moment in end.lapse.moments]
    assert header["told"] == [[*quick.TOLD_HEAD, quick.TOLD_TO]]
    assert header["chance"] == quick.EVEN
    assert arrays["mass"].shape == (3, 2, 3)
    np.testing.assert_allclose(arrays["entropy"][2], end.lapse.moments[2].habits.entropy, rtol=1e-6)
