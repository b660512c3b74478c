"""The steps of playground/lessons/shapes.py as bytes for the browser; large tensors are cut to what the page shows."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
from torch import Tensor

from playground.lessons.shapes import Step
from playground.pack import pack

MOST_ROWS, WHOLE_ROWS = 64, 100  # up to 100 tokens are shown whole; of more, the first 64
MOST_COLUMNS, MOST_HEADS = 768, 12  # columns of all heads together
ROLES = {"Q": "query", "K": "key", "V": "value", "A V": "value", "heads": "value", "weights": "weight"}


def steps_to_bytes(steps: list[Step], names: list[str]) -> bytes:
    """`names` are the tokens'. Only the first item of a batch is sent."""
    arrays, told = {}, []
    heads = steps[2].shape[1]
    numbers = {axis: n for step in steps for axis, n in zip(step.axes, step.shape, strict=True)}
    for i, step in enumerate(steps):
        groups = []
        for name, tensor in step.tensors.items():
            shown = cut(panels(step, tensor, heads), square=step.axes[-1] == "tokens")
            arrays[f"{i}-{name}"] = shown.numpy().astype(np.float16)
            sizes = dict(zip(("panels", "rows", "columns"), shown.shape, strict=True))
            groups.append({"name": name, "role": ROLES.get(name, "plain"), "section": f"{i}-{name}", **sizes})
        told.append(
            {
                **{
                    key: getattr(step, key)
                    for key in ("name", "says", "formula", "axes", "reckoning", "file", "joined")
                },
                "shape": step.shape,
                "lines": [asdict(line) for line in step.lines],
                "groups": groups,
                **_range(step),
            }
        )
    rows = visible(len(names))
    return pack({"numbers": numbers, "steps": told, "tokens": names[:rows]}, arrays)


def panels(step: Step, tensor: Tensor, heads: int) -> Tensor:
    """(panels, rows, columns): the matrices that are drawn side by side, of the first item of the batch. Concatenated
    heads become one panel each, so that the page can show where one ends."""
    first = tensor[0].float().cpu()
    if first.dim() == 3:
        return first
    return first.unflatten(1, (heads, -1)).transpose(0, 1) if step.joined else first[None]


def cut(shown: Tensor, square: bool) -> Tensor:
    heads, rows, columns = shown.shape
    heads, rows = min(heads, MOST_HEADS), visible(rows)
    return shown[:heads, :rows, : rows if square else min(columns, MOST_COLUMNS // heads)]


def visible(tokens: int) -> int:
    return tokens if tokens <= WHOLE_ROWS else MOST_ROWS


def _range(step: Step) -> dict[str, float]:
    """The smallest and largest number, including those that are not shown, and where the colours end: at the 99th
    percentile of the absolute values, because one outlier would make everything else pale."""
    first = [tensor[0].float().cpu().flatten() for tensor in step.tensors.values()]
    low, high = min(float(t.min()) for t in first), max(float(t.max()) for t in first)
    sizes = np.concatenate([t.abs().numpy() for t in first])
    end = high if "weights" in step.tensors else float(np.percentile(sizes, 99))
    return {"low": low, "high": high, "end": end or 1.0}
