"""Prints the package index from which `make` takes torch, or nothing for pip's default one.

python deploy/torch_index.py auto|URL

On Linux the default one's torch brings several GB of CUDA libraries. So "auto" takes torch's own CPU index where no
NVIDIA GPU is found and that index can be reached. What was decided is said on stderr.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import urllib.request

CPU = "https://download.pytorch.org/whl/cpu"
PATIENCE = 5  # seconds


def choose(asked: str, index: str = CPU) -> tuple[str, str]:
    """(the index or "", a sentence)."""
    if asked != "auto":
        return asked, f"torch comes from {asked or 'the default index'}, as TORCH_INDEX says."
    if platform.system() != "Linux":
        return "", "torch comes from pip's default index."
    if shutil.which("nvidia-smi") or os.path.exists("/dev/nvidia0"):
        return "", "torch comes from pip's default index, with CUDA: there is an NVIDIA GPU."
    try:
        with urllib.request.urlopen(f"{index}/torch/", timeout=PATIENCE):
            return index, f"torch comes from {index}, without CUDA: no NVIDIA GPU was found. TORCH_INDEX= decides."
    except (OSError, ValueError):
        return "", f"torch comes from pip's default index, perhaps with CUDA: {index} can't be reached."


if __name__ == "__main__":
    chosen, sentence = choose(*sys.argv[1:])
    print(sentence, file=sys.stderr)
    print(chosen)
