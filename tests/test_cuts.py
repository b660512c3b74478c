"""Cuts: the pass, every row, the pack and the texts that say them."""

import math
import re
import shlex

import pytest
import torch

import playground
from playground import cuts
from playground.__main__ import main
from playground.cuts import Shape
from playground.errors import PlaygroundError
from playground.tracing import Trace

SHAPE = Shape(("cls", "reg0", "reg1"), (8, 8), 3, 4)  # of the small ViT in conftest.py


def token(row: int, column: int) -> int:
    return 3 + 8 * row + column


def hears(cut: list[str] | str, layer: int, head: int, query: int, key: int) -> bool:
    heard = cuts.read(cut, SHAPE).heard(layer)
    return True if heard is None else bool(heard[head if len(heard) > 1 else 0, query, key])


def by_hand(vit, pixels, silent) -> torch.Tensor:
    """The whole pass in loops over heads and tokens: `silent(layer, head, query, key)` says who does not hear whom."""
    x, _ = vit.embed(pixels)
    for layer, block in enumerate(vit.blocks):
        y, attn = block.norm1(x)[0], block.attn
        d = vit.config.width // attn.heads
        q, k, v = (y @ w.T + b for w, b in zip(attn.qkv.weight.chunk(3), attn.qkv.bias.chunk(3), strict=True))
        mixed = torch.zeros_like(y)
        for head in range(attn.heads):
            part = slice(head * d, head * d + d)
            for i in range(len(y)):
                there = [j for j in range(len(y)) if not silent(layer, head, i, j)]
                e = torch.exp(q[i, part] @ k[there][:, part].T / math.sqrt(d))
                mixed[i, part] = (e / e.sum()) @ v[there][:, part]
        x = x + (mixed @ attn.proj.weight.T + attn.proj.bias)[None]
        x = x + block.mlp(block.norm2(x))
    return x[0]


def test_the_pass_is_the_same_as_one_in_loops_that_leaves_the_edges_out(small, picture):
    there, of = {token(7, 5), 0}, token(3, 2)
    cut = ["7,5+cls>3,2@1.0+2", "*>5,5@2"]
    seen = playground.trace(small, picture, cut=cut)

    def silent(layer, head, i, j):
        first = layer == 1 and head in (0, 2) and i in there and j == of
        return (first or (layer == 2 and j == token(5, 5))) and i != j

    with torch.no_grad():
        expected = by_hand(small, seen.input, silent)
    torch.testing.assert_close(seen.features(), expected, atol=1e-4, rtol=1e-4)
    assert (playground.trace(small, picture).features() - expected).abs().max() > 0.01, "the cut changes something"


def test_every_way_to_ask_for_a_weight_leaves_the_cut_edge_out(small, picture):
    seen = playground.trace(small, picture, cut="7,5>3,2@1.2")
    query, key = token(7, 5), token(3, 2)
    for head in range(4):
        zero = head == 2
        rows = (
            seen.row(1, head, (7, 5)), seen.rows(1, (7, 5))[head], seen.matrix(1, head)[query],
            seen.weights(1)[head, query], seen.weights(1, [(7, 5)])[head, 0],
        )  # fmt: skip
        for row in rows:
            assert (row[key] == 0) == zero
            assert row.sum().item() == pytest.approx(1, abs=1e-5)
            torch.testing.assert_close(row, rows[0], atol=1e-6, rtol=1e-5)
        assert (seen.column(1, head, (3, 2))[query] == 0) == zero
        assert (seen.columns(1, (3, 2))[head, query] == 0) == zero
    assert seen.row(1, 2, (7, 5), scale="off")[key] == 0
    assert torch.isfinite(seen.scores(1, 2, (7, 5))).all(), "the score is what it was; its weight is nothing"


def test_nothing_cut_is_the_pass_as_it_was(small, picture):
    assert torch.equal(playground.trace(small, picture, cut=[]).features(), playground.trace(small, picture).features())


@pytest.mark.parametrize("heads", [None, [2], [3, 1]])
@pytest.mark.parametrize("cut", ["7,5>3,2@1.2", "*>3x3", "*>*@1.3"])
def test_a_pack_carries_its_cuts(small, picture, heads, cut):
    seen = playground.trace(small, picture, cut=cut)
    again = Trace.from_bytes(seen.to_bytes([1], heads))
    assert again.cuts.texts == [cut]
    for held, head in enumerate(heads or range(4)):
        torch.testing.assert_close(again.row(1, held, (7, 5)), seen.row(1, head, (7, 5)), atol=2e-3, rtol=0)
        assert torch.equal(again.row(1, held, (7, 5)) == 0, seen.row(1, head, (7, 5)) == 0)


def test_rollout_goes_through_no_cut_edge(small, picture):
    alone = playground.trace(small, picture, cut=["*>*@0", "*>*@1", "*>*@2"])
    reached = alone.rollout((2, 2))
    assert reached[token(2, 2)].item() == pytest.approx(1, abs=1e-5)
    assert reached.sum().item() == pytest.approx(1, abs=1e-5)


def test_three_by_three_is_a_convolution_s_field():
    near = {token(r, c) for r in (3, 4, 5) for c in (1, 2, 3)}
    heard = cuts.read("*>3x3", SHAPE).heard(0)[0]
    assert set(heard[token(4, 2)].nonzero().flatten().tolist()) == near
    assert heard[token(0, 7)].sum() == 4, "a corner has three neighbours"
    assert heard[0].all(), "the class token has no place, and hears everybody"
    kept = cuts.read("*>3x3+cls", SHAPE).heard(0)[0]
    assert set(kept[token(4, 2)].nonzero().flatten().tolist()) == near | {0}


def test_what_a_text_means():
    assert not hears("7,5>3,2", 0, 0, token(7, 5), token(3, 2))
    assert hears("7,5>3,2", 0, 0, token(3, 2), token(7, 5)), "an edge has a direction"
    assert hears("7,5>3,2@1", 0, 0, token(7, 5), token(3, 2))
    assert not hears("7,5>3,2@1", 1, 3, token(7, 5), token(3, 2))
    assert hears("7,5>3,2@1.2", 1, 3, token(7, 5), token(3, 2))
    assert not hears("7,5>3,2@*.3", 2, 3, token(7, 5), token(3, 2))
    assert not hears("*>cls", 0, 0, token(0, 0), 0)
    assert hears("*>cls", 0, 0, 0, 0), "everybody hears themselves"
    assert not hears("*>*@2", 2, 1, token(0, 0), token(0, 1))
    assert not hears(["7,5>3,2", "7,5>cls"], 0, 0, token(7, 5), 0)


@pytest.mark.parametrize(
    ("cut", "says"),
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
def test_what_can_not_be_cut_gets_a_sentence(small, picture, cut, says):
    with pytest.raises(PlaygroundError) as refused:
        playground.trace(small, picture, cut=cut if isinstance(cut, list) else [cut])
    assert says in str(refused.value)


def test_an_ablated_head_gives_nothing_or_its_mean(small, picture):
    """By hand: what the heads mixed is what W_O gets, head beside head."""
    d = small.config.width // small.config.heads
    for text, head, to in (("zero@1.2", 2, "zero"), ("mean@1.2", 2, "mean")):
        seen = playground.trace(small, picture, cut=text)
        x, _ = small.embed(seen.input)
        with torch.no_grad():
            for layer, block in enumerate(small.blocks):
                y = block.norm1(x)
                q, k, v = block.attn.qkv(y).view(1, -1, 3, small.config.heads, d).permute(2, 0, 3, 1, 4)
                mixed = ((q @ k.mT / math.sqrt(d)).softmax(-1) @ v)[0].transpose(0, 1).flatten(1)  # (N, D)
                if layer == 1:
                    part = mixed[:, head * d : head * d + d]
                    part.copy_(torch.zeros_like(part) if to == "zero" else part.mean(0).expand_as(part))
                x = x + block.attn.proj(mixed)[None]
                x = x + block.mlp(block.norm2(x))
        torch.testing.assert_close(seen.features(), x[0], atol=1e-4, rtol=1e-4)
        assert torch.equal(seen.weights(1), playground.trace(small, picture).weights(1)), "nobody is cut from anybody"


def test_heads_are_named_in_few_texts():
    layers = {4: [3, 0, 0], 7: [0, 3], 5: [1]}
    assert cuts.of_heads(layers, "zero") == ["zero@4+7.0+3", "zero@5.1"]
    read = cuts.read(cuts.of_heads({0: [1, 3], 2: [1, 3]}, "mean"), SHAPE).all
    assert [(one.to, one.layers, one.heads, one.named_heads) for one in read] == [
        ("mean", (0, 2), (1, 3), "0.1, 0.3, 2.1, 2.3")
    ]
    assert cuts.read("zero@1", SHAPE).all[0].named_heads == "1.*"


def test_what_the_command_line_says_is_what_python_does(small, picture):
    """One text, and one method: the same pass."""
    plain = playground.trace(small, picture)
    ablated, typed = (
        plain.ablate(heads=[(1, 2), (2, 0)]),
        playground.trace(small, picture, cut=["zero@1.2", "zero@2.0"]),
    )
    assert ablated.cuts.texts == typed.cuts.texts
    assert torch.equal(ablated.features(), typed.features())


def test_a_figure_of_an_ablated_pass_names_the_command_that_makes_it_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = playground.trace("untrained", "meadow").ablate(heads=[(4, 0), (4, 2), (5, 3)], to="mean")
    playground.save(seen, "python.csv", layer=5, head=1, query=(7, 5))
    said = (tmp_path / "python.csv").read_text(encoding="utf-8")
    command = re.search(r"^# command: (?:python -m playground|attention-playground) (.*)$", said, re.M)[1]
    assert "--cut 'mean@4.0+2;mean@5.3'" in command
    *line, _ = shlex.split(command)
    assert main([*line, "typed.csv"]) == 0
    assert (tmp_path / "typed.csv").read_text(encoding="utf-8") == said
    playground.save(seen, "words.txt", layer=5, head=1, query=(7, 5))
    words = (tmp_path / "words.txt").read_text(encoding="utf-8")
    assert "At their mean over the tokens, in the whole forward pass: heads 4.0, 4.2." in words
