"""Pictures that are too large or too small, or claim to be."""

from hostile.gifs_and_bmps import bmp, gif_frame
from hostile.heics import heic_claiming, heic_of_tiles
from hostile.jpegs import jpeg_of
from hostile.making import BIG, patched, saved
from hostile.pngs import png
from hostile.tiffs import long, tiff
from hostile.webps_and_avifs import animated_webp, avif_claiming, riff, vp8x

WRONG_SIZES = {
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
    "a HEIC of 20,000 × 20,000": lambda: heic_of_tiles(20, 20, 1_000, output_size=(20_000, 20_000)),
    "a HEIC that claims 8,000 × 8,000": lambda: heic_claiming(BIG, BIG),
    "a HEIC of no width": lambda: heic_claiming(0, 64),
}
