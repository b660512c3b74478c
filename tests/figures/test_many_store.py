"""The numbers of many pictures in a Zarr store; a stopped run continues."""

import math
import re
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import playground
from figures.many_pictures import assert_close, file_contents, trace_of_one
from playground import PlaygroundError
from playground.__main__ import main
from playground.errors import PlaygroundWarning
from playground.figures import many

MANY_PAGE = Path(__file__).parent.parent.parent / "docs" / "pages" / "many.md"


def test_without_zarr_a_sentence_says_what_to_install(small, pictures, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(PlaygroundError, match=r"attention-playground\[many\]"):
        playground.trace_many(pictures, small).write(tmp_path / "out.zarr")


class Stop(Exception):
    pass


def stops_after_three(pictures, **options):
    yield from islice(pictures, 3)
    raise Stop


def test_a_stopped_run_goes_on_and_writes_the_same(zarr, small, pictures, tmp_path, monkeypatch):
    run = playground.trace_many(pictures, small, ("weights:1", "entropy"), batch=2)
    whole_store = run.write(tmp_path / "whole.zarr")
    with pytest.raises(Stop):
        run.write(tmp_path / "out.zarr", stops_after_three)
    assert zarr.open_group(tmp_path / "out.zarr")["done"][:].tolist() == [True] * 3 + [False] * 2
    picture_numbers = []
    real_numbers_of = many.Many.numbers_of
    monkeypatch.setattr(
        many.Many,
        "numbers_of",
        lambda self, numbers, **options: picture_numbers.extend(numbers) or real_numbers_of(self, numbers, **options),
    )
    run.write(tmp_path / "out.zarr")
    assert picture_numbers == [3, 4]
    whole_group, resumed_group = (zarr.open_group(path) for path in (whole_store, tmp_path / "out.zarr"))
    for kind in ("weights", "entropy", "done", "token_row"):
        np.testing.assert_allclose(whole_group[kind][:], resumed_group[kind][:], atol=1e-6)
    with pytest.raises(PlaygroundError, match="other questions"):
        playground.trace_many(pictures, small, "entropy").write(tmp_path / "out.zarr")


def test_the_command_writes_a_store_once_and_nothing_again(zarr, pictures, tmp_path, capsys):
    store = tmp_path / "out.zarr"
    line = ["numbers", str(pictures), "--model", "untrained", "--what", "entropy", "-o", str(store)]
    assert main(line) == 0
    assert capsys.readouterr().out.strip() == str(store)
    assert zarr.open_group(store)["entropy"].shape == (5, 6, 6, 201)
    bytes_before = file_contents(store)
    assert main(line) == 0
    assert file_contents(store) == bytes_before
    assert "100%" in capsys.readouterr().err
    assert main([*line[:-1], str(tmp_path / "out.txt")]) == 2
    assert "written as .zarr;" in capsys.readouterr().err


def test_the_command_takes_a_model_s_weights(zarr, pictures, tmp_path):
    import timm
    from safetensors.torch import save_file

    file = tmp_path / "mine.safetensors"
    save_file(timm.create_model("vit_tiny_patch16_224", num_classes=7, depth=2).state_dict(), file)
    weights = ["--model", "vit_tiny_patch16_224", "--weights", str(file)]
    store = tmp_path / "out.zarr"
    assert main(["numbers", str(pictures), *weights, "--what", "features", "--device", "cpu", "-o", str(store)]) == 0
    assert zarr.open_group(store)["features"].shape == (5, 1, 197, 192)


def test_a_picture_that_can_not_be_read_stops_nobody_else(zarr, small, pictures, tmp_path):
    """Once, a damaged file ended a long run, and without this file the run could not be resumed."""
    run = playground.trace_many(pictures, small, "entropy", batch=2)
    bytes_of_whole = file_contents(run.write(tmp_path / "whole.zarr"))
    good_bytes = (pictures / "2.png").read_bytes()
    (pictures / "2.png").write_bytes(b"nothing")
    with pytest.warns(PlaygroundWarning, match=r"lacks the numbers of 1 of 5 pictures, .*2\.png"):
        run.write(tmp_path / "out.zarr")
    store = zarr.open_group(tmp_path / "out.zarr")
    assert store["done"][:].tolist() == [True, True, False, True, True]
    assert np.isnan(store["entropy"][2]).all()
    (pictures / "2.png").write_bytes(good_bytes)
    assert file_contents(run.write(tmp_path / "out.zarr")) == bytes_of_whole


def test_ctrl_c_ends_with_a_sentence_at_any_time_and_the_same_command_goes_on(
    zarr, pictures, tmp_path, monkeypatch, capsys
):
    from playground.figures import zarr_file

    def stop(*arguments):
        raise KeyboardInterrupt

    store = tmp_path / "out.zarr"
    line = ["numbers", str(pictures), "--model", "untrained", "--what", "entropy", "-o", str(store)]
    for function_name in ("_make_arrays", "_regions"):  # stops while the store is created, then while it is filled
        monkeypatch.setattr(zarr_file, function_name, stop)
        assert main(line) == 130
        assert "The same command goes on" in capsys.readouterr().err
        monkeypatch.undo()
        assert [path.name for path in sorted(tmp_path.iterdir())] == ["in", "out.zarr"][
            : 1 + (function_name == "_regions")
        ]
    assert main(line) == 0
    assert zarr.open_group(store)["done"][:].all()


@pytest.mark.filterwarnings("error")
def test_the_dimensions_are_called_as_the_documentation_calls_them(zarr, xarray, small, pictures, tmp_path):
    run = playground.trace_many(pictures, small, ("weights:1", "entropy", "features"))
    dataset = xarray.open_zarr(run.write(tmp_path / "out.zarr"))
    assert dict(dataset.sizes) == {
        "image": 5, "layer": 3, "head": 4, "query": 67, "token": 67, "width": 48,
    }  # fmt: skip
    documented_dims = dict(re.findall(r"^\| `(\w+)[:`][^|]*\| ([\w, ]+)", MANY_PAGE.read_text(encoding="utf-8"), re.M))
    for kind in ("weights", "entropy", "features"):
        assert dataset[kind].dims == ("image", *documented_dims[kind].strip().split(", "))
    assert dataset.entropy.mean("layer").dims == ("image", "head", "query")
    assert dataset.entropy.attrs["units"] == "bits"
    assert {"image", "layer", "token_row", "token_column", "query_row", "query_column"} == set(dataset.coords)
    assert dataset.token_row.values[3:].tolist() == [n // 8 for n in range(64)]
    assert float(dataset.entropy.max()) <= math.log2(67) + 1e-4


def test_a_picture_is_found_by_its_name_and_a_layer_by_its_number(zarr, xarray, small, pictures, tmp_path):
    run = playground.trace_many(pictures, small, ("weights:1", "features:0,2", "entropy"))
    dataset = xarray.open_zarr(run.write(tmp_path / "out.zarr"))
    picture_data = dataset.sel(image=str(pictures / "3.png"))
    seen = trace_of_one(small, pictures / "3.png")
    assert_close(picture_data.weights.sel(layer=1).values, seen.weights(1))
    assert_close(picture_data.features.sel(layer=2).values, seen.features(2))
    assert_close(picture_data.entropy.sel(layer=1).values, seen.entropy(1), 1e-4)
    # layers without these numbers are NaN, which a mean over layers skips
    assert np.isnan(picture_data.weights.sel(layer=[0, 2])).all()
    assert np.isnan(picture_data.features.sel(layer=1)).all()
    assert_close(picture_data.weights.mean("layer").values, seen.weights(1))
    folder = tmp_path / "out.zarr" / "weights" / "c"
    chunks = [file.relative_to(folder).parts for file in folder.rglob("*") if file.is_file()]
    assert {layer for _, layer, *_ in chunks} == {"1"}, "a layer that is not there takes no room"


def test_a_store_with_labels_has_their_names_and_one_of_another_cut_is_refused(zarr, xarray, small, pictures, tmp_path):
    from dataclasses import replace

    small.config = replace(small.config, labels=tuple("abcdefghij"))
    path = tmp_path / "labels.zarr"
    run = playground.trace_many(pictures, small, "labels", cut="*>cls@1")
    run.write(path)
    with xarray.open_zarr(path) as store:
        numbers = next(iter(run))
        label_share = store["labels"].sel(image=numbers.name, label="c")
        assert float(label_share) == pytest.approx(float(numbers.arrays["labels"][2]))
    with pytest.raises(PlaygroundError, match="other questions"):
        playground.trace_many(pictures, small, "labels").write(path)
