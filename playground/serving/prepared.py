"""Packs made ahead, so that the first picture needs no forward pass and no torch.

The drawings' packs for the bundled model come with the playground; `python -m playground.serving.prepared` makes them
again, after the model or a drawing has changed. The photographs' packs are made on this machine, once they have been
fetched, by `python -m playground prepare`, and lie in the cache beside them.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np

from playground import borrowed
from playground.assets import PACKS
from playground.errors import PlaygroundError
from playground.pack import pack, unpack
from playground.samples import PHOTOGRAPHS, SAMPLES, Sample, named
from playground.version import __version__

FINER = {"meadow": 2}  # the drawing that comes first where there are no photographs: finer, its cat is a crisp shape


@cache
def prepared_pack(sample: str, detail: int = 1) -> bytes | None:
    path = PACKS / _drawing_file(sample, detail)
    return path.read_bytes() if path.exists() else None


def _drawing_file(sample: str, detail: int) -> str:
    return f"{sample}.pack" if detail == 1 else f"{sample}-{detail}.pack"


def fresh_pack(sample: str, vit, detail: int = 1) -> bytes:
    from playground.images import fit, open_image
    from playground.tracing import trace

    sample, c = named(sample), vit.config
    image = open_image(sample.path)
    if sample.look:
        size = tuple(side * c.patch_size for side in sample.look.grid)
    else:
        size = fit(image.size, c.patch_size, tuple(side * detail for side in c.image_size))
    return trace(vit, image, size=size).to_bytes()


# Photographs ----------------------------------------------------------------------------------------------------------


def photograph_file(sample: Sample) -> str:
    """What its pack is called. The name changes with all that the numbers depend on, so an old pack is never shown."""
    made_of = (borrowed.DINOV2.sha256, sample.loan.sha256, sample.look.model, sample.look.grid, __version__)
    return f"{sample.name}-{sha256(repr(made_of).encode()).hexdigest()[:16]}.pack"


def photograph_layers(name: str, layers: list[int] | None = None) -> bytes | None:
    """The pack of these layers: by default of the one that is shown first, which is a twelfth of the bytes. None where
    it was not prepared, or can't be read."""
    sample = named(name)
    if sample is None or sample.look is None or not sample.is_here:
        return None
    if (path := borrowed.find(photograph_file(sample))) is None:
        return None
    try:
        with open(path, "rb") as file:
            return _some_layers(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), layers or [sample.look.layer])
    except (PlaygroundError, OSError, ValueError, KeyError, IndexError):
        return None


def _some_layers(data: mmap.mmap, layers: list[int]) -> bytes:
    """Only the pages that hold these layers are read from the disk."""
    header, arrays = unpack(data)
    del header["sections"]
    places = [header["held"].index(layer) for layer in layers]
    return pack(
        header | {"held": layers}, {name: np.stack([array[i] for i in places]) for name, array in arrays.items()}
    )


def prepare(report: type | None = None) -> list[str]:
    """Makes the photographs' packs that are missing and gives their names. `report` is a class like tqdm's."""
    if not any(sample.is_here for sample in PHOTOGRAPHS):
        raise PlaygroundError(
            "There is nothing to prepare: no photograph is on this machine. Fetch them with "
            "`python -m playground download dinov2-small photographs`."
        )
    missing = [s for s in PHOTOGRAPHS if s.is_here and borrowed.find(photograph_file(s)) is None]
    if not missing:
        return []
    from playground.zoo import load

    vit = load("dinov2-small")
    for sample in report(missing, desc="preparing", unit="photograph") if report else missing:
        with borrowed.written():
            _put(borrowed.cache_folder() / photograph_file(sample), fresh_pack(sample.name, vit))
    return [sample.name for sample in missing]


def _put(path: Path, data: bytes) -> None:
    """Whole or not at all: another process may be about to read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for old in path.parent.glob(f"{path.stem.rsplit('-', 1)[0]}-*.pack"):
        old.unlink()
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


# Drawings -------------------------------------------------------------------------------------------------------------


def write_packs(folder: Path = PACKS) -> None:
    from playground.zoo import load

    vit = load("bundled", device="cpu")
    folder.mkdir(parents=True, exist_ok=True)
    drawings = [(sample.name, 1) for sample in SAMPLES] + list(FINER.items())
    for name, detail in drawings:
        data = fresh_pack(name, vit, detail)
        (folder / _drawing_file(name, detail)).write_bytes(data)
        print(f"{name:12} {detail}  {len(data) / 1e6:.2f} MB  {sha256(data).hexdigest()[:12]}")


if __name__ == "__main__":
    write_packs()
