"""One photograph in the formats that cameras, phones and editors write: colour profiles, sixteen bits, transparency."""

import zlib

import numpy as np
from hostile.pngs import chunk, png
from hostile.profiles import curve, parametric_curve, profile, text_tag, with_standard_tags, xyz
from made_pictures import exif, saved
from PIL import Image

SRGB_CURVE = parametric_curve(3, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
DISPLAY_P3_PRIMARIES = ((0.51512, 0.2412, -0.00105), (0.29198, 0.69225, 0.04189), (0.1571, 0.06657, 0.78407))
ADOBE_RGB_PRIMARIES = ((0.60974, 0.31111, 0.01947), (0.20528, 0.62567, 0.06087), (0.14919, 0.06322, 0.74457))


def colour_profile(name: str, primaries: tuple, response_curve: bytes) -> bytes:
    """An ICC profile of a camera or a screen, from its primaries (XYZ) and its response to light."""
    channels = {f"{channel}XYZ": xyz(*colour) for channel, colour in zip("rgb", primaries, strict=True)}
    curves = {f"{channel}TRC": response_curve for channel in "rgb"}
    return profile(with_standard_tags(desc=text_tag(name), **channels, **curves), kind=b"mntr")


P3_PROFILE = colour_profile("Display P3", DISPLAY_P3_PRIMARIES, SRGB_CURVE)
ADOBE_PROFILE = colour_profile("Adobe RGB (1998)", ADOBE_RGB_PRIMARIES, curve(round(2.2 * 256)))
GREY_GAMMA_PROFILE = profile(
    with_standard_tags(desc=text_tag("Gamma 1.8"), kTRC=curve(round(1.8 * 256))), b"GRAY", kind=b"mntr"
)


def half_transparent(picture: Image.Image) -> Image.Image:
    y, x = np.indices((picture.height, picture.width))
    picture_with_alpha = picture.copy()
    picture_with_alpha.putalpha(Image.fromarray((128 + 127 * np.sin(x / 17) * np.cos(y / 23)).astype(np.uint8)))
    return picture_with_alpha


def sixteen_bit_png(picture: Image.Image, icc_profile: bytes = b"") -> bytes:
    """A 16-bit PNG with noise finer than 8 bits. Built here, because Pillow writes no 16-bit colours."""
    levels = np.asarray(picture).astype(int) * 257
    levels += np.random.default_rng(0).integers(-128, 128, levels.shape)
    rows = levels.clip(0, 65535).astype(">u2").reshape(picture.height, -1)  # (height, width × channels)
    filters = np.arange(picture.height) % 3  # PNG's filters None, Sub and Up
    channels = len(picture.getbands())
    compressed_rows = zlib.compress(
        b"".join(_filtered(rows, y, filter_number, 2 * channels) for y, filter_number in enumerate(filters))
    )
    colour_type = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    profile_chunks = [chunk(b"iCCP", b"p\0\0" + zlib.compress(icc_profile))] if icc_profile else []
    return png(
        *profile_chunks, pixels=compressed_rows, width=picture.width, height=picture.height, bits=16, colour=colour_type
    )


def _filtered(rows: np.ndarray, y: int, filter_number: int, pixel_bytes: int) -> bytes:
    row, row_above = (
        np.frombuffer(pixel_row.tobytes(), np.uint8) for pixel_row in (rows[y], rows[y - 1] if y else 0 * rows[0])
    )
    left_neighbours = np.concatenate([np.zeros(pixel_bytes, np.uint8), row[:-pixel_bytes]])
    return bytes([filter_number]) + (row - [0 * row, left_neighbours, row_above][filter_number]).tobytes()


COLOURFUL_FILES = {  # kind of file -> a function that writes the photograph as such a file
    "sRGB": lambda photo: saved(photo, "PNG"),
    "sRGB, JPEG": lambda photo: saved(photo, "JPEG", quality=92),
    "Display P3": lambda photo: saved(photo, "PNG", icc_profile=P3_PROFILE),
    "Display P3, JPEG": lambda photo: saved(photo, "JPEG", quality=92, icc_profile=P3_PROFILE),
    "Display P3, turned": lambda photo: saved(photo, "JPEG", quality=92, icc_profile=P3_PROFILE, exif=exif(6)),
    "Adobe RGB": lambda photo: saved(photo, "JPEG", quality=92, icc_profile=ADOBE_PROFILE),
    "grey": lambda photo: saved(photo.convert("L"), "PNG"),
    "grey of gamma 1.8": lambda photo: saved(photo.convert("L"), "PNG", icc_profile=GREY_GAMMA_PROFILE),
    "sixteen bits": sixteen_bit_png,
    "sixteen bits, grey": lambda photo: sixteen_bit_png(photo.convert("L")),
    "sixteen bits, Display P3": lambda photo: sixteen_bit_png(photo, P3_PROFILE),
    "sixteen bits, half transparent": lambda photo: sixteen_bit_png(half_transparent(photo)),
    "half transparent": lambda photo: saved(half_transparent(photo), "PNG"),
    "half transparent, turned": lambda photo: saved(half_transparent(photo), "PNG", exif=exif(6)),
    "half transparent, WebP": lambda photo: saved(half_transparent(photo), "WEBP", lossless=True),
    "half transparent, palette": lambda photo: saved(half_transparent(photo).quantize(64), "PNG"),
    "half transparent, grey": lambda photo: saved(half_transparent(photo).convert("LA"), "PNG"),
    "half transparent, Display P3": lambda photo: saved(half_transparent(photo), "PNG", icc_profile=P3_PROFILE),
    "half transparent, Adobe RGB, WebP": lambda photo: saved(
        half_transparent(photo), "WEBP", lossless=True, icc_profile=ADOBE_PROFILE
    ),
    "half transparent, grey of gamma 1.8": lambda photo: saved(
        half_transparent(photo).convert("LA"), "PNG", icc_profile=GREY_GAMMA_PROFILE
    ),
}
