"""Sweeps measure what each of many changes, such as switching off a head, does to a metric over a folder of pictures.
The layers below a change are computed once; changes of one layer are one batch."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn

from playground import cuts
from playground.analysis import occlusion
from playground.errors import PlaygroundError, warn
from playground.figures.many import Many, trace_many
from playground.figures.zarr_file import package
from playground.models.hub import bar
from playground.numbers import index
from playground.relevance import in_room
from playground.tracing import label_number, relative_change
from playground.vit import At, VisionTransformer
from playground.vit_parts import Rotation

if TYPE_CHECKING:
    import xarray

Over = Literal["heads", "layers × positions"]
MetricName = Literal["margin", "accuracy", "moved"]
SWEEP_KINDS = {"heads": ("layer", "head"), "layers × positions": ("layer", "row", "column")}  # kind -> its dimensions
METRICS = get_args(MetricName)
TOKENS_AT_ONCE = 3200  # tokens of all variants that go through together
DRAWS = 1000  # samples that a bootstrap draws
CONFIDENCE = 0.95

Metric = Callable[[Tensor, Any], Tensor]
Change = Callable[[Tensor], object]  # changes a picture's tensor in place


@dataclass(frozen=True)
class Sweep(Many):
    """An iterator over each picture's numbers: the metric of the plain pass, `before`, and of each variant, `value`."""

    metric: str | Metric = "margin"
    over: str = "heads"
    classes: tuple[Any, ...] = ()  # for each picture, its label's number or its folder's name
    block: int = 1  # side of a block that is blanked, in patches
    to: cuts.Ablation = "mean"  # what an ablated head gives
    corrupt: tuple[Any, ...] = ()  # for each picture, the one into whose pass its tokens are put

    @property
    def dimensions(self) -> dict[str, tuple[str, ...]]:
        of_passes: dict[str, tuple[str, ...]] = {"before": (), "clean": ()} if self.corrupt else {"before": ()}
        return of_passes | {"value": SWEEP_KINDS[self.over]}

    def shapes(self) -> dict[str, tuple[int, ...]]:
        c, (rows, columns) = self.vit.config, self.grid
        blocks = tuple(-(-side // self.block) for side in (rows, columns))
        value = (c.depth, c.heads) if self.over == "heads" else (c.depth, *blocks)
        return dict.fromkeys(self.dimensions, ()) | {"value": value}

    def coordinates(self) -> dict[str, tuple[str, Sequence[int] | Sequence[str]]]:
        coordinates: dict[str, tuple[str, Sequence[int] | Sequence[str]]] = {}
        for dimension, length in zip(self.dimensions["value"], self.shapes()["value"], strict=True):
            step = self.block if dimension in ("row", "column") else 1
            coordinates[dimension] = dimension, [step * index for index in range(length)]
        labels = self.vit.config.labels
        names = [labels[class_] if isinstance(class_, int) and labels else str(class_) for class_ in self.classes]
        return coordinates | {"class": ("image", names)}

    def identity(self) -> dict[str, Any]:
        return {
            "over": self.over, "metric": _identity(self.metric), "classes": [str(class_) for class_ in self.classes],
            "block": self.block, "to": self.to, "corrupt": [str(picture) for picture in self.corrupt],
        }  # fmt: skip

    def changes(self, clean: Tensor | None = None) -> tuple[str, list[tuple[tuple[int, ...], Change]]]:
        """(the point of a layer that is changed, the changes with their places in a layer's part of `value`). clean:
        (tokens, width), what a block's patches become; None: their mean"""
        c = self.vit.config
        if self.over == "heads":
            return "attention.heads", [((head,), partial(_ablate_head, head, self.to)) for head in range(c.heads)]
        columns = self.shapes()["value"][2]
        blocks = enumerate(occlusion.blocks(self.grid, self.block))
        return "residual", [
            (divmod(index, columns), _put_block(block, len(c.prefix), clean)) for index, block in blocks
        ]

    def _pass(self, pixels: Tensor, part: Sequence[int] = ()) -> dict[str, np.ndarray]:
        shapes = self.shapes()
        numbers = {kind: np.full((len(pixels), *shape), np.nan, np.float32) for kind, shape in shapes.items()}
        on_cpu = self.vit.patch_embed.proj.weight.device.type == "cpu"
        most = max(1, (TOKENS_AT_ONCE if on_cpu else 16 * TOKENS_AT_ONCE) // self.tokens)
        for row, number in enumerate(part):
            given, clean = pixels[row, None], None
            if self.corrupt:
                clean, (given, errors) = given, replace(self, pictures=self.corrupt)._pixels([number])
                if errors:
                    raise errors[number]
            measure = partial(self.metric_of, given, self.classes[number], clean=clean)
            for kind, measured in in_room(self.vit, self.tokens, most, self.room, measure).items():
                numbers[kind][row] = measured
            if not np.isfinite(numbers["value"][row]).all():
                raise PlaygroundError(f"{self.names[number]}: the metric is no number (NaN or infinite).")
        return numbers

    @torch.no_grad()
    def metric_of(
        self, pixels: Tensor, label: Any, most_variants: int, clean: Tensor | None = None
    ) -> dict[str, float | np.ndarray]:
        """The metric of one picture (1, 3, H, W) in the plain pass and in each variant, `most_variants` at once."""
        vit = self.vit
        states, rotation = self.states(pixels)
        clean_states = None if clean is None else self.states(clean)[0]
        measured: dict[str, float | np.ndarray] = {"before": float(self.metric_in(states[-1], states[-1], label)[0])}
        if clean_states is not None:
            measured["clean"] = float(self.metric_in(clean_states[-1], states[-1], label)[0])
        value = np.full(self.shapes()["value"], np.nan, np.float32)
        for layer in range(vit.config.depth):
            point, changes = self.changes(None if clean_states is None else clean_states[layer + 1][0])
            for start in range(0, len(changes), most_variants):
                batch = changes[start : start + most_variants]
                x, at = states[layer].expand(len(batch), -1, -1), _each_in_its_row(f"layers.{layer}.{point}", batch)
                for x, _ in vit.layers(x, rotation, None, layer, at):  # noqa: B007, B020
                    pass
                for (place, _), number in zip(batch, self.metric_in(x, states[-1], label), strict=True):
                    value[(layer, *place)] = float(number)
        return measured | {"value": value}

    def states(self, pixels: Tensor) -> tuple[list[Tensor], Rotation]:
        """The tokens before each layer and at the end, (1, tokens, width) each, and the angles of their places."""
        tokens, rotation = self.vit.embed(pixels.to(self.vit.patch_embed.proj.weight))
        return [tokens, *(x for x, _ in self.vit.layers(tokens, rotation))], rotation

    def metric_in(self, x: Tensor, before: Tensor, label: Any) -> Tensor:
        """The metric of each pass, (passes,). x, before: tokens after the last layer, (passes, tokens, width)"""
        vit = self.vit
        if self.metric == "moved":
            return relative_change(x, before).mean(-1).float().cpu()
        read = vit.norm if getattr(self.metric, "of", "logits") == "features" else vit.classify
        answer = read(x).float().cpu()
        if self.metric == "margin":
            return occlusion.margin(answer, label, vit.config.multi_label)
        if self.metric == "accuracy":
            return (answer.argmax(-1) == label).float()
        numbers = torch.as_tensor(self.metric(answer, label)).float().flatten()  # type: ignore[operator]
        if len(numbers) != len(answer):
            raise PlaygroundError(f"A metric gives a number for each of {len(answer)} passes; it gave {len(numbers)}.")
        return numbers


def _each_in_its_row(changed_point: str, batch: list[tuple[tuple[int, ...], Change]]) -> At:
    """A function for the argument `at` of `vit.layers`; it makes each change in its row of the batch."""

    def change_point(point: str, x: Tensor) -> Tensor:
        if point != changed_point:
            return x
        x = x.clone()
        for row, (_, change) in zip(x, batch, strict=True):
            change(row)
        return x

    return change_point


def _ablate_head(head: int, to: str, mixed: Tensor) -> None:
    mixed[head] = cuts.replacement(mixed[head], to)  # mixed: (heads, tokens, d)


def _put_block(block: Tensor, prefix: int, clean: Tensor | None) -> Change:
    """A function that replaces the tokens of a block's patches by those of `clean`, or else by the patches' mean."""
    tokens = block.flatten().nonzero()[:, 0] + prefix

    def change(x: Tensor) -> None:  # x: (tokens, width)
        x[tokens.to(x.device)] = x[prefix:].mean(0) if clean is None else clean[tokens.to(x.device)]

    return change


def sweep(
    pictures: str | os.PathLike[str] | Sequence[Any],
    vit: nn.Module | str | os.PathLike[str],
    metric: MetricName | Metric = "margin",
    over: Over = "heads",
    *,
    labels: Any = None,
    blocks: int = 1,
    to: cuts.Ablation = "mean",
    corrupt: str | os.PathLike[str] | Sequence[Any] | None = None,
    size: tuple[int, int] | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> xarray.Dataset:
    """What each of many changes does to a metric, over the pictures of a folder, as an xarray.Dataset: the metric with
    a change, `value` (image, layer, head), and without, `before` (image); and for the pictures of each label and for
    "all" the `mean` of value − before (label, layer, head) with its 95 % bootstrap interval, `low` to `high`.

    `over` is "heads" (each ablated in turn; `to` as in `seen.ablate`) or "layers × positions" (a block's patches become
    the mean patch as they leave a layer; a block's side is `blocks` patches). With `corrupt`, as many pictures in the
    same order, it is patching, clean → corrupt: in the pass of the corrupt picture they become those of the picture.
    `before` is the metric of the corrupt pass, `clean` of the picture's; a share of (value − before) / (clean − before)
    is restored.
    `metric` is "margin" (in logits, of the picture's label), "accuracy", "moved" (how far the last tokens move, without
    any label), or a function of logits (passes, classes) and the label that gives a number for each pass; with an
    attribute `of = "features"` it gets the last tokens, (passes, tokens, width). A picture's label is the name of its
    folder; `labels` is a table of them ({"kittens": "tabby", "cat.jpg": 281}). `out` is a .zarr store, which a stopped
    run continues.

    >>> from playground.assets import SAMPLES
    >>> pictures = [SAMPLES / "meadow.jpg", SAMPLES / "flock.jpg"]
    >>> found = playground.sweep(pictures, "untrained", metric="moved", size=(112, 112), progress=False)
    >>> dict(found["value"].sizes)
    {'image': 2, 'layer': 6, 'head': 6}
    """
    xr = package("xarray")
    run = prepared_sweep(pictures, vit, metric, over, labels, blocks, size, to, corrupt)
    with tempfile.TemporaryDirectory() as folder:
        path = run.write(out or f"{folder}/sweep.zarr", bar() if progress else None)
        with xr.open_dataset(path, engine="zarr") as store:
            dataset = store.load()
    dataset = dataset.isel(image=dataset["done"].values.nonzero()[0]).drop_vars("done")
    if not len(dataset["image"]):
        raise PlaygroundError("No picture has numbers.")
    return _with_intervals(dataset)


def prepared_sweep(
    pictures: Any, vit: Any, metric: Any, over: str, labels: Any = None, blocks: int = 1,
    size: tuple[int, int] | None = None, to: cuts.Ablation = "mean", corrupt: Any = None,
) -> Sweep:  # fmt: skip
    over = over.replace(" x ", " × ")
    if over not in SWEEP_KINDS:
        raise PlaygroundError(f"A sweep is over {', '.join(SWEEP_KINDS)}; given was {over!r:.40}.")
    if not callable(metric) and metric not in METRICS:
        raise PlaygroundError(f"A metric is {', '.join(METRICS)} or a function; given was {metric!r:.40}.")
    if to not in cuts.ABLATIONS:
        raise PlaygroundError(f"A head is ablated to= {', '.join(cuts.ABLATIONS)}; given was {to!r:.40}.")
    base = trace_many(pictures, vit, "features", size=size, batch=1)
    block = index(blocks)
    if block is None or not 1 <= block <= max(base.grid):
        raise PlaygroundError(
            f"blocks= is the side of a block, 1 to {max(base.grid)} patches of this picture; given was {blocks!r:.40}."
        )
    folder = Path(pictures) if isinstance(pictures, str | os.PathLike) else None
    others = [] if corrupt is None else trace_many(corrupt, base.vit, "features", size=size).pictures
    if corrupt is not None and (over == "heads" or len(others) != len(base)):
        raise PlaygroundError(
            f"corrupt= is one picture for each of {len(base)}, in a sweep over layers × positions; given were "
            f"{len(others)}, over {over}."
        )
    needs_numbers = metric in ("margin", "accuracy") or (callable(metric) and labels is not None)
    classes = _classes(base, folder, labels, needs_numbers)
    fields = {name: getattr(base, name) for name in ("pictures", "names", "vit", "size", "batch")}
    arrays: dict[str, tuple[int, ...]] = dict.fromkeys(("before", "value", *(["clean"] if others else [])), ())
    corrupt = tuple(others)
    return Sweep(
        **fields, wanted=arrays, metric=metric, over=over, classes=classes, block=block, to=to, corrupt=corrupt
    )


def _classes(source: Many, folder: Path | None, labels: Any, needs_number: bool) -> tuple[Any, ...]:
    """For each picture, the number of its label, or the name of its folder if the model has no such label."""
    if not isinstance(labels, dict | None):
        raise PlaygroundError(f"labels= is a table {{folder or picture: label}}; given was {labels!r:.40}.")
    vit, table = source.vit, {str(key): value for key, value in (labels or {}).items()}
    numbers = []
    for name in source.names:
        path = Path(name)
        in_subfolder = folder is not None and path.parent != folder
        folder_name = path.relative_to(folder).parts[0] if in_subfolder and folder is not None else ""
        label = next((table[key] for key in (name, path.name, path.stem, folder_name) if key in table), folder_name)
        numbers.append(_label(vit, label, needs_number, name))
    return tuple(numbers)


def _label(vit: VisionTransformer, label: Any, needs_number: bool, name: str) -> Any:
    number = int(label) if isinstance(label, str) and label.isdecimal() else label
    try:
        return label_number(vit, number)
    except PlaygroundError as error:
        if not needs_number:
            return str(label)
        place_words = f"of the folder {label!r}" if label else "of no folder of its own"
        raise PlaygroundError(
            f"{name} is {place_words}, which is no label: {error}. labels={{{label or name!r}: a label}} says it, and "
            'metric="moved" needs none.'
        ) from None


def _identity(metric: str | Metric) -> str:
    """A text that identifies the function, also in another process."""
    if isinstance(metric, str):
        return metric
    code = getattr(metric, "__code__", None)
    body = repr((code.co_code, code.co_consts, code.co_names)) if code is not None else repr(type(metric))
    return f"{getattr(metric, '__qualname__', type(metric).__name__)} {hashlib.sha256(body.encode()).hexdigest()[:12]}"


def _with_intervals(dataset: Any) -> Any:
    dataset = dataset.set_coords("class")
    changes = (dataset["value"] - dataset["before"]).values  # (images, …)
    classes = np.array([str(label) for label in dataset["class"].values])
    names = ["all", *sorted({label for label in classes if label})]
    if single_classes := [name for name in names[1:] if (classes == name).sum() == 1]:
        warn(f"A class of one picture has numbers, but no interval: {', '.join(single_classes[:3])}.")
    intervals = [bootstrap(changes if name == "all" else changes[classes == name]) for name in names]
    dimensions = ("label", *dataset["value"].dims[1:])
    for kind, numbers in zip(("mean", "low", "high"), zip(*intervals, strict=True), strict=True):
        dataset[kind] = dimensions, np.stack(numbers).astype(np.float32)
    dataset["label"] = "label", names
    dataset.attrs["interval"] = f"{100 * CONFIDENCE:.0f} % by bootstrap over pictures, {DRAWS} draws"
    return dataset


def bootstrap(numbers: np.ndarray, draws: int = DRAWS, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The mean over pictures and its 95 % bootstrap interval, NaN for a single picture. numbers: (pictures, …)"""
    mean = numbers.mean(0)
    if len(numbers) < 2:
        return mean, np.full_like(mean, np.nan), np.full_like(mean, np.nan)
    generator = np.random.default_rng(seed)
    weights = generator.multinomial(len(numbers), [1 / len(numbers)] * len(numbers), size=draws) / len(numbers)
    means = (weights @ numbers.reshape(len(numbers), -1)).reshape(draws, *mean.shape)
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    return mean, low, high
