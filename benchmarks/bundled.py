"""What the bundled model can do, on scenes that its training can't have seen: python benchmarks/bundled.py [FILE]

Prints the numbers of assets/MODEL.md and the bars they have to reach; `--write-card` puts them there. Heads, and the
settings of the rows they are compared with, are chosen on other held-out scenes than those they are measured on.

With `--photographs DIR` (see playground/training/PHOTOGRAPHS.md) also on photographs that no training has seen: things
cut out before other photographs, and the cat's eyes. If FILE is the folder of a run, its running mean is measured as
far as it has come, and how well it predicts DINOv2's features.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

CARD = ROOT / "assets" / "MODEL.md"
BEGIN, END = "<!-- numbers: benchmarks/bundled.py --write-card -->", "<!-- end of numbers -->"
OTHERS = 200  # scenes on which heads and settings are chosen
APART, APART_SEED = 480, 2**16  # views of photographs that no training sees


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
        (
            f"own object's share of an object patch's attention, {head(m['best head'])}",
            f"{m['mass']:.3f}",
            "≥ 0.60, aim 0.75",
        ),
        ("… with what prefix tokens take counted as lost", f"{m['mass, prefix counted']:.3f}", ""),
        ("… of a row that is everywhere alike (area)", f"{m['area']:.3f}", ""),
        ("… of nearness alone (the best Gaussian)", f"{m['gaussian']:.3f}", ""),
        ("… of colour alone (the best kernel on mean colours)", f"{m['colour']:.3f}", ""),
        (f"the same without the eight neighbours, {head(m['far head'])}", f"{m['far mass']:.3f}", ""),
        ("… of area", f"{m['far area']:.3f}", ""),
        ("… of nearness alone", f"{m['far gaussian']:.3f}", ""),
        ("… of colour alone", f"{m['far colour']:.3f}", ""),
        ("heads above 0.5", str(m["heads above half"]), "≥ 4"),
        ("best head of each layer", " ".join(f"{mass:.2f}" for mass in m["layers"]), ""),
        (
            f"overlap of the 60 % set with the object (Jaccard), {head(m['overlap head'])}",
            f"{m['overlap']:.3f}",
            "",
        ),
        ("class token: macro-F1 over all labels, threshold 0.5", f"{m['f1']:.3f}", "≥ 0.85"),
        ("… by group of labels", groups, ""),
        ("… of who says yes to every label", f"{m['f1 of yes']:.3f}", ""),
        ("class token's attention on objects, last two layers", f"{on:.3f}, {on / area:.2f} × their area", "report"),
        ("habits of the heads", ", ".join(f"{n} {kind}" for kind, n in kinds), "report"),
        ("idle heads", f"{m['idle']:.0%}", "report"),
        ("loading the file", f"{seconds * 1e3:.0f} ms", "≤ 500 ms"),
        ("its size", f"{megabytes:.1f} MB", "≤ 10 MB"),
    ]


def head(place: tuple[int, int]) -> str:
    return f"layer {place[0]} head {place[1]}"


def on_photographs(vit, folder: Path, views_folder: Path, read_out) -> list[tuple[str, str, str]]:
    """The same kind of lines, on what is kept apart of the photographs. `read_out` predicts features from a picture."""
    import torch
    from tqdm import tqdm

    from playground.training import evaluate, views
    from playground.training.photographs import albums

    made = views.prepare(views_folder, albums(folder)[1], APART, 14, APART_SEED)
    list(tqdm(made, desc="DINOv2 looks", total=-(-APART // views.TOGETHER)))
    seen = views.read(views_folder)
    drawn = seen.present[:, 0] >= 0
    cut = [i for i in range(len(seen)) if seen.things[i].any() and not drawn[i]]
    there, here = (evaluate.own_mass(vit, seen.pictures[some], seen.things[some]) for some in (cut[::2], cut[1::2]))
    best = divmod(int(there.argmax()), vit.config.heads)
    area = sum(float((seen.things[i] > 0).mean()) for i in cut) / len(cut)
    eyes, layer, place = cat(vit)
    found = [
        (f"things before photographs: own thing's share, {head(best)}", f"{here[best]:.3f}", "≥ 0.60, aim 0.75"),
        ("… heads above 0.5", str(int((here > 0.5).sum())), "≥ 3"),
        ("… of the best head of each layer", " ".join(f"{mass:.2f}" for mass in here.amax(1).tolist()), ""),
        (f"… {len(cut)} pictures; all things together cover", f"{area:.3f}", ""),
        (f"the cat: an eye's attention to the other eye, {head((layer, place))}", f"{eyes:.3f}", "≥ 0.30"),
    ]
    if read_out is not None:
        shots = [i for i in range(len(seen)) if not seen.things[i].any() and not drawn[i]]
        with torch.no_grad():
            alike = [float(read_out(seen.pictures[i], seen.features[i, 1:])) for i in shots]
        found.append((f"cosine of predicted and DINOv2's features, {len(shots)} photographs",
                      f"{statistics.mean(alike):.3f}", "≥ 0.70"))  # fmt: skip
    return found


def cat(vit) -> tuple[float, int, int]:
    """How much of an eye's attention goes to the other eye, in which layer and head: see eyes.py."""
    import eyes

    import playground
    from playground import samples

    sample = samples.named("chelsea")
    size = tuple(side * vit.config.patch_size for side in sample.look.grid)
    seen = playground.trace(vit, playground.open_image(sample.path), size=size)
    boxes = (eyes.inside(box, sample.look.grid) for box in eyes.PAIRS["chelsea"]["the eyes"])
    numbers, layer, place = eyes.best_head(seen, *boxes)
    return float(numbers[0]), layer, place


def from_run(folder: Path):
    """The running mean of a run, and what reads features out of it."""
    import json

    import torch
    import torch.nn.functional as F

    from playground.training.loop import read_checkpoint
    from playground.training.losses import pixels
    from playground.vit import Config, VisionTransformer

    said = json.loads((folder / "recipe.json").read_text())["config"]
    vit = VisionTransformer(Config(**{k: tuple(v) if isinstance(v, list) else v for k, v in said.items()}))
    state = read_checkpoint(folder)
    vit.load_state_dict(state["mean"])
    maps, first = state["teachers"], len(vit.config.prefix)

    def read_out(picture, features) -> torch.Tensor:
        """The mean cosine over the patches."""
        x = pixels(torch.from_numpy(picture.copy())[None], vit.config)
        last = vit.norm(vit.features(x, vit.config.depth - 1))[0, first:]
        predicted = F.linear(last, maps["features.weight"], maps["features.bias"]) * maps["of_spread"] + maps["of_mean"]
        return F.cosine_similarity(predicted, torch.from_numpy(features.copy()).float(), dim=-1).mean()

    return vit.eval(), read_out, state["step"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, help="default: the bundled model; or the folder of a run")
    parser.add_argument("--scenes", type=int, default=500, help="how many are measured (default: 500)")
    parser.add_argument("--photographs", type=Path, metavar="DIR", help="measure on these, too")
    parser.add_argument("--views", type=Path, metavar="DIR", help="where their features stay (default: nowhere)")
    parser.add_argument("--write-card", action="store_true", help="put the numbers into assets/MODEL.md")
    options = parser.parse_args()

    from tqdm import tqdm

    from playground import zoo
    from playground.assets import BUNDLED
    from playground.scenes import generate
    from playground.training import evaluate

    file, read_out = (options.file or BUNDLED).resolve(), None
    with tempfile.TemporaryDirectory() as work:
        if file.is_dir():
            vit, read_out, step = from_run(file)
            print(f"step {step}")
            file /= "model.safetensors"
            if not file.exists():  # it still runs
                file = Path(work) / "model.safetensors"
                zoo.save(vit, file)
        vit = zoo.load(str(file), device="cpu")
        count = options.scenes + min(OTHERS, options.scenes)
        held_out = [generate.scene(generate.HELD_OUT + i) for i in tqdm(range(count), desc="drawing")]
        measured = evaluate.measure(vit, held_out[: options.scenes], held_out[options.scenes :])
        found = lines(measured, load_seconds(file), file.stat().st_size / 1e6)
        if options.photographs:
            found += on_photographs(vit, options.photographs, options.views or Path(work) / "views", read_out)
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
