"""Sweeps give the numbers of loops that run the whole network for each variant, also if a run is stopped."""

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import SMALL

import playground
from playground import PlaygroundError
from playground.errors import PlaygroundWarning
from playground.figures import sweeping

pytest.importorskip("xarray")
zarr = pytest.importorskip("zarr")


@pytest.fixture
def labelled_vit(small):
    small.config = replace(small.config, labels=tuple("abcdefghij"))
    return small


@pytest.fixture
def pictures(picture, tmp_path):
    for number in range(5):
        folder = tmp_path / "in" / ("b" if number < 3 else "e")
        folder.mkdir(parents=True, exist_ok=True)
        picture.rotate(40 * number).crop((0, 0, 120, 120)).save(folder / f"{number}.png")
    return tmp_path / "in"


def margin(logits, label):
    return float(logits[label] - max(x for i, x in enumerate(logits) if i != label))


def labelled_traces(vit, pictures):
    for file in sorted(pictures.rglob("*.png")):
        yield str(file), playground.trace(vit, file, size=(64, 64)), "abcdefghij".index(file.parent.name)


def without_head(vit, layer, head):
    vit, d = copy.deepcopy(vit), SMALL.width // SMALL.heads
    vit.blocks[layer].attn.proj.weight.data[:, head * d : (head + 1) * d] = 0
    return vit


def test_each_head_off_is_a_network_without_its_columns(labelled_vit, pictures):
    dataset = playground.sweep(pictures, labelled_vit, metric="margin", over="heads", to="zero", progress=False)
    assert dataset["value"].dims == ("image", "layer", "head")
    assert dataset["value"].shape == (5, 3, 4)
    for name, seen, label in labelled_traces(labelled_vit, pictures):
        picture_data = dataset.sel(image=name)
        assert str(picture_data["class"].values) == "abcdefghij"[label]
        assert float(picture_data["before"]) == pytest.approx(margin(seen.logits, label), abs=1e-4)
        for layer in range(3):
            for head in range(4):
                logits = without_head(labelled_vit, layer, head)(seen.input)[0].detach()
                assert float(picture_data["value"][layer, head]) == pytest.approx(margin(logits, label), abs=1e-4)
    change = (dataset["value"] - dataset["before"]).values
    np.testing.assert_allclose(dataset["mean"].sel(label="all"), change.mean(0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(dataset["mean"].sel(label="b"), change[:3].mean(0), rtol=1e-4, atol=1e-5)
    assert (dataset["low"] <= dataset["mean"] + 1e-6).all()
    assert (dataset["mean"] <= dataset["high"] + 1e-6).all()


def test_an_interval_covers_the_mean_as_often_as_it_says():
    random = np.random.default_rng(3)
    covered_count = 0
    for seed in range(200):
        _, low, high = sweeping.bootstrap(random.normal(1.0, 2.0, size=(40, 1)), draws=400, seed=seed)
        covered_count += bool(low[0] <= 1.0 <= high[0])
    assert 0.88 <= covered_count / 200 <= 0.99


def test_a_sweep_over_layers_and_positions_gives_the_numbers_of_a_loop(labelled_vit, pictures):
    files = sorted(pictures.rglob("*.png"))[:2]
    dataset = playground.sweep(files, labelled_vit, "moved", "layers x positions", blocks=4, progress=False)
    assert dataset["value"].dims == ("image", "layer", "row", "column")
    assert dataset["row"].values.tolist() == [0, 4]
    trace = playground.trace(labelled_vit, files[1], size=(64, 64))
    final_tokens = trace.features()
    for row, column in ((0, 0), (1, 0), (1, 1)):
        for layer in range(3):
            patches = [(r, c) for r in range(row * 4, row * 4 + 4) for c in range(column * 4, column * 4 + 4)]
            tokens = [trace.token(patch) for patch in patches]

            def blank(x, tokens=tokens):
                x = x.clone()
                x[0, tokens] = x[0, 3:].mean(0)
                return x

            changed_tokens = trace.again({f"layers.{layer}.residual": blank}).features()
            expected = ((changed_tokens - final_tokens).norm(dim=-1) / final_tokens.norm(dim=-1)).mean()
            assert float(dataset["value"][1, layer, row, column]) == pytest.approx(float(expected), rel=1e-3)


def test_clean_tokens_put_into_a_corrupt_pass_are_patching_one_block_after_the_other(labelled_vit, pictures):
    files = sorted(pictures.rglob("*.png"))
    clean, corrupt = files[:2], files[3:5]
    options = {
        "over": "layers × positions",
        "corrupt": corrupt,
        "blocks": 4,
        "labels": {file.name: 2 for file in clean},
        "progress": False,
    }
    dataset = playground.sweep(clean, labelled_vit, "margin", **options)
    traces = [playground.trace(labelled_vit, file, size=(64, 64)) for file in (clean[1], corrupt[1])]
    assert float(dataset["clean"][1]) == pytest.approx(margin(traces[0].logits, 2), abs=1e-4)
    assert float(dataset["before"][1]) == pytest.approx(margin(traces[1].logits, 2), abs=1e-4)
    for layer, row, column in ((0, 0, 0), (1, 1, 0), (2, 1, 1)):
        patches = [(r, c) for r in range(row * 4, row * 4 + 4) for c in range(column * 4, column * 4 + 4)]
        patched = traces[1].patch(traces[0], layer, positions=patches)
        assert float(dataset["value"][1, layer, row, column]) == pytest.approx(margin(patched.logits, 2), abs=1e-4)
    with pytest.raises(PlaygroundError, match=r"one picture for each of 2, .* given were 1"):
        playground.sweep(clean, labelled_vit, "moved", "layers × positions", corrupt=corrupt[:1])


def test_a_metric_of_one_s_own_gets_logits_or_features(labelled_vit, pictures):
    def doubled_logit(logits, label):
        return logits[:, 2] * 2

    def length(tokens, label):
        return tokens[:, 0].norm(dim=-1)

    length.of = "features"
    files = sorted(pictures.rglob("*.png"))[:2]
    dataset = playground.sweep(files, labelled_vit, doubled_logit, to="zero", progress=False)
    logits = without_head(labelled_vit, 1, 3)(playground.trace(labelled_vit, files[0], size=(64, 64)).input)[0]
    assert float(dataset["value"][0, 1, 3]) == pytest.approx(2 * float(logits[2].detach()), abs=1e-4)
    dataset = playground.sweep(files, labelled_vit, length, to="zero", progress=False)
    trace = playground.trace(labelled_vit, files[0], size=(64, 64))
    assert float(dataset["before"][0]) == pytest.approx(float(labelled_vit.norm(trace.features())[0].norm()), rel=1e-4)


def test_labels_come_from_folders_or_a_table(labelled_vit, pictures):
    (pictures / "b").rename(pictures / "kittens")
    with pytest.raises(
        PlaygroundError, match=r"of the folder 'kittens', which is no label.*labels=\{'kittens': a label\}"
    ):
        playground.sweep(pictures, labelled_vit, progress=False)
    sweep_by_table = playground.sweep(pictures, labelled_vit, labels={"kittens": "b"}, progress=False)
    assert sweep_by_table["class"].values.tolist() == ["e", "e", "b", "b", "b"]
    sweep_by_name = playground.sweep(pictures, labelled_vit, labels={"kittens": "b", "4.png": "7"}, progress=False)
    assert sorted(sweep_by_name["class"].values.tolist()) == ["b", "b", "b", "e", "h"]


def test_a_class_with_one_picture_has_no_interval_and_says_so(labelled_vit, pictures):
    (pictures / "e" / "4.png").unlink()
    with pytest.warns(PlaygroundWarning, match="A class of one picture has numbers, but no interval: e"):
        dataset = playground.sweep(pictures, labelled_vit, progress=False)
    assert np.isnan(dataset["low"].sel(label="e")).all()
    assert not np.isnan(dataset["mean"].sel(label="e")).any()


def test_what_a_metric_raises_is_raised_and_a_store_keeps_what_was_done(labelled_vit, pictures, tmp_path):
    files = sorted(pictures.rglob("*.png"))
    fragile_logits = playground.trace(labelled_vit, files[3], size=(64, 64)).logits

    def fragile(logits, label):
        if torch.allclose(logits[0], fragile_logits, atol=1e-5):
            raise ZeroDivisionError("there is nothing")
        return logits[:, 0]

    labels = {file.name: 0 for file in files}
    with pytest.raises(ZeroDivisionError, match="there is nothing"):
        playground.sweep(files, labelled_vit, fragile, labels=labels, progress=False, out=tmp_path / "out.zarr")
    assert zarr.open_group(tmp_path / "out.zarr")["done"][:].tolist() == [True] * 3 + [False] * 2


def test_a_picture_that_can_not_be_read_is_named_and_the_others_are_there(labelled_vit, pictures):
    (pictures / "b" / "1.png").write_bytes(b"nothing")
    with pytest.warns(PlaygroundWarning, match=r"lacks the numbers of 1 of 5 pictures, .*1\.png"):
        dataset = playground.sweep(pictures, labelled_vit, progress=False)
    assert len(dataset["image"]) == 4
    assert np.isfinite(dataset["value"]).all()


def test_what_an_intervention_leaves_alone_is_computed_once(labelled_vit, pictures):
    """Layers before an intervention run once: 144 heads in 12 layers cost 79 passes, not 145. This test has 12 heads
    in 3 layers."""
    row_count = 0

    def count(module, arguments, out):
        nonlocal row_count
        row_count += len(out)

    for block in labelled_vit.blocks:
        block.mlp.register_forward_hook(count)
    prepared_sweep = sweeping.prepared_sweep(sorted(pictures.rglob("*.png"))[:1], labelled_vit, "moved", "heads")
    list(prepared_sweep)
    assert row_count / 3 == pytest.approx(1 + 4 * (3 + 2 + 1) / 3)


WRONG_OPTIONS = [
    ({"over": "hats"}, "A sweep is over heads, layers × positions; given"),
    ({"metric": "beauty"}, r"A metric is margin, accuracy, moved or a function; given was 'beauty'"),
    ({"over": "layers × positions", "blocks": 99}, "the side of a block, 1 to 8 patches"),
    ({"labels": 7}, "labels= is a table"),
    ({"metric": lambda logits, label: logits[0, 0]}, r"a number for each of 4 passes; it gave 1"),
    ({"metric": lambda logits, label: logits[:, 0] * math.nan}, r"the metric is no number"),
]


@pytest.mark.parametrize("number", range(len(WRONG_OPTIONS)))
def test_impossible_sweeps_are_refused_in_a_sentence(labelled_vit, pictures, number):
    options, sentence = WRONG_OPTIONS[number]
    with pytest.raises(PlaygroundError, match=sentence):
        playground.sweep(pictures, labelled_vit, progress=False, **options)
