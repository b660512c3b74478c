"""Every attribution bears how far it can be trusted: the number is one of ranks made by hand, and stands in figures."""

import csv

import numpy as np
import pandas
import pytest
import torch

import playground
from playground.analysis import faithfulness, occlusion
from playground.analysis.occlusion import Asked
from playground.assets import FAITHFULNESS
from playground.figures.drawing.ways import WAYS

QUERY = (4, 4)
ATTRIBUTIONS = [name for name, way in WAYS.items() if way.attributes]


def ranks(values) -> np.ndarray:
    return pandas.Series(values).rank().to_numpy()


@pytest.mark.parametrize("method", ["gradient", "rollout"])
def test_it_is_the_correlation_of_ranks_of_what_moves(seen, method):
    found = seen.foretells(QUERY, method=method)
    side = occlusion.side_of(seen.grid)
    blocks = occlusion.blocks(seen.grid, side)
    x = seen.features()[seen.token(QUERY)]
    vit, moves, shares = seen.vit, [], []
    drawn = seen.rollout(QUERY) if method == "rollout" else seen.relevance(QUERY)
    for block in blocks:
        pixels = occlusion.blanked(seen.input, block, seen.patch_size)
        with torch.no_grad():
            y, x = (vit.norm(vit.features(one, seen.layers - 1))[0, seen.token(QUERY)] for one in (pixels, seen.input))
        moves.append(float((y - x).norm() / x.norm()))
        shares.append(float(seen.on_grid(drawn)[block].sum()))
    assert found.correlation == pytest.approx(np.corrcoef(ranks(shares), ranks(moves))[0, 1], abs=1e-4)
    assert (found.constant, found.blocks, found.by, found.pictures) == (0, len(blocks), "mean", 0)
    assert abs(found.random) < 0.8


def test_it_is_remembered_of_this_picture_this_patch_and_this_method_alone(small, picture):
    one, two = (playground.trace(small, picture) for _ in range(2))
    measured = one.foretells(QUERY)
    assert faithfulness.known(one, Asked(query=QUERY), "gradient") is measured
    for seen, query, method in ((two, QUERY, "gradient"), (one, (0, 0), "gradient"), (one, QUERY, "rollout")):
        assert faithfulness.known(seen, Asked(query=query), method) is None, "this model stands in no table"
    label = one.foretells(label=3)
    assert faithfulness.known(one, Asked(label=3), "gradient") is label
    assert faithfulness.known(one, Asked(label=2), "gradient") is None


def test_the_table_s_means_are_counted_from_its_lines():
    with FAITHFULNESS.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    models = {line["model"] for line in lines}
    assert {"bundled", "dinov2-small"} <= models
    for model in models:
        for method in faithfulness.WAYS:
            of = [
                float(line["rank_correlation"]) for line in lines if (line["model"], line["method"]) == (model, method)
            ]
            found = faithfulness.usual()[model][method]
            assert found.pictures == len(of) >= 4
            assert found.correlation == pytest.approx(sum(of) / len(of))
            assert (found.constant, found.blocks) == (0, 0)


def said(seen, file, **how) -> str:
    playground.save(seen, file, query=QUERY, **how)
    return file.read_text(encoding="utf-8")


@pytest.mark.parametrize("what", ATTRIBUTIONS)
def test_a_figure_and_its_numbers_bear_it(what, small, picture, tmp_path):
    known = playground.trace("bundled", "meadow")
    method = "gradient" if what == "relevance" else what
    usual = faithfulness.usual()["bundled"][method]
    words = f"mean of {usual.pictures} drawn scenes in our small ViT: {usual.correlation:.2f} (a random map"
    assert words in said(known, tmp_path / "a.txt", what=what)
    assert f"{usual.correlation:.2f}, mean of {usual.pictures}" in said(known, tmp_path / "a.csv", what=what)
    seen = playground.trace(small, picture)
    assert "was not measured in" in said(seen, tmp_path / "b.txt", what=what)
    assert "# rank correlation with blanking: not measured in this model" in said(seen, tmp_path / "b.csv", what=what)
    here = seen.foretells(QUERY, method=method)
    words = f"on this picture: {here.correlation:.2f} ({here.blocks} blocks, by the mean colour; a random map"
    assert words in said(seen, tmp_path / "c.txt", what=what)
    assert f"{here.correlation:.2f} on this picture" in said(seen, tmp_path / "c.csv", what=what)


def test_what_claims_nothing_bears_nothing(seen, tmp_path):
    for what in ("weight", "value", "similarity"):
        assert "blanking" not in said(seen, tmp_path / "a.txt", what=what, layer=1)


def test_a_model_that_went_on_learning_is_not_the_one_of_the_table():
    vit = playground.load("bundled")
    with torch.no_grad():
        vit.blocks[0].mlp.fc2.bias.add_(1)
    seen = playground.trace(vit, "meadow")
    assert faithfulness.known(seen, Asked(query=QUERY), "gradient") is None


def test_a_store_of_many_bears_it(small, picture, tmp_path):
    zarr = pytest.importorskip("zarr", reason="zarr is not installed")
    playground.trace_many([picture], small, what=("relevance", "entropy")).write(tmp_path / "out.zarr")
    held = zarr.open_group(tmp_path / "out.zarr", mode="r")
    assert held["relevance"].attrs["rank correlation with blanking"] == "not measured in this model"
    assert "rank correlation with blanking" not in held["entropy"].attrs
