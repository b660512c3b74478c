"""Writes a pack and the rows that follow from it, with numpy alone, as an independent reference for the browser's core.

`python tests/js/fixture.py FOLDER` leaves pack.bin and expected.json there. This file writes the container
without playground.pack, because a mistake shared by both sides would go unnoticed.
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np

HELD_LAYERS, HEADS, GRID, DIM = [1, 3], 3, (3, 4), 10  # a DIM that is no multiple of four
PREFIX = ["cls", "reg0"]
TOKENS = len(PREFIX) + GRID[0] * GRID[1]
SCALE = DIM**-0.5


def softmax(scores: np.ndarray) -> np.ndarray:
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def container(header: dict, sections: dict[str, np.ndarray]) -> bytes:
    body, entries = b"", {}
    for name, values in sections.items():
        entries[name] = {"offset": len(body), "dtype": str(values.dtype), "shape": list(values.shape)}
        body += values.tobytes()
        body += bytes(-len(body) % 16)
    header_text = json.dumps({**header, "sections": entries}).encode()
    header_text += b" " * (-(4 + len(header_text)) % 16)
    return struct.pack("<I", len(header_text)) + header_text + body


def main(folder: Path) -> None:
    random = np.random.default_rng(0)
    shape = (len(HELD_LAYERS), HEADS, TOKENS, DIM)
    q, k = (random.normal(0, 2, shape).astype(np.float16) for _ in "qk")
    norms = random.uniform(0.5, 2, shape[:3]).astype(np.float32)
    header = {
        "format": "attention-playground/1",
        "model": "a fixture: ünï",
        "scale": SCALE,
        "forward_scale": None,
        "layers": 4,
        "heads": HEADS,
        "head_dim": DIM,
        "tokens": TOKENS,
        "prefix": PREFIX,
        "grid": list(GRID),
        "size": [48, 64],
        "patch": 16,
        "held": HELD_LAYERS,
        "predictions": None,
    }
    codes = random.integers(0, 256, (2, *shape), dtype=np.uint8)
    low, step = random.normal(0, 1, (2, 2, len(HELD_LAYERS), HEADS, DIM)).astype(np.float32)
    eight_bit_sections = {
        f"{name}{suffix}": values[place]
        for place, name in enumerate("qk")
        for suffix, values in (("", codes), ("_low", low), ("_step", step))
    }
    (folder / "eight_bits.bin").write_bytes(container(header, eight_bit_sections | {"value_norms": norms}))
    decoded = (low[..., None, :] + step[..., None, :] * codes).reshape(2, len(HELD_LAYERS), -1)
    (folder / "pack.bin").write_bytes(container(header, {"q": q, "k": k, "value_norms": norms}))

    cases = []
    for place, layer in enumerate(HELD_LAYERS):
        for head in range(HEADS):
            scores = q[place, head].astype(np.float64) @ k[place, head].astype(np.float64).T
            for scale in (SCALE, 1.0, 0.0, 0.3):
                matrix = softmax(scores * scale)
                for token in (0, 1, 2, TOKENS - 1):
                    row = matrix[token]
                    safe_row = np.where(row > 0, row, 1)
                    cases.append(
                        {
                            "layer": layer,
                            "head": head,
                            "token": token,
                            "scale": scale,
                            "row": row.tolist(),
                            "scores": (scores[token] * scale).tolist(),
                            "column": matrix[:, token].tolist(),
                            "entropy": float(-(row * np.log2(safe_row)).sum()),
                            "weighted": (row * norms[place, head]).tolist(),
                        }
                    )
    # Every kind of float16: zeros, the smallest, subnormal, normal, the largest, infinite.
    bits = [0x0000, 0x8000, 0x0001, 0x03FF, 0x0400, 0x3555, 0x3C00, 0xC000, 0x7BFF, 0xFBFF]
    halves = [[b, float(np.array([b], np.uint16).view(np.float16)[0])] for b in bits]
    all_halves = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float32)
    sum_of_positive_halves = float(all_halves[np.isfinite(all_halves) & (all_halves > 0)].astype(np.float64).sum())
    expected = {
        "cases": cases,
        "halves": halves,
        "sum_of_positive_halves": sum_of_positive_halves,
        "decoded": decoded.tolist(),
    }
    (folder / "expected.json").write_text(json.dumps(expected))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
