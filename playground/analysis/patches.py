"""Computes the way from pixels to tokens: patches, the learned filters and position encodings; also the effect of
shuffled patches on attention."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from itertools import islice

import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor

from playground.pictures.images import fit, model_input
from playground.tracing import softmax_rows
from playground.vit import QKV, VisionTransformer
from playground.vit_parts import rotary, rotate, sinusoidal

LONGEST_SIDE = 224  # pixels of the longer side of the picture that is cut into patches
SHORTEST_SIDE = 48  # least pixels of a side, so that even the largest patch fits
ROTATED_WIDTH = 64  # width of a head whose queries and keys are rotated by RoPE
SMALL_SIDE = 14  # patches along a side in the lesson's forward passes


# Patches --------------------------------------------------------------------------------------------------------------


def by_unfolding(image: Tensor, matrix: Tensor, bias: Tensor | None) -> Tensor:
    patch = matrix.shape[-1]
    pixels = F.unfold(image, patch, stride=patch)  # (1, 3·P·P, patches): each patch laid out in a row
    return F.linear(pixels.transpose(1, 2), matrix.flatten(1), bias)  # (1, patches, D)


def by_convolution(image: Tensor, matrix: Tensor, bias: Tensor | None) -> Tensor:
    responses = F.conv2d(image, matrix, bias, stride=matrix.shape[-1])  # (1, D, rows, columns)
    return responses.flatten(2).transpose(1, 2)  # (1, patches, D)


def stretching_matrix(old_side: int, new_side: int) -> Tensor:
    """(new side, old side): the matrix that resizes a learned filter to another side in pixels such that an enlarged
    patch gives the same token as before. It is the pseudo-inverse of the resizing (FlexiViT, Beyer et al., 2023)."""
    if old_side == new_side:
        return torch.eye(old_side)
    resizing = F.interpolate(
        torch.eye(old_side)[None, None], size=(new_side, old_side), mode="bicubic", antialias=True
    )[0, 0]
    return torch.linalg.pinv(resizing.double().T).float()


def stretched(filters: Tensor, patch: int) -> Tensor:
    """(D, 3, P, P) -> (D, 3, patch, patch)"""
    resizing = stretching_matrix(filters.shape[-1], patch)
    return resizing @ filters @ resizing.T


@dataclass(frozen=True)
class CutPicture:
    """A picture in patches of one size, and the token of each patch."""

    size: tuple[int, int]  # (height, width) of the picture in pixels
    patch: int
    tokens: Tensor  # (patches, D)
    difference: float  # the largest difference between the tokens by unfolding and by convolution
    typical: float  # the mean absolute value of the tokens' numbers

    @property
    def grid(self) -> tuple[int, int]:
        return self.size[0] // self.patch, self.size[1] // self.patch


def cut_picture(vit: VisionTransformer, image: Image.Image, patch: int) -> CutPicture:
    """Cuts a picture and makes tokens with the model's filters, which are resized if the patch has another size."""
    c, filters, bias = vit.config, *projection(vit)
    size = picture_size(image)
    pixels = model_input(image, size, c.mean, c.std, c.interpolation)
    matrix = stretched(filters, patch)
    tokens, convolved_tokens = by_unfolding(pixels, matrix, bias)[0], by_convolution(pixels, matrix, bias)[0]
    return CutPicture(size, patch, tokens, (tokens - convolved_tokens).abs().max().item(), tokens.abs().mean().item())


def picture_size(image: Image.Image) -> tuple[int, int]:
    """(height, width) in the picture's proportions; patches may not fill this size exactly."""
    width, height = (max(SHORTEST_SIDE, round(side * LONGEST_SIDE / max(image.size))) for side in image.size)
    return height, width


def projection(vit: VisionTransformer) -> tuple[Tensor, Tensor | None]:
    """The learned filters (D, 3, P, P), one for each number of a token, and the bias."""
    proj = vit.patch_embed.proj
    return proj.weight.detach().float().cpu(), None if proj.bias is None else proj.bias.detach().float().cpu()


def small_size(vit: VisionTransformer, image: Image.Image) -> tuple[int, int]:
    """(height, width) of an input of about SMALL_SIDE × SMALL_SIDE patches, in the picture's proportions."""
    patch = vit.config.patch_size
    return fit(image.size, patch, (SMALL_SIDE * patch, SMALL_SIDE * patch))


def small_grid(vit: VisionTransformer, image: Image.Image) -> tuple[int, int]:
    height, width = small_size(vit, image)
    return height // vit.config.patch_size, width // vit.config.patch_size


# Filters --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Filters:
    """Some filters of the patch embedding, and their responses to every patch of a picture."""

    filters: Tensor  # (n, 3, P, P)
    answers: Tensor  # (n, rows, columns)
    titles: tuple[str, ...]
    size: tuple[int, int]


def filters_by_norm(vit: VisionTransformer) -> list[int]:
    """The indices of the filters in the order of their norms, the largest first."""
    return projection(vit)[0].flatten(1).norm(dim=1).argsort(descending=True).tolist()


def strongest_filters(vit: VisionTransformer, image: Image.Image, most: int = 96) -> Filters:
    """The filters with the largest norms."""
    c, size, indices = vit.config, small_size(vit, image), filters_by_norm(vit)[:most]
    filters, titles = projection(vit)[0][indices], tuple(f"number {i} of the token" for i in indices)
    pixels = model_input(image, size, c.mean, c.std, c.interpolation)
    return Filters(filters, F.conv2d(pixels, filters, stride=c.patch_size)[0], titles, size)


def answers_by_channel(
    vit: VisionTransformer, image: Image.Image, indices: list[int], patch: tuple[int, int]
) -> Tensor:
    """The answers of these filters to one patch in red, green and blue, and the filters' biases: (n, 4). The sum of a
    row is one number of the token."""
    c, (filters, bias) = vit.config, projection(vit)
    pixels = model_input(image, small_size(vit, image), c.mean, c.std, c.interpolation)
    P = c.patch_size
    row, column = patch
    cell = pixels[0, :, row * P : (row + 1) * P, column * P : (column + 1) * P]  # (3, P, P)
    channel_sums = (cell * filters[indices]).sum((2, 3))  # (n, 3)
    biases = torch.zeros(len(indices)) if bias is None else bias[indices]
    return torch.cat([channel_sums, biases[:, None]], dim=1)


def as_pictures(filters: Tensor) -> Tensor:
    """(n, 3, P, P) -> (n, P, P, 3) in bytes: zero is grey; each filter is scaled to use the full range."""
    largest_values = filters.flatten(1).abs().amax(dim=1).clamp(min=1e-12).view(-1, 1, 1, 1)
    return (filters / largest_values * 127 + 128).round().byte().permute(0, 2, 3, 1).contiguous()


# Positions ------------------------------------------------------------------------------------------------------------


def place_vectors(vit: VisionTransformer, grid: tuple[int, int], table: str) -> tuple[Tensor, str] | None:
    """The position encodings of a grid (patches, D), and their kind in a word; None for a model without positions.
    `table`: "learned" for the model's own positions, of any kind; "sinusoidal"; or "rotary" for the sines and cosines
    of the angles that would rotate a head of ROTATED_WIDTH numbers."""
    c = vit.config
    if table == "rotary":
        return torch.cat(rotary(grid, ROTATED_WIDTH), dim=-1), "turned"
    if table == "sinusoidal" or c.positions == "sinusoidal":
        return sinusoidal(grid[0] * grid[1], c.width), "sinusoidal"
    if c.positions == "rotary":
        return torch.cat(rotary(grid, c.width // c.heads), dim=-1), "rotary"
    if c.positions == "none":
        return None
    with torch.no_grad():
        return vit.positions(grid).detach()[0, -grid[0] * grid[1] :].float().cpu(), "learned"


def score_ranges_at_one_offset(grid: tuple[int, int], d: int = ROTATED_WIDTH, seed: int = 0) -> tuple[float, float]:
    """Puts one query and one key at pairs of places with the same offset. Returns the largest difference of q·k between
    these pairs: first if query and key are rotated (RoPE), then if random position vectors are added."""
    generator = torch.Generator().manual_seed(seed)
    q, k = torch.randn(2, d, generator=generator)
    query_places = torch.arange(grid[0] * grid[1]).view(grid)[:-2, :-3].flatten()
    key_places = query_places + 2 * grid[1] + 3
    repeated_vectors = [x.expand(1, 1, grid[0] * grid[1], d) for x in (q, k)]
    rotated_q, rotated_k = (rotate(x, *rotary(grid, d))[0, 0] for x in repeated_vectors)
    position_vectors = torch.randn(grid[0] * grid[1], d, generator=generator)
    rotated = (rotated_q[query_places] * rotated_k[key_places]).sum(-1)
    added = ((q + position_vectors[query_places]) * (k + position_vectors[key_places])).sum(-1)
    return float(rotated.max() - rotated.min()), float(added.max() - added.min())


# Shuffling ------------------------------------------------------------------------------------------------------------


def without_positions(vit: VisionTransformer) -> VisionTransformer:
    """A copy of the model without position encodings."""
    bare_model = copy.copy(vit)
    bare_model.config = replace(vit.config, positions="none")
    return bare_model


def rearranged(pixels: Tensor, patch: int, order: Tensor) -> Tensor:
    """The picture with its patches permuted: patch order[i] moves to place i."""
    cells = F.unfold(pixels, patch, stride=patch)[:, :, order]  # (1, 3·P·P, patches)
    return F.fold(cells, pixels.shape[2:], patch, stride=patch)


def random_order(patches: int, seed: int) -> Tensor:
    return torch.randperm(patches, generator=torch.Generator().manual_seed(seed))


@dataclass(frozen=True)
class Shuffle:
    """One layer in two passes: with the patches in order, and with the same patches in another order."""

    order: Tensor  # (patches,): the number of the patch at each place
    prefix: int
    grid: tuple[int, int]
    size: tuple[int, int]
    scale: float
    before: QKV  # (h, N, d) each
    after: QKV

    @property
    def tokens(self) -> Tensor:
        """(N,): for each token of the second pass, its index in the first pass."""
        return torch.cat([torch.arange(self.prefix), self.order + self.prefix])

    @property
    def difference(self) -> float:
        """The largest difference between the weights of the two passes, over all heads, after undoing the
        permutation."""
        before, after = self._weights(self.before), self._weights(self.after)
        return (before[:, self.tokens][:, :, self.tokens] - after).abs().max().item()

    @property
    def largest(self) -> float:
        """The largest weight of the first pass, to compare `difference` with."""
        return self._weights(self.before).max().item()

    def _weights(self, layer: QKV) -> Tensor:
        return softmax_rows(layer.q, layer.k, self.scale)  # (h, N, N): at most SMALL_SIDE² patches


def shuffle(vit: VisionTransformer, image: Image.Image, layer: int, seed: int, with_positions: bool) -> Shuffle:
    c = vit.config
    size = small_size(vit, image)
    pixels = model_input(image, size, c.mean, c.std, c.interpolation)
    grid = size[0] // c.patch_size, size[1] // c.patch_size
    order = random_order(grid[0] * grid[1], seed)
    model = vit if with_positions else without_positions(vit)
    device = vit.patch_embed.proj.weight.device
    passes = []
    with torch.no_grad():
        for picture in (pixels, rearranged(pixels, c.patch_size, order)):
            layers = model.layers(*model.embed(picture.to(device)))
            _, qkv = next(islice(layers, layer, None))
            passes.append(QKV(*(tensor[0].float().cpu() for tensor in qkv)))
    return Shuffle(order, len(c.prefix), grid, size, c.scale, *passes)
