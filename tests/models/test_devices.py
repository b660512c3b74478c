"""Half precision and other devices: a trace runs there, and its rows stay float32."""

import pytest
import torch

import playground


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_a_pass_in_another_precision_is_close_and_gives_float32(small, picture, dtype):
    reference = playground.trace(small, picture)
    trace = playground.trace(small.to(dtype), picture)
    assert trace.vit.patch_embed.proj.weight.dtype == dtype
    row = trace.row(1, 2, (3, 4))
    assert row.dtype == torch.float32
    assert row.sum().item() == pytest.approx(1, abs=1e-5)
    torch.testing.assert_close(row, reference.row(1, 2, (3, 4)), atol=0.02, rtol=0.3)
    for numbers in (
        trace.features(),
        trace.value_norms(1),
        trace.relevance((3, 4)),
        trace.rollout("cls"),
        trace.scores(1, 2, 9),
    ):
        assert numbers.dtype == torch.float32
        assert numbers.isfinite().all()
    playground.figure(trace, 1, 2, (3, 4), dpi=20)
    (picture_numbers,) = playground.trace_many([picture], small, ("weights:1", "features", "entropy", "distance"))
    assert {array.dtype.name for array in picture_numbers.arrays.values()} == {"float32"}


@pytest.mark.parametrize("keep", ["model", "host"])
def test_a_trace_kept_in_the_model_s_precision_or_in_main_memory_has_the_same_rows(small, picture, keep):
    small = small.bfloat16()
    expected, trace = playground.trace(small, picture), playground.trace(small, picture, keep=keep)
    assert {t.dtype for t in trace.record[1]} == {torch.bfloat16 if keep == "model" else torch.float32}
    for name, call in {
        "row": lambda seen: seen.row(1, 2, (3, 4)),
        "weights": lambda seen: seen.weights(2),
        "column": lambda seen: seen.column(1, 2, (3, 4)),
        "rollout": lambda seen: seen.rollout((3, 4)),
        "value norms": lambda seen: seen.value_norms(1),
        "contribution": lambda seen: seen.contribution(1, 2, (3, 4)),
        "ablate": lambda seen: seen.ablate([(1, 2)]).row(2, 0, (3, 4)),
        "bytes": lambda seen: playground.Trace.from_bytes(seen.to_bytes()).row(1, 2, (3, 4)),
    }.items():
        assert torch.equal(call(trace), call(expected)), name
    assert trace.ablate([(1, 2)]).keep == keep
    with pytest.raises(playground.PlaygroundError, match="keep= is float32, model, host; given was 'card'"):
        playground.trace(small, picture, keep="card")


@pytest.mark.skipif(not torch.backends.mps.is_available(), reason="there is no Apple GPU")
def test_a_pass_on_an_apple_gpu_gives_the_cpu_s_rows(small, picture):
    reference = playground.trace(small, picture)
    trace = playground.trace(small.to("mps"), picture)
    assert trace.vit.patch_embed.proj.weight.device.type == "mps"
    torch.testing.assert_close(trace.row(1, 2, (3, 4)), reference.row(1, 2, (3, 4)), atol=1e-4, rtol=1e-3)
    torch.testing.assert_close(trace.relevance((3, 4)), reference.relevance((3, 4)), atol=1e-3, rtol=1e-2)
    (numbers,) = playground.trace_many([picture], small, ("entropy", "distance"))
    assert numbers.arrays["entropy"].shape == (3, 4, 67)
