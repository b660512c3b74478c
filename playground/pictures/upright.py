"""Makes upright RGB of a picture of any mode, in bands of rows, so that there are never two full copies of one of 64
megapixels."""

from __future__ import annotations

import contextlib
import io
import math
import struct
from collections.abc import Callable, Iterator

from PIL import Image

from playground.errors import PlaygroundError
from playground.pictures.decoding import HIDDEN_EXIF, TIFF_NUMBERS

# Whether LittleCMS may be asked to read a colour profile, told by its table of tags.
#
# Two kinds would take what no picture is worth: multi-process elements, whose stages may be named a hundred thousand
# times in a few hundred bytes and are all computed for each of 36,000 colours; and tables that claim more numbers
# than the profile holds, for which room is made before they are read. Cameras, scanners, screens and printers need
# neither.

TAGS_AT, TAG = 128, struct.Struct(">4sII")  # name, offset, size
MOST_TAGS = 100  # LittleCMS reads no profile that has more


def is_usable(profile: bytes) -> bool:
    held = memoryview(profile)
    try:
        (count,) = struct.unpack_from(">I", held, TAGS_AT)
        if count > MOST_TAGS:
            return False
        tags = [TAG.unpack_from(held, TAGS_AT + 4 + TAG.size * number) for number in range(count)]
        return all(_is_modest(held[offset:], len(held)) for _, offset, _ in tags)
    except (struct.error, ValueError):  # cut short
        return False


def _is_modest(data: memoryview, held: int) -> bool:
    """Of a tag, and all that follows it: where it ends is only claimed."""
    kind = bytes(data[:4])
    if kind == b"mpet":
        return False
    if kind in (b"mft1", b"mft2"):  # a table with as many points along each side
        inputs, outputs, points = data[8:11]
        return points**inputs * outputs <= held
    if kind in (b"mAB ", b"mBA ") and (at := int.from_bytes(data[24:28])):
        inputs, outputs = data[8:10]
        return math.prod(data[at : at + 16][:inputs]) * outputs <= held
    return True


BAND_PIXELS = 2**20

UPRIGHT = {  # EXIF orientation -> the transposition that makes the picture upright
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def upright_rgb(picture: Image.Image, kept: int) -> Image.Image:
    shrink, to_srgb, scale = shrinkage(picture, kept), None, _deep_scale(picture)
    canvas = Image.new("RGB", (math.ceil(picture.width / shrink), math.ceil(picture.height / shrink)))
    for top, band in _bands(picture, shrink):
        colours, opacity = _parts(band, scale)
        to_srgb = to_srgb or _colours(colours.mode, picture.info.get("icc_profile"))
        # As browsers do: colours first, then what shines through
        rgb = _on_white(to_srgb(colours), opacity) if opacity else to_srgb(colours.reduce(shrink))
        canvas.paste(rgb.reduce(shrink) if opacity else rgb, (0, top // shrink))
    turn = UPRIGHT.get(_orientation(picture.info.get("exif")))
    return canvas if turn is None else canvas.transpose(turn)


def shrinkage(picture: Image.Image, kept: int) -> int:
    """By how much its sides are divided so that no more than so many pixels are kept."""
    return math.ceil(math.sqrt(picture.width * picture.height / kept))


def _bands(picture: Image.Image, multiple: int = 1) -> Iterator[tuple[int, Image.Image]]:
    rows = multiple * max(1, BAND_PIXELS // (picture.width * multiple))
    for top in range(0, picture.height, rows):
        yield top, picture.crop((0, top, picture.width, min(top + rows, picture.height)))


def _parts(band: Image.Image, scale: tuple[float, float] | None) -> tuple[Image.Image, Image.Image | None]:
    """Eight bits a channel: RGB, or a mode (such as CMYK) that `_colours` converts by the picture's colour profile; and
    its opacity, None where nothing shines through."""
    if scale:
        return _shallow(band, *scale), None
    if band.has_transparency_data:
        grey = band.mode in ("L", "LA", "La")
        band = band.convert("LA" if grey else "RGBA")
        return band.convert("L" if grey else "RGB"), band.getchannel("A")
    return (band if band.mode in ("RGB", "L", "CMYK", "LAB") else band.convert("RGB")), None


def _on_white(rgb: Image.Image, opacity: Image.Image) -> Image.Image:
    paper = Image.new("RGB", rgb.size, "white")
    paper.paste(rgb, mask=opacity)
    return paper


def _deep_scale(picture: Image.Image) -> tuple[float, float] | None:
    """(black, white): the range of the mode, or of the picture's values if the mode has no fixed range."""
    if picture.mode.startswith("I;16"):
        return 0, 65535
    if picture.mode not in ("I", "F"):
        return None
    import numpy as np

    finite = (values[np.isfinite(values)] for values in (np.asarray(band) for _, band in _bands(picture)))
    ranges = [(float(values.min()), float(values.max())) for values in finite if values.size]
    if not ranges:
        raise PlaygroundError("Every pixel of the picture is NaN or infinite: save it as PNG.")
    low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
    usual = (1,) if picture.mode == "F" else (255, 65535)
    return next(((0, white) for white in usual if low >= 0 and high <= white), (low, high))


def _shallow(band: Image.Image, low: float, high: float) -> Image.Image:
    import numpy as np

    values = np.nan_to_num(np.asarray(band, dtype=np.float64), nan=low, posinf=high, neginf=low)
    if band.mode.startswith("I;16"):  # the upper eight bits, as Pillow itself and browsers read colours of sixteen
        grey = (values // 256).astype(np.uint8)
    else:
        grey = np.rint((values - low) * (255 / max(high - low, 1e-300))).astype(np.uint8)
    if isinstance(band.info.get("transparency"), int):
        grey[values == band.info["transparency"]] = 255
    return Image.fromarray(grey)


def _colours(mode: str, profile: bytes | None) -> Callable[[Image.Image], Image.Image]:
    """The conversion of this mode to sRGB: by the picture's colour profile if that is usable."""
    profile = profile if profile and is_usable(profile) else None
    if profile or mode == "LAB":
        with contextlib.suppress(Exception):  # with a broken profile the picture opens without it
            from PIL import ImageCms

            source = ImageCms.ImageCmsProfile(io.BytesIO(profile) if profile else ImageCms.createProfile("LAB"))
            space, name = source.profile.xcolor_space.strip(), source.profile.profile_description or ""
            if space == {"L": "GRAY", "LAB": "Lab"}.get(mode, mode) and "sRGB" not in name:
                transform = ImageCms.buildTransform(source, ImageCms.createProfile("sRGB"), mode, "RGB")
                return lambda band: ImageCms.applyTransform(band, transform)  # type: ignore[return-value]
    return lambda band: band.convert("RGB")


def _orientation(exif: bytes | None) -> int:
    """Parsed by hand: Pillow would parse all of EXIF for this one number, warn, and trust the sizes it claims."""
    tiff = exif.removeprefix(b"Exif\0\0").removeprefix(HIDDEN_EXIF) if isinstance(exif, bytes) else b""
    order = "<" if tiff.startswith(b"II") else ">"
    with contextlib.suppress(struct.error):
        (start,) = struct.unpack_from(order + "I", tiff, 4)
        (tags,) = struct.unpack_from(order + "H", tiff, start)
        for at in range(start + 2, start + 2 + 12 * tags, 12):
            tag, kind, length = struct.unpack_from(order + "HHI", tiff, at)
            if tag == 274 and kind in (3, 4) and length == 1:
                return int(struct.unpack_from(order + TIFF_NUMBERS[kind], tiff, at + 8)[0])
    return 1
