"""The command `faithfulness` writes a table of how far maps can be trusted, for each model and method."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from playground import tracing
from playground.analysis.faithfulness import MEASURES, faithfulness, with_shuffled
from playground.errors import PlaygroundError
from playground.figures import batch
from playground.figures.request import open_picture
from playground.figures.sweeping import bootstrap
from playground.models.hub import bar
from playground.models.loading import load
from playground.pictures import images

LARGEST_SIDE = 224  # pixels: the largest side of the input, because a picture takes about 260 passes
HEADINGS = ("rank correlation", "deletion ↑", "insertion ↓", "shuffled ↓", "pointing", "segmentation")


def write(options: argparse.Namespace) -> None:
    file = Path(options.out)
    if file.suffix.lower() != ".csv":
        raise PlaygroundError(f"The table goes into a .csv file, not into {options.out!r}.")
    pictures = batch.pictures_of(options.images)
    masks = _masks(options.images, pictures)
    rows: list[dict[str, Any]] = []
    for name in options.models:
        vit = load(name)
        shuffled_model = with_shuffled(vit)
        for picture in bar()(pictures, desc=vit.name, unit="picture"):
            image = open_picture(picture)
            height, width = (min(side, LARGEST_SIDE) for side in vit.config.image_size)
            size = images.fit(image.size, vit.config.patch_size, (height, width))
            trace = tracing.trace(vit, image, size=size)
            mask = images.open_image(masks[picture]) if picture in masks else None
            about = {"model": vit.name, "picture": Path(picture).name}
            rows += [about | vars(scores) for scores in faithfulness(trace, shuffled_model, mask)]
            pd.DataFrame(rows).to_csv(file, index=False, float_format="%.4f")  # a stopped run leaves its results
    print(table(pd.DataFrame(rows)))


def _masks(folders: list[str], pictures: list[str]) -> dict[str, Path]:
    """{picture: its mask}. The mask of a picture in FOLDER is the file of the same name in FOLDER_masks, if there is
    one."""
    mask_by_picture = {}
    for folder in (Path(path) for path in folders if Path(path).is_dir()):
        masks = folder.with_name(f"{folder.name}_masks")
        if not masks.is_dir():
            continue
        mask_files = {file.relative_to(masks).with_suffix(""): file for file in images.in_folder(masks)}
        for picture in pictures:
            if Path(picture).is_relative_to(folder) and (
                mask := mask_files.get(Path(picture).relative_to(folder).with_suffix(""))
            ):
                mask_by_picture[picture] = mask
        if not mask_by_picture:
            raise PlaygroundError(f"No mask in {masks} has the name of a picture in {folder}.")
    return mask_by_picture


def table(scores: pd.DataFrame) -> str:
    """Means over the pictures as Markdown; the rank correlation has a 95 % bootstrap interval."""
    lines = [f"| model | pictures | method | {' | '.join(HEADINGS)} |", "|---" * (3 + len(HEADINGS)) + "|"]
    for (model, method), rows in scores.groupby(["model", "method"], sort=False):
        cells = ["–" if np.isnan(number) else f"{number:.2f}" for number in rows[list(MEASURES)].mean()]
        _, low, high = bootstrap(rows[["rank_correlation"]].to_numpy())
        if not np.isnan(low[0]):
            cells[0] += f" ({low[0]:.2f} … {high[0]:.2f})"
        lines.append(f"| {model} | {len(rows)} | {method} | {' | '.join(cells)} |")
    return "\n".join(lines)
