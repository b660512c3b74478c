"""Packs weights for the browser's engine (microscope/engine/vit.js). Large matrices are int8, with a gain for each 32
numbers of a row; other arrays are float32, or float16 if this has no visible effect. As licences require, the header
states the author, the licence and the changes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from playground.assets import SHIPPED_MODELS
from playground.errors import PlaygroundError
from playground.models import borrowed
from playground.models.names import plain_name
from playground.pack import pack

if TYPE_CHECKING:
    from playground.vit import VisionTransformer

FORMAT = "attention-playground/weights-1"
BLOCK = 32  # numbers of a row that share a gain; kernels.c has the same constant
LARGEST_CODE = 127  # the largest int8 code that is used
# fields of Config that the header states; the engine computes only models that are like the bundled one in all others
HEADER_FIELDS = ("classes", "depth", "eps", "heads", "labels", "mean", "multi_label", "patch_size", "std", "width")


def origin(name: str) -> dict[str, str]:
    """Licence, author and source of a model's weights."""
    if name in SHIPPED_MODELS:
        return {"licence": "MIT", "author": "the Attention Playground", "source": "assets/MODEL.md"}
    if name == "dinov2-small":
        return {field: getattr(borrowed.DINOV2, field) for field in ("licence", "author", "source")}
    known = ", ".join([*SHIPPED_MODELS, "dinov2-small"])
    raise PlaygroundError(f"Whose weights {name!r} are is not known here; written for the browser are {known}.")


def header(vit: VisionTransformer) -> dict:
    """The header of the file: the model's Config, the author and licence of the weights, and the changes to them."""
    config = vit.config
    changes = "the gains of LayerScale were multiplied into the matrices before them; " * config.layer_scale
    changes += f"matrices were rounded to 8 bits, with a gain for each {BLOCK} numbers, positions to 16 bits"
    return {
        "format": FORMAT,
        "model": vit.name,
        "title": plain_name(vit.name),
        "config": {
            **{key: getattr(config, key) for key in HEADER_FIELDS},
            "prefix": config.prefix,
            "native_grid": vit.native_grid,
        },
        **origin(vit.name),
        "changes": changes,
    }


def to_engine(vit: VisionTransformer) -> bytes:
    """The bytes of a ViT's weights for the browser's engine."""
    arrays: dict[str, np.ndarray | bytes] = {}
    for name, array in folded_weights(vit).items():
        arrays[name] = array.astype(np.float16) if name == "pos_embed" else array
        if name.endswith(".weight") and array.ndim == 2:
            arrays[name], arrays[f"{name}.gain"] = eight_bit_blocks(array)
    return pack(header(vit), arrays)


def eight_bit_blocks(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(codes int8, gains float16 (rows, blocks)): a number of the matrix is about its code × its block's gain."""
    rows, columns = matrix.shape
    block_count = math.ceil(columns / BLOCK)
    padded = np.zeros((rows, block_count * BLOCK), np.float32)
    padded[:, :columns] = matrix
    parts = padded.reshape(rows, block_count, BLOCK)
    exact_gains = np.abs(parts).max(-1) / LARGEST_CODE
    gains = exact_gains.astype(np.float16)
    gains = np.where(gains < exact_gains, np.nextafter(gains, np.float16(np.inf)), gains)  # so that codes fit int8
    codes = np.zeros_like(parts)
    np.divide(parts, gains[..., None].astype(np.float32), out=codes, where=gains[..., None] > 0)
    codes = codes.round().astype(np.int8).reshape(rows, -1)[:, :columns]
    return np.ascontiguousarray(codes), gains


def folded_weights(vit: VisionTransformer) -> dict[str, np.ndarray]:
    """{name: array} of the parameters, matrices as (outputs, inputs), with LayerScale's gains multiplied into them."""
    state = {name: tensor.detach().float().cpu() for name, tensor in vit.state_dict().items()}
    if vit.config.layer_scale:
        for block in range(vit.config.depth):
            for gain, linear in (("ls1", "attn.proj"), ("ls2", "mlp.fc2")):
                gamma = state.pop(f"blocks.{block}.{gain}.gamma")
                weight, bias = f"blocks.{block}.{linear}.weight", f"blocks.{block}.{linear}.bias"
                state[weight], state[bias] = gamma[:, None] * state[weight], gamma * state[bias]
    arrays = {}
    for name, tensor in state.items():
        if name.endswith(("_token", "pos_embed")):
            tensor = tensor[0]  # (tokens, D)
        elif tensor.ndim > 2:
            tensor = tensor.flatten(1)  # the convolution of the patches: (D, 3 · P · P)
        arrays[name] = np.ascontiguousarray(tensor.numpy())
    return arrays
