"""Mutated images, addresses and packs, reproducible by a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from urllib.parse import parse_qsl

from made_pictures import saved
from PIL import Image

from playground.figures.drawing.view import VIEW_CHOICES
from playground.samples import SAMPLES
from playground.serving.chosen import PAGE_PATTERNS

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "HEIF")
WORDS = (
    "", "0", "-1", "999999999999", "nan", "1e309", "true", "cls", "reg99", "7,5", "..", "../../etc/passwd", "\0",
    "é" * 40, "<script>alert(1)</script>", "file:///etc/passwd", "https://example.org/x.safetensors", "model:bundled",
    "sample:flock", "model:../x", "x.safetensors", "flock", "bundled", "untrained", "resnet50", "%00", "\u202e", "🦊",
)  # fmt: skip


@cache
def pictures() -> list[bytes]:
    images = [Image.open(sample.path).resize((96, 72)) for sample in SAMPLES[:3]]
    return [saved(image, name) for image in images for name in FORMATS]


def mutated(good_files: Sequence[bytes], count: int, seed: int = 0) -> Iterator[bytes]:
    """Files with bytes changed, removed, inserted, doubled or moved, mostly near the beginning."""
    chance = random.Random(seed)
    for _ in range(count):
        data = bytearray(chance.choice(good_files))
        for _ in range(chance.choice((1, 2, 4, 16, 64))):
            end = min(len(data), chance.choice((64, 1024, 10**6)))
            position, length = chance.randrange(end), chance.choice((1, 2, 4, 64))
            change = chance.randrange(5)
            if change == 0:
                data[position] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
            elif change == 1:
                data[position : position + length] = chance.randbytes(length)
            elif change == 2:
                del data[position : position + length]
            elif change == 3:
                data[position:position] = data[position : position + length * 8]
            else:
                del data[max(64, len(data) - length * 50) :]
            if len(data) < 64:
                break
        yield bytes(data)


def addresses(count: int, seed: int = 0) -> Iterator[dict[str, str]]:
    """Addresses with keys that the app knows, and values that nobody would type by accident."""
    chance = random.Random(seed)
    keys = [*PAGE_PATTERNS, *(choice.key for choice in VIEW_CHOICES), "story", "nonsense"]
    for _ in range(count):
        parameters = {}
        for key in chance.sample(keys, chance.randint(1, 6)):
            value = chance.choice(WORDS)
            if chance.random() < 0.3:
                value = "".join(chance.choice(value + "0,.;&=#%-+") for _ in range(chance.randint(1, 90)))
            parameters[key] = value
        if chance.random() < 0.1:
            parameters = dict(parse_qsl("&".join(f"{k}={v}" for k, v in parameters.items()), keep_blank_values=True))
        yield parameters
