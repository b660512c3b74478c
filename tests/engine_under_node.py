"""Runs the browser's engine under Node, to compare it with Python in tests/test_engine.py and benchmarks/site.py."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image
from test_javascript import ROOT, node

from playground.models.engine_file import folded_weights, header, to_engine
from playground.pack import pack
from playground.samples import PHOTOGRAPHS
from playground.tracing import Trace, scale_number
from playground.vit import VisionTransformer

RUNNER = ROOT / "tests" / "js" / "engine" / "pass.mjs"


@dataclass
class EnginePass:
    """The engine's forward pass. Shapes: `q` and `k` (layers, heads, tokens, d); `norms` (layers, heads,
    tokens); `features` (layers, tokens, width)."""

    q: np.ndarray
    k: np.ndarray
    norms: np.ndarray
    features: np.ndarray
    logits: np.ndarray
    wall: list[float]  # ms of each pass by the clock
    cpu: list[float]  # CPU ms of each pass
    bytes: int  # size of the kernels' memory
    points: list[str]  # names of the points at which the engine calls `at`


def run_job(job: dict, folder: Path, runner: Path = RUNNER) -> dict:
    file = folder / "job.json"
    file.write_text(json.dumps(job))
    result = subprocess.run([node(), str(runner), str(file)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout or "{}")


def engine_bytes(vit: VisionTransformer, numbers: str) -> bytes:
    """The weights for the engine in 8 bits as they ship, or "float32" for comparison."""
    return to_engine(vit) if numbers == "int8" else pack(header(vit), folded_weights(vit))


def run_pass(trace: Trace, folder: Path, numbers: str = "float32", **options) -> EnginePass:
    """The engine's pass over the trace's input. `numbers` is the format of the weights, "float32" or "int8"."""
    report, out_file = _run(trace, folder, numbers, options)
    shape = (trace.layers, trace.heads, trace.tokens, trace.head_dim)
    sizes = {"q": shape, "k": shape, "norms": shape[:3]}
    sizes["features"] = (trace.layers, trace.tokens, shape[1] * shape[3])
    numbers_read, arrays = np.fromfile(out_file, np.float32), {}
    for name, size in sizes.items():
        arrays[name], numbers_read = numbers_read[: np.prod(size)].reshape(size), numbers_read[np.prod(size) :]
    return EnginePass(**arrays, logits=numbers_read, **report)


def _run(trace: Trace, folder: Path, numbers: str, options: dict) -> tuple[dict, Path]:
    weights, out_file = folder / "weights.bin", folder / "out.f32"
    weights.write_bytes(engine_bytes(trace.vit, numbers))
    (folder / "image.f32").write_bytes(trace.input.numpy().tobytes())
    files = {"weights": str(weights), "image": str(folder / "image.f32"), "out": str(out_file)}
    return run_job({**files, "grid": trace.grid, **options}, folder), out_file


def look_inside(trace: Trace, folder: Path, place: dict, **options) -> dict:
    """One token's way through one head in the engine: {name: numbers}, and the bias."""
    report, out_file = _run(trace, folder, "float32", {"inside": place, **options})
    names, sizes = zip(*report.pop("sizes"), strict=True)
    numbers = np.split(np.fromfile(out_file, np.float32), np.cumsum(sizes)[:-1])
    return report | dict(zip(names, numbers, strict=True))


def rows_in_engine(q: np.ndarray, k: np.ndarray, trace: Trace, scale=None) -> np.ndarray:
    """(layers, heads, tokens, tokens): the attention weights of these queries and keys, with the trace's cuts."""
    scores = q @ k.transpose(0, 1, 3, 2) * scale_number(scale or trace.scale, trace.native_scale)
    for layer in range(trace.layers):
        if (edges := trace.cuts.heard(layer)) is not None:
            scores[layer][np.broadcast_to(~edges.numpy(), scores[layer].shape)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def rows_in_python(trace: Trace) -> np.ndarray:
    return np.stack([trace.weights(layer).numpy() for layer in range(trace.layers)])


def distance(engine_rows: np.ndarray, expected_rows: np.ndarray) -> tuple[float, float]:
    """The rows' mean total variation, and the share of rows whose largest weight is at the same token."""
    return float(np.abs(engine_rows - expected_rows).sum(-1).mean() / 2), float(
        (engine_rows.argmax(-1) == expected_rows.argmax(-1)).mean()
    )


def resized_by_engine(
    picture: Image.Image, size: tuple[int, int], folder: Path, band: int = 7, **more_options
) -> np.ndarray:
    """(height, width, 3): the picture, resized by the engine to `size`, its (height, width)."""
    pixels, out_file = folder / "pixels.bin", folder / "resized.bin"
    pixels.write_bytes(np.asarray(picture if picture.mode == "RGBA" else picture.convert("RGBA")).tobytes())
    options = {"size": (picture.height, picture.width), "to": size, "band": band, **more_options}
    run_job({"pixels": str(pixels), "out": str(out_file), **options}, folder)
    return np.fromfile(out_file, np.uint8).reshape(*size, 4)[..., :3]


def photographs() -> dict[str, Path]:
    """Photographs by name, none of which was used to tune the engine. scikit-learn brings two of the eight."""
    files_by_name = {sample.name: sample.path for sample in PHOTOGRAPHS if sample.is_here}
    files_by_name["grace_hopper"] = Path(matplotlib.get_data_path()) / "sample_data" / "grace_hopper.jpg"
    if sklearn := find_spec("sklearn"):
        images = Path(sklearn.submodule_search_locations[0]) / "datasets" / "images"
        files_by_name |= {file.stem: file for file in sorted(images.glob("*.jpg"))}
    return files_by_name
