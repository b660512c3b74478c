"""Mutated images and mutated addresses, always the same for the same seed."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from functools import cache
from urllib.parse import parse_qsl

from PIL import Image
from pillow_heif.as_plugin import _save_heif

from playground.figures.view import VIEW
from playground.samples import SAMPLES
from playground.serving.address import PAGE

Image.register_save("HEIF", _save_heif)  # only for writing

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "HEIF")
WORDS = (
    "", "0", "-1", "999999999999", "nan", "1e309", "true", "cls", "reg99", "7,5", "..", "../../etc/passwd", "\0",
    "é" * 40, "<script>alert(1)</script>", "file:///etc/passwd", "https://example.org/x.safetensors", "model:bundled",
    "sample:flock", "model:../x", "x.safetensors", "flock", "bundled", "untrained", "resnet50", "%00", "\u202e", "🦊",
)  # fmt: skip


@cache
def _seeds() -> tuple[bytes, ...]:
    seeds = []
    for sample in SAMPLES[:3]:
        image = Image.open(sample.path).resize((96, 72))
        for name in FORMATS:
            out = io.BytesIO()
            image.save(out, name)
            seeds.append(out.getvalue())
    return tuple(seeds)


def images(count: int, seed: int = 0) -> Iterator[bytes]:
    """Pictures with bytes changed, taken out, put in, doubled or moved, most of all near their beginning."""
    chance = random.Random(seed)
    for _ in range(count):
        data = bytearray(chance.choice(_seeds()))
        for _ in range(chance.choice((1, 2, 4, 16, 64))):
            near = min(len(data), chance.choice((64, 1024, 10**6)))
            at, length = chance.randrange(near), chance.choice((1, 2, 4, 64))
            kind = chance.randrange(5)
            if kind == 0:
                data[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
            elif kind == 1:
                data[at : at + length] = chance.randbytes(length)
            elif kind == 2:
                del data[at : at + length]
            elif kind == 3:
                data[at:at] = data[at : at + length * 8]
            else:
                del data[max(64, len(data) - length * 50) :]
            if len(data) < 64:
                break
        yield bytes(data)


def addresses(count: int, seed: int = 0) -> Iterator[dict[str, str]]:
    """Addresses with keys that the app knows, and values that nobody would type by accident."""
    chance = random.Random(seed)
    known = [*PAGE, *(choice.key for choice in VIEW), "tour", "nonsense"]
    for _ in range(count):
        words = {}
        for key in chance.sample(known, chance.randint(1, 6)):
            value = chance.choice(WORDS)
            if chance.random() < 0.3:
                value = "".join(chance.choice(value + "0,.;&=#%-+") for _ in range(chance.randint(1, 90)))
            words[key] = value
        if chance.random() < 0.1:
            words = dict(parse_qsl("&".join(f"{k}={v}" for k, v in words.items()), keep_blank_values=True))
        yield words
