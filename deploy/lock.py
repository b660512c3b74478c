"""Writes the locks: every package with its version and the hashes of its files, from pip's default index. It needs uv.

python deploy/lock.py

requirements.lock        what the app needs, but for torch
requirements-torch.lock  torch and what it alone needs: its CPU index has other files
requirements-dev.lock    what the tests need beside these
requirements-bom.lock    what writes the image's bill of materials; it does not stay in the image
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOM = "cyclonedx-bom>=7.5,<8"
WITH_TORCH = re.compile(r"(torch|torchvision|triton|cuda-[\w-]+|nvidia-[\w-]+)==")
COMPILE = [  # the platform of the image; deploy/install.py knows it too
    "uv", "pip", "compile", "--generate-hashes", "--no-header", "--no-annotate", "--quiet",
    "--python-version", "3.11", "--python-platform", "x86_64-manylinux_2_28",
]  # fmt: skip


def compiled(*arguments: str, text: str = "") -> str:
    done = subprocess.run([*COMPILE, *arguments], cwd=ROOT, input=text, text=True, stdout=subprocess.PIPE, check=True)
    return done.stdout


def blocks(text: str) -> list[str]:
    """One for each package."""
    return [block for block in re.split(r"^(?=[a-z])", text, flags=re.MULTILINE) if "==" in block]


def split(text: str) -> tuple[str, str]:
    """(what the app needs beside torch, torch)."""
    torch = [block for block in blocks(text) if WITH_TORCH.match(block)]
    return "".join(block for block in blocks(text) if block not in torch), "".join(torch)


def main() -> None:
    app, torch = split(compiled("requirements.txt"))
    write("requirements", app)
    write("requirements-torch", torch)
    ours = ("-c", "requirements.lock", "-c", "requirements-torch.lock")
    locked_names = {*blocks(app), *blocks(torch)}
    dev = blocks(compiled("requirements-dev.txt", *ours))
    write("requirements-dev", "".join(block for block in dev if block not in locked_names))
    write("requirements-bom", compiled("-", "-c", "requirements.lock", text=BOM))


def write(name: str, text: str) -> None:
    (ROOT / f"{name}.lock").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
