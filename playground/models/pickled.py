"""Reads weights that torch has pickled (.pth, .pt, .bin, .ckpt, .pth.tar), from files on this machine.

`torch.load(weights_only=True)` reads the weights without running code of the file, in a separate process with limits of
memory and time (pickled_process.py). The process writes a safetensors file, which is then read like any other. A server
never reads pickled files: nothing in serving/ imports this module.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playground.errors import PlaygroundError

SUFFIXES = (".pth", ".pt", ".bin", ".ckpt", ".tar")
MOST_BYTES = 40 * 10**9
PATIENCE = 60  # most seconds of the process, plus one for every BYTES_A_SECOND of the file
BYTES_A_SECOND = 20 * 10**6
PASSED_VARIABLES = ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR")
LONGEST_SENTENCE = 1000


def is_pickled(path: Path) -> bool:
    """Whether the file begins like a zip, torch's format since 2020, or like a bare pickle, the older format."""
    if path.suffix not in SUFFIXES or not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(2) in (b"PK", b"\x80\x02")


@contextmanager
def as_safetensors(path: Path) -> Iterator[Path]:
    """A temporary safetensors file with a pickled file's weights, deleted after the `with`. Its metadata may hold
    "arch", the model's name as timm's training script writes it."""
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise PlaygroundError(f"{path} has {size / 1e9:,.0f} GB; at most {MOST_BYTES / 1e9:,.0f} are read.")
    with tempfile.TemporaryDirectory(prefix="playground-") as folder:
        converted_file = Path(folder) / "model.safetensors"
        _run(path, converted_file, PATIENCE + size // BYTES_A_SECOND)
        yield converted_file


def _run(path: Path, converted_file: Path, seconds: int) -> None:
    command = [sys.executable, "-m", "playground.models.pickled_process", str(path.resolve()), str(converted_file)]
    variables = {name: os.environ[name] for name in PASSED_VARIABLES if name in os.environ}
    try:
        process = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, env=variables, timeout=seconds, check=False,
            cwd=Path(__file__).parent.parent.parent,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise PlaygroundError(
            f"{path} takes longer to read than {seconds} seconds: it is damaged, or hostile."
        ) from None
    except OSError as error:
        raise PlaygroundError(f"The process that reads {path} can't be started: {error.strerror or error}.") from None
    if process.returncode:
        sentence = process.stdout.decode(errors="replace").strip()[:LONGEST_SENTENCE]
        raise PlaygroundError(f"{path} {sentence or 'takes far more memory or time than its size: it was not read'}.")
