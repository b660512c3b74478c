"""Short hashes of a model's weights and of a picture, to tell whether two figures were made from the same."""

from __future__ import annotations

from hashlib import sha256
from weakref import WeakKeyDictionary

import numpy as np
from PIL import Image

_weights: WeakKeyDictionary = WeakKeyDictionary()  # model -> (state, digest): hashed once, and when it was changed


def of_weights(vit) -> str:
    """Hash of the parameters as they are used, not of the file: a float16 and a float32 file can agree."""
    state = vit.state()
    if vit not in _weights or _weights[vit][0] != state:
        digest = sha256()
        for name, tensor in sorted(vit.state_dict().items()):
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(tensor.detach().float().cpu().numpy()).data)
        _weights[vit] = state, digest.hexdigest()[:16]
    return _weights[vit][1]


def of_image(image: Image.Image) -> str:
    """Hash of the upright RGB pixels, not of the file: a pasted picture has no file."""
    return sha256(f"{image.width}x{image.height}".encode() + image.convert("RGB").tobytes()).hexdigest()[:16]
