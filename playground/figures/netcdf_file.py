"""A Zarr store of many pictures' numbers as one NetCDF file, with the same names, dimensions and attributes: for whom
reads NetCDF. xarray.open_dataset(FILE, engine="h5netcdf") does."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

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
                number = "i1" if array.dtype == bool else array.dtype
                # the same chunks as in the store: a picture is read without its neighbours
                copy = file.create_variable(name, dimensions, number, chunks=array.chunks)
                copy.attrs.update({key: _attribute(value) for key, value in array.attrs.items()})
                if dimensions[0] != "image":
                    copy[...] = array[:]
                    continue
                for picture in range(array.shape[0]):
                    copy[picture] = array[picture]
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _attribute(value: Any) -> Any:
    return value if isinstance(value, str | int | float) else json.dumps(value)
