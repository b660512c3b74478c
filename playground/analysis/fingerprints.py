"""Short fingerprints of a model's weights and of a picture: whether two files were made from the same."""

from __future__ import annotations

from hashlib import sha256
from weakref import WeakKeyDictionary

import numpy as np
from PIL import Image

_weights: WeakKeyDictionary = WeakKeyDictionary()  # a model is hashed once


def of_weights(vit) -> str:
    """Of the parameters as they are computed with: one file in float16 and one in float32 can agree."""
    if vit not in _weights:
        digest = sha256()
        for name, tensor in sorted(vit.state_dict().items()):
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(tensor.detach().float().cpu().numpy()).data)
        _weights[vit] = digest.hexdigest()[:16]
    return _weights[vit]


def of_image(image: Image.Image) -> str:
    """Of the upright RGB pixels, not of the file: a picture that was pasted has none."""
    return sha256(f"{image.width}x{image.height}".encode() + image.convert("RGB").tobytes()).hexdigest()[:16]
