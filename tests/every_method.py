"""What is asked of a trace, by Python's users and by the page, as calls that give a tensor: of a trace, another
picture's and the folder of both."""

import numpy as np
import torch

import playground
from playground import relevance
from playground.analysis.ablation import ablation_effect, additivity
from playground.analysis.block import stream
from playground.analysis.cutting import cut_edge
from playground.analysis.heads import measure_heads
from playground.analysis.inside import inside
from playground.cuts import ABLATIONS
from playground.figures.drawing.ways import WAYS

PATCH = (2, 3)
NAMES_AND_PLACES = {  # public too, but no numbers of the network
    "at", "at_mask", "entering", "head_number", "intervening", "label", "layer_number", "of",
    "on_grid", "scale_number", "some_patches", "token",
}  # fmt: skip
METHODS = {
    "row": lambda seen, other, folder: seen.row(1, 0, PATCH),
    "row of the mean": lambda seen, other, folder: seen.row(1, "mean", "cls"),
    "rows": lambda seen, other, folder: seen.rows(1, PATCH, scale="off"),
    "weights": lambda seen, other, folder: seen.weights(2),
    "entropy": lambda seen, other, folder: seen.entropy(2),
    "scores": lambda seen, other, folder: seen.scores(1, 0, PATCH),
    "column": lambda seen, other, folder: seen.column(1, 0, PATCH),
    "columns": lambda seen, other, folder: seen.columns(1, PATCH),
    "column_scores": lambda seen, other, folder: seen.column_scores(1, 0, PATCH),
    "matrix": lambda seen, other, folder: seen.matrix(1, 0),
    "rollout": lambda seen, other, folder: seen.rollout(PATCH),
    "value_norms": lambda seen, other, folder: seen.value_norms(1),
    "table": lambda seen, other, folder: torch.tensor(seen.table()["entropy"].tolist()),
    "features": lambda seen, other, folder: seen.features(1),
    "similarity": lambda seen, other, folder: seen.similarity(PATCH),
    "match": lambda seen, other, folder: seen.match(other),
    "parts": lambda seen, other, folder: seen.parts(3),
    "alone": lambda seen, other, folder: seen.alone(1),
    "answers": lambda seen, other, folder: seen.answers(),
    "relevance of a patch": lambda seen, other, folder: seen.relevance(PATCH),
    **{
        f"relevance, {method}": lambda seen, other, folder, method=method: seen.relevance(label=3, method=method)
        for method in relevance.METHODS
    },
    "occlude": lambda seen, other, folder: seen.occlude(blocks=4, label=3),
    "occlude by noise": lambda seen, other, folder: seen.occlude(blocks=4, query=PATCH, by="noise"),
    "occlude by neighbours": lambda seen, other, folder: seen.occlude(blocks=4, query=PATCH, by="neighbours"),
    "foretells": lambda seen, other, folder: torch.tensor(seen.foretells(PATCH).correlation),
    "sinks": lambda seen, other, folder: torch.tensor([[s.share, s.carried, s.rank] for s in seen.sinks(0.02)]),
    "contribution": lambda seen, other, folder: seen.contribution(1, 0, PATCH),
    "direct": lambda seen, other, folder: seen.direct(3).heads,
    **{
        f"ablate to {to}": lambda seen, other, folder, to=to: seen.ablate([(1, 2)], to=to, tokens=[PATCH, "cls"]).logits
        for to in ABLATIONS
    },
    "ablate": lambda seen, other, folder: seen.ablate([(1, 2)]).logits,
    "ablate to a mean of pictures": lambda seen, other, folder: seen.ablate([(1, 2)], mean_of=folder).logits,
    "patch": lambda seen, other, folder: seen.patch(other, layers=1, positions=PATCH, what="keys").logits,
    "paths": lambda seen, other, folder: seen.paths((0, 1), (2, 3)).through.logits,
    "again": lambda seen, other, folder: seen.again({"layers.1.mlp": lambda x: x * 0}).logits,
    "moved": lambda seen, other, folder: torch.tensor(seen.ablate([(1, 2)]).moved(seen, PATCH)),
    "to_bytes": lambda seen, other, folder: playground.Trace.from_bytes(seen.to_bytes(numbers="int8")).row(1, 0, PATCH),
    "save": lambda seen, other, folder: playground.Trace.load(seen.save(folder.parent / "one.trace")).row(1, 0, PATCH),
    "trace_many": lambda seen, other, folder: of_many(folder, seen.vit),
    "gradients": lambda seen, other, folder: gradient(seen.vit, folder),
    "place_share": lambda seen, other, folder: playground.place_share(folder, seen.vit, progress=False),
    "sweep": lambda seen, other, folder: swept(seen, folder, "heads"),
    "sweep of patches": lambda seen, other, folder: swept(seen, folder, "layers × positions"),
    "inside a head": lambda seen, other, folder: torch.cat([x.flatten() for x in inside(seen, 1, 0, PATCH).values()]),
    "loss of a head": lambda seen, other, folder: ablation_effect(seen, [(1, 2)], to="mean").change,
    "heads one by one": lambda seen, other, folder: torch.tensor(additivity(seen, 1).single),
    "what heads do": lambda seen, other, folder: torch.from_numpy(measure_heads(seen).distance),
    "a cut edge": lambda seen, other, folder: torch.tensor(cut_edge(seen, PATCH, lambda: None).control_moves),
    "lengths of the stream": lambda seen, other, folder: stream(seen).mlp_length,
    **{
        f"figure, {way}": lambda seen, other, folder, way=way: numbers_of_figure(seen, folder.parent / "one.npz", way)
        for way in WAYS
        if way != "text"  # which needs a model of texts beside it
    },
}


def of_many(folder, vit):
    many = playground.trace_many(folder, vit, ("weights:1", "features", "entropy", "distance", "norms"), cut="*>3x3@1")
    return torch.cat([torch.from_numpy(x).nan_to_num().flatten() for one in many for x in one.arrays.values()])


def gradient(vit, folder):
    trace = playground.trace(vit, folder / "a.png", grad=True)
    return torch.autograd.grad(trace.logits[3], trace.record[1].v)[0].float().cpu()


def swept(seen, folder, over):
    found = playground.sweep(folder, seen.vit, "moved", over, blocks=4, progress=False)
    return torch.from_numpy(found["value"].values)


def numbers_of_figure(seen, file, what):
    playground.figure(seen, 1, 0, PATCH, what=what, dpi=20)
    return torch.from_numpy(np.load(playground.save(seen, file, 1, 0, PATCH, what=what))["values"])
