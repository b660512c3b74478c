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
    methods = "raw", "rollout", "gradient", "integrated", "attnlrp", "chefer", "legrad", "random", "constant"
    assert tuple(rows) == methods
    assert rows["constant"].rank_correlation == rows["constant"].saco == 0
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


@pytest.mark.parametrize("label", [4, None])
def test_saco_equals_a_loop_over_pairs_of_groups(small_trace, label):
    """Algorithm 1 of Wu et al. (2024), with what moves in place of the probability's fall."""
    target = Target(label=label) if label is not None else Target(query=(2, 5))
    map_ = small_trace.on_grid(small_trace.relevance(target.query, label))
    patches = sorted(range(map_.numel()), key=lambda patch: -float(map_.flatten()[patch]))
    starts = (0, 6, 13, 19, 26, 32, 39, 45, 52, 58)  # ten times 6 of 64 patches, as evenly as they go
    groups = [patches[start : start + 6] for start in starts]

    def answer(pixels):
        with torch.no_grad():
            x = small_trace.vit.features(pixels, small_trace.layers - 1)
            if label is None:
                return small_trace.vit.norm(x)[0, small_trace.token((2, 5))]
            logits = small_trace.vit.classify(x)[0]
        return logits[label] - max(logit for number, logit in enumerate(logits) if number != label)

    before, falls = answer(small_trace.input), []
    for group in groups:
        pixels, size = small_trace.input.clone(), small_trace.patch_size
        for row, column in (divmod(patch, 8) for patch in group):
            place = (0, slice(None), slice(row * size, (row + 1) * size), slice(column * size, (column + 1) * size))
            pixels[place] = small_trace.input[0].mean((1, 2))[:, None, None]
        after = answer(pixels)
        falls.append(float(before - after) if label is not None else float((after - before).norm() / before.norm()))
    score = total = 0.0
    for i in range(10):
        for j in range(i + 1, 10):
            weight = float(map_.flatten()[groups[i]].mean() - map_.flatten()[groups[j]].mean())
            score += weight if falls[i] >= falls[j] else -weight
            total += abs(weight)
    blanking = occlusion.Blanking(small_trace, target)
    assert occlusion.saco(map_, blanking) == pytest.approx(score / total, abs=1e-4)
    assert occlusion.saco(torch.ones(8, 8), blanking) == 0


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
    assert len(rows) == 3 * 9
    assert {row["picture"][-5:] for row in rows if row["pointing"]} == {"1.png"}
    assert all(row["pointing"] == "1.0000" for row in rows if row["pointing"])
    output = capsys.readouterr().out
    assert "| untrained | 2 | gradient | " in output
    assert "| untrained | 1 with masks | gradient | " in output
    unmasked = [row for row in rows if not row["pointing"]]
    mean = np.mean([float(row["deletion"]) for row in unmasked if row["method"] == "legrad"])
    assert f"{mean:.2f}" in next(line for line in output.splitlines() if "| legrad |" in line)


@pytest.mark.slow
def test_a_stopped_run_goes_on_and_another_version_s_table_is_left_alone(folder, tmp_path, monkeypatch, capsys):
    from playground.figures import faithfulness as command

    table_file, pictures = tmp_path / "table.csv", []
    real = command.faithfulness
    monkeypatch.setattr(command, "faithfulness", lambda trace, *others: pictures.append(1) or real(trace, *others))
    line = ["faithfulness", str(folder), "--models", "small", "--out", str(table_file), "--side", "32"]
    assert main(line) == 0
    lines = table_file.read_text().splitlines()
    table_file.write_text("\n".join(lines[:-4]) + "\n")  # stopped within the last picture
    assert main(line) == 0
    assert len(pictures) == 3 + 1
    assert sorted(table_file.read_text().splitlines()) == sorted(lines)
    table_file.write_text(lines[0].replace("saco,", "") + "\n")
    assert main(line) != 0
    assert "other columns" in capsys.readouterr().err


def test_masks_of_other_pictures_and_an_unknown_file_ending_are_errors(folder, tmp_path, capsys):
    (tmp_path / "in_masks" / "1.png").rename(tmp_path / "in_masks" / "else.png")
    assert main(["faithfulness", str(folder), "--out", str(tmp_path / "table.csv")]) != 0
    assert "has the name of a picture" in capsys.readouterr().err
    assert main(["faithfulness", str(folder), "--out", str(tmp_path / "table.txt")]) != 0
    assert "a .csv file" in capsys.readouterr().err
