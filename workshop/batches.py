"""Makes a new batch of views for each training step: windows of views, mirrored, recoloured, and with patches disturbed
or hidden.

A disturbed or a hidden patch says little about its thing, so the model has to use the thing's other patches.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import Dataset

from workshop.recipe import Emergent
from workshop.scenes import generate
from workshop.scenes.drawing import Scene
from workshop.scenes.generate import presence
from workshop.views import STUDENT_PATCH, Views, read


class Batches(Dataset):
    """Item i is the whole batch of step i."""

    whole_steps = True  # tells the loop that an item is a whole step's batch

    def __init__(self, recipe: Emergent, coarse: Path, fine: Path):
        """`coarse` and `fine`: two folders of views. Each process opens them itself, at first use."""
        self.recipe, self.coarse, self.fine = recipe, coarse, fine

    def __len__(self) -> int:
        return self.recipe.total

    def __getitem__(self, step: int) -> dict[str, Tensor]:
        """A batch of B pictures: V views, then drawn scenes, of which only the labels are learned."""
        recipe, rng = self.recipe, np.random.default_rng((self.recipe.seed, step))
        step_in_round = step % recipe.round
        is_polish, is_near = step_in_round >= recipe.steps, step_in_round < recipe.near_until * recipe.steps
        views, size, drawn_count = (
            (read(self.fine), recipe.fine_batch, recipe.fine_named)
            if is_polish
            else (read(self.coarse), recipe.batch, recipe.named)
        )
        grid_side = views.things.shape[1]  # patches along a side
        side = recipe.near if is_near else grid_side
        top, left = rng.integers(0, grid_side - side + 1, 2)
        view_numbers = rng.integers(0, len(views), size - drawn_count)
        pictures, features = window(views, view_numbers, top, left, side)
        if rng.random() < 0.5:
            pictures, features = pictures[:, :, ::-1], features[:, :, ::-1]
        # A window has no labels, because most of the scene may lie outside of it
        present_labels = np.full_like(views.present[view_numbers], -1) if is_near else views.present[view_numbers]
        scenes = [self._scene(step * recipe.batch + i, is_near, STUDENT_PATCH * side) for i in range(drawn_count)]
        largest_share = recipe.disturbance * min(1, step / (recipe.near_until * recipe.steps))
        generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
        images = np.concatenate([pictures, *(scene.image[None] for scene in scenes)])
        clean = recolour(torch.from_numpy(images).permute(0, 3, 1, 2) / 255, generator)  # (B, 3, H, W)
        image = disturb(clean, STUDENT_PATCH, largest_share, generator)
        # Drawn scenes keep all patches: a hidden thing could not be named
        image[: len(view_numbers)] = with_hidden(image[: len(view_numbers)], STUDENT_PATCH, recipe.hidden, generator)
        return {
            "image": image,
            "clean": clean[: len(view_numbers)],  # the undisturbed views, for the targets: (V, 3, H, W)
            "features": torch.from_numpy(features.copy()).flatten(1, 2).float(),  # (V, P, 384)
            "picture": torch.from_numpy(views.features[view_numbers, 0]).float(),  # (V, 384)
            "present": torch.from_numpy(np.stack([*present_labels, *map(presence, scenes)])).float(),  # (B, labels)
            "place": torch.tensor([top, left]),
        }

    def _scene(self, number: int, is_near: bool, size: int) -> Scene:
        """A drawn scene. While views are cut to windows, every second scene is a close-up of one or two things: with
        close-ups, names are learned sooner."""
        draw = generate.close_up if is_near and number % 2 else generate.scene
        return draw(self.recipe.seed * 2**32 + number, size)


def window(views: Views, view_numbers: np.ndarray, top: int, left: int, side: int) -> tuple[np.ndarray, np.ndarray]:
    """The same window of each view: its pixels (B, 8·side, 8·side, 3), its features (B, side, side, 384)."""
    grid_side = views.things.shape[1]
    rows, columns = slice(top, top + side), slice(left, left + side)
    pixels = views.pictures[view_numbers][
        :, STUDENT_PATCH * top : STUDENT_PATCH * (top + side), STUDENT_PATCH * left : STUDENT_PATCH * (left + side)
    ]
    features = views.features[view_numbers][:, 1:].reshape(len(view_numbers), grid_side, grid_side, -1)
    return pixels, features[:, rows, columns]


def recolour(image: Tensor, generator: torch.Generator) -> Tensor:
    """The pictures, each with its own brightness, tint, contrast and strength of colour."""

    def random_between(low: float, high: float, channels: int = 1) -> Tensor:
        return low + (high - low) * torch.rand(len(image), channels, 1, 1, generator=generator)

    image = image * random_between(0.7, 1.3) * random_between(0.9, 1.1, 3)
    mean_brightness = image.mean((1, 2, 3), keepdim=True)
    image = mean_brightness + (image - mean_brightness) * random_between(0.7, 1.3)
    grey = image.mean(1, keepdim=True)
    return (grey + (image - grey) * random_between(0, 1.3)).clamp(0, 1)


def disturb(image: Tensor, patch: int, largest_share: float, generator: torch.Generator) -> Tensor:
    """Disturbs up to `largest_share` of each picture's patches, in some pictures many and in others few: noise, the
    patch's mean colour, another colour over it, or no content at all."""
    B, rows, columns = len(image), image.shape[2] // patch, image.shape[3] // patch

    def patch_noise(channels: int) -> Tensor:
        """A random number for each patch, repeated for all its pixels."""
        return _as_pixels(torch.rand(B, channels, rows, columns, generator=generator), patch)

    share = largest_share * torch.rand(B, 1, 1, 1, generator=generator)
    kind_noise = patch_noise(1)
    noisy_image = image + 0.35 * torch.randn(image.shape, generator=generator)
    plain_colours = _as_pixels(F.avg_pool2d(image, patch), patch)
    tinted_image = 0.4 * image + 0.6 * patch_noise(3)
    blank = torch.rand(B, 1, 1, 1, generator=generator).expand_as(image)
    replacement = torch.where(
        kind_noise < 0.5,
        torch.where(kind_noise < 0.25, noisy_image, plain_colours),
        torch.where(kind_noise < 0.7, tinted_image, blank),
    )
    return torch.where(patch_noise(1) < share, replacement, image)


def with_hidden(image: Tensor, patch: int, share: float, generator: torch.Generator) -> Tensor:
    """Blanks about this share of each picture's patches, in blocks of one, two or three patches a side, so that a
    block's middle can't be guessed from its neighbours. Each picture has one block size and one colour. A quarter of
    the pictures stays whole."""
    B, rows, columns = len(image), image.shape[2] // patch, image.shape[3] // patch
    block_noise = torch.empty(B, 1, rows, columns)  # random numbers, equal within a block
    for b in range(B):
        side, row_offset, column_offset = (int(torch.randint(3, (), generator=generator)) for _ in range(3))
        side += 1
        blocks = torch.rand(1, 1, rows // side + 3, columns // side + 3, generator=generator)
        block_noise[b] = _as_pixels(blocks, side)[
            0, :, row_offset : row_offset + rows, column_offset : column_offset + columns
        ]
    whole_chance, colour = torch.rand(2, B, 1, 1, 1, generator=generator)
    return torch.where((_as_pixels(block_noise, patch) < share) & (whole_chance > 0.25), colour, image)


def _as_pixels(patches: Tensor, patch: int) -> Tensor:
    """(B, C, rows, columns) -> (B, C, H, W)"""
    return patches.repeat_interleave(patch, 2).repeat_interleave(patch, 3)
