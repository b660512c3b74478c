"""Compares convolution with attention: the reach of each, and the effect of a shifted picture on each."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor

from playground.pictures import images
from playground.tracing import Trace, relative_change, trace
from playground.vit import VisionTransformer

LONGER_SIDE = 12  # patches along the longer side of the pictures that are compared


def product_flops(tokens: int, window: int, dim: int) -> tuple[int, int, int]:
    """FLOPs of the first matrix product in one head: (for all pairs, within windows, with linear attention)."""
    return 2 * tokens**2 * dim, 2 * tokens * min(window, tokens) * dim, 2 * tokens * dim**2


SEQUENCE_LENGTH, SECOND_INDEX = 64, 40  # number of tokens; index of the second of the two tokens that matter


def parts_of_first_token(keeps: str) -> list[float]:
    """The first token's part of a state, after each token that is read: hₜ = aₜ hₜ₋₁ + (1 − aₜ) xₜ. `keeps` is aₜ, the
    same for all tokens, or "chosen": then aₜ depends on the token, as in Mamba, and is 1 for tokens that don't
    matter."""
    state = torch.zeros(SEQUENCE_LENGTH)  # each token's part of the state
    state[0], first_parts = 1.0, [1.0]
    for t in range(1, SEQUENCE_LENGTH):
        a = (0.5 if t == SECOND_INDEX else 1.0) if keeps == "chosen" else float(keeps)
        state = a * state
        state[t] = 1 - a
        first_parts.append(float(state[0]))
    return first_parts


def by_unfold_multiply_fold(image: Tensor, kernel: Tensor, stride: int, padding: int) -> Tensor:
    k, (height, width) = kernel.shape[-1], image.shape[2:]
    unfolded = F.unfold(image, k, padding=padding, stride=stride)  # (1, 3·k·k, places): a column for each place
    outputs = kernel.flatten(1) @ unfolded  # (1, D, places): the same matrix for all places
    grid = (height + 2 * padding - k) // stride + 1, (width + 2 * padding - k) // stride + 1
    return F.fold(outputs, grid, 1)  # (1, D, rows, columns)


CONVOLUTIONS = ((3, 1, 1), (3, 2, 1), (16, 16, 0))  # (kernel, stride, padding): the last is a patch embedding


@dataclass(frozen=True)
class UnfoldingResult:
    kernel: int
    stride: int
    columns: tuple[int, int]  # shape of the unfolded picture: (numbers in a column, number of columns)
    answer: tuple[int, int]  # (rows, columns) of the output
    apart: float  # the largest difference from torch's own convolution
    typical: float  # the mean absolute value of the output


def unfolding_results(image: Image.Image, channels: int = 8) -> list[UnfoldingResult]:
    """Runs each of CONVOLUTIONS with random filters over the picture, by unfolding and by torch's convolution."""
    pixels = images.model_input(image, images.fit(image.size, 16, (224, 224)), (0.5,) * 3, (0.5,) * 3)
    generator, results = torch.Generator().manual_seed(0), []
    for k, stride, padding in CONVOLUTIONS:
        kernel = torch.randn(channels, 3, k, k, generator=generator) / (3 * k * k) ** 0.5
        unfolded = by_unfold_multiply_fold(pixels, kernel, stride, padding)
        convolved = F.conv2d(pixels, kernel, stride=stride, padding=padding)
        rows, columns = unfolded.shape[2:]
        apart, typical = float((unfolded - convolved).abs().max()), float(convolved.abs().mean())
        results.append(UnfoldingResult(k, stride, (3 * k * k, rows * columns), (rows, columns), apart, typical))
    return results


@dataclass(frozen=True, eq=False)
class ShiftedCrops:
    """Two crops of one picture, the second moved to the right, and measurements on the places that both crops
    show. Differences are relative."""

    pictures: tuple[Image.Image, Image.Image]
    grid: tuple[int, int]
    patches: int  # the number of patches by which the second crop is moved
    one_pixel: float  # the change of a patch's embedding when the picture moves by only one pixel
    convolution: float  # largest difference between a convolution's outputs in both crops, away from the edges
    features: Tensor  # (rows, columns - patches): cosine between the last features of one place in both crops
    rows: tuple[Tensor, Tensor]  # (rows, columns) each: the weights of the query's place in each crop
    apart: float  # total variation between a place's two rows, on the shared places; mean over places and heads
    query: tuple[int, int]  # (row, column) in the second crop


def compare_shifted(
    vit: VisionTransformer, picture: Image.Image, layer: int, head: int, patches: int = 1
) -> ShiftedCrops:
    """Measures two crops of the same size; in the second crop a place lies `patches` columns further left."""
    c = vit.config
    P = c.patch_size
    height, width = images.fit(picture.size, P, (LONGER_SIDE * P, LONGER_SIDE * P))
    wide_picture = picture.convert("RGB").resize((width + patches * P, height), Image.Resampling.BICUBIC)
    crops = tuple(wide_picture.crop((start, 0, start + width, height)) for start in (0, patches * P))
    traces = tuple(trace(vit, crop, size=(height, width)) for crop in crops)
    rows, columns = traces[0].grid
    query = (rows // 2, (columns - patches) // 2)
    features = tuple(crop_trace.on_grid(crop_trace.features().T) for crop_trace in traces)  # (D, rows, columns)
    cosines = torch.cosine_similarity(features[0][:, :, patches:], features[1][:, :, : columns - patches], dim=0)
    return ShiftedCrops(
        pictures=(crops[0], crops[1]),
        grid=(rows, columns),
        patches=patches,
        one_pixel=_one_pixel_change(vit, traces[0]),
        convolution=_convolution_difference(vit, traces, patches),
        features=cosines,
        rows=(
            traces[0].on_grid(traces[0].row(layer, head, (query[0], query[1] + patches))),
            traces[1].on_grid(traces[1].row(layer, head, query)),
        ),
        apart=_mean_variation(traces, layer, patches),
        query=query,
    )


def _convolution_difference(vit: VisionTransformer, traces: tuple[Trace, ...], patches: int) -> float:
    """How far the outputs of a random 3 × 3 convolution on the patch embeddings differ between the two crops."""
    generator = torch.Generator().manual_seed(0)
    D = 16
    proj = vit.patch_embed.proj
    kernel = torch.randn(D, D, 3, 3, generator=generator) / (9 * D) ** 0.5
    outputs = []
    for crop in traces:
        with torch.no_grad():
            x = F.conv2d(crop._need_input().float().cpu(), proj.weight.float().cpu()[:D], stride=vit.config.patch_size)
            outputs.append(F.conv2d(x, kernel)[0])  # (D, rows - 2, columns - 2): nothing is padded
    first, second = outputs[0][:, :, patches:], outputs[1][:, :, : outputs[1].shape[2] - patches]
    return float((first - second).abs().max() / first.abs().mean())


def _one_pixel_change(vit: VisionTransformer, trace: Trace) -> float:
    """The median over patches of ‖E(x′) − E(x)‖ / ‖E(x)‖: E is the embedding, x′ the picture moved by one pixel."""
    proj = vit.patch_embed.proj
    with torch.no_grad():
        pixels = trace._need_input().float().cpu()
        views = (pixels[..., :-1], pixels[..., 1:])
        outputs = (F.conv2d(view, proj.weight.float().cpu(), stride=vit.config.patch_size)[0] for view in views)
        before, after = (output.flatten(1).T for output in outputs)  # (patches, D)
    return float(relative_change(after, before).median())


def _mean_variation(traces: tuple[Trace, ...], layer: int, patches: int) -> float:
    """The total variation between a place's two rows, one in each crop, over the places that both crops show: the mean
    over places and heads."""
    rows, columns = traces[0].grid
    first_patch = len(traces[0].prefix)
    places = [(row, column) for row in range(rows) for column in range(columns - patches)]
    rows_of_crops = []
    for shift, crop in ((patches, traces[0]), (0, traces[1])):
        weights = crop.weights(layer, [(row, column + shift) for row, column in places])[..., first_patch:]
        shared_weights = weights.unflatten(-1, (rows, columns))[..., shift : columns - patches + shift].flatten(-2)
        rows_of_crops.append(shared_weights / shared_weights.sum(-1, keepdim=True))
    return float((rows_of_crops[0] - rows_of_crops[1]).abs().sum(-1).mean() / 2)
