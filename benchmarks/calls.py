"""The cost of Python's calls that run a network often, as multiples of a pass of the same model, in the same run:

python benchmarks/calls.py              # trace_many, sweep with its memory after 100 pictures, and watch
python benchmarks/calls.py --few        # few rounds, to try the script

Times are of the processor, on one thread, so that other work on the machine changes them little; a call and its pass
take turns.
"""

import argparse
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import harness
import timm
import torch
from PIL import Image

import playground
from playground.figures import sweeping

BATCH = 8
MANY = {  # requested numbers -> most time that they may take, as a multiple of timm's forward pass
    ("features", "weights:8"): 1.1,
    ("entropy", "distance"): 1.6,
}


def cpu_seconds(task: Callable[[], object]) -> float:
    began = time.thread_time()
    with torch.no_grad():
        task()
    return time.thread_time() - began


def ratios_of(one_pass: Callable, calls: list[Callable], rounds: int) -> tuple[float, list[float]]:
    """(seconds of a pass, each call's time as a multiple of it)"""
    cpu_seconds(one_pass)  # warms up
    times = [[cpu_seconds(task) for task in (one_pass, *calls)] for _ in range(rounds)]
    ratios = [statistics.median(row[n] / row[0] for row in times) for n in range(1, 1 + len(calls))]
    return statistics.median(row[0] for row in times), ratios


def print_ratios(title: str, one_pass: Callable, calls: dict[str, tuple[Callable, float]], rounds: int) -> None:
    """`calls`: {what: (the call, the bar of its ratio)}"""
    seconds, ratios = ratios_of(one_pass, [call for call, _ in calls.values()], rounds)
    for (what, (_, bar)), ratio in zip(calls.items(), ratios, strict=True):
        print(f"| {title}: {what} | {1000 * seconds:.0f} ms | {ratio:.2f} × | ≤ {bar:g} × |", flush=True)


def many_calls() -> tuple[Callable, list[Callable]]:
    """(timm's forward pass of a batch, trace_many of it for each of MANY)"""
    model = timm.create_model("vit_small_patch14_dinov2", img_size=224, num_classes=0).eval()
    vit, pixels = playground.load(model), torch.randn(BATCH, 3, 224, 224)
    runs = [playground.trace_many([None], vit, what, size=(224, 224))._pass for what in MANY]
    return partial(model.forward_features, pixels), [partial(run, pixels) for run in runs]


def print_many(rounds: int) -> None:
    one_pass, calls = many_calls()
    rows = {", ".join(what): (call, bar) for (what, bar), call in zip(MANY.items(), calls, strict=True)}
    print_ratios("trace_many, DINOv2 S", one_pass, rows, rounds)


def print_sweep(rounds: int, pictures: int) -> None:
    vit = playground.load("ViT-B/16", device="cpu")
    pixels = torch.randn(1, 3, *vit.config.image_size)
    sweep = sweeping.prepared_sweep(["meadow.jpg"], vit, "moved", "heads")
    call = partial(sweep.metric_of, pixels, None, sweeping.TOKENS_AT_ONCE // sweep.tokens)
    print_ratios("sweep, ViT-B/16", partial(vit.record, pixels), {"its 144 heads": (call, 150)}, rounds)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(pictures):
            Image.effect_noise((112, 112), 60 + number).convert("RGB").save(Path(folder) / f"{number:04}.png")
        tiny_vit, memory = playground.load("ViT-Ti/16", device="cpu"), []
        for _ in sweeping.prepared_sweep(folder, tiny_vit, "moved", "heads", size=(112, 112)):
            memory.append(harness.megabytes("self"))
    growth = memory[-1] / memory[4]
    print(f"| sweep: memory after {pictures} pictures, beside that after five | | {growth:.2f} × | ≤ 1.1 × |")


def print_watch(rounds: int) -> None:
    model, pixels = timm.create_model("vit_small_patch16_224").train(), torch.randn(1, 3, 224, 224)
    with tempfile.TemporaryDirectory() as folder:
        watcher = playground.watch(model, "meadow", every=1, out=Path(folder) / "run.trace")

        def look() -> None:
            watcher._write_trace()
            watcher.steps += 1

        print_ratios("watch, ViT-S/16", partial(model, pixels), {"one look": (look, 1.3)}, rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--few", action="store_true")
    is_quick = parser.parse_args().few
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    harness.print_header("what", "a pass", "ratio", "bar")
    print_many(1 if is_quick else 25)
    print_sweep(1 if is_quick else 3, 6 if is_quick else 100)
    print_watch(2 if is_quick else 15)


if __name__ == "__main__":
    main()
