"""Every attribution map and its figure state the rank correlation with blanking, which is computed by hand here."""

import csv
import re

import numpy as np
import pandas
import pytest
import torch

import playground
from playground.analysis import faithfulness, occlusion
from playground.analysis.occlusion import Target
from playground.assets import FAITHFULNESS
from playground.figures.drawing.ways import WAYS
from playground.relevance import DEFAULT_METHOD, SIGNED_METHODS

QUERY = (4, 4)
ATTRIBUTIONS = [name for name, way in WAYS.items() if way.attributes]


def ranks(values) -> np.ndarray:
    return pandas.Series(values).rank().to_numpy()


@pytest.mark.parametrize("method", ["gradient", DEFAULT_METHOD, "rollout"])
def test_foretold_is_the_rank_correlation_of_map_and_moves(small_trace, method):
    foretold = small_trace.foretells(QUERY, method=method)
    side = occlusion.side_of(small_trace.grid)
    blocks = occlusion.blocks(small_trace.grid, side)
    x = small_trace.features()[small_trace.token(QUERY)]
    vit, moves, relevance_sums = small_trace.vit, [], []
    map_ = small_trace.rollout(QUERY) if method == "rollout" else small_trace.relevance(QUERY, method=method)
    for block in blocks:
        pixels = occlusion.blanked_picture(small_trace.input, block, small_trace.patch_size)
        with torch.no_grad():
            y, x = (
                vit.norm(vit.features(image, small_trace.layers - 1))[0, small_trace.token(QUERY)]
                for image in (pixels, small_trace.input)
            )
        moves.append(float((y - x).norm() / x.norm()))
        relevance_sums.append(float(small_trace.on_grid(map_)[block].sum()))
    assert foretold.correlation == pytest.approx(np.corrcoef(ranks(relevance_sums), ranks(moves))[0, 1], abs=1e-4)
    assert (foretold.constant, foretold.blocks, foretold.by, foretold.pictures) == (0, len(blocks), "mean", 0)
    assert abs(foretold.random) < 0.8


def test_the_means_of_the_table_are_those_of_its_lines():
    with FAITHFULNESS.open(newline="", encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if not line["pointing"]]  # photographs, which have no masks
    models = {line["model"] for line in lines}
    assert {"bundled", "dinov2-small"} <= models
    for model in models:
        for method in faithfulness.MAP_METHODS:
            correlations = [
                float(line["rank_correlation"]) for line in lines if (line["model"], line["method"]) == (model, method)
            ]
            foretold = faithfulness.foretold_table()[model][method]
            assert foretold.pictures == len(correlations) >= 100
            assert foretold.correlation == pytest.approx(sum(correlations) / len(correlations))
            assert (foretold.constant, foretold.blocks) == (0, 0)


def saved_text(trace, file, **options) -> str:
    playground.save(trace, file, query=QUERY, **options)
    return file.read_text(encoding="utf-8")


@pytest.mark.parametrize("what", ATTRIBUTIONS)
def test_a_figure_and_its_numbers_state_the_correlation_with_blanking(what, small, picture, tmp_path):
    bundled_trace = playground.trace("bundled", "meadow")
    method = DEFAULT_METHOD if what == "relevance" else what
    expected = faithfulness.foretold_table()["bundled"][method]
    fact = f": {expected.correlation:.2f}, mean of {expected.pictures} photographs (a random map"
    assert f"blanking in our small ViT{fact}" in saved_text(bundled_trace, tmp_path / "a.txt", what=what)
    assert f"blanking{fact}" in saved_text(bundled_trace, tmp_path / "a.csv", what=what)
    trace = playground.trace(small, picture)
    sentence = r"Rank correlation with blanking in .*: not measured\."
    assert re.search(sentence, saved_text(trace, tmp_path / "b.txt", what=what))
    assert "# rank correlation with blanking: not measured" in saved_text(trace, tmp_path / "b.csv", what=what)
    foretold = trace.foretells(QUERY, method=method)
    fact = (
        f"{foretold.correlation:.2f}, on this picture, {foretold.blocks} blocks, by the mean colour (a random map"
    ).replace("-", "−")
    assert fact in saved_text(trace, tmp_path / "c.txt", what=what)
    assert fact in saved_text(trace, tmp_path / "c.csv", what=what)


def test_a_model_with_changed_weights_is_not_looked_up_in_the_table():
    vit = playground.load("bundled")
    with torch.no_grad():
        vit.blocks[0].mlp.fc2.bias.add_(1)
    trace = playground.trace(vit, "meadow")
    assert faithfulness.foretold_for(trace, Target(query=QUERY), "gradient") is None


@pytest.mark.parametrize("measure", ["rank_correlation", "saco"])
def test_the_default_method_foretells_best_of_those_with_a_sign(measure):
    scores = pandas.read_csv(FAITHFULNESS)
    means = scores[scores["pointing"].isna()].groupby(["model", "method"])[measure].mean()
    for model in ("bundled", "dinov2-small"):
        assert max(SIGNED_METHODS, key=lambda method: means[model, method]) == DEFAULT_METHOD
