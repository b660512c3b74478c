"""Which relevance foretells best what blanking patches moves: python benchmarks/relevances.py [FOLDER …] [--model NAME]

This is what the default of `relevance` was chosen by. Of each picture two patches are explained, the one that it opens
with and one that is drawn, and, where the model has one, its class token. Blocks of patches are blanked one at a time
by the mean colour, and each map is judged by the rank correlation of its sums in these blocks with what moved; also
without the block that the patch itself lies in, which moves it most in any case; and by the areas of deletion (the
larger the better) and insertion (the smaller the better). Beside the methods stand rollout, mere nearness, and a map
drawn at random.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import playground  # noqa: E402
from playground import tracing  # noqa: E402
from playground.analysis import occlusion  # noqa: E402
from playground.figures import picture_files  # noqa: E402
from playground.pictures import images  # noqa: E402
from playground.samples import SAMPLES, named  # noqa: E402
from playground.tracing import METHODS, Query, Trace  # noqa: E402

SIDE = 18  # patches: about so many squared is the grid, whatever the model
JUDGED = ("all blocks", "but its own", "deletion", "insertion")


def asked(seen: Trace, start: tuple[float, float], name: str) -> Iterator[Query]:
    rows, columns = seen.grid
    yield int(start[0] * rows), int(start[1] * columns)
    random = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    yield divmod(int(torch.randint(rows * columns, (), generator=random)), columns)
    if "cls" in seen.prefix:
        yield "cls"


def maps(seen: Trace, query: Query) -> dict[str, Tensor]:
    """(rows, columns) each."""
    found = {method: seen.on_grid(seen.relevance(query, method=method)) for method in METHODS}
    found["rollout"] = seen.on_grid(seen.rollout(query))
    if isinstance(query, tuple):
        r, c = torch.meshgrid(*(torch.arange(n) for n in seen.grid), indexing="ij")
        far = ((r - query[0]) ** 2 + (c - query[1]) ** 2).float().sqrt()
        found["nearness"] = far.max() - far
    return found | {"random": torch.rand(seen.grid, generator=torch.Generator().manual_seed(0))}


def judged(seen: Trace, query: Query, areas: bool) -> dict[str, tuple[float, ...]]:
    """Of each map: as JUDGED says."""
    measured = occlusion.Measured(seen, occlusion.Asked(query=query))
    side = next(s for s in reversed(occlusion.SIZES) if len(occlusion.blocks(seen.grid, s)) <= occlusion.WHOLE)
    blocks = occlusion.blocks(seen.grid, side)
    moved = measured.moved(blocks)
    others = [i for i, block in enumerate(blocks) if not (isinstance(query, tuple) and block[query])]
    found = {}
    for what, one in maps(seen, query).items():
        said = [float(one[block].sum()) for block in blocks]
        without = occlusion.spearman([said[i] for i in others], [moved[i] for i in others])
        both = (occlusion.deletion(one, measured).area, occlusion.insertion(one, measured).area) if areas else (0, 0)
        found[what] = (occlusion.spearman(said, moved), without, *both)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pictures", nargs="*", default=[sample.name for sample in SAMPLES if sample.is_here])
    parser.add_argument("--model", action="append", help="by default dinov2-small and bundled")
    parser.add_argument("--areas", action="store_true", help="of deletion and insertion, too: three times as long")
    options = parser.parse_args()
    print("| model, asked | map | rank correlation | without its own block | deletion | insertion | of |")
    print("|---|---|---|---|---|---|---|")
    for model in options.model or ["dinov2-small", "bundled"]:
        vit = playground.load(model)
        patch = vit.config.patch_size
        collected: dict[tuple[str, str], list[tuple[float, ...]]] = {}
        for file in picture_files.found(options.pictures):
            sample = None if Path(file).exists() else named(file)
            image = images.open_image(sample.path if sample else file)
            native = min(vit.config.image_size[0] // patch, SIDE)
            seen = tracing.trace(vit, image, size=images.fit(image.size, patch, (native * patch, native * patch)))
            for query in asked(seen, sample.start if sample else (0.5, 0.5), str(file)):
                kind = "the class token" if query == "cls" else "a patch"
                for what, one in judged(seen, query, options.areas).items():
                    collected.setdefault((kind, what), []).append(one)
            print(f"… {model} {file}", file=sys.stderr, flush=True)
        for (kind, what), values in sorted(collected.items(), key=lambda item: (item[0][0], -_means(item[1])[0])):
            numbers = [f"{mean:.2f}" for mean in _means(values)]
            shown = numbers if options.areas else [*numbers[:2], "", ""]
            print(f"| {model}, {kind} | {what} | {' | '.join(shown)} | {len(values)} |", flush=True)


def _means(values: list[tuple[float, ...]]) -> list[float]:
    return [statistics.mean(column) for column in zip(*values, strict=True)]


if __name__ == "__main__":
    main()
