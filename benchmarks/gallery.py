"""The gallery: every layout of `python -m playground figure`, with the command that makes each.

python benchmarks/gallery.py      # writes pictures of moderate size and a page to assets/readme/gallery/
python benchmarks/gallery.py --folder build/gallery heads.png      # some of them, elsewhere
"""

import argparse
import shlex
from pathlib import Path

import harness

from playground.__main__ import main
from playground.figures.drawing.spec import Spec, query_words
from playground.figures.request import from_files

FOLDER = harness.ROOT / "assets" / "readme" / "gallery"
DPI = 72

# `with_walk` replaces {walk} by patches, which are chosen by the model's rows.
CAT = "chelsea --model dinov2-small"  # the photographs and DINOv2 come with `python -m playground download`
FIGURES = {  # file -> (title, options of the command)
    "convolution.png": ("A convolution and attention", f"{CAT} --layout convolution"),
    "contour.png": ("The patches that hold most of the weight", f"{CAT} --over contour --theme dark"),
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
    "atlas.png": ("What every head does on average", "meadow --layout atlas"),
    "curves.png": ("What the scale does to the softmax", "--layout curves"),
    "layers.webp": ("A sweep through the layers", f"{CAT} --sweep layers --dpi 64"),
    "patches.webp": (
        "A walk over the picture",
        "meadow --layout convolution --sweep patches:{walk} --dpi 64",
    ),
}


def with_walk(options: str) -> str:
    """The options with {walk} filled in: from the start patch to the patch with the largest weight in its row, its
    neighbours excluded, and back."""
    if "{" not in options:
        return options
    words = shlex.split(options)
    model = words[words.index("--model") + 1] if "--model" in words else "bundled"
    spec = Spec(image=words[0], model=model)
    seen, _, _ = from_files(spec)
    spec = spec.settled(seen)
    head = spec.look.head if spec.look else spec.head
    row, column = spec.query
    far_weights = seen.on_grid(seen.row(spec.layer, head, spec.query)).clone()
    far_weights[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2] = 0
    end_patch = divmod(int(far_weights.argmax()), seen.grid[1])
    return options.format(walk="-".join(query_words(patch) for patch in (spec.query, end_patch, spec.query)))


def command_words(name: str, options: str) -> list[str]:
    dpi_words = [] if "--dpi" in options else ["--dpi", str(DPI)]
    return ["figure", *shlex.split(options), *dpi_words, "-o", name]


def draw(folder: Path, file_names: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    paragraphs = ["# Gallery", "Made by `python benchmarks/gallery.py`; under each figure the command that makes it."]
    for name in file_names:
        title, options_text = FIGURES[name]
        options = with_walk(options_text)
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
