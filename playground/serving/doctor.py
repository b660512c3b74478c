"""Checks this machine: `python -m playground doctor`.

The check reads every file of the cache completely and compares digests. It reports damaged and missing files, their
consequences, and untested versions of packages. It reads no visitor's data and prints no secret.
"""

from __future__ import annotations

import operator
import os
import platform
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from io import BytesIO
from pathlib import Path

from playground.assets import HOME, PACKS, PROGRAM, SHIPPED_MODELS
from playground.errors import PlaygroundError
from playground.models import borrowed
from playground.models.borrowed import what_is_wrong
from playground.pack import unpack
from playground.pictures.decoder import Worker
from playground.samples import SAMPLES
from playground.serving import hosts, prepared, starting
from playground.version import __version__

FINE, LACKING, WRONG = "fine", "less", "WRONG"  # LACKING: the app works, but a part of it is missing
REQUIREMENTS = HOME / "requirements.txt"  # also inside an installed package
TESTED_PYTHON = (3, 11)
HUB_DIGEST = re.compile(r"[0-9a-f]{64}")  # the hub's cache names a large file by its digest
COMPARISONS = {">=": operator.ge, "<": operator.lt, "==": operator.eq}


@dataclass(frozen=True)
class Finding:
    state: str
    says: str


def examine() -> list[Finding]:
    findings: list[Finding] = []
    for check in (_versions, _settings, _shipped_files, _cache_folder, _temporary_folder, _borrowed_files, _hub_weights,
                  _prepared_packs, _upload_decoding):  # fmt: skip
        try:
            findings += check()
        except (PlaygroundError, OSError) as error:
            findings.append(Finding(WRONG, str(error)))
    return list(dict.fromkeys(findings))


# What is installed ----------------------------------------------------------------------------------------------------


def _versions() -> Iterator[Finding]:
    python_version, tested_version = platform.python_version(), ".".join(map(str, TESTED_PYTHON))
    if numbers(python_version)[:2] == TESTED_PYTHON:
        yield Finding(FINE, f"Python {python_version}, as tested")
    else:
        yield Finding(LACKING, f"Python {python_version}: tested was {tested_version}; others may work as well")
    for name, bounds in sorted(requirements().items()):
        try:
            installed_version = metadata.version(name)
        except metadata.PackageNotFoundError:
            yield Finding(WRONG, f"{name} is not installed: pip install '{name}{bounds}'")
            continue
        if not lies_within(installed_version, bounds):
            yield Finding(
                WRONG, f"{name} {installed_version} is outside of what was tested: pip install '{name}{bounds}'"
            )
        elif name in ("torch", "streamlit"):
            yield Finding(FINE, f"{name} {installed_version}, within what was tested ({bounds})")


def requirements() -> dict[str, str]:
    """{package: bounds such as ">=2.12,<2.16"} of what the app needs."""
    matches = (re.match(r"([\w.-]+)\s*([^;#]*)", line) for line in REQUIREMENTS.read_text("utf-8").splitlines())
    return {match[1].lower(): match[2].strip() for match in matches if match}


def lies_within(version: str, bounds: str) -> bool:
    parts = (re.match(r"\s*(>=|<|==)\s*(.+)", part) for part in bounds.split(",") if part)
    return all(COMPARISONS[part[1]](numbers(version), numbers(part[2])) for part in parts if part)


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version.partition("+")[0])[:3]))


def _settings() -> Iterator[Finding]:
    starting.check_settings()  # raises if a setting is mistyped
    yield Finding(FINE, "the settings can be read")
    yield Finding(FINE, f"a server here answers to {', '.join(sorted(hosts.names()))} and to any literal address; "
                  "PLAYGROUND_HOSTS or --allow-host gives it other names")  # fmt: skip


def _shipped_files() -> Iterator[Finding]:
    """Reads the playground's own files."""
    from playground.pictures.images import open_image

    readers: dict[Path, Callable[[Path], object]] = dict.fromkeys((sample.path for sample in SAMPLES), open_image)
    readers |= dict.fromkeys(PACKS.glob("*.pack"), lambda path: unpack(path.read_bytes()))
    troubles: dict[Path, object] = {path: what_is_wrong(path) for path in SHIPPED_MODELS.values() if path.exists()}
    for path, reader in readers.items():
        try:
            reader(path)
        except (PlaygroundError, OSError, ValueError, KeyError) as error:
            troubles[path] = error
    damages = [f"{path} is damaged ({trouble})" for path, trouble in troubles.items() if trouble]
    yield from (Finding(WRONG, f"{damage}: install the playground again") for damage in damages)
    if not damages:
        yield Finding(FINE, f"the playground's own files ({__version__})")


# The cache ------------------------------------------------------------------------------------------------------------


def _cache_folder() -> Iterator[Finding]:
    folder = borrowed.cache_folder()
    existing_folder = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if os.access(existing_folder, os.W_OK):
        yield Finding(FINE, f"the cache, {folder}, can be written")
    else:
        yield Finding(LACKING, f"the cache, {folder}, can't be written: what is fetched or prepared can't be kept. "
                      "Make it writable, or name another folder by HF_HOME")  # fmt: skip


def _temporary_folder() -> Iterator[Finding]:
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        yield Finding(
            WRONG, "No folder for temporary files can be written, so that no figure can be drawn: name one by TMPDIR"
        )


def _borrowed_files() -> Iterator[Finding]:
    for group, files in borrowed.GROUPS.items():
        complete_count, missing_files = 0, []
        for item in files:
            digest = borrowed.CONVERTED_SHA256.get(item.file, item.sha256)
            copies = [folder / item.file for folder in borrowed.folders() if (folder / item.file).is_file()]
            trouble_of_copy = {path: trouble for path in copies if (trouble := what_is_wrong(path, digest))}
            has_sound_copy = len(trouble_of_copy) < len(copies)
            advice = "another copy is used" if has_sound_copy else f"`{PROGRAM} download {group}` fetches it again"
            yield from (_damage(path, trouble, advice, has_sound_copy) for path, trouble in trouble_of_copy.items())
            complete_count += has_sound_copy
            missing_files += [] if copies else [item.file]
        if complete_count:
            yield Finding(FINE, f"{group}: {complete_count} of {len(files)} files are whole")
        has_dinov2 = group == "dinov2-small" and borrowed.hub_weights(f"timm/{borrowed.DINOV2_ON_THE_HUB}") is not None
        if missing_files and not has_dinov2:
            yield Finding(LACKING, f"not on this machine: {', '.join(missing_files)}. The app goes on without; "
                          f"`{PROGRAM} download {group}` fetches what is missing")  # fmt: skip


def _hub_weights() -> Iterator[Finding]:
    """Checks weights in the hub library's own cache."""
    for path in sorted(borrowed.hub_cache().glob("models--timm--*/snapshots/*/model.safetensors")):
        blob = path.resolve()
        trouble = what_is_wrong(path, blob.name if HUB_DIGEST.fullmatch(blob.name) else None)
        name = path.parts[-4].removeprefix("models--timm--")
        advice = f"`{PROGRAM} download {name}` fetches it again"
        yield _damage(path, trouble, advice) if trouble else Finding(FINE, name)


def _prepared_packs() -> Iterator[Finding]:
    ready_count = 0
    for path in sorted(path for folder in borrowed.folders() for path in folder.glob("*.pack")):
        if trouble := what_is_wrong(path) or prepared.what_is_wrong_with(path):
            yield _damage(path, trouble, f"`{PROGRAM} prepare` makes it anew")
        else:
            ready_count += 1
    missing_names = [sample_pack.name for sample_pack in prepared.all_packs() if not prepared.is_ready(sample_pack)]
    if missing_names:
        yield Finding(LACKING, f"not prepared, so that whoever chooses one first waits: {', '.join(missing_names)}. "
                      f"`{PROGRAM} prepare` does it, and a server as it starts")  # fmt: skip
    else:
        yield Finding(FINE, f"{ready_count} prepared packs")


def _damage(path: Path, trouble: str, advice: str, has_sound_copy: bool = False) -> Finding:
    words = "; " if has_sound_copy else ": delete it, then "
    return Finding(LACKING if has_sound_copy else WRONG, f"{path} is damaged ({trouble}){words}{advice}")


def _upload_decoding() -> Iterator[Finding]:
    from PIL import Image

    Image.new("RGB", (64, 48), "teal").save(file := BytesIO(), "JPEG")
    try:
        with Worker() as worker:
            worker.decoded(file.getvalue(), 2**20)
        yield Finding(FINE, "pictures that people bring are decoded")
    except PlaygroundError as error:
        yield Finding(WRONG, f"no picture that people bring can be opened: {error}")
