"""Reads the weights of an ONNX file with numpy alone, by parsing the few protobuf fields that hold weights. Nothing in
the file is run; a damaged file raises ValueError."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

# Numbers of protobuf fields, from onnx.proto
GRAPH = 7  # field of a ModelProto
NODE, WEIGHT = 1, 5  # fields of a GraphProto
INPUT, OUTPUT, KIND = 1, 2, 4  # fields of a NodeProto
SHAPE, TYPE, NAME, DATA = 1, 2, 8, 9  # fields of a TensorProto
FLOAT32 = 1  # the only value of TYPE that is read


def read_onnx(path: Path) -> dict[str, np.ndarray]:
    """{name: float32 array}. Exporters store the matrices of linear layers transposed and without names. Such a matrix
    gets the name of the bias that is added to its product."""
    try:
        return _named_weights(memoryview(path.read_bytes()))
    except (IndexError, StopIteration, KeyError, ValueError, TypeError) as error:
        raise ValueError(f"{path.name} is not a readable ONNX file ({error or type(error).__name__})") from None


def _named_weights(data: memoryview) -> dict[str, np.ndarray]:
    graph = next(value for field, value in _fields(data) if field == GRAPH)
    weights = dict(_weight(value) for field, value in _fields(graph) if field == WEIGHT)
    nodes = [_node(value) for field, value in _fields(graph) if field == NODE]
    matrices = {outputs[0]: inputs[1] for kind, inputs, outputs in nodes if kind == "MatMul"}  # product -> matrix
    for bias, product in ((a, b) for kind, inputs, _ in nodes if kind == "Add" for a, b in (inputs, inputs[::-1])):
        if bias in weights and matrices.get(product) in weights:
            weights[bias.removesuffix("bias") + "weight"] = weights.pop(matrices[product]).T
    return weights


def _weight(data: memoryview) -> tuple[str, np.ndarray]:
    fields = list(_fields(data))
    shape = [value for field, value in fields if field == SHAPE]
    field_values = dict(fields)
    numbers = (
        np.frombuffer(field_values[DATA], "<f4").reshape(shape)
        if field_values[TYPE] == FLOAT32
        else np.empty(0, np.float32)
    )
    return bytes(field_values[NAME]).decode(), numbers


def _node(data: memoryview) -> tuple[str, list[str], list[str]]:
    texts = {INPUT: [], OUTPUT: [], KIND: []}
    for field, value in _fields(data):
        if field in texts:
            texts[field].append(bytes(value).decode())
    return texts[KIND][0], texts[INPUT], texts[OUTPUT]


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yields (number, value) of each field of a protobuf message."""
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        wire_type = key & 7
        if wire_type == 0:
            value, position = _varint(data, position)
        else:
            length, position = _varint(data, position) if wire_type == 2 else ({1: 8, 5: 4}[wire_type], position)
            value, position = data[position : position + length], position + length
        if position > len(data):
            raise ValueError("it ends in the middle of a field")
        yield key >> 3, value


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    """Decodes a protobuf varint (groups of seven bits, lowest first): (number, the position after it)."""
    number = 0
    for shift in range(0, 70, 7):
        byte = data[position]
        number, position = number | (byte & 127) << shift, position + 1
        if byte < 128:
            return number, position
    raise ValueError("it holds a number without an end")
