"""The numbers of a figure: what it shows as .npz, .csv or .json, with its grid, its tokens and where it comes from."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from playground.errors import PlaygroundError
from playground.figures import layouts
from playground.figures.command_line import again
from playground.figures.compose import subjects
from playground.figures.drawing.spec import Spec
from playground.figures.drawing.tables import Table
from playground.figures.files import keep
from playground.figures.provenance import facts
from playground.version import __version__

if TYPE_CHECKING:
    from playground.tracing import Trace

NUMBERS = (".npz", ".csv", ".json")


def write(path: str | Path, spec: Spec, seen: Trace | None = None, image: Image.Image | None = None, **others) -> Path:
    path = Path(path)
    if path.suffix.lower() not in NUMBERS:
        raise PlaygroundError(f"Numbers are written as {', '.join(NUMBERS)}; {path} ends in {path.suffix!r}.")
    return keep(path, contents(path.suffix.lower(), spec, seen, image, **others))


def contents(suffix: str, spec: Spec, seen: Trace | None = None, image: Image.Image | None = None, **others) -> bytes:
    """What the file of this kind holds."""
    makers = {".npz": npz, ".csv": as_csv, ".json": as_json}
    return makers[suffix](*collected(suffix, spec, seen, image, **others))


def collected(
    suffix: str, spec: Spec, seen: Trace | None = None, image: Image.Image | None = None, **others
) -> tuple[dict, list[Table]]:
    """(what the figure says of itself, its tables)"""
    layout = layouts.of(spec)
    spec, subject, other = subjects(spec, seen, image, **others)
    made = {"made by": f"Attention Playground {__version__}"}
    if command := again(spec, f"figure{suffix}"):
        made["command"] = command
    shown = layout.shown(spec, subject, other)
    return facts(spec, subject, other) | made, layout.numbers(layout.settled(spec), shown)


# As files -------------------------------------------------------------------------------------------------------------


def as_json(about: dict, tables: list[Table]) -> bytes:
    """Numbers as short as float32 allows."""
    said = {
        "figure": about,
        "tables": [
            {
                **table.about, "grid": table.grid, "tokens": table.tokens,
                "maps": [
                    which | {"values": [float(f"{x:.9g}") for x in row]}
                    for which, row in zip(table.maps, table.values, strict=True)
                ],
            }
            for table in tables
        ],
    }  # fmt: skip
    return (json.dumps(said, ensure_ascii=False) + "\n").encode()


def npz(about: dict, tables: list[Table]) -> bytes:
    """`values` (maps, tokens), `tokens`, `grid`, an array for each key of the maps, and `about` as JSON. A second trace
    has the same names with _2 behind them."""
    arrays = {"about": np.array(json.dumps(about, ensure_ascii=False))}
    for number, table in enumerate(tables, start=1):
        end = "" if number == 1 else f"_{number}"
        arrays[f"values{end}"], arrays[f"tokens{end}"] = table.values, np.array(table.tokens)
        arrays[f"of{end}"] = np.array(json.dumps(table.about, ensure_ascii=False))
        if table.grid:
            arrays[f"grid{end}"] = np.array(table.grid)
        for key in table.maps[0]:
            arrays[f"{key}{end}"] = np.array([which.get(key) for which in table.maps])
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def as_csv(about: dict, tables: list[Table]) -> bytes:
    """A line for each token of each map, beneath lines with # that say where it comes from (pandas: comment="#")."""
    out = io.StringIO()
    for key, value in about.items():
        out.write(f"# {key}: {value}\n")
    for table in tables:
        for label, share in table.about.get("predictions", []):
            out.write(f"# {table.about['model']} predicts {label}: {share}\n")
    keys = list(dict.fromkeys(key for table in tables for which in table.maps for key in which))
    of = ["model", "image"] if tables[0].about else []
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow([*of, *keys, "token", "value"])
    for table in tables:
        for which, row in zip(table.maps, table.values, strict=True):
            start = [*(table.about[key] for key in of), *(which.get(key, "") for key in keys)]
            lines.writerows([*start, token, f"{x:.9g}"] for token, x in zip(table.tokens, row, strict=True))
    return out.getvalue().encode()
