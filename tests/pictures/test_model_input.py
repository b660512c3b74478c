"""The model's input shows the whole picture that the user sees, in the model's size, mean and deviation."""

import math

import numpy as np
import pytest
from hostile.making import NOISE
from made_pictures import BLUE, GREEN, RED, WHITE, corners, quarters
from PIL import Image

from playground.errors import PlaygroundError
from playground.pictures.images import displayed, fit, model_input


@pytest.mark.parametrize(("patch", "side"), [(16, 224), (14, 518), (14, 224), (32, 384), (8, 64), (16, 1024)])
def test_a_square_picture_gets_the_native_size(patch, side):
    assert fit((640, 640), patch, (side, side)) == (side, side)
    assert fit((8, 8), patch, (side, side)) == (side, side)


@pytest.mark.parametrize(
    "picture_size", [(640, 480), (480, 640), (1920, 1080), (8, 20_000), (20_000, 8), (100, 99), (9, 300)]
)
@pytest.mark.parametrize(
    ("patch", "native_size"), [(16, (224, 224)), (14, (518, 518)), (16, (128, 512)), (32, (32, 32))]
)
def test_the_input_has_whole_patches_and_never_more_than_the_native_size(picture_size, patch, native_size):
    height, width = fit(picture_size, patch, native_size)
    patches = native_size[0] // patch * (native_size[1] // patch)
    assert height % patch == width % patch == 0
    assert min(height, width) >= patch
    assert 0.8 * patches <= height * width / patch**2 <= patches


def test_no_other_grid_fits_a_usual_picture_better():
    for width, height in [(640, 480), (300, 400), (1920, 1080), (1000, 1001), (700, 100), (3000, 50)]:
        rows, columns = (side // 16 for side in fit((width, height), 16, (224, 224)))

        def misfit(r, c, aspect=height / width):
            return 2 * abs(math.log(r / c / aspect)) + abs(math.log(r * c / 196))

        assert misfit(rows, columns) <= min(misfit(r, c) for r in range(1, 197) for c in range(1, 196 // r + 1)) + 0.15


def test_the_model_and_the_person_see_the_whole_picture():
    picture = quarters(300, 100)
    size = fit(picture.size, 16, (224, 224))
    shown = displayed(picture, size)
    assert (shown.height, shown.width) == size
    assert corners(shown) == [RED, GREEN, BLUE, WHITE]


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear", "bicubic", "lanczos", "box", "hamming"])
def test_the_input_is_what_is_displayed_normalised(interpolation):
    picture = Image.frombytes("RGB", (80, 80), NOISE[: 80 * 80 * 3])
    mean, std, size = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225), (48, 64)
    tensor = model_input(picture, size, mean, std, interpolation)
    assert (tuple(tensor.shape), str(tensor.dtype), tensor.is_contiguous()) == ((1, 3, 48, 64), "torch.float32", True)
    pixels = tensor[0].numpy().transpose(1, 2, 0) * np.float32(std) + np.float32(mean)
    assert np.abs(pixels * 255 - np.asarray(displayed(picture, size, interpolation))).max() < 1e-3


def test_the_input_equals_that_of_timms_own_transform():
    timm = pytest.importorskip("timm")
    picture = Image.frombytes("RGB", (80, 80), NOISE[: 80 * 80 * 3])
    options = {"mean": (0.5, 0.4, 0.3), "std": (0.2, 0.3, 0.4), "interpolation": "bicubic"}
    timm_input = timm.data.create_transform((3, 32, 32), crop_pct=1.0, **options)(picture)
    our_input = model_input(picture, (32, 32), **options)
    assert np.abs((our_input[0] - timm_input).numpy()).max() < 1e-5


def test_an_unknown_interpolation_is_refused_with_those_there_are():
    with pytest.raises(PlaygroundError, match=r"'cubic'.*bicubic"):
        displayed(quarters(), (32, 32), "cubic")
