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


@pytest.mark.skipif(not torch.backends.mps.is_available(), reason="there is no Apple GPU")
def test_a_pass_on_an_apple_gpu_gives_the_cpu_s_rows(small, picture):
    reference = playground.trace(small, picture)
    trace = playground.trace(small.to("mps"), picture)
    assert trace.vit.patch_embed.proj.weight.device.type == "mps"
    torch.testing.assert_close(trace.row(1, 2, (3, 4)), reference.row(1, 2, (3, 4)), atol=1e-4, rtol=1e-3)
    torch.testing.assert_close(trace.relevance((3, 4)), reference.relevance((3, 4)), atol=1e-3, rtol=1e-2)
    (numbers,) = playground.trace_many([picture], small, ("entropy", "distance"))
    assert numbers.arrays["entropy"].shape == (3, 4, 67)
