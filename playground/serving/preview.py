"""What a model makes of the picture on the page, small, for the model's card."""

from __future__ import annotations

import numpy as np
from PIL import Image

from playground.figures import light
from playground.pack import unpack
from playground.samples import start_patch
from playground.serving import opening, traces
from playground.serving.cache import Cache
from playground.serving.pictures import Picture
from playground.serving.traces import Wish

WIDE = 168  # pixels


def preview(picture: Picture, model: str, own: Cache) -> Image.Image:
    """The picture under the heat of one row: of the layer, head and patch that it opens with in this model."""
    wish = Wish(model, opening.detail(picture, model))
    view = opening.view(picture, wish)
    layer = int(view["layer"]) if view else None
    header, arrays = unpack(traces.pack(picture, wish, own, layer))
    held = header["held"]
    at = held.index(layer) if layer in held else held.index(2 * header["layers"] // 3) if len(held) > 1 else 0
    q, k = (arrays[name][at, int(view.get("head", 0))].astype(np.float32) for name in ("q", "k"))  # (tokens, d)
    rows, columns = header["grid"]
    prefix = len(header["prefix"])
    row, column = start_patch(picture.name, (rows, columns))
    scores = k @ q[prefix + row * columns + column] * header["scale"]
    weights = np.exp(scores - scores.max())
    patches = (weights / weights.sum())[prefix:].reshape(rows, columns)
    image = picture.image.resize((WIDE, round(WIDE * picture.image.height / picture.image.width)))
    shares = Image.fromarray(light.shares(patches, light.exposure(patches)).astype(np.float32))
    return Image.fromarray(light.heat(np.asarray(image), np.asarray(shares.resize(image.size, Image.NEAREST))))
