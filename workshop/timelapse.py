"""The time-lapse: the attention at a dozen moments of a training run, in one file for the lesson on training.

    python -m workshop.timelapse runs/bundled              # writes assets/timelapse.bin
    python -m workshop.timelapse FILE --curves -o OTHER    # the same run without its pictures
    python -m workshop.timelapse FILE --within 6 -o OTHER  # … in 6 MB: without the moments that show least

The file is a pack (see playground/pack), which playground/lessons/timelapse.py reads. Its header says
    sample      the name of the sample picture whose attention is stored
    chance      the `mass` of an even row on the held-out scenes
    losses      the names of the losses
    moments     the training step of each of the M moments
    beginnings  the steps at which a loss or another kind of picture begins, with words
and its arrays are, for L layers and H heads,
    curve         (points, 1 + losses) float32: the step, then each loss, averaged since the point before
    entropy, breadth, distance, to_self, to_class, to_registers, near, content, colour, effect, to_one
                  (M, L, H) float32, and offsets (M, L, H, 7, 7): the heads' habits, see analysis/heads.py
    mass          (M, L, H) float32: the share of an object patch's attention that falls on its own object
    trace0 …      (bytes,) uint8: Trace.to_bytes(numbers="int8") of each moment on the sample; empty if only the curves
                  are kept
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from tqdm import tqdm

from playground.analysis.heads import Habits
from playground.assets import TIMELAPSE
from playground.errors import PlaygroundError
from playground.lessons.timelapse import Beginning, Head, Moment
from playground.models import loading
from playground.pack import pack, unpack
from playground.pictures import images
from playground.pictures.images import open_image
from playground.samples import SAMPLES
from playground.tracing import Trace, trace
from playground.vit import Config, VisionTransformer
from workshop import evaluate
from workshop.loop import read_checkpoint
from workshop.losses import LAST_LAYERS
from workshop.recipe import Course, Emergent, Recipe
from workshop.scenes import generate
from workshop.scenes.drawing import Scene
from workshop.scenes.generate import patch_targets

SAMPLE = SAMPLES[0]
MEASURED = tuple(field.name for field in fields(Habits))
SCENE_COUNT = 32
MOST_SIDE_PATCHES = 14  # most patches along a side of the sample, whose trace is stored a dozen times
MOST_POINTS = 300  # most points of the curve
EARLY_POINTS = 12  # number of first points that are single steps, not averages


def beginnings(recipe: Recipe) -> tuple[Beginning, ...]:
    """The beginnings in a run with all losses, in order."""
    r = recipe
    last_layers = tuple(
        (layer, head) for layer in range(r.config.depth - LAST_LAYERS, r.config.depth) for head in range(r.config.heads)
    )
    gathering = round(r.gathering_from * r.steps)
    run_beginnings = [
        Beginning(
            gathering,
            "told: neighbours",
            f"{_heads((r.beside,))} told to look at the left neighbour, and {_heads((r.around,))} told to look at the "
            "eight patches around",
            "placed",
            (r.beside, r.around),
        )
    ]
    if r.gathering:
        run_beginnings += [
            Beginning(
                gathering,
                "told: own object",
                f"a loss on the attention weights begins: {_heads(r.gathering)} told to stay on the object that the "
                "patch belongs to, by the object's mask",
                "gathered",
                r.gathering,
            ),
            Beginning(
                round(r.even_from * r.steps),
                "told: evenly",
                f"{_heads(r.gathering)} also told to lie evenly on that object",
                "uneven",
                r.gathering,
            ),
        ]
    if r.polish:
        run_beginnings.append(
            Beginning(
                r.steps, "polish",
                f"the polish begins; the class token is told to look at objects in the last {LAST_LAYERS} layers",
                "looked", last_layers,
            )
        )  # fmt: skip
    if r.near_until < 1:
        run_beginnings.append(
            Beginning(round(r.near_until * r.steps), "whole scenes", "close-ups end, whole scenes begin")
        )
        if r.small_until < 1:
            run_beginnings.append(
                Beginning(round(r.small_until * r.steps), "full size", "the scenes come at their full size")
            )
    return tuple(
        sorted(run_beginnings, key=lambda beginning: (beginning.step, beginning.loss != "", beginning.loss == "placed"))
    )


def emergent_beginnings(recipe: Emergent) -> tuple[Beginning, ...]:
    """The beginnings in a run without losses on attention: only the pictures change."""
    r = recipe
    run_beginnings = []
    for first_step in range(0, r.total, r.round):
        if first_step:
            run_beginnings.append(
                Beginning(first_step, "once more", "the course begins once more, at the highest learning rate")
            )
        run_beginnings += [
            Beginning(
                first_step + round(r.near_until * r.steps), "whole views", "parts of pictures end, whole pictures begin"
            ),
            Beginning(first_step + r.steps, "finer grid", f"the pictures are cut finer: {r.fine} × {r.fine} patches"),
        ]
    return tuple(run_beginnings)


def used_beginnings(recipe: Course, losses: Sequence[str], curve: np.ndarray) -> tuple[Beginning, ...]:
    """The beginnings, except those of losses that the run did not use: such losses are 0 at all steps."""
    if isinstance(recipe, Emergent):
        return emergent_beginnings(recipe)
    assert isinstance(recipe, Recipe)
    columns = zip(losses, curve[:, 1:].T, strict=False)  # a run of a few steps has no curve
    used = {name for name, values in columns if np.any(values > 0)}
    return tuple(beginning for beginning in beginnings(recipe) if not beginning.loss or beginning.loss in used)


def _heads(heads: tuple[Head, ...]) -> str:
    """Heads in words, such as "head 0 in each of the layers 3, 4 and 5 is"."""
    if len({head for _, head in heads}) == 1 and len(heads) > 1:
        *first_layers, last_layer = (str(layer) for layer, _ in heads)
        return f"head {heads[0][1]} in each of the layers {', '.join(first_layers)} and {last_layer} is"
    head_names = " and ".join(f"head {head} of layer {layer}" for layer, head in heads)
    return f"{head_names} {'is' if len(heads) == 1 else 'are'}"


def recipe_of(run: Path) -> Course:
    """The recipe of a run's folder."""
    settings = _tuples(json.loads((run / "recipe.json").read_text(encoding="utf-8")))
    settings["config"] = Config(**settings["config"])
    return (Emergent if "named" in settings else Recipe)(**settings)


def _tuples(value):
    if isinstance(value, dict):
        return {name: _tuples(part) for name, part in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def write(run: Path, file: Path = TIMELAPSE, count: int = SCENE_COUNT) -> None:
    """Makes the time-lapse's file from the snapshots of a run."""
    snapshots = {
        int(name[1]): path for path in run.glob("*") if (name := re.fullmatch(r"snapshot-(\d+)\..*", path.name))
    }
    if not snapshots:
        raise PlaygroundError(f"{run} holds no snapshots of a training run; give the folder that `train` wrote to.")
    held_out = [generate.scene(generate.FIRST_HELD_OUT + i) for i in range(count)]
    bar = tqdm(sorted(snapshots), unit="moment", leave=False, disable=not sys.stderr.isatty())
    moments = [_moment(step, snapshots[step], held_out) for step in bar]
    checkpoint = read_checkpoint(run)
    curve = smoothed(checkpoint["history"])
    header = {
        "sample": SAMPLE.name,
        "chance": chance(held_out),
        "losses": checkpoint["losses"],
        "moments": [moment.step for moment in moments],
        "beginnings": [asdict(one) for one in used_beginnings(recipe_of(run), checkpoint["losses"], curve)],
    }
    arrays = {name: np.stack([getattr(m.habits, name) for m in moments]).astype(np.float32) for name in MEASURED}
    arrays |= {"curve": curve, "mass": np.stack([m.mass for m in moments])}
    arrays |= {f"trace{i}": np.frombuffer(m.trace, np.uint8) for i, m in enumerate(moments)}
    file.write_bytes(pack(header, arrays))


def only_curves(file: Path, output: Path) -> None:
    """Writes the file without its traces, which are nearly all of its bytes."""
    header, arrays = unpack(file.read_bytes())
    del header["sections"]
    arrays |= {f"trace{i}": np.zeros(0, np.uint8) for i in range(len(header["moments"]))}
    output.write_bytes(pack(header, arrays))


def shorten(file: Path, output: Path, most_bytes: float) -> None:
    """Rewrites the time-lapse without some moments, so that it has at most `most_bytes` bytes."""
    header, arrays = unpack(file.read_bytes())
    del header["sections"]
    traces = [arrays.pop(f"trace{i}") for i in range(len(header["moments"]))]
    other_bytes = file.stat().st_size - sum(trace.nbytes for trace in traces)
    kept_moments = most_different_moments([trace.tobytes() for trace in traces], most_bytes - other_bytes)
    header["moments"] = [header["moments"][i] for i in kept_moments]
    arrays |= {name: arrays[name][kept_moments] for name in (*MEASURED, "mass")}
    arrays |= {f"trace{position}": traces[i] for position, i in enumerate(kept_moments)}
    output.write_bytes(pack(header, arrays))


def most_different_moments(traces: list[bytes], most_bytes: float) -> list[int]:
    """The moments to keep so that their traces have at most `most_bytes`. Repeatedly drops the moment whose neighbours
    have the most similar rows; the first and the last stay."""
    decoded_traces = [Trace.from_bytes(trace) for trace in traces]
    rows = [torch.cat([decoded.weights(layer) for layer in range(decoded.layers)]) for decoded in decoded_traces]
    kept_moments = list(range(len(traces)))
    while len(kept_moments) > 2 and sum(len(traces[i]) for i in kept_moments) > most_bytes:
        differences = [
            float((rows[before] - rows[after]).abs().sum())
            for before, after in zip(kept_moments, kept_moments[2:], strict=False)
        ]
        del kept_moments[1 + int(np.argmin(differences))]
    return kept_moments


def _moment(step: int, file: Path, held_out: list) -> Moment:
    return look(step, loading.load(str(file), device="cpu"), open_image(SAMPLE.path), held_out)


def chance(scenes: list[Scene]) -> float:
    """The share of the query's own object in an even row without the query, averaged over the patches of objects."""
    questions = [evaluate.Questions.of(patch_targets(scene).objects) for scene in scenes]
    return float(
        torch.cat(
            [question.same_object.float().sum(1) / (question.same_object.shape[1] - 1) for question in questions]
        ).mean()
    )


def look(step: int, vit: VisionTransformer, image: Image.Image, held_out: list[Scene]) -> Moment:
    """Measures a model: its heads on the scenes, its attention on the image."""
    sums, patch = evaluate.Sums(vit, held_out), vit.config.patch_size
    side = min(MOST_SIDE_PATCHES * patch, *vit.config.image_size)
    size = images.fit(image.size, patch, (side, side))
    return Moment(
        step, evaluate.average(sums.habits), sums.mass.numpy(), trace(vit, image, size=size).to_bytes(numbers="int8")
    )


def smoothed(history: list[list[float]]) -> np.ndarray:
    """(points, columns): the history, averaged over equal numbers of steps. The first steps are not averaged, because
    losses fall fast there. A loss is 0 before it begins."""
    if not history:
        return np.zeros((0, 1), np.float32)
    column_count = max(len(row) for row in history)
    rows = np.array([[*row, *[0.0] * (column_count - len(row))] for row in history], np.float32)
    early_count = min(EARLY_POINTS, len(rows))
    row_groups = [
        *np.split(rows[:early_count], early_count),
        *np.array_split(rows[early_count:], MOST_POINTS - early_count),
    ]
    return np.stack([np.concatenate([group[-1:, 0], group[:, 1:].mean(0)]) for group in row_groups if len(group)])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m workshop.timelapse", description=__doc__.split("\n")[0])
    parser.add_argument("run", metavar="RUN", type=Path, help="the folder of a training run, or its time-lapse")
    parser.add_argument("--curves", action="store_true", help="of a time-lapse: leave out its pictures")
    parser.add_argument(
        "--within", metavar="MB", type=float, help="of a time-lapse: leave out the moments that show least"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, default=TIMELAPSE, help=f"default: {TIMELAPSE.name} in assets/"
    )
    options = parser.parse_args(arguments)
    try:
        if options.within is not None:
            shorten(options.run, options.output, options.within * 1e6)
        else:
            (only_curves if options.curves else write)(options.run, options.output)
    except PlaygroundError as error:
        print(f"playground: {error}", file=sys.stderr)
        return 2
    print(f"{options.output}  {options.output.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
