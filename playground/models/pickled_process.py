"""Reads a pickled file of weights in a process with bounded memory and time: `python -m
playground.models.pickled_process FILE SAFETENSORS`. If the file can't be read, the process prints the reason as the end
of a sentence."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy
import torch
from safetensors.torch import save_file
from torch import Tensor

SPARE_BYTES = 2**30  # bytes of memory allowed besides a multiple of the file's size
CORE_SECONDS = 60
STATE_KEYS = ("state_dict_ema", "model_ema", "state_dict", "model_state_dict", "model", "teacher", "student")
SCALARS = ("float64", "float32", "int64", "int32", "bool")  # NumPy types of numbers in checkpoints, such as accuracies


def main(path: str, out: str) -> None:
    size = Path(path).stat().st_size
    _limit(3 * size + SPARE_BYTES, CORE_SECONDS + size // 10**7)
    try:
        with torch.serialization.safe_globals(_safe_classes()):
            content = torch.load(path, map_location="cpu", weights_only=True)
    except MemoryError:
        sys.exit(1)
    except Exception as error:  # a damaged or hostile file can make torch raise any exception
        _refuse(_reason(error))
    state = _weights(content)
    if not state:
        _refuse(
            "holds no weights: a dictionary of names and tensors, such as torch.save(model.state_dict(), file) writes"
        )
    if sum(tensor.numel() * tensor.element_size() for tensor in state.values()) > 2 * size + 10**6:
        _refuse("claims more numbers than it has bytes for")
    architecture = content.get("arch") if isinstance(content, Mapping) else None
    save_file(
        {name: tensor.detach().contiguous().clone() for name, tensor in state.items()}, out,
        metadata={"arch": architecture} if isinstance(architecture, str) else None,
    )  # fmt: skip


def _weights(content: Any) -> dict[str, Tensor]:
    """The state dict in a file's content, which is the content itself or a part of a checkpoint. Averaged weights are
    preferred, as in timm."""
    for name in STATE_KEYS:
        if isinstance(content, Mapping) and isinstance(content.get(name), Mapping):
            content = content[name]
            break
    if not isinstance(content, Mapping):
        return {}
    state = {name: value for name, value in content.items() if isinstance(name, str) and isinstance(value, Tensor)}
    return state


def _safe_classes() -> list:
    """Classes that training scripts save with weights (timm's options, NumPy's numbers) and that torch may create,
    because creating them runs no code of the file."""
    numpy_types = [numpy.dtype, *(type(numpy.dtype(name)) for name in SCALARS)]
    return [argparse.Namespace, (numpy._core.multiarray.scalar, "numpy.core.multiarray.scalar"),
            numpy._core.multiarray.scalar, *numpy_types]  # fmt: skip


def _reason(error: Exception) -> str:
    sentence = str(error)
    if "weights_only" in sentence or "Unsupported" in sentence or "GLOBAL" in sentence:
        return (
            "holds whole Python objects, which run code when they are read, not weights alone: save them again where "
            "it was made, by torch.save(model.state_dict(), file), or give the model itself to playground.load"
        )
    return f"is no file that torch can read ({(sentence.splitlines() or [type(error).__name__])[0][:200]})"


def _limit(spare_bytes: int, seconds: int) -> None:
    with suppress(ImportError, OSError, ValueError):  # not on every system
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + spare_bytes
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def _refuse(sentence: str) -> None:
    print(sentence)
    sys.exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
