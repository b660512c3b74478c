"""The commands that train a model at the terminal."""

import dataclasses
import os
import signal

import pytest
from PIL import Image
from tiny_runs import RECIPE, TINY

import playground
from workshop import terminal
from workshop.__main__ import main
from workshop.loop import steps_done
from workshop.losses import Scenes


@pytest.fixture
def tiny(monkeypatch):
    """Makes the commands train models so small that a step takes milliseconds."""
    monkeypatch.setattr(terminal, "Recipe", lambda seed: dataclasses.replace(RECIPE, steps=20, polish=0, seed=seed))


def test_the_command_trains_and_says_how_to_load(tiny, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["train", "--out", str(out), "--workers", "0", "--device", "cpu"]) == 0
    output = capsys.readouterr().out
    assert f'playground.load("{out / "model.safetensors"}")' in output
    assert str(out / "attention.png") in output
    assert "step 20 of 20" in output
    assert Image.open(out / "attention.png").width > 200
    assert playground.load(str(out / "model.safetensors"), device="cpu").config == TINY


def test_ctrl_c_saves_the_run_and_the_same_command_continues_it(tiny, tmp_path, capsys, monkeypatch):
    class Interrupted(Scenes):
        def __getitem__(self, i):
            if i == 4 * 4:
                os.kill(os.getpid(), signal.SIGINT)
            return super().__getitem__(i)

    command = ["train", "--out", str(tmp_path), "--workers", "0", "--device", "cpu"]
    former_handler = signal.getsignal(signal.SIGINT)
    with monkeypatch.context() as patched:
        patched.setattr("workshop.loop.Scenes", Interrupted)
        assert main(command) == 130
    output = capsys.readouterr().out
    assert "the same command goes on from here" in output
    assert signal.getsignal(signal.SIGINT) is former_handler
    assert 3 <= steps_done(tmp_path) <= 4
    assert main(command) == 0
    assert f"going on from step {4}" in capsys.readouterr().out
    assert steps_done(tmp_path) == 20


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--steps", "0"], "--steps is at least 1"),
        (["--seed", "256"], "--seed goes from 0 to 255"),
        (["--workers", "-1"], "--workers goes from 0 to 64"),
        (["--device", "abacus"], "no device 'abacus'"),
        (["--out", "/dev/null/run"], "can't be written to"),
    ],
)
def test_a_wrong_option_is_refused_in_one_sentence(options, sentence, capsys):
    assert main(["train", *options]) == 2
    assert sentence in capsys.readouterr().err
