"""What the bundled model can do, on scenes that its training can't have seen: python benchmarks/bundled.py [FILE]

Prints the numbers of assets/MODEL.md and the bars they have to reach; `--write-card` puts them there. Heads, and the
settings of the rows they are compared with, are chosen on other held-out scenes than those they are measured on.
"""

import argparse
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

CARD = ROOT / "assets" / "MODEL.md"
BEGIN, END = "<!-- numbers: benchmarks/bundled.py --write-card -->", "<!-- end of numbers -->"
OTHERS = 200  # scenes on which heads and settings are chosen


def load_seconds(file: Path) -> float:
    """Reading the file in a process of its own, torch imported before; timm must stay away."""
    code = (
        "import sys, time, torch, playground.zoo as zoo; began = time.perf_counter(); "
        f"zoo.load({str(file)!r}, device='cpu'); print(time.perf_counter() - began); assert 'timm' not in sys.modules"
    )
    run = lambda: float(subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT))  # noqa: E731
    return statistics.median(run() for _ in range(3))


def lines(m: dict, seconds: float, megabytes: float) -> list[tuple[str, str, str]]:
    """(what, how much, bar)"""
    groups = ", ".join(f"{group} {score:.2f}" for group, score in m["f1 by group"].items())
    kinds = Counter(kind for layer in m["kinds"] for kind in layer).most_common()
    on, area = m["class token on objects"], m["area of objects"]
    return [
        (f"own object's share of an object patch's attention, {head(m['best head'])}", f"{m['mass']:.3f}", "≥ 0.85"),
        ("… with what prefix tokens take counted as lost", f"{m['mass, prefix counted']:.3f}", ""),
        ("… of a row that is everywhere alike (area)", f"{m['area']:.3f}", ""),
        ("… of nearness alone (the best Gaussian)", f"{m['gaussian']:.3f}", ""),
        ("… of colour alone (the best kernel on mean colours)", f"{m['colour']:.3f}", "< 0.6, and 0.2 below"),
        (f"the same without the eight neighbours, {head(m['far head'])}", f"{m['far mass']:.3f}", ""),
        ("… of area", f"{m['far area']:.3f}", ""),
        ("… of nearness alone", f"{m['far gaussian']:.3f}", ""),
        ("… of colour alone", f"{m['far colour']:.3f}", ""),
        ("best head of each layer", " ".join(f"{mass:.2f}" for mass in m["layers"]), "three above 0.7"),
        (
            f"overlap of the 60 % set with the object (Jaccard), {head(m['overlap head'])}",
            f"{m['overlap']:.3f}",
            "≥ 0.5",
        ),
        ("class token: macro-F1 over all labels, threshold 0.5", f"{m['f1']:.3f}", "≥ 0.85"),
        ("… by group of labels", groups, ""),
        ("… of who says yes to every label", f"{m['f1 of yes']:.3f}", ""),
        ("class token's attention on objects, last two layers", f"{on:.3f}, {on / area:.2f} × their area", "≥ 2 ×"),
        ("habits of the heads", ", ".join(f"{n} {kind}" for kind, n in kinds), "a fixed offset, local, by content"),
        ("idle heads", f"{m['idle']:.0%}", "≤ 25 %"),
        ("loading the file", f"{seconds * 1e3:.0f} ms", "≤ 500 ms"),
        ("its size", f"{megabytes:.1f} MB", "≤ 10 MB"),
    ]


def head(place: tuple[int, int]) -> str:
    return f"layer {place[0]} head {place[1]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, help="default: the bundled model")
    parser.add_argument("--scenes", type=int, default=500, help="how many are measured (default: 500)")
    parser.add_argument("--write-card", action="store_true", help="put the numbers into assets/MODEL.md")
    options = parser.parse_args()

    from tqdm import tqdm

    from playground import zoo
    from playground.scenes import generate
    from playground.training import evaluate

    file = (options.file or zoo.BUNDLED).resolve()
    vit = zoo.load(str(file), device="cpu")
    held_out = [generate.scene(generate.HELD_OUT + i) for i in tqdm(range(options.scenes + OTHERS), desc="drawing")]
    measured = evaluate.measure(vit, held_out[: options.scenes], held_out[options.scenes :])
    found = lines(measured, load_seconds(file), file.stat().st_size / 1e6)
    text = "\n".join(
        ["| on held-out scenes | measured | bar |", "|---|---|---|", *(f"| {' | '.join(line)} |" for line in found)]
    )
    print(f"{file.name}, {options.scenes} scenes\n\n{text}")
    if options.write_card:
        card = CARD.read_text(encoding="utf-8")
        before, after = card.split(BEGIN)[0], card.split(END)[1]
        title = f"Measured on {options.scenes} held-out scenes; heads and settings chosen on {OTHERS} others."
        CARD.write_text(f"{before}{BEGIN}\n{title}\n\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
