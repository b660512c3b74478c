"""Broken and hostile files: name -> a function that builds the bytes.

The large ones keep a Pillow without our checks busy for seconds or minutes, or make it take gigabytes.
"""

import io
import pickle
import random
import struct
import zipfile
import zlib
from functools import partial

from PIL import Image
from pillow_heif.as_plugin import _save_heif

Image.register_save("HEIF", _save_heif)  # only for writing

BIG = 8_000  # 8,000 × 8,000 is just allowed
NOISE = random.Random(0).randbytes(20_000)


def saved(kind: str, size=(64, 48), mode="RGB", color=0, **options) -> bytes:
    file = io.BytesIO()
    Image.new(mode, size, color).save(file, kind, **options)
    return file.getvalue()


def noisy(kind: str, **options) -> bytes:
    """A picture that doesn't compress, so that half a file is half a picture."""
    file = io.BytesIO()
    Image.frombytes("RGB", (80, 80), NOISE[: 80 * 80 * 3]).save(file, kind, **options)
    return file.getvalue()


def half(data: bytes) -> bytes:
    return data[: len(data) // 2]


def spoiled(data: bytes, start: int) -> bytes:
    return data[:start] + NOISE[: len(data) - start]


def patched(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


# PNG

PNG = b"\x89PNG\r\n\x1a\n"


def chunk(name: bytes, data: bytes = b"") -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def ihdr(width=64, height=64, bits=8, colour=2, compression=0, filtering=0, interlace=0) -> bytes:
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, compression, filtering, interlace))


def png(*chunks: bytes, pixels: bytes | None = None, **header) -> bytes:
    data = zlib.compress(b"\0" * 193 * 64) if pixels is None else pixels
    return PNG + ihdr(**header) + b"".join(chunks) + chunk(b"IDAT", data) + chunk(b"IEND")


def deflated_zeros(size: int) -> bytes:
    """Compressed zeros, a thousandth of `size`."""
    packer = zlib.compressobj(9, wbits=-15)
    megabyte = packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return b"\x78\xda" + megabyte * (size // 2**20) + b"\3\0" + struct.pack(">HH", size % 65521, 1)


def packed_chunks(name: bytes, head: bytes) -> bytes:
    one = chunk(name, head + zlib.compress(bytes(10**6), 9))
    return one * (30_000_000 // len(one))


def apng_beyond_its_canvas() -> bytes:
    frame = struct.pack(">IIIIIHHBB", 0, 640, 640, 0, 0, 1, 10, 0, 0)
    return png(chunk(b"acTL", struct.pack(">II", 2, 0)), chunk(b"fcTL", frame))


# JPEG


def segment(marker: int, data: bytes = b"") -> bytes:
    return bytes((0xFF, marker)) + struct.pack(">H", len(data) + 2) + data


def jpeg_with(segments: bytes, data: bytes | None = None) -> bytes:
    data = data or saved("JPEG")
    return data[:2] + segments + data[2:]


def jpeg_of(width: int, height: int, bits: int = 8, layers: int = 3, frame: int = 0xC0) -> bytes:
    """Only a header, which may claim any size."""
    sof = struct.pack(">BHHB", bits, height, width, layers) + b"".join(bytes((i, 0x11, 0)) for i in range(layers))
    return b"\xff\xd8" + segment(frame, sof) + segment(0xDA, bytes(10)) + b"\xff\xd9"


def jpeg_without(marker: bytes) -> bytes:
    """A JPEG without its segments of one kind."""
    data = noisy("JPEG")
    while (at := data.find(marker)) >= 0:
        data = data[:at] + data[at + 2 + struct.unpack_from(">H", data, at + 2)[0] :]
    return data


def jpeg_of_many_scans(times: int) -> bytes:
    data = saved("JPEG", (BIG, BIG), "L", 128, progressive=True)
    last = data[data.rindex(b"\xff\xda") : -2]
    return data[:-2] + last * times + data[-2:]


# GIF

GIF = b"GIF89a" + struct.pack("<HHBBB", 64, 64, 0, 0, 0)


def gif_frame(left=0, top=0, width=64, height=64, bits=8, data=b"") -> bytes:
    return GIF + b"," + struct.pack("<HHHHBB", left, top, width, height, 0, bits) + data + b"\0;"


# BMP


def bmp(width=64, height=64, bits=24, compression=0, data=b"", header=40, palette=b"", at=None, colours=0) -> bytes:
    info = struct.pack("<IiiHHIIiiII", header, width, height, 1, bits, compression, 0, 0, 0, colours, 0)
    offset = 54 + len(palette) if at is None else at
    return b"BM" + struct.pack("<IHHI", 0, 0, 0, offset) + info + palette + data


GREYS = bytes(range(1, 256)) * 4 + b"\0\0\0\0"

# TIFF

TIFF_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 11: 4, 12: 8}


def short(tag: int, value: int) -> tuple[int, int, int, bytes]:
    return tag, 3, 1, struct.pack("<H", value)


def long(tag: int, *values: int) -> tuple[int, int, int, bytes]:
    return tag, 4, len(values), struct.pack(f"<{len(values)}I", *values)


def tiff(*tags, pixels: bytes = b"", without=(), following=0) -> bytes:
    """A 64 × 64 RGB picture in one strip, except for what `tags` (tag, type, count, bytes) replace."""
    usual = [long(256, 64), long(257, 64), short(258, 8), short(259, 1), short(262, 2), short(277, 3)]
    usual += [long(278, 2**32 - 1), long(273, 0), long(279, len(pixels))]
    entries = {tag[0]: tag for tag in [*usual, *tags] if tag[0] not in without}
    blob_at = 8 + 2 + 12 * len(entries) + 4
    blob = b"".join(value for *_, value in entries.values() if len(value) > 4)
    if 273 in entries and 273 not in {tag[0] for tag in tags}:
        entries[273] = long(273, blob_at + len(blob))
    directory, at = b"", blob_at
    for tag in sorted(entries):
        _, kind, count, value = entries[tag]
        if len(value) > 4:
            value, at = struct.pack("<I", blob_at + _offset(entries, tag)), at + len(value)
        directory += struct.pack("<HHI", tag, kind, count) + value.ljust(4, b"\0")
    return b"II*\0" + struct.pack("<IH", 8, len(entries)) + directory + struct.pack("<I", following) + blob + pixels


def _offset(entries: dict, wanted: int) -> int:
    before = list(entries)[: list(entries).index(wanted)]
    return sum(len(entries[tag][3]) for tag in before if len(entries[tag][3]) > 4)


def tiff_of_floats(*values: float) -> bytes:
    pixels = struct.pack("<f", values[0]) * 4095 + struct.pack("<f", values[-1])
    return tiff(short(258, 32), short(262, 1), short(277, 1), short(339, 3), pixels=pixels)


def tiff_of_one_strip(size: int, cut: int) -> bytes:
    pixels = deflated_zeros(size * size * 3 // 2**20 * 2**20)
    return tiff(long(256, size), long(257, size), short(259, 8), pixels=pixels[:-cut])


def big_tiff(tags: int) -> bytes:
    return struct.pack("<2sHHHQQ", b"II", 43, 8, 0, 16, tags) + struct.pack("<HHQQ", 1000, 3, 1, 5) * min(tags, 10**6)


# WebP and AVIF


def riff(*chunks: tuple[bytes, bytes]) -> bytes:
    body = b"WEBP" + b"".join(
        name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2) for name, data in chunks
    )
    return b"RIFF" + struct.pack("<I", len(body)) + body


def vp8x(width: int, height: int, flags: int = 0) -> tuple[bytes, bytes]:
    return b"VP8X", struct.pack("<I", flags) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")


def animated_webp(width: int, height: int, spoil: bool = False) -> bytes:
    """A large canvas with small frames."""
    second = Image.frombytes("RGB", (64, 48), NOISE[: 64 * 48 * 3])
    data = saved("WEBP", save_all=True, append_images=[second])
    at = data.index(b"VP8X") + 12
    data = patched(data, at, (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"))
    return patched(data, data.index(b"VP8 ") + 14, b"\xff" * 40) if spoil else data


def box(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", 8 + len(data)) + name + data


def avif(*boxes: bytes) -> bytes:
    handler = box(b"hdlr", bytes(8) + b"pict" + bytes(13))
    return box(b"ftyp", b"avif" + bytes(4) + b"mif1miaf") + box(b"meta", bytes(4) + handler + b"".join(boxes))


def avif_items(count: int) -> bytes:
    """libavif compares each with all before it: 200,000 of them take 45 seconds."""
    places = b"".join(struct.pack(">IHHHII", item, 0, 0, 1, 0, 4) for item in range(1, count + 1))
    return avif(box(b"pitm", bytes(4) + b"\0\1"), box(b"iloc", b"\2\0\0\0\x44\0" + struct.pack(">I", count) + places))


def avif_claiming(width: int, height: int) -> bytes:
    data = saved("AVIF")
    return patched(data, data.index(b"ispe") + 8, struct.pack(">II", width, height))


# HEIC


def heic_claiming(width: int, height: int, data: bytes | None = None) -> bytes:
    data = data or saved("HEIF")
    return patched(data, data.index(b"ispe") + 8, struct.pack(">II", width, height))


def heic_of_tiles(rows: int, columns: int, tile: int, output: tuple[int, int], nested: bool = False) -> bytes:
    """The same tile again and again. The tile is coded once, so that the file stays small."""
    coded = saved("HEIF", (tile, tile))
    settings = coded[coded.index(b"hvcC") - 4 :][: int.from_bytes(coded[coded.index(b"hvcC") - 4 :][:4])]
    picture = coded[coded.index(b"mdat") + 4 :]
    width, height = output
    grid = bytes((0, 1, rows - 1, columns - 1)) + struct.pack(">II", width, height)  # with sides of four bytes

    def full(name: bytes, data: bytes, version: int = 0) -> bytes:
        return box(name, bytes((version, 0, 0, 0)) + data)

    def item(number: int, kind: bytes) -> bytes:
        return full(b"infe", struct.pack(">HH4s", number, 0, kind) + b"\0", version=2)

    items = [(1, b"hvc1", picture), (2, b"grid", grid)] + ([(3, b"grid", grid)] if nested else [])
    top = items[-1][0]
    refers = b"".join(
        box(b"dimg", struct.pack(">HH", number, rows * columns) + struct.pack(">H", number - 1) * (rows * columns))
        for number, kind, _ in items
        if kind == b"grid"
    )
    sizes = full(b"ispe", struct.pack(">II", tile, tile)) + full(b"ispe", struct.pack(">II", width, height))
    belongs = b"".join(struct.pack(">HB", n, 2) + (b"\x81\x02" if n == 1 else b"\x03\x03") for n, _, _ in items)
    properties = box(b"ipco", settings + sizes) + full(b"ipma", struct.pack(">I", len(items)) + belongs)

    def meta(at: int) -> bytes:
        places = b""
        for number, _, data in items:
            places += struct.pack(">HHHII", number, 0, 1, at, len(data))
            at += len(data)
        handler = full(b"hdlr", bytes(4) + b"pict" + bytes(13))
        infos = full(b"iinf", struct.pack(">H", len(items)) + b"".join(item(n, kind) for n, kind, _ in items))
        located = full(b"iloc", b"\x44\0" + struct.pack(">H", len(items)) + places)
        first = full(b"pitm", struct.pack(">H", top))
        return full(b"meta", handler + first + located + infos + full(b"iref", refers) + box(b"iprp", properties))

    kind = box(b"ftyp", b"heic" + bytes(4) + b"mif1heic")
    start = len(kind) + len(meta(0)) + 8
    return kind + meta(start) + box(b"mdat", b"".join(data for _, _, data in items))


# Files of other kinds


class Trap:
    """If it is ever unpickled, the test fails."""

    def __reduce__(self):
        return exec, ("raise SystemExit('unpickled')",)


def zip_archive() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("picture.png", saved("PNG"))
    return file.getvalue()


STRANGERS = {
    "an empty file": bytes,
    "one byte": lambda: b"\xff",
    "noise": lambda: NOISE,
    "a megabyte of zeros": lambda: bytes(10**6),
    "text": lambda: b"This is not a picture.",
    "a web page": lambda: b"<!doctype html><title>cat.jpg</title>",
    "an SVG drawing": lambda: b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>',
    "an SVG billion laughs": lambda: b'<!DOCTYPE s [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><svg>&b;</svg>',
    "a PDF": lambda: saved("PDF"),
    "a PostScript program": lambda: saved("EPS"),
    "a ZIP archive": zip_archive,
    "a pickle": lambda: pickle.dumps(Trap()),
    "a Photoshop document": lambda: b"8BPS\0\1" + bytes(6) + struct.pack(">HIIHH", 3, 64, 64, 8, 3) + bytes(100),
    "an icon": lambda: saved("ICO"),
    "an Apple icon": lambda: b"icns" + bytes(60),
    "an iPhone's film": lambda: box(b"ftyp", b"hevc" + bytes(4) + b"msf1hevc") + bytes(60),
    "a film": lambda: box(b"ftyp", b"isom" + bytes(4) + b"isommp41") + bytes(60),
    "JPEG 2000": lambda: saved("JPEG2000"),
    "PPM": lambda: saved("PPM"),
    "TGA": lambda: saved("TGA"),
    "PCX": lambda: saved("PCX"),
    "DDS": lambda: saved("DDS"),
    "SGI": lambda: saved("SGI"),
    "a DIB without its file header": lambda: saved("DIB"),
    "a gzip bomb": lambda: b"\x1f\x8b\x08\0" + bytes(6) + deflated_zeros(2**26),
    "a program": lambda: b"\x7fELF\2\1\1" + bytes(57),
    "33 MB": lambda: saved("PNG") + bytes(33 * 2**20),
}
SIGNATURES = {
    f"nothing but the signature of {name}": partial(bytes, signature)
    for name, signature in {
        "PNG": PNG,
        "JPEG": b"\xff\xd8\xff",
        "GIF": b"GIF89a",
        "BMP": b"BM",
        "TIFF": b"II*\0",
        "BigTIFF": b"MM\0+",
        "WebP": b"RIFF\x20\0\0\0WEBP",
        "AVIF": box(b"ftyp", b"avif"),
        "HEIC": box(b"ftyp", b"heic"),
    }.items()
}
WHOLE = {
    **{kind: partial(noisy, kind) for kind in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "AVIF", "HEIF")},
    "progressive JPEG": partial(noisy, "JPEG", progressive=True),
    "lossless WEBP": partial(noisy, "WEBP", lossless=True),
    "LZW TIFF": partial(noisy, "TIFF", compression="tiff_lzw"),
    "deflated TIFF": partial(noisy, "TIFF", compression="tiff_deflate"),
    "packed TIFF": partial(noisy, "TIFF", compression="packbits"),
    "JPEG TIFF": partial(noisy, "TIFF", compression="jpeg"),
}
CUT = {f"half of a {name} file": lambda whole=whole: half(whole()) for name, whole in WHOLE.items()}
CUT |= {f"the first 40 bytes of a {name} file": lambda whole=whole: whole()[:40] for name, whole in WHOLE.items()}
LIMITS = {
    "7 × 7 pixels": lambda: saved("PNG", (7, 7)),
    "a strip of 40,000 × 1": lambda: saved("PNG", (40_000, 1)),
    "a strip of 1 × 40,000": lambda: saved("BMP", (1, 40_000)),
    "20,001 × 8 pixels": lambda: saved("TIFF", (20_001, 8)),
    "81 megapixels, truly": lambda: saved("PNG", (9_000, 9_000), "1"),
    "a PNG of two thousand million pixels a side": lambda: png(width=2**31 - 1, height=2**31 - 1),
    "a PNG of no width": lambda: png(width=0),
    "a JPEG of 65,500 × 65,500": lambda: jpeg_of(65_500, 65_500),
    "a JPEG of no height": lambda: jpeg_of(64, 0),
    "a GIF of 65,535 × 65,535": lambda: patched(saved("GIF"), 6, b"\xff" * 4),
    "a GIF whose frame is 65,535 pixels wide": lambda: gif_frame(width=65_535, height=65_535),
    "a BMP of 2,147,483,647 pixels a side": lambda: bmp(2**31 - 1, 2**31 - 1),
    "a BMP of the lowest possible height": lambda: bmp(64, -(2**31)),
    "a BMP of negative width": lambda: bmp(-64, 64, data=bytes(20_000)),
    "a TIFF of 4,294,967,295 pixels a side": lambda: tiff(long(256, 2**32 - 1), long(257, 2**32 - 1)),
    "a WebP of 16,384 × 16,384": lambda: riff(vp8x(16_384, 16_384), (b"VP8 ", saved("WEBP")[20:])),
    "a WebP of 12,000 × 12,000": lambda: animated_webp(12_000, 12_000),
    "a WebP of 16,777,216 × 16,777,216": lambda: riff(vp8x(2**24, 2**24)),
    "an AVIF of 30,000 × 30,000": lambda: avif_claiming(30_000, 30_000),
    "an AVIF of no width": lambda: avif_claiming(0, 64),
    "a HEIC of 20,000 × 20,000": lambda: heic_of_tiles(20, 20, 1_000, output=(20_000, 20_000)),
    "a HEIC that claims 8,000 × 8,000": lambda: heic_claiming(BIG, BIG),
    "a HEIC of no width": lambda: heic_claiming(0, 64),
}
PNGS = {
    "a PNG without pixels": lambda: PNG + ihdr() + chunk(b"IEND"),
    "a PNG without a header": lambda: PNG + chunk(b"IDAT", b"") + chunk(b"IEND"),
    "a PNG with a wrong checksum": lambda: patched(png(), 29, b"\0\0\0\0"),
    "a PNG whose header is a gigabyte long": lambda: patched(png(), 8, b"\x40\0\0\0"),
    "a PNG with a header of 3 bytes": lambda: PNG + chunk(b"IHDR", b"\0\0\0"),
    "a PNG of an unknown colour type": lambda: png(colour=5),
    "a PNG of 3 bits": lambda: png(bits=3),
    "a PNG that promises 64 megapixels": lambda: png(width=BIG, height=BIG),
    "a PNG bomb cut short": lambda: png(width=BIG, height=BIG, bits=16, colour=6, pixels=deflated_zeros(2**28)),
    "an interlaced PNG bomb cut short": lambda: png(width=BIG, height=BIG, interlace=1, pixels=deflated_zeros(2**26)),
    "a PNG of rubbish pixels": lambda: png(pixels=NOISE),
    "a PNG of unknown row filters": lambda: png(pixels=zlib.compress(b"\xff" * 193 * 64)),
    "a PNG with a text bomb": lambda: png(chunk(b"zTXt", b"a\0\0" + deflated_zeros(2**26))),
    "a PNG with a profile bomb": lambda: png(chunk(b"iCCP", b"a\0\0" + deflated_zeros(2**26))),
    "a PNG with 30,000 profiles": lambda: png(packed_chunks(b"iCCP", b"a\0\0")),
    "a PNG with 30,000 nameless texts": lambda: png(packed_chunks(b"zTXt", b"\0\0")),
    "a PNG of 2,600,000 empty chunks": lambda: png(chunk(b"aaAa") * 2_600_000),
    "a PNG of 2,600,000 empty pixel chunks": lambda: PNG + ihdr() + chunk(b"IDAT") * 2_600_000 + chunk(b"IEND"),
    "an APNG whose frame exceeds its canvas": apng_beyond_its_canvas,
    "a PNG with half a transparent colour": lambda: png(chunk(b"tRNS", b"\0")),
}
JPEGS = {
    "a JPEG without a picture": lambda: b"\xff\xd8\xff\xd9",
    "a JPEG of 12 bits": lambda: jpeg_of(64, 64, bits=12),
    "a JPEG of 2 layers": lambda: jpeg_of(64, 64, layers=2),
    "a JPEG of 255 layers": lambda: jpeg_of(64, 64, layers=255),
    "a lossless JPEG": lambda: jpeg_of(64, 64, frame=0xC3),
    "a JPEG without quantisation tables": lambda: jpeg_without(b"\xff\xdb"),
    "a JPEG with a broken table": lambda: jpeg_with(segment(0xDB, b"\x00abc")),
    "a JPEG whose segment is longer than the file": lambda: jpeg_with(b"\xff\xe1\xff\xff"),
    "a JPEG of 2,000 scans": lambda: jpeg_of_many_scans(2_000),
    "a JPEG of 8,000,000 empty segments": lambda: jpeg_with(segment(0xE5) * 8_000_000),
    "a JPEG of 600,000 EXIF blocks": lambda: jpeg_with(segment(0xE1, b"Exif\0\0ab") * 600_000),
    "a JPEG that promises 64 megapixels": lambda: half(saved("JPEG", (BIG, BIG), "L")),
    "a progressive JPEG of 64 megapixels cut short": lambda: saved(
        "JPEG", (BIG, BIG), progressive=True, quality=95, subsampling=0
    )[:-40],
}
GIFS = {
    "a GIF without a frame": lambda: GIF + b";",
    "a GIF of broken codes": lambda: gif_frame(data=b"\xff" + b"\xff" * 255),
    "a GIF with codes of 255 bits": lambda: gif_frame(bits=255, data=b"\x04abcd"),
    "a GIF frame of no size": lambda: gif_frame(width=0, height=0),
    "a GIF whose colour table is missing": lambda: GIF[:10] + b"\xf7\0\0",
    "a GIF with a comment of 10,000,000 parts": lambda: GIF + b"!\xfe" + b"\2ab" * 10_000_000,
    "a GIF followed by 30,000,000 zeros": lambda: GIF + bytes(30_000_000),
}
BMPS = {
    "a BMP of 3 bits": lambda: bmp(bits=3),
    "a BMP with a header of 41 bytes": lambda: bmp(header=41),
    "a BMP of an unknown compression": lambda: bmp(compression=99),
    "a BMP whose pixels lie beyond the file": lambda: bmp(at=2**32 - 1),
    "a BMP with a palette of 4,000,000,000 colours": lambda: bmp(bits=8, colours=2**32 - 1),
    "a BMP of impossible bit fields": lambda: bmp(bits=16, compression=3, data=b"\xff" * 12),
    "a BMP without pixels": lambda: bmp(),
    "a run-length BMP of 64 megapixels": lambda: bmp(16_000, 4_000, 8, 1, b"\1\1\0\0" * 4_000, palette=GREYS),
    "a run-length BMP that never moves": lambda: bmp(64, 64, 8, 1, b"\0\2\0\0" * 8_000_000, palette=GREYS),
    "a run-length BMP that ends early": lambda: bmp(64, 64, 8, 1, b"\5\1\0\1", palette=GREYS),
}
TIFFS = {
    "a TIFF whose directory lies beyond the file": lambda: b"II*\0\xff\xff\xff\x7f",
    "a TIFF whose directory is its header": lambda: b"II*\0\0\0\0\0" + bytes(100),
    "a TIFF of 65,535 tags that aren't there": lambda: b"II*\0" + struct.pack("<IH", 8, 65_535),
    "a TIFF without dimensions": lambda: tiff(without=(256,)),
    "a TIFF without strips": lambda: tiff(without=(273,)),
    "a TIFF of negative dimensions": lambda: tiff((256, 9, 1, struct.pack("<i", -64))),
    "a TIFF of rational dimensions": lambda: tiff((256, 5, 1, struct.pack("<II", 64, 0))),
    "a TIFF whose pixels lie beyond the file": lambda: tiff(long(273, 2**31)),
    "a TIFF of 65,535 samples per pixel": lambda: tiff(short(277, 65_535)),
    "a TIFF of 7 bits": lambda: tiff(short(258, 7)),
    "a TIFF of 64-bit floats": lambda: tiff(short(258, 64), short(262, 1), short(277, 1), short(339, 3)),
    "a TIFF of an unknown compression": lambda: tiff(short(259, 12_345)),
    "a TIFF of old-style JPEG": lambda: tiff(short(259, 6), pixels=noisy("JPEG")),
    "a TIFF of rubbish LZW": lambda: tiff(short(259, 5), pixels=NOISE),
    "a TIFF of rubbish JPEG": lambda: tiff(short(259, 7), pixels=NOISE),
    "a TIFF of rubbish fax": lambda: tiff(short(259, 4), short(258, 1), short(262, 0), short(277, 1), pixels=b""),
    "a TIFF that is nowhere a number": lambda: tiff_of_floats(float("nan")),
    "a TIFF that is everywhere infinite": lambda: tiff_of_floats(float("inf"), float("-inf")),
    "a TIFF of 3,900,000 rational bits per sample": lambda: tiff((258, 5, 3_900_000, b"\1\0\0\0" * 7_800_000)),
    "a TIFF of 7,900,000 strips": lambda: tiff(long(278, 1), (273, 4, 7_900_000, b"\1\2\3\0" * 7_900_000)),
    "a TIFF with a tile of 22,000 × 22,000": lambda: tiff(
        long(322, 22_000),
        long(323, 22_000),
        long(324, 200),
        long(325, 10**6),
        short(259, 8),
        without=(278, 273, 279),
        pixels=deflated_zeros(2**30),
    ),
    "a TIFF strip bomb cut short": lambda: tiff_of_one_strip(BIG, 3_000),
    "a BigTIFF of 1,000,000 equal tags": lambda: big_tiff(10**6),
    "a BigTIFF of 2⁶⁰ tags": lambda: big_tiff(2**60),
}
WEBPS_AND_AVIFS = {
    "a WebP that is longer than its file": lambda: patched(saved("WEBP"), 4, b"\xff\xff\xff\x7f"),
    "a WebP of rubbish": lambda: riff((b"VP8 ", NOISE)),
    "a lossless WebP of rubbish": lambda: riff((b"VP8L", b"\x2f" + NOISE)),
    "an animated WebP without frames": lambda: riff(vp8x(64, 64, 2), (b"ANIM", bytes(6))),
    "an animated WebP of 64 megapixels with a spoiled frame": lambda: animated_webp(BIG, BIG, spoil=True),
    "a WebP whose frame is not its canvas": lambda: riff(vp8x(640, 640), (b"VP8 ", saved("WEBP")[20:])),
    "an AVIF without a picture": lambda: avif(),
    "an AVIF of rubbish": lambda: (lambda data: spoiled(data, data.index(b"mdat") + 4))(noisy("AVIF")),
    "an AVIF of 200,000 items": lambda: avif_items(200_000),
    "an AVIF of 4,000,000 empty boxes": lambda: avif() + box(b"mdat", b"") * 4_000_000,
    "an AVIF of 15,000 items": lambda: avif_items(15_000),
}
HEICS = {
    "a HEIC of 48 megapixels that claims 64 × 48": lambda: heic_claiming(64, 48, saved("HEIF", (8_000, 6_000))),
    "a HEIC of 40,000 tiles": lambda: heic_of_tiles(200, 200, 64, output=(256, 256)),
    "a HEIC of 900 large tiles": lambda: heic_of_tiles(30, 30, 4096, output=(256, 256)),
    "a HEIC of tiles of tiles": lambda: heic_of_tiles(20, 20, 64, output=(1280, 1280), nested=True),
    "a HEIC of 4,000,000 empty boxes": lambda: saved("HEIF") + box(b"free", b"") * 4_000_000,
}
KINDS = {
    **STRANGERS,
    **SIGNATURES,
    **CUT,
    **LIMITS,
    **PNGS,
    **JPEGS,
    **GIFS,
    **BMPS,
    **TIFFS,
    **WEBPS_AND_AVIFS,
    **HEICS,
}
