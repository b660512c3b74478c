"""Training: repeatable, resumable, and it learns. All with a model so small that a step takes milliseconds."""

import dataclasses
import itertools
import math
import os
import signal

import numpy as np
import pytest
import torch
from PIL import Image
from test_datasets import cifar, class_folders

import playground
from playground import classifying, datasets, runs, scenes, timelapse, watching
from playground.__main__ import main
from playground.errors import PlaygroundError
from playground.recipe import BUNDLED, Recipe, pace, snapshot_steps
from playground.targets import LABELS, patch_targets, presence
from playground.teachers import (
    LOSSES,
    Scenes,
    Teachers,
    affinity,
    example,
    misplaced,
    neighbours,
    pixels,
    scattered,
    uneven,
    unstretched,
)
from playground.training import read_checkpoint, steps_done, train
from playground.vit import VisionTransformer

TINY = dataclasses.replace(BUNDLED, depth=2, width=24, mlp_width=48, heads=2, registers=1, image_size=(64, 64))
RECIPE = Recipe(
    steps=8,
    batch=4,
    workers=0,
    config=TINY,
    middle=0,
    gathering=((0, 0), (1, 1)),
    beside=(0, 1),
    around=(1, 0),
    near_side=32,
    small_side=48,
    near_until=0.25,
    small_until=0.5,
)


def weights(vit):
    return torch.cat([p.detach().flatten() for p in vit.parameters()])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A whole run, and its folder."""
    folder = tmp_path_factory.mktemp("run")
    return train(RECIPE, folder, device="cpu"), folder


# The run --------------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_weights_with_any_number_of_workers(run, tmp_path):
    again = train(dataclasses.replace(RECIPE, workers=2), tmp_path, device="cpu")
    assert torch.equal(weights(again), weights(run[0]))
    files = (playground.load(str(folder / "model.safetensors"), device="cpu") for folder in (tmp_path, run[1]))
    assert torch.equal(*map(weights, files))


def test_another_seed_gives_other_weights_from_other_scenes(run, tmp_path):
    other = dataclasses.replace(RECIPE, seed=1, steps=1)
    assert not torch.equal(weights(train(other, tmp_path, device="cpu")), weights(run[0]))
    assert not np.array_equal(Scenes(other)[0]["image"], Scenes(RECIPE)[0]["image"])


def test_a_run_that_was_stopped_goes_on_to_the_same_weights(run, tmp_path):
    asked = iter([False, False, False, True])
    train(RECIPE, tmp_path, device="cpu", stopped=lambda: next(asked))
    assert steps_done(tmp_path) == 3
    assert (tmp_path / "model.safetensors").exists()
    assert torch.equal(weights(train(RECIPE, tmp_path, device="cpu")), weights(run[0]))


def test_an_error_in_the_middle_keeps_what_was_learned(tmp_path):
    class Broken(Scenes):
        def __getitem__(self, i):
            if i == 9:
                raise RuntimeError("the disk is full")
            return super().__getitem__(i)

    with pytest.raises(RuntimeError):
        train(RECIPE, tmp_path, data=Broken(RECIPE), device="cpu")
    assert steps_done(tmp_path) == 2


def test_a_finished_run_is_left_as_it_is(run):
    vit, folder = run
    assert torch.equal(weights(train(RECIPE, folder, device="cpu")), weights(vit))


def test_a_folder_of_another_recipe_is_refused(run, tmp_path):
    with pytest.raises(PlaygroundError, match="run with other settings"):
        train(dataclasses.replace(RECIPE, steps=9), run[1], device="cpu")
    (tmp_path / "checkpoint.pt").write_bytes(b"nonsense")
    with pytest.raises(PlaygroundError, match=r"checkpoint\.pt can't be read"):
        train(RECIPE, tmp_path, device="cpu")
    with pytest.raises(PlaygroundError, match="no device 'abacus'"):
        train(RECIPE, tmp_path, device="abacus")


def test_a_checkpoint_runs_no_code_as_it_is_read(tmp_path):
    class Nasty:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    torch.save({"step": Nasty()}, tmp_path / "checkpoint.pt")
    with pytest.raises(PlaygroundError, match="can't be read"):
        read_checkpoint(tmp_path)
    assert not (tmp_path / "ran").exists()


def test_snapshots_lie_at_the_moments_and_load_by_themselves(tmp_path):
    recipe = dataclasses.replace(RECIPE, steps=25, batch=1)
    train(recipe, tmp_path, device="cpu")
    found = sorted(int(path.stem[-6:]) for path in tmp_path.glob("snapshot-*.safetensors"))
    assert found == snapshot_steps(25)
    assert found[0] == 0
    assert found[-1] == 25
    first, last = (playground.load(str(tmp_path / f"snapshot-{step:06}.safetensors"), device="cpu") for step in (0, 25))
    assert torch.allclose(weights(first), weights(VisionTransformer(TINY, 0)), atol=1e-3)
    assert not torch.allclose(weights(first), weights(last), atol=1e-3)


def test_moments_are_about_a_dozen_spaced_by_their_logarithm():
    moments = snapshot_steps(7500)
    assert len(moments) == 12
    assert (moments[0], moments[1], moments[-1]) == (0, 10, 7500)
    ratios = [b / a for a, b in itertools.pairwise(moments[1:])]
    assert max(ratios) / min(ratios) < 1.1


def test_the_finished_model_loads_with_its_labels_and_small_enough(run):
    loaded = playground.load(str(run[1] / "model.safetensors"), device="cpu")
    assert (loaded.name, loaded.config.labels, loaded.config.multi_label) == ("bundled", LABELS, True)
    assert torch.allclose(weights(loaded), weights(run[0]), atol=1e-2)


def test_the_rate_rises_then_falls_to_a_hundredth():
    recipe = Recipe()
    rates = [pace(step, recipe) for step in range(recipe.steps)]
    assert rates.index(max(rates)) in (recipe.warm_up - 1, recipe.warm_up)
    assert (max(rates), rates[-1]) == pytest.approx((1, 0.01), abs=1e-3)
    assert pace(0, Recipe(steps=30)) == pytest.approx(1 / 3)  # a short run warms up for a tenth of it


def test_the_bundled_recipe_is_the_one_that_the_card_tells():
    assert (Recipe().steps, Recipe().batch, Recipe().seed) == (10_800, 32, 0)
    assert sum(p.numel() for p in VisionTransformer(BUNDLED).parameters()) * 2 < 10e6  # bytes in float16


def test_training_scenes_are_never_held_out_ones():
    last = Scenes(Recipe(seed=255))
    assert 255 * 2**32 + len(last) < scenes.HELD_OUT


def test_losses_fall_on_a_few_scenes_learned_by_heart(tmp_path):
    class Few(Scenes):
        def __getitem__(self, i):
            return super().__getitem__(i % 4)

    recipe = dataclasses.replace(
        RECIPE, steps=60, rate=3e-3, near_until=0, gathering_from=0, even_from=0, small_until=0
    )
    train(recipe, tmp_path, data=Few(recipe), device="cpu")
    history = read_checkpoint(tmp_path)["history"]
    assert [row[0] for row in history] == [20, 40, 60]
    first, last = (dict(zip(LOSSES, row[1:], strict=True)) for row in (history[0], history[-1]))
    assert sum(last.values()) < 0.9 * sum(first.values())
    assert last["alike"] < first["alike"]


# What is taught -------------------------------------------------------------------------------------------------------


def test_an_example_says_of_every_patch_what_the_targets_say():
    scene = scenes.scene(scenes.HELD_OUT + 3, 64)
    targets, told = patch_targets(scene, 8), example(scene, 8)
    inside = targets.objects.ravel() > 0
    assert told["shape"][inside].tolist() == targets.shapes.ravel()[inside].tolist()
    assert set(told["shape"][~inside]) <= {Teachers(RECIPE).says["shape"].out_features - 1}
    assert (told["ground"][inside] == -100).all()
    assert np.array_equal(told["present"], presence(scene))
    objects, parts = told["segment"][inside], told["segment"][~inside]
    assert objects.min() > 0
    assert parts.max() < 0


def test_pixels_are_what_a_trace_gives_the_model():
    image = scenes.scene(5, 64).image
    seen = playground.trace(VisionTransformer(TINY).eval(), Image.fromarray(image))
    assert torch.allclose(pixels(torch.from_numpy(image)[None], TINY), seen.input, atol=1e-6)


def by_hand(scores, segment, cost):
    """The mean over patches of segments with three patches or more, each weighing size^−¾."""
    total = weight = 0.0
    for b, i in np.ndindex(segment.shape):
        mates = [j for j in range(segment.shape[1]) if j != i and segment[b, j] == segment[b, i]]
        if len(mates) < 2:
            continue
        w = (len(mates) + 1) ** -0.75
        total, weight = total + w * cost(scores[b, i].tolist(), i, mates), weight + w
    return total / weight


def test_neighbours_are_one_patch_away():
    left, ring = neighbours((3, 4))
    for i, j in np.ndindex(12, 12):
        down, right = j // 4 - i // 4, j % 4 - i % 4
        assert left[i, j] == (down == 0 and right == -1)
        assert (ring[i, j] > 0) == (max(abs(down), abs(right)) == 1)
    assert ring.sum(1).tolist() == pytest.approx([1.0] * 12)


def test_a_small_picture_gets_the_positions_of_a_part_of_the_grid():
    vit = VisionTransformer(TINY)
    with torch.no_grad():
        vit.pos_embed.normal_()
        native = vit.pos_embed[0, 2:].unflatten(0, vit.native_grid)  # (8, 8, D)
        for step in range(3):
            part = (unstretched(vit, (6, 6), step) + vit.positions((6, 6))[:, 2:])[0].unflatten(0, (6, 6))
            places = [
                (y, x)
                for y in range(3)
                for x in range(3)
                if torch.allclose(part, native[y : y + 6, x : x + 6], atol=1e-5)
            ]
            assert len(places) == 1
        assert unstretched(vit, (8, 8), 0).abs().max() == 0


def test_misplaced_is_the_mean_cross_entropy_of_the_patches_that_have_such_a_place():
    scores = torch.randn(2, 6, 7, generator=torch.Generator().manual_seed(0))  # a prefix token comes first
    left, _ = neighbours((2, 3))
    costs = [-scores[b, i].softmax(-1)[1 + i - 1].log() for b in range(2) for i in (1, 2, 4, 5)]
    assert misplaced(scores, left).item() == pytest.approx(float(torch.stack(costs).mean()), rel=1e-5)


@pytest.fixture
def scores():
    return torch.randn(2, 9, 9, generator=torch.Generator().manual_seed(0))


SEGMENT = torch.tensor([[1, 1, 1, 2, 2, -1, -1, -1, -1], [1, 1, 1, 1, -1, -1, -1, 2, -2]])


def test_scattered_agrees_with_a_loop(scores):
    def cost(row, i, mates):
        whole = sum(math.exp(s) for j, s in enumerate(row) if j != i)
        return -math.log(sum(math.exp(row[j]) for j in mates) / whole)

    assert scattered(scores, SEGMENT).item() == pytest.approx(by_hand(scores, SEGMENT, cost), rel=1e-5)


def test_uneven_agrees_with_a_loop(scores):
    def cost(row, i, mates):
        own = sum(math.exp(row[j]) for j in mates)
        return sum(math.log(1 / len(mates) / (math.exp(row[j]) / own)) for j in mates) / len(mates)

    assert uneven(scores, SEGMENT).item() == pytest.approx(by_hand(scores, SEGMENT, cost), rel=1e-4)


def test_affinity_is_lowest_where_patches_of_one_segment_are_alike():
    own = torch.nn.functional.one_hot(SEGMENT + 2, 5).float()
    noise = torch.randn(own.shape, generator=torch.Generator().manual_seed(2))
    assert affinity(own, SEGMENT, 0.1) < 0.01 < affinity(noise, SEGMENT, 0.1)
    cosines = torch.nn.functional.normalize(noise, dim=-1)
    assert affinity(noise, SEGMENT, 0.1) == pytest.approx(scattered(cosines @ cosines.mT / 0.1, SEGMENT).item(), 1e-5)


def test_heads_are_asked_to_gather_only_after_their_time():
    batch = {name: torch.from_numpy(np.stack([value] * 2)) for name, value in Scenes(RECIPE)[0].items()}
    torch.manual_seed(0)
    teachers, vit = Teachers(RECIPE), VisionTransformer(TINY)
    early, middle, late = (teachers(vit, batch, step) for step in (0, 4, 7))
    assert tuple(early) == LOSSES
    assert (early["gathered"], early["uneven"], middle["uneven"]) == (0, 0, 0)
    assert min(middle["gathered"], late["gathered"], late["uneven"]) > 0


# At the terminal ------------------------------------------------------------------------------------------------------


@pytest.fixture
def tiny(monkeypatch):
    """The commands, with models that take milliseconds."""
    usual = classifying.recipe_for

    def small(*arguments):
        recipe = usual(*arguments)
        config = dataclasses.replace(recipe.config, depth=1, width=24, mlp_width=48, heads=2, image_size=(32, 32))
        return dataclasses.replace(recipe, config=config, batch=8, rate=5e-3)

    monkeypatch.setattr(classifying, "recipe_for", small)
    monkeypatch.setattr(runs, "Recipe", lambda seed: dataclasses.replace(RECIPE, steps=20, seed=seed))


def test_the_command_trains_and_says_how_to_load(tiny, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["train", "--out", str(out), "--workers", "0", "--device", "cpu"]) == 0
    said = capsys.readouterr().out
    assert f'playground.load("{out / "model.safetensors"}")' in said
    assert str(out / "attention.png") in said
    assert "step 20 of 20" in said
    assert Image.open(out / "attention.png").width > 200
    assert playground.load(str(out / "model.safetensors"), device="cpu").config == TINY


def test_ctrl_c_keeps_what_there_is_and_the_command_goes_on(tiny, tmp_path, capsys, monkeypatch):
    class Interrupted(Scenes):
        def __getitem__(self, i):
            if i == 4 * 4:
                os.kill(os.getpid(), signal.SIGINT)
            return super().__getitem__(i)

    command = ["train", "--out", str(tmp_path), "--workers", "0", "--device", "cpu"]
    before = signal.getsignal(signal.SIGINT)
    with monkeypatch.context() as patched:
        patched.setattr("playground.training.Scenes", Interrupted)
        assert main(command) == 130
    said = capsys.readouterr().out
    assert "the same command goes on from here" in said
    assert signal.getsignal(signal.SIGINT) is before
    assert 3 <= steps_done(tmp_path) <= 4
    assert main(command) == 0
    assert f"going on from step {4}" in capsys.readouterr().out
    assert steps_done(tmp_path) == 20


def test_a_file_in_cifars_format_trains_and_loads_with_its_labels(tiny, tmp_path, capsys):
    data, out = tmp_path / "data", tmp_path / "out"
    cifar(data, batches=3, each=40, test=20)
    command = ["train", "--data", str(data), "--out", str(out), "--steps", "80", "--workers", "0", "--device", "cpu"]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "epoch 1, step 20: validation accuracy" in said
    assert float(said.split("on all 20 pictures: ")[1].split("%")[0]) > 90
    assert Image.open(out / "class-token.png").width > 1000
    assert not list(out.glob("*.npy"))
    vit = playground.load(str(out / "model.safetensors"), device="cpu")
    assert (vit.name, vit.config.labels, vit.config.multi_label) == ("cifar-10", ("red", "green", "blue"), False)
    image, label = datasets.browse(data, 0)
    seen = playground.trace(vit, image)
    assert seen.grid == (8, 8)
    assert seen.predictions[0][0] == label


def test_class_folders_train_and_a_damaged_picture_is_left_out(tiny, tmp_path, capsys):
    class_folders(tmp_path / "data", each=6)
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
def test_what_is_wrong_is_one_sentence(options, sentence, capsys):
    assert main(["train", *options]) == 2
    assert sentence in capsys.readouterr().err


# Classifying ----------------------------------------------------------------------------------------------------------


def test_recipes_suit_the_pictures(tmp_path):
    cifar(tmp_path / "small")
    class_folders(tmp_path / "large")
    small, large = (classifying.recipe_for(datasets.read(tmp_path / name)) for name in ("small", "large"))
    assert (small.config.image_size, small.config.patch_size) == ((32, 32), 4)
    assert (large.config.image_size, large.config.patch_size) == ((112, 112), 8)
    assert (small.config.width, small.config.depth, small.steps) == (192, 6, 1000)


def test_variations_are_the_picture_flipped_or_shifted():
    image = np.arange(16 * 16 * 3).reshape(16, 16, 3)
    variations = [classifying.varied(image, np.random.default_rng(seed)) for seed in range(300)]
    assert all(v.shape == image.shape for v in variations)
    assert any(np.array_equal(v, image) for v in variations)
    assert any(np.array_equal(v, image[:, ::-1]) for v in variations)
    assert any(np.array_equal(v[:-2], image[2:]) for v in variations)


def test_every_epoch_shows_every_picture_once_in_an_order_of_its_own(tmp_path):
    cifar(tmp_path)
    found = datasets.read(tmp_path)
    pool = classifying.Pool.fill(found.training, 32, tmp_path / "pool.npy")
    pool.labels = np.arange(len(pool))
    shown = classifying.Flipped(pool, Recipe(steps=10, batch=4))
    epochs = [[int(shown[i]["label"]) for i in range(start, start + 20)] for start in (0, 20)]
    assert sorted(epochs[0]) == sorted(epochs[1]) == list(range(20))
    assert epochs[0] != epochs[1]
    assert np.array_equal(shown[7]["image"], shown[7]["image"])


def test_accuracy_is_the_share_that_is_right(tmp_path, monkeypatch):
    labels = cifar(tmp_path, test=0)
    pool = classifying.Pool.fill(datasets.read(tmp_path, held_out=0).training, 32, tmp_path / "pool.npy")
    monkeypatch.setattr(classifying, "said", lambda vit, images: np.zeros(len(images), int))
    assert classifying.accuracy(None, pool) == labels.count(0) / 20
    assert classifying.accuracy(None, pool, at_most=10) == labels[::2].count(0) / 10


# Watching, and the time-lapse -----------------------------------------------------------------------------------------


def test_the_wall_shows_every_head_and_outlines_the_query(small, picture):
    wall = watching.wall(small, picture, (2, 3))
    maps = np.asarray(wall)[:, -4 * (80 + 4) :]
    assert wall.height == 3 * 84 - 4
    assert len(np.unique(maps.reshape(-1, 3), axis=0)) > 20
    black = watching.wall(small, picture, "cls")
    assert np.asarray(wall).shape == np.asarray(black).shape


def test_the_time_lapse_holds_every_moment_of_a_run(run, tmp_path):
    file = tmp_path / "lapse.bin"
    assert timelapse.main([str(run[1]), "-o", str(file)]) == 0
    lapse = timelapse.read(file)
    assert [moment.step for moment in lapse.moments] == sorted({step for step in snapshot_steps(8) if step <= 8})
    last = lapse.moments[-1]
    assert last.mass.shape == last.habits.entropy.shape == (2, 2)
    seen = playground.Trace.from_bytes(last.trace)
    vit = playground.load(str(run[1] / f"snapshot-{last.step:06}.safetensors"), device="cpu")
    fresh = playground.trace(vit, playground.open_image(timelapse.SAMPLE.path))
    assert torch.allclose(seen.row(1, 0, (2, 3)), fresh.row(1, 0, (2, 3)), atol=1e-3)


def test_the_curve_is_an_average_of_stretches_and_losses_that_came_later_are_zero_before():
    history = [[20 * (i + 1), 1.0, *([2.0] if i > 1 else [])] for i in range(4)]
    assert timelapse.smoothed(history).tolist() == [[20, 1, 0], [40, 1, 0], [60, 1, 2], [80, 1, 2]]
    assert len(timelapse.smoothed([[i, 1.0] for i in range(5000)])) == timelapse.POINTS


def test_a_folder_without_snapshots_and_a_missing_file_are_told(tmp_path, capsys):
    assert timelapse.main([str(tmp_path)]) == 2
    assert "no snapshots" in capsys.readouterr().err
    with pytest.raises(PlaygroundError, match=r"playground\.timelapse"):
        timelapse.read(tmp_path / "none.bin")
