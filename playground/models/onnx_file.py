"""Reads the weights of an ONNX file with numpy alone, by parsing the few protobuf fields that hold them. Nothing in the
file is run; a damaged file raises ValueError."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

# Field numbers, from onnx.proto
GRAPH = 7  # of the model
NODE, WEIGHT = 1, 5  # of the graph
INPUT, OUTPUT, KIND = 1, 2, 4  # of a node
SHAPE, TYPE, NAME, DATA = 1, 2, 8, 9  # of a weight
FLOAT32 = 1  # the one type that is read


def read_onnx(path: Path) -> dict[str, np.ndarray]:
    """Name -> float32 array. Exporters store the matrices of linear layers transposed and without a name; each gets its
    name from the bias that is added to its product."""
    try:
        return _named(memoryview(path.read_bytes()))
    except (IndexError, StopIteration, KeyError, ValueError, TypeError) as error:
        raise ValueError(f"{path.name} is not a readable ONNX file ({error or type(error).__name__})") from None


def _named(data: memoryview) -> dict[str, np.ndarray]:
    graph = next(value for field, value in _fields(data) if field == GRAPH)
    weights = dict(_weight(value) for field, value in _fields(graph) if field == WEIGHT)
    nodes = [_node(value) for field, value in _fields(graph) if field == NODE]
    matrices = {outputs[0]: inputs[1] for kind, inputs, outputs in nodes if kind == "MatMul"}  # result -> matrix
    for bias, product in ((a, b) for kind, inputs, _ in nodes if kind == "Add" for a, b in (inputs, inputs[::-1])):
        if bias in weights and matrices.get(product) in weights:
            weights[bias.removesuffix("bias") + "weight"] = weights.pop(matrices[product]).T
    return weights


def _weight(data: memoryview) -> tuple[str, np.ndarray]:
    fields = list(_fields(data))
    shape = [value for field, value in fields if field == SHAPE]
    only = dict(fields)
    numbers = np.frombuffer(only[DATA], "<f4").reshape(shape) if only[TYPE] == FLOAT32 else np.empty(0, np.float32)
    return bytes(only[NAME]).decode(), numbers


def _node(data: memoryview) -> tuple[str, list[str], list[str]]:
    texts = {INPUT: [], OUTPUT: [], KIND: []}
    for field, value in _fields(data):
        if field in texts:
            texts[field].append(bytes(value).decode())
    return texts[KIND][0], texts[INPUT], texts[OUTPUT]


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """(number, value) of each field of a protobuf message."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at)
        else:
            length, at = _varint(data, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
            value, at = data[at : at + length], at + length
        if at > len(data):
            raise ValueError("it ends in the middle of a field")
        yield key >> 3, value


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    """Decodes a protobuf varint (groups of seven bits, lowest first) at `at`: (number, the position after it)."""
    number = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        number, at = number | (byte & 127) << shift, at + 1
        if byte < 128:
            return number, at
    raise ValueError("it holds a number without an end")
