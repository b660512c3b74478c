"""Rows, cuts, relevance, interventions and sweeps on a graphics card are those of the processor, within 1e-4."""

import copy

import pytest
import torch

import playground

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device: not run on a GPU")
CLOSE = {"atol": 1e-4, "rtol": 1e-4}


@pytest.fixture
def cpu_and_cuda_traces(small, picture):
    """The same pass on the processor and on the card."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    return [playground.trace(copy.deepcopy(small).to(device), picture, cut="2,3>4,4@1") for device in ("cpu", "cuda")]


def test_rows_features_and_relevance_are_the_same_on_both_devices(cpu_and_cuda_traces):
    on_cpu, on_cuda = cpu_and_cuda_traces
    for layer in range(on_cpu.layers):
        torch.testing.assert_close(on_cuda.weights(layer), on_cpu.weights(layer), **CLOSE)
        torch.testing.assert_close(on_cuda.features(layer), on_cpu.features(layer), **CLOSE)
    for method in ("gradient", "integrated", "attnlrp", "chefer", "legrad"):
        torch.testing.assert_close(
            on_cuda.relevance(label=3, method=method), on_cpu.relevance(label=3, method=method), **CLOSE
        )


def test_interventions_are_the_same_on_both_devices(cpu_and_cuda_traces):
    def all_of(trace):
        yield trace.ablate([(1, 2), (2, 0)], to="mean").logits
        yield trace.patch(trace.ablate([(0, 1)]), layers=1, positions=(2, 3), what="keys").logits
        yield trace.paths((0, 1), (2, 3)).through.logits
        yield trace.occlude(blocks=2, label=3)

    for on_cpu, on_cuda in zip(*map(all_of, cpu_and_cuda_traces), strict=True):
        torch.testing.assert_close(on_cuda, on_cpu, **CLOSE)


@pytest.mark.parametrize("over", ["heads", "layers × positions"])
def test_sweeps_are_the_same_on_both_devices(small, picture, tmp_path, over):
    pytest.importorskip("xarray")
    picture.save(tmp_path / "a.png")
    picture.rotate(90).save(tmp_path / "b.png")
    on_cpu, on_cuda = (
        playground.sweep(tmp_path, copy.deepcopy(small).to(device), "moved", over, blocks=4, progress=False)
        for device in ("cpu", "cuda")
    )
    torch.testing.assert_close(*(torch.from_numpy(sweep["value"].values) for sweep in (on_cuda, on_cpu)), **CLOSE)
