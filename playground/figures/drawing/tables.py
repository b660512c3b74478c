"""The numbers of a figure's panels as tables: for each map its layer and head, its tokens, its values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from playground.figures.drawing.captions import number_facts
from playground.figures.drawing.maps import Map, Subject
from playground.figures.drawing.spec import query_words


@dataclass(frozen=True)
class Table:
    """Maps of one trace, all with the same tokens."""

    about: dict[str, Any]  # the model, the picture, and other facts about the trace
    grid: tuple[int, int] | None  # rows, columns
    tokens: list[str]  # "cls", "reg0", "0,0", … as --patch has them
    maps: list[dict[str, Any]]  # for each map its layer, its head and other facts
    values: np.ndarray  # (maps, tokens) float32


def of_maps(panels: list[Map]) -> list[Table]:
    """A table for each trace, in the order in which they are drawn."""
    by_subject: dict[int, list[Map]] = {}
    for panel in panels:
        by_subject.setdefault(id(panel.subject), []).append(panel)
    groups = by_subject.values()
    return [_values(group) if group[0].values is not None else _colours(group) for group in groups]


def _values(panels: list[Map]) -> Table:
    trace = panels[0].seen
    tokens = [*trace.prefix, *_patches(trace.grid)]
    values = np.stack([panel.values for panel in panels if panel.values is not None]).astype(np.float32)
    return Table(about(panels[0].subject), trace.grid, tokens, list(map(_map_facts, panels)), values)


def _patches(grid: tuple[int, int]) -> list[str]:
    return [f"{row},{column}" for row in range(grid[0]) for column in range(grid[1])]


def about(subject: Subject) -> dict[str, Any]:
    trace = subject.seen
    return {
        "model": trace.model,
        "image": subject.name,
        "input": list(trace.size),
        "patch_size": trace.patch_size,
        "predictions": [[label, float(f"{share:.6g}")] for label, share in trace.predictions],
    }


def _map_facts(panel: Map) -> dict[str, Any]:
    """What a map shows: its layer, head, patch and way to look."""
    spec = panel.spec
    patch = query_words(spec.query) if spec.asks else None
    facts = {"layer": spec.layer, "head": spec.head, "patch": patch, "what": spec.what}
    if not spec.way.of_heads:
        omitted_keys = ("head",) if spec.asks else ("head", "patch")
        blocks = {"blocks": ", ".join(f"{n}x{n}" for n in panel.blanked.sides)} if panel.blanked else {}
        return (
            {key: value for key, value in facts.items() if key not in omitted_keys}
            | number_facts(spec, panel.seen)
            | blocks
        )
    return facts | {"direction": spec.direction, "scale": panel.seen.scale_number(panel.one.scale)}


def _colours(panels: list[Map]) -> Table:
    """Maps of colours: red, green and blue as three maps each."""
    subject, map_facts, values = panels[0].subject, [], []
    for panel in panels:
        facts = {"layer": panel.spec.layer, "what": panel.spec.what}
        map_facts += [facts | {"colour": name} for name in ("red", "green", "blue")]
        values += list(panel.colours.reshape(-1, 3).T)  # type: ignore[union-attr]
    numbers = np.stack(values).astype(np.float32)
    return Table(about(subject), subject.seen.grid, _patches(subject.seen.grid), map_facts, numbers)
