"""What a model makes of the picture on the page, small, for the model's card."""

from __future__ import annotations

import numpy as np
from PIL import Image

from playground.figures import light
from playground.samples import start_patch
from playground.serving import opening, traces
from playground.serving.cache import Cache
from playground.serving.pictures import Picture
from playground.serving.traces import Wish

WIDE = 168  # pixels


def preview(picture: Picture, model: str, own: Cache | None) -> Image.Image:
    """The picture under the heat of one row: of the layer, head and patch that it opens with in this model."""
    from playground.tracing import Trace

    wish = Wish(model, opening.detail(picture.sample_name, model))
    view = opening.view(picture.sample_name, wish)
    wanted = [int(view["layer"])] if view else None
    seen = Trace.from_bytes(traces.layers(picture, wish, own, wanted))  # what was made ahead needs no forward pass
    row = seen.row(next(iter(seen.record)), int(view.get("head", 0)), start_patch(picture.name, seen.grid))
    patches = seen.on_grid(row).numpy()
    image = picture.image.resize((WIDE, round(WIDE * picture.image.height / picture.image.width)))
    shares = Image.fromarray(light.shares(patches, light.exposure(patches)).astype(np.float32))
    return Image.fromarray(light.heat(np.asarray(image), np.asarray(shares.resize(image.size, Image.NEAREST))))
