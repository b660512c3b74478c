"""The short runs of workshop/trials.py, which change one thing each, and the blind judging of benchmarks/blind.py."""

import dataclasses
import importlib.util
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from playground.models import zoo
from workshop import trials, views
from workshop.batches import Batches
from workshop.trials import SHORT_RECIPE, TRIALS

BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"


def script(name: str):
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def some_views(monkeypatch):
    """Makes batches of random views of 14 × 14 patches, without a folder."""
    rng = np.random.default_rng(0)
    random_views = views.Views(
        rng.integers(0, 256, (6, 112, 112, 3), np.uint8), rng.standard_normal((6, 197, 384)).astype(np.float16),
        np.full((6, 13), -1, np.int8), np.zeros((6, 14, 14), np.uint8),
    )  # fmt: skip
    monkeypatch.setattr("workshop.batches.read", lambda folder: random_views)
    return partial(Batches, coarse=Path(), fine=Path())


def test_each_trial_changes_the_expected_fields_of_the_recipe():
    changed_fields = {
        name: {
            field.name
            for field in dataclasses.fields(SHORT_RECIPE)
            if getattr(SHORT_RECIPE, field.name) != getattr(trial.recipe, field.name)
        }
        for name, trial in TRIALS.items()
    }
    assert changed_fields == {
        "old": {"hidden"}, "clean": {"hidden"}, "hidden": set(), "cosine": {"config"}, "views": {"coarse_views"},
        "few": {"coarse_views"}, "narrow": {"hidden", "decay_looking"}, "again": {"seed"},
    }  # fmt: skip
    assert [name for name, trial in TRIALS.items() if trial.batches is not Batches] == ["old"]


def test_the_old_trial_sees_the_same_pictures_but_has_disturbed_targets(some_views):
    step = 500  # a step in the training at which images are strongly disturbed
    recipe = dataclasses.replace(SHORT_RECIPE, hidden=0)
    usual_batch = some_views(recipe)[step]
    old_batch = trials.DisturbedTargets(recipe, Path(), Path())[step]
    assert torch.equal(old_batch["image"], usual_batch["image"])
    assert torch.equal(old_batch["clean"], old_batch["image"][: len(old_batch["clean"])])
    assert not torch.equal(old_batch["clean"], usual_batch["clean"])


def test_cosine_attention_begins_about_as_sharp_as_the_recipe_s():
    """If the sharpness differed at the start, the trial would compare starts instead of kinds of attention."""
    image = torch.rand(2, 3, 112, 112, generator=torch.Generator().manual_seed(0)) * 2 - 1
    spreads = {}
    for name in ("hidden", "cosine"):
        vit = TRIALS[name].recipe.untrained()
        with torch.no_grad():
            record = vit.record(image)[1]
        scores = [(layer.q @ layer.k.mT * vit.config.scale).std(-1).mean() for layer in record]
        spreads[name] = float(torch.stack(scores).mean())
    print(spreads)
    assert 0.5 < spreads["cosine"] / spreads["hidden"] < 2


def test_a_strip_lights_patches_with_weight_and_the_query():
    blind = script("blind")
    row = np.full(196, 1e-6)
    row[10:20] = 1.0  # more than the 2 % of patches that may exceed the brightest value
    picture = Image.new("RGB", (196, 196), "white")
    first_strip, second_strip = (
        np.asarray(blind.draw_strip(0, np.stack([row]), [(picture, query)])) for query in (100, 150)
    )

    def brightness(strip, patch):
        top, left = divmod(patch, 14)
        y, x = top * blind.CELL + 2, 40 + left * blind.CELL + 2
        return int(strip[y, x].mean())

    assert brightness(first_strip, 10) == brightness(first_strip, 100) == brightness(second_strip, 150) == 255
    assert brightness(first_strip, 150) == brightness(first_strip, 50) == int(blind.DARKEST * 255)


def test_verdicts_are_counted_for_each_model(tmp_path, monkeypatch, capsys):
    blind = script("blind")
    monkeypatch.setattr(blind, "OUT", tmp_path)
    key = [
        "dinov2-small, layer 1 head 2",
        "bundled, layer 3 head 0",
        "bundled, layer 4 head 1",
        "filter, widths 0.1, 1",
    ]
    (tmp_path / "key.json").write_text(json.dumps(key))
    (tmp_path / "verdicts.txt").write_text("0 2\n")
    blind.reveal(tmp_path / "verdicts.txt")
    assert capsys.readouterr().out.splitlines()[:3] == [
        "bundled: 1 of 2 (layer 4 head 1)", "dinov2-small: 1 of 1 (layer 1 head 2)", "filter: 0 of 1",
    ]  # fmt: skip


def test_rounded_weights_are_those_that_the_browser_gets():
    from playground.models.engine_file import BLOCK, to_engine
    from playground.pack import unpack

    vit = zoo.load("bundled", device="cpu")
    rounded = dict(script("bundled").rounded(vit).named_parameters())
    _, arrays = unpack(to_engine(vit))
    name = "blocks.3.attn.qkv.weight"
    gains = np.repeat(arrays[f"{name}.gain"].astype(np.float32), BLOCK, axis=1)
    assert np.array_equal(rounded[name].detach().numpy(), arrays[name] * gains)
    assert np.array_equal(rounded["pos_embed"][0].detach().numpy(), arrays["pos_embed"].astype(np.float32))
    assert not torch.equal(rounded[name], vit.state_dict()[name])
