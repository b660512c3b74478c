"""Compares the engine with other libraries in one run: python benchmarks/engine.py

Prints the table of docs/pages/numbers.md: a trace against timm's fused forward pass and against Hugging Face with all
attention maps, and the time of one row. It gives ratios, because absolute times depend on the machine. Peak memory is
the process's highest resident size minus its size with the model loaded; each such measurement has its own process.
"""

import json
import resource
import statistics
import subprocess
import sys
import time

import harness  # noqa: F401  it puts the package on the path

RUNS = 15
LARGE_SIDE = 1024


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


def in_own_process(name: str, *arguments):
    out = subprocess.check_output([sys.executable, __file__, name, *map(str, arguments)], text=True)
    return json.loads(out.splitlines()[-1])


def main() -> None:
    measurements = {"against_timm": against_timm, "one_large_image": one_large_image, "one_row": one_row}
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
