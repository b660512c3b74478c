"""Broken WebP and AVIF files."""

import struct

from PIL import Image

from hostile.making import BIG, NOISE, box, noisy_picture, patched, saved, spoiled


def riff(*chunks: tuple[bytes, bytes]) -> bytes:
    body = b"WEBP" + b"".join(
        name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2) for name, data in chunks
    )
    return b"RIFF" + struct.pack("<I", len(body)) + body


def vp8x(width: int, height: int, flags: int = 0) -> tuple[bytes, bytes]:
    return b"VP8X", struct.pack("<I", flags) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")


def animated_webp(width: int, height: int, spoil: bool = False) -> bytes:
    """A WebP that claims a canvas of this size and has two small frames; `spoil` damages the first."""
    second_frame = Image.frombytes("RGB", (64, 48), NOISE[: 64 * 48 * 3])
    data = saved("WEBP", save_all=True, append_images=[second_frame])
    canvas_at = data.index(b"VP8X") + 12
    data = patched(data, canvas_at, (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"))
    return patched(data, data.index(b"VP8 ") + 14, b"\xff" * 40) if spoil else data


def avif(*boxes: bytes) -> bytes:
    handler = box(b"hdlr", bytes(8) + b"pict" + bytes(13))
    return box(b"ftyp", b"avif" + bytes(4) + b"mif1miaf") + box(b"meta", bytes(4) + handler + b"".join(boxes))


def avif_items(count: int) -> bytes:
    """An AVIF that lists `count` items. libavif compares each with all earlier ones: 200,000 take 45 seconds."""
    location_entries = b"".join(struct.pack(">IHHHII", item, 0, 0, 1, 0, 4) for item in range(1, count + 1))
    return avif(
        box(b"pitm", bytes(4) + b"\0\1"), box(b"iloc", b"\2\0\0\0\x44\0" + struct.pack(">I", count) + location_entries)
    )


def avif_claiming(width: int, height: int) -> bytes:
    data = saved("AVIF")
    return patched(data, data.index(b"ispe") + 8, struct.pack(">II", width, height))


WEBPS_AND_AVIFS = {
    "a WebP that is longer than its file": lambda: patched(saved("WEBP"), 4, b"\xff\xff\xff\x7f"),
    "a WebP of rubbish": lambda: riff((b"VP8 ", NOISE)),
    "a lossless WebP of rubbish": lambda: riff((b"VP8L", b"\x2f" + NOISE)),
    "an animated WebP without frames": lambda: riff(vp8x(64, 64, 2), (b"ANIM", bytes(6))),
    "an animated WebP of 64 megapixels with a spoiled frame": lambda: animated_webp(BIG, BIG, spoil=True),
    "a WebP of 40 megapixels": lambda: animated_webp(8_000, 5_000),
    "a WebP whose frame is not its canvas": lambda: riff(vp8x(640, 640), (b"VP8 ", saved("WEBP")[20:])),
    "an AVIF without a picture": lambda: avif(),
    "an AVIF of rubbish": lambda: (lambda data: spoiled(data, data.index(b"mdat") + 4))(noisy_picture("AVIF")),
    "an AVIF of 200,000 items": lambda: avif_items(200_000),
    "an AVIF of 4,000,000 empty boxes": lambda: avif() + box(b"mdat", b"") * 4_000_000,
    "an AVIF of 15,000 items": lambda: avif_items(15_000),
}
