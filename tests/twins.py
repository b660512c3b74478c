"""Runs the browser's JavaScript under Node on the numbers of a Python test, so that both results can be compared."""

import json
import subprocess
from pathlib import Path

import numpy as np
from test_javascript import node

MICROSCOPE = Path(__file__).parent.parent / "playground" / "microscope"


def in_javascript(names: list[str], body: str, given=None):
    """What these lines of JavaScript return. They can use the named modules, and `given`. A module is one of core/, or
    is named with its folder: lessons/push is `lessons_push` in the lines."""
    files = {name.replace("/", "_"): MICROSCOPE / (name if "/" in name else f"core/{name}") for name in names}
    imports = "".join(f'import * as {name} from "{file.as_uri()}.js";' for name, file in files.items())
    given_json = json.dumps(given, default=lambda value: value.tolist() if isinstance(value, np.ndarray) else value)
    program = (
        f'{imports} import {{ readFileSync }} from "node:fs"; const given = JSON.parse(readFileSync(0, "utf8"));'
        f"process.stdout.write(JSON.stringify(await (async () => {{ {body} }})()));"
    )
    result = subprocess.run(
        [node(), "--input-type=module", "-e", program], input=given_json, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


MAKE_PACK = """
const pack = {
  ...given.shape, patches: given.shape.rows * given.shape.columns, scale: given.scale, header: {},
  prefixCount: given.shape.prefix.length,
  stored: new Map(given.q.map((_, layer) => [layer, { some: null, ready: {
    q: Float32Array.from(given.q[layer].flat(2)), k: Float32Array.from(given.k[layer].flat(2)), norms: null } }])),
};
"""  # JavaScript that builds `pack`, as core.js would, from the nested lists given.q and given.k


def invented_pass(
    seed: int, grid: tuple[int, int], prefix: tuple[str, ...], layers: int = 4, heads: int = 2, dim: int = 6
):
    """{shape, scale, q, k} of an invented picture with five parts, which make its rows uneven. q and k are (layers,
    heads, tokens, dim)."""
    random = np.random.default_rng(seed)
    tokens = len(prefix) + grid[0] * grid[1]
    parts = random.normal(0, 1, (5, dim))
    part_of_token = random.integers(0, 5, tokens)
    q, k = (
        (2.2 * parts[part_of_token] + random.normal(0, 0.6, (layers, heads, tokens, dim))).astype(np.float32)
        for _ in "qk"
    )
    shape = {"layers": layers, "heads": heads, "tokens": tokens, "dim": dim, "prefix": list(prefix)}
    shape |= {"rows": grid[0], "columns": grid[1]}
    return {"shape": shape, "scale": dim**-0.5, "q": q, "k": k}


def softmax(scores: np.ndarray) -> np.ndarray:
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def overlap_with_filter(patches: np.ndarray, filter_row: np.ndarray, patch: int) -> float:
    """The overlap, from 0 to 1, of the filter's row with a head's row over all patches but the one that asks."""
    other_weights = np.where(np.arange(len(patches)) == patch, 0, patches)
    return float(np.minimum(other_weights / max(other_weights.sum(), 1e-12), filter_row).sum())
