"""Generates picture files with arbitrary and often wrong parts: colour profiles, EXIF, further frames, tiles, sixteen
bits, CMYK."""

from __future__ import annotations

import io
import struct
import zlib

from hostile import profiles
from hostile.gifs_and_bmps import bmp, gif_frame
from hostile.heics import heic_claiming, heic_of_tiles
from hostile.jpegs import jpeg_with, segment
from hostile.making import patched, saved
from hostile.pngs import chunk, png
from hostile.tiffs import long, short, tiff
from hostile.webps_and_avifs import animated_webp, avif_claiming, riff, vp8x
from hypothesis import strategies as st
from PIL import Image

COUNTS = st.sampled_from((0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 64, 100, 255, 256, 4095, 65_535, 2**24, 2**31, 2**32 - 1))
SMALL_COUNTS = st.sampled_from((0, 1, 2, 3, 4, 8, 16, 64, 255))
NUMBERS = st.floats(-32_768, 32_767) | st.sampled_from((0.0, 1.0, 1e-4, -1e-4))
SIDES = st.sampled_from((8, 63, 64, 65, 300))
POINT_BYTES = st.binary(min_size=48, max_size=48) | st.just(bytes(20_000))


@st.composite
def spoiled(draw: st.DrawFn, data: bytes) -> bytes:
    """The data with some bytes altered, mostly near the beginning."""
    spoiled_data = bytearray(data)
    for _ in range(draw(st.integers(0, 3)) if spoiled_data else 0):
        position = draw(st.integers(0, min(len(spoiled_data), draw(st.sampled_from((200, 10**6)))) - 1))
        spoiled_data[position] = draw(st.sampled_from((0, 1, 2, 16, 0x7F, 0x80, 0xFF)))
    return bytes(spoiled_data)


def curves() -> st.SearchStrategy[bytes]:
    table_curve = st.lists(st.integers(0, 65_535), max_size=20).map(lambda values: profiles.curve(*values))
    parametric_curve = st.builds(
        lambda kind, n: profiles.parametric_curve(kind, *n), st.integers(0, 9), st.lists(NUMBERS, max_size=7)
    )
    return table_curve | parametric_curve | st.just(profiles.curve(*range(4096)))


def tables() -> st.SearchStrategy[bytes]:
    inputs = st.integers(0, 15)
    flat_tables = st.builds(
        profiles.table16, inputs, SMALL_COUNTS, SMALL_COUNTS, POINT_BYTES, st.sampled_from((0, 1, 2, 256, 4096))
    )
    deep_tables = st.builds(profiles.curves_and_grid, curves(), inputs, SMALL_COUNTS | st.none(), POINT_BYTES)
    stages = st.builds(
        profiles.stages, st.sampled_from((0, 1, 3, 1000)),
        st.builds(profiles.matrix_stage, st.integers(0, 15)) | st.just(profiles.grid_stage(2)), st.integers(0, 15),
    )  # fmt: skip
    return flat_tables | deep_tables | stages


TAGS = "A2B0 A2B1 A2B2 B2A0 D2B0 D2B1 B2D0 rXYZ gXYZ bXYZ rTRC gTRC bTRC kTRC chad gamt bkpt"
CLASSES = (b"scnr", b"prtr", b"mntr", b"spac", b"abst", b"nmcl")


@st.composite
def colour_profiles(draw: st.DrawFn, space: bytes) -> bytes:
    content = tables() | curves() | st.builds(profiles.xyz, NUMBERS, NUMBERS, NUMBERS) | st.binary(max_size=60)
    tags = profiles.with_standard_tags(**draw(st.dictionaries(st.sampled_from(TAGS.split(" ")), content, max_size=8)))
    if draw(st.booleans()):
        tags |= dict.fromkeys(
            (b"desc", b"cprt"), draw(st.builds(profiles.texts, SMALL_COUNTS) | st.binary(max_size=60))
        )
    connection_space, kind = draw(st.sampled_from((b"XYZ ", b"Lab "))), draw(st.sampled_from(CLASSES))
    return draw(spoiled(profiles.profile(tags, space, connection_space, kind)))


SPACES = {"RGB": b"RGB ", "L": b"GRAY", "CMYK": b"CMYK", "LAB": b"Lab "}
CARRIERS = {"PNG": ("RGB", "L"), "JPEG": ("RGB", "L", "CMYK"), "TIFF": ("RGB", "CMYK", "LAB"), "WEBP": ("RGB",)}


@st.composite
def pictures_with_profiles(draw: st.DrawFn) -> bytes:
    file_format, mode = draw(
        st.sampled_from([(file_format, mode) for file_format, modes in CARRIERS.items() for mode in modes])
    )
    file = io.BytesIO()
    Image.new(mode, (64, 48)).save(file, file_format, icc_profile=draw(colour_profiles(SPACES[mode])))
    return file.getvalue()


def directories() -> st.SearchStrategy[bytes]:
    """TIFF directories, as in EXIF and MPF, with entries that point anywhere."""
    entry = st.builds(
        lambda tag, kind, count, value: struct.pack("<HHII", tag, kind, count, value),
        st.sampled_from((274, 34_665, 34_853, 0xB000, 0xB001, 0xB002, 513, 514)), st.integers(0, 14), COUNTS, COUNTS,
    )  # fmt: skip
    return st.lists(entry, max_size=6).map(
        lambda entries: b"II*\0\x08\0\0\0" + struct.pack("<H", len(entries)) + b"".join(entries) + b"\x08\0\0\0"
    )


@st.composite
def jpegs(draw: st.DrawFn) -> bytes:
    file = io.BytesIO()
    mode = draw(st.sampled_from(("L", "RGB", "CMYK")))
    Image.new(mode, (draw(SIDES), draw(SIDES))).save(file, "JPEG", progressive=draw(st.booleans()))
    signatures = st.sampled_from(
        (b"Exif\0\0", b"MPF\0", b"ICC_PROFILE\0\1\1", b"Adobe\0\x64\0\0\0\0", b"http://ns.adobe.com/xap/1.0/\0")
    )
    parts = st.builds(
        lambda marker, signature, body: segment(marker, (signature + body)[:60_000]),
        st.sampled_from((0xE1, 0xE2, 0xED, 0xEE, 0xDB, 0xC4, 0xDD)), signatures, directories() | st.binary(max_size=40),
    )  # fmt: skip
    data = jpeg_with(b"".join(draw(st.lists(parts, max_size=5))), file.getvalue())
    return draw(spoiled(data + draw(st.sampled_from((b"", data, bytes(1000))))))


@st.composite
def tiffs(draw: st.DrawFn) -> bytes:
    tags = [long(256, draw(SIDES)), long(257, draw(SIDES))]
    for tag, values in {
        258: st.sampled_from((1, 4, 8, 12, 16, 32)), 259: st.sampled_from((1, 2, 3, 4, 5, 7, 8, 32_773, 50_000)),
        262: st.integers(0, 8), 277: st.integers(0, 6), 284: st.integers(0, 3), 317: st.integers(0, 4),
        338: st.integers(0, 3), 339: st.integers(0, 6), 266: st.integers(0, 3), 274: st.integers(0, 9),
        322: SIDES, 323: SIDES, 530: st.integers(0, 5),
    }.items():  # fmt: skip
        if draw(st.booleans()):
            tags.append(short(tag, draw(values)))
    pixels = draw(st.sampled_from((bytes(20_000), zlib.compress(bytes(20_000)), b"\xff" * 5_000)))
    if draw(st.booleans()):
        tags += [long(324, *[500] * 4), long(325, *[draw(COUNTS)] * 4)]
    next_directory = draw(st.sampled_from((0, 8, 2**31)))
    return draw(spoiled(tiff(*tags, pixels=pixels, next_directory=next_directory)))


@st.composite
def films(draw: st.DrawFn) -> bytes:
    """GIF, WebP and PNG files with several frames."""
    size = draw(SIDES), draw(SIDES)
    frames = [Image.new("RGB", size, shade) for shade in ("red", "green", "blue")]
    file = io.BytesIO()
    kind = draw(st.sampled_from(("GIF", "WEBP", "PNG", "TIFF")))
    frames[0].save(file, kind, save_all=True, append_images=frames[1:])
    return draw(spoiled(file.getvalue()))


@st.composite
def pngs(draw: st.DrawFn) -> bytes:
    names = st.sampled_from((b"tRNS", b"PLTE", b"gAMA", b"cHRM", b"sRGB", b"eXIf", b"acTL", b"fcTL", b"fdAT", b"iCCP"))
    parts = draw(st.lists(st.builds(chunk, names, directories() | st.binary(max_size=40)), max_size=4))
    header = {
        "bits": draw(st.sampled_from((1, 2, 4, 8, 16))),
        "colour": draw(st.sampled_from((0, 2, 3, 4, 6))),
        "interlace": draw(st.integers(0, 1)),
    }
    return draw(spoiled(png(*parts, pixels=zlib.compress(bytes(80_000)), **header)))


@st.composite
def heifs(draw: st.DrawFn) -> bytes:
    """AVIF and HEIC files with wrong sizes, with tiles that cover more or less than the picture, and with properties
    overwritten by others."""
    sides, counts = st.sampled_from((0, 1, 64, 65, 300, 8000, 2**16, 2**31, 2**32 - 1)), st.integers(1, 8)
    full_sides = st.sampled_from((64, 256, 300, 1280))
    is_nested = st.sampled_from((False, False, False, True))
    tiles = st.builds(
        heic_of_tiles, counts, counts, st.sampled_from((64, 128)), st.tuples(full_sides, full_sides), is_nested
    )
    modes = st.sampled_from(("RGB", "RGBA"))
    plain_files = st.builds(saved, st.sampled_from(("AVIF", "HEIF")), st.tuples(SIDES, SIDES), modes)
    data = draw(plain_files | st.builds(avif_claiming, sides, sides) | st.builds(heic_claiming, sides, sides) | tiles)
    position = data.find(draw(st.sampled_from((b"ispe", b"pixi", b"av1C", b"hvcC", b"colr"))))
    if position >= 0 and draw(st.booleans()):
        kind = draw(st.sampled_from((b"irot", b"imir", b"clap", b"pasp", b"colr", b"auxC")))
        data = patched(data, position, kind + draw(st.binary(max_size=12)))
    return draw(spoiled(data))


@st.composite
def webps(draw: st.DrawFn) -> bytes:
    """A WebP with one frame or several: a correct file, or a file put together from wrong parts."""
    side = st.sampled_from((1, 8, 64, 300, 5000, 2**14, 2**24))
    frame = saved("WEBP", (64, 48), lossless=draw(st.booleans()))[12:]
    body = st.sampled_from((frame[8:], bytes(40), b"\x2f" + bytes(400), b"\xff" * 400))
    names = st.sampled_from((b"VP8 ", b"VP8L", b"ALPH", b"ANIM", b"ANMF", b"ICCP", b"EXIF", b"XMP "))
    parts = draw(st.lists(st.tuples(names, body), max_size=4))
    assembled_file = riff(vp8x(draw(side), draw(side), draw(st.integers(0, 63))), *parts)
    animation = animated_webp(draw(st.integers(1, 2000)), draw(st.integers(1, 2000)), draw(st.booleans()))
    return draw(spoiled(draw(st.sampled_from((assembled_file, animation, riff((frame[:4], frame[8:])))))))


@st.composite
def bmps_and_gifs(draw: st.DrawFn) -> bytes:
    """A BMP or a GIF: a correct file, or a file put together from wrong parts."""
    bits = st.sampled_from((0, 1, 4, 8, 16, 24, 24, 24, 32, 33))
    body = st.binary(max_size=60) | st.sampled_from((bytes(20_000), b"\0\2\0\0" * 4000, b"\5\1" * 4000))
    side = st.sampled_from((-64, 1, 8, 64, 64, 80, 8000))
    header = st.sampled_from((12, 40, 40, 40, 41, 52, 56, 64, 108, 124, 2**31))
    compression, colours = st.sampled_from((0, 0, 0, 1, 2, 3, 6)), st.sampled_from((0, 1, 256, 2**32 - 1))
    palette = st.binary(max_size=1024)
    bitmaps = st.builds(bmp, side, side, bits, compression, body, header, palette, st.none() | st.just(54), colours)
    frame_number = st.sampled_from((0, 1, 64, 65_535))
    gifs = st.builds(gif_frame, frame_number, frame_number, frame_number, frame_number, st.integers(0, 255), body)
    correct_files = st.sampled_from((saved("BMP", (64, 48)), saved("GIF", (64, 48))))
    return draw(spoiled(draw(bitmaps | gifs | correct_files)))


KINDS = {
    "profiles": pictures_with_profiles(),
    "JPEG": jpegs(),
    "TIFF": tiffs(),
    "films": films(),
    "PNG": pngs(),
    "HEIF": heifs(),
    "WebP": webps(),
    "BMP": bmps_and_gifs(),
}
