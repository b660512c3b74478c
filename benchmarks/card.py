"""Time and memory of rows, cuts, relevance and sweeps on a graphics card and on the processor, and the largest
difference of their numbers (bar 1e-4).

python benchmarks/card.py                # ViT-S/16 and ViT-B/16 with random weights; --models NAME …, --side 448
python benchmarks/card.py --device cpu   # compares the processor with itself, to try the script without a card
"""

import argparse
import copy
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent.parent))
import playground
from playground.figures import sweeping

MOST_DIFFERENCE = 1e-4


def tasks(vit, pixels) -> dict[str, Callable[[], torch.Tensor]]:
    """{name: function that computes the numbers}"""
    sweep = sweeping.prepared_sweep(["meadow.jpg"], vit, "moved", "heads", None, (), (), (), 1, pixels.shape[2:])
    trace = playground.trace(vit, pixel_values=pixels)
    layer = vit.config.depth // 2

    def sweep_heads() -> torch.Tensor:
        most_variants = max(1, sweeping.TOKENS_AT_ONCE // sweep.tokens)
        return torch.from_numpy(sweep.metric_of(pixels, None, most_variants)[1])

    return {
        "a trace": lambda: playground.trace(vit, pixel_values=pixels).features(),
        "a row of each head of a layer": lambda: trace.rows(layer, (1, 1)),
        "a trace with an edge cut": lambda: playground.trace(vit, pixel_values=pixels, cut="1,1>2,2").features(),
        "relevance": lambda: trace.relevance((1, 1)),
        f"a sweep over {vit.config.depth * vit.config.heads} heads": sweep_heads,
    }


def measure(task: Callable[[], torch.Tensor], device: str, times: int) -> tuple[float, float, torch.Tensor]:
    """(seconds, additional peak memory in MB, the numbers). Memory is measured on a card only."""
    on_card = device.startswith("cuda")
    numbers, best_seconds = task(), float("inf")  # the first call fills caches
    if on_card:
        torch.cuda.reset_peak_memory_stats()
        bytes_before = torch.cuda.memory_allocated()
    for _ in range(times):
        began = time.perf_counter()
        task()
        if on_card:
            torch.cuda.synchronize()
        best_seconds = min(best_seconds, time.perf_counter() - began)
    return (
        best_seconds,
        (torch.cuda.max_memory_allocated() - bytes_before) / 1e6 if on_card else float("nan"),
        numbers.detach().cpu(),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=["ViT-S/16", "ViT-B/16"])
    parser.add_argument("--side", type=int, default=224, help="pixels")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    if options.device.startswith("cuda") and not torch.cuda.is_available():
        sys.exit("There is no CUDA device here: not run on a GPU. --device cpu tries the script.")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    pixels = torch.randn(1, 3, options.side, options.side, generator=torch.Generator().manual_seed(0))
    device_name = torch.cuda.get_device_name() if options.device.startswith("cuda") else options.device
    print(f"| model, tokens | what | processor | {device_name} | its memory | apart |\n|---|---|---|---|---|---|")
    for name in options.models:
        cpu_vit = playground.load(name, device="cpu")
        card_vit = copy.deepcopy(cpu_vit).to(options.device)
        tokens = len(cpu_vit.config.prefix) + (options.side // cpu_vit.config.patch_size) ** 2
        pairs = zip(tasks(cpu_vit, pixels).items(), tasks(card_vit, pixels).values(), strict=True)
        for (title, cpu_task), card_task in pairs:
            cpu_seconds, _, expected = measure(cpu_task, "cpu", 1)
            card_seconds, memory, numbers = measure(card_task, options.device, options.times)
            difference = float((numbers - expected).abs().max())
            verdict = f"{difference:.0e}" + " (too far)" * (difference > MOST_DIFFERENCE)
            times = (f"{1e3 * seconds:.1f} ms" for seconds in (cpu_seconds, card_seconds))
            print("|", " | ".join([f"{name}, {tokens:,}", title, *times, f"{memory:.0f} MB", verdict]), "|")


if __name__ == "__main__":
    main()
