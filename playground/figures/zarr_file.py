"""The numbers of many pictures in a Zarr store, with named dimensions: xarray.open_zarr reads it.

A picture's numbers are one chunk of each array. `done` is written last: a run that was stopped goes on with the
pictures that are not done, and a store of other pictures, another model or other questions is refused.
"""

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

from playground.analysis import fingerprints
from playground.errors import PlaygroundError, PlaygroundWarning
from playground.version import __version__

FORMAT = 2  # the first had dimensions of its own for each kind's layers
UNITS = {"entropy": "bits", "distance": "patches", "weights": "share", "relevance": "share"}


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
    if dask is None:
        written = write_some(many, path, left)
    else:
        from playground.figures.on_cluster import write_on_cluster

        written = write_on_cluster(write_some, many, path, left, dask)
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
    """Into a store that is there. Each picture is a region of its own: others may write theirs meanwhile."""
    store = _zarr().open_group(path, mode="r+")
    for found in many.some(which, unreadable=True):
        for kind, array in found.arrays.items():
            for place, numbers in _places(many, kind, array):
                store[kind][(found.number, *place)] = numbers
        store["done"][found.number] = True
        yield found.number


def _places(many: Any, kind: str, array: np.ndarray) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """(where among the store's layers, the numbers): all at once, where the kind has all of its layers."""
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
    """A file that was stopped in the middle would be damaged: it is made of a store beside it, once that is whole."""
    from playground.figures.netcdf_file import convert, netcdf

    netcdf()  # a missing package is told before an hour of work
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
    """What makes two runs the same."""
    said = {
        "model": many.vit.name, "weights": fingerprints.of_weights(many.vit), "size": many.size,
        "config": dataclasses.asdict(many.vit.config), "pictures": many.names,
        "what": {kind: list(layers) for kind, layers in many.wanted.items()},
    }  # fmt: skip
    return json.dumps(said, sort_keys=True)


def _made(zarr, many: Any, path: Path):
    """Makes the store under a temporary name and renames it at the end: a store that was only half made could not be
    told from somebody else's."""
    fresh = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        with warnings.catch_warnings():
            # of consolidated metadata, which xarray looks for and Zarr's third format does not speak of yet
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
        array.attrs.update({"layers": layers} if layers else {})
    if many.layers:
        _coordinate(store, "layer", np.array(many.layers))
    names = store.create_array("image", shape=(len(many),), dtype=str, dimension_names=["image"])
    names[:] = np.array(many.names, dtype=object)
    places = [(-1, -1)] * len(c.prefix) + [(row, column) for row in range(rows) for column in range(columns)]
    for name, numbers in (("token_row", [p[0] for p in places]), ("token_column", [p[1] for p in places])):
        _coordinate(store, name, np.array(numbers), "token")
        _coordinate(store, name.replace("token", "query"), np.array(numbers), "query")
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


def _coordinate(store, name: str, numbers: np.ndarray, dimension: str | None = None) -> None:
    if name not in store:
        array = store.create_array(name, shape=numbers.shape, dtype="int64", dimension_names=[dimension or name])
        array[:] = numbers


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
