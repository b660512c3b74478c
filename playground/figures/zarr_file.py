"""Writes the numbers of many pictures into a Zarr store with named dimensions. A picture is one chunk of each array;
its entry in the array `done` is written last, so that a stopped run continues."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from playground.errors import PlaygroundError, needed, warn
from playground.figures.drawing import naming
from playground.version import __version__

UNITS = {"entropy": "bits", "distance": "patches", "weights": "share", "labels": "share"}


def write(job: Any, path: Path, report: type | None = None) -> Path:
    zarr = package("zarr")
    if path.suffix != ".zarr":
        raise PlaygroundError(f"The numbers of many pictures are written as .zarr; {path} ends in {path.suffix!r}.")
    if not path.parent.exists():
        raise PlaygroundError(f"{path} can't be written: there is no folder {path.parent}.")
    store = zarr.open_group(path, mode="r+") if path.exists() else _new_store(zarr, job, path)
    if store.attrs.get("asked") != _identity(job):
        raise PlaygroundError(
            f"{path} holds the numbers of other pictures, another model or other questions: choose another name."
        )
    missing = np.flatnonzero(~store["done"][:]).tolist()
    pictures = job.numbers_of(missing, skip_unreadable=True)
    if report:
        pictures = report(pictures, total=len(job), initial=len(job) - len(missing), unit="picture", desc="numbers")
    for picture in pictures:
        for kind, array in picture.arrays.items():
            for place, numbers in _regions(job, kind, array):
                store[kind][(picture.number, *place)] = numbers
        store["done"][picture.number] = True
    if names := [job.names[number] for number in np.flatnonzero(~store["done"][:])]:
        rest_words = f" and {len(names) - 3} more" if len(names) > 3 else ""
        warn(
            f"{path} lacks the numbers of {len(names)} of {len(job)} pictures, which can't be read or give none: "
            f"{', '.join(names[:3])}{rest_words}. Where they are mended, the same run fills them in."
        )
    return path


def _regions(job: Any, kind: str, array: np.ndarray) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """Yields (index in the store, numbers): the whole array, or its layers one by one if the store has more layers."""
    if job.wanted[kind] in ((), tuple(job.layers)):
        yield (), array
        return
    for layer, numbers in zip(job.wanted[kind], array, strict=True):
        yield (job.layers.index(layer),), numbers


def package(name: str) -> Any:
    return needed(name, "attention-playground[many]")


def _identity(job: Any) -> str:
    """A text that must be equal for a run to continue another run's store."""
    identity = {
        "model": job.vit.name, "weights": naming.hash_of_weights(job.vit), "size": job.size,
        "config": dataclasses.asdict(job.vit.config), "pictures": job.names,
        "what": {kind: list(layers) for kind, layers in job.wanted.items()}, **job.identity(),
    }  # fmt: skip
    return json.dumps(identity, sort_keys=True)


def _new_store(zarr: Any, job: Any, path: Path) -> Any:
    """Makes the store under a temporary name, because a half-made store would be refused as another run's."""
    temporary_path = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        with warnings.catch_warnings():
            # hides a warning: xarray reads consolidated metadata, which Zarr's format 3 does not specify yet
            warnings.simplefilter("ignore")
            _make_arrays(zarr.open_group(temporary_path, mode="w"), job)
            zarr.consolidate_metadata(temporary_path)
        temporary_path.rename(path)
    finally:
        shutil.rmtree(temporary_path, ignore_errors=True)
    return zarr.open_group(path, mode="r+")


def _make_arrays(store: Any, job: Any) -> None:
    config, (rows, columns) = job.vit.config, job.grid
    for kind, shape in job.shapes().items():
        chunk = shape
        # one chunk per layer, so that layers without numbers take no room
        if (layers := list(job.wanted[kind])) not in ([], job.layers):
            shape, chunk = (len(job.layers), *shape[1:]), (1, *shape[1:])
        array = store.create_array(
            kind, shape=(len(job), *shape), chunks=(1, *chunk), dtype="float32", fill_value=np.nan,
            dimension_names=["image", *job.dimensions[kind]],
        )  # fmt: skip
        array.attrs.update({"units": UNITS[kind]} if kind in UNITS else {})
        array.attrs.update({"layers": layers} if layers else {})
    for name, (dimension, values) in {"image": ("image", job.names), **job.coordinates()}.items():
        numbers = np.array(values)
        dtype: Any = str if numbers.dtype.kind == "U" else numbers.dtype.name
        array = store.create_array(name, shape=numbers.shape, dtype=dtype, dimension_names=[dimension])
        array[:] = numbers.astype(object) if dtype is str else numbers
    store.create_array("done", shape=(len(job),), chunks=(1,), dtype="bool", dimension_names=["image"])
    store.attrs.update(
        {
            "asked": _identity(job), "made_by": f"Attention Playground {__version__}",
            "model": job.vit.name, "prefix": list(config.prefix), "grid": [rows, columns],
            **({"assumed": assumed} if (assumed := ", ".join(entry.value for entry in job.vit.assumed)) else {}),
            "cut": "each picture around its middle, to the aspect of the size",
            "coordinates": "token_row token_column query_row query_column",
        }
    )  # fmt: skip
