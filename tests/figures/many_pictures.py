"""Helpers shared by the tests of many pictures; the fixtures are in conftest.py."""

import torch

import playground
from playground.figures import many


def trace_of_one(vit, file):
    """The trace of this picture alone, cropped as `trace_many` crops pictures."""
    return playground.trace(vit, many._centre_crop(playground.open_image(file), vit.config.image_size), size=(64, 64))


def assert_close(numbers, expected, tolerance=1e-5):
    torch.testing.assert_close(torch.from_numpy(numbers), expected, atol=tolerance, rtol=1e-4)


def file_contents(folder):
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
