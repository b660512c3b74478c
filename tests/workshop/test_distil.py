"""The emergent model learns from features and names, never from attention itself."""

import dataclasses
from functools import partial

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from PIL import Image
from tiny_runs import EMERGENT, RECIPE, TINY, weights

import playground
from playground.__main__ import main
from playground.errors import PlaygroundError
from playground.models import zoo
from playground.training.loop import Run, read_checkpoint, steps_done, train
from playground.training.losses import Scenes, Teachers
from playground.training.recipe import waves
from playground.vit import VisionTransformer, attention
from workshop import distil, order, photographs, terminal, thresholds, views
from workshop.batches import Batches, disturb, recolour, window, with_hidden
from workshop.distil import LOSSES, DistillationLosses, Statistics, feature_distance, tokens
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
        patch.setattr(zoo, "load", lambda *a, **k: None)
        view_folders = [tmp_path_factory.mktemp("views") for _ in range(2)]
        for folder, count, side in zip(view_folders, (40, 8), (EMERGENT.coarse, EMERGENT.fine), strict=True):
            assert list(views.prepare(folder, photographs.albums(album)[0], count, side, 3))[-1] == count
    return view_folders


@pytest.fixture(scope="module")
def statistics(folders):
    return Statistics.of(views.read(folders[0]))


@pytest.fixture(scope="module")
def run(folders, statistics, tmp_path_factory):
    """A finished run and its folder."""
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


def test_a_batch_depends_on_seed_and_step_alone(folders):
    batches, same_batches = (Batches(EMERGENT, *folders) for _ in range(2))
    for step in (0, 7, EMERGENT.steps):
        assert all(torch.equal(batches[step][name], same_batches[step][name]) for name in batches[step])
    other_batches = Batches(dataclasses.replace(EMERGENT, seed=1), *folders)
    assert not torch.equal(batches[0]["features"], other_batches[0]["features"])


def test_windows_come_first_then_whole_views_then_the_fine_grid(folders):
    batches = Batches(EMERGENT, *folders)
    sides = [(len(batches[step]["image"]), batches[step]["image"].shape[2] // 8) for step in (0, 7, EMERGENT.steps)]
    assert sides == [(EMERGENT.batch, EMERGENT.near), (EMERGENT.batch, 8), (EMERGENT.fine_batch, EMERGENT.fine)]
    next_images = batches[EMERGENT.round]["image"]  # each round begins with windows
    assert (len(next_images), next_images.shape[2] // 8) == sides[0]


def test_queries_and_keys_begin_longer_and_positions_as_waves():
    usual_state, emergent_state = VisionTransformer(TINY).state_dict(), EMERGENT.untrained().state_dict()
    for name, value in usual_state.items():
        gain = torch.ones(len(value), *[1] * (value.dim() - 1))
        if name.endswith("qkv.weight"):
            gain[: 2 * TINY.width] = EMERGENT.longer
        if name == "pos_embed":
            assert torch.equal(emergent_state[name][:, :2], value[:, :2])
            assert torch.equal(emergent_state[name][0, 2:], EMERGENT.waves * waves(8, 8, TINY.width))
        else:
            assert torch.equal(emergent_state[name], value * gain), name


def test_waves_are_alike_for_neighbours_and_differ_for_all_places():
    features = torch.nn.functional.normalize(waves(6, 7, 24), dim=-1)
    likeness = (features @ features.T).unflatten(0, (6, 7)).unflatten(2, (6, 7))
    assert likeness[2, 3, 2, 4] > likeness[2, 3, 2, 6]
    assert likeness[2, 3, 3, 3] > likeness[2, 3, 5, 3]
    assert (likeness.flatten(2).flatten(0, 1) > 0.999).sum() == 42


def test_muon_updates_queries_keys_and_values_one_by_one(folders, statistics, tmp_path):
    run = Run(EMERGENT, tmp_path, partial(DistillationLosses, statistics=statistics), "cpu")
    former_weight = run.vit.blocks[0].attn.qkv.weight.clone()
    run.learn(Batches(EMERGENT, *folders)[0])
    changes = (run.vit.blocks[0].attn.qkv.weight - former_weight).detach().chunk(3)
    lengths = [float(third.norm()) for third in changes]
    assert min(lengths) > 0.7 * max(lengths) > 0


def test_a_window_s_features_lie_where_its_pixels_lie(folders):
    coarse_views = views.read(folders[0])
    pixels, features = window(coarse_views, np.array([5, 2]), 1, 3, 4)
    for b, i in enumerate((5, 2)):
        for y, x in np.ndindex(4, 4):
            assert np.array_equal(features[b, y, x], coarse_views.features[i, 1 + 8 * (y + 1) + x + 3])
        assert np.array_equal(pixels[b], coarse_views.pictures[i, 8:40, 24:56])


def test_a_window_gets_the_positions_of_its_part_of_the_grid(folders):
    vit = VisionTransformer(TINY)
    with torch.no_grad():
        vit.pos_embed.normal_()
        vit.patch_embed.proj.weight.zero_()
        for block in vit.blocks:  # layers add nothing, so tokens stay as they enter
            block.attn.proj.weight.zero_()
            block.mlp.fc2.weight.zero_()
        *_, last_tokens = tokens(vit, torch.rand(1, 3, 32, 32), torch.tensor([1, 3]), 8)
        grid = vit.pos_embed[0, 2:].unflatten(0, (8, 8))
        assert torch.allclose(last_tokens[0, 2:].unflatten(0, (4, 4)), grid[1:5, 3:7], atol=1e-5)


def test_only_whole_patches_are_disturbed_and_never_more_than_asked():
    image = torch.rand(20, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    is_changed = (disturb(image, 8, 0.5, torch.Generator().manual_seed(1)) != image).any(1)  # (20, 64, 64)
    cells = is_changed.unflatten(1, (8, 8)).unflatten(3, (8, 8)).transpose(2, 3).flatten(3).float().mean(-1)
    assert set(cells.flatten().tolist()) <= {0.0, 1.0}
    shares = cells.mean((1, 2))
    assert shares.max() < 0.7
    assert 0.1 < shares.mean() < 0.4
    assert disturb(image, 8, 0.0, torch.Generator().manual_seed(1)).equal(image)


def test_hidden_patches_are_whole_ones_in_blocks_and_a_quarter_of_the_pictures_stays_whole():
    image = torch.rand(200, 3, 112, 112, generator=torch.Generator().manual_seed(0))
    hidden_image = with_hidden(image, 8, 0.45, torch.Generator().manual_seed(1))
    cells = (
        (hidden_image != image).any(1).unflatten(1, (14, 8)).unflatten(3, (14, 8)).transpose(2, 3).flatten(3).float()
    )
    assert set(cells.mean(-1).flatten().tolist()) <= {0.0, 1.0}
    is_hidden = cells.amax(-1)  # (200, 14, 14)
    shares = is_hidden.mean((1, 2))
    assert 0.15 < (shares == 0).float().mean() < 0.35
    assert 0.4 < shares[shares > 0].mean() < 0.5
    hidden_neighbours = F.avg_pool2d(is_hidden[:, None], 3, 1)[:, 0][is_hidden[:, 1:-1, 1:-1] > 0]
    assert (hidden_neighbours == 1).float().mean() > 0.02, (
        "no hidden patch has hidden neighbours alone: 0.45 ** 8 is 0.002"
    )
    assert with_hidden(image, 8, 0.0, torch.Generator().manual_seed(1)).equal(image)


def test_the_targets_are_made_of_the_picture_before_it_was_disturbed_and_hidden(folders, statistics):
    """Targets depend on the clean picture, not on the disturbed one that the model sees."""
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


def test_the_scenes_for_the_loss_class_have_no_hidden_patches(folders):
    hidden_batch = Batches(dataclasses.replace(EMERGENT, disturbance=0.0, hidden=1.0), *folders)[7]
    plain_batch = Batches(dataclasses.replace(EMERGENT, disturbance=0.0, hidden=0.0), *folders)[7]
    view_count = len(hidden_batch["features"])
    assert torch.equal(hidden_batch["image"][view_count:], plain_batch["image"][view_count:])
    assert not torch.equal(hidden_batch["image"][:view_count], plain_batch["image"][:view_count])


def test_a_recoloured_picture_stays_a_picture():
    image = torch.rand(6, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    new_image = recolour(image, torch.Generator().manual_seed(1))
    assert 0 <= new_image.min() < new_image.max() <= 1
    for old_picture, new_picture in zip(image, new_image, strict=True):
        assert np.corrcoef(old_picture.mean(0).flatten(), new_picture.mean(0).flatten())[0, 1] > 0.8


def test_feature_distance_is_zero_at_the_target_and_grows_with_the_angle():
    targets = torch.randn(3, 4, 5, generator=torch.Generator().manual_seed(0))
    assert feature_distance(targets, targets).item() == pytest.approx(0, abs=1e-6)
    assert (
        feature_distance(-targets, targets)
        > feature_distance(targets.flip(-1), targets)
        > feature_distance(1.1 * targets, targets)
        > 0
    )


def test_the_loss_class_reads_drawn_scenes_only(folders, statistics):
    """In steps with windows, names are asked only of the scenes drawn for the step; later, of drawn views too."""
    teachers, vit, batches = (
        DistillationLosses(EMERGENT, statistics),
        VisionTransformer(TINY),
        Batches(EMERGENT, *folders),
    )
    for step in (0, 7):
        batch = batches[step]
        is_drawn, view_count = batch["present"][:, 0] >= 0, len(batch["features"])
        assert (len(batch["image"]), view_count) == (EMERGENT.batch, EMERGENT.batch - EMERGENT.named)
        assert is_drawn[view_count:].all()
        assert bool(is_drawn[:view_count].any()) == (step == 7)
        class_loss = teachers(vit, batch, step)["class"].item()
        other_images = torch.where(is_drawn[:, None, None, None], batch["image"], 0.5)
        assert teachers(vit, batch | {"image": other_images}, step)["class"].item() == pytest.approx(
            class_loss, rel=1e-5
        )
        unlabelled_batch = batch | {"present": torch.full_like(batch["present"], -1)}
        assert teachers(vit, unlabelled_batch, step)["class"].item() == 0


def test_the_scenes_for_the_loss_class_are_new_in_every_step(folders):
    batches = Batches(EMERGENT, *folders)
    pictures = [batches[step]["image"][-EMERGENT.named :].flatten(1) for step in (5, 6, 7)]
    assert len(torch.unique(torch.cat([p.mean(1) for p in pictures]))) == 3 * EMERGENT.named


def test_a_run_that_was_stopped_goes_on_to_the_same_weights(run, folders, statistics, tmp_path):
    stop_answers = iter([False] * 5 + [True])
    _train(folders, statistics, tmp_path, stopped=lambda: next(stop_answers))
    assert steps_done(tmp_path) == 5
    assert torch.equal(weights(_train(folders, statistics, tmp_path)), weights(run[0]))
    assert read_checkpoint(tmp_path)["losses"] == list(LOSSES)


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
    assert main([*command, "--data", str(album)]) == 2
    assert "give one of them" in capsys.readouterr().err


def test_views_go_on_where_they_were_stopped(album, tmp_path, monkeypatch):
    monkeypatch.setattr(
        views, "features", lambda _, images: np.full((len(images), 17, views.FEATURE_WIDTH), images.mean())
    )
    monkeypatch.setattr(zoo, "load", lambda *a, **k: None)
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


def test_a_composite_says_which_thing_is_where(album):
    picture, thing_numbers = photographs.composite(photographs.albums(album)[0], 64, np.random.default_rng(5))
    assert picture.size == (64, 64)
    assert 1 <= thing_numbers.max() <= 4
    halves = np.zeros((8, 8), np.uint8)
    halves[:, 3:] = 1
    assert views.most_frequent_numbers(halves, 2).tolist() == [[0, 1], [0, 1]]
