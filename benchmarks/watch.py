"""The cost of one look of `playground.watch` at a model in training, as a multiple of the model's forward pass:

python benchmarks/watch.py              # timm's ViT-S/16; --model NAME for another
"""

import argparse
import statistics
import tempfile
import time
import warnings
from pathlib import Path

import harness  # noqa: F401  it puts the package on the path
import timm
import torch

import playground

BAR = 1.3  # most time of a look, in forward passes of one picture


def cpu_seconds(task) -> float:
    began = time.thread_time()
    task()
    return time.thread_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="vit_small_patch16_224")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)  # so that other work on the machine changes the times little
    model = timm.create_model(options.model).train()
    pixels = torch.randn(1, 3, 224, 224)
    with tempfile.TemporaryDirectory() as folder:
        watcher = playground.watch(model, "meadow", every=1, out=Path(folder) / "run.trace")

        def forward() -> None:
            with torch.no_grad():
                model(pixels)

        forward()
        watcher._write_trace()
        look_seconds, pass_seconds = [], []
        for _ in range(options.rounds):  # in turns, so that a busy machine slows both
            watcher.steps += 1
            look_seconds.append(cpu_seconds(watcher._write_trace))
            pass_seconds.append(cpu_seconds(forward))
    ratios = min(look_seconds) / min(pass_seconds), statistics.median(look_seconds) / statistics.median(pass_seconds)
    print(
        f"a look of watch at {options.model}: {ratios[0]:.2f} forward passes of processor time at the least, ", end=""
    )
    print(f"{ratios[1]:.2f} by medians; bar {BAR}")


if __name__ == "__main__":
    main()
