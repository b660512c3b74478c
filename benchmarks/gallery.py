"""The gallery: every layout of `python -m playground figure`, with the command that makes each.

python benchmarks/gallery.py      # writes assets/readme/gallery/: pictures of moderate size, and a page that shows them
"""

import shlex
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playground.__main__ import main  # noqa: E402

FOLDER = ROOT / "assets" / "readme" / "gallery"
DPI = 72

CAT = "chelsea --model dinov2-small"  # the photographs and DINOv2 come with `python -m playground download`
FIGURES = {  # a file's name -> what it shows, and the options that make it
    "convolution.png": ("A convolution and attention", f"{CAT} --layout convolution"),
    "light.png": ("One head, as light", f"{CAT} --draw light --theme dark"),
    "grid.png": (
        "Pictures and heads",
        "chelsea coffee astronaut --model dinov2-small --layout grid --rows pictures "
        "--columns heads:0-5 --for page --dpi 200",
    ),
    "components.png": ("The colours of features", f"{CAT} --layout components --layer 11 --for page --dpi 150"),
    "queries.png": ("Two patches in one picture", f"{CAT} --with-patch 18,15 --for page --dpi 150"),
    "photo.png": (
        "Over the photograph's own colours, with an outline",
        f"{CAT} --over photo --mass 0.6 --for page --dpi 150",
    ),
    "heads.png": ("All heads of a layer", f"{CAT} --layout heads"),
    "wall.png": ("All heads of all layers", f"{CAT} --layout wall --theme dark"),
    "scale.png": ("With 1/√dₖ and without", "meadow --layout scale"),
    "compare.png": ("Two models", f"{CAT} --layout compare --with-model bundled"),
    "drawing.png": ("A drawing, in the bundled model", "portrait"),
    "atlas.png": ("What every head does on average", "meadow --layout atlas"),
    "curves.png": ("What the scale does to the softmax", "--layout curves"),
    "layers.webp": ("A sweep through the layers", f"{CAT} --sweep layers --dpi 64"),
    "patches.webp": (
        "A walk over the picture",
        "meadow --layout convolution --sweep patches:9,7-10,11-4,10-9,7 --dpi 64",
    ),
}


def line(name: str, options: str) -> list[str]:
    dots = [] if "--dpi" in options else ["--dpi", str(DPI)]
    return ["figure", *shlex.split(options), *dots, "-o", name]


def draw() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    parts = ["# Gallery", "Made by `python benchmarks/gallery.py`; under each figure the command that makes it."]
    for name, (title, options) in FIGURES.items():
        if main(line(str(FOLDER / name), options)):
            raise SystemExit(f"{name} could not be made")
        print(f"{name:16} {(FOLDER / name).stat().st_size / 1000:.0f} kB")
        command = shlex.join(["python", "-m", "playground", *line(name, options)])
        parts += [f"## {title}", f"![{title}]({name})", f"```\n{command}\n```"]
    (FOLDER / "README.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    draw()
