"""Shows each photograph's best moment beside its default view: python benchmarks/moments.py [FILE …]

Writes build/moments.png. Each photograph has a line: the row of the middle patch in the default layer and head, then
the rows of the best moment's three patches. Without files, it takes the five photographs of benchmarks/eyes.py and also
says whether the best row finds the partner of a pair that eyes.py marks. `--model` replaces DINOv2.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import eyes  # noqa: E402

import playground  # noqa: E402
from playground.analysis.moments import Moment, best_moments  # noqa: E402
from playground.figures.drawing import light  # noqa: E402
from playground.models import borrowed  # noqa: E402
from playground.samples import named  # noqa: E402

OUT = ROOT / "build" / "moments.png"
PATCH_COUNT = 28 * 28  # patches of DINOv2's input, about as many as in the app
TILE_WIDTH = 360  # pixels of a picture on the sheet
TILE_HEIGHT = 240
BLUE = (0, 114, 178)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--model", default="dinov2-small")
    options = parser.parse_args()
    if not options.files:
        borrowed.fetch(borrowed.PHOTOGRAPHS)
    if options.model == "dinov2-small":
        borrowed.fetch([borrowed.DINOV2])
    vit = playground.load(options.model, device="cpu")
    files = {file.stem: file for file in options.files} or {name: named(name).path for name in eyes.PAIRS}
    lines = []
    for name, file in files.items():
        picture = playground.open_image(file)
        trace = playground.trace(vit, picture, size=size(picture, vit.config.patch_size))
        began = time.perf_counter()
        moments = best_moments(trace)
        seconds = time.perf_counter() - began
        best_moment = moments[0]
        scores = ", ".join(f"{tell:.2f}" for tell in best_moment.tells)
        partner = f", {partner_words(name, trace, best_moment)}" if not options.files else ""
        print(f"{name:32} layer {best_moment.layer:2} head {best_moment.head}: {scores} in {seconds:.2f} s{partner}")
        lines.append(draw_line(name, trace, best_moment))
    OUT.parent.mkdir(exist_ok=True)
    Image.fromarray(np.concatenate(lines)).save(OUT)
    print(f"{len(lines)} photographs on {OUT}")


def size(picture: Image.Image, patch: int) -> tuple[int, int]:
    """The size of the model's input: about PATCH_COUNT patches, with the picture's aspect ratio."""
    rows = max(1, round((PATCH_COUNT * picture.height / picture.width) ** 0.5))
    return rows * patch, max(1, round(PATCH_COUNT / rows)) * patch


def partner_words(name: str, trace, moment: Moment) -> str:
    """Text on each pair of marked regions if one of them holds the best moment's first patch: the share of this patch's
    attention that the other region gets."""
    rows = trace.matrix(moment.layer, moment.head)[len(trace.prefix) :, len(trace.prefix) :]
    shares = []
    for pair_name, boxes in eyes.PAIRS[name].items():
        regions = [eyes.patches_inside(box, trace.grid) for box in boxes]
        for region, partner in (regions, regions[::-1]):
            if region.flatten()[moment.patches[0]]:
                patches = region.new_zeros(region.shape).flatten()
                patches[moment.patches[0]] = True
                partner_shares = eyes.partner_share_and_finds(rows, patches.unflatten(0, trace.grid), partner)[0]
                shares.append(f"{pair_name}: the partner takes {float(partner_shares[0]):.0%}")
    return "; ".join(shares) or "no marked pair"


def draw_line(name: str, trace, moment: Moment) -> np.ndarray:
    rows, columns = trace.grid
    default_view = (trace.upper_layer, 0, rows // 2 * columns + columns // 2)
    views = [default_view, *((moment.layer, moment.head, patch) for patch in moment.patches)]
    tiles = [draw_tile(trace, *view, f"{name if i == 0 else ''} L{view[0]} h{view[1]}") for i, view in enumerate(views)]
    return np.concatenate(tiles, axis=1)


def draw_tile(trace, layer: int, head: int, patch: int, words: str) -> np.ndarray:
    rows, columns = trace.grid
    cell = max(1, min((TILE_WIDTH - 6) // columns, (TILE_HEIGHT - 20) // rows))
    weights = trace.on_grid(trace.row(layer, head, divmod(patch, columns))).numpy()
    photo = np.asarray(trace.shown.resize((columns * cell, rows * cell), Image.Resampling.LANCZOS))
    shares = np.kron(light.shares(weights, light.exposure(weights)), np.ones((cell, cell)))
    sheet = Image.new("RGB", (TILE_WIDTH, TILE_HEIGHT), "white")
    sheet.paste(Image.fromarray(light.heat(photo, shares)), (0, 16))
    draw = ImageDraw.Draw(sheet)
    draw.text((2, 2), words, fill="black")
    y, x = divmod(patch, columns)
    draw.rectangle((x * cell - 1, 16 + y * cell - 1, (x + 1) * cell, 16 + (y + 1) * cell), outline=BLUE, width=3)
    return np.asarray(sheet)


if __name__ == "__main__":
    main()
