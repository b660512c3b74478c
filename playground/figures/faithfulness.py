"""The command `faithfulness` writes a table of how far maps can be trusted, for each model and method."""

from __future__ import annotations

import argparse
import csv
import math
from pathlib import Path
from statistics import mean

import numpy as np

from playground import tracing
from playground.analysis.faithfulness import MEASURES, MethodScores, faithfulness, with_shuffled
from playground.errors import PlaygroundError
from playground.figures import batch
from playground.figures.request import open_picture
from playground.figures.sweeping import bootstrap
from playground.models.hub import bar
from playground.models.loading import load
from playground.pictures import images

LARGEST_SIDE = 224  # pixels: the largest side of the input, because a picture takes about 260 passes
COLUMNS = ("model", "picture", "method", *MEASURES)
HEADINGS = ("rank correlation", "deletion ↑", "insertion ↓", "shuffled ↓", "pointing", "segmentation")


def write(options: argparse.Namespace) -> None:
    file = Path(options.out)
    if file.suffix.lower() != ".csv":
        raise PlaygroundError(f"The table goes into a .csv file, not into {options.out!r}.")
    pictures = batch.pictures_of(options.images)
    masks = _masks(options.images, pictures)
    rows: dict[str, list[tuple[str, MethodScores]]] = {}
    for name in options.models:
        vit = load(name)
        shuffled_model, rows[vit.name] = with_shuffled(vit), []
        for picture in bar()(pictures, desc=vit.name, unit="picture"):
            image = open_picture(picture)
            height, width = (min(side, LARGEST_SIDE) for side in vit.config.image_size)
            size = images.fit(image.size, vit.config.patch_size, (height, width))
            trace = tracing.trace(vit, image, size=size)
            mask = images.open_image(masks[picture]) if picture in masks else None
            rows[vit.name] += [(picture, scores) for scores in faithfulness(trace, shuffled_model, mask)]
            _write(file, rows)  # so that a stopped run leaves its results
    print(table(rows))


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


def _write(out: Path, rows: dict[str, list[tuple[str, MethodScores]]]) -> None:
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for model, picture_scores in rows.items():
            for picture, scores in picture_scores:
                numbers = (getattr(scores, measure) for measure in MEASURES)
                writer.writerow(
                    [model, Path(picture).name, scores.method, *("" if math.isnan(n) else f"{n:.4f}" for n in numbers)]
                )


def table(rows: dict[str, list[tuple[str, MethodScores]]]) -> str:
    """Means over the pictures as Markdown; the rank correlation has a 95 % bootstrap interval."""
    lines = [f"| model | pictures | method | {' | '.join(HEADINGS)} |", "|---" * (3 + len(HEADINGS)) + "|"]
    for model, picture_scores in rows.items():
        methods = dict.fromkeys(scores.method for _, scores in picture_scores)
        for method in methods:
            scores_of_method = [scores for _, scores in picture_scores if scores.method == method]
            cells = [_mean([getattr(scores, measure) for scores in scores_of_method]) for measure in MEASURES]
            _, low, high = bootstrap(np.array([[scores.rank_correlation] for scores in scores_of_method]))
            if not np.isnan(low[0]):
                cells[0] += f" ({low[0]:.2f} … {high[0]:.2f})"
            lines.append(f"| {model} | {len(scores_of_method)} | {method} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _mean(numbers: list[float]) -> str:
    finite_numbers = [number for number in numbers if not math.isnan(number)]
    return f"{mean(finite_numbers):.2f}" if finite_numbers else "–"
