"""The contact sheet of heat and light: real rows on photographs and drawings, and what was measured on them.

python benchmarks/contact_sheet.py            writes build/contact-sheet.png and prints the bars
python benchmarks/contact_sheet.py FILE.jpg … the same with photographs of your own, in the best model at hand

Each line: the photograph, the heat, the light, and the convolution's picture of the same patch.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import playground  # noqa: E402
from playground.errors import PlaygroundError  # noqa: E402
from playground.figures import light  # noqa: E402
from playground.samples import samples  # noqa: E402

OUT = ROOT / "build" / "contact-sheet.png"
PATCHES = 28 * 28
HEIGHT = 210  # pixels of a picture on the sheet
PLACES = ((0.42, 0.4), (0.62, 0.55), (0.2, 0.75))  # of the patches that ask, as parts of height and width
VEIL = 0.25  # what a projector in a bright room adds to everything


def main(files: list[str]) -> None:
    strips, measured = [], []
    for picture, seen, heads in cases(files):
        photo = shown(picture, seen.grid)
        for place in PLACES:
            query = tuple(int(part * side) for part, side in zip(place, seen.grid, strict=True))
            for layer, head in heads:
                row = seen.row(layer, head, query)
                line, facts = drawn(photo, seen, row, query)
                strips.append(line)
                measured.append(facts)
    OUT.parent.mkdir(exist_ok=True)
    wide = max(line.shape[1] for line in strips)
    columns = [np.pad(line, ((0, 8), (0, wide - line.shape[1]), (0, 0)), constant_values=255) for line in strips]
    half = -(-len(columns) // 2)
    left, right = columns[:half], columns[half:]
    right += [np.full_like(left[0], 255)] * (half - len(right))
    sheet = [pair(a, b) for a, b in zip(left, right, strict=True)]
    Image.fromarray(np.concatenate(sheet)).save(OUT)
    print(f"{len(strips)} rows on {OUT}")
    report(measured)


def pair(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    high = max(a.shape[0], b.shape[0])
    a, b = (np.pad(x, ((0, high - x.shape[0]), (0, 16), (0, 0)), constant_values=255) for x in (a, b))
    return np.concatenate([a, b], axis=1)


def cases(files: list[str]):
    """(picture, trace, heads): photographs in DINOv2 where it is on this machine, drawings in ours."""
    ours = playground.load("bundled", device="cpu")
    try:
        real = playground.load("dinov2-small", device="cpu")
    except PlaygroundError as error:
        print(f"without DINOv2: {error}", file=sys.stderr)
        real = ours
    for file in files or [sample.path for sample in samples()]:
        drawing = any(sample.path == file and sample.kind == "drawing" for sample in samples())
        vit = ours if drawing else real
        picture = playground.open_image(file)
        depth = vit.config.depth
        heads = [(depth // 2, vit.config.heads - 1), (depth - 1, 0)] if drawing else [(1, 0), (6, 5), (8, 2), (11, 0)]
        yield picture, playground.trace(vit, picture, size=size(picture, vit.config.patch_size)), heads


def size(picture: Image.Image, patch: int) -> tuple[int, int]:
    """Of the input: about PATCHES patches in the picture's aspect."""
    rows = max(1, round((PATCHES * picture.height / picture.width) ** 0.5))
    return rows * patch, max(1, round(PATCHES / rows)) * patch


def shown(picture: Image.Image, grid: tuple[int, int]) -> np.ndarray:
    cell = max(1, HEIGHT // grid[0])
    return np.asarray(picture.resize((grid[1] * cell, grid[0] * cell), Image.Resampling.LANCZOS))


def drawn(photo: np.ndarray, seen, row, query) -> tuple[np.ndarray, dict]:
    cell = photo.shape[0] // seen.grid[0]
    weights = seen.on_grid(row).numpy()
    tokens = row.numel()
    ceiling = light.exposure(weights)
    share = large(light.shares(weights, ceiling), cell)
    entropy = float(-(row * row.clamp(min=1e-12).log2()).sum())
    chosen = large(light.densest(weights), cell)
    pictures = {"heat": light.heat(photo, share), "light": light.light(photo, share, chosen)}
    pictures["convolution"] = convolution(photo, seen.grid, query)
    left_out = large(weights < 1 / tokens, cell)
    facts = {
        "even": light.is_even(entropy, tokens),
        "clipped": float((weights > ceiling).mean()),
        "contrast": contrast(pictures["heat"], chosen),
        "projected": contrast(255 * VEIL + (1 - VEIL) * pictures["heat"], chosen),
        "unattended": {name: brightness(pictures[name], photo, left_out) for name in ("heat", "light")},
        "around": brightness(pictures["convolution"], photo, np.ones_like(left_out)),
    }
    pictures["light"] = contour(pictures["light"], chosen)
    line = [photo, *pictures.values()]
    return np.concatenate([np.pad(x, ((0, 0), (0, 6), (0, 0)), constant_values=255) for x in line], axis=1), facts


def large(grid: np.ndarray, cell: int) -> np.ndarray:
    return np.kron(grid, np.ones((cell, cell), grid.dtype))


def convolution(photo: np.ndarray, grid: tuple[int, int], query: tuple[int, int]) -> np.ndarray:
    """Its nine cells in full colour, the photograph around them in soft grey."""
    cells = np.zeros(grid, bool)
    r, c = query
    cells[max(0, r - 1) : r + 2, max(0, c - 1) : c + 2] = True
    lit = large(cells, photo.shape[0] // grid[0])
    return np.where(lit[..., None], photo, light.heat(photo, np.zeros(photo.shape[:2])))


def contour(picture: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    edge = np.zeros(chosen.shape, bool)
    edge[:, 1:] |= chosen[:, 1:] != chosen[:, :-1]
    edge[1:] |= chosen[1:] != chosen[:-1]
    return np.where(edge[..., None], np.array([255, 243, 200], np.uint8), picture)


# What is measured -----------------------------------------------------------------------------------------------------


def luminance(picture: np.ndarray) -> np.ndarray:
    return light._linear(np.asarray(picture, np.float64) / 255) @ [0.2126, 0.7152, 0.0722]


def brightness(picture: np.ndarray, photo: np.ndarray, area: np.ndarray) -> float:
    """The picture's mean luminance as a part of the photograph's, over an area."""
    return float(luminance(picture)[area].mean() / max(1e-6, luminance(photo)[area].mean())) if area.any() else 1.0


def contrast(picture: np.ndarray, chosen: np.ndarray) -> float:
    """CIE 1976 colour difference between the mean of the 60 % set and the mean of the rest."""
    colours = lab(picture)
    return float(np.linalg.norm(colours[chosen].mean(0) - colours[~chosen].mean(0))) if not chosen.all() else 0.0


def lab(picture: np.ndarray) -> np.ndarray:
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = light._linear(np.asarray(picture, np.float64) / 255) @ to_xyz.T / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


def report(measured: list[dict]) -> None:
    uneven = [facts for facts in measured if not facts["even"]]
    heat, lit = ([facts["unattended"][name] for facts in measured] for name in ("heat", "light"))
    strong = np.mean([facts["contrast"] >= 25 for facts in uneven])
    projected = np.median([facts["projected"] for facts in uneven])
    print(f"{'what':64} {'measured':>22}  bar")
    print(f"{'unattended area, of the photograph, heat: lowest, median':64} {spread(heat):>22}  ≥ 55 %")
    print(f"{'the same, light':64} {spread(lit):>22}  ≥ 35 %")
    print(f"{'the convolution picture: lowest, median':64} {spread([f['around'] for f in measured]):>22}  ≥ 55 %")
    print(f"{'60 % set against the rest, ΔE ≥ 25: rows that are not even':64} {strong:>22.0%}  ≥ 95 %")
    print(f"{'… lowest, median ΔE':64} {deltas(uneven):>22}")
    print(f"{'… median ΔE with a projector in a bright room':64} {projected:>22.0f}")
    print(f"{'cells brighter than can be shown: most':64} {max(f['clipped'] for f in measured):>22.2%}  ≤ 1 %")
    print(f"{'rows called even':64} {sum(f['even'] for f in measured):>22}")


def spread(values: list[float]) -> str:
    return f"{min(values):.0%}, {np.median(values):.0%}"


def deltas(measured: list[dict]) -> str:
    values = [facts["contrast"] for facts in measured]
    return f"{min(values):.0f}, {np.median(values):.0f}"


if __name__ == "__main__":
    main(sys.argv[1:])
