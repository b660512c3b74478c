"""Installs the app's packages, or those of its tests, into the Python that runs this script; `make` calls it.

python deploy/install.py app|dev [--torch-index auto|URL] [--lock yes|no]

On Linux pip's default torch brings several GB of CUDA libraries. So "auto" takes torch's own CPU index where no NVIDIA
GPU is found and that index can be reached.

With --lock yes, a machine that the lock was made for gets only files whose hashes are in requirements*.lock; other
machines get versions within the ranges of requirements*.txt. uv installs locked packages, nine times as fast as pip; if
uv fails, pip installs them. The script prints what it decided.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
PATIENCE = 5  # seconds to wait for an index
LOCK_PLATFORM = "Python 3.11 on Linux x86_64 with glibc 2.28 or newer"  # the platform in deploy/lock.py
LOCKED_INSTALL = ["install", "--no-deps", "--require-hashes", "-r"]
UV_LOCK = "requirements-uv.lock"


def torch_index(option: str, index: str = CPU_INDEX) -> tuple[str, str]:
    """(the index that torch is installed from, "" for pip's default one; a sentence that names the index)."""
    if option != "auto":
        return option, f"torch comes from {option or 'the default index'}, as TORCH_INDEX says."
    if platform.system() != "Linux":
        return "", "torch comes from pip's default index."
    if shutil.which("nvidia-smi") or os.path.exists("/dev/nvidia0"):
        return "", "torch comes from pip's default index, with CUDA: there is an NVIDIA GPU."
    try:
        with urllib.request.urlopen(f"{index}/torch/", timeout=PATIENCE):
            return index, f"torch comes from {index}, without CUDA: no NVIDIA GPU was found. TORCH_INDEX= decides."
    except (OSError, ValueError):
        return "", f"torch comes from pip's default index, perhaps with CUDA: {index} can't be reached."


def lock_fits() -> bool:
    libc, version = platform.libc_ver()
    return (
        sys.version_info[:2] == (3, 11)
        and (platform.system(), platform.machine(), libc) == ("Linux", "x86_64", "glibc")
        and tuple(map(int, version.split("."))) >= (2, 28)
    )


def use_lock(option: bool) -> tuple[bool, str]:
    """(whether the lock is used, a sentence that says which packages are installed)."""
    if not option:
        return False, "Packages: the newest within the ranges of requirements*.txt. LOCK=yes takes those of the lock."
    if lock_fits():
        return True, "Packages: those of requirements*.lock, each file with its hash."
    machine = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    return False, (
        f"Packages: the newest within the ranges of requirements*.txt, for the lock is for {LOCK_PLATFORM}, and this "
        f"is {machine}."
    )


def pinned_torch() -> list[str]:
    """The pinned versions of torch, without hashes: torch's own index has other files than the default index."""
    lines = (ROOT / "requirements-torch.lock").read_text(encoding="utf-8").splitlines()
    return [line.partition(" ")[0] for line in lines if line.startswith("torch")]


def ranged_torch() -> list[str]:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.startswith("torch")]


def steps(what: str, index: str, with_lock: bool) -> list[list[str]]:
    """The arguments of each pip command, in order."""
    if what == "dev":
        return (
            [[*LOCKED_INSTALL, "requirements-dev.lock"], ["check"]]
            if with_lock
            else [["install", "-r", "requirements-dev.txt"]]
        )
    if not with_lock:
        torch = [["install", "--index-url", index, *ranged_torch()]] if index else []
        return [*torch, ["install", "-r", "requirements.txt"]]
    pinned = ["install", "--no-deps", "--index-url", index, *pinned_torch()]
    torch = pinned if index else [*LOCKED_INSTALL, "requirements-torch.lock"]
    return [[*LOCKED_INSTALL, UV_LOCK], torch, [*LOCKED_INSTALL, "requirements.lock"], ["check"]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["app", "dev"])
    parser.add_argument("--torch-index", default="auto")
    parser.add_argument("--lock", choices=["yes", "no"], default="no")
    options = parser.parse_args()

    with_lock, sentence = use_lock(options.lock == "yes")
    print(sentence, flush=True)
    index = ""
    if options.what == "app":
        index, sentence = torch_index(options.torch_index)
        print(sentence, flush=True)
    failed_step = install(steps(options.what, index, with_lock))
    if failed_step and "--index-url" in failed_step and options.torch_index == "auto":
        print(f"{index} did not give torch: it comes from pip's default index.", flush=True)
        failed_step = install(steps(options.what, "", with_lock))
    return 1 if failed_step else 0


def install(commands: list[list[str]]) -> list[str] | None:
    """Runs the commands and returns the one that failed; None if all succeeded."""
    for step in commands:
        uv_succeeded = (
            step[:-1] == LOCKED_INSTALL and step[-1] != UV_LOCK and run("uv", "pip", *step, "--python", sys.executable)
        )
        if not uv_succeeded and not run("pip", *step):
            return step
    return None


def run(*module_and_arguments: str) -> bool:
    """Runs `python -m …` and returns whether it succeeded. uv gets the package index that PIP_INDEX_URL gives pip."""
    index = os.environ.get("PIP_INDEX_URL")
    environment = os.environ | ({"UV_DEFAULT_INDEX": index} if index else {})
    return not subprocess.run([sys.executable, "-m", *module_and_arguments], cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
