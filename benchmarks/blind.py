"""Sheets of attention heads for a blind judge: python benchmarks/blind.py --photographs album

Writes sheets to build/blind/ that show all heads of the bundled model and as many of DINOv2 S, in random order and
without names. The sheets also show a few settings of the filter by colour and nearness, and a few heads of a random
network: a strict judge lets none of these pass. Each strip shows one head on twenty photographs on which no model was
trained. The outlined patch is the query, the same for all heads. All models get 14 × 14 patches. A patch with a larger
weight is brighter; the query is always bright.

Before opening key.json, a judge writes the numbers of the strips that pass into a file. A head passes if in most
pictures a newcomer sees at once which patches are bright and why, and if these are not only the query's neighbours.
Then `python benchmarks/blind.py --verdicts FILE` prints the names of these heads.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image, ImageDraw

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playground import samples  # noqa: E402
from playground.analysis import colour_nearness  # noqa: E402
from playground.models import loading  # noqa: E402
from playground.pictures.images import open_image  # noqa: E402
from playground.tracing import trace  # noqa: E402

OUT = ROOT / "build" / "blind"
SIDE, CELL = 14, 6  # patches along a picture's side; pixels along a patch's side on a sheet
MAP_SIDE, GAP = SIDE * CELL, 2  # pixels of a map's side, and between two maps
MAPS_ACROSS, STRIPS_PER_SHEET = 10, 6
DARKEST, BRIGHT_QUANTILE = 0.12, 0.98  # brightness of a patch with weight 0; quantile of weights that is fully bright
FILTER_STRIPS, RANDOM_STRIPS = 4, 4  # number of strips of the filter, and of the random network
SAMPLE_QUERIES = {  # sample -> the query's place, as shares of height and width of the photograph's middle square
    "chelsea": (0.39, 0.32), "coffee": (0.63, 0.65), "astronaut": (0.70, 0.59), "rocket": (0.63, 0.83),
    "camera": (0.87, 0.73),
}  # fmt: skip
HOPPER_QUERY = (0.40, 0.45)
ALBUM_QUERIES = {  # NAME of tuxpaint-templates-NAME.jpg, a photograph not used for training -> the query's place
    "burnt_bark": (0.30, 0.60), "cliff": (0.55, 0.50), "corn_maze": (0.30, 0.35), "jellyfish": (0.75, 0.52),
    "lighthouse": (0.70, 0.42), "mossy_log": (0.50, 0.50), "ocean_waves": (0.43, 0.25), "redwoods_above": (0.80, 0.50),
    "sheep": (0.53, 0.40), "sun_behind_clouds": (0.50, 0.60), "sun_behind_leaves": (0.83, 0.47),
    "trees_above": (0.30, 0.15), "trees_at_dusk": (0.50, 0.43), "wool_mill_machine": (0.49, 0.53),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--photographs", type=Path, metavar="DIR", help="what `workshop photographs` fetched")
    parser.add_argument("--model", default="bundled", help="instead of the bundled one")
    parser.add_argument("--verdicts", type=Path, metavar="FILE", help="the numbers of the strips that pass")
    options = parser.parse_args()
    if options.verdicts:
        reveal(options.verdicts)
    else:
        write_sheets(options.photographs, options.model)


def write_sheets(album: Path | None, model: str) -> None:
    pictures = list(squares_and_queries(album))
    rows = weights_of_heads(model, pictures)
    strip_names = list(rows)
    secrets.SystemRandom().shuffle(strip_names)
    OUT.mkdir(parents=True, exist_ok=True)
    for old_sheet in OUT.glob("sheet-*.png"):
        old_sheet.unlink()
    for first_strip in range(0, len(strip_names), STRIPS_PER_SHEET):
        strips = [
            draw_strip(n, rows[strip_names[n]], pictures)
            for n in range(first_strip, min(first_strip + STRIPS_PER_SHEET, len(strip_names)))
        ]
        Image.fromarray(np.concatenate(strips)).save(OUT / f"sheet-{first_strip // STRIPS_PER_SHEET:02}.png")
    (OUT / "key.json").write_text(json.dumps(strip_names))
    print(f"{len(strip_names)} strips of {len(pictures)} photographs in {OUT}")


def squares_and_queries(album: Path | None) -> Iterator[tuple[Image.Image, int]]:
    """The middle square of each photograph, and the number of its query patch."""
    hopper = Path(matplotlib.get_data_path()) / "sample_data" / "grace_hopper.jpg"
    files = {samples.named(name).path: query_place for name, query_place in SAMPLE_QUERIES.items()} | {
        hopper: HOPPER_QUERY
    }
    if album is not None:
        album_apart = album / "apart"
        files |= {
            album_apart / f"tuxpaint-templates-{name}.jpg": query_place for name, query_place in ALBUM_QUERIES.items()
        }
    for file, (top_share, left_share) in files.items():
        image = open_image(file)
        side = min(image.size)
        left, top = (image.width - side) // 2, (image.height - side) // 2
        square = image.crop((left, top, left + side, top + side)).resize((SIDE * 14,) * 2, Image.Resampling.BICUBIC)
        yield square, int(top_share * SIDE) * SIDE + int(left_share * SIDE)


def weights_of_heads(model: str, pictures: list) -> dict[str, np.ndarray]:
    """{name of a head or of a setting of the filter: its weights (pictures, patches)}"""
    random = np.random.default_rng()
    our_vit, dinov2 = loading.load(model, device="cpu"), loading.load("dinov2-small", device="cpu")
    untrained = loading.load("dinov2-small", device="cpu", pretrained=False)
    heads = our_vit.config.depth * our_vit.config.heads
    weights_by_name = {}
    for model_name, vit, count in (
        (model, our_vit, heads),
        ("dinov2-small", dinov2, heads),
        ("random", untrained, RANDOM_STRIPS),
    ):
        patch, head_count = vit.config.patch_size, vit.config.depth * vit.config.heads
        picture_rows = []
        for image, query in pictures:
            model_trace = trace(vit, image, size=(SIDE * patch, SIDE * patch))
            position = divmod(query, SIDE)
            maps = [
                model_trace.on_grid(model_trace.rows(layer, position)).flatten(1).numpy()
                for layer in range(model_trace.layers)
            ]
            picture_rows.append(np.concatenate(maps))
        table = np.stack(picture_rows, axis=1)  # (heads of all layers, pictures, patches)
        for head in sorted(random.permutation(head_count)[:count]):
            layer, number = divmod(int(head), vit.config.heads)
            weights_by_name[f"{model_name}, layer {layer} head {number}"] = table[head]
    for a, b in [
        colour_nearness.SETTINGS[i] for i in random.permutation(len(colour_nearness.SETTINGS))[:FILTER_STRIPS]
    ]:
        rows = []
        for image, query in pictures:
            differences = colour_nearness.differences(
                colour_nearness.mean_colours(np.asarray(image), (SIDE, SIDE)), np.array([query])
            )
            rows.append(colour_nearness.weights(*differences, a, b)[0])
        weights_by_name[f"filter, widths {a:.2g}, {b:.2g}"] = np.stack(rows)
    return weights_by_name


def draw_strip(number: int, rows: np.ndarray, pictures: list) -> np.ndarray:
    lines = -(-len(pictures) // MAPS_ACROSS)
    sheet = Image.new("RGB", (40 + MAPS_ACROSS * (MAP_SIDE + GAP), lines * (MAP_SIDE + GAP) + 10), "white")
    pen = ImageDraw.Draw(sheet)
    pen.text((4, MAP_SIDE // 2), str(number), fill="black")
    for i, (row, (image, query)) in enumerate(zip(rows, pictures, strict=True)):
        x, y = 40 + i % MAPS_ACROSS * (MAP_SIDE + GAP), i // MAPS_ACROSS * (MAP_SIDE + GAP)
        brightness = row / max(float(np.quantile(np.delete(row, query), BRIGHT_QUANTILE)), 1e-9)
        brightness[query] = 1
        brightness = DARKEST + (1 - DARKEST) * brightness.clip(0, 1).reshape(SIDE, SIDE)
        brightness = np.kron(brightness, np.ones((CELL, CELL)))[..., None]
        photo = np.asarray(image.resize((MAP_SIDE, MAP_SIDE), Image.Resampling.BICUBIC)) * brightness
        sheet.paste(Image.fromarray(photo.astype(np.uint8)), (x, y))
        top, left = divmod(query, SIDE)
        box = [x + left * CELL - 1, y + top * CELL - 1, x + (left + 1) * CELL, y + (top + 1) * CELL]
        pen.rectangle(box, outline="#56B4E9", width=1)
    return np.asarray(sheet)


def reveal(verdicts: Path) -> None:
    strip_names = json.loads((OUT / "key.json").read_text())
    passing_numbers = {int(word) for word in verdicts.read_text().split()}
    for model_name in sorted({name.split(",")[0] for name in strip_names}):
        strip_numbers = {n for n, name in enumerate(strip_names) if name.split(",")[0] == model_name}
        names = ", ".join(sorted(strip_names[n].split(", ", 1)[1] for n in strip_numbers & passing_numbers))
        print(
            f"{model_name}: {len(strip_numbers & passing_numbers)} of {len(strip_numbers)}"
            + (f" ({names})" if names else "")
        )


if __name__ == "__main__":
    main()
