"""How well a map foretells what blanking moves: as it was measured on this picture, or else on other pictures in the
same model, of which the command `faithfulness` made a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from statistics import mean

from playground.analysis import faithfulness, occlusion
from playground.analysis.occlusion import Asked
from playground.assets import FAITHFULNESS
from playground.models.source import is_changed
from playground.tracing import Trace
from playground.vit import State, VisionTransformer


@dataclass(frozen=True)
class Foretold:
    correlation: float  # Spearman's, of the map with what moves when blocks of patches are blanked
    random: float  # that of a map drawn at random
    constant: float  # of one that is the same everywhere
    blocks: int = 0  # that were compared, on this picture
    by: str = ""  # what they became
    pictures: int = 0  # others: the mean over them


@cache
def usual() -> dict[str, dict[str, Foretold]]:
    """model -> method -> what the table says of it."""
    found: dict[str, dict[str, Foretold]] = {}
    for model, rows in faithfulness.read(FAITHFULNESS).items():
        of = {method: [one.rank_correlation for _, one in rows if one.method == method] for method in _methods(rows)}
        chance = [mean(of[control]) for control in faithfulness.CONTROLS]
        found[model] = {
            method: Foretold(mean(of[method]), *chance, pictures=len(of[method]))
            for method in of.keys() - set(faithfulness.CONTROLS)
        }
    return found


def _methods(rows: list) -> list[str]:
    return list(dict.fromkeys(one.method for _, one in rows))


def known(seen: Trace, asked: Asked, method: str) -> Foretold | None:
    """Of this picture where it was measured, else of others in this model; None of a model that is in no table."""
    if found := seen.foretold.get(_key(seen, asked, method)):
        return found
    return of_model(seen.model, seen.vit, seen.vit_state, method)


def of_model(name: str, vit: VisionTransformer | None, state: State, method: str) -> Foretold | None:
    """What the table says of a model of this name, if it is still that."""
    if vit is not None and is_changed(vit, state):
        return None
    return usual().get(name, {}).get(method)


def measure(seen: Trace, asked: Asked, method: str, by: str = "mean") -> Foretold:
    """On this picture, in as many passes as there are blocks. The trace remembers it, and its figures bear it."""
    side = occlusion.side_of(seen.grid)
    moves = occlusion.Measured(seen, asked, by).moved(occlusion.blocks(seen.grid, side))
    return remembered(seen, asked, method, compare(seen, asked, method, by, side, moves))


def compare(
    seen: Trace, asked: Asked, method: str, by: str, side: int, moves: list[float],
    give_way: Callable[[], object] = lambda: None,
) -> Foretold:  # fmt: skip
    """The same of blocks that were blanked already."""
    drawn = (faithfulness.map_of(seen, asked, way, give_way) for way in (method, *faithfulness.CONTROLS))
    numbers = [occlusion.foretells(one, side, moves) for one in drawn]
    return Foretold(*numbers, len(occlusion.equal(occlusion.blocks(seen.grid, side))), by)


def remembered(seen: Trace, asked: Asked, method: str, found: Foretold) -> Foretold:
    seen.foretold[_key(seen, asked, method)] = found
    return found


def _key(seen: Trace, asked: Asked, method: str) -> tuple:
    return method, seen.token(asked.query) if asked.label is None else f"label {seen.label(asked.label)}"  # type: ignore[arg-type]
