"""What a figure is as a file: the drawing, the living page, its numbers, or its caption. The file's ending says which;
the command, Python and the server make the same bytes."""

from __future__ import annotations

import csv
import io
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from playground.errors import PlaygroundError
from playground.figures import html, layouts
from playground.figures.command_line import repeat_command
from playground.figures.compose import draw, subjects
from playground.figures.drawing.sheet import Drawing
from playground.figures.drawing.spec import Spec
from playground.figures.drawing.tables import Table, of_maps
from playground.figures.provenance import facts

if TYPE_CHECKING:
    from playground.tracing import Trace

DRAWN, COUNTED = (".png", ".svg", ".pdf"), (".npz", ".csv", ".json")
KINDS = (*DRAWN, ".html", *COUNTED, ".txt")


def check_kind(path: Path) -> None:
    if path.suffix.lower() not in KINDS:
        raise PlaygroundError(f"A figure is saved as {', '.join(KINDS)}; {path} ends in {path.suffix!r}.")


def data(name: str, spec: Spec, trace: Trace, image: Image.Image | None = None, **draw_arguments: Any) -> bytes:
    """The bytes of the figure's file of this name. `draw_arguments`: those of compose.draw."""
    kind = Path(name).suffix.lower()
    if kind == ".html":
        return html.page(spec, trace, image).encode()
    if kind in DRAWN:
        return drawn(draw(spec, trace, image, **draw_arguments), kind[1:], name)
    if kind == ".txt":
        return (caption_words(spec, trace, image, **draw_arguments) + "\n").encode()
    return numbers(kind, spec, trace, image, **draw_arguments)


def drawn(figure: Drawing, kind: str, name: str) -> bytes:
    """The bytes of a png, svg or pdf."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, metadata=figure.metadata(kind, name), dpi=figure.spec.dots)
    return buffer.getvalue()


def caption_words(spec: Spec, *subject: Any, **draw_arguments: Any) -> str:
    return layouts.content(*subjects(spec, *subject, **draw_arguments)).caption


def write_file(path: Path, content: bytes) -> Path:
    """Writes the file under a temporary name and renames it, so that a stopped run leaves no half file."""
    if not path.parent.exists():
        raise PlaygroundError(f"{path} can't be written: there is no folder {path.parent}.")
    temporary_file = path.with_name(f".playground-{os.getpid()}.part")
    try:
        temporary_file.write_bytes(content)
        temporary_file.replace(path)
    except OSError as error:
        raise PlaygroundError(f"{path} can't be written: {error.strerror or error}.") from None
    finally:
        with suppress(OSError):
            temporary_file.unlink()  # if the file was not renamed
    return path


# The numbers of a figure, with its grid, its tokens and facts about its origin


def numbers(kind: str, spec: Spec, *subject: Any, **draw_arguments: Any) -> bytes:
    """The bytes of a file of numbers: .npz, .csv or .json."""
    spec, first, other = subjects(spec, *subject, **draw_arguments)
    about = facts(spec, first, other)
    if command := repeat_command(spec, f"figure{kind}"):
        about["command"] = command
    tables = of_maps(layouts.content(spec, first, other).shown)
    return {".npz": npz, ".csv": as_csv, ".json": as_json}[kind](about, tables)


def as_json(about: dict[str, str], tables: list[Table]) -> bytes:
    """JSON with numbers as short as float32 allows."""
    content = {
        "figure": about,
        "tables": [
            {
                **table.about, "grid": table.grid, "tokens": table.tokens,
                "maps": [
                    map_keys | {"values": [float(f"{x:.9g}") for x in row]}
                    for map_keys, row in zip(table.maps, table.values, strict=True)
                ],
            }
            for table in tables
        ],
    }  # fmt: skip
    return (json.dumps(content, ensure_ascii=False) + "\n").encode()


def npz(about: dict[str, str], tables: list[Table]) -> bytes:
    """Arrays: `values` (maps, tokens), `tokens`, `grid`, the trace's facts as JSON, `of`, and one array for each key of
    the maps, such as `layer`. `about` holds the figure's facts. Arrays of a second trace have names that end in _2."""
    arrays: dict[str, Any] = {"about": np.array(json.dumps(about, ensure_ascii=False))}
    for number, table in enumerate(tables, start=1):
        name_end = "" if number == 1 else f"_{number}"
        arrays[f"values{name_end}"], arrays[f"tokens{name_end}"] = table.values, np.array(table.tokens)
        arrays[f"of{name_end}"] = np.array(json.dumps(table.about, ensure_ascii=False))
        if table.grid:
            arrays[f"grid{name_end}"] = np.array(table.grid)
        for key in table.maps[0]:
            arrays[f"{key}{name_end}"] = np.array([map_keys.get(key) for map_keys in table.maps])
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def as_csv(about: dict[str, str], tables: list[Table]) -> bytes:
    """CSV with a line for each token of each map. Facts about the origin stand above, in lines with # (pandas:
    comment="#")."""
    buffer = io.StringIO()
    for key, value in about.items():
        buffer.write(f"# {key}: {value}\n")
    for table in tables:
        for label, share in table.about["predictions"]:
            buffer.write(f"# {table.about['model']} predicts {label}: {share}\n")
    keys = list(dict.fromkeys(key for table in tables for map_keys in table.maps for key in map_keys))
    subject_keys = ["model", "image"]
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*subject_keys, *keys, "token", "value"])
    for table in tables:
        for map_keys, row in zip(table.maps, table.values, strict=True):
            first_cells = [*(table.about[key] for key in subject_keys), *(map_keys.get(key, "") for key in keys)]
            writer.writerows([*first_cells, token, f"{x:.9g}"] for token, x in zip(table.tokens, row, strict=True))
    return buffer.getvalue().encode()
