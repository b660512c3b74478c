"""The lesson's measurements of time and memory are correct and end in bounded time."""

import subprocess
import sys

import pytest
import torch

from playground.analysis import benchmark
from playground.analysis.benchmark import CONVOLUTION, FUSED, GROWTH_POWERS, MATERIALISED, Point

only_on_linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone tells a process its peak")
NO_TIME_LIMIT = 1e18  # seconds; no step takes that long


@only_on_linux
def test_materialised_attention_takes_the_memory_of_its_matrices_and_fused_does_not(monkeypatch):
    monkeypatch.setattr(benchmark, "SIDES", (8, 24))
    monkeypatch.setattr(benchmark, "MOST_PASS_SECONDS", NO_TIME_LIMIT)  # no time limit, because the machine may be busy
    with torch.no_grad():
        points = {(p.kind, p.tokens): p for p in benchmark.measure(64, 8, 3, 2**30)}
    assert set(points) == {(kind, tokens) for kind in GROWTH_POWERS for tokens in (64, 576)}
    matrices_bytes = 4 * 8 * 576**2
    assert 2 * matrices_bytes < points[MATERIALISED, 576].bytes < 4.5 * matrices_bytes  # scores, scaled scores, weights
    assert points[FUSED, 576].bytes < matrices_bytes
    assert all(p.seconds > 0 and not p.skip_reason for p in points.values())


def test_a_step_that_would_take_too_much_is_not_run():
    last_point = Point(MATERIALISED, 1024, 1.0, 100)
    estimate = benchmark._expected_point(MATERIALISED, 2048, last_point, 1000, NO_TIME_LIMIT)
    assert (estimate.seconds, estimate.bytes, estimate.skip_reason) == (4.0, 400, "")
    last_shift = Point(CONVOLUTION, 1024, 1.0, 100)
    last_skip = Point(FUSED, 2048, 0, 0, "memory")
    for arguments, skip_reason in (
        ((MATERIALISED, 2048, last_point, 399, NO_TIME_LIMIT), "memory"),
        ((MATERIALISED, 4096, last_point, 10**9, NO_TIME_LIMIT), "time"),
        ((CONVOLUTION, 4096, last_shift, 400, NO_TIME_LIMIT), ""),
        ((CONVOLUTION, 2048, last_shift, 400, 0), "time"),
        ((FUSED, 4096, last_skip, 1, NO_TIME_LIMIT), "memory"),
    ):
        assert benchmark._expected_point(*arguments).skip_reason == skip_reason


@pytest.mark.slow
@only_on_linux
def test_a_measuring_process_gets_no_memory_beyond_its_limit():
    program = (
        "import torch, playground.analysis.benchmark as m\n"
        "m._limit_process(100 * 2**20)\n"
        "torch.zeros(2**23)\n"
        "try:\n    torch.zeros(2**27)\nexcept RuntimeError:\n    print('refused')\n"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert process.stdout.strip() == "refused", process.stderr


@pytest.mark.parametrize(("last_line", "points"), [("", [0, 1, 2]), ("time.sleep(600)", None)])
def test_a_series_ends_with_its_process_or_when_it_is_closed(last_line, points, monkeypatch):
    program = (
        "import json, time\n"
        "for n in range(3):\n"
        "    print(json.dumps(dict(kind='convolution', tokens=n, seconds=1, bytes=None)), flush=True)\n"
        f"{last_line}\n"
    )
    start, processes = subprocess.Popen, []

    def start_program(command, **options):
        processes.append(start([sys.executable, "-c", program], **options))
        return processes[0]

    monkeypatch.setattr(subprocess, "Popen", start_program)
    moments = benchmark.series(64, 1, 1)
    if points is None:
        next(moments)
        moments.close()
    else:
        *_, found = moments
        assert [point.tokens for point in found] == points
    assert processes[0].poll() is not None
