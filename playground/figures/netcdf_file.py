"""A Zarr store of many pictures' numbers as one NetCDF file, with the same names, dimensions and attributes: for whom
reads NetCDF. xarray.open_dataset(FILE, engine="h5netcdf") does."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from playground.errors import PlaygroundError


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
    """One picture at a time. The file has its name when it is whole."""
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
    """Of a dimension: its places, or the names of the pictures."""
    values = array[:]
    if values.dtype.kind in "TOU":
        import h5py

        kind, values = h5py.string_dtype(), values.astype(object)
    else:
        kind = "i1" if values.dtype == bool else values.dtype
    file.create_variable(name, array.metadata.dimension_names, kind)[...] = values


def _numbers(file: Any, name: str, array: Any, layers: np.ndarray | None) -> None:
    """In the same chunks as in the store: a picture is read without its neighbours, and a layer that these numbers were
    not asked of takes no room."""
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
