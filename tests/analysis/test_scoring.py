"""Scores of relevance equal scores computed part by part, single out a planted patch, and fill a table."""

import csv

import pytest
import torch

import playground
from playground.__main__ import main
from playground.analysis import explain, occlusion
from playground.errors import PlaygroundError


def test_the_scores_are_those_of_the_curves_and_of_the_blocks(small_trace):
    target = occlusion.Target(label=3)
    scores = {score.method: score for score in explain.scores(small_trace, target, methods=["chefer"])}
    assert list(scores) == ["chefer", "rollout", "random"]
    measurement = occlusion.Blanking(small_trace, target)
    relevance = small_trace.on_grid(small_trace.relevance(label=3, method="chefer"))
    moves = measurement.moved(occlusion.blocks(small_trace.grid, 1))
    assert scores["chefer"].rank_correlation == pytest.approx(occlusion.foretells(relevance, 1, moves), abs=1e-6)
    assert scores["chefer"].deletion == pytest.approx(occlusion.deletion(relevance, measurement).area, abs=1e-6)
    assert scores["chefer"].insertion == pytest.approx(occlusion.insertion(relevance, measurement).area, abs=1e-6)


def test_for_a_label_that_depends_on_one_patch_relevance_scores_more_than_a_random_map(small, picture):
    """In every layer all tokens attend to one patch; the label is read from the class token."""
    trace = playground.trace(small, picture, cut=[f"*>{all_patches_but(6, 1)}"])
    patch_block = occlusion.blocks(trace.grid, 1)[8 * 6 + 1]
    margin_losses = [occlusion.Blanking(trace, occlusion.Target(label=i)).moved([patch_block])[0] for i in range(10)]
    target = occlusion.Target(label=margin_losses.index(max(margin_losses)))
    scores = {score.method: score for score in explain.scores(trace, target, methods=["chefer", "gradient"])}
    for method in ("chefer", "gradient"):
        assert scores[method].deletion > scores["random"].deletion, scores
    relevance_map = trace.relevance(label=target.label, method="chefer")
    assert relevance_map[trace.token((6, 1))] == relevance_map[3:].max()
    changes = occlusion.Blanking(trace, target).moved(occlusion.blocks(trace.grid, 1))
    assert torch.tensor(changes).abs().argmax() == 8 * 6 + 1


def all_patches_but(row: int, column: int) -> str:
    return "+".join(f"{r},{c}" for r in range(8) for c in range(8) if (r, c) != (row, column))


@pytest.mark.parametrize(
    ("query", "label", "expected"),
    [((1, 2), None, "1,2"), ("cls", None, "cls"), (None, 4, "class 4"), (None, None, "class ")],
)
def test_the_explained_answer_is_named(small_trace, query, label, expected):
    assert explain.target_words(small_trace, explain.answer_of(small_trace, query, label)).startswith(expected)


def test_a_patch_and_a_label_at_once_are_refused(small_trace):
    with pytest.raises(PlaygroundError, match="give one of the two"):
        explain.answer_of(small_trace, (1, 1), 3)


@pytest.fixture
def folder_of_two_pictures(tmp_path, monkeypatch, small, picture):
    from playground.figures import many

    monkeypatch.setattr(many, "load", lambda name, **more: small)
    folder = tmp_path / "pictures"
    folder.mkdir()
    picture.save(folder / "a.png")
    picture.rotate(90).save(folder / "b.png")
    return folder


def test_a_folder_becomes_a_table_with_a_line_for_each_picture_and_method(folder_of_two_pictures, tmp_path, capsys):
    table_file = tmp_path / "scores.csv"
    assert (
        main(["relevance", str(folder_of_two_pictures), "--out", str(table_file), "--patch", "4,4", "--by", "noise"])
        == 0
    )
    rows = list(csv.DictReader(table_file.open()))
    assert [row["method"] for row in rows[:6]] == ["gradient", "integrated", "chefer", "legrad", "rollout", "random"]
    assert len(rows) == 12
    assert {(row["answer"], row["blanked_by"]) for row in rows} == {("4,4", "noise")}
    assert all(-1 <= float(row["rank_correlation"]) <= 1 for row in rows)
    assert "mean of 2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--out", "x.txt"], "a .csv file"), (["--out", "x.csv", "--by", "black"], "not by 'black'"),
        (["--out", "x.csv", "--method", "magic"], "no method 'magic'"),
        (["--out", "x.csv", "--patch", "1,x"], "ROW,COLUMN"), (["--out", "x.csv", "--label", "cat"], "no label 'cat'"),
    ],
)  # fmt: skip
def test_wrong_arguments_of_the_command_get_a_sentence(
    folder_of_two_pictures, tmp_path, monkeypatch, capsys, arguments, sentence
):
    monkeypatch.chdir(tmp_path)
    assert main(["relevance", str(folder_of_two_pictures), *arguments]) == 2
    assert sentence in capsys.readouterr().err
