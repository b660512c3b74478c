"""The numbers of many pictures on several machines: a scheduler of dask.distributed shares the batches out, and its
workers write them into one Zarr store, where each picture is a region of its own.

A worker that is lost gives nothing away: its batches are computed again by another one, in the same company, so that
their bytes are the same. Workers see the store and the pictures under the same names, and have this package installed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from playground.errors import PlaygroundError

PATIENCE = 20  # seconds for a scheduler to answer


Write = Callable[[Any, Path, list[int]], Iterator[int]]  # zarr_file.write_some


def write_on_cluster(write_some: Write, many: Any, path: Path, left: list[int], address: str) -> Iterator[int]:
    """The numbers of the pictures that are done, as they become so."""
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
    """What a worker does."""
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
