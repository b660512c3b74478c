"""Compiles the browser engine's kernels: python -m workshop.kernels

`playground/microscope/engine/kernels.c` becomes kernels.wasm beside it. Both are committed, with their digests in
kernels.json, so that users need no compiler. The compiler is clang from pip's `ziglang`: one version gives the same
bytes. Relaxed SIMD, with multiply-and-add in one instruction, was tried: a pass takes a tenth less time with weights
in 8 bits and a quarter less in 32-bit floats. But it needs a second module for browsers without relaxed SIMD.
"""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory

from playground.errors import PlaygroundError

ENGINE = Path(__file__).resolve().parent.parent / "playground" / "microscope" / "engine"
SOURCE = ENGINE / "kernels.c"
MODULE = ENGINE / "kernels.wasm"
DIGESTS = ENGINE / "kernels.json"
STACK_BYTES = 32_768  # bytes; a matrix product needs 12,500
FLAGS = (
    "-target", "wasm32-freestanding", "-O3", "-nostdlib",
    "-ffreestanding", "-fvisibility=hidden", "-mcpu=generic+simd128",
    "-fno-unroll-loops", "-fno-vectorize",  # the source itself vectorises hot loops; these two keep the rest small
    "-Wl,--no-entry", "-Wl,--export-dynamic", "-Wl,--import-memory", "-Wl,--export=__heap_base", "-Wl,--strip-all",
    "-Wl,--max-memory=4294901760",  # 65,535 pages: see tensors.js
    f"-Wl,-z,stack-size={STACK_BYTES}",
)  # fmt: skip


def compiler() -> str | None:
    """The installed compiler and its version, such as "ziglang 0.17.1"; None if it is missing."""
    try:
        import ziglang  # noqa: F401
    except ImportError:
        return None
    version = run([sys.executable, "-m", "ziglang", "version"], capture_output=True, text=True, check=True)
    return f"ziglang {version.stdout.strip()}"


def compiled_module() -> bytes:
    with TemporaryDirectory() as folder:
        output_file = Path(folder) / MODULE.name
        command = [sys.executable, "-m", "ziglang", "cc", *FLAGS, "-o", str(output_file), SOURCE.name]
        result = run(command, cwd=ENGINE, capture_output=True, text=True)
        if result.returncode:
            raise PlaygroundError(f"{SOURCE.name} does not compile:\n{result.stderr}")
        return output_file.read_bytes()


def digests() -> dict[str, str]:
    """The digests of the source file and of the compiled module."""
    return {file.name: sha256(file.read_bytes()).hexdigest() for file in (SOURCE, MODULE)}


def main() -> None:
    version = compiler()
    if version is None:
        raise SystemExit("There is no compiler here: pip install ziglang, and run this again.")
    MODULE.write_bytes(compiled_module())
    DIGESTS.write_text(json.dumps({"compiler": version, "sha256": digests()}, indent=2) + "\n", encoding="utf-8")
    print(f"{MODULE.name}: {MODULE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
