"""Writes the files of a site without a server, except for scripts: samples with layers that are traced ahead, lessons
that are played ahead, and weights. Each file's name holds a digest of its content, so that every cache may keep it, and
versions never mix."""

from __future__ import annotations

import gzip
import json
import math
import re
from base64 import b64decode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from playground.assets import PROGRAM
from playground.errors import PlaygroundError
from playground.lessons.lesson import Lesson, Step, Subject, TextSetting
from playground.lessons.parts import plain_parts
from playground.models import engine_file
from playground.models.names import plain_name, training_pictures
from playground.pack import unpack, upper_layer
from playground.samples import samples, start_patch
from playground.serving import chosen, models, pictures, prepared, routes_samples, routes_traces, traces
from playground.serving.prepared import SamplePack, some_layers

if TYPE_CHECKING:
    from playground.tracing import Trace

MODELS = ("bundled", models.PHOTOGRAPH_MODEL)  # models that the browser's engine can run
# model -> coarser grid in which a visitor's photograph is shown first
FIRST_GRIDS = {models.PHOTOGRAPH_MODEL: (16, 16)}
MOST_PATCHES = 1600  # a browser needs half a minute for a finer grid
ASK_ABOVE_BYTES = 4e6  # bytes of weights above which the page asks the person before a download
WEIGHTS = "weights/"  # the folder of weights, which the page caches, not the service worker
GOOD_FOR = {
    "bundled": models.OUR_MODELS["bundled"],
    models.PHOTOGRAPH_MODEL: "photographs: learned from 142 million, without labels",
}


class Folder:
    """The folder of the site. put() stores a file under a name with its digest and returns that name."""

    def __init__(self, path: Path):
        self.path = path
        self.names: list[str] = []

    def put(self, name: str, data: bytes) -> str:
        stem, _, kind = name.rpartition(".")
        return self.put_plain(f"{stem}-{sha256(data).hexdigest()[:12]}.{kind}", data)

    def put_packed(self, stem: str, data: bytes) -> str:
        """Stores a file gzipped, because some hosts compress nothing; the page unzips the file."""
        return self.put(f"{stem}.packed", gzip.compress(data, 9, mtime=0))

    def put_plain(self, name: str, data: bytes) -> str:
        """Stores a file under exactly this name."""
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
            raise PlaygroundError(f"{plain_name(name)} is not on this machine; `{PROGRAM} download {name}` fetches it.")


class FileStore(Protocol):
    def put(self, name: str, data: bytes) -> str: ...


def write_weights(folder: FileStore, names: Sequence[str]) -> dict[str, dict]:
    """Writes the weights. Returns {model: {file, bytes, digest, megabytes, …}}, which the browser reads first."""
    entries = {}
    for name in names:
        data = engine_file.to_engine(models.load(name))
        entries[name] = {
            "file": folder.put(f"{WEIGHTS}{name}.bin", data),
            "bytes": len(data),
            "digest": sha256(data).hexdigest()[:16],
            "megabytes": max(1, round(len(data) / 1e6)),
            "asked": len(data) > ASK_ABOVE_BYTES,
            "good_for": GOOD_FOR[name],
            "licence": engine_file.origin(name)["licence"],
            "suits": training_pictures(name),
        }
    return entries


def cards(names: Sequence[str]) -> dict[str, dict]:
    """The record of each model, in the form that shell/workersource.js reads."""
    records = {}
    for name in names:
        patch_side, input_size = models.patch_and_input(name)
        native_grid = [side // patch_side for side in input_size]
        details = [detail for detail in models.details(name) if math.prod(native_grid) * detail**2 <= MOST_PATCHES]
        c = models.load(name).config
        records[name] = {
            "title": plain_name(name), "patch": c.patch_size, "layers": c.depth, "heads": c.heads,
            "head_dim": c.width // c.heads, "prefix": c.prefix, "labels": c.labels, "multi_label": c.multi_label,
            "grid": native_grid, "first": FIRST_GRIDS.get(name), "details": details,
        }  # fmt: skip
    return records


def write_samples(folder: Folder, named_samples: Collection[str] | None) -> dict:
    """Writes the samples and returns their list for the browser; the page opens with the first. `named_samples`: the
    samples for which the names of heads are written; None means all samples."""
    shipped_samples = samples()
    listing = json.loads(routes_samples.sample_list_json(shipped_samples, models.has_photographs()))
    del listing["real"], listing["own"]  # the browser adds these two fields itself
    records = dict(zip(shipped_samples, listing["samples"], strict=True))
    for sample, record in records.items():
        picture = pictures.sample(sample.name)
        record["picture"] = folder.put(f"samples/{sample.name}.jpg", picture.jpeg)
        record["width"], record["height"] = picture.size
        record["prepared"] = {}
    for sample_pack in prepared.all_packs():
        if (data := prepared.all_layers(sample_pack)) is not None:
            wants_names = named_samples is None or sample_pack.sample.name in named_samples
            layers = _write_layers(folder, sample_pack, data, wants_names)
            records[sample_pack.sample]["prepared"][f"{sample_pack.model} {sample_pack.detail}"] = layers
    listing["samples"] = [record for record in listing["samples"] if record["prepared"]]
    return listing


def _write_layers(folder: Folder, sample_pack: SamplePack, data: bytes, wants_names: bool) -> dict:
    """Writes a file for each layer, one for the head that the page shows first, and one for the names of all heads.
    Returns the files' record."""
    header, _ = unpack(data)
    layers, upper, name = header["held"], upper_layer(header["layers"]), sample_pack.name
    view = chosen.opening_view(sample_pack.sample.name, chosen.Setup(sample_pack.model, sample_pack.detail))
    layer, head = int(view.get("layer", upper)), int(view.get("head", 0))
    opening_pack = folder.put(f"samples/{name}-{layer}-{head}.pack", some_layers(data, [layer], [head]))
    return {
        "upper": upper,
        "opening": {"layer": layer, "head": head, "file": opening_pack},
        "layers": [folder.put(f"samples/{name}-{n}.pack", some_layers(data, [n])) for n in layers],
        "inside": _write_inside(folder, sample_pack, data, layer, head) if wants_names else None,
        "names": folder.put(f"samples/{name}-names.json", _names_of_heads(sample_pack, data)) if wants_names else None,
    }


def _write_inside(folder: Folder, sample_pack: SamplePack, data: bytes, layer: int, head: int) -> dict | None:
    """The opening patch's way through the opening head, for the story."""
    seen = _passed(sample_pack, data)
    query = start_patch(sample_pack.sample.name, seen.grid)
    numbers = routes_traces.inside_bytes(seen, layer, head, query)
    file = folder.put(f"samples/{sample_pack.name}-inside.pack", numbers)
    return {"layer": layer, "head": head, "query": "{},{}".format(*query), "file": file}


def _passed(sample_pack: SamplePack, data: bytes) -> Trace:
    from playground.tracing import trace

    size = tuple(unpack(data)[0]["size"])
    return trace(models.load(sample_pack.model), pictures.sample(sample_pack.sample.name).image, size=size)


def _names_of_heads(sample_pack: SamplePack, data: bytes) -> bytes:
    """The names of all heads by their habits on this picture, of a pass: a pack has no pixels and no values."""
    seen = _passed(sample_pack, data)
    names = [traces.names_of_heads(seen, layer) for layer in range(seen.layers)]
    return json.dumps(names, ensure_ascii=False).encode()


def opening_file(record: dict) -> str:
    """The file of a sample's opening head, from its record in the list."""
    return record["prepared"][f"{record['opens']['model']} {record['opens']['detail']}"]["opening"]["file"]


def write_offline_list(folder: Folder, first_files: list[str]) -> dict:
    """The list for shell/site.js: all files written so far, and which are needed first."""
    sizes = {name: (folder.path / name).stat().st_size for name in folder.names}
    weights = sum(size for name, size in sizes.items() if name.startswith(WEIGHTS))
    files = {name: size for name, size in sizes.items() if not name.startswith(WEIGHTS)}
    index_file = folder.put("offline.json", json.dumps(files).encode())
    return {"soon": first_files, "all": index_file, "bytes": sum(files.values()) + weights}


# A lesson is played ahead: its steps' parts for one picture and for each setting are written to files, so that no
# Python is needed to show them.

# an embedded picture; steps may share its file
EMBEDDED_PICTURE = re.compile(r'"data:image/(\w+);base64,([^"]{2000,})"')


def lesson_record(lesson: Lesson, place_of: Callable[[str], str]) -> dict:
    """The lesson's settings and steps, as shell/lessonpage.js reads them. `place_of` gives the place of a step's
    parts."""
    return {
        "settings": settings_of(lesson),
        "steps": [
            {
                **{"name": name, "title": step.title, "picture": step.picture},
                **{"settings": step.settings, "file": place_of(name)},
            }
            for name, step in lesson.steps.items()
        ],
    }


def settings_of(lesson: Lesson) -> dict[str, dict]:
    return {
        name: {
            "default": str(setting.default),
            "options": [[str(value), value] for value in setting.options],
            "pattern": setting.pattern if isinstance(setting, TextSetting) else "",
        }
        for name, setting in lesson.choices.items()
    }


def write_step(folder: Folder, lesson: Lesson, name: str, subject: Subject) -> str:
    def keep(data: bytes) -> str:
        return folder.put(f"lessons/{lesson.name}-{name}.bin", data)

    def address(picture: re.Match) -> str:
        return f'"{folder.put(f"lessons/picture.{picture[1]}", b64decode(picture[2]))}"'

    parts = json.dumps(played_ahead(lesson, lesson.steps[name], subject, keep), ensure_ascii=False)
    return folder.put_packed(f"lessons/{lesson.name}-{name}", EMBEDDED_PICTURE.sub(address, parts).encode())


def played(
    lesson: Lesson, step: Step, subject: Subject, keep: Callable[[bytes], object], **state: object
) -> list[dict]:
    """The step's parts as data, with these settings. `keep` stores a drawing's bytes and returns their place."""
    return plain_parts(step.parts(subject, lesson.defaults(**state)), keep)


def played_ahead(lesson: Lesson, step: Step, subject: Subject, keep: Callable[[bytes], object]) -> list[dict]:
    """The step's parts as data. A part that depends on settings becomes {kind: "each", by: the settings' names, of:
    {values: part}}; data that are equal for all values stand in `same`."""
    options = {name: lesson.choices[name].played for name in step.settings if lesson.choices[name].played}

    @cache
    def play(*values: object) -> list[dict]:
        state = dict(zip(options, values, strict=True))
        return _with_played_options(options, played(lesson, step, subject, keep, **state))

    def versions_of(names: Collection[str], part: int) -> dict[tuple, dict]:
        """A part for all values of these settings, while the others have their defaults."""
        choices = [options[name] if name in names else (lesson.choices[name].default,) for name in options]
        return {values: play(*values)[part] for values in product(*choices)}

    parts = list(play(*(lesson.choices[name].default for name in options)))
    for n, part in enumerate(parts):
        names = [name for name in options if any(one != part for one in versions_of([name], n).values())]
        if names:
            versions = {
                " | ".join(str(v) for name, v in zip(options, values, strict=True) if name in names): version
                for values, version in versions_of(names, n).items()
            }
            timing = {"after": part["after"]} if "after" in part else {}
            parts[n] = {"kind": "each", "by": names} | _with_shared_data(versions) | timing
    return parts


def _with_shared_data(parts: dict[str, dict]) -> dict:
    """Stores data that are equal in all versions of a drawing only once."""
    first_part, *other_parts = parts.values()
    if "data" not in first_part:
        return {"of": parts}
    same_data = {
        name: value
        for name, value in first_part["data"].items()
        if all(part["data"][name] == value for part in other_parts)
    }
    different_parts = {
        key: part | {"data": {name: value for name, value in part["data"].items() if name not in same_data}}
        for key, part in parts.items()
    }
    return {"of": different_parts, "same": same_data}


def _with_played_options(played_values: Mapping[str, Collection], parts: list[dict]) -> list[dict]:
    """The parts, with only those options of a choice that are played ahead."""
    for part in _with_nested_parts(parts):
        if part["kind"] in ("choice", "slider", "pick"):
            values = {str(value) for value in played_values[part["setting"]]}
            part["options"] = [option for option in part["options"] if option[0] in values]
    return parts


def _with_nested_parts(parts: Iterable[dict]) -> Iterator[dict]:
    for part in parts:
        yield part
        yield from _with_nested_parts(part.get("parts", ()))
