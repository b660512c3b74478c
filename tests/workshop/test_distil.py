"""The emergent model learns from features and names, never from attention itself."""

import dataclasses
from functools import partial

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from PIL import Image
from tiny_runs import EMERGENT, RECIPE, TINY

import playground
from playground.analysis import patches
from playground.errors import PlaygroundError
from playground.lessons.patches import START_COSINE
from playground.lessons.training import LONGER
from playground.models import loading
from playground.vit import VisionTransformer, attention
from workshop import distil, order, photographs, terminal, thresholds, views
from workshop.__main__ import main
from workshop.batches import Batches
from workshop.distil import LOSSES, DistillationLosses, Statistics
from workshop.loop import train
from workshop.losses import Scenes, Teachers
from workshop.recipe import Emergent, waves
from workshop.targets import mean_over_thing


@pytest.fixture(scope="module")
def album(tmp_path_factory):
    """A folder with pictures of noise, as photographs and as cut-out things."""
    folder, rng = tmp_path_factory.mktemp("album"), np.random.default_rng(0)
    (folder / "cut-outs").mkdir()
    for i in range(24):
        Image.fromarray(rng.integers(0, 256, (60, 80, 3), np.uint8)).save(folder / f"photograph {i}.png")
    for i in range(12):
        thing = rng.integers(0, 256, (40, 30, 4), np.uint8)
        thing[..., 3] = np.where(np.hypot(*np.indices((40, 30)) - 15) < 13, 255, 0)
        Image.fromarray(thing).save(folder / "cut-outs" / f"thing {i}.png")
    return folder


@pytest.fixture(scope="module")
def folders(album, tmp_path_factory):
    """Folders of views of 8 × 8 patches with random features, because DINOv2 would take seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(views, "features", _random_features)
        patch.setattr(loading, "load", lambda *a, **k: None)
        view_folders = [tmp_path_factory.mktemp("views") for _ in range(2)]
        for folder, count, side in zip(view_folders, (40, 8), (EMERGENT.coarse, EMERGENT.fine), strict=True):
            assert list(views.prepare(folder, photographs.albums(album)[0], count, side, 3))[-1] == count
    return view_folders


@pytest.fixture(scope="module")
def statistics(folders):
    return Statistics.of(views.read(folders[0]))


@pytest.fixture(scope="module")
def run(folders, statistics, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    return _train(folders, statistics, folder), folder


def _random_features(_, images):
    patches = (images.shape[1] // views.DINOV2_PATCH) ** 2
    return np.random.default_rng(int(images.sum())).standard_normal((len(images), 1 + patches, views.FEATURE_WIDTH))


def _train(folders, statistics, folder, **options):
    teachers = partial(DistillationLosses, statistics=statistics)
    return train(EMERGENT, folder, data=Batches(EMERGENT, *folders), teachers=teachers, device="cpu", **options)


def _gradients_beside_attention(losses_of, vit) -> dict[str, float]:
    """The gradient of each loss on queries and keys while the output of attention is held constant."""
    for block in vit.blocks:
        block.attn.mix = lambda *given: attention(*given).detach()
    qkv_weights = [block.attn.qkv.weight for block in vit.blocks]
    totals = {}
    for name, loss in losses_of(vit).items():
        gradients = (
            torch.autograd.grad(loss, qkv_weights, retain_graph=True, allow_unused=True) if loss.requires_grad else []
        )
        totals[name] = sum(float(gradient.abs().sum()) for gradient in gradients if gradient is not None)
    return totals


def test_no_loss_reads_queries_keys_or_weights(folders, statistics):
    """Queries and keys get gradients through the output of attention only. The model that was told where to look has
    losses on weights, which shows that the test would notice them."""
    losses = DistillationLosses(EMERGENT, statistics)
    batches = Batches(EMERGENT, *folders)
    for step in (0, 7, EMERGENT.steps):
        gradients = _gradients_beside_attention(
            lambda vit, at=step: losses(vit, batches[at], at), VisionTransformer(TINY)
        )
        assert tuple(gradients) == LOSSES
        assert set(gradients.values()) == {0.0}, gradients
    batch = {name: torch.from_numpy(np.stack([value] * 2)) for name, value in Scenes(RECIPE)[0].items()}
    gradients = _gradients_beside_attention(lambda vit: Teachers(RECIPE)(vit, batch, 9), VisionTransformer(TINY))
    assert {name for name, gradient in gradients.items() if gradient} == {"gathered", "uneven", "placed", "looked"}


def test_the_emergent_model_has_no_told_heads_and_no_batch_holds_a_mask(folders, statistics, run):
    assert DistillationLosses(EMERGENT, statistics).told_heads == run[0].told_heads == ()
    assert set(Batches(EMERGENT, *folders)[0]) == {"image", "clean", "features", "picture", "present", "place"}


def test_the_targets_are_made_of_the_picture_before_it_was_disturbed_and_hidden(folders, statistics):
    teachers, batch = DistillationLosses(EMERGENT, statistics), Batches(EMERGENT, *folders)[7]
    view_count = len(batch["features"])
    changed_share = (batch["clean"] != batch["image"][:view_count]).any(1).float().mean()
    assert 0.2 < changed_share < 0.8, "nothing was disturbed: the test shows nothing"
    targets_given = []

    def recorded(features, targets):
        targets_given.append(targets)
        return mean_over_thing(features, targets)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distil, "mean_over_thing", recorded)
        for replacement in ({}, {"image": torch.rand_like(batch["image"])}, {"clean": torch.rand_like(batch["clean"])}):
            teachers(VisionTransformer(TINY), batch | replacement, 7)
    assert torch.equal(targets_given[0], targets_given[1])
    assert not torch.equal(targets_given[0], targets_given[2])
    colours = F.avg_pool2d(batch["clean"], 8).flatten(2).mT * 2 - 1  # (V, side², 3)
    assert torch.allclose(targets_given[0][..., :3], colours, atol=1e-5)


def test_the_command_makes_the_views_and_trains(album, tmp_path, monkeypatch, capsys):
    recipe = dataclasses.replace(EMERGENT, coarse_views=40, fine_views=8, name="told nothing")
    monkeypatch.setattr(terminal, "Emergent", lambda seed: dataclasses.replace(recipe, seed=seed))
    monkeypatch.setattr(views, "features", _random_features)
    monkeypatch.setattr(order, "SCENE_COUNT", 3)
    monkeypatch.setattr(thresholds, "SCENE_COUNT", 3)
    command = ["train", "--photographs", str(album), "--out", str(tmp_path), "--steps", "8", "--workers", "0"]
    assert main([*command, "--device", "cpu"]) == 0
    assert "done. Load it with" in capsys.readouterr().out
    vit = playground.load(str(tmp_path / "model.safetensors"), device="cpu")
    assert (vit.name, vit.told_heads) == ("told nothing", ())


def test_views_go_on_where_they_were_stopped(album, tmp_path, monkeypatch):
    monkeypatch.setattr(
        views, "features", lambda _, images: np.full((len(images), 17, views.FEATURE_WIDTH), images.mean())
    )
    monkeypatch.setattr(loading, "load", lambda *a, **k: None)
    training_album = photographs.albums(album)[0]
    assert list(views.prepare(tmp_path / "whole", training_album, 40, 4, 0)) == [16, 32, 40]
    progress = views.prepare(tmp_path / "parts", training_album, 40, 4, 0)
    assert next(progress) == 16
    progress.close()
    with pytest.raises(PlaygroundError, match="16 of 40 views"):
        views.read(tmp_path / "parts")
    assert list(views.prepare(tmp_path / "parts", training_album, 40, 4, 0)) == [32, 40]
    whole_views, stopped_views = views.read(tmp_path / "whole"), views.read(tmp_path / "parts")
    for name in vars(whole_views):
        assert np.array_equal(getattr(whole_views, name), getattr(stopped_views, name)), name
    with pytest.raises(PlaygroundError, match="holds other views"):
        next(views.prepare(tmp_path / "whole", training_album, 50, 4, 0))


def test_pictures_that_are_kept_apart_are_never_trained_on(album):
    training_album, apart_album = photographs.albums(album)
    assert not {*training_album.photographs, *training_album.things} & {*apart_album.photographs, *apart_album.things}
    assert len(training_album.photographs) + len(apart_album.photographs) == 24
    assert len(training_album.things) + len(apart_album.things) == 12
    with pytest.raises(PlaygroundError, match=r"PHOTOGRAPHS\.md"):
        photographs.albums(album / "cut-outs")
    with pytest.raises(PlaygroundError, match="There is no folder"):
        photographs.albums(album / "nowhere")


def test_the_lesson_says_how_far_positions_have_moved_from_their_beginning():
    places, kind = patches.place_vectors(playground.load("bundled"), (14, 14), "learned")
    assert kind == "learned"
    cosine = F.cosine_similarity(places, waves(14, 14, places.shape[1])).mean()
    assert float(cosine) == pytest.approx(START_COSINE, abs=1e-3)
    assert Emergent().longer == LONGER
