"""Mutated pictures, addresses and packs, reproducible by a seed, raise only PlaygroundErrors."""

import random
from collections.abc import Iterator, Sequence
from urllib.parse import parse_qsl

import pytest
from made_pictures import saved
from PIL import Image

from playground.errors import PlaygroundError
from playground.figures.drawing.view import VIEW_CHOICES
from playground.pictures.images import open_image
from playground.samples import SAMPLES
from playground.serving import chosen
from playground.serving.chosen import PAGE_PATTERNS
from playground.tracing import Trace

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "HEIF")
WORDS = (
    "", "0", "-1", "999999999999", "nan", "1e309", "true", "cls", "reg99", "7,5", "..", "../../etc/passwd", "\0",
    "é" * 40, "<script>alert(1)</script>", "file:///etc/passwd", "https://example.org/x.safetensors", "model:bundled",
    "sample:flock", "model:../x", "x.safetensors", "flock", "bundled", "untrained", "resnet50", "%00", "\u202e", "🦊",
)  # fmt: skip


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


def test_a_mutated_picture_is_opened_or_refused_in_a_sentence():
    opened_count = 0
    images = [Image.open(sample.path).resize((96, 72)) for sample in SAMPLES[:3]]
    for data in mutated([saved(image, name) for image in images for name in FORMATS], 150):
        try:
            opened_count += open_image(data).width > 0
        except PlaygroundError:
            continue
    assert 0 < opened_count < 150  # some mutated pictures open, others do not


def test_a_mutated_address_is_answered_with_a_picture_or_a_sentence():
    refusals = []
    for parameters in addresses(150):
        for read_parameters in (parameters, chosen.read_address(parameters)[0]):  # as a route and as a page reads them
            try:
                picture, setup = chosen.read(read_parameters, None)
            except PlaygroundError as error:
                refusals.append((str(error), parameters))
            else:
                assert not picture.name.startswith(("/", ".")), parameters
                assert setup.detail in (1, 2, 3, 4), parameters
    assert [refusal for refusal in refusals if not refusal[0].endswith((".", "!"))] == []


@pytest.mark.slow
def test_a_mutated_pack_is_read_or_refused_in_a_sentence(small_trace):
    read_count = 0
    for data in mutated([small_trace.to_bytes()], 400):
        try:
            loaded_trace = Trace.from_bytes(data)
        except PlaygroundError:
            continue
        read_count += 1
        layer = next(iter(loaded_trace.record))
        assert abs(float(loaded_trace.row(layer, 0, (0, 0)).sum()) - 1) < 1e-3
        assert Trace.from_bytes(loaded_trace.to_bytes()).tokens == loaded_trace.tokens
    assert 0 < read_count < 400
