"""Makes views, which are pictures with DINOv2's features of their patches, once, and keeps them in a folder.

The folder's arrays are memory-mapped files. Each has one entry for each view, which has S × S patches:

  pictures   (views, 8·S, 8·S, 3) uint8, for the student
  features   (views, 1 + S², 384) float16: DINOv2's class token and patches, of the same view at 14 pixels a patch
  present    (views, labels) int8: the labels of a drawn scene; −1 in other views, which have none
  things     (views, S, S) uint8: the number of each patch's thing, for measuring. Training does not read it
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from playground.errors import PlaygroundError
from playground.models import loading
from playground.vit import VisionTransformer
from workshop.loop import half_precision
from workshop.photographs import Album, composite, crop
from workshop.scenes import generate
from workshop.scenes.generate import LABELS, patch_targets, presence

KIND_SHARES = {"photograph": 0.35, "cut-outs": 0.3, "drawn": 0.35}  # kind of view -> its share of the views
DINOV2_PATCH, STUDENT_PATCH = 14, 8  # pixels of a patch: DINOv2's and the student's
FEATURE_WIDTH = 384  # numbers in a feature of DINOv2
VIEWS_PER_PASS = 16  # views in one pass of DINOv2


@dataclass(frozen=True)
class Views:
    pictures: np.ndarray
    features: np.ndarray
    present: np.ndarray
    things: np.ndarray

    def __len__(self) -> int:
        return len(self.pictures)


def prepare(folder: Path, album: Album, count: int, side: int, seed: int) -> Iterator[int]:
    """Fills the folder with `count` views of side × side patches, or continues a stopped run; yields the number of
    finished views. View number i depends on the seed and on i only."""
    shapes = {
        "pictures": ((STUDENT_PATCH * side, STUDENT_PATCH * side, 3), np.uint8),
        "features": ((1 + side**2, FEATURE_WIDTH), np.float16),
        "present": ((len(LABELS),), np.int8), "things": ((side, side), np.uint8),
    }  # fmt: skip
    plan, progress_file = {"count": count, "side": side, "seed": seed}, folder / "views.json"
    folder.mkdir(parents=True, exist_ok=True)
    progress_record = json.loads(progress_file.read_text()) if progress_file.exists() else {**plan, "made": 0}
    if {**progress_record, **plan} != progress_record:
        raise PlaygroundError(f"{folder} holds other views than the {count} of {side} × {side} patches; name another.")
    mode = "r+" if progress_record["made"] else "w+"
    arrays = {
        name: np.lib.format.open_memmap(folder / f"{name}.npy", mode, kind, (count, *shape))
        for name, (shape, kind) in shapes.items()
    }
    dinov2 = loading.load("dinov2-small", device="cpu") if progress_record["made"] < count else None
    for first_view in range(progress_record["made"], count, VIEWS_PER_PASS):
        numbers = range(first_view, min(first_view + VIEWS_PER_PASS, count))
        views_made = [view(album, side, np.random.default_rng((seed, i)), seed * 2**32 + i) for i in numbers]
        large_pictures, *other_arrays = (np.stack(part) for part in zip(*views_made, strict=True))
        for name, values in zip(("pictures", "present", "things"), other_arrays, strict=True):
            arrays[name][numbers.start : numbers.stop] = values
        arrays["features"][numbers.start : numbers.stop] = features(dinov2, large_pictures)
        progress_file.write_text(json.dumps({**plan, "made": numbers.stop}))
        yield numbers.stop


@lru_cache(maxsize=2)
def read(folder: Path) -> Views:
    """The finished views of a folder."""
    if not (folder / "views.json").exists():
        raise PlaygroundError(f"{folder} holds no views.")
    description = json.loads((folder / "views.json").read_text())
    if description["made"] < description["count"]:
        raise PlaygroundError(
            f"{folder} holds {description['made']} of {description['count']} views: the same command makes the rest."
        )
    return Views(*(np.load(folder / f"{name}.npy", mmap_mode="r") for name in Views.__dataclass_fields__))


def view(album: Album, side: int, rng: np.random.Generator, number: int) -> tuple[np.ndarray, ...]:
    """(picture for DINOv2, picture for the student, labels or −1, number of the thing at each patch). A drawn view
    shows the scene `number`."""
    kind = rng.choice(list(KIND_SHARES), p=list(KIND_SHARES.values()))
    if kind == "drawn":
        scene = generate.scene(number, STUDENT_PATCH * side)
        things = patch_targets(scene, STUDENT_PATCH).objects
        large_picture = generate.scene(number, DINOV2_PATCH * side).image
        return large_picture, scene.image, presence(scene).astype(np.int8), things.astype(np.uint8)
    thing_numbers = np.zeros((DINOV2_PATCH * side, DINOV2_PATCH * side), np.uint8)
    if kind == "photograph":
        large_picture = crop(album, DINOV2_PATCH * side, rng)
    else:
        large_picture, thing_numbers = composite(album, DINOV2_PATCH * side, rng)
    small_picture = large_picture.resize(
        (STUDENT_PATCH * side, STUDENT_PATCH * side), Image.Resampling.BICUBIC, reducing_gap=3
    )
    return (
        np.asarray(large_picture),
        np.asarray(small_picture),
        np.full(len(LABELS), -1, np.int8),
        most_frequent_numbers(thing_numbers, side),
    )


def most_frequent_numbers(numbers: np.ndarray, side: int) -> np.ndarray:
    """The most frequent number in each patch: (pixels, pixels) -> (side, side)."""
    patch_side = len(numbers) // side
    cells = numbers.reshape(side, patch_side, side, patch_side).swapaxes(1, 2).reshape(side, side, -1)
    votes = np.stack([(cells == number).sum(-1) for number in range(int(numbers.max()) + 1)], -1)
    return votes.argmax(-1).astype(np.uint8)


@torch.no_grad()
def features(dinov2: VisionTransformer, images: np.ndarray) -> np.ndarray:
    """DINOv2's tokens after the last norm: (B, 14·S, 14·S, 3) uint8 -> (B, 1 + S², 384) float16."""
    c = dinov2.config
    pixels = (torch.from_numpy(images).float() / 255 - torch.tensor(c.mean)) / torch.tensor(c.std)
    with half_precision("cpu"):
        last_tokens = dinov2.features(pixels.permute(0, 3, 1, 2), c.depth - 1)
    return dinov2.norm(last_tokens.float()).half().numpy()
