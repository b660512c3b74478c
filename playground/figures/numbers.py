"""The numbers of a figure: what it shows as .npz, .csv or .json, with its grid, its tokens and where it comes from."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from playground.errors import PlaygroundError
from playground.figures import captions, maps
from playground.figures.command_line import again
from playground.figures.compose import subjects
from playground.figures.disk import keep
from playground.figures.maps import Map
from playground.figures.provenance import facts
from playground.figures.spec import COLOURED, WITHOUT_HEADS, Spec, query_words
from playground.figures.which_maps import OneMap, Subject, maps_of, maps_shown
from playground.version import __version__

if TYPE_CHECKING:
    from playground.tracing import Trace

NUMBERS = (".npz", ".csv", ".json")


@dataclass(frozen=True)
class Table:
    """Maps of one size: of one trace, or the averages of an atlas."""

    about: dict  # of whom: its model, its picture, …
    grid: tuple[int, int] | None  # rows, columns
    tokens: list[str]  # "cls", "reg0", "0,0", … as --patch has them
    maps: list[dict]  # which map it is: its layer, its head, …
    values: np.ndarray  # (maps, tokens) float32


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
    if spec.layout == "curves":
        return {"layout": "curves", **_made(spec, suffix)}, [_curves()]
    spec, first, second = subjects(spec, seen, image, **others)
    about = facts(spec, first, second) | _made(spec, suffix)
    if spec.layout == "atlas":
        return about, [_atlas(first)]
    if spec.layout == "components":
        spec = replace(spec, layout="head", what="components")
    asks = maps_shown(spec, first, second)
    drawn = maps_of(asks) if spec.what in COLOURED else [None] * len(asks)  # whose colours belong together
    tables: dict[int, list] = {}
    for one, colours in zip(asks, drawn, strict=True):
        tables.setdefault(id(one.subject), []).append((one, colours))
    make = {"components": _components, "parts": _parts}.get(spec.what, _table)
    return about, [make(*zip(*ones, strict=True)) for ones in tables.values()]


def _made(spec: Spec, suffix: str) -> dict[str, str]:
    made = {"made by": f"Attention Playground {__version__}"}
    return made | ({"command": said} if (said := again(spec, f"figure{suffix}")) else {})


def _table(asks: tuple[OneMap, ...], _) -> Table:
    seen = asks[0].subject.seen
    rows, columns = seen.grid
    tokens = [*seen.prefix, *(f"{row},{column}" for row in range(rows) for column in range(columns))]
    values, which = zip(*map(_values, asks), strict=True)
    return Table(_about(asks[0].subject), seen.grid, tokens, list(which), np.stack(values))


def _values(one: OneMap) -> tuple[np.ndarray, dict]:
    """(the numbers of all tokens, which map it is)"""
    spec, seen = one.spec, one.subject.seen
    if spec.what == "occlusion":
        blanked = maps.occluded(seen, spec)
        return maps.of_all_tokens(seen, blanked).numpy(), _which(one) | {"blocks": _listed(blanked.sides)}
    return maps.answer(seen, spec, spec.layer, spec.head, one.scale, one.asker).numpy(), _which(one)


def _listed(sides: tuple[int, ...]) -> str:
    return ", ".join(f"{side}x{side}" for side in sides)


def _about(subject: Subject) -> dict:
    seen = subject.seen
    return {
        "model": seen.model,
        "image": subject.name,
        "input": list(seen.size),
        "patch_size": seen.patch_size,
        "predictions": [[label, float(f"{share:.6g}")] for label, share in seen.predictions],
    }


def _which(one) -> dict:
    spec, seen = one.spec, one.subject.seen
    asked = query_words(spec.query) if spec.asks else None
    said = {"layer": spec.layer, "head": spec.head, "patch": asked, "what": spec.what}
    if spec.what in WITHOUT_HEADS:
        unsaid = ("head",) if spec.asks else ("head", "patch")
        return {key: value for key, value in said.items() if key not in unsaid} | captions.explained(spec, seen)
    return said | {"direction": spec.direction, "scale": seen.scale_number(one.scale)}


def _components(asks: tuple[OneMap, ...], drawn: tuple[Map, ...]) -> Table:
    """The colours of features as they are drawn: three maps for each."""
    subject = asks[0].subject
    rows, columns = subject.seen.grid
    tokens = [f"{row},{column}" for row in range(rows) for column in range(columns)]
    names = ("red", "green", "blue")
    which = [{"layer": one.spec.layer, "what": "components", "colour": name} for one in asks for name in names]
    values = [one.colours.reshape(-1, 3).T for one in drawn]
    return Table(_about(subject), subject.seen.grid, tokens, which, np.concatenate(values).astype(np.float32))


def _parts(asks: tuple[OneMap, ...], drawn: tuple[Map, ...]) -> Table:
    """The number of each patch's part, 0 for the largest."""
    subject = asks[0].subject
    rows, columns = subject.seen.grid
    tokens = [f"{row},{column}" for row in range(rows) for column in range(columns)]
    which = [{"layer": one.spec.layer, "what": "parts"} for one in asks]
    values = np.stack([one.grid.ravel() for one in drawn]).astype(np.float32)
    return Table(_about(subject), subject.seen.grid, tokens, which, values)


def _atlas(subject: Subject) -> Table:
    from playground.analysis import heads

    habits = heads.look(subject.seen)
    kinds, side = habits.kinds(), range(-heads.REACH, heads.REACH + 1)
    places = [(layer, head) for layer in range(subject.seen.layers) for head in range(subject.seen.heads)]
    what = "average share at an offset (down, right)"
    which = [{"layer": i, "head": h, "what": what, "habit": kinds[i][h]} for i, h in places]
    tokens = [f"{down},{right}" for down in side for right in side]
    values = habits.offsets.reshape(len(places), -1).astype(np.float32)
    return Table(_about(subject), (len(side), len(side)), tokens, which, values)


def _curves() -> Table:
    from playground.analysis import scale
    from playground.figures.curves import CHARTS

    which, values = [], []
    for quantity in CHARTS:
        for power, name in ((0.0, "none"), (0.5, "1/√d_k")):
            curve = scale.curve(quantity, power)
            for line in ("low", "median", "high"):
                which.append({"what": quantity, "scale": name, "line": line})
                values.append(getattr(curve, line))
    return Table({}, None, [f"d_k={width}" for width in scale.WIDTHS], which, np.array(values, np.float32))


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
