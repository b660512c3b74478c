"""What takes weight from everybody, and what it hands over; the parts of what a head writes."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from twins import in_javascript

import playground
from playground.analysis.ablation import contributions
from playground.analysis.sinks import effective_ranks, in_the_stream
from playground.models import borrowed
from playground.serving import traces
from playground.vit import QKV

LAYER, HEAD, SINK = 3, 1, 20
NEEDS_BORROWED_FILES = pytest.mark.skipif(
    not all(borrowed.find(thing.file) for thing in (borrowed.DINOV2, *borrowed.PHOTOGRAPHS)),
    reason="DINOv2 and the photographs are not on this machine",
)


@pytest.fixture(scope="module")
def seen():
    return playground.trace("untrained", "meadow")


def with_a_sink(seen, value_factor):
    """The same pass, but in one head every patch looks at one token, whose value is `value_factor` times as long."""
    q, k, v = (part.clone() for part in seen.record[LAYER])
    q[HEAD], k[HEAD] = 1.0, 0.0
    k[HEAD, SINK] = 1.0  # the product is d, the score √d
    v[HEAD, SINK] *= value_factor
    v[HEAD] += 0.05 * torch.randn(v[HEAD].shape, generator=torch.Generator().manual_seed(0))
    k[HEAD, SINK] *= 3
    return replace(seen, record={**seen.record, LAYER: QKV(q, k, v)})


@pytest.mark.parametrize(("factor", "kind"), [(0.0, "nothing"), (30.0, "one thing")])
def test_a_sink_is_found_and_told_by_what_it_carries(seen, factor, kind):
    (sink,) = with_a_sink(seen, factor).sinks()
    assert (sink.layer, sink.head, sink.token, sink.kind) == (LAYER, HEAD, SINK, kind)
    assert sink.name == "{},{}".format(*divmod(SINK - len(seen.prefix), seen.grid[1]))


def test_its_numbers_are_those_of_a_loop_and_of_all_singular_values(seen):
    traced = with_a_sink(seen, 4.0)
    (sink,) = traced.sinks()
    queries = traced.some_patches(256)
    assert sink.share == pytest.approx(float(traced.matrix(LAYER, HEAD)[queries, SINK].mean()), rel=1e-5)
    norms = traced.value_norms(LAYER)[HEAD]
    assert sink.carried == pytest.approx(float(norms[SINK] / norms.median()), rel=1e-5)
    values = torch.linalg.svdvals(contributions(traced, LAYER)[HEAD, queries])  # of (patches, D)
    shares = values / values.sum()
    rank = float(torch.exp(-(shares * shares.clamp(min=1e-12).log()).sum()))
    assert sink.rank == pytest.approx(rank, rel=1e-3)


def test_the_effective_rank_of_equal_directions_is_their_number():
    assert effective_ranks(torch.eye(5)[:, :3]) == pytest.approx(3, rel=1e-6)
    assert effective_ranks(torch.ones(7, 4)) == pytest.approx(1, rel=1e-4)


def test_parts_are_projections_on_what_the_head_writes_and_may_be_against_it(tmp_path):
    seen = playground.trace("bundled", "meadow")
    layer, head, query = 4, 2, (7, 5)
    parts, token = seen.contribution(layer, head, query), seen.token(query)
    block = seen.vit.blocks[layer]
    d = seen.head_dim
    matrix = block.attn.proj.weight[:, head * d : (head + 1) * d].detach()  # (D, d)
    handed_over = [matrix @ value for value in seen.record[layer].v[head]]
    weights = seen.row(layer, head, query)
    whole = sum(weight * value for weight, value in zip(weights, handed_over, strict=True))
    expected = torch.stack([w * value @ whole / (whole @ whole) for w, value in zip(weights, handed_over, strict=True)])
    assert torch.allclose(parts, expected, atol=1e-5)
    assert float(parts.sum()) == pytest.approx(1, abs=1e-4)
    assert (parts < 0).any()
    length = float(whole.norm())
    assert contributions(seen, layer)[head, token].norm() == pytest.approx(length, rel=1e-4)
    file = playground.save(seen, tmp_path / "a.npz", layer=layer, head=head, query=query, what="contribution")
    assert np.load(file)["values"].flatten() == pytest.approx((length * expected).numpy(), abs=1e-5)
    in_the_browser = in_javascript(
        ["core"],
        "const out = []; core.partsInto(out, given.weights, given.values.flat(2), given, given.head); return out;",
        {
            "weights": weights.tolist(), "values": in_the_stream(seen, layer).tolist(), "head": head,
            "tokens": seen.tokens, "dim": d,
        },
    )  # fmt: skip
    assert in_the_browser == pytest.approx((length * expected).numpy(), abs=1e-5)


@NEEDS_BORROWED_FILES
@pytest.mark.parametrize("name", ["chelsea", "coffee", "rocket"])
def test_the_browser_says_of_each_sink_what_python_says(name):
    """Also before the heads' names are here, when the length of the value alone may say "nothing"."""
    seen = playground.trace("dinov2-small", name)
    kinds = {(sink.layer, sink.head): [sink.token, sink.kind] for sink in seen.sinks()}
    names = [traces.names_of_heads(seen, layer) for layer in range(seen.layers)]
    assert {(i, h): head[5] for i, heads in enumerate(names) for h, head in enumerate(heads) if head[5]} == kinds
    assert {kind for _, kind in kinds.values()} >= {"one thing"}
    asked = [[seen.value_norms(layer)[head].tolist(), token] for (layer, head), (token, _) in kinds.items()]
    script = "return given.map(([norms, token]) => kinds.carriedBy(norms, token) < kinds.LITTLE);"
    assert in_javascript(["kinds"], script, asked) == [kind == "nothing" for _, kind in kinds.values()]


def test_contributions_need_values_and_have_no_column():
    seen = playground.trace("untrained", "meadow")
    with pytest.raises(playground.PlaygroundError, match="it has no column"):
        playground.figure(seen, what="contribution", direction="column")
    with pytest.raises(playground.PlaygroundError, match="can't run its network"):
        playground.figure(playground.Trace.from_bytes(seen.to_bytes()), what="contribution")
