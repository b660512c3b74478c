"""Writes the pack that ships, of the layer at which the first picture opens: python -m workshop.packs"""

from __future__ import annotations

from hashlib import sha256

from playground.assets import PACKS
from playground.models.loading import load
from playground.samples import named
from playground.serving.prepared import FINER_GRIDS, SamplePack, fresh_pack, some_layers

if __name__ == "__main__":
    vit = load("bundled", device="cpu")
    PACKS.mkdir(parents=True, exist_ok=True)
    for sample_pack in (SamplePack(named(name), detail) for name, detail in FINER_GRIDS.items()):
        data = some_layers(fresh_pack(sample_pack.sample.name, vit, sample_pack.detail), None)
        (PACKS / f"{sample_pack.name}.pack").write_bytes(data)
        print(f"{sample_pack.name:12} {len(data) / 1e6:.2f} MB  {sha256(data).hexdigest()[:12]}")
