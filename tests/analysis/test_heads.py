"""Head statistics against cases that can be worked out by hand."""

import dataclasses

import numpy as np
import pytest
import torch
from conftest import SMALL, scramble

import playground
from playground.analysis import heads
from playground.analysis.ablation import contributions
from playground.analysis.heads import Head, habit_name, measure_heads
from playground.tracing import Trace
from playground.vit import QKV, VisionTransformer

ROWS, COLUMNS = 6, 8
PATCHES = ROWS * COLUMNS
Y, X = (torch.arange(PATCHES) // COLUMNS, torch.arange(PATCHES) % COLUMNS)


def trace_of_weights(weights, prefix=("cls", "reg0"), picture=None) -> Trace:
    """A trace of one layer whose rows are these weights (heads, tokens, tokens): q is one-hot, k holds log weights."""
    tokens = weights.shape[-1]
    q = torch.eye(tokens).expand(len(weights), -1, -1)
    k = weights.clamp(min=1e-12).log().mT
    return Trace(
        model="by hand", size=(ROWS * 8, COLUMNS * 8), patch_size=8, prefix=prefix, native_scale=1.0, scale=1.0,
        record={0: QKV(q, k, None)}, layers=1, logits=None, predictions=(), input=picture, vit=None,
    )  # fmt: skip


def rows_of_patches(table, on_class=0.0, on_register=0.0):
    """Weights (1, tokens, tokens): rows of `table` (patches, patches), scaled to what the prefix tokens leave."""
    patch_share = 1 - on_class - on_register
    weights = torch.zeros(PATCHES + 2, PATCHES + 2)
    weights[:2, 0] = 1
    weights[2:, 0], weights[2:, 1], weights[2:, 2:] = on_class, on_register, table * patch_share
    return weights[None]


def only_head(table, **prefix_shares) -> Head:
    return measure_heads(trace_of_weights(rows_of_patches(table, **prefix_shares))).head(0, 0)


def left_neighbour():
    table = torch.zeros(PATCHES, PATCHES)
    table[torch.arange(PATCHES), Y * COLUMNS + (X - 1).clamp(min=0)] = 1  # at the left edge, the patch itself
    return table


def even_rows(is_allowed):
    return is_allowed / is_allowed.sum(-1, keepdim=True)


EVERYWHERE = even_rows(torch.ones(PATCHES, PATCHES))
NEIGHBOURS = even_rows(
    (((Y[:, None] - Y).abs() <= 1) & ((X[:, None] - X).abs() <= 1) & ~torch.eye(PATCHES).bool()).float()
)
HALVES = even_rows(((X[:, None] < 4) == (X < 4)).float())


@pytest.mark.parametrize(("rows", "columns"), [(1, 9), (9, 1), (2, 3), (2, 2)])
def test_offsets_that_a_small_grid_does_not_have_get_no_share(rows, columns):
    patches = rows * columns
    trace = trace_of_weights(even_rows(torch.ones(patches, patches))[None], prefix=())
    trace = dataclasses.replace(trace, size=(rows * 8, columns * 8))
    offsets = measure_heads(trace).offsets[0, 0]
    for (down, right), share in np.ndenumerate(offsets):
        queries = max(0, rows - abs(down - 3)) * max(0, columns - abs(right - 3))
        assert share == pytest.approx(1 / patches if 2 * queries >= patches else 0, abs=1e-5)


def test_one_patch_that_gets_most_weight_from_all_is_a_habit():
    table = torch.full((PATCHES, PATCHES), 0.1 / PATCHES)
    table[:, 13] += 0.9
    head = only_head(table)
    assert head.to_one == pytest.approx(0.9 + 0.1 / PATCHES, abs=1e-5)
    assert habit_name(head) == "one patch for all"
    assert habit_name(dataclasses.replace(head, colour=0.9, content=0.9)) == "one patch for all"
    assert only_head(EVERYWHERE).to_one == pytest.approx(1 / PATCHES, abs=1e-5)
    assert only_head(left_neighbour()).to_one < 0.05


def test_a_head_that_prefers_one_half_of_a_picture_has_content_and_colour():
    picture = torch.zeros(1, 3, ROWS * 8, COLUMNS * 8)
    picture[..., COLUMNS * 4 :] = 1  # black beside white
    habits = measure_heads(trace_of_weights(rows_of_patches(HALVES), picture=picture))
    assert habits.head(0, 0).colour == pytest.approx(1, abs=1e-4)
    assert habits.head(0, 0).content > 0.2
    even_head = measure_heads(trace_of_weights(rows_of_patches(EVERYWHERE), picture=picture)).head(0, 0)
    assert (even_head.colour, even_head.content) == pytest.approx((0, 0), abs=1e-4)


def test_content_equals_a_loop_s():
    table = even_rows(torch.rand(PATCHES, PATCHES, generator=torch.Generator().manual_seed(1)))
    edge_weights = {}
    for q, k in np.ndindex(PATCHES, PATCHES):
        edge_weights.setdefault((int(Y[k] - Y[q]), int(X[k] - X[q])), []).append(table[q, k].item())
    differences = []
    for q in range(PATCHES):
        row = torch.tensor([0.0 if k == q else table[q, k].item() for k in range(PATCHES)])
        expected_row = torch.tensor(
            [0.0 if k == q else np.mean(edge_weights[int(Y[k] - Y[q]), int(X[k] - X[q])]) for k in range(PATCHES)]
        )
        differences.append(((row / row.sum() - expected_row / expected_row.sum()).abs().sum() / 2).item())
    assert only_head(table).content == pytest.approx(np.mean(differences), abs=1e-4)


def test_the_effect_includes_the_gains_of_layer_scale(picture):
    vit = scramble(VisionTransformer(dataclasses.replace(SMALL, layer_scale=True)))
    with torch.no_grad():
        for block in vit.blocks:  # as in DINOv2, attention hardly changes some numbers of a token
            block.ls1.gamma.copy_(torch.linspace(0, 2, SMALL.width) ** 4)
    trace = playground.trace(vit, picture)
    added_lengths = contributions(trace, 1)[:, len(trace.prefix) :].norm(dim=-1).mean(-1)
    assert measure_heads(trace).effect[1] == pytest.approx((added_lengths / added_lengths.mean()).numpy(), abs=1e-4)


def test_every_number_of_a_real_trace_agrees_with_its_whole_matrices(small_trace):
    habits = measure_heads(small_trace)
    assert habits.entropy.shape == (small_trace.layers, small_trace.heads)
    weights = small_trace.matrix(2, 1)[len(small_trace.prefix) :]
    assert habits.entropy[2, 1] == pytest.approx(-(weights * weights.log2()).sum(-1).mean().item(), abs=1e-3)
    assert habits.to_registers[2, 1] == pytest.approx(weights[:, 1:3].sum(-1).mean().item(), abs=1e-5)
    assert habits.to_self[2, 1] == pytest.approx(weights[:, 3:].diagonal().mean().item(), abs=1e-5)


def test_a_trace_from_bytes_has_all_but_colour_and_effect(small_trace):
    with_image, without_image = measure_heads(small_trace), measure_heads(Trace.from_bytes(small_trace.to_bytes()))
    assert without_image.entropy == pytest.approx(with_image.entropy, abs=2e-2)
    assert np.isnan(without_image.colour).all()
    assert np.isnan(without_image.effect).all()
    assert without_image.habit_names()  # habits have names even without the picture


@pytest.mark.parametrize(
    ("table", "prefix_shares", "name"),
    [
        (torch.eye(PATCHES), {}, "looks at itself"),
        (left_neighbour(), {}, "fixed offset: left"),
        (NEIGHBOURS, {}, "local"),
        (EVERYWHERE, {}, "everywhere"),
        (EVERYWHERE, {"on_register": 0.7}, "class token or registers"),
        (EVERYWHERE, {"on_class": 0.3, "on_register": 0.3}, "class token or registers"),
    ],
)
def test_a_habit_has_the_name_that_its_numbers_support(table, prefix_shares, name):
    assert habit_name(only_head(table, **prefix_shares)) == name


def test_content_idle_and_mixed_heads_have_names_too():
    head = only_head(EVERYWHERE)
    object_head = dataclasses.replace(head, breadth=0.1, content=0.6, colour=0.4, effect=1.0)
    assert habit_name(object_head) == "same object or colour"
    assert habit_name(dataclasses.replace(object_head, near=0.6)) == "same object or colour"
    colour_blind = dataclasses.replace(object_head, colour=0.0)
    assert habit_name(colour_blind) == "no single habit"
    # `own_object`: the weight on the query's own object
    assert habit_name(colour_blind, own_object=0.8) == "same object or colour"
    assert habit_name(dataclasses.replace(object_head, effect=0.05)) == "idle"


@pytest.mark.parametrize("scale", [None, 1.0])
def test_the_report_of_all_heads_has_the_means_of_their_rows(small_trace, scale):
    rows, columns = small_trace.grid
    first_patch, count = len(small_trace.prefix), max(1, rows * columns // 20)
    report, habits = heads.head_report(small_trace, (0, 0), scale), measure_heads(small_trace)
    assert (report["tokens"], report["measured"]) == (small_trace.tokens, rows * columns)
    for index in (0, 11):
        numbers, (layer, head) = report["all"][index], divmod(index, small_trace.heads)
        assert (numbers["layer"], numbers["head"]) == (layer, head)
        weights = small_trace.matrix(layer, head, scale or small_trace.native_scale)[first_patch:].double()
        entropy = -(weights * weights.clamp(min=1e-30).log2()).sum(-1).mean()
        assert numbers["entropy"] == pytest.approx(entropy.item(), abs=1e-4)
        assert numbers["peak"] == pytest.approx(weights.max(-1).values.mean().item(), abs=1e-5)
        tokens = range(first_patch, small_trace.tokens)
        scores = [small_trace.scores(layer, head, i, scale or small_trace.native_scale).double() for i in tokens]
        assert numbers["deviation"] == pytest.approx(
            sum(row.std(correction=0).item() for row in scores) / len(scores), rel=1e-4
        )
        if scale is None:
            for name in ("distance", "to_one", "to_class", "to_registers"):
                assert numbers[name] == pytest.approx(getattr(habits, name)[layer, head], abs=1e-5), name
            assert numbers["differing"] == pytest.approx(heads.disagreement(small_trace).share[layer, head].item())
            patches = weights[:, first_patch:]
            surplus = (patches[0] - patches.mean(0)).clamp(min=0).view(rows, columns)
            far_weights = [float(surplus[y, x]) for y in range(rows) for x in range(columns) if max(y, x) > heads.REACH]
            assert numbers["far"] == pytest.approx(sum(sorted(far_weights)[-count:]), abs=1e-5)
