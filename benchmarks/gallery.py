"""The gallery: every layout of `python -m playground figure`, with the command that makes each.

python benchmarks/gallery.py      # writes pictures of moderate size and a page to assets/readme/gallery/
python benchmarks/gallery.py --folder build/gallery heads.png      # some of them, elsewhere
"""

import argparse
import shlex
from pathlib import Path

import harness

from playground.__main__ import main

FOLDER = harness.ROOT / "assets" / "readme" / "gallery"
DPI = 72

CAT = "chelsea --model dinov2-small"  # the photographs and DINOv2 come with `python -m playground download`
FIGURES = {  # file -> (title, options of the command)
    "convolution.png": ("A convolution and attention", f"{CAT} --layout convolution"),
    "grid.png": (
        "Pictures and heads",
        "chelsea coffee astronaut --model dinov2-small --layout grid --rows pictures "
        "--columns heads:0-5 --width page --dpi 200",
    ),
    "components.png": (
        "The colours of features: alike is what has the same colour, in all pictures",
        "chelsea coffee astronaut --model dinov2-small --layout grid --rows pictures --columns layers:2,5,8,11 "
        "--what components --width page --dpi 150",
    ),
    "grey.png": ("A print in grey", f"{CAT} --colours grey --width page --dpi 150"),
    "heads.png": ("All heads of a layer", f"{CAT} --layout heads"),
    "wall.png": ("All heads of all layers", f"{CAT} --layout wall --theme dark"),
    "scale.png": ("With 1/√dₖ and without", "meadow --layout scale"),
    "compare.png": ("Two models", f"{CAT} --layout compare --with-model bundled"),
    "drawing.png": ("A drawing, in the bundled model", "portrait"),
}


def command_words(name: str, options: str) -> list[str]:
    dpi_words = [] if "--dpi" in options else ["--dpi", str(DPI)]
    return ["figure", *shlex.split(options), *dpi_words, "-o", name]


def draw(folder: Path, file_names: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    paragraphs = ["# Gallery", "Made by `python benchmarks/gallery.py`; under each figure the command that makes it."]
    for name in file_names:
        title, options = FIGURES[name]
        if main(command_words(str(folder / name), options)):
            raise SystemExit(f"{name} could not be made")
        print(f"{name:16} {(folder / name).stat().st_size / 1000:.0f} kB")
        command = shlex.join(["python", "-m", "playground", *command_words(name, options)])
        paragraphs += [f"## {title}", f"![{title}]({name})", f"```\n{command}\n```"]
    (folder / "README.md").write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"by default all of {', '.join(FIGURES)}")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    draw(arguments.folder, arguments.names or list(FIGURES))
