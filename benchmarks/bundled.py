"""Measures the bundled model on scenes that were not in its training: python benchmarks/bundled.py [FILE]

Prints the numbers of assets/MODEL.md and their bars. `--write-card` writes the numbers into that file, and the main
ones into docs/pages/numbers.md and assets/measured.json, which the lesson *Training* shows. Heads and settings of the
filter are chosen on other held-out scenes than those on which they are measured.

`--photographs DIR` (see workshop/PHOTOGRAPHS.md) also measures on photographs that no training has used: on things
pasted onto photographs, and on pairs of parts such as two eyes. For comparison, the script measures DINOv2, the model
`bundled-taught`, and the filter by colour and nearness.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

CARD_FILE, MEASURED_FILE = ROOT / "assets" / "MODEL.md", ROOT / "assets" / "measured.json"
NUMBERS_FILE = ROOT / "docs" / "pages" / "numbers.md"
BEGIN_MARK = "<!-- numbers: benchmarks/bundled.py --write-card -->"  # the marks stand in both files
END_MARK = "<!-- end of numbers -->"
CHOICE_SCENES = 200  # number of scenes for choosing heads and the filter's settings
NAMED_SCENES = 60  # number of scenes for measuring the class token's attention on the objects that it names
VIEW_SEED = 2**16  # random seed of the pasted things
PASTED, PASTED_FOR_CHOICE = 200, 100  # photographs with pasted things: for measuring, and for choosing heads
SIDE = 14  # patches along a side
COMPARED_MODELS = {"DINOv2 S": "dinov2-small", "told where to look": "bundled-taught"}
MARGIN = 0.02  # the model's share must exceed the filter's by this


def load_seconds(file: Path) -> float:
    """Seconds to load the file in a new process that has imported torch; loading must not import timm."""
    code = (
        "import sys, time, torch, playground.models.loading as loading; began = time.perf_counter(); "
        f"loading.load({str(file)!r}, device='cpu'); print(time.perf_counter() - began); "
        "assert 'timm' not in sys.modules"
    )
    run = lambda: float(subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT))  # noqa: E731
    return statistics.median(run() for _ in range(3))


def main_rows(measures: dict, seconds: float, megabytes: float) -> list[tuple[str, str, str]]:
    """The rows of the table: (quantity, value, bar)."""
    groups = ", ".join(f"{group} {score:.2f}" for group, score in measures["f1 by group"].items())
    kinds = Counter(kind for layer in measures["kinds"] for kind in layer).most_common()
    on_objects, area = measures["class token on objects"], measures["area of objects"]
    return [
        (
            f"own object's share of an object patch's attention, {head_words(measures['best head'])}",
            f"{measures['mass']:.3f}",
            f"≥ filter + {MARGIN}",
        ),
        ("… with what prefix tokens take counted as lost", f"{measures['mass, prefix counted']:.3f}", ""),
        ("… of a row that is everywhere alike (area)", f"{measures['area']:.3f}", ""),
        ("… of nearness alone (the best Gaussian)", f"{measures['gaussian']:.3f}", ""),
        ("… of colour alone (the best kernel on mean colours)", f"{measures['colour']:.3f}", ""),
        ("… of the filter: colour × nearness, no network", f"{measures['filter']:.3f}", ""),
        ("… the head less the filter, mean and error over scenes", difference_words(measures["beyond the filter"]), ""),
        (
            f"the same without the eight neighbours, {head_words(measures['far head'])}",
            f"{measures['far mass']:.3f}",
            f"≥ filter + {MARGIN}",
        ),
        ("… of area", f"{measures['far area']:.3f}", ""),
        ("… of nearness alone", f"{measures['far gaussian']:.3f}", ""),
        ("… of colour alone", f"{measures['far colour']:.3f}", ""),
        ("… of the filter", f"{measures['far filter']:.3f}", ""),
        (
            "… the head less the filter, mean and error over scenes",
            difference_words(measures["far beyond the filter"]),
            "",
        ),
        ("heads above 0.5", str(measures["heads above half"]), "report"),
        ("best head of each layer", " ".join(f"{mass:.2f}" for mass in measures["layers"]), ""),
        (
            f"overlap of the 60 % set with the object (Jaccard), {head_words(measures['overlap head'])}",
            f"{measures['overlap']:.3f}",
            "",
        ),
        ("class token: macro-F1 over all labels, threshold 0.5", f"{measures['f1']:.3f}", "≥ 0.85"),
        ("… by group of labels", groups, ""),
        ("… of who says yes to every label", f"{measures['f1 of yes']:.3f}", ""),
        (
            "class token's attention on objects, last two layers",
            f"{on_objects:.3f}, {on_objects / area:.2f} × their area",
            "report",
        ),
        ("habits of the heads", ", ".join(f"{n} {kind}" for kind, n in kinds), "report"),
        ("idle heads", f"{measures['idle']:.0%}", "report"),
        ("loading the file", f"{seconds * 1e3:.0f} ms", "≤ 500 ms"),
        ("its size", f"{megabytes:.1f} MB", "≤ 10 MB"),
    ]


def head_words(place: tuple[int, int]) -> str:
    return f"layer {place[0]} head {place[1]}"


def difference_words(number: tuple[float, float]) -> str:
    """A difference and its error as text, such as "−0.120 ± 0.011"."""
    return f"{number[0]:+.3f} ± {number[1]:.3f}".replace("-", "−")


def rows_on_photographs(vit, folder: Path) -> list[tuple[str, str, str]]:
    """Rows of the table, measured on the held-out photographs."""
    from playground.models import loading
    from workshop.photographs import albums

    vits = {"": vit} | {title: loading.load(name, device="cpu") for title, name in COMPARED_MODELS.items()}
    return [*rows_on_pasted_things(vits, albums(folder)[1]), *rows_of_pairs(vits)]


def rows_of_named(vit, scenes: list) -> list[tuple[str, str, str]]:
    """Rows of the table: the share of the class token's attention on the objects that it names."""
    from workshop.evaluate import share_on_named_things

    shares = share_on_named_things(vit, scenes)
    texts = {method: f"{share:.3f}, {share / shares['area']:.2f} × their area" for method, share in shares.items()}
    return [
        (
            f"class token's attention on what it names, last two layers, {len(scenes)} scenes",
            texts["attention"],
            "≥ 1.5 ×",
        ),
        ("… its rollout through all layers", texts["rollout"], ""),
        ("… attention × gradient of the name's logit", texts["gradient"], ""),
    ]


def rows_in_eight_bits(vit) -> list[tuple[str, str, str]]:
    """Rows of the table: how far attention rows are off if the model's weights are rounded to 8 bits, as in the
    browser. Measured on the sample photographs, over all layers and heads."""
    from playground.pictures.images import fit, open_image
    from playground.samples import PHOTOGRAPHS
    from playground.tracing import trace

    rounded_vit, differences, is_same = rounded(vit), [], []
    for sample in PHOTOGRAPHS:
        image = open_image(sample.path)
        size = fit(image.size, vit.config.patch_size, vit.config.image_size)
        traces = [trace(each_vit, image, size=size) for each_vit in (vit, rounded_vit)]
        for layer in range(vit.config.depth):
            original_rows, rounded_rows = (seen.weights(layer) for seen in traces)
            differences.append((original_rows - rounded_rows).abs().sum(-1).mean() / 2)
            is_same.append((original_rows.argmax(-1) == rounded_rows.argmax(-1)).double().mean())
    return [
        (
            f"weights in 8 bits, as the browser gets them: total variation of rows, {len(PHOTOGRAPHS)} photographs",
            f"{statistics.mean(map(float, differences)):.4f}",
            "≤ 0.008",
        ),
        ("… rows whose largest weight is at the same token", f"{statistics.mean(map(float, is_same)):.1%}", "≥ 97 %"),
    ]


def rounded(vit):
    """A copy of the model with weights rounded as by models/engine_file.py."""
    import copy

    import numpy as np
    import torch

    from playground.models.engine_file import BLOCK, eight_bit_blocks

    rounded_vit = copy.deepcopy(vit)
    with torch.no_grad():
        for name, tensor in rounded_vit.named_parameters():
            if name == "pos_embed":
                tensor.copy_(tensor.half().float())
            elif name.endswith(".weight") and tensor.dim() > 1:
                codes, gains = eight_bit_blocks(tensor.flatten(1).numpy())
                gains = np.repeat(gains.astype(np.float32), BLOCK, axis=1)[:, : codes.shape[1]]
                tensor.copy_(torch.from_numpy(codes * gains).view_as(tensor))
    return rounded_vit


def rows_on_pasted_things(vits: dict, held_album) -> list[tuple[str, str, str]]:
    """Rows of the table for things pasted onto photographs. A third of the pictures is for choosing head and filter."""
    from playground.analysis import colour_nearness
    from workshop import evaluate

    pictures, grids = pasted_things(held_album)

    def measured(rows_of, title: str) -> tuple:
        return shares_on_things(pictures, grids, rows_of, title or "this model")

    tables = {title: measured(evaluate.rows_of_heads(vit), title) for title, vit in vits.items()}
    tables |= {"filter": measured(evaluate.rows_of_filter, "filter"), "area": measured(evaluate.rows_of_area, "area")}
    kinds = {
        "near": ("things before photographs: own thing's share", f"≥ filter + {MARGIN}"),
        "far": ("… without the eight neighbours", f"≥ filter + {MARGIN}"),
        "unlike": (f"… ≥ {evaluate.DISTANT_PATCHES} patches away and unlike in colour", "≥ 0.60"),
    }
    table_rows = []
    for kind, (title_words, bar) in kinds.items():
        best = {
            title: evaluate.best_candidate(getattr(choice_shares, kind), getattr(measured_shares, kind))
            for title, (choice_shares, measured_shares) in tables.items()
        }
        shares = {title: share for title, (_, share) in best.items()}
        places = {title: head_words(divmod(best[title][0], vit.config.heads)) for title, vit in vits.items()}
        widths = "widths {:.2g}, {:.2g}".format(*colour_nearness.SETTINGS[best["filter"][0]])
        table_rows += [
            (f"{title_words}, {places['']}", mean_words(shares[""]), bar),
            (f"… … of the filter: colour × nearness, no network ({widths})", mean_words(shares["filter"]), ""),
            (
                "… … the head less the filter, mean and error over pictures",
                difference_words(evaluate.mean_and_error(shares[""] - shares["filter"])),
                "",
            ),
            ("… … of area", mean_words(shares["area"]), ""),
            *((f"… … of {title}, {places[title]}", mean_words(shares[title]), "") for title in COMPARED_MODELS),
        ]
    heads_above_half = int((tables[""][1].near.nanmean(0) > 0.5).sum())
    distant = int((~tables[""][1].unlike[:, 0].isnan()).sum())
    table_rows.append(("… heads above 0.5", str(heads_above_half), "report"))
    table_rows.append((f"… {PASTED} pictures; of those with distant parts unlike in colour", str(distant), ""))
    return table_rows


def pasted_things(held_album) -> tuple[list, list]:
    """(photographs with pasted things, for each photograph the grid of the things' numbers)"""
    import numpy as np

    from workshop.photographs import composite
    from workshop.views import DINOV2_PATCH, most_frequent_numbers

    pictures, grids = [], []
    for number in range(PASTED + PASTED_FOR_CHOICE):
        picture, objects = composite(held_album, DINOV2_PATCH * SIDE, np.random.default_rng((VIEW_SEED, number)))
        pictures.append(np.asarray(picture))
        grids.append(most_frequent_numbers(objects, SIDE))
    return pictures, grids


def shares_on_things(pictures: list, grids: list, rows_of, title: str) -> tuple:
    """(shares on the pictures for choosing a head, shares on the pictures for measuring the chosen head)"""
    from tqdm import tqdm

    from workshop.evaluate import Shares

    splits = slice(PASTED, None), slice(None, PASTED)
    return tuple(Shares.of(tqdm(pictures[split], desc=title), grids[split], rows_of) for split in splits)


def mean_words(shares) -> str:
    """The mean over pictures and its error as text, such as "0.686 ± 0.012"."""
    from workshop.evaluate import mean_and_error

    return "{:.3f} ± {:.3f}".format(*mean_and_error(shares))


def rows_of_pairs(vits: dict) -> list[tuple[str, str, str]]:
    """Rows of the table for pairs of parts such as two eyes, measured as in benchmarks/eyes.py."""
    import eyes

    tables = {title: eyes.answers(vit) for title, vit in vits.items()} | {"filter": eyes.filter_answers()}
    numbers = {title: eyes.best_on_other_photographs(table)[0][:, 0] for title, table in tables.items()}
    shares, dinov2 = numbers.pop(""), numbers["DINOv2 S"]
    bar = "≥ 0.178, half of the way from the first bundled model's 0.127 to DINOv2 S's"
    margin = eyes.mean_and_error(shares - numbers["filter"])
    best_mean = eyes.best_for_each_pair(tables[""])[0][:, 0].mean()
    return [
        (
            f"{len(shares)} pairs of parts, partner's share, one head chosen on the other photographs",
            mean_words(shares),
            bar,
        ),
        ("… of the filter", mean_words(numbers["filter"]), ""),
        ("… the head less the filter, pair by pair", difference_words(margin), ""),
        ("… of DINOv2 S", mean_words(dinov2), ""),
        ("… of the model that was told where to look", mean_words(numbers["told where to look"]), ""),
        ("… of the head that is best for the very pair, which is no measure", f"{best_mean:.3f}", ""),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, help="default: the bundled model")
    parser.add_argument("--scenes", type=int, default=500, help="how many are measured (default: 500)")
    parser.add_argument("--photographs", type=Path, metavar="DIR", help="measure on these, too")
    parser.add_argument("--write-card", action="store_true", help="put the numbers into assets/MODEL.md")
    options = parser.parse_args()

    from tqdm import tqdm

    from playground.assets import BUNDLED_MODEL
    from playground.models import loading
    from workshop import evaluate
    from workshop.scenes import generate

    file = (options.file or BUNDLED_MODEL).resolve()
    vit = loading.load(str(file), device="cpu")
    count = options.scenes + min(CHOICE_SCENES, options.scenes)
    held_out = [generate.scene(generate.FIRST_HELD_OUT + i) for i in tqdm(range(count), desc="drawing")]
    measures = evaluate.measure(vit, held_out[: options.scenes], held_out[options.scenes :])
    card_lines = main_rows(measures, load_seconds(file), file.stat().st_size / 1e6)
    card_lines += [*rows_of_named(vit, held_out[: min(NAMED_SCENES, options.scenes)]), *rows_in_eight_bits(vit)]
    if options.photographs:
        card_lines += rows_on_photographs(vit, options.photographs)
    text = "\n".join(
        [
            "| on held-out scenes | measured | bar |",
            "|---|---|---|",
            *(f"| {' | '.join(line)} |" for line in card_lines),
        ]
    )
    print(f"{file.name}, {options.scenes} scenes\n\n{text}")
    if options.write_card:
        title = f"Measured on {options.scenes} held-out scenes; heads and settings chosen on {CHOICE_SCENES} others."
        write_between_marks(CARD_FILE, f"{title}\n\n{text}")
        write_table()


# The table of the lesson *Training* and of docs/pages/numbers.md, read from the card

FILTER, OURS, DIFFERENCE = "filter, no network", "`bundled`", "`bundled` − filter"
TOLD, TEACHER = "told where to look", "DINOv2 S"
COLUMNS = (FILTER, OURS, DIFFERENCE, TOLD, TEACHER)
LINE_STARTS = {  # start of a line in the card, after the dots -> the column of the line's number
    "of the filter": FILTER, "the head less the filter": DIFFERENCE, "of told where to look": TOLD,
    "of the model that was told where to look": TOLD, "of DINOv2 S": TEACHER,
}  # fmt: skip
MEASURES = {  # start of a measure's name in the card -> the measure's name in the table
    "pairs of parts": "{number} pairs of parts, such as a cat’s eyes: the partner’s share",
    "things before photographs": "things before photographs: their own patches’ share",
    "without the eight neighbours": "… without the eight neighbours",
    "patches away and unlike in colour": "… only those ≥ 3 patches away and unlike in colour",
}


def measured(card: str) -> dict:
    """The table's head and rows; the main measure, pairs, comes first."""
    table: dict[str, dict[str, str]] = {}
    measure = None
    for line in card.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 3 or "±" not in cells[1]:
            continue
        label = re.sub(r"^(… ?)+", "", cells[0])
        if column := next((column for mark, column in LINE_STARTS.items() if label.startswith(mark)), None):
            if measure:
                table[measure][column] = cells[1]
        elif measure_start := next((mark for mark in MEASURES if mark in label), None):
            measure = MEASURES[measure_start].format(number=(re.match(r"\d+", label) or [""])[0])
            table[measure] = {OURS: cells[1]}
        elif not cells[0].startswith("…"):
            measure = None
    rows = [
        [name, *(table[name][column] for column in COLUMNS)] for name in sorted(table, key=lambda n: "pairs" not in n)
    ]
    return {"head": ["measured where nothing trained", *COLUMNS], "rows": rows}


def write_table() -> None:
    table = measured(CARD_FILE.read_text(encoding="utf-8"))
    MEASURED_FILE.write_text(json.dumps(table, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    lines = [table["head"], ["---"] * len(table["head"]), *table["rows"]]
    write_between_marks(NUMBERS_FILE, "\n".join(f"| {' | '.join(line)} |" for line in lines))


def write_between_marks(file: Path, numbers: str) -> None:
    card_text = file.read_text(encoding="utf-8")
    text_before, text_after = card_text.split(BEGIN_MARK)[0], card_text.split(END_MARK)[1]
    file.write_text(f"{text_before}{BEGIN_MARK}\n{numbers}\n{END_MARK}{text_after}", encoding="utf-8")


if __name__ == "__main__":
    main()
