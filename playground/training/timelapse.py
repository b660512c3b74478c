"""The time-lapse: the attention at a dozen moments of a training run, in one file for the app.

    python -m playground.training.timelapse runs/bundled              # writes assets/timelapse.bin
    python -m playground.training.timelapse FILE -o OTHER             # the same run, its traces in 8 bits
    python -m playground.training.timelapse FILE --curves -o OTHER    # the same run without its pictures
    python -m playground.training.timelapse FILE --within 6 -o OTHER  # … in 6 MB: without the moments that show least

The file is a pack (see playground/pack). Its header says
    format    "attention-playground-timelapse/1"
    model     the model's name
    sample    the name of the sample picture whose attention is stored
    scenes    the number of held-out scenes over which the heads' numbers are averaged
    chance    the `mass` of an even row on these scenes
    losses    the names of the losses
    moments   the training step of each of the M moments
and its arrays are, for L layers and H heads,
    curve         (points, 1 + losses) float32: the step, then each loss, averaged since the point before
    entropy, breadth, distance, to_self, to_class, to_registers, near, content, colour, effect
                  (M, L, H) float32, and offsets (M, L, H, 7, 7): the heads' habits, see analysis/heads.py
    mass          (M, L, H) float32: the share of an object patch's attention that falls on its own object
    trace0 …      (bytes,) uint8: Trace.to_bytes(numbers="int8") of each moment on the sample, which the microscope
                  reads unchanged; empty if only the curves are kept

The module also lists the steps of a run at which something begins, such as another loss.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from tqdm import tqdm

from playground.analysis.heads import Habits, average
from playground.assets import TIMELAPSE
from playground.errors import PlaygroundError
from playground.models import loading
from playground.pack import check_timelapse, pack, unpack
from playground.pictures import images
from playground.pictures.images import open_image
from playground.samples import SAMPLES
from playground.scenes import generate
from playground.scenes.drawing import Scene
from playground.scenes.generate import patch_targets
from playground.tracing import Trace, trace
from playground.training import evaluate
from playground.training.loop import read_checkpoint
from playground.training.losses import LAST_LAYERS
from playground.training.recipe import Emergent, Recipe
from playground.vit import VisionTransformer

# At some steps of a training run another kind of picture or a loss on the attention weights begins. Charts mark these
# steps, because otherwise a change that a loss has caused would seem to have emerged by itself.

Head = tuple[int, int]  # (layer, head)


@dataclass(frozen=True)
class Beginning:
    step: int
    short: str  # words beside the step's line in a chart
    says: str  # a sentence that does not name the step
    loss: str = ""  # the loss that begins, one of LOSSES; "" if only the pictures change
    told_heads: tuple[Head, ...] = ()  # the heads that a loss tells where to look, from this step on


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


def used_beginnings(recipe: Recipe | Emergent, timelapse: Timelapse) -> tuple[Beginning, ...]:
    """The beginnings, except those of losses that the run did not use: such losses are 0 at all steps."""
    if isinstance(recipe, Emergent):
        return emergent_beginnings(recipe)
    used_losses = {
        name for name, values in zip(timelapse.losses, timelapse.curve[:, 1:].T, strict=True) if np.any(values > 0)
    }
    return tuple(beginning for beginning in beginnings(recipe) if not beginning.loss or beginning.loss in used_losses)


def _heads(heads: tuple[Head, ...]) -> str:
    """Heads in words, such as "head 0 in each of the layers 3, 4 and 5 is"."""
    if len({head for _, head in heads}) == 1 and len(heads) > 1:
        *first_layers, last_layer = (str(layer) for layer, _ in heads)
        return f"head {heads[0][1]} in each of the layers {', '.join(first_layers)} and {last_layer} is"
    head_names = " and ".join(f"head {head} of layer {layer}" for layer, head in heads)
    return f"{head_names} {'is' if len(heads) == 1 else 'are'}"


def first_habits(timelapse: Timelapse) -> tuple[int, dict[str, list[Head]]] | None:
    """(first step at which a head has a habit, {habit: heads} at this step); None if no head ever has a habit."""
    nameless_kinds = ("everywhere", "no single habit", "idle")
    for moment in timelapse.moments:
        heads_by_kind: dict[str, list[Head]] = {}
        for layer, row in enumerate(moment.habits.habit_names(moment.mass)):
            for head, kind in enumerate(row):
                if kind not in nameless_kinds:
                    heads_by_kind.setdefault(kind, []).append((layer, head))
        if heads_by_kind:
            return moment.step, heads_by_kind
    return None


FORMAT = "attention-playground-timelapse/1"
FILE = TIMELAPSE
SAMPLE = SAMPLES[0]
SCENE_COUNT = 32
MOST_BYTES = 100 * 10**6
MOST_SIDE_PATCHES = 14  # most patches along a side of the sample, whose trace is stored a dozen times
MOST_POINTS = 300  # most points of the curve
EARLY_POINTS = 12  # number of first points that are single steps, not averages
HABITS = tuple(field.name for field in fields(Habits) if field.name != "to_one")  # older files lack `to_one`


@dataclass(frozen=True)
class Moment:
    step: int
    habits: Habits
    mass: np.ndarray  # (layers, heads)
    trace: bytes  # the trace for the microscope or Trace.from_bytes; empty if only the curves are kept


@dataclass(frozen=True)
class Timelapse:
    model: str
    sample: str
    losses: tuple[str, ...]
    curve: np.ndarray  # (points, 1 + losses)
    moments: tuple[Moment, ...]
    chance: float = 0.0  # the `mass` of an even row; 0 if it was not measured


def read(file: Path = FILE) -> Timelapse:
    if not file.is_file():
        raise PlaygroundError(
            f"There is no file {file}; `python -m playground.training.timelapse RUN` makes it of a training run."
        )
    if (size := file.stat().st_size) > MOST_BYTES:
        raise PlaygroundError(f"{file} has {size / 1e6:,.0f} MB; a time-lapse has {MOST_BYTES / 1e6:,.0f} at most.")
    header, arrays = unpack(file.read_bytes())
    if header.get("format") != FORMAT:
        raise PlaygroundError(f"{file} is of the format {header.get('format')!r:.60}, not {FORMAT!r}.")
    try:
        check_timelapse(header, arrays, HABITS, {sample.name for sample in SAMPLES})
    except (KeyError, ValueError, TypeError) as error:
        raise PlaygroundError(f"{file} is damaged: {error}.") from None
    for i in range(len(header["moments"])):
        if arrays[f"trace{i}"].size:
            Trace.from_bytes(arrays[f"trace{i}"].tobytes())  # raises with the reason if a trace is invalid
    moments = (
        Moment(
            step=step,
            habits=Habits(to_one=np.zeros_like(arrays["entropy"][i]), **{name: arrays[name][i] for name in HABITS}),
            mass=arrays["mass"][i],
            trace=arrays[f"trace{i}"].tobytes(),
        )
        for i, step in enumerate(header["moments"])
    )
    labels = header["model"], header["sample"], tuple(header["losses"])
    return Timelapse(*labels, arrays["curve"], tuple(moments), float(header.get("chance", 0)))


def write(run: Path, file: Path = FILE, count: int = SCENE_COUNT) -> None:
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
        "format": FORMAT,
        "model": loading.load(str(snapshots[max(snapshots)]), device="cpu").name,
        "sample": SAMPLE.name,
        "scenes": count,
        "chance": chance(held_out),
        "losses": checkpoint["losses"],
        "moments": [moment.step for moment in moments],
    }
    arrays = {name: np.stack([getattr(m.habits, name) for m in moments]).astype(np.float32) for name in HABITS}
    arrays |= {"curve": curve, "mass": np.stack([m.mass for m in moments])}
    arrays |= {f"trace{i}": np.frombuffer(m.trace, np.uint8) for i, m in enumerate(moments)}
    file.write_bytes(pack(header, arrays))


def only_curves(file: Path, output: Path) -> None:
    """Writes the file without its traces, which are nearly all of its bytes."""
    _with_traces(file, output, lambda data: data[:0])


def in_eight_bits(file: Path, output: Path) -> None:
    """Writes the file with its traces in 8 bits, which take half as many bytes."""
    _with_traces(file, output, lambda data: data and Trace.from_bytes(data).to_bytes(numbers="int8"))


def shorten(file: Path, output: Path, most_bytes: float) -> None:
    """Rewrites the time-lapse without some moments, so that it has at most `most_bytes` bytes."""
    read(file)  # raises if the file is invalid
    header, arrays = unpack(file.read_bytes())
    del header["sections"]
    traces = [arrays.pop(f"trace{i}") for i in range(len(header["moments"]))]
    other_bytes = file.stat().st_size - sum(trace.nbytes for trace in traces)
    kept_moments = most_different_moments([trace.tobytes() for trace in traces], most_bytes - other_bytes)
    header["moments"] = [header["moments"][i] for i in kept_moments]
    arrays |= {name: arrays[name][kept_moments] for name in (*HABITS, "mass")}
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


def _with_traces(file: Path, output: Path, convert: Callable[[bytes], bytes]) -> None:
    read(file)  # raises if the file is invalid
    header, arrays = unpack(file.read_bytes())
    del header["sections"]
    for name in (f"trace{i}" for i in range(len(header["moments"]))):
        arrays[name] = np.frombuffer(convert(arrays[name].tobytes()), np.uint8)
    output.write_bytes(pack(header, arrays))


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
    return Moment(step, average(sums.habits), sums.mass.numpy(), trace(vit, image, size=size).to_bytes(numbers="int8"))


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
    parser = argparse.ArgumentParser(prog="python -m playground.training.timelapse", description=__doc__.split("\n")[0])
    parser.add_argument("run", metavar="RUN", type=Path, help="the folder of a training run, or its time-lapse")
    parser.add_argument("--curves", action="store_true", help="of a time-lapse: leave out its pictures")
    parser.add_argument(
        "--within", metavar="MB", type=float, help="of a time-lapse: leave out the moments that show least"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, default=FILE, help=f"default: {FILE.name} in assets/"
    )
    options = parser.parse_args(arguments)
    convert = in_eight_bits if options.run.is_file() else write
    try:
        if options.within is not None:
            shorten(options.run, options.output, options.within * 1e6)
        else:
            (only_curves if options.curves else convert)(options.run, options.output)
    except PlaygroundError as error:
        print(f"playground: {error}", file=sys.stderr)
        return 2
    print(f"{options.output}  {options.output.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
