"""Do eyes find eyes? python benchmarks/eyes.py

In each photograph pairs of regions that belong together are marked by hand. Every patch of one region is asked whom it
listens to in the rest of the picture, its own region and the patches around that left out. Two numbers, over both
directions: how much of that attention the partner region takes, and how many of the patches *find* it, which means
that at least three of the five strongest patches lie there. Each pair is answered by the head, of all layers, whose
attention the partner takes most of. Among so many heads even a random network has one that leans the right way, so
it stands beside, as does the partner's share of the picture, which is what blind attention would give it.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import torch

import playground
from playground import borrowed, samples

MODELS = {"dinov2-small": {}, "bundled": {}, "DINOv2's shape, random": {"pretrained": False}}
Box = tuple[float, float, float, float]  # top, left, bottom, right, as parts of height and width
PAIRS: dict[str, dict[str, tuple[Box, Box]]] = {
    "chelsea": {
        "the eyes": ((0.28, 0.30, 0.50, 0.46), (0.36, 0.65, 0.56, 0.76)),
        "the whiskers": ((0.78, 0.18, 0.95, 0.42), (0.75, 0.66, 0.92, 0.80)),
    },
    "coffee": {
        "cup and spoon": ((0.05, 0.29, 0.55, 0.70), (0.58, 0.54, 0.82, 0.68)),
        "handle and spoon": ((0.58, 0.32, 0.77, 0.43), (0.58, 0.54, 0.82, 0.68)),
        "the saucer's sides": ((0.45, 0.14, 0.80, 0.28), (0.35, 0.71, 0.75, 0.80)),
    },
    "astronaut": {
        "the badges": ((0.67, 0.26, 0.83, 0.42), (0.66, 0.54, 0.75, 0.64)),
        "the collar's sides": ((0.32, 0.22, 0.44, 0.30), (0.42, 0.52, 0.57, 0.60)),
        "collar and helmet": ((0.30, 0.23, 0.58, 0.60), (0.66, 0.56, 0.98, 0.98)),
    },
    "rocket": {
        "the inner towers": ((0.30, 0.28, 0.85, 0.33), (0.30, 0.68, 0.85, 0.73)),
        "the outer towers": ((0.00, 0.06, 0.90, 0.13), (0.00, 0.88, 0.90, 0.96)),
        "two lamps": ((0.84, 0.20, 0.93, 0.26), (0.88, 0.54, 0.97, 0.60)),
    },
    "camera": {
        "the tripod's legs": ((0.65, 0.47, 0.95, 0.56), (0.67, 0.62, 0.97, 0.77)),
        "face and hand": ((0.24, 0.35, 0.37, 0.48), (0.33, 0.54, 0.42, 0.65)),
    },
}


def main() -> None:
    borrowed.fetch([borrowed.DINOV2, *borrowed.PHOTOGRAPHS])
    print(f"{'':34}{'area':>6}" + "".join(f"{name:>32}" for name in MODELS))
    vits = {name: playground.load("dinov2-small" if how else name, device="cpu", **how) for name, how in MODELS.items()}
    total: dict[str, list[torch.Tensor]] = {name: [] for name in MODELS}
    for picture, pairs in PAIRS.items():
        sample = samples.named(picture)
        image = playground.open_image(sample.path)
        seen = {}
        for name, vit in vits.items():
            size = tuple(side * vit.config.patch_size for side in sample.look.grid)
            seen[name] = playground.trace(vit, image, size=size)
        for what, (one, other) in pairs.items():
            regions = inside(one, sample.look.grid), inside(other, sample.look.grid)
            area = torch.stack(regions).float().mean()
            line = f"{picture + ': ' + what:34}{area:6.1%}"
            for name in MODELS:
                numbers, layer, head = best_head(seen[name], *regions)
                total[name].append(numbers)
                line += f"{f'{numbers[0]:.0%}, {numbers[1]:.0%} find it (L{layer} h{head})':>32}"
            print(line)
    means = {name: torch.stack(numbers).mean(dim=0) for name, numbers in total.items()}
    print(f"{'mean of all pairs':40}" + "".join(f"{f'{m[0]:.0%}, {m[1]:.0%} find it':>32}" for m in means.values()))


def best_head(seen, one: torch.Tensor, other: torch.Tensor) -> tuple[torch.Tensor, int, int]:
    """The two numbers, (2,), of the head whose attention the partner takes most of; and which head that is."""
    best = (torch.tensor([-1.0, 0.0]), 0, 0)
    for layer in range(seen.layers):
        for head in range(seen.heads):
            weights = seen.matrix(layer, head)[len(seen.prefix) :, len(seen.prefix) :]  # (patches, patches)
            both = torch.cat([asked(weights, one, other), asked(weights, other, one)], dim=1)
            best = max(best, (both.mean(dim=1), layer, head), key=lambda entry: entry[0][0])
    return best


def inside(box: Box, grid: tuple[int, int]) -> torch.Tensor:
    """(rows, columns): the patches whose middle lies in the box."""
    top, left, bottom, right = box
    rows, columns = ((torch.arange(n) + 0.5) / n for n in grid)
    return ((rows > top) & (rows < bottom))[:, None] & ((columns > left) & (columns < right))[None]


def asked(weights: torch.Tensor, here: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
    """(2, patches here): how much of the attention to elsewhere goes there, and whether that is found."""
    grown = torch.nn.functional.max_pool2d(here[None, None].float(), 3, stride=1, padding=1)[0, 0].bool()
    rows = weights[here.flatten()].clone()  # (patches here, patches)
    rows[:, (grown & ~there | here).flatten()] = 0
    taken = rows[:, there.flatten()].sum(dim=-1) / rows.sum(dim=-1)
    strongest = rows.topk(5, dim=-1).indices  # (patches here, 5)
    return torch.stack([taken, (there.flatten()[strongest].sum(dim=-1) >= 3).float()])


if __name__ == "__main__":
    main()
