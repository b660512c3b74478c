"""Draws scenes into FOLDER and, into FOLDER_masks, the exact mask of all things in each scene. The command
`faithfulness` reads both folders.

python -m workshop.drawn_masks FOLDER --count 40
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from PIL import Image

from workshop.scenes.generate import scene

SEED = 900_000  # beyond the seeds of all training scenes


def write(folder: Path, count: int, size: int = 224) -> None:
    masks = folder.with_name(f"{folder.name}_masks")
    for subfolder in (folder, masks):
        subfolder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        drawing = scene(SEED + number, size)
        Image.fromarray(drawing.image).save(folder / f"{number:03}.png")
        Image.fromarray((drawing.objects > 0).astype(np.uint8) * 255).save(masks / f"{number:03}.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=40)
    options = parser.parse_args()
    write(options.folder, options.count)


if __name__ == "__main__":
    main()
