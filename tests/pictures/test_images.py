"""Pictures of all formats open upright and in RGB; those beyond a limit are refused in a sentence that names it."""

import io
import math
import struct
import warnings

import hostile
import numpy as np
import pytest
from colourful import GREY_GAMMA_PROFILE
from hostile.gifs_and_bmps import bmp
from hostile.jpegs import jpeg_with, segment
from hostile.making import NOISE
from hostile.tiffs import long, tiff
from made_pictures import BLUE, GREEN, RED, WHITE, are_alike, corners, exif, quarters, saved
from PIL import Image, ImageCms

from playground.errors import PlaygroundError
from playground.pictures import decoding
from playground.pictures.images import open_image


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "HEIF"])
def test_each_format_opens_as_loaded_rgb_without_a_file_behind_it(file_format):
    picture = open_image(saved(quarters(), file_format))
    assert type(picture) is Image.Image
    assert (picture.mode, picture.size, picture.info) == ("RGB", (64, 48), {})
    assert are_alike(corners(picture), [RED, GREEN, BLUE, WHITE], 24)


def test_a_picture_opens_from_paths_bytes_and_file_objects(tmp_path):
    data, path = saved(quarters(), "PNG"), tmp_path / "any name"
    path.write_bytes(data)
    stream = io.BytesIO(data)
    stream.seek(40)
    for source in (path, str(path), data, bytearray(data), memoryview(data), io.BytesIO(data), stream):
        assert corners(open_image(source)) == [RED, GREEN, BLUE, WHITE]


def test_a_pipe_that_gives_a_few_bytes_at_a_time_is_read_to_its_end():
    class Pipe:
        file = io.BytesIO(saved(quarters(), "PNG"))

        def read(self, size):
            return self.file.read(min(size, 7))

    assert corners(open_image(Pipe())) == [RED, GREEN, BLUE, WHITE]


def test_no_more_than_the_limit_and_one_byte_is_ever_read():
    class Endless:
        given = 0

        def read(self, size):
            assert self.given + size <= decoding.MAX_BYTES + 1
            self.given += size
            return bytes(size)

    with pytest.raises(PlaygroundError, match=r"at most 32 MB.*more"):
        open_image(Endless())


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF", "HEIF"])
def test_exif_turns_a_picture_upright(kind, orientation):
    upright = np.asarray(quarters())
    stored_pixels = {  # Exif orientation -> how the file stores the upright picture
        1: upright,
        2: upright[:, ::-1],
        3: upright[::-1, ::-1],
        4: upright[::-1],
        5: upright.swapaxes(0, 1),
        6: np.rot90(upright),
        7: np.rot90(upright, 2).swapaxes(0, 1),
        8: np.rot90(upright, -1),
    }
    stored = Image.fromarray(np.ascontiguousarray(stored_pixels[orientation]))
    picture = open_image(saved(stored, kind, exif=exif(orientation)))
    assert picture.size == (64, 48)
    assert are_alike(corners(picture), [RED, GREEN, BLUE, WHITE], 24)


@pytest.mark.parametrize(
    "rubbish",
    [
        b"Exif\0\0",
        b"Exif\0\0II*\0\xff\xff\xff\xff",
        b"Exif\0\0" + NOISE,
        b"Exif\0\0MM\0*\0\0\0\x08\xff\xff" + bytes(60),
        b"Exif\0\0II*\0\x08\0\0\0\x01\0" + struct.pack("<HHIII", 0x0112, 3, 2**32 - 1, 8, 8),
        b"Exif\0\0II*\0\x08\0\0\0\x01\0" + struct.pack("<HHIII", 0x0112, 3, 1, 9, 8),
        b"Exif\0\0II*\0\x08\0\0\0\x01\0" + struct.pack("<HHIII", 0x8769, 4, 1, 8, 8),  # a directory inside itself
    ],
    ids=["empty", "beyond", "noise", "endless", "four thousand million orientations", "orientation 9", "cyclic"],
)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_rubbish_exif_is_ignored(kind, rubbish):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert are_alike(corners(open_image(saved(quarters(), kind, exif=rubbish))), [RED, GREEN, BLUE, WHITE], 24)


def test_transparency_of_every_sort_lies_on_white():
    translucent_image = Image.new("RGBA", (32, 32), (255, 0, 0, 0))
    translucent_image.paste((0, 0, 255, 255), (0, 0, 16, 32))
    translucent_image.paste((0, 0, 255, 128), (16, 0, 24, 32))
    for kind in ("PNG", "WEBP", "TIFF"):
        picture = open_image(saved(translucent_image, kind, **({"lossless": True} if kind == "WEBP" else {})))
        assert are_alike([picture.getpixel((x, 9)) for x in (3, 20, 30)], [BLUE, (127, 127, 255), WHITE], 1)
    red_image = Image.new("RGB", (32, 32), RED)
    palette = red_image.convert("P", palette=Image.Palette.ADAPTIVE)
    grey = Image.new("L", (32, 32), 7)
    for picture, transparent in ((red_image, RED), (palette, 0), (palette, b"\0"), (grey, 7), (grey.convert("1"), 0)):
        assert open_image(saved(picture, "PNG", transparency=transparent)).getpixel((9, 9)) == WHITE
    assert open_image(saved(palette, "GIF", transparency=0)).getpixel((9, 9)) == WHITE
    assert open_image(saved(Image.new("LA", (32, 32), (0, 51)), "PNG")).getpixel((9, 9)) == (204, 204, 204)


def test_a_transparent_colour_of_sixteen_bits_lies_on_white():
    grey = Image.fromarray(np.full((32, 32), 0x1234, np.uint16))
    assert open_image(saved(grey, "PNG", transparency=0x1234)).getpixel((9, 9)) == WHITE
    assert open_image(saved(grey, "PNG", transparency=0x1235)).getpixel((9, 9)) == (18, 18, 18)


def test_sixteen_bits_keep_their_range():
    ramp = np.tile(np.linspace(0, 65535, 64).astype(np.uint16), (32, 1))
    for kind in ("PNG", "TIFF"):
        seen = np.asarray(open_image(saved(Image.fromarray(ramp), kind)))
        assert (seen[..., 0] == ramp >> 8).all()
    dark_grey = Image.fromarray(np.full((32, 32), 2570, np.uint16))
    assert open_image(saved(dark_grey, "PNG")).getpixel((9, 9)) == (10, 10, 10)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((0.0, 0.5, 1.0), (0, 128, 255)),
        ((0.0, 0.25, 0.5), (0, 64, 128)),
        ((-300.0, 0.0, 300.0), (0, 128, 255)),
        ((0.0, 4_000.0, 8_000.0), (0, 128, 255)),
        ((math.nan, 0.5, math.inf), (0, 128, 255)),
        ((-math.inf, 0.0, 1.0), (0, 0, 255)),
        ((3e38, -3e38, 0.0), (255, 0, 128)),
        ((700.0, 700.0, 700.0), (0, 0, 0)),
    ],
)
def test_floats_are_read_from_zero_to_one_or_else_from_least_to_most(values, expected):
    strips = np.repeat(np.asarray(values, np.float32), 20)[None].repeat(20, 0)
    picture = open_image(saved(Image.fromarray(strips), "TIFF"))
    assert tuple(picture.getpixel((x, 9))[0] for x in (9, 30, 50)) == expected


@pytest.mark.parametrize("kind", ["JPEG", "TIFF"])
def test_cmyk_looks_right(kind):
    picture = open_image(saved(quarters().convert("CMYK"), kind))
    assert are_alike(corners(picture), [RED, GREEN, BLUE, WHITE], 24)


@pytest.mark.parametrize(
    "mode", ["1", "L", "LA", "La", "P", "PA", "RGB", "RGBA", "RGBa", "RGBX", "CMYK", "YCbCr", "HSV", "LAB", "I", "F"]
)
def test_a_pil_image_of_any_mode_is_accepted_and_left_as_it_was(mode):
    original = Image.new(mode, (32, 24))
    bytes_before = original.tobytes()
    picture = open_image(original)
    assert (picture.mode, picture.size) == ("RGB", (32, 24))
    assert (original.mode, original.tobytes()) == (mode, bytes_before)
    assert picture is not original


def test_a_pil_image_is_turned_upright_and_must_keep_the_limits():
    turned_file = Image.open(io.BytesIO(saved(quarters(), "JPEG", exif=exif(6))))
    assert open_image(turned_file).size == (48, 64)
    with pytest.raises(PlaygroundError, match="7 × 9"):
        open_image(Image.new("RGB", (7, 9)))


def swapped_profile() -> bytes:
    """A profile like sRGB with red and green swapped, under another name."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    for old_tag, new_tag in ((b"rXYZ", b"xxxx"), (b"gXYZ", b"rXYZ"), (b"xxxx", b"gXYZ")):
        profile = profile.replace(old_tag, new_tag)
    return profile.replace("sRGB".encode("utf-16-be"), "Test".encode("utf-16-be")).replace(b"sRGB", b"Test")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF", "AVIF", "HEIF"])
def test_a_colour_profile_is_followed(kind):
    data = saved(quarters(), kind, icc_profile=swapped_profile())
    assert are_alike(corners(open_image(data)), [GREEN, RED, BLUE, WHITE], 30)


def test_the_colour_profile_is_applied_before_transparency():
    half_clear = quarters()
    half_clear.putalpha(128)
    data = saved(half_clear, "PNG", icc_profile=swapped_profile())
    mixed_colours = [
        tuple(round(127 + channel * 128 / 255) for channel in colour) for colour in (GREEN, RED, BLUE, WHITE)
    ]
    assert are_alike(corners(open_image(data)), mixed_colours, 8)
    grey = Image.new("L", (32, 32), 99)
    opaque_grey = open_image(saved(grey, "PNG", icc_profile=GREY_GAMMA_PROFILE)).getpixel((9, 9))
    grey.putalpha(255)
    assert opaque_grey != (99, 99, 99)
    assert open_image(saved(grey, "PNG", icc_profile=GREY_GAMMA_PROFILE)).getpixel((9, 9)) == opaque_grey


@pytest.mark.parametrize("profile", [b"rubbish", NOISE, swapped_profile()[:200], bytes(200)])
def test_a_broken_or_unfitting_profile_is_ignored(profile):
    assert corners(open_image(saved(quarters(), "PNG", icc_profile=profile))) == [RED, GREEN, BLUE, WHITE]
    grey = saved(Image.new("L", (32, 32), 99), "PNG", icc_profile=swapped_profile())
    assert open_image(grey).getpixel((9, 9)) == (99, 99, 99)


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP", "TIFF", "AVIF", "HEIF", "MPO"])
def test_of_an_animation_or_a_stack_the_first_picture_is_shown(kind):
    other_pictures = [Image.new("RGB", (64, 48), colour) for colour in (BLUE, WHITE, RED)]
    data = saved(quarters(), kind, save_all=True, append_images=other_pictures)
    assert are_alike(corners(open_image(data)), [RED, GREEN, BLUE, WHITE], 24)


QUIRKS = {
    "a JPEG with rubbish after it": saved(quarters(), "JPEG", quality=95) + NOISE,
    "a progressive JPEG": saved(quarters(), "JPEG", quality=95, progressive=True),
    "an arithmetic of restarts": saved(quarters(), "JPEG", quality=95, restart_marker_blocks=1),
    "a JPEG with odd comments": jpeg_with(
        segment(0xFE, b"\xff\xda\xff\xd9") * 200, saved(quarters(), "JPEG", quality=95)
    ),
    "a JPEG of 500 large EXIF blocks": jpeg_with(
        segment(0xE1, b"Exif\0\0" + bytes(60_000)) * 500, saved(quarters(), "JPEG", quality=95)
    ),
    "a PNG without its end": saved(quarters(), "PNG")[:-12],
    "a PNG with rubbish after it": saved(quarters(), "PNG") + NOISE,
    "a BMP from top to bottom": bmp(64, -48, data=quarters().tobytes("raw", "BGR")),
    "a TIFF whose next page is itself": tiff(long(257, 48), pixels=quarters().tobytes(), next_directory=8),
    "a TIFF with a million numbers that nobody asked for": tiff(
        long(257, 48), (700, 5, 10**6, b"\1\0\0\0" * 2 * 10**6), pixels=quarters().tobytes()
    ),
    "a TIFF whose EXIF lies beyond the file": tiff(long(257, 48), long(34665, 2**31), pixels=quarters().tobytes()),
    "a tiled TIFF": saved(quarters(), "TIFF", tiffinfo={322: 32, 323: 16}),
    "a TIFF of LZW strips": saved(quarters(), "TIFF", compression="tiff_lzw"),
    "a TIFF of JPEG strips": saved(quarters(), "TIFF", compression="jpeg", quality=95),
    "a BigTIFF": saved(quarters(), "TIFF", big_tiff=True),
    "a big-endian TIFF": saved(Image.new("I;16B", (64, 48), 65535), "TIFF"),
    "an AVIF with EXIF": saved(quarters(), "AVIF", quality=95, exif=exif(1)),
    "a HEIC of tiles, as iPhones write it": saved(quarters(), "HEIF", quality=95, tile_size=32),
    "a HEIC with a thumbnail": saved(quarters(), "HEIF", quality=95, thumbnails=[16]),
}


@pytest.mark.parametrize("quirk", QUIRKS)
def test_a_harmless_quirk_is_no_reason_to_refuse(quirk):
    picture = open_image(QUIRKS[quirk])
    assert picture.size == (64, 48)
    assert quirk == "a big-endian TIFF" or are_alike(corners(picture), [RED, GREEN, BLUE, WHITE], 24)


# Limits


@pytest.mark.parametrize("size", [(8, 8), (20_000, 8), (8, 20_000)])
def test_the_limits_themselves_are_allowed(size):
    assert open_image(saved(Image.new("RGB", size), "PNG")).size == size


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF"])
def test_a_very_large_picture_opens_whole_at_half_size(kind):
    picture = open_image(saved(quarters(7000, 5000), kind))
    assert picture.size == (3500, 2500)
    assert are_alike(corners(picture), [RED, GREEN, BLUE, WHITE], 24)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("33 MB", ["32 MB", "33.0 MB"]),
        ("81 megapixels, truly", ["64 megapixels", "81.0", "9,000 × 9,000"]),
        ("7 × 7 pixels", ["from 8 to 20,000", "7 × 7"]),
        ("a strip of 40,000 × 1", ["from 8 to 20,000", "40,000 × 1"]),
        ("20,001 × 8 pixels", ["from 8 to 20,000", "20,001 × 8"]),
        ("a WebP of 12,000 × 12,000", ["64 megapixels", "144.0"]),
        ("a PNG of two thousand million pixels a side", ["20,000", "2,147,483,647"]),
        ("a HEIC of 20,000 × 20,000", ["64 megapixels", "400.0"]),
        ("a HEIC of 900 large tiles", ["tiles of 15,099 megapixels", "PNG"]),
        ("a HEIC of tiles of tiles", ["other pictures", "PNG"]),
        ("a PDF", ["PDF", "JPEG"]),
        ("an empty file", ["empty"]),
    ],
)
def test_a_refusal_says_the_limit_and_what_was_given(kind, words):
    with pytest.raises(PlaygroundError) as refusal:
        open_image(hostile.KINDS[kind]())
    assert all(word in str(refusal.value) for word in words)
