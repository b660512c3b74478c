"""Numbers of many pictures, batch after batch: bounded memory, one pass through the network each. Every picture is
cropped around its middle to one size, so that all numbers have the same shape."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

from playground.errors import PlaygroundError
from playground.models.loading import load
from playground.numbers import index
from playground.pictures import images
from playground.relevance import in_room, no_labels
from playground.tracing import BLOCK_SCORES, distances, no_numbers, read_cuts
from playground.vit import At, VisionTransformer
from playground.vit_parts import plainly, value_norms

KINDS = ("weights:LAYERS", "features", "features:LAYERS", "entropy", "distance", "norms", "logits", "labels")
DIMENSIONS = {  # names of each array's axes after the first, which is the picture
    "weights": ("layer", "head", "query", "token"),
    "features": ("layer", "token", "width"),
    "entropy": ("layer", "head", "query"),
    "distance": ("layer", "head", "query"),
    "norms": ("layer", "head", "token"),
    "logits": ("label",),
    "labels": ("label",),
}


@dataclass(frozen=True)
class Numbers:
    """The numbers of one picture: {name: float32 array} with the axes in DIMENSIONS."""

    name: str
    arrays: dict[str, np.ndarray]
    number: int = 0  # the picture's index


@dataclass(frozen=True)
class Many:
    """An iterator over the `Numbers` of each picture. `write` makes a Zarr store, which a stopped run continues."""

    pictures: Sequence[Any]
    names: tuple[str, ...]
    vit: VisionTransformer
    wanted: dict[str, tuple[int, ...]]  # kind of numbers -> layers; () for kinds without layers, such as logits
    size: tuple[int, int]
    batch: int
    cut: tuple[str, ...] = ()
    room: list[int] = field(default_factory=list, compare=False)  # the most pictures that fitted into a graphics card

    def __len__(self) -> int:
        return len(self.pictures)

    def __iter__(self) -> Iterator[Numbers]:
        return self.numbers_of(range(len(self)))

    def numbers_of(self, wanted_numbers: Iterable[int], skip_unreadable: bool = False) -> Iterator[Numbers]:
        """Yields the `Numbers` of the pictures with these indices. The next batch is decoded while one is computed. The
        results are the same to the last bit whichever pictures are wanted, because batches never change; an unreadable
        picture is computed as black but never yielded. `skip_unreadable`: skips pictures that can't be read or give
        NaN; otherwise the first such picture raises."""
        wanted_numbers = set(wanted_numbers)
        starts = range(0, len(self), self.batch)
        batches = [range(start, min(start + self.batch, len(self))) for start in starts]
        batches = [batch for batch in batches if wanted_numbers & set(batch)]
        with ThreadPoolExecutor(1, "pictures") as executor:
            next_pixels = executor.submit(self._pixels, batches[0]) if batches else None
            for batch, next_batch in zip_longest(batches, batches[1:]):
                pixels, errors = next_pixels.result()  # type: ignore[union-attr]  # there is one for each batch
                if errors and not skip_unreadable:
                    raise next(iter(errors.values()))
                next_pixels = executor.submit(self._pixels, next_batch) if next_batch else None
                arrays = in_room(self.vit, self.tokens, len(batch), self.room, partial(self._pieces, pixels, batch))
                errors |= self._without_numbers(batch, arrays, errors)
                if errors and not skip_unreadable:
                    raise next(iter(errors.values()))
                for row, number in enumerate(batch):
                    if number in wanted_numbers and number not in errors:
                        yield Numbers(self.names[number], {kind: array[row] for kind, array in arrays.items()}, number)

    @plainly
    def _pieces(self, pixels: Tensor, batch: Sequence[int], most: int) -> dict[str, np.ndarray]:
        """Computes a batch in pieces of at most `most` pictures."""
        parts = [self._pass(pixels[i : i + most], batch[i : i + most]) for i in range(0, len(batch), most)]
        return {kind: np.concatenate([part[kind] for part in parts]) for kind in parts[0]} if parts[1:] else parts[0]

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of one picture's arrays."""
        c = self.vit.config
        sizes = {"head": c.heads, "query": self.tokens, "token": self.tokens, "width": c.width, "label": c.classes}
        return {
            kind: tuple(len(layers) if side == "layer" else sizes[side] for side in DIMENSIONS[kind])
            for kind, layers in self.wanted.items()
        }

    @property
    def layers(self) -> list[int]:
        """All layers whose numbers are wanted."""
        return sorted({layer for layers in self.wanted.values() for layer in layers})

    def coordinates(self) -> dict[str, tuple[str, Sequence[int] | Sequence[str]]]:
        """The store's coordinates: {name: (dimension, values)}."""
        c, (rows, columns) = self.vit.config, self.grid
        names = c.labels or tuple(f"class {i}" for i in range(c.classes))
        positions = [(-1, -1)] * len(c.prefix) + [(row, column) for row in range(rows) for column in range(columns)]
        coordinates: dict[str, tuple[str, Sequence[int] | Sequence[str]]] = {}
        if self.layers:
            coordinates["layer"] = "layer", self.layers
        for dimension in ("token", "query"):
            coordinates[f"{dimension}_row"] = dimension, [row for row, _ in positions]
            coordinates[f"{dimension}_column"] = dimension, [column for _, column in positions]
        if {"logits", "labels"} & self.wanted.keys():
            coordinates["label"] = "label", names
        return coordinates

    def identity(self) -> dict[str, Any]:
        """Facts that must be equal for a run to continue another run's store, besides those in zarr_file.py."""
        return {"cut": self.cut}

    @property
    def dimensions(self) -> dict[str, tuple[str, ...]]:
        return {kind: DIMENSIONS[kind] for kind in self.wanted}

    @property
    def grid(self) -> tuple[int, int]:
        return self.size[0] // self.vit.config.patch_size, self.size[1] // self.vit.config.patch_size

    @property
    def tokens(self) -> int:
        return len(self.vit.config.prefix) + math.prod(self.grid)

    def write(self, path: str | os.PathLike[str], report: type | None = None) -> Path:
        """Writes a Zarr store, which a stopped run continues. `report` is a class like tqdm."""
        from playground.figures.zarr_file import write

        try:
            return write(self, Path(path), report)
        except OSError as error:
            raise PlaygroundError(
                f"{path} can't be written: {error.strerror or error}. A .zarr keeps what it holds: make room, and the "
                "same run goes on."
            ) from None

    def _pixels(self, batch: Sequence[int]) -> tuple[Tensor, dict[int, PlaygroundError]]:
        c, errors = self.vit.config, {}
        pixels = torch.zeros(len(batch), 3, *self.size)
        for row, number in enumerate(batch):
            try:
                picture = _centre_crop(self._open(number), self.size)
                pixels[row] = images.model_input(picture, self.size, c.mean, c.std, c.interpolation)[0]
            except PlaygroundError as error:
                errors[number] = error
        return pixels, errors

    def _without_numbers(
        self, batch: Sequence[int], arrays: dict[str, np.ndarray], unread: Collection[int]
    ) -> dict[int, PlaygroundError]:
        """{picture's index: error}, for pictures for which the model gives NaN or infinity. Raises the first error if
        no readable picture has numbers, because the cause is then the model."""
        c = self.vit.config
        # prefix tokens have no place, so their distance is always NaN
        countable = [values[..., len(c.prefix) :] if kind == "distance" else values for kind, values in arrays.items()]
        are_finite = np.all([np.isfinite(values.reshape(len(values), -1).sum(1)) for values in countable], axis=0)
        errors = {
            number: no_numbers(self.vit, f"for {self.names[number]}")
            for number, has_numbers in zip(batch, are_finite, strict=False)
            if not has_numbers and number not in unread
        }
        if errors and len(errors) + len(unread) == len(batch):
            raise next(iter(errors.values()))
        return errors

    def _open(self, number: int) -> Image.Image:
        try:
            return images.open_image(self.pictures[number])
        except PlaygroundError as error:
            raise PlaygroundError(f"{self.names[number]}: {error}") from None

    def _pass(self, pixels: Tensor, part: Sequence[int] = ()) -> dict[str, np.ndarray]:
        vit, c = self.vit, self.vit.config
        hook, all_heard = self.cut_function(), torch.ones(1, 1, 1, 1, dtype=torch.bool)
        arrays_by_kind: dict[str, list[Tensor]] = {kind: [] for kind in self.wanted}
        patch_gaps = None
        if "distance" in self.wanted:
            patch_gaps = distances(self.grid).to(vit.patch_embed.proj.weight.device)
        with torch.no_grad():
            tokens, rotation = vit.embed(pixels.to(vit.patch_embed.proj.weight))
            answer_kinds = {"logits", "labels"} & self.wanted.keys()
            last_layer = c.depth - 1 if answer_kinds else max(self.layers)
            for layer, (x, (q, k, v)) in enumerate(islice(vit.layers(tokens, rotation, at=hook), last_layer + 1)):
                mask = hook(f"layers.{layer}.attention.heard", all_heard) if self.cut else all_heard
                heard_mask = None if mask.numel() == 1 else mask.to(q.device)
                if layer in self.wanted.get("weights", ()):
                    scores = (q.float() * c.scale) @ k.float().mT
                    arrays_by_kind["weights"].append(
                        (scores if heard_mask is None else scores.masked_fill(~heard_mask, -math.inf)).softmax(-1)
                    )
                if layer in self.wanted.get("norms", ()):
                    norms = [value_norms(vit.blocks[layer], value.float()) for value in v]
                    arrays_by_kind["norms"].append(torch.stack(norms))
                if layer in self.wanted.get("features", ()):
                    arrays_by_kind["features"].append(x.float())
                if {"entropy", "distance"} & self.wanted.keys():
                    entropy, distance = _spread(q.float(), k.float(), c.scale, patch_gaps, len(c.prefix), heard_mask)
                    for kind, spread in (("entropy", entropy), ("distance", distance)):
                        if kind in arrays_by_kind:
                            arrays_by_kind[kind].append(spread)
        numbers = {kind: torch.stack(parts, dim=1).cpu().numpy() for kind, parts in arrays_by_kind.items() if parts}
        if answer_kinds:
            with torch.no_grad():
                logits = vit.classify(x).float().cpu()
            numbers |= {"logits": logits.numpy(), "labels": c.shares(logits).numpy()}
        return {kind: numbers[kind] for kind in self.wanted}

    def cut_function(self) -> At:
        return read_cuts(self.vit, self.grid, self.cut).at()


def trace_many(
    pictures: str | os.PathLike[str] | Sequence[images.Source],
    model: nn.Module | str | os.PathLike[str],
    what: Sequence[str] | str = ("entropy", "distance"),
    *,
    batch: int | None = None,
    size: tuple[int, int] | None = None,
    cut: Sequence[str] | str = (),
) -> Many:
    """An iterator over the numbers of many pictures. `.write("out.zarr")` writes a Zarr store, which a stopped run
    continues.

    `pictures` are a folder, or a list of what `trace` takes. `what` lists the numbers: "weights:8" (in layer 8),
    "features" (after the last layer; "features:4,8" after these), "entropy" in bits and "distance" in patches (of every
    row of every layer), "norms" (‖W_O v‖ of every token), "logits", and "labels" (their shares). Every picture is
    cropped around its middle to one `size`, by default the model's own. `batch` pictures are computed at a time, by
    default 8, or on a graphics card as many as fit. `cut` says who may not hear whom, as in `trace`.

    >>> from playground.assets import SAMPLES
    >>> pictures = [SAMPLES / "meadow.jpg", SAMPLES / "flock.jpg"]
    >>> for one in playground.trace_many(pictures, "untrained", what=("weights:4", "entropy")):
    ...     print(one.arrays["weights"].shape, one.arrays["entropy"].shape)
    (1, 6, 201, 201) (6, 6, 201)
    (1, 6, 201, 201) (6, 6, 201)
    """
    vit = load(model)
    if isinstance(pictures, str | os.PathLike):
        pictures = images.in_folder(Path(pictures))
    if not isinstance(pictures, Iterable) or not (pictures := list(pictures)):
        raise PlaygroundError("There are no pictures to look at.")
    size = images.checked_size(vit.config.image_size if size is None else size, vit.config.patch_size)
    batch = (64 if vit.patch_embed.proj.weight.is_cuda else 8) if batch is None else batch
    if index(batch) is None or not 1 <= batch <= 4096:
        raise PlaygroundError(f"A batch has 1 to 4096 pictures; given was {batch}.")
    names = tuple(
        os.fspath(picture) if isinstance(picture, str | os.PathLike) else f"picture {number}"
        for number, picture in enumerate(pictures)
    )
    kinds = [what] if isinstance(what, str) or not isinstance(what, Iterable) else list(what)
    if not kinds or not all(isinstance(kind, str) for kind in kinds):
        raise PlaygroundError(f"Of many pictures there are {', '.join(KINDS)}; given was {what!r:.60}.")
    cuts = (cut,) if isinstance(cut, str) or not isinstance(cut, Iterable) else tuple(cut)
    layers_by_kind = dict(_kind_and_layers(kind, vit) for kind in kinds)
    run = Many(pictures, names, vit, layers_by_kind, size, int(batch), cuts)
    run.cut_function()  # raises for impossible cuts before anything is read
    return run


def _kind_and_layers(text: str, vit: VisionTransformer) -> tuple[str, tuple[int, ...]]:
    kind, _, layers_text = text.partition(":")
    depth = vit.config.depth
    if kind not in DIMENSIONS or bool(layers_text) > (kind in ("weights", "features")):
        raise PlaygroundError(f"Of many pictures there are {', '.join(KINDS)}; given was {text!r}.")
    if kind in ("logits", "labels") and not vit.classes:
        raise no_labels(vit, f"{kind} can't be asked")
    if kind not in ("weights", "features"):
        return kind, tuple(range(depth)) if "layer" in DIMENSIONS[kind] else ()
    try:
        layers = tuple(
            int(part) % depth if -depth <= int(part) < depth else depth for part in layers_text.split(",") if part
        )
    except ValueError:
        layers = (depth,)
    if depth in layers or (kind == "weights" and not layers):
        raise PlaygroundError(f"{kind} of which layers? Such as {kind}:{2 * depth // 3}; they count to {depth - 1}.")
    return kind, tuple(sorted({layer % depth for layer in layers})) or (depth - 1,)


def _centre_crop(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The largest part around the picture's middle that has the aspect of `size`."""
    width, height = picture.size
    crop_width, crop_height = min(width, height * size[1] / size[0]), min(height, width * size[0] / size[1])
    left, top = round((width - crop_width) / 2), round((height - crop_height) / 2)
    return picture.crop((left, top, left + max(1, round(crop_width)), top + max(1, round(crop_height))))


def _spread(
    q: Tensor, k: Tensor, scale: float, patch_gaps: Tensor | None, prefix: int, heard_mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The entropy of every row in bits, (B, h, N), and the mean distance in patches over which each patch attends, NaN
    for prefix tokens, which have no place. q, k: (batch B, heads h, tokens N, d). Blocks of rows bound the memory.

    With e = exp(s − max s) and z = Σ e the entropy is log z + max s − Σ (e/z) s. The last sum is scale · q · Σ (e/z) k:
    one product of matrices instead of another pass over all scores.
    """
    B, h, N, _ = q.shape
    entropy, distance = q.new_empty(B, h, N), q.new_full((B, h, N), math.nan)
    row_count = max(1, BLOCK_SCORES // (B * h * N))
    for first in range(0, N, row_count):
        rows = slice(first, min(first + row_count, N))
        scores = q[:, :, rows] @ k.mT * scale  # (B, h, rows, N)
        if heard_mask is not None:
            scores = scores.masked_fill(~heard_mask[:, :, rows], -math.inf)
        row_maximum = scores.amax(-1, keepdim=True)
        e = scores.sub_(row_maximum).exp_()
        z = e.sum(-1)
        mean_score = (q[:, :, rows] * (e @ k)).sum(-1) * scale / z
        entropy[:, :, rows] = (z.log() + row_maximum[..., 0] - mean_score) / math.log(2)
        if patch_gaps is not None and rows.stop > prefix:
            patches = slice(max(first, prefix), rows.stop)
            weights = e[:, :, patches.start - first :, prefix:]
            sums = torch.einsum("bhqp,qp->bhq", weights, patch_gaps[patches.start - prefix : patches.stop - prefix])
            distance[:, :, patches] = sums / weights.sum(-1)
    return entropy, distance
