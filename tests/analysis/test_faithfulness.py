"""How far maps can be trusted: integrated gradients equal a loop with autograd, scores equal counts by hand."""

import csv
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

import playground
from playground import relevance
from playground.__main__ import main
from playground.analysis import occlusion
from playground.analysis.faithfulness import (
    Target,
    faithfulness,
    map_of,
    on_patches,
    pointing,
    segmentation,
    with_shuffled,
)  # fmt: skip


def test_integrated_gradients_equal_a_loop_with_autograd_and_sum_to_the_score_s_difference(small_trace, monkeypatch):
    monkeypatch.setattr(relevance, "STEPS", 200)
    vit, x, rotation = small_trace.entering()
    x = x.detach()
    blank_tokens = vit.embed(torch.zeros_like(small_trace.input))[0].detach()

    def score(tokens):
        for tokens, _ in vit.layers(tokens, rotation):  # noqa: B007, B020
            pass
        return vit.classify(tokens)[0, 4]

    gradient_sum = torch.zeros_like(x)
    for step in range(200):
        midpoint = (blank_tokens + (step + 0.5) / 200 * (x - blank_tokens)).requires_grad_()
        gradient_sum += torch.autograd.grad(score(midpoint), midpoint)[0] / 200
    expected = (gradient_sum * (x - blank_tokens)).sum(-1)[0]
    relevance_row = small_trace.relevance(label=4, method="integrated")
    torch.testing.assert_close(relevance_row, expected / expected.abs().sum(), atol=1e-5, rtol=1e-3)
    assert (relevance_row < 0).any(), "it has a sign"
    with torch.no_grad():
        assert float(expected.sum()) == pytest.approx(float(score(x) - score(blank_tokens)), abs=0.02)


def test_pointing_and_segmentation_equal_counts_by_hand():
    object_mask = torch.zeros(4, 4, dtype=torch.bool)
    object_mask[1:3, 1:3] = True
    map_ = torch.zeros(4, 4)
    map_[1, 1], map_[1, 2], map_[0, 0], map_[3, 3] = 4, 3, 2, 1
    assert pointing(map_, object_mask) == 1
    assert segmentation(map_, object_mask) == pytest.approx(2 / 6)
    assert pointing(-map_, object_mask) == pytest.approx(2 / 12), "the share of its largest patches that lie there"
    assert pointing(torch.ones(4, 4), object_mask) == pytest.approx(4 / 16)
    assert np.isnan(pointing(map_, torch.zeros(4, 4, dtype=torch.bool)))
    mask = Image.fromarray(np.pad(np.full((32, 32), 7, np.uint8), 16))
    assert torch.equal(on_patches(mask, (4, 4)), object_mask)


def test_the_scores_of_all_methods_and_of_both_controls_are_given(small_trace):
    shuffled_model = with_shuffled(small_trace.vit)
    mask = Image.fromarray(np.pad(np.full((32, 32), 255, np.uint8), 16))
    rows = {scores.method: scores for scores in faithfulness(small_trace, shuffled_model, mask)}
    assert list(rows) == ["raw", "rollout", "gradient", "integrated", "chefer", "legrad", "random", "constant"]
    assert rows["constant"].rank_correlation == 0
    assert rows["constant"].pointing == pytest.approx(16 / 64)
    label = int(small_trace.logits.argmax())
    measurement, side = occlusion.Blanking(small_trace, Target(label=label)), occlusion.side_of(small_trace.grid)
    moves = measurement.moved(occlusion.blocks(small_trace.grid, side))
    map_ = small_trace.on_grid(small_trace.relevance(label=label, method="integrated"))
    assert rows["integrated"].rank_correlation == pytest.approx(occlusion.foretells(map_, side, moves))
    assert rows["integrated"].deletion == pytest.approx(occlusion.deletion(map_, measurement).area)
    for method in ("raw", "gradient"):
        assert -1 <= rows[method].shuffled < 1
    assert np.isnan(rows["random"].shuffled)


def test_for_a_model_without_labels_the_maps_explain_a_patch_of_the_object(small, picture):
    small.config = replace(small.config, classes=0)
    small.head = torch.nn.Identity()
    trace = playground.trace(small, picture)
    mask = Image.fromarray(np.pad(np.full((32, 32), 255, np.uint8), 16))
    rows = list(faithfulness(trace, with_shuffled(small), mask))
    assert all(np.isfinite(scores.rank_correlation) for scores in rows)
    assert map_of(trace, Target(query=(4, 4)), "raw")[4, 4] == trace.row(-1, "mean", (4, 4))[trace.token((4, 4))]


@pytest.fixture
def folder(small, picture, tmp_path, monkeypatch):
    from playground.figures import faithfulness as command

    monkeypatch.setattr(command, "load", lambda name: small)
    (tmp_path / "in").mkdir()
    (tmp_path / "in_masks").mkdir()
    for number in range(3):
        picture.rotate(90 * number).save(tmp_path / "in" / f"{number}.png")
    Image.new("L", (120, 120), 255).save(tmp_path / "in_masks" / "1.png")
    return tmp_path / "in"


@pytest.mark.slow
def test_the_command_makes_a_line_for_each_picture_and_a_table(folder, tmp_path, capsys):
    table_file = tmp_path / "table.csv"
    assert main(["faithfulness", str(folder), "--models", "small", "--out", str(table_file)]) == 0
    rows = list(csv.DictReader(table_file.open()))
    assert len(rows) == 3 * 8
    assert {row["picture"][-5:] for row in rows if row["pointing"]} == {"1.png"}
    assert all(row["pointing"] == "1.0000" for row in rows if row["pointing"])
    output = capsys.readouterr().out
    assert "| untrained | 3 | gradient | " in output
    mean = np.mean([float(row["deletion"]) for row in rows if row["method"] == "legrad"])
    assert f"{mean:.2f}" in next(line for line in output.splitlines() if "| legrad |" in line)


def test_masks_of_other_pictures_and_an_unknown_file_ending_are_errors(folder, tmp_path, capsys):
    (tmp_path / "in_masks" / "1.png").rename(tmp_path / "in_masks" / "else.png")
    assert main(["faithfulness", str(folder), "--out", str(tmp_path / "table.csv")]) != 0
    assert "has the name of a picture" in capsys.readouterr().err
    assert main(["faithfulness", str(folder), "--out", str(tmp_path / "table.txt")]) != 0
    assert "a .csv file" in capsys.readouterr().err
