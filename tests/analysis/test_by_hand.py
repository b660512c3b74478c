import math

import numpy as np
import pytest
import torch
from PIL import Image

from playground.analysis.by_hand import (
    COLOUR_SCALE,
    arrows_as_text,
    arrows_from_text,
    colour_trace,
    mean_colours,
    weights,
)
from playground.lessons.by_hand import first_arrows, pack_trace
from playground.pack import unpack
from playground.pictures.images import displayed


def softmax(row: list[float]) -> list[float]:
    total = sum(math.exp(score) for score in row)
    return [math.exp(score) / total for score in row]


def test_arrows_survive_the_way_through_an_address():
    arrows = (torch.arange(18).view(9, 2) - 9) / 10
    assert torch.equal(arrows_from_text(arrows_as_text(arrows)), arrows)
    for text in ("", "1_2", "_".join(["1"] * 19), "_".join(["99"] * 18), "_".join(["x"] * 18), "_".join(["٣"] * 18)):
        assert arrows_from_text(text) is None


def test_at_first_token_a_attends_much_to_b_and_b_little_to_a():
    """The lesson By hand says this about its initial arrows."""
    rows = weights(arrows_from_text(first_arrows(), tokens=18))
    arrows = arrows_from_text(first_arrows(), tokens=18).tolist()
    for i, j in ((0, 1), (1, 0)):
        row = softmax([sum(a * b for a, b in zip(arrows[i], key, strict=True)) / math.sqrt(2) for key in arrows[9:]])
        assert rows[i, j].item() == pytest.approx(row[j])
    assert rows[0, 1] > 0.4 > 0.05 > rows[1, 0]


@pytest.mark.parametrize("keys", ["the same", "at a right angle"])
def test_a_row_is_even_whenever_its_scores_are_equal(keys):
    arrows = torch.zeros(18, 2)
    arrows[:9] = torch.tensor([1.5, 2.0])
    arrows[9:] = torch.tensor([0.7, -1.1])
    if keys == "at a right angle":
        arrows[9:] += torch.linspace(-1, 1, 9)[:, None] * torch.tensor([2.0, -1.5])
    assert weights(arrows)[0].tolist() == pytest.approx([1 / 9] * 9)


@pytest.mark.parametrize("patch", [4, 16])
def test_mean_colours_are_a_loop_s(patch):
    pixels = torch.randint(0, 256, (32, 48, 3), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    colours = mean_colours(pixels, patch)
    assert colours.shape == (32 // patch, 48 // patch, 3)
    for row in range(colours.shape[0]):
        for column in range(colours.shape[1]):
            for channel in range(3):
                channel_sum = 0
                for y in range(patch):
                    for x in range(patch):
                        channel_sum += int(pixels[row * patch + y, column * patch + x, channel])
                assert colours[row, column, channel].item() == pytest.approx(channel_sum / patch**2 / 255, abs=1e-5)


@pytest.mark.parametrize("temperature", [1, 0.05, 0.002])
def test_the_attention_of_colours_is_a_loop_s(picture, temperature):
    colour_pass = colour_trace(picture, 32)
    assert colour_pass.grid == (7, 7)
    pixels = np.array(displayed(picture, colour_pass.size)).astype(float)
    colours = []
    for row in range(7):
        for column in range(7):
            mean = pixels[row * 32 : row * 32 + 32, column * 32 : column * 32 + 32].reshape(-1, 3).mean(0) / 255 + 1e-6
            colours.append(mean / math.sqrt(sum(mean**2)))
    for query in (0, 24, 48):
        row = softmax([sum(colours[query] * colour) / temperature for colour in colours])
        weights = colour_pass.row(0, 0, query, scale=1 / temperature)
        assert weights.tolist() == pytest.approx(row, abs=1e-4)


def test_the_rows_of_a_black_picture_are_even():
    row = colour_trace(Image.new("RGB", (90, 60)), 16).row(0, 0, (1, 1))
    assert row.isfinite().all()
    assert row.max().item() == pytest.approx(1 / len(row), rel=1e-3)


def test_the_browser_gets_the_numbers_of_the_trace(picture):
    trace = colour_trace(picture, 16)
    header, arrays = unpack(pack_trace(trace, b"jpeg"))
    assert header["scale"] == COLOUR_SCALE
    assert header["grid"] == [14, 14]
    assert np.array_equal(arrays["q"][0, 0], trace.record[0].q[0].numpy())
    assert arrays["image"].tobytes() == b"jpeg"
