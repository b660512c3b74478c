"""What a figure is as a file: the drawing, the living page, its numbers, or its caption. The file's ending says which;
the command, Python and the server make the same bytes."""

from __future__ import annotations

import csv
import io
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from PIL import Image

from playground.errors import PlaygroundError
from playground.figures import html, layouts
from playground.figures.command_line import repeat_command
from playground.figures.compose import draw, subjects
from playground.figures.drawing.captions import number_facts
from playground.figures.drawing.maps import Map
from playground.figures.drawing.sheet import Drawing
from playground.figures.drawing.spec import Spec, query_words
from playground.figures.provenance import facts

if TYPE_CHECKING:
    from playground.tracing import Trace

DRAWN, COUNTED = (".png", ".svg", ".pdf"), (".npz", ".csv")
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


@dataclass(frozen=True)
class Table:
    """Maps of one trace, all with the same tokens."""

    about: dict[str, Any]  # the model, the picture, and other facts about the trace
    grid: tuple[int, int]  # rows, columns
    tokens: list[str]  # "cls", "reg0", "0,0", … as --patch has them
    maps: list[dict[str, Any]]  # for each map its layer, its head and other facts
    values: np.ndarray  # (maps, tokens) float32


def tables_of(panels: list[Map]) -> list[Table]:
    """A table for each trace, in the order of the drawing. A map of colours becomes three: red, green and blue."""
    by_subject: dict[int, list[Map]] = {}
    for panel in panels:
        by_subject.setdefault(id(panel.subject), []).append(panel)
    tables = []
    for group in by_subject.values():
        trace = group[0].seen
        about = {
            "model": trace.model,
            "image": group[0].subject.name,
            "input": list(trace.size),
            "patch_size": trace.patch_size,
            "predictions": [[label, float(f"{share:.6g}")] for label, share in trace.predictions],
        }
        tokens = [f"{row},{column}" for row in range(trace.grid[0]) for column in range(trace.grid[1])]
        if group[0].values is not None:
            tokens, maps = [*trace.prefix, *tokens], list(map(_map_facts, group))
            values = [panel.values for panel in group]
        else:
            maps = [_map_facts(panel) | {"colour": name} for panel in group for name in ("red", "green", "blue")]
            values = [channel for panel in group for channel in cast(np.ndarray, panel.colours).reshape(-1, 3).T]
        tables.append(Table(about, trace.grid, tokens, maps, np.stack(cast(list, values)).astype(np.float32)))
    return tables


def _map_facts(panel: Map) -> dict[str, Any]:
    """What a map shows: its layer, head, patch and way to look."""
    spec = panel.spec
    patch = query_words(spec.query) if spec.asks else None
    if spec.way.of_heads:
        facts = {"layer": spec.layer, "head": spec.head, "patch": patch, "what": spec.what, "direction": spec.direction}
        return facts | {"scale": panel.seen.scale_number(panel.one.scale)}
    facts = {"layer": spec.layer} | ({"patch": patch} if spec.asks else {}) | {"what": spec.what}
    blocks = {"blocks": ", ".join(f"{n}x{n}" for n in panel.blanked.sides)} if panel.blanked else {}
    return facts | number_facts(spec, panel.seen) | blocks


def numbers(kind: str, spec: Spec, *subject: Any, **draw_arguments: Any) -> bytes:
    """The bytes of a file of numbers: .npz or .csv."""
    spec, first, other = subjects(spec, *subject, **draw_arguments)
    about = facts(spec, first, other)
    if command := repeat_command(spec, f"figure{kind}"):
        about["command"] = command
    tables = tables_of(layouts.content(spec, first, other).shown)
    return (npz if kind == ".npz" else as_csv)(about, tables)


def npz(about: dict[str, str], tables: list[Table]) -> bytes:
    """Arrays: `values` (maps, tokens), `tokens`, `grid`, the trace's facts as JSON, `of`, and one array for each key of
    the maps, such as `layer`. `about` holds the figure's facts. Arrays of a second trace have names that end in _2."""
    arrays: dict[str, Any] = {"about": np.array(json.dumps(about, ensure_ascii=False))}
    for number, table in enumerate(tables, start=1):
        name_end = "" if number == 1 else f"_{number}"
        arrays[f"values{name_end}"], arrays[f"tokens{name_end}"] = table.values, np.array(table.tokens)
        arrays[f"of{name_end}"] = np.array(json.dumps(table.about, ensure_ascii=False))
        arrays[f"grid{name_end}"] = np.array(table.grid)
        for key in table.maps[0]:
            arrays[f"{key}{name_end}"] = np.array([map_keys.get(key) for map_keys in table.maps])
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def as_csv(about: dict[str, str], tables: list[Table]) -> bytes:
    """CSV with a line for each token of each map. Facts stand above, in lines with # (pandas: comment="#")."""
    buffer = io.StringIO()
    for key, value in about.items():
        buffer.write(f"# {key}: {value}\n")
    for table in tables:
        for label, share in table.about["predictions"]:
            buffer.write(f"# {table.about['model']} predicts {label}: {share}\n")
    keys = list(dict.fromkeys(key for table in tables for map_keys in table.maps for key in map_keys))
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["model", "image", *keys, "token", "value"])
    for table in tables:
        for map_keys, row in zip(table.maps, table.values, strict=True):
            first_cells = [table.about["model"], table.about["image"], *(map_keys.get(key, "") for key in keys)]
            writer.writerows([*first_cells, token, f"{x:.9g}"] for token, x in zip(table.tokens, row, strict=True))
    return buffer.getvalue().encode()
