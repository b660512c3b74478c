"""Weights are read out of an ONNX file, or it is refused."""

import numpy as np
import pytest

from playground.models.onnx_file import read_onnx


def field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(number: int) -> bytes:
    encoded = b""
    while number > 127:
        encoded += bytes([number & 127 | 128])
        number >>= 7
    return encoded + bytes([number])


def onnx_weight(name: str, array: np.ndarray) -> bytes:
    shape = b"".join(field(1, n) for n in array.shape)
    return field(5, shape + field(2, 1) + field(8, name.encode()) + field(9, array.astype("<f4").tobytes()))


def onnx_node(kind: str, inputs: list[str], output: str) -> bytes:
    return field(
        1, b"".join(field(1, i.encode()) for i in inputs) + field(2, output.encode()) + field(4, kind.encode())
    )


MATRIX = np.arange(6.0, dtype=np.float32).reshape(2, 3)
ONNX = field(1, 8) + field(
    7,
    onnx_weight("onnx::MatMul_7", MATRIX)
    + onnx_weight("layer.bias", np.ones(3))
    + onnx_weight("token", np.zeros((1, 1, 2)))
    + onnx_node("MatMul", ["x", "onnx::MatMul_7"], "xw")
    + onnx_node("Add", ["layer.bias", "xw"], "y"),
)


def test_a_matrix_of_an_onnx_file_is_named_after_its_bias_and_transposed(tmp_path):
    (tmp_path / "a.onnx").write_bytes(ONNX)
    weights = read_onnx(tmp_path / "a.onnx")
    assert {name: array.shape for name, array in weights.items()} == {
        "layer.bias": (3,), "token": (1, 1, 2), "layer.weight": (3, 2),
    }  # fmt: skip
    assert (weights["layer.weight"] == MATRIX.T).all()


def test_a_damaged_onnx_file_is_refused_wherever_the_damage_is(tmp_path):
    damaged_files = [ONNX[:n] for n in range(len(ONNX))]
    random = np.random.default_rng(0)
    for _ in range(2000):
        data = np.frombuffer(ONNX, np.uint8).copy()
        data[random.integers(len(data), size=3)] = random.integers(256, size=3)
        damaged_files.append(data.tobytes())
    path, outcomes = tmp_path / "a.onnx", set()
    for data in damaged_files:
        path.write_bytes(data)
        try:
            read_onnx(path)
            outcomes.add("read")
        except ValueError:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


def test_a_number_without_an_end_is_refused(tmp_path):
    (tmp_path / "a.onnx").write_bytes(b"\xff" * 10**6)
    with pytest.raises(ValueError, match="without an end"):
        read_onnx(tmp_path / "a.onnx")
