"""Python's traces of the pictures that the browser shows."""

from functools import cache

import numpy as np
from PIL import Image

import playground
from playground.pictures.images import displayed, fit
from playground.samples import named
from playground.tracing import Trace

TOLERANCE = 1e-3  # the browser gets 16-bit numbers, Python has 32 bits


@cache
def model(name: str = "bundled"):
    return playground.load(name, device="cpu")


@cache
def python_trace(sample: str = "meadow", name: str = "bundled", detail: int = 1, scale: str | None = None) -> Trace:
    image = playground.open_image(named(sample).path)
    c = model(name).config
    size = fit(image.size, c.patch_size, tuple(side * detail for side in c.image_size))
    return playground.trace(model(name), image, size=size, scale=scale)


@cache
def rounded_trace(*arguments, **options) -> Trace:
    """The trace with queries and keys rounded to 16 bits, as in the browser: a softmax without its scale turns small
    differences into large ones."""
    return Trace.from_bytes(python_trace(*arguments, **options).to_bytes())


def entropy(row) -> float:
    row = row.double()
    return float(-(row * row.clamp(min=1e-300).log2()).sum())


def largest_difference(our_numbers, their_numbers) -> float:
    return float(np.abs(np.asarray(our_numbers) - np.asarray(their_numbers)).max())


def assert_close(our_numbers, their_numbers, tolerance: float = TOLERANCE) -> None:
    assert largest_difference(our_numbers, their_numbers) < tolerance


def colour_row(image: Image.Image, patch: int, at: int, temperature: float) -> np.ndarray:
    """The row of the patch `at`, whose query and key are its mean colour as a vector of length one."""
    height, width = fit(image.size, patch, (224, 224))
    pixels = np.asarray(displayed(image, (height, width)), float) / 255
    cells = pixels.reshape(height // patch, patch, width // patch, patch, 3).mean((1, 3)).reshape(-1, 3) + 1e-6
    colours = cells / np.linalg.norm(cells, axis=1, keepdims=True)
    powers = np.exp((colours @ colours[at] - 1) / temperature)
    return powers / powers.sum()
