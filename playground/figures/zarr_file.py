"""Writes the numbers of many pictures into a Zarr store with named dimensions, which xarray.open_zarr reads, on one
machine or on several; also converts a store into one NetCDF file.

A picture's numbers are one chunk of each array. `done` is written last: a stopped run continues with the pictures that
are not done. A store of other pictures, another model or other numbers is refused.
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

from playground.errors import PlaygroundError, PlaygroundWarning
from playground.figures.drawing import naming
from playground.version import __version__

FORMAT = 2  # format 1 had a separate layer dimension for each kind of numbers
UNITS = {
    "entropy": "bits", "distance": "patches", "weights": "share", "relevance": "share", "relevance_of": "share",
    "labels": "share",
}  # fmt: skip


def write(many: Any, path: Path, report: type | None = None, dask: str | None = None) -> Path:
    zarr = _zarr()
    if path.suffix not in (".zarr", ".nc"):
        raise PlaygroundError(
            f"The numbers of many pictures are written as .zarr or .nc; {path} ends in {path.suffix!r}."
        )
    if not path.parent.exists():
        raise PlaygroundError(f"{path} can't be written: there is no folder {path.parent}.")
    if path.suffix == ".nc":
        return _as_netcdf(many, path, report, dask)
    store = _opened(zarr, many, path) if path.exists() else _made(zarr, many, path)
    left = np.flatnonzero(~store["done"][:]).tolist()
    bar = report(total=len(many), initial=len(many) - len(left), unit="picture", desc="numbers") if report else None
    alone = dask is None
    written = write_some(many, path, left) if alone else write_on_cluster(write_some, many, path, left, dask)
    for _ in written:
        if bar is not None:
            bar.update(1)
    if bar is not None:
        bar.close()
    if missing := [many.names[number] for number in np.flatnonzero(~store["done"][:])]:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        warnings.warn(
            f"{path} lacks the numbers of {len(missing)} of {len(many)} pictures, which can't be read or give none: "
            f"{', '.join(missing[:3])}{more}. Where they are mended, the same run into {path} fills them in.",
            PlaygroundWarning,
            stacklevel=3,
        )
    return path


def write_some(many: Any, path: Path, which: list[int]) -> Iterator[int]:
    """Writes pictures into an existing store. Each picture is a region of its own, so other workers may write theirs at
    the same time."""
    store = _zarr().open_group(path, mode="r+")
    for found in many.some(which, unreadable=True):
        for kind, array in found.arrays.items():
            for place, numbers in _places(many, kind, array):
                store[kind][(found.number, *place)] = numbers
        store["done"][found.number] = True
        yield found.number


def _places(many: Any, kind: str, array: np.ndarray) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """(index among the store's layers, numbers) of an array; in one piece if the kind has all of the store's layers."""
    if many.wanted[kind] in ((), tuple(many.layers)):
        yield (), array
        return
    for layer, numbers in zip(many.wanted[kind], array, strict=True):
        yield (many.layers.index(layer),), numbers


def _zarr() -> Any:
    try:
        import zarr
    except ImportError:
        raise PlaygroundError(
            "Zarr stores need one package more: pip install 'attention-playground[many]', or zarr and xarray."
        ) from None
    return zarr


def _as_netcdf(many: Any, path: Path, report: type | None, dask: str | None) -> Path:
    """Writes a store beside the file and converts it when it is complete, because a half-written file is damaged."""

    netcdf()  # reports a missing package before an hour of work
    if path.exists():
        raise PlaygroundError(f"{path} is there already: choose another name, or remove it.")
    store = path.with_suffix(".zarr")
    if store.exists() and not _is_of(_zarr().open_group(store, mode="r"), many):
        store = path.with_name(f"{path.name}.zarr")
    was_there = store.exists()
    write(many, store, report, dask)
    made = _zarr().open_group(store, mode="r")
    convert(made, path)
    if not was_there and made["done"][:].all():  # else the pictures that are mended are filled in there
        shutil.rmtree(store)
    return path


def _asked(many: Any) -> str:
    """A text in which two runs must agree to be continued as one."""
    said = {
        "model": many.vit.name, "weights": naming.hash_of_weights(many.vit), "size": many.size,
        "config": dataclasses.asdict(many.vit.config), "pictures": many.names,
        "what": {kind: list(layers) for kind, layers in many.wanted.items()}, **many.identity(),
    }  # fmt: skip
    return json.dumps(said, sort_keys=True)


def _made(zarr, many: Any, path: Path):
    """Makes the store under a temporary name and renames it at the end, because a half-made store could not be told
    from a foreign one."""
    fresh = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        with warnings.catch_warnings():
            # about consolidated metadata, which xarray reads although Zarr's format 3 does not specify it yet
            warnings.simplefilter("ignore")
            _describe(zarr.open_group(fresh, mode="w"), many)
            zarr.consolidate_metadata(fresh)
        fresh.rename(path)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return zarr.open_group(path, mode="r+")


def _describe(store, many: Any) -> None:
    c, (rows, columns) = many.vit.config, many.grid
    for kind, shape in many.shapes().items():
        chunk = shape
        if (layers := list(many.wanted[kind])) not in (
            [],
            many.layers,
        ):  # each layer apart: what is not there takes none
            shape, chunk = (len(many.layers), *shape[1:]), (1, *shape[1:])
        array = store.create_array(
            kind, shape=(len(many), *shape), chunks=(1, *chunk), dtype="float32", fill_value=np.nan,
            dimension_names=["image", *many.dimensions[kind]],
        )  # fmt: skip
        array.attrs.update({"units": UNITS[kind]} if kind in UNITS else {})
        array.attrs.update(naming.trust_of_many(many.vit, many.method) if kind.startswith("relevance") else {})
        array.attrs.update({"layers": layers} if layers else {})
    names = store.create_array("image", shape=(len(many),), dtype=str, dimension_names=["image"])
    names[:] = np.array(many.names, dtype=object)
    for name, (dimension, values) in many.coordinates().items():
        _coordinate(store, name, np.array(values), dimension)
    store.create_array("done", shape=(len(many),), chunks=(1,), dtype="bool", dimension_names=["image"])
    store.attrs.update(
        {
            "asked": _asked(many), "format": FORMAT, "made_by": f"Attention Playground {__version__}",
            "model": many.vit.name, "prefix": list(c.prefix), "grid": [rows, columns],
            **({"assumed": said} if (said := ", ".join(one.value for one in many.vit.assumed)) else {}),
            "cut": "each picture around its middle, to the aspect of the size",
            "coordinates": "token_row token_column query_row query_column",
        }
    )  # fmt: skip


def _coordinate(store, name: str, values: np.ndarray, dimension: str) -> None:
    kind = str if values.dtype.kind == "U" else values.dtype.name
    array = store.create_array(name, shape=values.shape, dtype=kind, dimension_names=[dimension])
    array[:] = values.astype(object) if kind is str else values


def _is_of(store, many: Any) -> bool:
    return store.attrs.get("asked") == _asked(many) and store.attrs.get("format") == FORMAT


def _opened(zarr, many: Any, path: Path):
    store = zarr.open_group(path, mode="r+")
    if "asked" in store.attrs and store.attrs.get("format") != FORMAT:
        raise PlaygroundError(
            f"{path} was written by an earlier version, which called its dimensions otherwise: it can still be read, "
            "but goes on under another name alone."
        )
    if not _is_of(store, many):
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
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with netcdf().File(part, "w") as file:
            file.attrs.update({key: _attribute(value) for key, value in store.attrs.items()})
            for name, array in sorted(store.arrays()):
                dimensions = array.metadata.dimension_names
                for dimension, length in zip(dimensions, array.shape, strict=True):
                    if dimension not in file.dimensions:
                        file.dimensions[dimension] = length
                if array.ndim == 1:
                    _list(file, name, array)
                else:
                    _numbers(file, name, array, store["layer"][:] if "layer" in dimensions else None)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _list(file: Any, name: str, array: Any) -> None:
    """Writes the coordinates of a dimension, such as the names of the pictures."""
    values = array[:]
    if values.dtype.kind in "TOU":
        import h5py

        kind, values = h5py.string_dtype(), values.astype(object)
    else:
        kind = "i1" if values.dtype == bool else values.dtype
    file.create_variable(name, array.metadata.dimension_names, kind)[...] = values


def _numbers(file: Any, name: str, array: Any, layers: np.ndarray | None) -> None:
    """Writes an array in the store's chunks: so one picture can be read by itself, and layers without these numbers
    take no room."""
    dimensions = array.metadata.dimension_names
    nothing = array.dtype.type("nan")
    copy = file.create_variable(name, dimensions, array.dtype, chunks=array.chunks, fillvalue=nothing)
    copy.attrs.update({key: _attribute(value) for key, value in array.attrs.items()})
    apart = layers is not None and array.chunks[1] < len(layers)
    there = np.isin(layers, array.attrs["layers"]).nonzero()[0].tolist() if apart else [slice(None)]
    for picture in range(array.shape[0]):
        for part in there:
            copy[picture, part] = array[picture, part]


def _attribute(value: Any) -> Any:
    return value if isinstance(value, str | int | float) else json.dumps(value)


# The numbers of many pictures on several machines: a scheduler of dask.distributed shares the batches out, and its
# workers write them into one Zarr store, where each picture is a region of its own.
#
# If a worker is lost, another one computes its batches again with the same pictures in them, so that the bytes are the
# same. Workers must see the store and the pictures under the same names, and have this package installed.

PATIENCE = 20  # seconds for a scheduler to answer


Write = Callable[[Any, Path, list[int]], Iterator[int]]  # zarr_file.write_some


def write_on_cluster(write_some: Write, many: Any, path: Path, left: list[int], address: str) -> Iterator[int]:
    """Yields the indices of pictures as they are done."""
    distributed = _distributed()
    where = many.vit.patch_embed.proj.weight.device.type
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise PlaygroundError(f"No scheduler of dask answers at {address} ({error}).") from None
    with client:
        if not client.scheduler_info()["workers"]:
            raise PlaygroundError(f"The scheduler at {address} has no workers yet: start some, then ask again.")
        held = client.scatter(dataclasses.replace(many, vit=many.vit.cpu()), broadcast=True, hash=False)
        wanted = set(left)
        parts = [[number for number in part if number in wanted] for part in many.batches()]
        asked = [
            client.submit(_of_part, write_some, held, path.resolve(), part, where, pure=False) for part in parts if part
        ]
        try:
            for _, written in distributed.as_completed(asked, loop=client.loop, with_results=True):
                yield from written
        except PlaygroundError:
            raise
        except Exception as error:  # dask has exceptions of its own for each way to lose work
            raise PlaygroundError(f"The workers at {address} could not go on: {error}") from None
        finally:
            client.cancel(asked)


def _of_part(write_some: Write, many: Any, path: Path, part: list[int], device: str) -> list[int]:
    """Computes and writes one part on a worker."""
    many.vit.to(device)
    return list(write_some(many, path, part))


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise PlaygroundError(
            "A cluster needs one package more: pip install 'attention-playground[cluster]', or distributed."
        ) from None
    return distributed
