"""Each step of the lesson on shapes shows what the real layer computes."""

import re
from pathlib import Path

import pytest
import torch
from conftest import scramble

import playground
from lessons.playing import parts_of
from playground.analysis.heads import disagreement
from playground.lessons import shapes
from playground.lessons.experiments import change_by_rotation, largest_difference
from playground.lessons.parts import Ask, Drawing
from playground.lessons.walk import steps_to_bytes, teaching_steps, tensors_of, vit_steps, walk_picture
from playground.pack import unpack
from playground.vit import QKV, Config, VisionTransformer, attention, attention_by_hand

ROOT = Path(__file__).parent.parent.parent
each_layer = pytest.mark.parametrize("steps", [vit_steps(), teaching_steps()], ids=["vit", "teaching"])


@each_layer
def test_the_lines_of_each_step_stand_so_in_the_source(steps):
    assert len(steps) == shapes.STEP_COUNT
    for step in (step.as_record() for step in steps):
        assert step["lines"]
        source = (ROOT / step["file"]).read_text(encoding="utf-8").split("\n")
        for line in step["lines"]:
            assert source[line["number"] - 1].strip() == line["text"]
            assert line["mark"] in line["text"]


@each_layer
def test_a_step_names_no_number_that_the_browser_does_not_know(steps):
    axis_names = {"batch", "tokens", "width", "dim", "chan", "heads", "d_k", "qkv", "scale"}
    for step in steps:
        assert {*step.axes, *re.findall(r"\{(\w+)\}", step.says)} <= axis_names
        assert re.findall(r"[{}]", step.formula + step.reckoning) == []


@torch.no_grad()
@pytest.mark.parametrize(
    "changes",
    [
        {"qk_norm": True, "layer_scale": True},
        {"positions": "rotary", "registers": 4},
        {"cls_token": False, "pool": "avg"},
    ],
    ids=str,
)
def test_the_walk_of_a_picture_gives_the_numbers_of_any_vit(picture, changes):
    vit = scramble(
        VisionTransformer(
            Config(image_size=(64, 64), patch_size=8, depth=3, width=48, mlp_width=96, heads=4, classes=10, **changes)
        )
    )
    walk = walk_picture(vit, picture, 1)
    trace = playground.trace(vit, picture)
    for walk_tensor, expected in zip(walk.tensors[2].values(), trace.record[1], strict=True):
        torch.testing.assert_close(walk_tensor[0], expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(walk.tensors[4]["weights"][0, 2], trace.matrix(1, 2), atol=1e-5, rtol=1e-5)
    assert len(walk.tokens) == trace.tokens
    assert walk.tokens[-1] == "patch (7, 7)"
    block, (x, rotation) = vit.blocks[0], vit.embed(trace.input)
    expected = x + block.ls1(block.attn(block.norm1(x), None, rotation)[0])
    torch.testing.assert_close(tensors_of(block, x, rotation)[-1]["sum"], expected, atol=1e-5, rtol=1e-5)
    assert all(list(tensors) == [*step.tensors] for step, tensors in zip(walk.steps, walk.tensors, strict=True))
    assert all(len(step.axes) == len(shape) for step, shape in zip(walk.steps, walk.shapes, strict=True))


def test_the_walk_of_a_large_picture_has_a_smaller_grid(picture):
    vit = scramble(
        VisionTransformer(Config(image_size=(512, 512), patch_size=8, depth=1, width=8, mlp_width=8, heads=1))
    )
    assert walk_picture(vit, picture, 0).shapes[0][1] <= 1 + 28 * 28


def test_the_browser_gets_the_tensors_once_and_is_told_what_was_cut(picture):
    vit = scramble(VisionTransformer(Config(image_size=(96, 96), patch_size=8, depth=1, width=48, heads=4)))
    walk = walk_picture(vit, picture, 0)
    header, arrays = unpack(steps_to_bytes(walk, "this"))
    assert header["numbers"] == {
        "batch": 1, "tokens": 145, "width": 48, "heads": 4, "d_k": 12, "qkv": 144, "scale": 0.289,
    }  # fmt: skip
    weights = walk.tensors[4]["weights"][0]
    assert abs(arrays["4-weights"] - weights[:, :64, :64].numpy()).max() < 1e-3
    assert header["steps"][4]["high"] == pytest.approx(float(weights.max()))
    head_queries = arrays["1-Q"]  # (heads, rows, d): the flat tensor's columns, head by head
    assert abs(head_queries[3] - walk.tensors[1]["Q"][0, :64, 36:48].numpy()).max() < 5e-3
    sections = [[group["section"] for group in step["groups"]] for step in header["steps"]]
    assert sections[1] == sections[2]  # splitting columns among heads computes nothing
    assert sections[8] == [*sections[0], *sections[7], "8-sum"]


@torch.no_grad()
@pytest.mark.parametrize("shape", [(1, 8, 4, 64), (13, 1, 100, 64), (1, 12, 197, 64)], ids=str)
def test_fused_attention_equals_attention_by_hand(shape):
    random = torch.Generator().manual_seed(1)
    qkv = QKV(*(torch.randn(shape, generator=random) for _ in range(3)))
    scale = shape[-1] ** -0.5
    assert (attention(*qkv, scale) - attention_by_hand(*qkv, scale)).abs().max() < 1e-5
    assert largest_difference(qkv, scale) < 1e-5
    assert change_by_rotation(qkv, scale) < 1e-5


def test_how_often_another_patch_contributes_most_is_what_a_loop_counts(small_trace):
    prefix_count, patches = len(small_trace.prefix), small_trace.tokens - len(small_trace.prefix)
    differing_counts = torch.zeros(small_trace.layers, small_trace.heads)
    for layer in range(small_trace.layers):
        out_matrix = small_trace.vit.blocks[layer].attn.proj.weight.detach()
        d = out_matrix.shape[0] // small_trace.heads
        for head in range(small_trace.heads):
            values = small_trace.record[layer].v[head] @ out_matrix[:, head * d : (head + 1) * d].T  # (tokens, D)
            for query in range(prefix_count, small_trace.tokens):
                row = small_trace.row(layer, head, query)
                added_lengths = [float((row[j] * values[j]).norm()) for j in range(prefix_count, small_trace.tokens)]
                differing_counts[layer, head] += int(row[prefix_count:].argmax()) != added_lengths.index(
                    max(added_lengths)
                )
    result = disagreement(small_trace)
    assert (result.queries, result.rows) == (patches, patches * small_trace.layers * small_trace.heads)
    torch.testing.assert_close(result.share, differing_counts / patches)
    assert 0 < result.overall < 1


def test_the_question_about_a_shape_stands_above_the_drawing_that_answers_it():
    parts = parts_of("shapes", "walk")
    kinds = [type(part) for part in parts if isinstance(part, Ask | Drawing)]
    assert kinds == [Ask, Drawing]
