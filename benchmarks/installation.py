"""The size of the package and the time of its installation, as a table for docs/pages/numbers.md:

python benchmarks/installation.py              into a new environment that sees the packages of this one
python benchmarks/installation.py --index URL  with all dependencies; URL is torch's index without CUDA
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import venv
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements.txt"


def seconds_to_run(*command: str | Path, cwd: Path) -> float:
    """Runs the command in an environment that does not see this checkout; returns seconds."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    began = time.perf_counter()
    subprocess.run(list(map(str, command)), cwd=cwd, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def build_rows(folder: Path) -> Iterator[tuple[str, str]]:
    """Rows of the table: the source archive of the checkout, and the wheel built from it."""
    seconds = seconds_to_run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=ROOT)
    (archive,) = folder.glob("*.tar.gz")
    yield "source archive, made", f"{archive.stat().st_size / 1e6:.1f} MB in {seconds:.1f} s"
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    source = folder / archive.name.removesuffix(".tar.gz")
    seconds = seconds_to_run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=source)
    (wheel,) = folder.glob("*.whl")
    yield "wheel, made of it", f"{wheel.stat().st_size / 1e6:.1f} MB in {seconds:.1f} s"


def installation_rows(folder: Path, index: str | None) -> Iterator[tuple[str, str]]:
    """Rows of the table: installing the wheel, and the first commands of a user."""
    environment = folder / "environment"
    venv.create(environment, with_pip=False)
    paths = {"base": str(environment), "platbase": str(environment)}
    scripts = Path(sysconfig.get_path("scripts", "venv", paths))
    packages = Path(sysconfig.get_path("purelib", "venv", paths))
    (wheel,) = folder.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", scripts / "python", "install", "-q"]
    if index:
        seconds = seconds_to_run(*pip, "torch", "torchvision", "--index-url", index, cwd=folder)
        yield "torch and torchvision, installed", f"{seconds:.0f} s"
        seconds = seconds_to_run(*pip, wheel, cwd=folder)
    else:
        (packages / "these.pth").write_text(sysconfig.get_path("purelib"))
        seconds = seconds_to_run(*pip, "--no-deps", "--no-index", wheel, cwd=folder)
    size = sum(file.stat().st_size for file in (packages / "playground").rglob("*") if file.suffix != ".pyc")
    yield "installed" + (", with what it needs" if index else ""), f"{size / 1e6:.1f} MB in {seconds:.1f} s"
    yield (
        "`attention-playground --version`",
        f"{seconds_to_run(scripts / 'attention-playground', '--version', cwd=folder):.1f} s",
    )
    figure = [scripts / "attention-playground", "figure", "meadow", "-o", "meadow.png"]
    yield "the first figure", f"{seconds_to_run(*figure, cwd=folder):.1f} s"
    yield "a figure after it", f"{seconds_to_run(*figure, cwd=folder):.1f} s"


def bytes_of_packages() -> float:
    """The bytes of all packages that requirements.txt needs, directly or not, without torch and its CUDA packages."""
    from packaging.requirements import Requirement

    names = [line.split("#")[0].strip() for line in REQUIREMENTS.read_text().splitlines() if line[:1].isalpha()]
    requirements, package_names, size = [Requirement(name) for name in names], set(), 0.0
    while requirements:
        requirement = requirements.pop()
        name = requirement.name.lower().replace("_", "-")
        if name in package_names or name.startswith(("torch", "triton", "nvidia")):
            continue
        if requirement.marker and not any(
            requirement.marker.evaluate({"extra": extra}) for extra in (*requirement.extras, "")
        ):
            continue
        package_names.add(name)
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        size += sum(path.stat().st_size for file in distribution.files or () if (path := Path(file.locate())).is_file())
        requirements += [Requirement(line) for line in distribution.requires or ()]
    return size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", metavar="URL", help="of torch without CUDA; the rest comes from pip's own index")
    options = parser.parse_args()
    print("| what | |\n|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for title, value in (*build_rows(Path(folder)), *installation_rows(Path(folder), options.index)):
            print(f"| {title} | {value} |", flush=True)
    print(f"| what it needs, without torch | {bytes_of_packages() / 1e6:.0f} MB |")


if __name__ == "__main__":
    main()
