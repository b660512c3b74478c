"""Pictures with a different colour in each corner, to test which way up they are."""

import io

import numpy as np
from PIL import Image
from pillow_heif.as_plugin import _save_all_heif, _save_heif

# Lets Pillow write HEIF for the tests. The app only reads HEIF.
Image.register_save("HEIF", _save_heif)
Image.register_save_all("HEIF", _save_all_heif)

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)


def quarters(width: int = 64, height: int = 48) -> Image.Image:
    """Quarters in red and green above blue and white, which show how a picture is turned or mirrored."""
    picture = Image.new("RGB", (width, height), WHITE)
    for colour, (x, y) in {RED: (0, 0), GREEN: (1, 0), BLUE: (0, 1)}.items():
        picture.paste(colour, (x * width // 2, y * height // 2, (x + 1) * width // 2, (y + 1) * height // 2))
    return picture


def saved(picture: Image.Image, kind: str, **options) -> bytes:
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def corners(picture: Image.Image) -> list[tuple[int, ...]]:
    right, bottom = picture.width - 6, picture.height - 6
    return [picture.getpixel(point) for point in ((5, 5), (right, 5), (5, bottom), (right, bottom))]


def are_alike(pixels, expected, tolerance: int = 12) -> bool:
    return np.abs(np.subtract(pixels, expected, dtype=int)).max() <= tolerance


def exif(orientation: int) -> bytes:
    tags = Image.Exif()
    tags[0x0112] = orientation
    return tags.tobytes()
