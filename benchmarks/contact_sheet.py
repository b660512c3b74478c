"""Draws attention rows in the styles "heat" and "light" on one contact sheet, and measures both styles.

python benchmarks/contact_sheet.py                   writes build/contact-sheet.png and prints the bars
python benchmarks/contact_sheet.py FILE.jpg …        the same with your own photographs, in DINOv2 if it is here
python benchmarks/contact_sheet.py --against COMMIT  also shows each heat as that commit drew it

Each line shows the photograph, the commit's heat if there is a commit, the present heat, the light, and the patches
that a convolution sees at the same place. Lightness is L* and chroma is C* of CIE 1976. "Outside" means the patches
that get less than an even share. A black or white photograph cannot meet all bars. Then it matters most that lightness
rises with the weight, next that the colours differ; the contrast may fall to 60 %.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
from PIL import Image, ImageDraw

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import playground  # noqa: E402
from playground.errors import PlaygroundError  # noqa: E402
from playground.figures.drawing import light  # noqa: E402
from playground.samples import samples  # noqa: E402

OUT = ROOT / "build" / "contact-sheet.png"
PATCH_COUNT = 28 * 28
HEIGHT = 210  # pixels of a picture on the sheet
PLACES = ((0.42, 0.4), (0.62, 0.55), (0.2, 0.75))  # of the query patches, as shares of height and width
VEIL = 0.25  # lightness that a projector in a bright room adds everywhere


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--against", metavar="COMMIT")
    options = parser.parse_args()
    former_light = light_of(options.against) if options.against else None
    strips, facts_of_rows = [], []
    for picture, seen, heads in cases(options.files):
        photo = resized(picture, seen.grid)
        for place in PLACES:
            query = tuple(int(part * side) for part, side in zip(place, seen.grid, strict=True))
            for layer, head in heads:
                row = seen.row(layer, head, query)
                strip, facts = draw_row(photo, seen, row, query, former_light)
                strips.append(strip)
                facts_of_rows.append(facts)
    OUT.parent.mkdir(exist_ok=True)
    widest = max(strip.shape[1] for strip in strips)
    padded_strips = [
        np.pad(strip, ((0, 8), (0, widest - strip.shape[1]), (0, 0)), constant_values=255) for strip in strips
    ]
    strips_per_column = -(-len(padded_strips) // 2)
    left_column, right_column = padded_strips[:strips_per_column], padded_strips[strips_per_column:]
    right_column += [np.full_like(left_column[0], 255)] * (strips_per_column - len(right_column))
    sheet = [side_by_side(a, b) for a, b in zip(left_column, right_column, strict=True)]
    Image.fromarray(np.concatenate(sheet)).save(OUT)
    print(f"{len(strips)} rows on {OUT}")
    report(facts_of_rows)


def light_of(commit: str) -> ModuleType:
    """The module playground/figures/drawing/light.py of this commit."""
    result = subprocess.run(
        ["git", "show", f"{commit}:playground/figures/drawing/light.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    module = ModuleType("former_light")
    exec(result.stdout, module.__dict__)
    return module


def side_by_side(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    height = max(a.shape[0], b.shape[0])
    a, b = (np.pad(x, ((0, height - x.shape[0]), (0, 16), (0, 0)), constant_values=255) for x in (a, b))
    return np.concatenate([a, b], axis=1)


def cases(files: list[str]):
    """(picture, trace, heads) of photographs in DINOv2, if it is on this machine, and of drawings in our model."""
    bundled = playground.load("bundled", device="cpu")
    try:
        dinov2 = playground.load("dinov2-small", device="cpu")
    except PlaygroundError as error:
        print(f"without DINOv2: {error}", file=sys.stderr)
        dinov2 = bundled
    for file in files or [sample.path for sample in samples()]:
        is_drawing = any(sample.path == file and sample.kind == "drawing" for sample in samples())
        vit = bundled if is_drawing else dinov2
        picture = playground.open_image(file)
        depth = vit.config.depth
        heads = (
            [(depth // 2, vit.config.heads - 1), (depth - 1, 0)] if is_drawing else [(1, 0), (6, 5), (8, 2), (11, 0)]
        )
        yield picture, playground.trace(vit, picture, size=size(picture, vit.config.patch_size)), heads


def size(picture: Image.Image, patch: int) -> tuple[int, int]:
    """The size of the model's input: about PATCH_COUNT patches, with the picture's aspect ratio."""
    rows = max(1, round((PATCH_COUNT * picture.height / picture.width) ** 0.5))
    return rows * patch, max(1, round(PATCH_COUNT / rows)) * patch


def resized(picture: Image.Image, grid: tuple[int, int]) -> np.ndarray:
    cell = max(1, HEIGHT // grid[0])
    return np.asarray(picture.resize((grid[1] * cell, grid[0] * cell), Image.Resampling.LANCZOS))


def draw_row(photo: np.ndarray, trace, row, query, former_light: ModuleType | None) -> tuple[np.ndarray, dict]:
    cell = photo.shape[0] // trace.grid[0]
    weights = trace.on_grid(row).numpy()
    tokens = row.numel()
    ceiling = light.exposure(weights)
    shares = light.shares(weights, ceiling)
    entropy = float(-(row * row.clamp(min=1e-12).log2()).sum())
    dense_patches = light.densest(weights)
    dense_pixels, faint_pixels = enlarged(dense_patches, cell), enlarged(weights < 1 / tokens, cell)
    heat = light.heat(photo, enlarged(shares, cell))
    light_shares = np.asarray(
        Image.fromarray(light.lit(shares, dense_patches).astype(np.float32)).resize(
            photo.shape[1::-1], Image.Resampling.BILINEAR
        )
    )
    facts = {
        "even": light.is_even(entropy, tokens),
        "clipped": float((weights > ceiling).mean()),
        "apart": difference(heat, dense_pixels),
        "apart in grey": difference(to_grey(heat), dense_pixels),
        "projected": difference(255 * VEIL + (1 - VEIL) * heat, dense_pixels),
        "contrast": share_left(lightness, np.std, heat, photo, faint_pixels),
        "chroma": share_left(chroma, np.mean, heat, photo, faint_pixels),
        "inside": contrast_kept(heat, photo, weights),
        "islands": islands(light.outlines(dense_patches)),
    }
    lines = with_outlines(light.light(photo, light_shares), light.contours(dense_patches), cell)
    former_heat = [former_light.heat(photo, enlarged(shares, cell))] if former_light else []
    cells = [photo, *former_heat, heat, lines, convolution(photo, trace.grid, query)]
    return np.concatenate([np.pad(x, ((0, 0), (0, 6), (0, 0)), constant_values=255) for x in cells], axis=1), facts


def enlarged(grid: np.ndarray, cell: int) -> np.ndarray:
    return np.kron(grid, np.ones((cell, cell), grid.dtype))


def convolution(photo: np.ndarray, grid: tuple[int, int], query: tuple[int, int]) -> np.ndarray:
    """The convolution's nine cells in full colour, and the photograph around them in soft grey."""
    cells = np.zeros(grid, bool)
    r, c = query
    cells[max(0, r - 1) : r + 2, max(0, c - 1) : c + 2] = True
    lightness = enlarged(cells, photo.shape[0] // grid[0])
    return np.where(lightness[..., None], photo, light.heat(photo, np.zeros(photo.shape[:2])))


def with_outlines(picture: np.ndarray, lines: list[np.ndarray], cell: int) -> np.ndarray:
    image = Image.fromarray(picture)
    for outline in lines:
        points = [(float(x) * cell, float(y) * cell) for y, x in outline]
        ImageDraw.Draw(image).line([*points, points[0]], fill=(255, 243, 200), width=2)
    return np.asarray(image)


# Measurements ---------------------------------------------------------------------------------------------------------


def lightness(picture: np.ndarray) -> np.ndarray:
    return lab(picture)[..., 0]


def chroma(picture: np.ndarray) -> np.ndarray:
    return np.hypot(*np.moveaxis(lab(picture)[..., 1:], -1, 0))


def to_grey(picture: np.ndarray) -> np.ndarray:
    return np.repeat((np.asarray(picture, float) @ light.LUMA_WEIGHTS)[..., None], 3, axis=-1)


def share_left(measure, statistic, picture: np.ndarray, photo: np.ndarray, area: np.ndarray) -> float:
    """The share of the photograph's contrast or colour that the drawing `picture` keeps in an area."""
    value_before = statistic(measure(photo)[area]) if area.any() else 0
    # NaN: the photograph itself has no contrast there
    return float(statistic(measure(picture)[area]) / value_before) if value_before > 1 else np.nan


def contrast_kept(picture: np.ndarray, photo: np.ndarray, weights: np.ndarray) -> float:
    """The share of the photograph's contrast that the drawing keeps within the patch with the largest weight."""
    contrasts = [
        split_into_patches(lightness(x), weights.shape).std(axis=(1, 3)).ravel()[weights.argmax()]
        for x in (picture, photo)
    ]
    return float(contrasts[0] / contrasts[1]) if contrasts[1] > 1 else np.nan


def split_into_patches(pixels: np.ndarray, grid: tuple[int, int]) -> np.ndarray:
    return pixels.reshape(grid[0], -1, grid[1], pixels.shape[1] // grid[1])


def islands(lines: list[list[tuple[int, int]]]) -> int:
    """The number of contour lines that enclose at most one patch, if there are several lines."""
    areas = [
        abs((x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2) for y, x in (np.array(outline).T for outline in lines)
    ]
    return sum(area <= 1 for area in areas) if len(areas) > 1 else 0


def difference(picture: np.ndarray, mask: np.ndarray) -> float:
    """The CIE 1976 colour difference between the mean colours inside and outside the mask."""
    colours = lab(picture)
    return float(np.linalg.norm(colours[mask].mean(0) - colours[~mask].mean(0))) if not mask.all() else 0.0


def lab(picture: np.ndarray) -> np.ndarray:
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = light._linear(np.asarray(picture, np.float64) / 255) @ to_xyz.T / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


def report(facts_of_rows: list[dict]) -> None:
    uneven_rows = [facts for facts in facts_of_rows if not facts["even"]]
    print(f"{'what (of rows that are not even)':58} {'lowest':>8} {'median':>8} {'rows':>6}  bar")
    print_measure("outside, of the photograph's contrast", uneven_rows, "contrast", 0.75)
    print_measure("outside, of its chroma", uneven_rows, "chroma", 0.5)
    print_measure("in the patch with the largest weight, of its contrast", uneven_rows, "inside", 0.4)
    print_measure("60 % set against the rest, ΔE", uneven_rows, "apart", 25)
    print_measure("… in grey", uneven_rows, "apart in grey", 0)
    print_measure("… with a projector in a bright room", uneven_rows, "projected", 0)
    print(f"cells brighter than can be shown, at most {max(f['clipped'] for f in facts_of_rows):.2%}; bar: 1 %")
    islands_per_row = sum(f["islands"] for f in facts_of_rows) / len(facts_of_rows)
    print(f"lines of the light around one patch: {islands_per_row:.1f} a row; they stay, as each is part of the 60 %")
    print(f"rows called even: {len(facts_of_rows) - len(uneven_rows)} of {len(facts_of_rows)}")


def print_measure(name: str, facts_of_rows: list[dict], fact: str, bar: float) -> None:
    """Prints a measure's lowest value, its median, and the share of rows that reach the bar."""
    values = np.array([facts[fact] for facts in facts_of_rows])
    values = values[~np.isnan(values)]
    numbers = f"{values.min():8.2f} {np.median(values):8.2f} {np.mean(values >= bar):6.0%}"
    print(f"{name:58} {numbers}  {f'≥ {bar:g}' if bar else ''}")


if __name__ == "__main__":
    main()
