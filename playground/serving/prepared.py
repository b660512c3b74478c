"""The samples' packs for the bundled model, made ahead, so that the first picture needs no forward pass.

python -m playground.serving.prepared   makes them again, after the model or a sample has changed
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

from playground.assets import PACKS
from playground.samples import SAMPLES, named


@cache
def prepared_pack(sample: str) -> bytes | None:
    path = PACKS / f"{sample}.pack"
    return path.read_bytes() if path.exists() else None


def fresh_pack(sample: str, vit) -> bytes:
    from playground.images import open_image
    from playground.tracing import trace

    picture = open_image(named(sample).path)
    return trace(vit, picture).to_bytes()


def write_packs(folder: Path = PACKS) -> None:
    from playground.zoo import load

    vit = load("bundled", device="cpu")
    folder.mkdir(parents=True, exist_ok=True)
    for sample in SAMPLES:
        data = fresh_pack(sample.name, vit)
        (folder / f"{sample.name}.pack").write_bytes(data)
        print(f"{sample.name:12} {len(data) / 1e6:.2f} MB  {sha256(data).hexdigest()[:12]}")


if __name__ == "__main__":
    write_packs()
