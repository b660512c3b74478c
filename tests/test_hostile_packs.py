"""Packs with impossible claims: refused in a sentence, before much memory
is allocated for them."""

import json
import struct
import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest

from playground.errors import PlaygroundError
from playground.pack import pack, unpack
from playground.tracing import Trace

MB = 2**20
MOST_BYTES = 100 * MB  # most bytes of memory that a refusal may take


@contextmanager
def refused(match: str = r"\.$"):
    tracemalloc.start()
    try:
        with pytest.raises(PlaygroundError, match=match) as error:
            yield
        assert len(str(error.value)) < 700
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()


def pack_of(header: dict, body: bytes = b"") -> bytes:
    header_text = json.dumps(header).encode()
    return struct.pack("<I", len(header_text)) + header_text + body


def section(dtype="uint8", shape=(4,), offset=0) -> dict:
    return {"dtype": dtype, "shape": list(shape), "offset": offset}


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("<I", 2**32 - 1) + bytes(100),
        struct.pack("<I", 8 * MB) + b" " * (8 * MB),
        pack_of({"sections": {"a": section(shape=[2**62, 4])}}),
        pack_of({"sections": {"a": section(shape=[-1])}}, bytes(64)),
        pack_of({"sections": {"a": section(shape=[0.5])}}, bytes(64)),
        pack_of({"sections": {"a": section(shape=[1] * 100)}}, bytes(64)),
        pack_of({"sections": {"a": section(offset=-8)}}, bytes(64)),
        pack_of({"sections": {"a": section(offset=2**70)}}, bytes(64)),
        pack_of({"sections": {"a": section("O")}}, bytes(64)),
        pack_of({"sections": {"a": section("V1000000000")}}, bytes(64)),
        pack_of({"sections": {"a": section(["uint8"])}}, bytes(64)),
        pack_of({"sections": {f"{i}": section(shape=[60]) for i in range(100)}}, bytes(64)),
        pack_of({"sections": {}, "scale": float("nan")}),
        pack_of([1, 2]), pack_of({"sections": [1]}), pack_of({"sections": None}), b"", b"\1\0\0", bytes(100),
        struct.pack("<I", 40_000) + b"[" * 40_000,
    ],
)  # fmt: skip
def test_bytes_with_impossible_claims_are_no_pack(data):
    with refused("no pack of this playground"):
        unpack(data)


@pytest.mark.parametrize(
    "wrong_entries",
    [
        {"heads": 10**9}, {"heads": -1}, {"heads": True}, {"heads": "4"}, {"tokens": 10**12}, {"patch": 0},
        {"layers": 0}, {"layers": 10**9}, {"held": [0, 0, 1]}, {"held": [0, 1, 7]}, {"held": [-1, 1, 2]}, {"held": {}},
        {"size": [64]}, {"size": [10**9, 10**9]}, {"size": [64, 63]}, {"size": [-64, -64]}, {"size": [72, 64]},
        {"prefix": "cls"},
        {"prefix": [1, 2, 3]}, {"prefix": ["x" * 10**6, "", ""]}, {"scale": None}, {"scale": "0.2"}, {"scale": 1e300},
        {"forward_scale": []}, {"predictions": [["cat"]]}, {"predictions": [[1, 2]]}, {"predictions": 7},
        {"predictions": [["cat", None]]}, {"model": None}, {"model": "x" * 10**5}, {"model": ["x"]},
    ],
    ids=str,
)  # fmt: skip
def test_a_trace_s_header_with_an_impossible_entry_is_refused(small_trace, wrong_entries):
    header, arrays = unpack(small_trace.to_bytes())
    with refused("This pack is damaged: "):
        Trace.from_bytes(pack(header | wrong_entries, arrays))


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["q", "k", "value_norms"])
def test_a_trace_with_nan_or_infinity_is_refused(small_trace, name, number):
    header, arrays = unpack(small_trace.to_bytes())
    arrays[name] = arrays[name].copy()
    arrays[name].flat[7] = number
    with refused(f"{name} holds numbers that are none"):
        Trace.from_bytes(pack(header, arrays))


def test_a_trace_with_a_wrong_dtype_a_wrong_shape_or_a_missing_array_is_refused(small_trace):
    header, arrays = unpack(small_trace.to_bytes())
    wrong_dtype, wrong_shape = arrays | {"q": arrays["q"].astype(np.int32)}, arrays | {"k": arrays["k"][:, :2]}
    for wrong_arrays in (wrong_dtype, wrong_shape, {"k": arrays["k"]}):
        with refused("This pack is damaged: "):
            Trace.from_bytes(pack(header, wrong_arrays))


def test_a_pack_of_some_layers_that_was_read_can_be_packed_again(small_trace):
    pack_bytes = small_trace.to_bytes(layers=[2, 0], heads=[1, 3])
    loaded_trace = Trace.from_bytes(pack_bytes)
    assert list(loaded_trace.record) == [2, 0]
    reloaded_trace = Trace.from_bytes(loaded_trace.to_bytes())
    assert list(reloaded_trace.record) == [2, 0]
    assert (reloaded_trace.rows(2, (1, 1)) == loaded_trace.rows(2, (1, 1))).all()
