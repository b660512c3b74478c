"""Many pictures at once give what each gives alone, and a stopped run goes on."""

import copy
import json
import math
import os
import re
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import playground
from playground import PlaygroundError, tracing
from playground.__main__ import main
from playground.errors import PlaygroundWarning
from playground.figures import many

MANY = Path(__file__).parent.parent.parent / "docs" / "pages" / "many.md"
WHAT = ("weights:1,-1", "features", "entropy", "distance", "relevance")


@pytest.fixture
def pictures(picture, tmp_path):
    (tmp_path / "in").mkdir()
    for number in range(5):
        picture.rotate(40 * number).crop((0, 0, 120 - 9 * number, 120)).save(tmp_path / "in" / f"{number}.png")
    return tmp_path / "in"


def alone(vit, file):
    return playground.trace(vit, many._middle(playground.open_image(file), vit.config.image_size), size=(64, 64))


def close(found, expected, within=1e-5):
    torch.testing.assert_close(torch.from_numpy(found), expected, atol=within, rtol=1e-4)


@pytest.mark.parametrize("block", [many.BLOCK, 2000])
def test_each_picture_s_numbers_are_those_of_its_own_trace(small, pictures, block, monkeypatch):
    monkeypatch.setattr(many, "BLOCK", block)  # rows in one block, and in several
    every = list(playground.trace_many(sorted(pictures.iterdir())[:3], small, WHAT, batch=2))
    assert [one.name[-5:] for one in every] == [f"{n}.png" for n in range(3)]
    far = tracing.distances((8, 8))
    for one in every:
        seen = alone(small, one.name)
        tokens = range(seen.tokens)
        for at, layer in enumerate((1, 2)):
            close(one.arrays["weights"][at], seen.weights(layer))
        close(one.arrays["features"][0], seen.features())
        close(one.arrays["relevance"], seen.relevance("cls"), 1e-4)
        for layer in range(seen.layers):
            close(one.arrays["entropy"][layer], seen.entropy(layer, tokens), 1e-4)
            patches = seen.weights(layer)[:, 3:, 3:]
            close(one.arrays["distance"][layer][:, 3:], (patches * far).sum(-1) / patches.sum(-1), 1e-4)
            assert np.isnan(one.arrays["distance"][layer][:, :3]).all()


def test_only_a_batch_is_held_at_a_time(small, pictures, monkeypatch):
    opened = []
    whole = many.images.open_image
    monkeypatch.setattr(many.images, "open_image", lambda file: opened.append(file) or whole(file))
    seen = iter(playground.trace_many(sorted(pictures.iterdir()), small, "entropy", batch=1))
    next(seen)
    assert len(opened) <= 2  # this one, and the next, which is decoded meanwhile
    assert len(list(seen)) == 4


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("weights", "weights of which layers"), ("weights:9", "they count to 2"), ("weights:x", "of which layers"),
        ("size", "Of many pictures there are"), ("entropy:2", "Of many pictures there are"),
    ],
)  # fmt: skip
def test_what_can_not_be_asked_is_a_sentence(what, sentence, small, pictures):
    with pytest.raises(PlaygroundError, match=sentence):
        playground.trace_many(pictures, small, what)


def test_what_can_not_be_looked_at_is_a_sentence(small, pictures, tmp_path):
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "none", tmp_path / "empty"):
        with pytest.raises(PlaygroundError, match=r"no folder|no pictures"):
            playground.trace_many(folder, small)
    with pytest.raises(PlaygroundError, match="can't be cut into patches"):
        playground.trace_many(pictures, small, size=(63, 64))
    (pictures / "2.png").write_bytes(b"nothing")
    with pytest.raises(PlaygroundError, match=r"2\.png: "):
        list(playground.trace_many(pictures, small))


def test_without_zarr_a_sentence_says_what_to_install(small, pictures, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(PlaygroundError, match=r"attention-playground\[many\]"):
        playground.trace_many(pictures, small).write(tmp_path / "out.zarr")


# The store ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def zarr():
    return pytest.importorskip("zarr", reason="zarr is not installed: pip install zarr xarray")


class Stop(Exception):
    pass


class StopsAfterThree:
    def __init__(self, **how):
        self.n = 0

    def update(self, n):
        self.n += n
        if self.n == 3:
            raise Stop


def test_a_stopped_run_goes_on_and_writes_the_same(zarr, small, pictures, tmp_path, monkeypatch):
    every = playground.trace_many(pictures, small, ("weights:1", "entropy"), batch=2)
    whole = every.write(tmp_path / "whole.zarr")
    with pytest.raises(Stop):
        every.write(tmp_path / "out.zarr", StopsAfterThree)
    assert zarr.open_group(tmp_path / "out.zarr")["done"][:].tolist() == [True] * 3 + [False] * 2
    asked = []
    some = many.Many.some
    monkeypatch.setattr(many.Many, "some", lambda self, which, **how: asked.extend(which) or some(self, which, **how))
    every.write(tmp_path / "out.zarr")
    assert asked == [3, 4]
    one, two = (zarr.open_group(path) for path in (whole, tmp_path / "out.zarr"))
    for kind in ("weights", "entropy", "done", "token_row"):
        np.testing.assert_allclose(one[kind][:], two[kind][:], atol=1e-6)
    with pytest.raises(PlaygroundError, match="other questions"):
        playground.trace_many(pictures, small, "entropy").write(tmp_path / "out.zarr")


def test_a_finished_run_is_finished(zarr, pictures, tmp_path, capsys):
    line = ["numbers", str(pictures), "--model", "untrained", "--what", "entropy", "-o", str(tmp_path / "out.zarr")]
    assert main(line) == 0
    before = contents(tmp_path / "out.zarr")
    assert main(line) == 0
    assert contents(tmp_path / "out.zarr") == before
    assert "100 %" in capsys.readouterr().err


def test_a_netcdf_file_does_not_meet_another_run_s_store(zarr, small, pictures, tmp_path):
    pytest.importorskip("h5netcdf", reason="h5netcdf is not installed")
    store = playground.trace_many(pictures, small, "entropy").write(tmp_path / "out.zarr")
    before = contents(store)
    playground.trace_many(pictures, small, "distance").write(tmp_path / "out.nc")
    assert contents(store) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out.nc", "out.zarr"]


def test_the_command_takes_a_model_s_weights(zarr, pictures, tmp_path):
    import timm
    from safetensors.torch import save_file

    file = tmp_path / "mine.safetensors"
    save_file(timm.create_model("vit_tiny_patch16_224", num_classes=7, depth=2).state_dict(), file)
    weights = ["--model", "vit_tiny_patch16_224", "--weights", str(file)]
    out = tmp_path / "out.zarr"
    assert main(["numbers", str(pictures), *weights, "--what", "features", "--device", "cpu", "-o", str(out)]) == 0
    assert zarr.open_group(out)["features"].shape == (5, 1, 197, 192)


def test_a_picture_that_can_not_be_read_stops_nobody_else(zarr, small, pictures, tmp_path):
    """A run of hours ended at the first damaged file, and without it could not go on: its store was another run's."""
    every = playground.trace_many(pictures, small, "entropy", batch=2)
    whole = contents(every.write(tmp_path / "whole.zarr"))
    good = (pictures / "2.png").read_bytes()
    (pictures / "2.png").write_bytes(b"nothing")
    with pytest.warns(PlaygroundWarning, match=r"lacks the numbers of 1 of 5 pictures, .*2\.png"):
        every.write(tmp_path / "out.zarr")
    store = zarr.open_group(tmp_path / "out.zarr")
    assert store["done"][:].tolist() == [True, True, False, True, True]
    assert np.isnan(store["entropy"][2]).all()
    (pictures / "2.png").write_bytes(good)
    assert contents(every.write(tmp_path / "out.zarr")) == whole


def test_ctrl_c_is_a_sentence_at_any_time_and_the_same_command_goes_on(zarr, pictures, tmp_path, monkeypatch, capsys):
    from playground.figures import zarr_file

    def stop(*given):
        raise KeyboardInterrupt

    out = tmp_path / "out.zarr"
    line = ["numbers", str(pictures), "--model", "untrained", "--what", "entropy", "-o", str(out)]
    for where in ("_coordinate", "write_some"):  # while the store is made, while it is filled
        monkeypatch.setattr(zarr_file, where, stop)
        assert main(line) == 130
        assert "The same command goes on" in capsys.readouterr().err
        monkeypatch.undo()
        assert [path.name for path in sorted(tmp_path.iterdir())] == ["in", "out.zarr"][: 1 + (where == "write_some")]
    assert main(line) == 0
    assert zarr.open_group(out)["done"][:].all()


@pytest.fixture
def xarray():
    return pytest.importorskip("xarray", reason="xarray is not installed")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("suffix", [".zarr", ".nc"])
def test_the_dimensions_are_called_as_the_documentation_calls_them(zarr, xarray, small, pictures, tmp_path, suffix):
    every = playground.trace_many(pictures, small, ("weights:1", "entropy", "features"))
    held = opened(xarray, every.write(tmp_path / f"out{suffix}"))
    assert dict(held.sizes) == {
        "image": 5, "layer": 3, "head": 4, "query": 67, "token": 67, "width": 48,
    }  # fmt: skip
    documented = dict(re.findall(r"^\| `(\w+)[:`][^|]*\| ([\w, ]+)", MANY.read_text(encoding="utf-8"), re.M))
    for kind in ("weights", "entropy", "features"):
        assert held[kind].dims == ("image", *documented[kind].strip().split(", "))
    assert held.entropy.mean("layer").dims == ("image", "head", "query")
    assert held.entropy.attrs["units"] == "bits"
    assert {"image", "layer", "token_row", "token_column", "query_row", "query_column"} == set(held.coords)
    assert held.token_row.values[3:].tolist() == [n // 8 for n in range(64)]
    assert float(held.entropy.max()) <= math.log2(67) + 1e-4


@pytest.mark.parametrize("suffix", [".zarr", ".nc"])
def test_a_picture_is_found_by_its_name_and_a_layer_by_its_number(zarr, xarray, small, pictures, tmp_path, suffix):
    every = playground.trace_many(pictures, small, ("weights:1", "features:0,2", "entropy"))
    held = opened(xarray, every.write(tmp_path / f"out{suffix}"))
    one = held.sel(image=str(pictures / "3.png"))
    seen = alone(small, pictures / "3.png")
    close(one.weights.sel(layer=1).values, seen.weights(1))
    close(one.features.sel(layer=2).values, seen.features(2))
    close(one.entropy.sel(layer=1).values, seen.entropy(1), 1e-4)
    # what was not asked of a layer is not there, and a mean over the layers is that of those that are
    assert np.isnan(one.weights.sel(layer=[0, 2])).all()
    assert np.isnan(one.features.sel(layer=1)).all()
    close(one.weights.mean("layer").values, seen.weights(1))
    if suffix == ".zarr":
        chunks = [file.relative_to(tmp_path / "out.zarr" / "weights" / "c").parts for file in
                  (tmp_path / "out.zarr" / "weights" / "c").rglob("*") if file.is_file()]  # fmt: skip
        assert {layer for _, layer, *_ in chunks} == {"1"}, "a layer that is not there takes no room"


def opened(xarray, path):
    """As somebody opens it who knows nothing of us."""
    return xarray.open_zarr(path) if path.suffix == ".zarr" else xarray.open_dataset(path, engine="h5netcdf")


def test_a_store_of_an_earlier_version_is_refused_with_a_sentence(zarr, small, pictures, tmp_path):
    every = playground.trace_many(pictures, small, "entropy")
    described = every.write(tmp_path / "out.zarr") / "zarr.json"
    told = json.loads(described.read_text())
    del told["attributes"]["format"]
    described.write_text(json.dumps(told))
    before = contents(tmp_path / "out.zarr")
    with pytest.raises(PlaygroundError, match="was written by an earlier version"):
        every.write(tmp_path / "out.zarr")
    pytest.importorskip("h5netcdf", reason="h5netcdf is not installed")
    assert every.write(tmp_path / "out.nc").exists()
    assert contents(tmp_path / "out.zarr") == before


def test_the_command_writes_a_store(zarr, pictures, tmp_path, capsys):
    out = tmp_path / "out.zarr"
    line = ["numbers", str(pictures), "--model", "untrained", "--what", "entropy", "-o", str(out)]
    assert main(line) == 0
    assert capsys.readouterr().out.strip() == str(out)
    assert zarr.open_group(out)["entropy"].shape == (5, 6, 6, 201)
    assert main([*line[:-1], str(tmp_path / "out.txt")]) == 2
    assert "written as .zarr or .nc" in capsys.readouterr().err


def test_a_stopped_run_goes_on_in_the_same_company(small, pictures, monkeypatch):
    """A picture's numbers depend on its batch in their last bits."""
    every = playground.trace_many(pictures, small, "entropy", batch=2)
    seen = []
    monkeypatch.setattr(
        many.Many, "_pixels", lambda self, part: (seen.append(list(part)) or torch.zeros(2, 3, 64, 64), {})
    )
    assert [one.name[-5:] for one in every.some([3, 4])] == ["3.png", "4.png"]
    assert seen == [[2, 3], [4]]


def test_netcdf_holds_what_the_store_holds(zarr, small, pictures, tmp_path):
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    pytest.importorskip("h5netcdf", reason="h5netcdf is not installed")
    every = playground.trace_many(pictures, small, ("weights:1", "entropy"))
    store, file = every.write(tmp_path / "out.zarr"), every.write(tmp_path / "other.nc")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "other.nc", "out.zarr"]
    with xarray.open_zarr(store) as one, xarray.open_dataset(file, engine="h5netcdf") as two:
        assert one.sizes == two.sizes
        for name in one.variables:
            np.testing.assert_array_equal(one[name].values, two[name].values)
            assert one[name].dims == two[name].dims
        assert two.entropy.attrs["units"] == "bits"
        assert two.attrs["model"] == one.attrs["model"]
    with pytest.raises(PlaygroundError, match="is there already"):
        every.write(file)


# A cluster ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_worker_that_is_killed_changes_no_byte(zarr, small, pictures, tmp_path):
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    every = playground.trace_many(pictures, small, ("weights:1", "entropy", "relevance"), batch=1)
    alone = every.write(tmp_path / "alone.zarr")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:

        class KillsOne:
            def __init__(self, **how):
                pass

            def update(self, n):
                if victims:
                    os.kill(victims.pop(), signal.SIGKILL)

            def close(self):
                pass

        victims = [next(iter(cluster.workers.values())).pid]
        every.write(tmp_path / "together.zarr", KillsOne, dask=cluster.scheduler_address)
        assert not victims
    assert contents(tmp_path / "together.zarr") == contents(alone)


def contents(folder):
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_cluster_that_is_not_there_is_a_sentence(zarr, small, pictures, tmp_path, monkeypatch):
    from playground.figures import zarr_file

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(PlaygroundError, match=r"attention-playground\[cluster\]"):
        playground.trace_many(pictures, small).write(tmp_path / "out.zarr", dask="tcp://127.0.0.1:9")
    monkeypatch.undo()
    pytest.importorskip("distributed", reason="distributed is not installed")
    monkeypatch.setattr(zarr_file, "PATIENCE", 0.2)
    for address in ("tcp://127.0.0.1:9", "nonsense"):
        with pytest.raises(PlaygroundError, match="No scheduler of dask answers"):
            playground.trace_many(pictures, small).write(tmp_path / "out.zarr", dask=address)


# What is no number ----------------------------------------------------------------------------------------------------


def test_a_model_that_computes_no_numbers_is_a_sentence_before_anything_is_written(zarr, small, pictures, tmp_path):
    with torch.no_grad():
        small.blocks[1].attn.qkv.weight[5] = math.nan
    for what in ("weights:1", "features", "entropy", "distance", "relevance"):
        every = playground.trace_many(pictures, small, what, batch=2)
        with pytest.raises(PlaygroundError, match=r"computes what is no number .* for .*0\.png: its weights"):
            next(iter(every))
        with pytest.raises(PlaygroundError, match="computes what is no number"):
            every.write(tmp_path / f"{what[:4]}.zarr")
        assert not zarr.open_group(tmp_path / f"{what[:4]}.zarr")["done"][:].any()


def test_one_picture_without_numbers_stops_nobody_else(zarr, small, pictures, tmp_path, monkeypatch):
    """As in sixteen bits, where a bright picture may be too much."""
    every = playground.trace_many(pictures, small, "entropy", batch=5)
    compute = many.Many._pass

    def spoiled(self, *given):
        numbers = compute(self, *given)
        numbers["entropy"][2, 0, 0, 5] = np.nan
        return numbers

    monkeypatch.setattr(many.Many, "_pass", spoiled)
    with pytest.warns(PlaygroundWarning, match=r"lacks the numbers of 1 of 5 pictures, .*2\.png"):
        every.write(tmp_path / "out.zarr")
    assert zarr.open_group(tmp_path / "out.zarr")["done"][:].tolist() == [True, True, False, True, True]
    with pytest.raises(PlaygroundError, match=r"no number .* for .*2\.png"):
        list(every)


def test_logits_labels_norms_and_what_speaks_for_a_label_are_those_of_each_trace_also_where_edges_are_cut(
    small, pictures
):
    what = ("logits", "labels", "norms", "relevance_of:4,7", "weights:1", "entropy")
    files, cut = sorted(pictures.iterdir())[:3], ("2,3>4,4@1", "*>3x3@2.0")
    for one in playground.trace_many(files, small, what, batch=2, cut=cut):
        picture = many._middle(playground.open_image(one.name), (64, 64))
        seen = playground.trace(small, picture, size=(64, 64), cut=cut)
        close(one.arrays["logits"], seen.logits, 1e-4)
        close(one.arrays["labels"], seen.logits.softmax(-1), 1e-4)
        close(one.arrays["weights"][0], seen.weights(1))
        for layer in range(3):
            close(one.arrays["norms"][layer], seen.value_norms(layer), 1e-4)
            close(one.arrays["entropy"][layer], seen.entropy(layer), 1e-3)
        for at, label in enumerate((4, 7)):
            close(one.arrays["relevance_of"][at], seen.relevance(label=label), 1e-4)
        assert (one.arrays["relevance_of"] < 0).any(), "signed"


@pytest.mark.parametrize("method", ["integrated", "chefer", "legrad"])
def test_each_method_of_relevance_is_that_of_each_trace(small, pictures, method):
    files = sorted(pictures.iterdir())[:3]
    for one in playground.trace_many(files, small, ("relevance", "relevance_of:4"), batch=2, method=method):
        picture = many._middle(playground.open_image(one.name), (64, 64))
        seen = playground.trace(small, picture, size=(64, 64))
        close(one.arrays["relevance"], seen.relevance("cls", method=method), 1e-4)
        close(one.arrays["relevance_of"][0], seen.relevance(label=4, method=method), 1e-4)
    with pytest.raises(PlaygroundError, match="There is no method 'magic'"):
        playground.trace_many(files, small, "relevance", method="magic")


def test_a_store_with_labels_has_their_names_and_one_of_another_cut_is_refused(zarr, xarray, small, pictures, tmp_path):
    from dataclasses import replace

    small.config = replace(small.config, labels=tuple("abcdefghij"))
    where = tmp_path / "labels.zarr"
    every = playground.trace_many(pictures, small, ("labels", "relevance_of:c,j"), cut="*>cls@1")
    every.write(where)
    with xarray.open_zarr(where) as store:
        one = next(iter(every))
        found = store["labels"].sel(image=one.name, label="c")
        assert float(found) == pytest.approx(float(one.arrays["labels"][2]))
        assert store["relevance_of"].sel(about="j").shape == (5, 67)
    with pytest.raises(PlaygroundError, match="other questions"):
        playground.trace_many(pictures, small, ("labels", "relevance_of:c,j")).write(where)


@pytest.mark.parametrize(
    ("what", "cut", "sentence"),
    [
        ("relevance_of", (), "relevance_of which labels"),
        ("relevance_of:unicorn", (), "has no label 'unicorn'"),
        ("relevance_of:99", (), "labels are 0 to 9"),
        ("entropy", "7>3", "A cut names patches"),
    ],
)
def test_labels_and_cuts_that_can_t_be_are_sentences(small, pictures, what, cut, sentence):
    with pytest.raises(PlaygroundError, match=sentence):
        playground.trace_many(pictures, small, what, cut=cut)


def _narrow(vit, most):
    """As a card whose memory suffices for so many pictures."""
    usual = vit.blocks[1].attn.mix

    def mix(q, *given):
        if len(q) > most:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return usual(q, *given)

    vit.blocks[1].attn.mix = mix
    return vit


def test_a_batch_becomes_as_small_as_a_card_needs_it(small, pictures):
    whole = list(playground.trace_many(pictures, small, "features", batch=8))
    vit = _narrow(copy.deepcopy(small), 1)
    every = playground.trace_many(pictures, vit, "features", batch=8)
    for one, two in zip(whole, every, strict=True):
        np.testing.assert_allclose(one.arrays["features"], two.arrays["features"], atol=1e-5)
    assert min(every.room) == 1, "it is remembered"


def test_too_little_memory_of_a_card_is_a_sentence(small, pictures, picture):
    vit = _narrow(copy.deepcopy(small), 0)
    for work in (
        lambda: list(playground.trace_many(pictures, vit, "features")),
        lambda: playground.trace(vit, picture),
    ):
        with pytest.raises(
            PlaygroundError, match=r"over 1 × .* tokens keeps .* GB, and .* GB of cpu are free: .* would fit"
        ):
            work()


def test_a_sweep_takes_as_many_at_once_as_a_card_has_room_for(small, pictures):
    pytest.importorskip("xarray")
    asked = {"metric": "moved", "over": "heads", "progress": False}
    whole = playground.sweep(pictures, small, **asked)
    narrow = playground.sweep(pictures, _narrow(copy.deepcopy(small), 1), **asked)
    np.testing.assert_allclose(whole["value"], narrow["value"], atol=1e-6)
