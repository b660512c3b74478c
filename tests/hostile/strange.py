"""Pictures that could cost far more than they show: many pages, appended pictures, directories that point at
themselves, tiles, 16 bits, CMYK. The app may open or refuse each, but quickly and with little memory.

STRANGE_PICTURES maps a name to a function that returns the file's bytes.
"""

import io
import struct
import zlib

from PIL import Image

from hostile.gifs_and_bmps import GIF
from hostile.jpegs import jpeg_with, segment
from hostile.making import BIG, deflated_zeros, saved
from hostile.pngs import PNG, chunk, ihdr, png
from hostile.tiffs import long, short, tiff


def directory(*entries: tuple[int, int, int, int], next_directory: int = 0) -> bytes:
    """A TIFF directory with these entries (tag, type, count, value), as EXIF and MPF contain."""
    entry_bytes = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return b"II*\0\x08\0\0\0" + struct.pack("<H", len(entries)) + entry_bytes + struct.pack("<I", next_directory)


def gif_of_frames(count: int) -> bytes:
    data = saved("GIF", (8, 8), "P")
    frame = data[data.index(b",") : -1]
    return data[:-1] + frame * count + b";"


def apng_of_frames(count: int) -> bytes:
    control = struct.pack(">IIIIHHBB", 64, 64, 0, 0, 1, 10, 0, 0)
    frames = b"".join(
        chunk(b"fcTL", struct.pack(">I", 2 * number + 1) + control)
        + chunk(b"fdAT", struct.pack(">I", 2 * number + 2) + zlib.compress(bytes(193 * 64)))
        for number in range(count)
    )
    first_frame = chunk(b"fcTL", struct.pack(">I", 0) + control) + chunk(b"IDAT", zlib.compress(bytes(193 * 64)))
    return PNG + ihdr() + chunk(b"acTL", struct.pack(">II", count + 1, 0)) + first_frame + frames + chunk(b"IEND")


def film(kind: str, count: int) -> bytes:
    file, frames = io.BytesIO(), [Image.new("RGB", (64, 48), (shade % 256, 0, 0)) for shade in range(count)]
    frames[0].save(file, kind, save_all=True, append_images=frames[1:])
    return file.getvalue()


def tiled(side: int, tile: int, **more) -> bytes:
    """A tiled TIFF, all of whose tiles lie at the same place in the file."""
    pixels, count = zlib.compress(bytes(tile * tile * 3)), (-(-side // tile)) ** 2
    tags = [long(256, side), long(257, side), short(259, 8), short(322, tile), short(323, tile)]
    pixels_at = 8 + 2 + 12 * 11 + 4 + 8 * count  # the pixels follow the lists of tags 324 and 325
    tags += [long(324, *[pixels_at] * count), long(325, *[len(pixels)] * count)]
    return tiff(*tags, pixels=pixels, without=(273, 278, 279))


def profile_parts(count: int) -> bytes:
    return b"".join(
        segment(0xE2, b"ICC_PROFILE\0" + bytes((number % 256, 255)) + bytes(65_000)) for number in range(count)
    )


STRANGE_PICTURES = {
    "a JPEG of 60,000 pictures behind it": lambda: jpeg_with(
        segment(0xE2, b"MPF\0" + directory((0xB001, 4, 1, 60_000), (0xB002, 7, 960_000, 50)))
    ),
    "a JPEG whose list of pictures points at itself": lambda: jpeg_with(
        segment(0xE2, b"MPF\0" + directory((0xB001, 4, 1, 2), (0xB002, 7, 32, 8), next_directory=8))
    ),
    "a JPEG whose EXIF points at itself": lambda: jpeg_with(
        segment(0xE1, b"Exif\0\0" + directory((34_665, 4, 1, 8), (34_853, 4, 1, 8), next_directory=8))
    ),
    "a JPEG whose EXIF claims 65,535 entries": lambda: jpeg_with(
        segment(0xE1, b"Exif\0\0II*\0\x08\0\0\0\xff\xff" + bytes(60_000))
    ),
    "a JPEG whose way up is a million numbers": lambda: jpeg_with(
        segment(0xE1, b"Exif\0\0" + directory((274, 3, 10**6, 8)))
    ),
    "a JPEG of 450 parts of a profile": lambda: jpeg_with(profile_parts(450)),
    "a JPEG of inks, 64 megapixels": lambda: saved("JPEG", (BIG, BIG), "CMYK", (1, 2, 3, 4)),
    "a progressive JPEG of inks, 16 megapixels": lambda: saved("JPEG", (4_000, 4_000), "CMYK", progressive=True),
    "a TIFF of inks, 16 megapixels": lambda: saved("TIFF", (4_000, 4_000), "CMYK", compression="tiff_deflate"),
    "a GIF of 100,000 pictures": lambda: gif_of_frames(100_000),
    "a GIF whose second picture is cut short": lambda: saved("GIF") + GIF[:3],
    "a PNG of 20,000 pictures": lambda: apng_of_frames(20_000),
    "a WebP of 500 pictures": lambda: film("WEBP", 500),
    "a TIFF of 500 pages": lambda: film("TIFF", 500),
    "a TIFF whose next page is its first": lambda: tiff(pixels=bytes(20_000), next_directory=8),
    "a TIFF of 62,500 tiles that are all the same": lambda: tiled(4_000, 16),
    "a TIFF of one tile that is larger than it": lambda: tiled(64, 1_024),
    "a TIFF of tiles of 3 pixels": lambda: tiled(600, 3),
    "a PNG of 16 bits and four layers, 16 megapixels": lambda: png(
        width=4_000, height=4_000, bits=16, colour=6, pixels=deflated_zeros(2**27)
    ),
    "a grey PNG of 16 bits, 36 megapixels": lambda: png(
        width=6_000, height=6_000, bits=16, colour=0, pixels=deflated_zeros(2**27)
    ),
    "a grey TIFF of 16 bits, 36 megapixels": lambda: saved("TIFF", (6_000, 6_000), "I;16", compression="tiff_deflate"),
    "a TIFF of numbers up to a thousand million, 16 megapixels": lambda: saved(
        "TIFF", (4_000, 4_000), "I", 10**9, compression="tiff_deflate"
    ),
}
