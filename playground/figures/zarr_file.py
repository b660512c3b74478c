"""Writes the numbers of many pictures into a Zarr store with named dimensions, which xarray.open_zarr reads, on one
machine or on several; also converts a store into one NetCDF file.

A picture's numbers are one chunk of each array. Its entry in the array `done` is written last, so that a stopped run
continues with the pictures that are not done. A store of other pictures, another model or other numbers is refused.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from playground.errors import PlaygroundError, warn
from playground.figures.drawing import naming
from playground.version import __version__

FORMAT = 2  # format 1 had a separate layer dimension for each kind of numbers
UNITS = {
    "entropy": "bits", "distance": "patches", "weights": "share", "relevance": "share", "relevance_of": "share",
    "labels": "share",
}  # fmt: skip


def write(job: Any, path: Path, report: type | None = None, dask: str | None = None) -> Path:
    zarr = _zarr()
    if path.suffix not in (".zarr", ".nc"):
        raise PlaygroundError(
            f"The numbers of many pictures are written as .zarr or .nc; {path} ends in {path.suffix!r}."
        )
    if not path.parent.exists():
        raise PlaygroundError(f"{path} can't be written: there is no folder {path.parent}.")
    if path.suffix == ".nc":
        return _as_netcdf(job, path, report, dask)
    store = _existing_store(zarr, job, path) if path.exists() else _new_store(zarr, job, path)
    missing_pictures = np.flatnonzero(~store["done"][:]).tolist()
    progress_bar = (
        report(total=len(job), initial=len(job) - len(missing_pictures), unit="picture", desc="numbers")
        if report
        else None
    )
    is_local = dask is None
    done_pictures = (
        write_some(job, path, missing_pictures)
        if is_local
        else write_on_cluster(write_some, job, path, missing_pictures, dask)
    )
    for _ in done_pictures:
        if progress_bar is not None:
            progress_bar.update(1)
    if progress_bar is not None:
        progress_bar.close()
    if names := [job.names[number] for number in np.flatnonzero(~store["done"][:])]:
        rest_words = f" and {len(names) - 3} more" if len(names) > 3 else ""
        warn(
            f"{path} lacks the numbers of {len(names)} of {len(job)} pictures, which can't be read or give none: "
            f"{', '.join(names[:3])}{rest_words}. Where they are mended, the same run into {path} fills them in."
        )
    return path


def write_some(job: Any, path: Path, picture_numbers: list[int]) -> Iterator[int]:
    """Writes the numbers of pictures into an existing store, and yields each picture's index when it is done. Pictures
    are separate regions of the store, so several workers may write at the same time."""
    store = _zarr().open_group(path, mode="r+")
    for picture in job.numbers_of(picture_numbers, skip_unreadable=True):
        for kind, array in picture.arrays.items():
            for place, numbers in _regions(job, kind, array):
                store[kind][(picture.number, *place)] = numbers
        store["done"][picture.number] = True
        yield picture.number


def _regions(job: Any, kind: str, array: np.ndarray) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """Yields (index in the store, numbers): the whole array, or its layers one by one if the store has more layers."""
    if job.wanted[kind] in ((), tuple(job.layers)):
        yield (), array
        return
    for layer, numbers in zip(job.wanted[kind], array, strict=True):
        yield (job.layers.index(layer),), numbers


def _zarr() -> Any:
    try:
        import zarr
    except ImportError:
        raise PlaygroundError(
            "Zarr stores need one package more: pip install 'attention-playground[many]', or zarr and xarray."
        ) from None
    return zarr


def _as_netcdf(job: Any, path: Path, report: type | None, dask: str | None) -> Path:
    """Writes a Zarr store beside the file and then converts it, because a half-written NetCDF file is damaged."""

    netcdf()  # reports a missing package before an hour of work
    if path.exists():
        raise PlaygroundError(f"{path} is there already: choose another name, or remove it.")
    store = path.with_suffix(".zarr")
    if store.exists() and not _matches(_zarr().open_group(store, mode="r"), job):
        store = path.with_name(f"{path.name}.zarr")
    had_store = store.exists()
    write(job, store, report, dask)
    finished_store = _zarr().open_group(store, mode="r")
    convert(finished_store, path)
    if not had_store and finished_store["done"][:].all():  # an incomplete store stays, so that a later run completes it
        shutil.rmtree(store)
    return path


def _identity(job: Any) -> str:
    """A text that must be equal for a run to continue another run's store."""
    identity = {
        "model": job.vit.name, "weights": naming.hash_of_weights(job.vit), "size": job.size,
        "config": dataclasses.asdict(job.vit.config), "pictures": job.names,
        "what": {kind: list(layers) for kind, layers in job.wanted.items()}, **job.identity(),
    }  # fmt: skip
    return json.dumps(identity, sort_keys=True)


def _new_store(zarr, job: Any, path: Path):
    """Makes the store under a temporary name and renames it at the end, because a half-made store would be
    refused as another run's."""
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


def _make_arrays(store, job: Any) -> None:
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
        array.attrs.update(naming.trust_of_many(job.vit, job.method) if kind.startswith("relevance") else {})
        array.attrs.update({"layers": layers} if layers else {})
    image_names = store.create_array("image", shape=(len(job),), dtype=str, dimension_names=["image"])
    image_names[:] = np.array(job.names, dtype=object)
    for name, (dimension, values) in job.coordinates().items():
        _coordinate(store, name, np.array(values), dimension)
    store.create_array("done", shape=(len(job),), chunks=(1,), dtype="bool", dimension_names=["image"])
    store.attrs.update(
        {
            "asked": _identity(job), "format": FORMAT, "made_by": f"Attention Playground {__version__}",
            "model": job.vit.name, "prefix": list(config.prefix), "grid": [rows, columns],
            **({"assumed": assumed} if (assumed := ", ".join(entry.value for entry in job.vit.assumed)) else {}),
            "cut": "each picture around its middle, to the aspect of the size",
            "coordinates": "token_row token_column query_row query_column",
        }
    )  # fmt: skip


def _coordinate(store, name: str, values: np.ndarray, dimension: str) -> None:
    kind = str if values.dtype.kind == "U" else values.dtype.name
    array = store.create_array(name, shape=values.shape, dtype=kind, dimension_names=[dimension])
    array[:] = values.astype(object) if kind is str else values


def _matches(store, job: Any) -> bool:
    return store.attrs.get("asked") == _identity(job) and store.attrs.get("format") == FORMAT


def _existing_store(zarr, job: Any, path: Path):
    store = zarr.open_group(path, mode="r+")
    if "asked" in store.attrs and store.attrs.get("format") != FORMAT:
        raise PlaygroundError(
            f"{path} was written by an earlier version, which called its dimensions otherwise: it can still be read, "
            "but goes on under another name alone."
        )
    if not _matches(store, job):
        raise PlaygroundError(
            f"{path} holds the numbers of other pictures, another model or other questions: choose another name."
        )
    return store


# Converts a Zarr store into one NetCDF file with the same names, dimensions and attributes, which
# xarray.open_dataset(FILE, engine="h5netcdf") reads.


def netcdf() -> Any:
    try:
        import h5netcdf
    except ImportError:
        raise PlaygroundError(
            "NetCDF files need one package more: pip install 'attention-playground[many]', or h5netcdf; a .zarr store "
            "needs zarr alone."
        ) from None
    return h5netcdf


def convert(store: Any, path: Path) -> None:
    """Converts one picture at a time. The file gets its final name when it is complete."""
    temporary_file = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with netcdf().File(temporary_file, "w") as file:
            file.attrs.update({key: _attribute(value) for key, value in store.attrs.items()})
            for name, array in sorted(store.arrays()):
                dimensions = array.metadata.dimension_names
                for dimension, length in zip(dimensions, array.shape, strict=True):
                    if dimension not in file.dimensions:
                        file.dimensions[dimension] = length
                if array.ndim == 1:
                    _write_coordinate(file, name, array)
                else:
                    _write_array(file, name, array, store["layer"][:] if "layer" in dimensions else None)
        temporary_file.replace(path)
    finally:
        temporary_file.unlink(missing_ok=True)


def _write_coordinate(file: Any, name: str, array: Any) -> None:
    """Writes the coordinates of a dimension, such as the names of the pictures."""
    values = array[:]
    if values.dtype.kind in "TOU":
        import h5py

        kind, values = h5py.string_dtype(), values.astype(object)
    else:
        kind = "i1" if values.dtype == bool else values.dtype
    file.create_variable(name, array.metadata.dimension_names, kind)[...] = values


def _write_array(file: Any, name: str, array: Any, layers: np.ndarray | None) -> None:
    """Writes an array in the store's chunks: so one picture can be read by itself, and layers without these numbers
    take no room."""
    dimensions = array.metadata.dimension_names
    nan = array.dtype.type("nan")
    variable = file.create_variable(name, dimensions, array.dtype, chunks=array.chunks, fillvalue=nan)
    variable.attrs.update({key: _attribute(value) for key, value in array.attrs.items()})
    has_gaps = layers is not None and array.chunks[1] < len(layers)
    layer_indices = np.isin(layers, array.attrs["layers"]).nonzero()[0].tolist() if has_gaps else [slice(None)]
    for picture in range(array.shape[0]):
        for index in layer_indices:
            variable[picture, index] = array[picture, index]


def _attribute(value: Any) -> Any:
    return value if isinstance(value, str | int | float) else json.dumps(value)


# The numbers of many pictures on several machines: a scheduler of dask.distributed shares the batches out, and its
# workers write them into one Zarr store, where each picture is a region of its own.
#
# If a worker is lost, another one computes its batches again with the same pictures in them, so that the bytes are the
# same. Workers must see the store and the pictures under the same names, and have this package installed.

SCHEDULER_TIMEOUT = 20  # seconds for a scheduler to answer


Write = Callable[[Any, Path, list[int]], Iterator[int]]  # (job, path, numbers of pictures) -> numbers that are done


def write_on_cluster(
    write_some: Write, job: Any, path: Path, missing_pictures: list[int], address: str
) -> Iterator[int]:
    """Yields the indices of pictures as they are done."""
    distributed = _distributed()
    device = job.vit.patch_embed.proj.weight.device.type
    try:
        client = distributed.Client(address, timeout=SCHEDULER_TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise PlaygroundError(f"No scheduler of dask answers at {address} ({error}).") from None
    with client:
        if not client.scheduler_info()["workers"]:
            raise PlaygroundError(f"The scheduler at {address} has no workers yet: start some, then ask again.")
        remote_job = client.scatter(dataclasses.replace(job, vit=job.vit.cpu()), broadcast=True, hash=False)
        picture_set = set(missing_pictures)
        batches = [[number for number in batch if number in picture_set] for batch in job.batches()]
        futures = [
            client.submit(_write_batch, write_some, remote_job, path.resolve(), batch, device, pure=False)
            for batch in batches
            if batch
        ]
        try:
            for _, done_pictures in distributed.as_completed(futures, loop=client.loop, with_results=True):
                yield from done_pictures
        except PlaygroundError:
            raise
        except Exception as error:  # dask has exceptions of its own for each way to lose work
            raise PlaygroundError(f"The workers at {address} could not go on: {error}") from None
        finally:
            client.cancel(futures)


def _write_batch(write_some: Write, job: Any, path: Path, picture_numbers: list[int], device: str) -> list[int]:
    """Computes and writes one part on a worker."""
    job.vit.to(device)
    return list(write_some(job, path, picture_numbers))


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise PlaygroundError(
            "A cluster needs one package more: pip install 'attention-playground[cluster]', or distributed."
        ) from None
    return distributed
