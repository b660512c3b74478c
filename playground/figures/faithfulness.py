"""The command `faithfulness` writes a table of how far maps can be trusted, for each model and method."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from playground import tracing
from playground.analysis.faithfulness import CONTROLS, MEASURES, faithfulness, with_shuffled
from playground.errors import PlaygroundError
from playground.figures import batch
from playground.figures.request import open_picture
from playground.figures.sweeping import bootstrap
from playground.models.hub import bar
from playground.models.loading import load
from playground.pictures import images

HEADINGS = ("rank correlation", "deletion ↑", "insertion ↓", "SaCo ↑", "shuffled ↓", "pointing", "segmentation")
INTERVALS = ("rank_correlation", "saco")  # measures that are written with their interval


def write(options: argparse.Namespace) -> None:
    file = Path(options.out)
    if file.suffix.lower() != ".csv":
        raise PlaygroundError(f"The table goes into a .csv file, not into {options.out!r}.")
    pictures = batch.pictures_of(options.images)
    masks = _masks(options.images, pictures)
    rows = _rows_of(file)
    for name in options.models:
        vit = load(name)
        shuffled_model = with_shuffled(vit)
        done = {row["picture"] for row in rows if row["model"] == vit.name}
        for picture in bar()(pictures, desc=vit.name, unit="picture"):
            if Path(picture).name in done:
                continue
            image = open_picture(picture)
            height, width = (min(side, options.side) for side in vit.config.image_size)
            size = images.fit(image.size, vit.config.patch_size, (height, width))
            trace = tracing.trace(vit, image, size=size)
            mask = images.open_image(masks[picture]) if picture in masks else None
            about = {"model": vit.name, "picture": Path(picture).name}
            rows += [about | vars(scores) for scores in faithfulness(trace, shuffled_model, mask)]
            pd.DataFrame(rows).to_csv(file, index=False, float_format="%.4f")  # a stopped run goes on from here
    print(table(pd.DataFrame(rows)))


def _rows_of(file: Path) -> list[dict[str, Any]]:
    """The lines of a table that was begun before; of a picture whose lines are not all there, none."""
    if not file.is_file():
        return []
    scores = pd.read_csv(file)
    if list(scores) != ["model", "picture", "method", *MEASURES]:
        raise PlaygroundError(f"{file} has other columns than this version writes: name another file for --out.")
    is_last = scores["method"] == CONTROLS[-1]
    is_whole = is_last.groupby([scores["model"], scores["picture"]]).transform("any")
    return scores[is_whole].to_dict("records")


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
    """Means over the pictures as Markdown, apart for those with masks; 95 % bootstrap intervals."""
    lines = [f"| model | pictures | method | {' | '.join(HEADINGS)} |", "|---" * (3 + len(HEADINGS)) + "|"]
    has_mask = scores["pointing"].notna().groupby([scores["model"], scores["picture"]]).transform("any")
    for (model, masks, method), rows in scores.groupby(["model", has_mask, "method"], sort=False):
        cells = {}
        for measure, mean in rows[list(MEASURES)].mean().items():
            cells[measure] = "–" if np.isnan(mean) else f"{mean:.2f}"
            _, low, high = bootstrap(rows[measure].to_numpy())
            if measure in INTERVALS and not np.isnan(low):
                cells[measure] += f" ({low:.2f} … {high:.2f})"
        pictures = f"{len(rows)} with masks" if masks else len(rows)
        lines.append(f"| {model} | {pictures} | {method} | {' | '.join(cells.values())} |")
    return "\n".join(lines)
