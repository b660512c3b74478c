"""The words for the drawing of the lesson on the cost: dials that set a case, and counts of its FLOPs and bytes. The
browser fills in the numbers (microscope/lessons/case.js)."""

from __future__ import annotations

from dataclasses import asdict

from playground.analysis import cost
from playground.analysis.cost import PRESETS, SIZES
from playground.lessons.lesson import Setting
from playground.lessons.parts import CHANGED, CONVOLUTION, WEIGHTS, Drawing

IMAGE_SIDES = (64, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536)
DIALS = {
    "image": Setting.of(224, IMAGE_SIDES),
    "patch": Setting.of(16, (8, 14, 16, 32, 48)),
    "width": Setting.of(768, (192, 384, 512, 768, 1024, 1280)),
    "heads": Setting.of(12, (1, 2, 3, 4, 6, 8, 12, 16)),
    "layers": Setting.of(12, (1, 2, 4, 6, 12, 24, 32)),
    "kernel": Setting.of(3, (1, 3, 5, 7)),
}
DIAL_LABELS = {
    "image": "Image: {} px", "patch": "Patch: {} px", "width": "Width: {}", "heads": "Heads: {}",
    "layers": "Layers: {}", "kernel": "Convolution: {}×{}",
}  # fmt: skip
COUNTED_PARTS = {cost.ATTENTION: "the whole attention", cost.SCORES: "QKᵀ alone"}
CONVOLUTIONS = {cost.DENSE: "dense", cost.DEPTHWISE: "depthwise"}
MLPS = {"no": "no", "yes": "on both sides"}
SWITCHES = {
    "count": Setting.of(cost.ATTENTION, COUNTED_PARTS),
    "other": Setting.of(cost.DENSE, CONVOLUTIONS),
    "mlp": Setting.of("no", MLPS),
}
SWITCH_LABELS = {
    "count": ("Count", COUNTED_PARTS),
    "other": ("against a {k}×{k} convolution that is", CONVOLUTIONS),
    "mlp": ("with an MLP", MLPS),
}
SIZE_DIALS = ("width", "heads", "layers", "patch")
ROWS = (  # the rows for one layer: words, formula, and the name of the number of FLOPs in core/costs.js
    ("attention: four matrices, and every pair twice", "8ND² + 4N²D", "attention"),
    ("… of that QKᵀ alone", "2N²D", "scores"),
    ("its MLP, 4D wide", "16ND²", "mlp"),
    ("{k}×{k} convolution, dense (D → D channels)", "2k²ND²", "dense"),
    ("{k}×{k} convolution, depthwise (a filter a channel)", "2k²ND", "depthwise"),
)
PIECE_TEXTS = {  # piece of the drawing -> the words in it
    "dials": {"no_patch": cost.NO_PATCH, "no_heads": cost.NO_HEADS},
    "square": {
        "square": "One head: {entries} scores, to scale",
        "sides": "{image} ÷ {patch} = {side} patches a side. (A class token would be one token more.)",
        "rest": " The last {rest} pixels make no whole patch and are cut off.",
        "in_a_head": "scores in a head",
        "in_all": "in {heads} heads × {layers} layers",
        "pair_scores": "attention: {tokens} tokens × {tokens} tokens = {entries} scores in every head",
        "neighbours": "{k}×{k} convolution: {tokens} tokens × {reads} = {read} neighbours read",
        "dotted": "{name}: {tokens} tokens, {entries} scores",
        "who_asks": "who asks (token)",
        "whom": "whom",
    },
    "table": {
        "layer": "one layer, N = {n}, D = {d}, k = {k}",
        "shares": "Attention is **{attention}** of the layer, the MLP the rest. Of attention’s FLOPs {pairs} grow with "
        "N², the square of the tokens; the others are its four matrices.",
    },
    "switches": {},
    "ratio": {
        "ratio": "**{what} ÷ {other} convolution{mlp}: {mine} ÷ {theirs} FLOPs = {ratio}.**{textbook} {crossing}",
        "each_mlp": ", each with the MLP",
        "textbook": " This is the textbook’s N / k².",
        "always": "Counted so, it costs more than a {k}×{k} convolution with any number of tokens.",
        "from": "From **{first} tokens** on, {side} × {side} patches or {pixels} px, it costs more than the "
        "convolution.",
    },
    "flops": {
        "flops": "FLOPs of a layer of width {d}",
        "pairs": "only its pairs, N²",
        "convolution": "{other} {k}×{k} convolution",
        "and_mlp": " and MLP",
    },
    "bytes": {
        "bytes": "Bytes that a layer keeps for training, {heads} heads",
        "attention": "attention",
        "fused": "fused, without the weights",
        "convolution": "{k}×{k} convolution",
    },
    "kept": {
        "kept": "**What this playground keeps.** All N × N weights of the {layers} layers are {all}. Their queries and "
        "keys, from which it makes any row when the cursor asks, are **{kept}**: {less}.",
        "less": "{times} times less",
        "more": "{times} times *more*, for so few tokens",
    },
}  # fmt: skip


def drawing(*pieces: str, **says: str) -> Drawing:
    """The drawing with these pieces, from top to bottom. `says` replaces some of their words."""
    switches = SWITCH_LABELS if "flops" in pieces else {}
    data = {
        "pieces": pieces,
        "dials": {name: {"label": DIAL_LABELS[name], "options": setting.options} for name, setting in DIALS.items()},
        "switches": {
            name: {"label": label, "options": [*options.items()]} for name, (label, options) in switches.items()
        },
        "presets": {
            "label": "The classic cases, as a ViT-B",
            "cases": [(name, asdict(case)) for name, case in PRESETS.items()],
        },
        "sizes": {
            "label": "The usual sizes, with their parameters",
            "cases": [
                (f"{name}: {case.parameters / 1e6:.3g} M", {field: getattr(case, field) for field in SIZE_DIALS})
                for name, case in SIZES.items()
            ],
        },
        "rows": ROWS if "table" in pieces else (),
        "says": {name: words for piece in pieces for name, words in PIECE_TEXTS[piece].items()} | says,
        "colours": {"attention": WEIGHTS, "fused": CHANGED, "convolution": CONVOLUTION},
    }
    return Drawing("case", data, (*switches, *DIALS))
