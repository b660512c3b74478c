"""Writes the lock of the image: every package with its version and the hashes of its files, from pip's default index.

    uv pip compile requirements.txt --generate-hashes --no-header --no-annotate --python-version 3.11 \\
        --python-platform x86_64-manylinux_2_28 | python deploy/lock.py

torch and what it alone needs stand in a file of their own, requirements-torch.lock: its CPU index has other files.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WITH_TORCH = re.compile(r"(torch|torchvision|triton|cuda-[\w-]+|nvidia-[\w-]+)==")


def split(text: str) -> tuple[str, str]:
    """(what the app needs beside torch, torch)."""
    blocks = [block for block in re.split(r"^(?=[a-z])", text, flags=re.MULTILINE) if "==" in block]
    torch = [block for block in blocks if WITH_TORCH.match(block)]
    return "".join(block for block in blocks if block not in torch), "".join(torch)


def main() -> None:
    app, torch = split(sys.stdin.read())
    (ROOT / "requirements.lock").write_text(app, encoding="utf-8")
    (ROOT / "requirements-torch.lock").write_text(torch, encoding="utf-8")


if __name__ == "__main__":
    main()
