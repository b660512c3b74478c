"""Files that are no pictures, and pieces of pictures."""

import io
import pickle
import struct
import zipfile
from functools import partial

from hostile.making import NOISE, box, deflated_zeros, half, noisy_picture, saved
from hostile.pngs import PNG


class Trap:
    """An object that ends the process if it is unpickled."""

    def __reduce__(self):
        return exec, ("raise SystemExit('unpickled')",)


def zip_archive(name: str = "picture.png") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, saved("PNG"))
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
    "a PyTorch checkpoint": lambda: zip_archive("weights/data.pkl"),
    "a pickle": lambda: pickle.dumps(Trap()),
    "a Photoshop document": lambda: b"8BPS\0\1" + bytes(6) + struct.pack(">HIIHH", 3, 64, 64, 8, 3) + bytes(100),
    "an icon": lambda: saved("ICO"),
    "an iPhone's film": lambda: box(b"ftyp", b"hevc" + bytes(4) + b"msf1hevc") + bytes(60),
    "a film": lambda: box(b"ftyp", b"isom" + bytes(4) + b"isommp41") + bytes(60),
    "JPEG 2000": lambda: saved("JPEG2000"),
    "PPM": lambda: saved("PPM"),
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
WHOLE_FILES = {
    **{kind: partial(noisy_picture, kind) for kind in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "AVIF", "HEIF")},
    "progressive JPEG": partial(noisy_picture, "JPEG", progressive=True),
    "lossless WEBP": partial(noisy_picture, "WEBP", lossless=True),
    "LZW TIFF": partial(noisy_picture, "TIFF", compression="tiff_lzw"),
    "deflated TIFF": partial(noisy_picture, "TIFF", compression="tiff_deflate"),
    "packed TIFF": partial(noisy_picture, "TIFF", compression="packbits"),
    "JPEG TIFF": partial(noisy_picture, "TIFF", compression="jpeg"),
}
CUT_FILES = {f"half of a {name} file": lambda whole=whole: half(whole()) for name, whole in WHOLE_FILES.items()}
CUT_FILES |= {
    f"the first 40 bytes of a {name} file": lambda whole=whole: whole()[:40] for name, whole in WHOLE_FILES.items()
}
