"""The commands that train a model at the terminal."""

import dataclasses
import os
import signal

import pytest
from PIL import Image
from tiny_runs import RECIPE, TINY
from training.test_datasets import write_cifar, write_class_folders

import playground
from playground.__main__ import main
from playground.training import datasets
from playground.training.loop import steps_done
from playground.training.losses import Scenes
from workshop import classifier, terminal


@pytest.fixture
def tiny(monkeypatch):
    """Makes the commands train models so small that a step takes milliseconds."""
    usual_recipe = classifier.recipe_for

    def small(*arguments):
        recipe = usual_recipe(*arguments)
        config = dataclasses.replace(recipe.config, depth=1, width=24, mlp_width=48, heads=2, image_size=(32, 32))
        return dataclasses.replace(recipe, config=config, batch=8, rate=5e-3)

    monkeypatch.setattr(classifier, "recipe_for", small)
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
        patched.setattr("playground.training.loop.Scenes", Interrupted)
        assert main(command) == 130
    output = capsys.readouterr().out
    assert "the same command goes on from here" in output
    assert signal.getsignal(signal.SIGINT) is former_handler
    assert 3 <= steps_done(tmp_path) <= 4
    assert main(command) == 0
    assert f"going on from step {4}" in capsys.readouterr().out
    assert steps_done(tmp_path) == 20


@pytest.mark.slow
def test_a_file_in_cifars_format_trains_and_loads_with_its_labels(tiny, tmp_path, capsys):
    data, out = tmp_path / "data", tmp_path / "out"
    write_cifar(data, batches=3, per_batch=40, test_count=20)
    command = ["train", "--data", str(data), "--out", str(out), "--steps", "80", "--workers", "0", "--device", "cpu"]
    assert main(command) == 0
    output = capsys.readouterr().out
    assert "epoch 1, step 20: validation accuracy" in output
    assert float(output.split("on all 20 pictures: ")[1].split("%")[0]) > 90
    assert Image.open(out / "class-token.png").width > 1000
    assert not list(out.glob("*.npy"))
    vit = playground.load(str(out / "model.safetensors"), device="cpu")
    assert (vit.name, vit.config.labels, vit.config.multi_label) == ("cifar-10", ("red", "green", "blue"), False)
    image, label = datasets.browse(data, 0)
    trace = playground.trace(vit, image)
    assert trace.grid == (8, 8)
    assert trace.predictions[0][0] == label


def test_class_folders_train_and_a_damaged_picture_is_left_out(tiny, tmp_path, capsys):
    write_class_folders(tmp_path / "data", per_class=6)
    (tmp_path / "data" / "red" / "0.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
    command = [
        "train",
        "--data",
        str(tmp_path / "data"),
        "--out",
        str(tmp_path / "out"),
        "--steps",
        "2",
        "--workers",
        "0",
    ]
    assert main(command) == 0
    assert "left out: " in capsys.readouterr().err
    assert playground.load(str(tmp_path / "out" / "model.safetensors"), device="cpu").config.labels[2] == "red"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--data", "nowhere"], "There is no folder nowhere. CIFAR-10's binary version is at"),
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
