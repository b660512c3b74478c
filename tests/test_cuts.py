"""The forward pass, every row and the pack of a trace with cuts; and the texts that describe cuts."""

import math
import re
import shlex
from pathlib import Path

import pytest
import torch

import playground
from playground import cuts
from playground.__main__ import main
from playground.cuts import Shape
from playground.errors import PlaygroundError
from playground.tracing import Trace

SHAPE = Shape(("cls", "reg0", "reg1"), (8, 8), 3, 4)  # the small ViT in conftest.py


def token(row: int, column: int) -> int:
    return 3 + 8 * row + column


def is_heard(cut: list[str] | str, layer: int, head: int, query: int, key: int) -> bool:
    edges = cuts.read(cut, SHAPE).heard(layer)
    return True if edges is None else bool(edges[head if len(edges) > 1 else 0, query, key])


def features_by_hand(vit, pixels, silent) -> torch.Tensor:
    """The whole pass in loops over heads and tokens. `silent(layer, head, query, key)` is true where the query does not
    attend to the key."""
    x, _ = vit.embed(pixels)
    for layer, block in enumerate(vit.blocks):
        y, attn = block.norm1(x)[0], block.attn
        d = vit.config.width // attn.heads
        q, k, v = (y @ w.T + b for w, b in zip(attn.qkv.weight.chunk(3), attn.qkv.bias.chunk(3), strict=True))
        mixed_values = torch.zeros_like(y)
        for head in range(attn.heads):
            part = slice(head * d, head * d + d)
            for i in range(len(y)):
                heard_keys = [j for j in range(len(y)) if not silent(layer, head, i, j)]
                exponentials = torch.exp(q[i, part] @ k[heard_keys][:, part].T / math.sqrt(d))
                mixed_values[i, part] = (exponentials / exponentials.sum()) @ v[heard_keys][:, part]
        x = x + (mixed_values @ attn.proj.weight.T + attn.proj.bias)[None]
        x = x + block.mlp(block.norm2(x))
    return x[0]


def test_the_pass_is_the_same_as_one_in_loops_that_leaves_the_edges_out(small, picture):
    cut_queries, cut_key = {token(7, 5), 0}, token(3, 2)
    cut = ["7,5+cls>3,2@1.0+2", "*>5,5@2"]
    trace = playground.trace(small, picture, cut=cut)

    def silent(layer, head, i, j):
        is_first_cut = layer == 1 and head in (0, 2) and i in cut_queries and j == cut_key
        return (is_first_cut or (layer == 2 and j == token(5, 5))) and i != j

    with torch.no_grad():
        expected = features_by_hand(small, trace.input, silent)
    torch.testing.assert_close(trace.features(), expected, atol=1e-4, rtol=1e-4)
    assert (playground.trace(small, picture).features() - expected).abs().max() > 0.01, "the cut changes something"


def test_every_way_to_ask_for_a_weight_leaves_the_cut_edge_out(small, picture):
    trace = playground.trace(small, picture, cut="7,5>3,2@1.2")
    query, key = token(7, 5), token(3, 2)
    for head in range(4):
        is_cut_head = head == 2
        rows = (
            trace.row(1, head, (7, 5)), trace.rows(1, (7, 5))[head], trace.matrix(1, head)[query],
            trace.weights(1)[head, query], trace.weights(1, [(7, 5)])[head, 0],
        )  # fmt: skip
        for row in rows:
            assert (row[key] == 0) == is_cut_head
            assert row.sum().item() == pytest.approx(1, abs=1e-5)
            torch.testing.assert_close(row, rows[0], atol=1e-6, rtol=1e-5)
        assert (trace.column(1, head, (3, 2))[query] == 0) == is_cut_head
        assert (trace.columns(1, (3, 2))[head, query] == 0) == is_cut_head
    assert trace.row(1, 2, (7, 5), scale="off")[key] == 0
    assert torch.isfinite(trace.scores(1, 2, (7, 5))).all(), "the score is what it was; its weight is nothing"


@pytest.mark.parametrize("heads", [None, [2], [3, 1]])
@pytest.mark.parametrize("cut", ["7,5>3,2@1.2", "*>3x3", "*>*@1.3"])
def test_a_pack_carries_its_cuts(small, picture, heads, cut):
    trace = playground.trace(small, picture, cut=cut)
    loaded_trace = Trace.from_bytes(trace.to_bytes([1], heads))
    assert loaded_trace.cuts.texts == [cut]
    for stored_head, head in enumerate(heads or range(4)):
        torch.testing.assert_close(
            loaded_trace.row(1, stored_head, (7, 5)), trace.row(1, head, (7, 5)), atol=2e-3, rtol=0
        )
        assert torch.equal(loaded_trace.row(1, stored_head, (7, 5)) == 0, trace.row(1, head, (7, 5)) == 0)


def test_rollout_goes_through_no_cut_edge(small, picture):
    lonely_trace = playground.trace(small, picture, cut=["*>*@0", "*>*@1", "*>*@2"])
    shares = lonely_trace.rollout((2, 2))
    assert shares[token(2, 2)].item() == pytest.approx(1, abs=1e-5)
    assert shares.sum().item() == pytest.approx(1, abs=1e-5)


def test_the_text_of_a_cut_says_which_edges_are_cut():
    assert not is_heard("7,5>3,2", 0, 0, token(7, 5), token(3, 2))
    assert is_heard("7,5>3,2", 0, 0, token(3, 2), token(7, 5)), "an edge has a direction"
    assert is_heard("7,5>3,2@1", 0, 0, token(7, 5), token(3, 2))
    assert not is_heard("7,5>3,2@1", 1, 3, token(7, 5), token(3, 2))
    assert is_heard("7,5>3,2@1.2", 1, 3, token(7, 5), token(3, 2))
    assert not is_heard("7,5>3,2@*.3", 2, 3, token(7, 5), token(3, 2))
    assert not is_heard("*>cls", 0, 0, token(0, 0), 0)
    assert is_heard("*>cls", 0, 0, 0, 0), "everybody hears themselves"
    assert not is_heard("*>*@2", 2, 1, token(0, 0), token(0, 1))
    assert not is_heard(["7,5>3,2", "7,5>cls"], 0, 0, token(7, 5), 0)


@pytest.mark.parametrize(
    ("cut", "sentence"),
    [
        ("7,5", "A cut is who > whom"), (7, "A cut is who > whom"), ("", "A cut is who > whom"),
        ("7,5>9,9", "There is no patch (9, 9)"), ("7,5>dist", "names patches as row,column"),
        ("7,5>3,2@3", "There is no layer '3'"), ("7,5>3,2@0.4", "There is no head '4'"), ("7,5>3,2@-1", "no layer"),
        ("7,5>7,5", "always hears itself"), ("*>*", "name a layer or a head"), ("cls>3x3", "only patches"),
        ("7,5+7,5>3,2", "the same twice"), ("7,5>3,2@1+1", "the same twice"),
        ("zero@*", "name a layer or a head"), ("zero", "zero@4.1"), ("half@1.2", "A cut is who > whom"),
        ("zero@3.0", "There is no layer '3'"), ("mean@0.4", "There is no head '4'"),
        (["7,5>3,2", "7,5>3,2"], "there twice"), ([f"0,0>{n // 8},{n % 8}" for n in range(1, 18)], "At most 16 cuts"),
    ],
)  # fmt: skip
def test_an_impossible_cut_gets_a_sentence(small, picture, cut, sentence):
    with pytest.raises(PlaygroundError) as refusal:
        playground.trace(small, picture, cut=cut if isinstance(cut, list) else [cut])
    assert sentence in str(refusal.value)


def test_a_figure_of_an_ablated_pass_names_the_command_that_makes_it_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trace = playground.trace("untrained", "meadow").ablate(heads=[(4, 0), (4, 2), (5, 3)], to="mean")
    playground.save(trace, "python.csv", layer=5, head=1, query=(7, 5))
    text = (tmp_path / "python.csv").read_text(encoding="utf-8")
    command = re.search(r"^# command: (?:python -m playground|attention-playground) (.*)$", text, re.M)[1]
    assert "--cut 'mean@4.0+2;mean@5.3'" in command
    *line, _ = shlex.split(command)
    assert main([*line, "typed.csv"]) == 0
    assert (tmp_path / "typed.csv").read_text(encoding="utf-8") == text
    playground.save(trace, "words.txt", layer=5, head=1, query=(7, 5))
    description = (tmp_path / "words.txt").read_text(encoding="utf-8")
    assert "At their mean over the tokens, in the whole forward pass: heads 4.0, 4.2." in description


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("residual", "residual@6"), ("residual@", "residual@6"), ("head@4", "head@4.1"), ("values@3.1", "residual@6"),
        ("residual@6:", "residual@6"), ("residual@6:7", "'7' stands in"), ("values@2+2", "the same twice"),
        ("mean@4.1>5.1", "head@4.1>5.3"), ("zero@4>5.1", "head@4.1>5.3"),
        ("residual@6:" + "7,5+" * 2000 + "7,5", "residual@6"),
    ],
)  # fmt: skip
def test_an_impossible_put_gets_a_sentence(text, sentence):
    with pytest.raises(PlaygroundError, match=re.escape(sentence)):
        cuts.read_put(text)


@pytest.mark.parametrize(
    ("text", "python_call"),
    [
        ("residual@3:7,5", lambda seen, other: seen.patch(other, 3, (7, 5))),
        (
            "values@2+3:7,5<3,2+cls",
            lambda seen, other: seen.patch(other, [2, 3], {(7, 5): (3, 2), "cls": "cls"}, "values"),
        ),
        ("mlp@*", lambda seen, other: seen.patch(other, range(6), what="mlp")),
        ("head@4.1+0", lambda seen, other: seen.patch(other, 4, what="head:0").patch(other, 4, what="head:1")),
        ("zero@1.0>4.5", lambda seen, other: seen.paths((1, 0), (4, 5)).through),
        ("head@1.0>4.5", lambda seen, other: seen.paths((1, 0), (4, 5), other).through),
        ("zero@2.1;residual@3:7,5", lambda seen, other: seen.ablate([(2, 1)], to="zero").patch(other, 3, (7, 5))),
    ],
)
def test_a_put_of_the_command_line_gives_the_row_of_python_s_method(text, python_call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen, other_trace = (playground.trace("bundled", name) for name in ("meadow", "flock"))
    other_options = ["--with-image", "flock"] if cuts.needs_other_picture(text.split(";")[-1]) else []
    line = ["figure", "meadow", "--model", "bundled", "--layer", "5", "--head", "1", "--patch", "7,5", "--cut", text]
    assert main([*line, *other_options, "-o", "typed.csv"]) == 0
    table_text = Path("typed.csv").read_text(encoding="utf-8")
    values = [float(line.rpartition(",")[2]) for line in table_text.splitlines() if line.startswith("bundled,")]
    row = python_call(seen, other_trace).row(5, 1, (7, 5))
    torch.testing.assert_close(torch.tensor(values), row[-len(values) :], atol=1e-6, rtol=1e-5)
    assert (row - seen.row(5, 1, (7, 5))).abs().max() > 1e-5, "it changes something"
    command = re.search(r"^# command: (?:python -m playground|attention-playground) (.*)$", table_text, re.M)[1]
    *command_words, _ = shlex.split(command)
    assert main([*command_words, "again.csv"]) == 0
    assert Path("again.csv").read_text(encoding="utf-8") == table_text


def test_a_put_needs_the_picture_that_it_is_taken_from(tmp_path, capsys):
    line = ["figure", "meadow", "--model", "untrained", "-o", str(tmp_path / "x.png")]
    assert main([*line, "--cut", "residual@3"]) != 0
    assert "name that picture, too (--with-image)" in capsys.readouterr().err
