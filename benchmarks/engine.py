"""The engine beside its peers, in one run: python benchmarks/engine.py

Prints the table of docs/pages/numbers.md: a trace against timm's fused forward and against Hugging Face with all
attention maps, and the time of one row. Ratios, because absolute times belong to the machine. Peak memory is the
process's own highest resident size above what it was with the model loaded; every measurement of it has a process to
itself.
"""

import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

RUNS = 15
LARGE = 1024


def clock(work) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def noise(size: int):
    import numpy as np
    from PIL import Image

    return Image.fromarray(np.random.default_rng(0).integers(0, 255, (size, size, 3), dtype=np.uint8))


def against_timm(name: str) -> dict:
    """Both turn the same picture into logits, one after the other, many times."""
    import timm
    import torch

    import playground

    image = noise(512)
    vit = playground.load(name, pretrained=False, device="cpu")
    peer = timm.create_model(name).eval()
    prepare = timm.data.create_transform(**timm.data.resolve_data_config(model=peer))

    def theirs():
        with torch.inference_mode():
            return peer(prepare(image)[None])

    def ours():
        return playground.trace(vit, image)

    ours(), theirs()
    pairs = [(clock(ours), clock(theirs)) for _ in range(RUNS)]
    return {
        "ours": statistics.median(a for a, _ in pairs),
        "theirs": statistics.median(b for _, b in pairs),
        "ratio": statistics.median(a / b for a, b in pairs),
    }


def one_large_image(who: str, side: str = str(LARGE)) -> dict:
    """ViT-B/16, at 1024² 4,097 tokens."""
    import torch

    import playground

    size = (int(side), int(side))
    image = noise(size[0])
    if who == "ours":
        vit = playground.load("ViT-B/16", device="cpu")
        run = lambda: playground.trace(vit, image, size=size)  # noqa: E731
    else:
        from transformers import ViTConfig, ViTModel

        peer = ViTModel(ViTConfig(attn_implementation="eager"), add_pooling_layer=False).eval()
        from playground.pictures.images import model_input

        pixels = model_input(image, size, (0.5,) * 3, (0.5,) * 3)

        def run():
            with torch.inference_mode():
                return peer(pixels, interpolate_pos_encoding=True, output_attentions=True)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    kept = run()
    seconds = time.perf_counter() - began
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    del kept
    seconds = min(seconds, clock(run))  # the first run also warms up
    return {"seconds": seconds, "peak": peak}


def one_row(name: str) -> float:
    """All heads of a layer, from a trace of 4,096 patches."""
    import playground

    seen = playground.trace(playground.load(name, device="cpu"), noise(LARGE), size=(LARGE, LARGE))
    queries = [(i % 64, i * 7 % 64) for i in range(200)]
    seen.rows(5, queries[0])
    return statistics.median(clock(lambda q=q: seen.rows(5, q)) for q in queries)


def apart(what: str, *arguments):
    out = subprocess.check_output([sys.executable, __file__, what, *map(str, arguments)], text=True)
    return json.loads(out.splitlines()[-1])


def main() -> None:
    measured = {"against_timm": against_timm, "one_large_image": one_large_image, "one_row": one_row}
    if len(sys.argv) > 1:
        print(json.dumps(measured[sys.argv[1]](*sys.argv[2:])))
        return
    print("| what | ours | peer | ratio | bar |\n|---|---|---|---|---|")
    for name in ("vit_small_patch16_224", "vit_base_patch16_224"):
        t = apart("against_timm", name)
        times = f"{t['ours'] * 1e3:.0f} ms | {t['theirs'] * 1e3:.0f} ms | {t['ratio']:.2f} × time"
        print(f"| trace of {name}; timm's fused forward of it | {times} | ≤ 1.10 × |", flush=True)
    a, b = apart("one_large_image", "ours"), apart("one_large_image", "theirs")
    what = "trace of a ViT-B at 1024²; Hugging Face with `output_attentions`"
    memory = f"{a['peak'] / 1e9:.2f} GB | {b['peak'] / 1e9:.2f} GB | {b['peak'] / a['peak']:.1f} × less"
    print(f"| {what}: peak memory above the model | {memory} | ≥ 15 × |")
    times = f"{a['seconds']:.1f} s | {b['seconds']:.1f} s | {b['seconds'] / a['seconds']:.1f} × faster"
    print(f"| the same: time | {times} | ≥ 2.5 × |", flush=True)
    for name in ("ViT-S/16", "ViT-B/16"):
        row = f"{apart('one_row', name) * 1e3:.2f} ms"
        print(f"| one row, all heads of a layer, {name} with 4,096 patches | {row} | | | ≤ 1 ms |", flush=True)


if __name__ == "__main__":
    main()
