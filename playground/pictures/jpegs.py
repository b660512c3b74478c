"""Pictures as bytes that a browser reads."""

from __future__ import annotations

import base64
import io
from typing import Any

from PIL import Image


def as_jpeg(image: Image.Image, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", **{"quality": 90} | options)
    return buffer.getvalue()


def smaller_jpeg(jpeg: bytes, side: int) -> bytes:
    image = Image.open(io.BytesIO(jpeg)).convert("RGB")
    image.thumbnail((side, side))
    return as_jpeg(image, quality=82)


def small_url(jpeg: bytes, side: int = 960) -> str:
    """A data URL of the picture, small enough for a message."""
    return data_url(smaller_jpeg(jpeg, side))


def data_url(data: bytes, kind: str = "jpeg") -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
