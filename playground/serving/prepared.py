"""Makes and reads packs, which are traces of samples made ahead, so that a sample is shown without a forward pass and
without torch. A pack's file name holds a digest of the inputs.

The playground ships one pack: one layer of the drawing that opens if there are no photographs. After a change of the
model or of that drawing, `python -m workshop.packs` makes this pack again. All other packs are made on
this machine, by `python -m playground prepare` or by a starting server when nobody waits, and lie in the cache beside
the photographs and DINOv2. A sample without a pack is traced on demand.
"""

from __future__ import annotations

import logging
import mmap
import os
import tempfile
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from playground.assets import BUNDLED_MODEL, PACKS, SHIPPED_MODELS
from playground.errors import PlaygroundError
from playground.models import borrowed
from playground.pack import pack, unpack, upper_layer
from playground.samples import PHOTOGRAPHS, SAMPLES, Sample, named
from playground.serving import models, own_models, queue
from playground.version import __version__

if TYPE_CHECKING:
    from playground.vit import VisionTransformer

# Digests of the inputs of a trace: the sample's file and the model's weights. Equal on every machine.


@cache
def sample_digest(name: str) -> str:
    return sha256(named(name).path.read_bytes()).hexdigest()[:16]


def model_digest(name: str) -> str:
    if name in SHIPPED_MODELS:
        return _file_digest(SHIPPED_MODELS[name], SHIPPED_MODELS[name].stat().st_mtime_ns)
    if name in borrowed.GROUPS and borrowed.is_here(name):
        return borrowed.DINOV2.sha256[:16] if name == models.PHOTOGRAPH_MODEL else name
    if own_models.is_own(name):
        return "-".join(_file_digest(*file_and_time) for file_and_time in own_models.files_of(name)) or name
    if weights := borrowed.hub_weights(f"timm/{name}"):
        return Path(weights).resolve().name  # the hub's cache calls a file by its digest
    return name


@cache
def _file_digest(file: Path, changed_at: int) -> str:
    with open(file, "rb") as handle:
        digest = sha256()
        while part := handle.read(2**20):
            digest.update(part)
    return digest.hexdigest()[:16]


FINER_GRIDS = {"meadow": 2}  # sample -> factor by which its grid is finer, so that the drawn cat has a clear shape
CHECKSUM_BYTES = 32  # bytes at the end of a pack in the cache: the SHA-256 of all bytes before them
DIGEST_GLOB = "[0-9a-f]" * 16

log = logging.getLogger("playground")


@dataclass(frozen=True)
class SamplePack:
    """A sample's pack, in the model that suits the sample."""

    sample: Sample
    detail: int = 1

    @property
    def model(self) -> str:
        return self.sample.look.model if self.sample.look else "bundled"

    @property
    def name(self) -> str:
        return self.sample.name if self.detail == 1 else f"{self.sample.name}-{self.detail}"

    @property
    def file(self) -> str:
        """The file's name, with a digest of everything that the trace depends on, so that no outdated pack is shown."""
        grid = self.sample.look and self.sample.look.grid
        inputs = (sample_digest(self.sample.name), model_digest(self.model), grid, __version__)
        return f"{self.name}-{sha256(repr(inputs).encode()).hexdigest()[:16]}.pack"


def all_packs() -> list[SamplePack]:
    """All packs of the samples and models on this machine, in the order in which the packs are made."""
    finer_packs = [SamplePack(named(name), detail) for name, detail in FINER_GRIDS.items()]
    return [
        sample_pack
        for sample_pack in (*finer_packs, *map(SamplePack, SAMPLES), *map(SamplePack, PHOTOGRAPHS))
        if _can_be_made(sample_pack)
    ]


def _can_be_made(sample_pack: SamplePack) -> bool:
    sample = sample_pack.sample
    return sample.is_here and (models.has_photographs() if sample.look else BUNDLED_MODEL.exists())


# Reading --------------------------------------------------------------------------------------------------------------


def pack_of_layers(
    sample: str, model: str, detail: int, layer_numbers: list[int] | None, heads: list[int] | None
) -> bytes | None:
    """The pack of these layers and heads; None if no readable file has them."""
    sample_pack = SamplePack(named(sample), detail)
    if model != sample_pack.model:
        return None
    shipped = PACKS / f"{sample_pack.name}.pack"
    # the first picture reads only the shipped file
    for read_pack in (lambda: shipped.read_bytes() if shipped.is_file() else None, lambda: _cached_pack(sample_pack)):
        try:
            if (data := read_pack()) is not None:
                return some_layers(data, layer_numbers, heads)
        except (PlaygroundError, ValueError, KeyError, IndexError):
            continue
    return None


def _cached_pack(sample_pack: SamplePack) -> mmap.mmap | None:
    """The pack in the cache; None if the file is missing or incomplete."""
    for path in (folder / sample_pack.file for folder in borrowed.folders() if _can_be_made(sample_pack)):
        try:
            with open(path, "rb") as file:
                file_stat = os.stat(file.fileno())
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            if _is_whole(path, file_stat.st_ino, file_stat.st_size, file_stat.st_mtime_ns):
                return data
        except (OSError, ValueError):  # missing or empty
            continue
    return None


@lru_cache(100)
def _is_whole(path: Path, inode: int, size: int, changed_at: int) -> bool:
    """Whether the pack's checksum is right; computed once for each version of the file."""
    if trouble := what_is_wrong_with(path):
        log.warning("%s is damaged (%s) and counts as absent: it is made again.", path, trouble)
    return trouble is None


def what_is_wrong_with(path: Path) -> str | None:
    data = memoryview(path.read_bytes())
    return None if sha256(data[:-CHECKSUM_BYTES]).digest() == data[-CHECKSUM_BYTES:] else "its digest is another one"


def is_ready(sample_pack: SamplePack) -> bool:
    return _cached_pack(sample_pack) is not None


def all_layers(sample_pack: SamplePack) -> bytes | None:
    """All layers of the pack, if it was made ahead."""
    data = _cached_pack(sample_pack)
    return None if data is None else data[:-CHECKSUM_BYTES]


def some_layers(data: mmap.mmap | bytes, layer_numbers: list[int] | None, heads: list[int] | None = None) -> bytes:
    """A pack of only these layers and heads. Heads keep their numbers. If `data` is a mapped file, only the needed
    pages are read."""
    header, arrays = unpack(data)
    del header["sections"]
    layer_numbers = [upper_layer(header["layers"])] if layer_numbers is None else layer_numbers
    layer_places = [header["held"].index(layer) for layer in layer_numbers]
    wanted_heads = slice(None) if heads is None else heads
    header = header | {"held": layer_numbers} | ({} if heads is None else {"some_heads": heads})
    return pack(
        header, {name: np.stack([array[i][wanted_heads] for i in layer_places]) for name, array in arrays.items()}
    )


# Making ---------------------------------------------------------------------------------------------------------------


def prepare(report: type | None = None) -> list[str]:
    """Makes the packs that are missing and returns their names. `report` is a class like tqdm's."""
    missing_packs = [sample_pack for sample_pack in all_packs() if _cached_pack(sample_pack) is None]
    for sample_pack in (
        report(missing_packs, desc="preparing", unit="picture") if report and missing_packs else missing_packs
    ):
        vit = models.load(sample_pack.model)
        with queue.turn(last=True):
            data = fresh_pack(sample_pack.sample.name, vit, sample_pack.detail)
        with borrowed.sentence_if_unwritable():
            _write(borrowed.cache_folder() / sample_pack.file, data + sha256(data).digest())
    return [sample_pack.name for sample_pack in missing_packs]


def prepare_behind_everybody() -> None:
    """Makes the missing packs. A server runs this once, after its warm-up."""
    try:
        if names := prepare():
            log.info("prepared %s", ", ".join(names))
    except PlaygroundError as error:  # the cache is not writable: samples are traced on demand
        log.info("samples are not prepared: %s", error)


def fresh_pack(name: str, vit: VisionTransformer, detail: int = 1) -> bytes:
    from playground.pictures.images import fit, open_image
    from playground.tracing import trace

    sample, c = named(name), vit.config
    image = open_image(sample.path)
    if sample.look:
        size = sample.look.grid[0] * c.patch_size, sample.look.grid[1] * c.patch_size
    else:
        size = fit(image.size, c.patch_size, (c.image_size[0] * detail, c.image_size[1] * detail))
    return trace(vit, image, size=size).to_bytes()


def _write(path: Path, data: bytes) -> None:
    """Writes the file atomically: another process may be about to read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for old_file in path.parent.glob(f"{path.stem.rpartition('-')[0]}-{DIGEST_GLOB}.pack"):
        old_file.unlink(missing_ok=True)  # another process may make the same pack
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        file = Path(folder, path.name)
        file.write_bytes(data)
        file.replace(path)
