"""Trains a classifier on a folder of labelled pictures: CIFAR-10, or any folder of class folders.

The architecture is like the bundled model's, but the only label is the class of the whole picture. No loss tells heads
where to look.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image, ImageOps
from torch import Tensor, nn
from torch.utils.data import Dataset

from playground.errors import PlaygroundError
from playground.training.datasets import LabelledPictures, Place
from playground.training.losses import normalised_pixels
from playground.training.recipe import Recipe
from playground.vit import Config, VisionTransformer

EPOCHS = 30
FEWEST_STEPS = 1000
LARGEST_SHIFT = 1 / 8  # largest shift, as a share of the side, in every direction
SMOOTHING = 0.1  # the share of label smoothing in the cross-entropy


def recipe_for(pictures: LabelledPictures, seed: int = 0, steps: int | None = None) -> Recipe:
    """An architecture that suits the size of the pictures, and thirty epochs."""
    side, patch, batch = (32, 4, 128) if pictures.tiny else (112, 8, 64)
    config = Config(
        image_size=(side, side), patch_size=patch, depth=6, width=192, mlp_width=768, heads=6, registers=4,
        classes=len(pictures.labels), labels=pictures.labels,
    )  # fmt: skip
    default_steps = max(FEWEST_STEPS, EPOCHS * len(pictures.training) // batch)
    return Recipe(steps=steps or default_steps, polish=0, batch=batch, seed=seed, config=config, name=pictures.name)


class Pool:
    """Decoded pictures of one size in a memory-mapped file, which several processes can read without copies."""

    def __init__(self, file: Path, labels: np.ndarray, damaged: list[str]):
        self.file, self.labels, self.damaged = file, labels, damaged
        self._images: np.ndarray | None = None

    @staticmethod
    def fill(places: Sequence[Place], side: int, file: Path) -> Pool:
        """Decodes pictures into `file`. Those that can't be opened are left out; their errors are in `damaged`."""
        labels, damaged = [], []
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            images = np.lib.format.open_memmap(file, "w+", np.uint8, (len(places), side, side, 3))
        except OSError as error:
            raise PlaygroundError(f"{file} can't be written: {error.strerror or error}.") from None
        for location in places:
            try:
                images[len(labels)] = np.asarray(central_square(location.open(), side))
            except PlaygroundError as error:
                damaged.append(str(error))
            else:
                labels.append(location.label)
        images.flush()
        if not labels:
            raise PlaygroundError(f"None of {len(places)} pictures can be opened. {' '.join(damaged[:1])}".strip())
        return Pool(file, np.array(labels), damaged)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def images(self) -> np.ndarray:
        """(pictures, side, side, 3) uint8, read from the file as it is needed."""
        if self._images is None:
            self._images = np.load(self.file, mmap_mode="r")[: len(self)]
        return self._images

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_images": None}  # without the images: another process opens the file itself


def central_square(image: Image.Image, side: int) -> Image.Image:
    """The picture's central square, resized."""
    return image if image.size == (side, side) else ImageOps.fit(image, (side, side), Image.Resampling.BICUBIC)


class FlippedPictures(Dataset):
    """The pictures of a pool, randomly flipped and shifted. With the same seed, item i is always the same."""

    def __init__(self, pool: Pool, recipe: Recipe):
        self.pool, self.recipe = pool, recipe
        self._order = (-1, np.empty(0, int))  # the number of an epoch, and the order of the pictures in this epoch

    def __len__(self) -> int:
        return self.recipe.steps * self.recipe.batch

    def __getitem__(self, i: int) -> dict[str, np.ndarray]:
        epoch, position = divmod(i, len(self.pool))
        if epoch != self._order[0]:
            self._order = epoch, np.random.default_rng((self.recipe.seed, epoch)).permutation(len(self.pool))
        number = self._order[1][position]
        rng = np.random.default_rng((self.recipe.seed, epoch, position))
        return {"image": flipped_and_shifted(self.pool.images[number], rng), "label": self.pool.labels[number]}


def flipped_and_shifted(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(side, side, 3): randomly flipped and shifted; pixels beyond the edge are mirrored."""
    side = len(image)
    most_pixels = round(LARGEST_SHIFT * side)
    row_offset, column_offset = rng.integers(0, 2 * most_pixels + 1, 2)
    padded_image = np.pad(image, ((most_pixels, most_pixels), (most_pixels, most_pixels), (0, 0)), mode="reflect")
    shifted_image = padded_image[row_offset : row_offset + side, column_offset : column_offset + side]
    return np.ascontiguousarray(shifted_image[:, ::-1] if rng.random() < 0.5 else shifted_image)


class Classifier(nn.Module):
    """The loss of a classifier, as a module like losses.Teachers but without parameters."""

    def __init__(self, recipe: Recipe):
        super().__init__()
        self.told_heads = ()

    def forward(self, vit: VisionTransformer, batch: dict[str, Tensor], step: int) -> dict[str, Tensor]:
        logits = vit(normalised_pixels(batch["image"], vit.config)).float()
        return {"class": F.cross_entropy(logits, batch["label"], label_smoothing=SMOOTHING)}


@torch.no_grad()
def predicted_classes(vit: VisionTransformer, images: np.ndarray, batch: int = 256) -> np.ndarray:
    """The predicted class of each picture: (pictures, side, side, 3) -> (pictures,)."""
    device = vit.patch_embed.proj.weight.device
    batches = (torch.from_numpy(np.array(images[start : start + batch])) for start in range(0, len(images), batch))
    return np.concatenate(
        [vit(normalised_pixels(pictures.to(device), vit.config)).argmax(-1).cpu().numpy() for pictures in batches]
    )


def accuracy(vit: VisionTransformer, pool: Pool, at_most: int | None = None) -> float:
    """The share of pictures that are classified correctly, over about `at_most` evenly spread ones."""
    step = -(-len(pool) // at_most) if at_most else 1
    return float((predicted_classes(vit, pool.images[::step]) == pool.labels[::step]).mean())
