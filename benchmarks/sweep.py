"""The cost of a sweep over all heads, as a multiple of a pass of the same model over the same picture:

python benchmarks/sweep.py              # ViT-B/16, random weights: 144 heads; --model ViT-S/16
python benchmarks/sweep.py --pictures 100 --model ViT-Ti/16    # also the memory after this many pictures
"""

import argparse
import statistics
import time
from pathlib import Path

import harness  # noqa: F401  it puts the package on the path
import torch

import playground
from playground.figures import sweeping

BAR = "150 passes, 80 are better"


def cpu_seconds(task) -> float:
    began = time.thread_time()
    with torch.no_grad():
        task()
    return time.thread_time() - began


def memory_growth(vit, count: int) -> float:
    """The process's memory after `count` pictures, divided by its memory after the fifth."""
    import tempfile

    from PIL import Image

    memory_pages = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            Image.effect_noise((112, 112), 60 + number).convert("RGB").save(Path(folder) / f"{number:04}.png")
        sweep = sweeping.prepared_sweep(folder, vit, "moved", "heads", None, (), (), (), 1, (112, 112))
        for _ in sweep:
            memory_pages.append(int(Path("/proc/self/statm").read_text().split()[1]))
    return memory_pages[-1] / memory_pages[4]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="ViT-B/16")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pictures", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)  # so that other work on the machine changes the times little
    vit = playground.load(options.model, device="cpu")
    sweep = sweeping.prepared_sweep(["meadow.jpg"], vit, "moved", "heads", None, (), (), (), 1, None)
    pixels = torch.randn(1, 3, *vit.config.image_size)
    cpu_seconds(lambda: vit.record(pixels))
    pass_seconds, ratios = [], []
    for _ in range(options.rounds):
        pass_seconds.append(min(cpu_seconds(lambda: vit.record(pixels)) for _ in range(5)))
        ratios.append(
            cpu_seconds(lambda: sweep.metric_of(pixels, None, sweeping.TOKENS_AT_ONCE // sweep.tokens))
            / pass_seconds[-1]
        )
        # Again, as the machine's speed changes
        pass_seconds.append(min(cpu_seconds(lambda: vit.record(pixels)) for _ in range(5)))
    c = vit.config
    print(f"{c.depth * c.heads} heads of {options.model}, one at a time: {statistics.median(ratios):.0f} passes' time")
    if options.pictures:
        print(f"memory after {options.pictures} pictures: {memory_growth(vit, options.pictures):.2f} × that after five")
    print(f"(of processor; a pass {1000 * statistics.median(pass_seconds):.0f} ms; bar {BAR})")


if __name__ == "__main__":
    main()
