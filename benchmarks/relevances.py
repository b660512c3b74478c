"""Which kind of relevance predicts the effect of blanking best: python benchmarks/relevances.py [FILE …] [--model NAME]

The default of `relevance` was chosen by these numbers. In each picture, six tokens are explained: the start patch, four
random patches and, if the model has one, the class token. Blocks of patches are blanked one at a time with the mean
colour. A map's score is a rank correlation over the blocks: of the map's sum in a block with the distance that the
token's feature moves. A second score leaves out the block with the explained patch, which always moves the token most.
For comparison, rollout, nearness and a random map are scored, too. (`attention-playground relevance FOLDER --out
scores.csv` computes deletion and insertion.)
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
from playground.figures import batch  # noqa: E402
from playground.pictures import images  # noqa: E402
from playground.samples import SAMPLES, named  # noqa: E402
from playground.tracing import METHODS, Query, Trace  # noqa: E402

SIDE = 18  # rows and columns of the grid, approximately, in every model
RANDOM_PATCHES = 4  # number of random patches per picture


def explained_tokens(trace: Trace, start: tuple[float, float], name: str) -> Iterator[Query]:
    rows, columns = trace.grid
    yield int(start[0] * rows), int(start[1] * columns)
    random = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    for patch in torch.randperm(rows * columns, generator=random)[:RANDOM_PATCHES].tolist():
        yield divmod(patch, columns)
    if "cls" in trace.prefix:
        yield "cls"


def maps(trace: Trace, query: Query) -> dict[str, Tensor]:
    """{name: map (rows, columns)}"""
    maps_by_name = {method: trace.on_grid(trace.relevance(query, method=method)) for method in METHODS}
    maps_by_name["rollout"] = trace.on_grid(trace.rollout(query))
    if isinstance(query, tuple):
        r, c = torch.meshgrid(*(torch.arange(n) for n in trace.grid), indexing="ij")
        distances = ((r - query[0]) ** 2 + (c - query[1]) ** 2).float().sqrt()
        maps_by_name["nearness"] = distances.max() - distances
    return maps_by_name | {"random": torch.rand(trace.grid, generator=torch.Generator().manual_seed(0))}


def moves(trace: Trace, blocks: list[Tensor]) -> Tensor:
    """(blocks, tokens): ‖x' − x‖ / ‖x‖, where blanking the block turns the token's feature x after the last norm into
    x'. analysis/occlusion.py computes the same for one token."""
    vit, pixels = trace.vit, trace.input

    def features(images: Tensor) -> Tensor:
        return vit.norm(vit.features(images, trace.layers - 1, trace.scale)).float()

    with torch.no_grad():
        original = features(pixels)
        return torch.cat([
            (features(occlusion.blanked_picture(pixels, block, trace.patch_size)) - original).norm(dim=-1)
            / original.norm(dim=-1)
            for block in blocks
        ])  # fmt: skip


def scores_of_maps(trace: Trace, queries: list[Query]) -> Iterator[tuple[Query, str, tuple[float, float]]]:
    """(query, name of the map, (rank correlation over all blocks, the same without the query's own block))"""
    side = occlusion.side_of(trace.grid)
    blocks = occlusion.blocks(trace.grid, side)
    blocks = [blocks[i] for i in occlusion.comparable(blocks)]
    block_moves = moves(trace, blocks)
    for query in queries:
        query_moves = block_moves[:, trace.token(query)].tolist()
        other_blocks = [i for i, block in enumerate(blocks) if not (isinstance(query, tuple) and block[query])]
        for name, map_ in maps(trace, query).items():
            sums = [float(map_[block].sum()) for block in blocks]
            rest_correlation = occlusion.spearman(
                [sums[i] for i in other_blocks], [query_moves[i] for i in other_blocks]
            )
            yield query, name, (occlusion.spearman(sums, query_moves), rest_correlation)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pictures", nargs="*", default=[sample.name for sample in SAMPLES if sample.is_here])
    parser.add_argument("--model", action="append", help="by default dinov2-small and bundled")
    options = parser.parse_args()
    print("| model, asked | map | rank correlation | without its own block | lowest | of |")
    print("|---|---|---|---|---|---|")
    for model in options.model or ["dinov2-small", "bundled"]:
        vit = playground.load(model)
        patch = vit.config.patch_size
        scores_by_map: dict[tuple[str, str], list[tuple[float, ...]]] = {}
        for file in batch.pictures_of(options.pictures):
            sample = None if Path(file).exists() else named(file)
            image = images.open_image(sample.path if sample else file)
            grid_side = min(vit.config.image_size[0] // patch, SIDE)
            trace = tracing.trace(
                vit, image, size=images.fit(image.size, patch, (grid_side * patch, grid_side * patch))
            )
            for query, name, score in scores_of_maps(
                trace, list(explained_tokens(trace, sample.start if sample else (0.5, 0.5), file))
            ):
                kind = "the class token" if query == "cls" else "a patch"
                scores_by_map.setdefault((kind, name), []).append(score)
            print(f"… {model} {file}", file=sys.stderr, flush=True)
        for (kind, name), values in sorted(scores_by_map.items(), key=lambda item: (item[0][0], -_means(item[1])[0])):
            numbers = [*_means(values), min(score[0] for score in values)]
            cells = " | ".join(f"{number:.2f}" for number in numbers)
            print(f"| {model}, {kind} | {name} | {cells} | {len(values)} |", flush=True)


def _means(values: list[tuple[float, ...]]) -> list[float]:
    return [statistics.mean(column) for column in zip(*values, strict=True)]


if __name__ == "__main__":
    main()
