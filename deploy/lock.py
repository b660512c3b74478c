"""Writes the locks: every package with its version and the hashes of its files, from pip's default index. Needs uv.

python deploy/lock.py

requirements.lock        the app's packages without torch's
requirements-torch.lock  torch and the packages that only torch needs; apart, as torch's CPU index has other files
requirements-dev.lock    the further packages of the tests
requirements-bom.lock    the packages that write the image's bill of materials; they are then removed from the image
requirements-uv.lock     uv, with which the gate installs the others (deploy/install.py)
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOM = "cyclonedx-bom>=7.5,<8"
UV = "uv>=0.13,<0.14"
TORCH_PACKAGES = re.compile(r"(torch|torchvision|triton|cuda-[\w-]+|nvidia-[\w-]+)==")
COMPILE_COMMAND = [  # the platform of the image, as in deploy/install.py
    "uv", "pip", "compile", "--generate-hashes", "--no-header", "--no-annotate", "--quiet",
    "--python-version", "3.11", "--python-platform", "x86_64-manylinux_2_28",
]  # fmt: skip


def compile_lock(*arguments: str, text: str = "") -> str:
    finished_process = subprocess.run(
        [*COMPILE_COMMAND, *arguments], cwd=ROOT, input=text, text=True, stdout=subprocess.PIPE, check=True
    )
    return finished_process.stdout


def blocks(text: str) -> list[str]:
    """The lock's text in parts, one for each package."""
    return [block for block in re.split(r"^(?=[a-z])", text, flags=re.MULTILINE) if "==" in block]


def split(text: str) -> tuple[str, str]:
    """(the lock of the app without torch's packages, the lock of torch)."""
    torch_blocks = [block for block in blocks(text) if TORCH_PACKAGES.match(block)]
    return "".join(block for block in blocks(text) if block not in torch_blocks), "".join(torch_blocks)


def main() -> None:
    app_lock, torch_lock = split(compile_lock("requirements.txt"))
    write("requirements", app_lock)
    write("requirements-torch", torch_lock)
    constraints = ("-c", "requirements.lock", "-c", "requirements-torch.lock")
    locked_blocks = {*blocks(app_lock), *blocks(torch_lock)}
    dev_blocks = blocks(compile_lock("requirements-dev.txt", *constraints))
    write("requirements-dev", "".join(block for block in dev_blocks if block not in locked_blocks))
    write("requirements-bom", compile_lock("-", "-c", "requirements.lock", text=BOM))
    write("requirements-uv", compile_lock("-", text=UV))


def write(name: str, text: str) -> None:
    (ROOT / f"{name}.lock").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
