"""Mutated images, addresses and packs, reproducible by a seed."""

from __future__ import annotations

import io
import json
import random
import struct
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl

import hypothesis
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir
from PIL import Image
from pillow_heif.as_plugin import _save_heif

from playground.figures.drawing.view import VIEW_CHOICES
from playground.samples import SAMPLES
from playground.serving.chosen import PAGE_PATTERNS

Image.register_save("HEIF", _save_heif)  # tests write HEIF; the app only reads it
set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "attention-playground-fuzz")  # outside the repository

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "HEIF")
WORDS = (
    "", "0", "-1", "999999999999", "nan", "1e309", "true", "cls", "reg99", "7,5", "..", "../../etc/passwd", "\0",
    "é" * 40, "<script>alert(1)</script>", "file:///etc/passwd", "https://example.org/x.safetensors", "model:bundled",
    "sample:flock", "model:../x", "x.safetensors", "flock", "bundled", "untrained", "resnet50", "%00", "\u202e", "🦊",
)  # fmt: skip


@cache
def _good_files() -> tuple[bytes, ...]:
    files = []
    for sample in SAMPLES[:3]:
        image = Image.open(sample.path).resize((96, 72))
        for name in FORMATS:
            buffer = io.BytesIO()
            image.save(buffer, name)
            files.append(buffer.getvalue())
    return tuple(files)


def images(count: int, seed: int = 0) -> Iterator[bytes]:
    """Pictures with bytes changed, removed, inserted, doubled or moved, mostly near the beginning."""
    chance = random.Random(seed)
    for _ in range(count):
        data = bytearray(chance.choice(_good_files()))
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


# Packs ----------------------------------------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
DTYPES = ("float16", "float32", "float64", "uint8", "O", "V9", "<f2", "int64", "S400", "", "datetime64[s]")


@st.composite
def packs(draw: st.DrawFn, good_pack: bytes) -> bytes:
    """A good pack with altered fields in its header, altered bytes, or a missing end."""
    (length,) = struct.unpack_from("<I", good_pack)
    header, body = json.loads(good_pack[4 : 4 + length]), good_pack[4 + length :]
    for _ in range(draw(st.integers(0, 2))):
        fields = draw(st.sampled_from([header, *header["sections"].values()]))
        key = draw(st.sampled_from(sorted(fields)))
        if key == "sections":
            header["sections"].pop(draw(st.sampled_from(sorted(header["sections"]))))
        else:
            fields[key] = draw(st.sampled_from(DTYPES) if key == "dtype" else VALUES)
    header_text = json.dumps(header).encode()
    data = bytearray(struct.pack("<I", len(header_text)) + header_text + body)
    for _ in range(draw(st.integers(0, 2))):
        data[draw(st.integers(0, len(data) - 1))] = draw(st.sampled_from((0, 1, 0x7F, 0xFF)))
    return bytes(data[: draw(st.sampled_from((len(data), len(data) // 2, 3)))])


def for_each(strategy: st.SearchStrategy, count: int, seed: int, try_one: Callable) -> None:
    """Calls try_one for `count` examples that the seed determines, without hypothesis' database. Reports the smallest
    example that fails."""
    silenced_checks = [hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.data_too_large]

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count, database=None, deadline=None, suppress_health_check=silenced_checks, print_blob=False
    )
    @hypothesis.given(strategy)
    def each(example) -> None:
        try_one(example)

    each()
