"""Runs the browser's engine under Node, to compare it with Python in tests/test_engine.py and benchmarks/site.py."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image
from test_javascript import ROOT, node

from playground.models.engine_file import to_engine
from playground.samples import PHOTOGRAPHS
from playground.tracing import Trace, scale_number

RUNNER = ROOT / "tests" / "js" / "engine" / "pass.mjs"


@dataclass
class Passed:
    """The engine's forward pass. Shapes: `q` and `k` (layers, heads, tokens, d); `norms` and `adds` (layers, heads,
    tokens); `features` (layers, tokens, width)."""

    q: np.ndarray
    k: np.ndarray
    norms: np.ndarray
    adds: np.ndarray
    features: np.ndarray
    logits: np.ndarray
    wall: list[float]  # ms of each pass by the clock
    cpu: list[float]  # CPU ms of each pass
    bytes: int  # size of the kernels' memory
    points: list[str]  # names of the points at which the engine calls `at`


def run(job: dict, folder: Path, runner: Path = RUNNER) -> dict:
    file = folder / "job.json"
    file.write_text(json.dumps(job))
    done = subprocess.run([node(), str(runner), str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout or "{}")


@dataclass
class Opened:
    """What the browser reads from the files of a visitor's model."""

    name: str = ""
    config: dict = field(default_factory=dict)
    assumed: dict[str, str] = field(default_factory=dict)
    notice: str = ""
    error: str = ""  # the sentence of a refusal
    stack: str = ""
    weights: Path | None = None  # the file of weights in the engine's format


def opened(models: list[dict], folder: Path) -> list[Opened]:
    """What the browser reads from each of `models`, which are {"files": …} with further options of the page."""
    outs = [folder / f"opened-{number}.bin" for number in range(len(models))]
    jobs = [
        one | {"files": [str(file) for file in one["files"]], "out": str(out)}
        for one, out in zip(models, outs, strict=True)
    ]
    return [Opened(**told, weights=out) for told, out in zip(run({"open": jobs}, folder), outs, strict=True)]


def passed(seen: Trace, folder: Path, numbers: str = "float32", weights: Path | None = None, **how) -> Passed:
    """The engine's pass over the input of `seen`. `numbers` is the format of the weights: "float32", "int8" …"""
    if weights is None:
        weights = folder / "weights.bin"
        weights.write_bytes(to_engine(seen.vit, numbers))
    (folder / "image.f32").write_bytes(seen.input.numpy().tobytes())
    files = {"weights": str(weights), "image": str(folder / "image.f32")}
    out = folder / "out.f32"
    report = run({**files, "grid": seen.grid, "out": str(out), **how}, folder)
    shape = (seen.layers, seen.heads, seen.tokens, seen.head_dim)
    sizes = {"q": shape, "k": shape, "norms": shape[:3], "adds": shape[:3]}
    sizes["features"] = (seen.layers, seen.tokens, shape[1] * shape[3])
    flat, arrays = np.fromfile(out, np.float32), {}
    for name, size in sizes.items():
        arrays[name], flat = flat[: np.prod(size)].reshape(size), flat[np.prod(size) :]
    return Passed(**arrays, logits=flat, **report)


def rows(q: np.ndarray, k: np.ndarray, seen: Trace, scale=None) -> np.ndarray:
    """(layers, h, N, N): the attention weights of these queries and keys, with the cuts of `seen`."""
    scores = q @ k.transpose(0, 1, 3, 2) * scale_number(scale or seen.scale, seen.native_scale)
    for layer in range(seen.layers):
        if (heard := seen.cuts.heard(layer)) is not None:
            scores[layer][np.broadcast_to(~heard.numpy(), scores[layer].shape)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def theirs(seen: Trace) -> np.ndarray:
    """(layers, h, N, N): the attention weights that Python computes."""
    return np.stack([seen.weights(layer).numpy() for layer in range(seen.layers)])


def distance(ours: np.ndarray, python: np.ndarray) -> tuple[float, float]:
    """The rows' mean total variation, and the share of rows whose largest weight is at the same token."""
    return float(np.abs(ours - python).sum(-1).mean() / 2), float((ours.argmax(-1) == python.argmax(-1)).mean())


def resized(picture: Image.Image, size: tuple[int, int], folder: Path, band: int = 7, **more) -> np.ndarray:
    """(H, W, 3): the picture, resized to this (height, width) by the engine."""
    pixels, out = folder / "pixels.bin", folder / "resized.bin"
    pixels.write_bytes(np.asarray(picture if picture.mode == "RGBA" else picture.convert("RGBA")).tobytes())
    how = {"size": (picture.height, picture.width), "to": size, "band": band, **more}
    run({"pixels": str(pixels), "out": str(out), **how}, folder)
    return np.fromfile(out, np.uint8).reshape(*size, 4)[..., :3]


def photographs() -> dict[str, Path]:
    """Photographs by name, none of which was used to tune the engine. scikit-learn brings two of the eight."""
    files_by_name = {sample.name: sample.path for sample in PHOTOGRAPHS if sample.is_here}
    files_by_name["grace_hopper"] = Path(matplotlib.get_data_path()) / "sample_data" / "grace_hopper.jpg"
    if sklearn := find_spec("sklearn"):
        images = Path(sklearn.submodule_search_locations[0]) / "datasets" / "images"
        files_by_name |= {file.stem: file for file in sorted(images.glob("*.jpg"))}
    return files_by_name
