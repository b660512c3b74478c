"""The numbers in a figure's files are those of the trace."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

import playground
from playground import PlaygroundError
from playground.__main__ import main
from playground.figures import Spec, files

SPEC = Spec(image="disc.png", model="small", layer=1, head=2, query=(3, 4))


def read_maps(path) -> list[tuple[dict, np.ndarray]]:
    """[(the map's keys, its values)] of a file, read with standard libraries."""
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            suffixes = ["", *(key.removeprefix("values") for key in arrays if key.startswith("values_"))]
            key_names = ("layer", "head", "patch", "scale")
            return [
                ({key: arrays[key + end][i].item() for key in key_names if key + end in arrays}, row)
                for end in suffixes
                for i, row in enumerate(arrays[f"values{end}"])
            ]
    if path.suffix == ".json":
        tables = json.loads(path.read_text())["tables"]
        return [(map_, np.array(map_["values"], np.float32)) for table in tables for map_ in table["maps"]]
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    values_by_map: dict[tuple, list] = {}
    for line in csv.DictReader(io.StringIO("\n".join(lines))):
        map_key = (line["model"], line["layer"], line["head"], line["patch"], line["scale"])
        values_by_map.setdefault(map_key, []).append(np.float32(line["value"]))
    return [
        ({"layer": int(layer), "head": int(head), "patch": patch, "scale": float(scale)}, np.array(values))
        for (_, layer, head, patch, scale), values in values_by_map.items()
    ]


@pytest.mark.parametrize("suffix", files.NUMBER_SUFFIXES)
@pytest.mark.parametrize("layout", ["head", "convolution", "heads", "wall", "scale"])
def test_the_numbers_are_the_trace_s_own_rows(small_trace, picture, tmp_path, suffix, layout):
    path = files.write_numbers(tmp_path / f"a{suffix}", replace(SPEC, layout=layout), small_trace, picture)
    maps = read_maps(path)
    assert len(maps) == {"heads": 4, "wall": 12, "scale": 2}.get(layout, 1)
    for map_keys, values in maps:
        query = tuple(map(int, map_keys["patch"].split(",")))
        row = small_trace.row(int(map_keys["layer"]), int(map_keys["head"]), query, map_keys["scale"])
        np.testing.assert_array_equal(values, row.numpy())
        assert values.sum() == pytest.approx(1, abs=1e-5)


def test_grid_tokens_predictions_and_where_it_comes_from_stand_in_the_file(small_trace, picture, tmp_path):
    record = json.loads(files.write_numbers(tmp_path / "a.json", SPEC, small_trace, picture).read_text())
    (table,) = record["tables"]
    assert table["grid"] == [8, 8]
    assert table["tokens"][:4] == ["cls", "reg0", "reg1", "0,0"]
    assert table["tokens"][-1] == "7,7"
    assert len(table["tokens"]) == len(table["maps"][0]["values"]) == small_trace.tokens
    assert table["predictions"] == [[label, pytest.approx(share, rel=1e-5)] for label, share in small_trace.predictions]
    assert record["figure"]["pixels"].startswith("sha256:")
    assert record["figure"]["command"].startswith("python -m playground figure disc.png")
    with np.load(files.write_numbers(tmp_path / "a.npz", SPEC, small_trace, picture)) as arrays:
        facts = json.loads(arrays["about"].item())
        assert facts == record["figure"] | {"command": record["figure"]["command"].replace("figure.json", "figure.npz")}
        assert arrays["tokens"].tolist() == table["tokens"]


def test_two_pictures_of_different_grids_stand_in_one_file(small, small_trace, picture, tmp_path):
    fine_trace = playground.trace(small, picture, size=(128, 128))
    spec = replace(SPEC, layout="compare", other_model="x")
    for suffix in files.NUMBER_SUFFIXES:
        first_map, second_map = read_maps(
            files.write_numbers(tmp_path / f"a{suffix}", spec, small_trace, picture, other=fine_trace)
        )
        assert (len(first_map[1]), len(second_map[1])) == (3 + 64, 3 + 256)
        np.testing.assert_array_equal(second_map[1], fine_trace.row(1, 2, (7, 9)).numpy())


@pytest.mark.parametrize("head", ["mean", "max"])
def test_the_mean_and_the_largest_of_all_heads_are_written_and_named(small_trace, picture, tmp_path, head):
    file = playground.save(small_trace, tmp_path / "a.npz", 1, head, (3, 4), image=picture)
    rows = small_trace.rows(1, (3, 4)).numpy()
    with np.load(file) as arrays:
        np.testing.assert_allclose(arrays["values"][0], getattr(rows, head)(0), rtol=1e-6)
    caption = " ".join(text.get_text() for text in playground.figure(small_trace, 1, head, (3, 4), image=picture).texts)
    assert {"mean": "the mean of all heads", "max": "the largest of all heads"}[head] in caption
    assert ("of 67 tokens" in caption) == (head == "mean")  # the heads' largest weights do not sum to 1: no breadth


def test_the_atlas_and_the_curves_have_numbers_too(small_trace, picture, tmp_path):
    from playground.analysis import heads

    path = playground.save(small_trace, tmp_path / "a.json", layout="atlas", image=picture)
    (table,) = json.loads(path.read_text())["tables"]
    offsets = heads.measure_heads(small_trace).offsets
    for map_ in table["maps"]:
        np.testing.assert_allclose(map_["values"], offsets[map_["layer"], map_["head"]].ravel(), rtol=1e-6)
    assert main(["figure", "--layout", "curves", "-o", str(tmp_path / "c.csv")]) == 0
    assert "deviation,none,median,d_k=64," in (tmp_path / "c.csv").read_text()


def test_the_command_line_writes_numbers_and_the_same_figure_is_the_same_file(picture, tmp_path):
    picture.save(tmp_path / "disc.png")
    for suffix in files.NUMBER_SUFFIXES:
        first_file, second_file = (tmp_path / f"{n}{suffix}" for n in "ab")
        for path in (first_file, second_file):
            assert main(["figure", str(tmp_path / "disc.png"), "--model", "untrained", "-o", str(path)]) == 0
        assert first_file.read_bytes() == second_file.read_bytes()


def test_an_anonymous_file_of_numbers_names_nobody(small_trace, picture, tmp_path):
    spec = replace(SPEC, image="/home/jane/jane.png", anonymous=True)
    for suffix in (".csv", ".json"):
        text_of_file = files.write_numbers(tmp_path / f"a{suffix}", spec, small_trace, picture).read_text()
        assert not any(word in text_of_file for word in ("jane", "sha256", "python -m"))


def test_another_kind_of_file_is_refused_in_a_sentence(small_trace, picture, tmp_path):
    with pytest.raises(PlaygroundError, match=r"Numbers are written as \.npz, \.csv, \.json"):
        files.write_numbers(tmp_path / "a.xlsx", SPEC, small_trace, picture)
