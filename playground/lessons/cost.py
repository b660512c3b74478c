"""The lesson on the cost of attention: every pair of tokens, counted by formula, kept in memory, and measured on this
machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace

from playground.analysis import cost
from playground.analysis.cost import PRESETS, SIZES, Case
from playground.lessons import parts as p
from playground.lessons.lesson import Lesson, Setting, Settings, Step, Subject
from playground.lessons.questions import Bars, Number, Question, choice_question

IMAGE_SIDES = (64, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536)
DIALS = {
    "image": Setting(224, IMAGE_SIDES),
    "patch": Setting(16, (8, 14, 16, 32, 48)),
    "width": Setting(768, (192, 384, 512, 768, 1024, 1280)),
    "heads": Setting(12, (1, 2, 3, 4, 6, 8, 12, 16)),
    "layers": Setting(12, (1, 2, 4, 6, 12, 24, 32)),
    "kernel": Setting(3, (1, 3, 5, 7)),
}
DIAL_LABELS = {
    "image": "Image: {} px", "patch": "Patch: {} px", "width": "Width: {}", "heads": "Heads: {}",
    "layers": "Layers: {}", "kernel": "Convolution: {}×{}",
}  # fmt: skip
SWITCH_LABELS = {  # the first option is the default
    "count": ("Count", {cost.ATTENTION: "the whole attention", cost.SCORES: "QKᵀ alone"}),
    "other": ("against a {k}×{k} convolution that is", {cost.DENSE: "dense", cost.DEPTHWISE: "depthwise"}),
    "mlp": ("with an MLP", {"no": "no", "yes": "on both sides"}),
}
SWITCHES = {name: Setting(next(iter(options)), options) for name, (_, options) in SWITCH_LABELS.items()}
SIZE_DIALS = ("width", "heads", "layers", "patch")
ROWS = (  # the rows for one layer: words, formula, and the name of the number of FLOPs in core/costs.js
    ("attention: four matrices, and every pair twice", "8ND² + 4N²D", "attention"),
    ("… of that QKᵀ alone", "2N²D", "scores"),
    ("its MLP, 4D wide", "16ND²", "mlp"),
    ("{k}×{k} convolution, dense (D → D channels)", "2k²ND²", "dense"),
    ("{k}×{k} convolution, depthwise (a filter a channel)", "2k²ND", "depthwise"),
)
TEXTS = {  # the words in the drawing
    "no_patch": cost.NO_PATCH,
    "no_heads": cost.NO_HEADS,
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
    "layer": "one layer, N = {n}, D = {d}, k = {k}",
    "shares": "Attention is **{attention}** of the layer, the MLP the rest. Of attention’s FLOPs {pairs} grow with "
    "N², the square of the tokens; the others are its four matrices.",
    "ratio": "**{what} ÷ {other} convolution{mlp}: {mine} ÷ {theirs} FLOPs = {ratio}.**{textbook} {crossing}",
    "each_mlp": ", each with the MLP",
    "textbook": " This is the textbook’s N / k².",
    "always": "Counted so, it costs more than a {k}×{k} convolution with any number of tokens.",
    "from": "From **{first} tokens** on, {side} × {side} patches or {pixels} px, it costs more than the "
    "convolution.",
    "flops": "FLOPs of a layer of width {d}",
    "pairs": "only its pairs, N²",
    "convolution": "{other} {k}×{k} convolution",
    "and_mlp": " and MLP",
    "bytes": "Bytes that a layer keeps for training, {heads} heads",
    "attention": "attention",
    "fused": "fused, without the weights",
    "kept": "**What this playground keeps.** All N × N weights of the {layers} layers are {all}. Their queries and "
    "keys, from which it makes any row when the cursor asks, are **{kept}**: {less}.",
    "less": "{times} times less",
    "more": "{times} times *more*, for so few tokens",
}  # fmt: skip


def drawing(*pieces: str, **says: str) -> p.Drawing:
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
        "rows": ROWS,
        "says": TEXTS | says,
        "colours": {"attention": p.WEIGHTS, "fused": p.CHANGED, "convolution": p.CONVOLUTION},
    }
    return p.Drawing("case", data, (*switches, *DIALS))


SMALL_CASE, MIDDLE_CASE, LARGE_CASE = (
    PRESETS[name] for name in ("224 px, patch 16", "384 px, patch 16", "1,024 px, patch 16")
)


def pairs(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    small_count, large_count = SMALL_CASE.tokens, LARGE_CASE.tokens
    small_scores, large_scores = small_count**2, large_count**2
    yield p.Ask(Question(
        "cost_ratio",
        f"224 × 224 pixels are {small_count} patches of 16 × 16. Leave the class token aside: from 1,024 × 1,024 "
        "pixels, a head makes ▢ as many scores.",
        Number(1, 1000, " ×"), large_scores / small_scores,
        f"{large_count:,} patches instead of {small_count}, {large_count / small_count:.1f} times as many, and the "
        f"square of that: {large_scores:,} scores instead of {small_scores:,}.",
        tempting=(
            ((4, 5), "So much longer is a side of the picture. Patches go with its square, scores with theirs."),
            ((18, 25), "So many times as many *patches* there are. Each asks each: take the square."),
            ((1, 3), "Each side alone is 4.6 times as long."),
            ((900, 1000), "A side is 4.6 times as long, and it counts four times: 4.6⁴."),
        ),
        prose="There is a score for each pair of patches.",
        picture=Bars(
            ("224 × 224", "1,024 × 1,024"), (1, large_scores / small_scores), 1000, at=1, across=True, unit=" ×",
            title="Scores of one head", height=160,
        ),
    ))  # fmt: skip
    fine_case, coarse_case = (replace(MIDDLE_CASE, patch=side) for side in (32, 48))
    token_ratio, score_ratio = MIDDLE_CASE.tokens / SMALL_CASE.tokens, MIDDLE_CASE.entries / SMALL_CASE.entries
    yield p.After(
        "cost_ratio",
        drawing("dials", "square"),
        p.Exercise(
            "At 384 pixels, choose a patch size that makes no more scores than patches of 16 make at 224.",
            f"{SMALL_CASE.tokens} tokens become {MIDDLE_CASE.tokens}, {token_ratio:.2f} times as many, and "
            f"{SMALL_CASE.entries:,} scores {MIDDLE_CASE.entries:,}: {score_ratio:.1f} times, (384 / 224)⁴. Patches of "
            f"32 pixels make {fine_case.tokens} tokens and {fine_case.entries:,} scores, patches of 48 "
            f"{coarse_case.tokens} and {coarse_case.entries:,}. But one vector then "
            "stands for four or nine times as many pixels.",
            hint="Set the image to 384, then try patch sizes until there are no more tokens than at 224.",
            id="cost_back",
            done=fewer_tokens(MIDDLE_CASE.image, SMALL_CASE.tokens),
            tempting=[
                (p.When({"image": [MIDDLE_CASE.image],
                       "patch": [side for side in PATCH_SIZES if side < MIDDLE_CASE.patch]}),
                 "Smaller patches make *more* tokens."),
                (fewer_tokens(SMALL_CASE.image, SMALL_CASE.tokens - 1),
                 "At 224 pixels nothing has grown. Set the image to 384."),
            ],
        ),
        p.think(
            "More heads: what changes, and what doesn’t?",
            "The number of scores changes: every head has its own N × N. The FLOPs of the formulas don’t: each "
            "head is narrower by as much as there are more of them.",
        ),
    )  # fmt: skip


PATCH_SIZES = DIALS["patch"].options


def fewer_tokens(image: int, most_tokens: int) -> p.When:
    return p.When(
        {"image": [image], "patch": [side for side in PATCH_SIZES if Case(image, side).tokens <= most_tokens]}
    )


def formulas(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    n, d = SMALL_CASE.tokens, SMALL_CASE.width
    pair_flops = cost.pair_flops(n, d)
    flops = cost.mlp_flops(n, d), cost.attention_flops(n, d) - pair_flops, pair_flops
    shares = tuple(100 * part / sum(flops) for part in flops)
    yield p.Ask(Question(
        "cost_share",
        f"{n} patches, width {d}: QKᵀ and × V, all that grows with the *square* of the tokens, are ▢ of a layer’s "
        "FLOPs.",
        Number(0, 100, " %", step=0.5), shares[-1],
        f"4N²D of 24ND² + 4N²D, that is N / (6D + N): with few tokens nearly nothing. They are half of it at N = 6D = "
        f"{6 * d:,} tokens. “Attention is quadratic” is true, and for small pictures it hardly matters.",
        tempting=(
            ((30, 100), "Everybody speaks of the square. But the matrices work on each token, D × D at a time, "
             "and N is still much smaller than D here."),
            ((0, 0.5), "It is little, but not so little: there is a score for each pair of tokens."),
        ),
        prose="What a layer of a ViT-B computes for 224 × 224 pixels: its MLP, the four matrices of attention, and "
        "what is done for each *pair* of tokens.",
        picture=Bars(
            ("MLP, 16ND²", "W_Q, W_K, W_V, W_O, 8ND²", "every pair, 4N²D"), shares, 100, at=2, across=True, unit=" %",
            title="FLOPs of one layer",
        ),
    ))  # fmt: skip
    yield p.After(
        "cost_share",
        drawing("dials", "table", "switches", "ratio", "flops"),
        p.Exercise(
            f"A textbook says that attention costs {n / 9:.1f} times as much as a 3×3 convolution at {n} tokens. The "
            f"page says {SMALL_CASE.attention_flops / SMALL_CASE.convolution_flops:.2f}. Who is right?",
            "Both. The textbook counts QKᵀ alone against a depthwise convolution: 2N²D / 2k²ND = N / k². The page "
            "begins with the whole attention, its four matrices included, against a dense convolution.",
            hint="Two switches: what is counted, and against which convolution.",
            id="cost_textbook",
            done=p.When({"count": [cost.SCORES], "other": [cost.DEPTHWISE], "mlp": ["no"]}),
            answers=(
                ("the textbook", "It counts the scores alone. Turn the switches back: the page counts more."),
                ("the page", "It counted the four matrices too, and another convolution. Now it says N / k² as well."),
                ("both: they count different things", ""),
            ),
            tempting=[
                (p.When({"count": [count], "other": [other]}), "Only one of the two is as the textbook has it.")
                for count, other in ((cost.SCORES, cost.DENSE), (cost.ATTENTION, cost.DEPTHWISE))
            ],
        ),
    )


def memory(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    yield drawing("dials", "bytes", "kept")
    yield p.Ask(choice_question(
        "cost_memory", "With twice as many tokens, how much more memory do all weights take, and how much more do "
        "queries and keys take?",
        {
            "four": ("the weights 4 times, queries and keys twice", ""),
            "two": ("both twice",
              "Each token has a weight *for each other one*: with twice the tokens a row is twice as long, too."),
            "square": ("both 4 times",
              "Only what is kept for pairs grows so. A token has one query and one key in each head."),
        },
        "A weight belongs to a pair of tokens, a query and a key to one token. So this playground keeps queries and "
        "keys.",
    ))  # fmt: skip


def measured_here(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    yield p.Words(
        "One layer of this width, one image, one core: attention that makes its N × N weights, in a fused kernel, in "
        "windows of 4 × 4 tokens; linear attention; a convolution. Half a minute or so."
    )
    yield p.Workbench("measure", "Measure it on this machine", NEEDS_TEXT)
    yield drawing("flops", "dials", flops="Counted, until it is measured: FLOPs of a layer")
    yield p.Ask(choice_question(
        "cost_measured", "With many tokens the fused kernel is faster than attention by hand. Does it compute less?",
        {
            "same": ("no: the same products, but hardly anything goes to memory and back", ""),
            "less": ("yes: it leaves out small weights",
              "There are approximations that do. This one gives the same numbers, but for rounding (*Code*, step 2)."),
            "half": ("yes: it makes each score once for both directions",
              "The score of A with B is not that of B with A: q and k are different vectors."),
        },
        "FlashAttention and its like make a block of scores, use it and forget it. The N × N table never goes to "
        "memory, and that is what by-hand attention waits for.",
    ))  # fmt: skip


NEEDS_TEXT = (
    "**Only the app measures:** it runs such layers on your own machine. Below stands how to get it. Here is what the "
    "formulas say."
)


LESSON = Lesson(
    "cost",
    "In attention every token is compared with every token: twice the image side makes four times as many tokens and "
    "*sixteen times* as many scores. A convolution reads a fixed number of neighbours: its cost grows in proportion to "
    "the number of tokens.",
    DIALS | SWITCHES,
    {
        "pairs": Step("1 · Every pair", pairs, "cost_ratio", ("cost_back",), (*DIALS,), picture=False),
        "formulas": Step(
            "2 · FLOPs by formula", formulas, "cost_share", ("cost_textbook",), (*SWITCHES, *DIALS), picture=False
        ),
        "memory": Step("3 · Memory", memory, "cost_memory", settings=(*DIALS,), picture=False),
        "measured": Step(
            "4 · Measured here", measured_here, "cost_measured", settings=(*SWITCHES, *DIALS), picture=False
        ),
    },
    outcomes={
        "cost_ratio": "compute how scores grow with the side of a picture",
        "cost_share": "say which part of a layer’s cost grows with the square of the tokens",
    },
)
