"""The command `relevance`: how well each relevance foretells what blanking patches moves, on many pictures."""

from __future__ import annotations

import csv
from pathlib import Path
from statistics import mean

from playground import tracing
from playground.analysis import occlusion
from playground.analysis.explain import Score, answer_of, scores, words
from playground.errors import PlaygroundError
from playground.figures import batch
from playground.figures.command_line import trained
from playground.models.hub import bar
from playground.models.loading import load
from playground.pictures.images import open_image
from playground.samples import named
from playground.tracing import METHODS, Query

COLUMNS = ("picture", "model", "answer", "blanked_by", "method", "rank_correlation", "deletion", "insertion")


def write(options) -> None:
    if Path(options.out).suffix.lower() != ".csv":
        raise PlaygroundError(f"The scores go into a .csv file, not into {options.out!r}.")
    if options.by not in occlusion.BLANKS:
        raise PlaygroundError(f"Patches are blanked by {', '.join(occlusion.BLANKS)}, not by {options.by!r}.")
    if options.method not in (None, *METHODS):
        raise PlaygroundError(f"There is no method {options.method!r}: choose one of {', '.join(METHODS)}.")
    vit, pictures = (
        load(options.model, weights=options.weights, **trained(options)),
        batch.found(options.images),
    )
    found: dict[str, list[Score]] = {}
    with open(options.out, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for picture in bar()(pictures, desc="relevance", unit="picture"):
            seen = tracing.trace(vit, _open(picture))
            asked = answer_of(seen, _query(options.patch), _number_or_name(options.label))
            for score in scores(seen, asked, options.by, (options.method,) if options.method else METHODS):
                numbers = (f"{n:.4f}" for n in (score.rank_correlation, score.deletion, score.insertion))
                table.writerow([picture, seen.model, words(seen, asked), options.by, score.method, *numbers])
                found.setdefault(score.method, []).append(score)
            file.flush()  # a run that is stopped leaves what it measured
    print(f"{'mean of ' + str(len(pictures)):16} rank correlation  deletion  insertion")
    for method, some in found.items():
        means = (mean(getattr(one, what) for one in some) for what in ("rank_correlation", "deletion", "insertion"))
        print("{:16} {:16.2f}  {:8.3f}  {:9.3f}".format(method, *means))


def _open(name: str):
    sample = None if Path(name).exists() else named(name)
    return open_image(sample.path if sample else name)


def _query(text: str | None) -> Query | None:
    if text is None or "," not in text:
        return text
    try:
        row, column = (int(n) for n in text.split(","))
    except ValueError:
        raise PlaygroundError(f"A patch is ROW,COLUMN or the name of a prefix token, not {text!r}.") from None
    return row, column


def _number_or_name(text: str | None) -> str | int | None:
    return int(text) if text is not None and text.isascii() and text.isdecimal() else text
