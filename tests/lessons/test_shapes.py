"""Each step of the walk is what the real layer computes."""

import math
from pathlib import Path

import pytest
import torch
from conftest import scramble

import playground
from playground.analysis.contribution import differing
from playground.errors import PlaygroundError
from playground.lessons.fused import apart, measure, turned
from playground.lessons.shapes import EXAMPLES, Sizes, make_layer, walk, walk_block, walk_picture
from playground.lessons.steps import steps_to_bytes
from playground.pack import unpack
from playground.vit import QKV, Block, Config, VisionTransformer, attention, attention_by_hand

ROOT = Path(__file__).parent.parent.parent
EVERY = pytest.mark.parametrize("name", EXAMPLES)


def layer_and_tokens(sizes: Sizes):
    """The very ones that `walk` takes."""
    random = torch.Generator().manual_seed(0)
    x = torch.randn(sizes.batch, sizes.tokens, sizes.dim, generator=random)
    return make_layer(sizes, random), x


SHAPES = {  # as the worked examples have them: x; Q, K, V; in heads; scores and weights; A V; the last three
    "sentence": ((1, 4, 512), (1, 4, 512), (1, 8, 4, 64), (1, 8, 4, 4)),
    "one-head": ((13, 100, 49), (13, 100, 64), (13, 1, 100, 64), (13, 1, 100, 100)),
    "four-heads": ((13, 100, 49), (13, 100, 64), (13, 4, 100, 16), (13, 4, 100, 100)),
    "vit-b": ((1, 197, 768), (1, 197, 768), (1, 12, 197, 64), (1, 12, 197, 197)),
}


@EVERY
def test_the_shapes_of_the_examples_as_exact_integers(name):
    steps = walk(EXAMPLES[name])
    x, wide, deep, square = SHAPES[name]
    assert [step.shape for step in steps] == [x, wide, deep, square, square, deep, wide, wide, wide]
    assert all(tuple(t.shape) == step.shape for step in steps for t in step.tensors.values())
    assert all(len(step.axes) == len(step.shape) for step in steps)


@EVERY
@torch.no_grad()
def test_the_last_step_is_the_layer_s_own_output(name):
    layer, x = layer_and_tokens(EXAMPLES[name])
    last = walk(EXAMPLES[name])[-1].tensors["sum"]
    if isinstance(layer, Block):
        torch.testing.assert_close(last, x + layer.attn(layer.norm1(x), None, None)[0], atol=1e-5, rtol=1e-5)
    else:
        torch.testing.assert_close(last, layer(x), atol=1e-5, rtol=1e-5)


@EVERY
@torch.no_grad()
def test_each_step_against_plain_einsums(name):
    """Written anew, with one einsum per step and slices for the heads."""
    sizes = EXAMPLES[name]
    layer, x = layer_and_tokens(sizes)
    steps = {step.name: step.tensors for step in walk(sizes)}
    module = layer.attn if isinstance(layer, Block) else layer
    read = torch.nn.functional.layer_norm(x, (sizes.dim,), eps=1e-6) if isinstance(layer, Block) else x
    q, k, v = (torch.einsum("bnd,cd->bnc", read, w) for w in module.qkv.weight.split(sizes.chan))
    close = {"atol": 2e-5, "rtol": 1e-4}
    for got, wanted in zip(steps["Q, K, V"].values(), (q, k, v), strict=True):
        torch.testing.assert_close(got, wanted, **close)
    d = sizes.chan // sizes.heads
    for head in range(sizes.heads):
        own = slice(head * d, (head + 1) * d)
        scores = torch.einsum("bnc,bmc->bnm", q[..., own], k[..., own]) / math.sqrt(d)
        weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
        mixed = torch.einsum("bnm,bmc->bnc", weights, v[..., own])
        torch.testing.assert_close(steps["Heads"]["Q"][:, head], q[..., own], **close)
        torch.testing.assert_close(steps["Scores"]["scores"][:, head], scores, **close)
        torch.testing.assert_close(steps["Softmax"]["weights"][:, head], weights, **close)
        torch.testing.assert_close(steps["× V"]["A V"][:, head], mixed, **close)
        torch.testing.assert_close(steps["Concatenate"]["heads"][..., own], mixed, **close)
    answer = torch.einsum("bnc,oc->bno", steps["Concatenate"]["heads"], module.proj.weight)
    torch.testing.assert_close(steps["W_O"]["answer"], answer, **close)


@pytest.mark.parametrize("sizes", [Sizes(1, 4, 16, 16, 2), Sizes(2, 4, 7, 16, 2)], ids=["vit", "teaching"])
def test_the_lines_of_each_step_stand_so_in_the_source(sizes):
    for step in walk(sizes):
        assert step.lines
        source = (ROOT / step.file).read_text(encoding="utf-8").split("\n")
        for line in step.lines:
            assert source[line.number - 1].strip() == line.text
            assert line.mark in line.text


def test_with_another_width_the_skip_carries_the_values():
    steps = walk(Sizes(2, 5, 7, 12, 3))
    assert "V" in steps[-1].tensors
    assert "x" in walk(Sizes(2, 5, 12, 12, 3))[-1].tensors
    torch.testing.assert_close(steps[-1].tensors["V"], steps[1].tensors["V"])


@pytest.mark.parametrize(
    ("chan", "heads", "words"),
    [
        (100, 8, "among 8 heads: 4 left over. Possible are a width of 96 or 104, or 5 or 10 heads."),
        (7, 8, "a width of 8, or 7 heads"),
    ],
)  # fmt: skip
def test_an_impossible_width_is_explained_with_the_nearest_possible_numbers(chan, heads, words):
    with pytest.raises(PlaygroundError, match=words):
        walk(Sizes(1, 4, chan, chan, heads))


@pytest.mark.parametrize("chan", [5, 12, 64, 97])
def test_the_numbers_that_are_offered_are_possible_and_none_is_nearer(chan):
    for heads in (h for h in range(2, 25) if chan % h):
        with pytest.raises(PlaygroundError) as said:
            Sizes(1, 4, chan, chan, heads).check()
        near = [n for n in (chan // heads * heads, (chan // heads + 1) * heads) if n]
        assert f"a width of {' or '.join(map(str, near))}" in str(said.value)


def test_a_walk_that_would_fill_the_memory_is_refused_in_a_sentence():
    with pytest.raises(PlaygroundError, match="fewer tokens"):
        Sizes(64, 1024, 512, 512, 8).check()


@torch.no_grad()
@pytest.mark.parametrize(
    "how",
    [
        {"qk_norm": True, "layer_scale": True},
        {"positions": "rotary", "registers": 4},
        {"cls_token": False, "pool": "avg"},
    ],
    ids=str,
)
def test_a_picture_walks_through_any_vit(picture, how):
    vit = scramble(
        VisionTransformer(
            Config(image_size=(64, 64), patch_size=8, depth=3, width=48, mlp_width=96, heads=4, classes=10, **how)
        )
    )
    steps, names = walk_picture(vit, picture, 1)
    seen = playground.trace(vit, picture)
    for got, wanted in zip(steps[2].tensors.values(), seen.record[1], strict=True):
        torch.testing.assert_close(got[0], wanted, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(steps[4].tensors["weights"][0, 2], seen.matrix(1, 2), atol=1e-5, rtol=1e-5)
    assert len(names) == seen.tokens
    assert names[-1] == "patch (7, 7)"
    block, (x, rotation) = vit.blocks[0], vit.embed(seen.input)
    wanted = x + block.ls1(block.attn(block.norm1(x), None, rotation)[0])
    torch.testing.assert_close(walk_block(block, x, rotation)[-1].tensors["sum"], wanted, atol=1e-5, rtol=1e-5)


def test_a_large_picture_is_walked_on_a_grid_that_can_be_held(picture):
    vit = scramble(
        VisionTransformer(Config(image_size=(512, 512), patch_size=8, depth=1, width=8, mlp_width=8, heads=1))
    )
    steps, _ = walk_picture(vit, picture, 0)
    assert steps[0].shape[1] <= 1 + 28 * 28


def test_the_browser_gets_the_tensors_and_is_told_what_was_cut():
    steps = walk(EXAMPLES["vit-b"])
    header, arrays = unpack(steps_to_bytes(steps, [f"token {i}" for i in range(197)]))
    assert header["numbers"] == {"batch": 1, "tokens": 197, "width": 768, "heads": 12, "d_k": 64}
    weights = steps[4].tensors["weights"][0]
    assert abs(arrays["4-weights"] - weights[:, :64, :64].numpy()).max() < 1e-3
    assert header["steps"][4]["high"] == pytest.approx(float(weights.max()))
    joined = arrays["1-Q"]  # (heads, rows, d): the flat tensor's columns, head by head
    assert abs(joined[3] - steps[1].tensors["Q"][0, :64, 192:256].numpy()).max() < 5e-3


# The two attentions, and what a weight is not


@torch.no_grad()
@pytest.mark.parametrize("shape", [(1, 8, 4, 64), (13, 1, 100, 64), (1, 12, 197, 64)], ids=str)
def test_fused_equals_by_hand(shape):
    random = torch.Generator().manual_seed(1)
    qkv = QKV(*(torch.randn(shape, generator=random) for _ in range(3)))
    scale = shape[-1] ** -0.5
    assert (attention(*qkv, scale) - attention_by_hand(*qkv, scale)).abs().max() < 1e-5
    assert apart(qkv, scale) < 1e-5
    assert turned(qkv, scale) < 1e-5


def test_both_are_timed():
    twins = measure(16, heads=2, d=8, repeats=1)
    assert twins.by_hand > 0
    assert twins.fused > 0
    assert twins.apart < 1e-5


def test_how_often_another_patch_contributes_most_against_a_loop(seen):
    front, patches = len(seen.prefix), seen.tokens - len(seen.prefix)
    counted = torch.zeros(seen.layers, seen.heads)
    for layer in range(seen.layers):
        out = seen.vit.blocks[layer].attn.proj.weight.detach()
        d = out.shape[0] // seen.heads
        for head in range(seen.heads):
            values = seen.record[layer].v[head] @ out[:, head * d : (head + 1) * d].T  # (tokens, D)
            for query in range(front, seen.tokens):
                row = seen.row(layer, head, query)
                arriving = [float((row[j] * values[j]).norm()) for j in range(front, seen.tokens)]
                counted[layer, head] += int(row[front:].argmax()) != arriving.index(max(arriving))
    found = differing(seen)
    assert (found.queries, found.rows) == (patches, patches * seen.layers * seen.heads)
    torch.testing.assert_close(found.share, counted / patches)
    assert 0 < found.overall < 1
