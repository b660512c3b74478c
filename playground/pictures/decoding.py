"""Checks an untrusted picture file before it is decoded: format, sizes in the header, and what would keep a decoder
busy for minutes. For each check, tests/hostile has a small file that really does harm without it."""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import stat
import struct
from typing import Any, BinaryIO

from PIL import (
    AvifImagePlugin,
    BmpImagePlugin,
    GifImagePlugin,
    Image,
    JpegImagePlugin,
    PngImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)

from playground.errors import PlaygroundError, needed

MAX_BYTES = 32 * 2**20
MAX_PIXELS = 64_000_000
MIN_SIDE, MAX_SIDE = 8, 20_000

MAX_READS = 250_000  # calls of read(); a large, honest picture with many small tiles needs some 100,000
MAX_SCANS, MAX_SCANNED_PIXELS = 100, 1_300_000_000  # every scan of a progressive JPEG visits all its pixels
MAX_WEBP_PIXELS = 36_000_000  # the WebP decoder keeps three copies beside Pillow's: 64 megapixels took a gigabyte
MAX_RUN_LENGTH_PIXELS = 4_000_000  # Pillow decodes run lengths in slow Python
MAX_TAG_NUMBERS, MAX_TILE_PIXELS = 100_000, 4_000_000
MAX_HEIF_HEADER = 2**17  # bytes, for AVIF and HEIC: libavif's time is quadratic in the number of items
MAX_TILES_PIXELS = 2 * MAX_PIXELS  # of all tiles of a HEIC, because libheif also decodes tiles outside the picture
HIDDEN_EXIF = b"exif\0\0"

ACCEPTED_FORMATS = "JPEG, PNG, WebP, GIF, BMP, TIFF, AVIF or HEIC"
FORMATS = (  # not Pillow's registry: any imported library could add a decoder there
    (rb"\xff\xd8\xff", JpegImagePlugin.JpegImageFile),
    (rb"\x89PNG\r\n\x1a\n", PngImagePlugin.PngImageFile),
    (rb"RIFF....WEBP", WebPImagePlugin.WebPImageFile),
    (rb"GIF8[79]a", GifImagePlugin.GifImageFile),
    (rb"BM", BmpImagePlugin.BmpImageFile),
    (rb"II[*+]\0|MM\0[*+]", TiffImagePlugin.TiffImageFile),
    (rb"....ftyp(?:hei[cxms]|mif1.{4,60}hei[cx])", None),  # pillow_heif's, which a library alone does not bring
    (rb"....ftyp(?:avif|avis|mif1|msf1)", AvifImagePlugin.AvifImageFile),
)
OTHER_FORMATS = (  # first bytes of other common formats, and the name that the error gives to such a file
    (rb"....ftyp", "a film"),
    (rb"%PDF", "a PDF document"),
    (rb"%!PS", "a PostScript drawing"),
    (rb"(?:\xef\xbb\xbf)?\s*<", "an SVG drawing or a web page"),
    (rb"8BPS", "a Photoshop document"),
    (
        rb"PK\x03\x04.{26}[^/]{1,200}/data\.pkl",
        "a PyTorch checkpoint, not a picture (a model is opened as .safetensors)",
    ),
    (rb"PK\x03\x04", "a ZIP archive or an office document"),
    (rb"\0\0\x01\0", "an icon"),
    (rb"\xff\x0a|\0\0\0\x0cJXL ", "a JPEG XL picture"),
    (rb"\0\0\0\x0cjP", "a JPEG 2000 picture"),
)
# The only TIFF tags that are read: others may hold millions of numbers or whole directories.
TIFF_TAGS = {*range(256, 260), 262, 266, 273, 274, 277, 278, 279, 284, 292, 293, 317, 320, *range(322, 326), 338, 339}
TIFF_TAGS |= {347, *range(529, 533), 34675}
TIFF_NUMBERS = {3: "H", 4: "I", 16: "Q"}
TIFF_COMPRESSIONS = {1, 2, 3, 4, 5, 7, 8, 32773, 32946, 50000}


def read(source: Any) -> bytes:
    if isinstance(source, (bytes, bytearray, memoryview)):
        _check_bytes(memoryview(source).nbytes)
        return bytes(source)
    if isinstance(source, (str, os.PathLike)):
        return _read_path(source)
    if callable(getattr(source, "read", None)):
        return _read_stream(source)
    raise PlaygroundError(
        f"An image is opened from a path, bytes, a file object or a PIL image, not from {type(source).__name__}."
    )


def _read_path(path: str | os.PathLike) -> bytes:
    try:
        status = os.stat(path)
        if stat.S_ISREG(status.st_mode):
            _check_bytes(status.st_size)
            with open(path, "rb") as file:
                return _read_stream(file)
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "no ordinary file"
        complaint = f"{path!r:.200} is {kind}: give the path of one picture."
    except PlaygroundError:
        raise
    except FileNotFoundError:
        complaint = f"There is no file {path!r:.200}: check the path."
    except (OSError, ValueError, TypeError) as error:
        complaint = f"{path!r:.200} can't be read: {getattr(error, 'strerror', None) or error}."
    raise PlaygroundError(complaint)


def _read_stream(file: BinaryIO) -> bytes:
    with contextlib.suppress(Exception):  # a pipe can't be rewound, so it is read from where it is
        file.seek(0)
    pieces, size = [], 0
    try:
        while size <= MAX_BYTES and (piece := file.read(MAX_BYTES + 1 - size)):
            pieces.append(piece)
            size += memoryview(piece).nbytes  # raises TypeError for text
        data = b"".join(pieces)
    except Exception as error:
        complaint = f"The file can't be read ({str(error) or type(error).__name__}): give an open file in binary mode."
    else:
        _check_bytes(size, is_known=False)
        return data
    raise PlaygroundError(complaint)


def _check_bytes(size: int, is_known: bool = True) -> None:
    if size == 0:
        raise PlaygroundError("The file is empty: choose a picture.")
    if size > MAX_BYTES:
        size_words = f"{size / 2**20:,.1f} MB" if is_known else "more than that"
        raise PlaygroundError(
            f"A picture's file may have at most {MAX_BYTES // 2**20} MB, and this one has "
            f"{size_words}: save it smaller."
        )


# Recognising, and checking before decoding


class _CountedReads(io.BytesIO):
    """Counts reads and raises after too many: a file of millions of tiny parts keeps Pillow busy for minutes."""

    reads = 0

    def read(self, size: int | None = -1, /) -> bytes:
        self.reads += 1
        if self.reads > MAX_READS:
            raise PlaygroundError("The file is cut into far more parts than a picture has: save it again as PNG.")
        return super().read(size)


def read_header(data: bytes) -> Image.Image:
    for signature, picture_class in FORMATS:
        if re.match(signature, data, re.DOTALL):
            picture_class = picture_class or needed("pillow_heif", "pillow-heif").HeifImageFile
            defusers = {
                "JPEG": _defuse_jpeg, "PNG": _defuse_png, "TIFF": _defuse_tiff, "AVIF": _defuse_heif,
                "HEIF": _defuse_heic,
            }  # fmt: skip
            return picture_class(_CountedReads(defusers.get(picture_class.format, bytes)(data)))
    matching_names = (name for signature, name in OTHER_FORMATS if re.match(signature, data, re.DOTALL))
    name = next(matching_names, "no picture of a kind that can be opened")
    raise PlaygroundError(f"This file is {name}: save or export the picture as {ACCEPTED_FORMATS}.")


def _defuse_png(data: bytes) -> bytes:
    if data.count(b"iCCP") > 8 or data.count(b"zTXt") + data.count(b"iTXt") > 100:  # a chunk may grow to a megabyte
        raise PlaygroundError("The PNG file holds far more packed text or profiles than a picture: save it again.")
    return data


def _defuse_jpeg(data: bytes) -> bytes:
    """The same file with its EXIF renamed: Pillow would join the EXIF blocks in quadratic time and parse them all."""
    return data.replace(b"Exif\0\0", HIDDEN_EXIF)


def _defuse_tiff(data: bytes) -> bytes:
    """The same file reduced to its first page and the tags that describe its pixels."""
    byte_order, is_big = "<>"[data.startswith(b"MM")], b"+" in data[2:4]
    count_format, entry_format, offset_format = (
        byte_order + layout for layout in (("Q", "HHQ8s", "Q") if is_big else ("H", "HHI4s", "I"))
    )
    (directory_start,) = struct.unpack_from(offset_format, data, 8 if is_big else 4)
    (tag_count,) = struct.unpack_from(count_format, data, directory_start)
    first_entry, step = directory_start + struct.calcsize(count_format), struct.calcsize(entry_format)
    if directory_start < 8 or tag_count > 4096:
        raise ValueError("no picture has so many tags")
    entries = [struct.unpack_from(entry_format, data, first_entry + step * tag) for tag in range(tag_count)]
    kept_tags = {tag: (tag, *rest) for tag, *rest in reversed(entries) if tag in TIFF_TAGS}
    if sum(length for _, kind, length, _ in kept_tags.values() if kind not in (1, 2, 6, 7)) > MAX_TAG_NUMBERS:
        raise PlaygroundError("The TIFF file is cut into far more strips or tiles than a picture needs: save it again.")

    def number(tag: int) -> int:
        _, kind, length, value = kept_tags.get(tag, (tag, 3, 1, struct.pack(byte_order + "H", 1)))
        if length != 1:
            raise ValueError("one number was expected")
        return struct.unpack_from(byte_order + TIFF_NUMBERS[kind], value)[0]

    if number(322) * number(323) > MAX_TILE_PIXELS:
        raise PlaygroundError(f"The TIFF file has tiles of {number(322):,} × {number(323):,} pixels: save it as PNG.")
    if number(259) not in TIFF_COMPRESSIONS:
        raise PlaygroundError(f"The TIFF file is compressed in a rare way (scheme {number(259)}): save it as PNG.")
    packed_entries = b"".join(struct.pack(entry_format, *kept_tags[tag]) for tag in sorted(kept_tags))
    page = struct.pack(count_format, len(kept_tags)) + packed_entries + struct.pack(offset_format, 0)
    return data[:directory_start] + page + data[directory_start + len(page) :]


def _defuse_heif(data: bytes) -> bytes:
    """The same file without EXIF and XMP, which Pillow would parse number by number. They aren't needed: the boxes
    `irot` and `imir` say which way is up."""
    safe_data, position, header_bytes = bytearray(data), 0, 0
    while position + 8 <= len(data):
        size, name = struct.unpack_from(">I4s", data, position)
        if size == 1:
            (size,) = struct.unpack_from(">Q", data, position + 8)
        box_end = min(position + max(size, 8), len(data)) if size else len(data)
        header_bytes += 8 if name == b"mdat" else box_end - position
        if header_bytes > MAX_HEIF_HEADER:
            raise PlaygroundError("The picture's file has a far longer header than a picture needs: save it as PNG.")
        if name != b"mdat":
            box = safe_data[position:box_end]
            safe_data[position:box_end] = box.replace(b"Exif", b"skip").replace(b"mime", b"skip")
        position = box_end
    return bytes(safe_data)


def _defuse_heic(data: bytes) -> bytes:
    """Refuses a grid whose tiles are grids themselves: a few bytes could ask for the same tile a million times."""
    grids: set[int] = set()
    tiles: set[int] = set()
    for reference in re.finditer(rb"dimg", data):  # `dimg` lists the tiles of a grid
        size = int.from_bytes(data[reference.start() - 4 : reference.start()])
        for item_format in "HI":  # an item number has two bytes (H) or four (I)
            with contextlib.suppress(struct.error):
                grid, count = struct.unpack_from(f">{item_format}H", data, reference.end())
                layout = f">{item_format}H{count}{item_format}"
                if size == 8 + struct.calcsize(layout):
                    grids.add(grid)
                    tiles.update(struct.unpack_from(layout, data, reference.end())[2:])
    if grids & tiles or re.search(rb"infe[\2\3].{7,9}iovl", data, re.DOTALL):
        raise PlaygroundError("The HEIC file is put together from other pictures: save it as PNG.")
    return _defuse_heif(data)


def check_size(width: int, height: int) -> None:
    if min(width, height) < MIN_SIDE or max(width, height) > MAX_SIDE:
        raise PlaygroundError(
            f"A picture's sides may be from {MIN_SIDE} to {MAX_SIDE:,} pixels, and this one is {width:,} × {height:,}: "
            "crop or resize it."
        )
    if width * height > MAX_PIXELS:
        raise PlaygroundError(
            f"A picture may have at most {MAX_PIXELS // 10**6} megapixels, and this one has "
            f"{width * height / 1e6:,.1f} ({width:,} × {height:,}): save it smaller."
        )


def check_effort(picture: Image.Image) -> None:
    """Refuses pictures of an allowed size that would still take far too long or too much memory to decode."""
    pixels = picture.width * picture.height
    if picture.format == "BMP" and picture.info["compression"] in (1, 2) and pixels > MAX_RUN_LENGTH_PIXELS:
        raise PlaygroundError(
            f"A run-length BMP may have at most {MAX_RUN_LENGTH_PIXELS // 10**6} megapixels, and this one has "
            f"{pixels / 1e6:,.1f}: save it as PNG."
        )
    if picture.format == "WEBP" and pixels > MAX_WEBP_PIXELS:
        raise PlaygroundError(
            f"A WebP picture may have at most {MAX_WEBP_PIXELS // 10**6} megapixels, and this one has "
            f"{pixels / 1e6:,.1f}: save it smaller, or as JPEG."
        )
    if picture.format == "HEIF" and (tiles := picture.info.get("tiling")):
        tile_pixels = math.prod(tiles[key] for key in ("num_columns", "num_rows", "tile_width", "tile_height"))
        if tile_pixels > MAX_TILES_PIXELS:
            raise PlaygroundError(
                f"The HEIC file has tiles of {tile_pixels / 1e6:,.0f} megapixels in all for a picture of "
                f"{pixels / 1e6:,.1f}: save it as PNG."
            )
    if picture.format == "JPEG":
        _check_scans(picture.fp, pixels)  # type: ignore[attr-defined]


def _check_scans(file: io.BytesIO, pixels: int) -> None:
    """Counts the scans of a JPEG whose header Pillow has read, and cuts off what follows the end marker."""
    scans, data_start, has_end = 1, file.tell(), False
    for marker in re.finditer(rb"\xff[\xd9\xda]", file.getvalue()[data_start:]):
        if has_end := marker[0] == b"\xff\xd9":
            file.truncate(data_start + marker.end())
            break
        scans += 1
    if scans > 1 and not has_end:
        raise ValueError("cut short")  # else libjpeg allocates 400 MB for the coefficients of all scans
    if scans > MAX_SCANS or scans * pixels > MAX_SCANNED_PIXELS:
        raise PlaygroundError(f"The JPEG file draws its picture {scans:,} times over: save it again, not progressive.")
