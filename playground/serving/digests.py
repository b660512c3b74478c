"""Digests of what goes into a trace: the sample's file and the model's weights. The same on every machine."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

from playground.assets import SHIPPED
from playground.models import borrowed
from playground.samples import named
from playground.serving import models, own_models


@cache
def sample_digest(name: str) -> str:
    return sha256(named(name).path.read_bytes()).hexdigest()[:16]


def model_digest(name: str) -> str:
    if name in SHIPPED:
        return _file_digest(SHIPPED[name], SHIPPED[name].stat().st_mtime_ns)
    if name in borrowed.GROUPS and borrowed.is_here(name):
        return borrowed.DINOV2.sha256[:16] if name == models.REAL else name
    if own_models.is_own(name):
        return "-".join(_file_digest(*known) for known in own_models.known(name)) or name
    if weights := borrowed.hub_weights(f"timm/{name}"):
        return Path(weights).resolve().name  # the hub's cache calls a file by its digest
    return name


@cache
def _file_digest(file: Path, changed: int) -> str:
    with open(file, "rb") as opened:
        digest = sha256()
        while part := opened.read(2**20):
            digest.update(part)
    return digest.hexdigest()[:16]
