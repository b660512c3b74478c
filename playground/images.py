"""Bytes from anywhere become an upright, safe RGB picture, and that picture becomes the model's input.

Every file is taken for hostile. Only seven formats are recognised, sizes are checked from the header before anything
is decoded, and what could keep a decoder busy for minutes is refused first: each of those checks answers a file in
tests/hostile.py that really does so. Nothing global is touched, so threads can't get in each other's way.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import stat
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

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

from playground.errors import PlaygroundError

if TYPE_CHECKING:
    import torch

MAX_BYTES = 32 * 2**20
MAX_PIXELS = 64_000_000
MIN_SIDE, MAX_SIDE = 8, 20_000
KEPT_PIXELS = 2**24  # a larger picture is shrunk by a whole factor: no model looks at more, every session pays for it

MAX_READS = 250_000  # a large picture in tiny parts needs some 100,000
MAX_SCANS, MAX_SCANNED_PIXELS = 100, 1_300_000_000  # a progressive JPEG is walked through once per scan
MAX_RUN_LENGTH_PIXELS = 4_000_000  # Pillow decodes run-length BMP in Python
MAX_TAG_NUMBERS, MAX_TILE_PIXELS = 100_000, 4_000_000
MAX_AVIF_HEADER = 2**17  # libavif looks through all earlier items for each item
BAND_PIXELS = 2**20
HIDDEN_EXIF = b"exif\0\0"

ACCEPTED = "JPEG, PNG, WebP, GIF, BMP, TIFF or AVIF"
FORMATS = (  # the classes themselves: no registry that another library could add a decoder to
    (rb"\xff\xd8\xff", JpegImagePlugin.JpegImageFile),
    (rb"\x89PNG\r\n\x1a\n", PngImagePlugin.PngImageFile),
    (rb"RIFF....WEBP", WebPImagePlugin.WebPImageFile),
    (rb"GIF8[79]a", GifImagePlugin.GifImageFile),
    (rb"BM", BmpImagePlugin.BmpImageFile),
    (rb"II[*+]\0|MM\0[*+]", TiffImagePlugin.TiffImageFile),
    (rb"....ftyp(?:avif|avis|mif1|msf1)", AvifImagePlugin.AvifImageFile),
)
STRANGERS = (  # what people try, so that they are told what they have in hand
    (rb"....ftyp(?:hei|hev)", "a HEIC picture, as iPhones take them"),
    (rb"....ftyp", "a film"),
    (rb"%PDF", "a PDF document"),
    (rb"%!PS", "a PostScript drawing"),
    (rb"(?:\xef\xbb\xbf)?\s*<", "an SVG drawing or a web page"),
    (rb"8BPS", "a Photoshop document"),
    (rb"PK\x03\x04", "a ZIP archive or an office document"),
    (rb"\0\0\x01\0", "an icon"),
    (rb"\xff\x0a|\0\0\0\x0cJXL ", "a JPEG XL picture"),
    (rb"\0\0\0\x0cjP", "a JPEG 2000 picture"),
)
UPRIGHT = {  # EXIF's orientation: what turns such a picture upright
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
# What describes the pixels of a TIFF, and nothing else: other tags may hold millions of numbers or whole directories.
TIFF_TAGS = {*range(256, 260), 262, 266, 273, 274, 277, 278, 279, 284, 292, 293, 317, 320, *range(322, 326), 338, 339}
TIFF_TAGS |= {347, *range(529, 533), 34675}
TIFF_NUMBERS = {3: "H", 4: "I", 16: "Q"}
TIFF_COMPRESSIONS = {1, 2, 3, 4, 5, 7, 8, 32773, 32946, 50000}

_one_costly_picture = threading.Lock()  # WebP and AVIF take up to 1 GB for 64 megapixels: never several at once


def open_image(source: str | os.PathLike | bytes | bytearray | memoryview | BinaryIO | Image.Image) -> Image.Image:
    """An upright RGB picture, decoded and detached from its file, from a path, bytes, a file object or a PIL image.

    A file object is read from its beginning and stays open. Pictures above 16.8 megapixels come back at half size.
    """
    try:
        return _open(source)
    except PlaygroundError:
        raise
    except MemoryError:
        complaint = "There is not enough memory to open this picture: save it smaller."
    except Image.DecompressionBombError:
        complaint = (
            f"A picture may have at most {MAX_PIXELS // 10**6} megapixels, and this one has more: save it smaller."
        )
    except Exception:  # whatever a decoder throws at a broken file: Pillow's list is long and grows
        complaint = (
            "The picture is damaged, cut short or not what it says it is. "
            "Open it in an image editor, save it again as PNG or JPEG, and take that file."
        )
    raise PlaygroundError(complaint)  # out here, so that the error doesn't keep the half-decoded picture alive


def _open(source) -> Image.Image:
    picture = source if isinstance(source, Image.Image) else _read_header(_read(source))
    _check_size(*picture.size)
    if picture is not source:
        _check_effort(picture)
        if picture.format == "JPEG":
            picture.draft(None, tuple(side // _shrink(picture) for side in picture.size))
            picture.info["exif"] = next((block for _, block in picture.applist if block.startswith(HIDDEN_EXIF)), b"")
    costly = _shrink(picture) > 1 or picture.format == "AVIF"  # whose picture may be larger than its header says
    with _one_costly_picture if costly else contextlib.nullcontext():
        picture.load()
        return _upright_rgb(picture)


# Reading


def _read(source) -> bytes:
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
        what = "a folder" if stat.S_ISDIR(status.st_mode) else "no ordinary file"
        complaint = f"{path!r:.200} is {what}: give the path of one picture."
    except PlaygroundError:
        raise
    except FileNotFoundError:
        complaint = f"There is no file {path!r:.200}: check the path."
    except (OSError, ValueError, TypeError) as error:
        complaint = f"{path!r:.200} can't be read: {getattr(error, 'strerror', None) or error}."
    raise PlaygroundError(complaint)


def _read_stream(file: BinaryIO) -> bytes:
    with contextlib.suppress(Exception):  # a pipe can't be rewound, and need not be
        file.seek(0)
    pieces, size = [], 0
    try:
        while size <= MAX_BYTES and (piece := file.read(MAX_BYTES + 1 - size)):
            pieces.append(piece)
            size += memoryview(piece).nbytes  # and no text
        data = b"".join(pieces)
    except Exception as error:
        complaint = f"The file can't be read ({str(error) or type(error).__name__}): give an open file in binary mode."
    else:
        _check_bytes(size, known=False)
        return data
    raise PlaygroundError(complaint)


def _check_bytes(size: int, known: bool = True) -> None:
    if size == 0:
        raise PlaygroundError("The file is empty: choose a picture.")
    if size > MAX_BYTES:
        given = f"{size / 2**20:,.1f} MB" if known else "more than that"
        raise PlaygroundError(
            f"A picture's file may have at most {MAX_BYTES // 2**20} MB, and this one has {given}: save it smaller."
        )


# Recognising, and checking before decoding


class _CountedReads(io.BytesIO):
    """A file of millions of tiny parts keeps Pillow's loops busy for minutes; a picture needs some hundred reads."""

    reads = 0

    def read(self, size: int | None = -1, /) -> bytes:
        self.reads += 1
        if self.reads > MAX_READS:
            raise PlaygroundError("The file is cut into far more parts than a picture has: save it again as PNG.")
        return super().read(size)


def _read_header(data: bytes) -> Image.Image:
    for signature, picture_class in FORMATS:
        if re.match(signature, data, re.DOTALL):
            defuse = {"JPEG": _defuse_jpeg, "PNG": _defuse_png, "TIFF": _defuse_tiff, "AVIF": _defuse_avif}
            return picture_class(_CountedReads(defuse.get(picture_class.format, bytes)(data)))
    names = (name for signature, name in STRANGERS if re.match(signature, data, re.DOTALL))
    name = next(names, "no picture of a kind that can be opened")
    raise PlaygroundError(f"This file is {name}: save or export the picture as {ACCEPTED}.")


def _defuse_png(data: bytes) -> bytes:
    if data.count(b"iCCP") > 8 or data.count(b"zTXt") + data.count(b"iTXt") > 100:  # each may unpack to a megabyte
        raise PlaygroundError("The PNG file holds far more packed text or profiles than a picture: save it again.")
    return data


def _defuse_jpeg(data: bytes) -> bytes:
    """The same file with its EXIF hidden from Pillow, which would join the blocks in quadratic time and parse all."""
    return data.replace(b"Exif\0\0", HIDDEN_EXIF)


def _defuse_tiff(data: bytes) -> bytes:
    """The same file with the first page only, and of that only the tags that describe its pixels."""
    order, big = "<>"[data.startswith(b"MM")], b"+" in data[2:4]
    count, entry, offset = (order + layout for layout in (("Q", "HHQ8s", "Q") if big else ("H", "HHI4s", "I")))
    (start,) = struct.unpack_from(offset, data, 8 if big else 4)
    (tags,) = struct.unpack_from(count, data, start)
    first, step = start + struct.calcsize(count), struct.calcsize(entry)
    if start < 8 or tags > 4096:
        raise ValueError("no picture has so many tags")
    entries = [struct.unpack_from(entry, data, first + step * tag) for tag in range(tags)]
    kept = {tag: (tag, *rest) for tag, *rest in reversed(entries) if tag in TIFF_TAGS}
    if sum(length for _, kind, length, _ in kept.values() if kind not in (1, 2, 6, 7)) > MAX_TAG_NUMBERS:
        raise PlaygroundError("The TIFF file is cut into far more strips or tiles than a picture needs: save it again.")

    def number(tag: int) -> int:
        _, kind, length, value = kept.get(tag, (tag, 3, 1, struct.pack(order + "H", 1)))
        if length != 1:
            raise ValueError("one number was expected")
        return struct.unpack_from(order + TIFF_NUMBERS[kind], value)[0]

    if number(322) * number(323) > MAX_TILE_PIXELS:
        raise PlaygroundError(f"The TIFF file has tiles of {number(322):,} × {number(323):,} pixels: save it as PNG.")
    if number(259) not in TIFF_COMPRESSIONS:
        raise PlaygroundError(f"The TIFF file is compressed in a rare way (scheme {number(259)}): save it as PNG.")
    packed = b"".join(struct.pack(entry, *kept[tag]) for tag in sorted(kept))
    page = struct.pack(count, len(kept)) + packed + struct.pack(offset, 0)
    return data[:start] + page + data[start + len(page) :]


def _defuse_avif(data: bytes) -> bytes:
    """The same file without its EXIF, which AVIF doesn't turn pictures by and Pillow would parse number by number."""
    safe, at, header = bytearray(data), 0, 0
    while at + 8 <= len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        if size == 1:
            (size,) = struct.unpack_from(">Q", data, at + 8)
        end = min(at + max(size, 8), len(data)) if size else len(data)
        header += 8 if name == b"mdat" else end - at
        if header > MAX_AVIF_HEADER:
            raise PlaygroundError("The AVIF file has a far longer header than a picture needs: save it again.")
        if name != b"mdat":
            safe[at:end] = safe[at:end].replace(b"Exif", b"skip")
        at = end
    return bytes(safe)


def _check_size(width: int, height: int) -> None:
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


def _check_effort(picture: Image.Image) -> None:
    """What a header of the right size can still ask for."""
    pixels = picture.width * picture.height
    if picture.format == "BMP" and picture.info["compression"] in (1, 2) and pixels > MAX_RUN_LENGTH_PIXELS:
        raise PlaygroundError(
            f"A run-length BMP may have at most {MAX_RUN_LENGTH_PIXELS // 10**6} megapixels, and this one has "
            f"{pixels / 1e6:,.1f}: save it as PNG."
        )
    if picture.format == "JPEG":
        _check_scans(picture.fp, pixels)


def _check_scans(file: io.BytesIO, pixels: int) -> None:
    """Pillow has read up to the first scan. What follows the end of the picture is cut off, and so never decoded."""
    scans, first, complete = 1, file.tell(), False
    for marker in re.finditer(rb"\xff[\xd9\xda]", file.getvalue()[first:]):
        if complete := marker[0] == b"\xff\xd9":
            file.truncate(first + marker.end())
            break
        scans += 1
    if scans > 1 and not complete:
        raise ValueError("cut short")  # before libjpeg takes 400 MB for the coefficients of all scans
    if scans > MAX_SCANS or scans * pixels > MAX_SCANNED_PIXELS:
        raise PlaygroundError(f"The JPEG file draws its picture {scans:,} times over: save it again, not progressive.")


# Any mode becomes RGB, a band of rows at a time, so that a picture of 64 megapixels is never held twice


def _upright_rgb(picture: Image.Image) -> Image.Image:
    shrink, to_srgb, scale = _shrink(picture), None, _deep_scale(picture)
    canvas = Image.new("RGB", tuple(math.ceil(side / shrink) for side in picture.size))
    for top, band in _bands(picture, shrink):
        flat = _flat(band, scale).reduce(shrink)
        to_srgb = to_srgb or _colours(flat.mode, picture.info.get("icc_profile"))
        canvas.paste(to_srgb(flat), (0, top // shrink))
    turn = UPRIGHT.get(_orientation(picture.info.get("exif")))
    return canvas if turn is None else canvas.transpose(turn)


def _shrink(picture: Image.Image) -> int:
    return math.ceil(math.sqrt(picture.width * picture.height / KEPT_PIXELS))


def _bands(picture: Image.Image, multiple: int = 1) -> Iterator[tuple[int, Image.Image]]:
    rows = multiple * max(1, BAND_PIXELS // (picture.width * multiple))
    for top in range(0, picture.height, rows):
        yield top, picture.crop((0, top, picture.width, min(top + rows, picture.height)))


def _flat(band: Image.Image, scale: tuple[float, float] | None) -> Image.Image:
    """Without transparency and at eight bits: RGB, or a mode that a colour profile may know better how to convert."""
    if scale:
        return _shallow(band, *scale)
    if band.has_transparency_data:
        band = band.convert("LA") if band.mode == "La" else band
        paper = Image.new("RGB", band.size, "white")
        paper.paste(band := band.convert("RGBA"), mask=band)
        return paper
    return band if band.mode in ("RGB", "L", "CMYK", "LAB") else band.convert("RGB")


def _deep_scale(picture: Image.Image) -> tuple[float, float] | None:
    """What is black and what is white: the mode's own range, or the values' range where the mode has none."""
    if picture.mode.startswith("I;16"):
        return 0, 65535
    if picture.mode not in ("I", "F"):
        return None
    import numpy as np

    finite = (values[np.isfinite(values)] for values in (np.asarray(band) for _, band in _bands(picture)))
    ranges = [(float(values.min()), float(values.max())) for values in finite if values.size]
    if not ranges:
        raise PlaygroundError("The picture holds no number at all, only NaN or infinity: save it as PNG.")
    low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
    usual = (1,) if picture.mode == "F" else (255, 65535)
    return next(((0, white) for white in usual if low >= 0 and high <= white), (low, high))


def _shallow(band: Image.Image, low: float, high: float) -> Image.Image:
    import numpy as np

    values = np.nan_to_num(np.asarray(band, dtype=np.float64), nan=low, posinf=high, neginf=low)
    grey = np.rint((values - low) * (255 / max(high - low, 1e-300))).astype(np.uint8)
    if isinstance(band.info.get("transparency"), int):
        grey[values == band.info["transparency"]] = 255
    return Image.fromarray(grey)


def _colours(mode: str, profile: bytes | None) -> Callable[[Image.Image], Image.Image]:
    """How this mode becomes sRGB: by the picture's own profile where it has a usable one for its mode."""
    if profile or mode == "LAB":
        with contextlib.suppress(Exception):  # a broken profile is no reason to refuse a picture
            from PIL import ImageCms

            source = ImageCms.ImageCmsProfile(io.BytesIO(profile) if profile else ImageCms.createProfile("LAB"))
            space, name = source.profile.xcolor_space.strip(), source.profile.profile_description or ""
            if space == {"L": "GRAY", "LAB": "Lab"}.get(mode, mode) and "sRGB" not in name:
                transform = ImageCms.buildTransform(source, ImageCms.createProfile("sRGB"), mode, "RGB")
                return lambda band: ImageCms.applyTransform(band, transform)
    return lambda band: band.convert("RGB")


def _orientation(exif: bytes | None) -> int:
    """Read by hand, because Pillow would read all of EXIF for it, warn, and trust its counts."""
    tiff = exif.removeprefix(b"Exif\0\0").removeprefix(HIDDEN_EXIF) if isinstance(exif, bytes) else b""
    order = "<" if tiff.startswith(b"II") else ">"
    with contextlib.suppress(struct.error):
        (start,) = struct.unpack_from(order + "I", tiff, 4)
        (tags,) = struct.unpack_from(order + "H", tiff, start)
        for at in range(start + 2, start + 2 + 12 * tags, 12):
            tag, kind, length = struct.unpack_from(order + "HHI", tiff, at)
            if tag == 274 and kind in (3, 4) and length == 1:
                return struct.unpack_from(order + TIFF_NUMBERS[kind], tiff, at + 8)[0]
    return 1


# The model's input

RESAMPLING = {method.name.lower(): method for method in Image.Resampling}  # the names are timm's


def fit(image_size: tuple[int, int], patch: int, native: tuple[int, int]) -> tuple[int, int]:
    """The input size (H, W) for a picture of (width, height): its aspect, in whole patches, as many as the model's own.

    Never more patches than the native size has, and at least one along each side.
    """
    width, height = image_size
    patches = max(1, native[0] // patch) * max(1, native[1] // patch)
    aspect = min(max(height / width, 1 / patches), patches)
    rows, columns = math.sqrt(patches * aspect), math.sqrt(patches / aspect)

    def near(side: float) -> list[int]:
        return [step for step in range(math.floor(side) - 1, math.ceil(side) + 2) if 1 <= step <= patches]

    grids = [(r, c) for r in near(rows) for c in {*near(columns), patches // r}]
    grids += [(patches // c, c) for c in near(columns)]

    def misfit(grid: tuple[int, int]) -> float:  # a distorted picture is worse than a coarser one
        r, c = grid
        return 2 * abs(math.log(r / c / aspect)) + abs(math.log(r * c / patches))

    r, c = min((grid for grid in grids if grid[0] * grid[1] <= patches), key=misfit)
    return r * patch, c * patch


def displayed(image: Image.Image, size: tuple[int, int], interpolation: str = "bicubic") -> Image.Image:
    """Exactly what the model sees: the whole picture, nothing cropped, resized to (H, W)."""
    if interpolation not in RESAMPLING:
        raise PlaygroundError(f"There is no interpolation {interpolation!r}: choose one of {', '.join(RESAMPLING)}.")
    height, width = size
    picture = image if image.mode == "RGB" else open_image(image)
    return picture.resize((width, height), RESAMPLING[interpolation])


def model_input(
    image: Image.Image,
    size: tuple[int, int],
    mean: Sequence[float],
    std: Sequence[float],
    interpolation: str = "bicubic",
) -> torch.Tensor:
    """What is displayed, as the model's input: (1, 3, H, W) in float32, less `mean`, over `std`."""
    import numpy as np
    import torch

    pixels = torch.from_numpy(np.array(displayed(image, size, interpolation), dtype=np.float32))  # (H, W, 3)
    pixels = pixels.permute(2, 0, 1).div(255)  # (3, H, W)
    per_channel = [torch.tensor(values, dtype=torch.float32).view(3, 1, 1) for values in (mean, std)]
    return ((pixels - per_channel[0]) / per_channel[1]).unsqueeze(0).contiguous()
