"""What a site without a server has in its folder besides scripts: samples with their layers, traced ahead, and the
weights of networks. Each file's name holds a digest of what is in it, so that every cache may keep it, and a new
version of the site never meets an old one's numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from playground.errors import PlaygroundError
from playground.models import engine_file
from playground.models.names import plain_name, suits
from playground.pack import unpack, upper_layer
from playground.samples import Sample, samples
from playground.serving import models, opening, pictures, prepared, routes_samples
from playground.serving.prepared import Ahead, some_layers

MODELS = ("bundled", models.REAL)  # which the browser's engine can compute
FIRST = {models.REAL: (16, 16)}  # of a person's own photograph: a look that comes sooner
MOST_PATCHES = 1600  # a finer grid takes a browser half a minute
ASKED_ABOVE = 4e6  # bytes of weights: a person is asked before more than that is fetched
GOOD_FOR = {"bundled": models.OURS["bundled"], models.REAL: "photographs: learned from 142 million, without labels"}


class Folder:
    """A folder that is written: put() gives a file the name under which it is found."""

    def __init__(self, path: Path):
        self.path = path
        self.names: list[str] = []

    def put(self, name: str, data: bytes) -> str:
        stem, _, kind = name.rpartition(".")
        return self.plain(f"{stem}-{sha256(data).hexdigest()[:12]}.{kind}", data)

    def plain(self, name: str, data: bytes) -> str:
        """One that must be called so."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        self.names.append(name)
        return name


def check(names: Sequence[str]) -> None:
    for name in names:
        if name not in MODELS:
            raise PlaygroundError(
                f"The browser's engine is not given {name!r}: --models takes {', '.join(MODELS)}, or nothing."
            )
        if not models.is_here(name):
            raise PlaygroundError(
                f"{plain_name(name)} is not on this machine; `attention-playground download {name}` fetches it."
            )


def write_weights(folder: Folder, names: Sequence[str]) -> dict[str, dict]:
    """{model: {file, bytes, digest, megabytes, …}}: what the browser needs to know before it fetches one."""
    written = {}
    for name in names:
        data = engine_file.to_engine(models.load(name))
        whose = engine_file.origin(name)
        written[name] = {
            "file": folder.put(f"weights/{name}.bin", data),
            "bytes": len(data),
            "digest": sha256(data).hexdigest()[:16],
            "megabytes": max(1, round(len(data) / 1e6)),
            "asked": len(data) > ASKED_ABOVE,
            "good_for": GOOD_FOR[name],
            "licence": whose.licence,
            "suits": suits(name),
        }
    return written


def cards(names: Sequence[str]) -> dict[str, dict]:
    """{model: …} as shell/workersource.js wants them."""
    described = {}
    for name in names:
        patch, size = models.cut(name)
        native = [side // patch for side in size]
        details = [finer for finer in models.details(name) if math.prod(native) * finer**2 <= MOST_PATCHES]
        more = {"grid": native, "first": FIRST.get(name), "details": details}
        described[name] = engine_file.card(models.load(name)) | more
    return described


def write_samples(folder: Folder) -> dict:
    """The list of samples as the browser reads it; the first is the one that the page opens with."""
    there = samples()
    ready = {ahead: data for ahead in prepared.all_packs() if (data := prepared.whole(ahead)) is not None}
    found = json.loads(routes_samples.listed(there, models.has_real()))
    del found["real"], found["own"]  # the browser knows what it has
    for sample, told in zip(there, found["samples"], strict=True):
        picture = pictures.sample(sample.name)
        width, height = picture.size
        told |= {"picture": folder.put(f"samples/{sample.name}.jpg", picture.jpeg), "width": width, "height": height}
        of_it = {ahead: data for ahead, data in ready.items() if ahead.sample == sample}
        told["prepared"] = {f"{a.model} {a.detail}": _layers(folder, a, data) for a, data in of_it.items()}
    found["samples"] = [told for told in found["samples"] if told["prepared"]]
    return found


def _layers(folder: Folder, ahead: Ahead, data: bytes) -> dict:
    """A file for each layer; and one for the head in which the sample opens, for that is what comes first."""
    header, _ = unpack(data)
    files = [folder.put(f"samples/{ahead.name}-{layer}.pack", some_layers(data, [layer])) for layer in header["held"]]
    view = _opening(ahead.sample, ahead)
    upper = upper_layer(header["layers"])
    layer, head = view or (upper, 0)
    small = some_layers(data, [layer], [head])
    file = folder.put(f"samples/{ahead.name}-{layer}-{head}.pack", small)
    return {"upper": upper, "opening": {"layer": layer, "head": head, "file": file}, "layers": files}


def _opening(sample: Sample, ahead: Ahead) -> tuple[int, int] | None:
    words = opening.view(sample.name, opening.Wish(ahead.model, ahead.detail))
    return (int(words["layer"]), int(words["head"])) if words else None
