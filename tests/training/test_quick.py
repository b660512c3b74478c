"""A small model trained on the spot."""

import dataclasses
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from streamlit.testing.v1 import AppTest

from playground.pack import unpack
from playground.serving.pictures import Picture
from playground.tracing import Trace
from playground.training import quick
from playground.ui.lessons import training

TINY = dataclasses.replace(
    quick.SMALL,
    steps=40,
    batch=2,
    near_side=16,
    config=dataclasses.replace(quick.SMALL.config, image_size=(16, 16), width=12, mlp_width=12),
)


@pytest.fixture(scope="module")
def watched():
    picture, told = Image.new("RGB", (40, 40), "red"), []
    threads = torch.get_num_threads()
    end = quick.train_now(picture, told.append, recipe=TINY)
    assert torch.get_num_threads() == threads
    return told, end


# The page


def test_without_its_file_the_page_says_how_it_is_made_and_offers_to_train(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "TIMELAPSE", tmp_path / "none.bin")
    page = AppTest.from_file(str(Path(__file__).parent.parent.parent / "app.py"), default_timeout=120).run()
    page.switch_page("pages/training.py").run()
    assert "python -m playground.training.timelapse" in page.info[0].value
    assert "Train now" in [button.label for button in page.button]
    assert not page.exception


# Training


def test_every_moment_adds_to_what_there_was(watched):
    told, end = watched
    assert [[moment.step for moment in seen.moments] for seen in told] == [[0], [0, 20], [0, 20, 40]]
    assert [len(seen.curve) for seen in told] == [0, 1, 2]
    assert quick.planned(TINY) == len(end.moments)


def test_what_it_looks_at_changes_as_it_learns(watched):
    first, *_, last = (Trace.from_bytes(moment.trace).rows(1, (1, 1)) for moment in watched[1].moments)
    assert not torch.allclose(first, last)


def test_one_core_is_for_this_thread_alone():
    before = torch.get_num_threads()
    with quick.one_core():
        assert torch.get_num_threads() == 1
        others = []
        thread = threading.Thread(target=lambda: others.append(torch.get_num_threads()))
        thread.start()
        thread.join()
    assert [*others, torch.get_num_threads()] == [before, before]


def test_it_stops_when_it_is_told_to():
    told = []
    end = quick.train_now(Image.new("RGB", (20, 20)), told.append, lambda: True, TINY)
    assert [moment.step for moment in end.moments] == [0]


# What goes to the browser


def film(**changes):
    picture = Picture("red", False, b"jpeg", Image.new("RGB", (8, 8)))
    return training.Film(**({"run": "r", "picture": picture, "planned": 3, "whole": True} | changes))


VIEW = {"moment": 0, "layer": 1, "head": 0, "patch": ""}


def sent(blob):
    header, arrays = unpack(blob)
    return [given["step"] for given in header["packs"]], "image" in arrays


def test_a_growing_run_sends_only_what_is_new(watched):
    told, end = watched
    one = film()
    assert sent(one.blob(told[0], True, VIEW, "v")) == ([0], True)
    assert sent(one.blob(told[1], True, VIEW, "v")) == ([20], False)
    again = one.blob(told[1], True, VIEW, "v")
    assert again is one.blob(told[1], True, VIEW, "v")  # equal bytes are not sent twice
    assert sent(one.blob(end, False, VIEW, "v")) == ([40], False)
    one.forget()
    assert sent(one.blob(end, False, VIEW, "v")) == ([0, 20, 40], True)


def test_of_a_large_run_one_layer_goes_at_a_time_and_says_the_same(watched):
    _, end = watched
    _, arrays = unpack(film(whole=False).blob(end, False, VIEW, "v"))
    header, _ = unpack(arrays["pack2"].tobytes())
    assert header["held"] == [1]
    alone, full = (Trace.from_bytes(data) for data in (arrays["pack2"].tobytes(), end.moments[2].trace))
    assert torch.equal(alone.rows(1, (1, 2)), full.rows(1, (1, 2)))


def test_habits_and_masses_are_those_of_the_moments(watched):
    _, end = watched
    header, arrays = unpack(film().blob(end, False, VIEW, "v"))
    assert header["kinds"] == [moment.habits.kinds() for moment in end.moments]
    assert arrays["mass"].shape == (3, 3, 3)
    np.testing.assert_allclose(arrays["entropy"][2], end.moments[2].habits.entropy, rtol=1e-6)
