"""The lesson on the cost of attention: every pair of tokens, counted by formula, kept in memory, and measured on this
machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from playground.analysis import cost
from playground.analysis.cost import PRESETS, Case
from playground.lessons.cost_case import DIALS, SWITCHES, drawing
from playground.lessons.lesson import Lesson, Setting, Settings, Step, Subject
from playground.lessons.parts import After, Ask, Exercise, Part, When, Words, Workbench, think
from playground.lessons.questions import Bars, Number, Question, choice_question

SMALL_CASE, MIDDLE_CASE, LARGE_CASE = (
    PRESETS[name] for name in ("224 px, patch 16", "384 px, patch 16", "1,024 px, patch 16")
)


# Every pair -----------------------------------------------------------------------------------------------------------


def ratio_question(small_count: int, large_count: int) -> Question:
    """The question about the ratio of scores. `small_count`, `large_count`: the number of patches of a picture with 224
    pixels a side, and of one with 1,024."""
    small_scores, large_scores = small_count**2, large_count**2
    return Question(
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
    )  # fmt: skip


def pairs(subject: Subject, settings: Settings) -> Iterator[Part]:
    yield Ask(ratio_question(SMALL_CASE.tokens, LARGE_CASE.tokens))
    fine_case, coarse_case = (replace(MIDDLE_CASE, patch=side) for side in (32, 48))
    token_ratio, score_ratio = MIDDLE_CASE.tokens / SMALL_CASE.tokens, MIDDLE_CASE.entries / SMALL_CASE.entries
    yield After(
        "cost_ratio",
        drawing("dials", "square"),
        Exercise(
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
                (When({"image": [MIDDLE_CASE.image],
                       "patch": [side for side in PATCH_SIZES if side < MIDDLE_CASE.patch]}),
                 "Smaller patches make *more* tokens."),
                (fewer_tokens(SMALL_CASE.image, SMALL_CASE.tokens - 1),
                 "At 224 pixels nothing has grown. Set the image to 384."),
            ],
        ),
        think(
            "More heads: what changes, and what doesn’t?",
            "The number of scores changes: every head has its own N × N. The FLOPs of the formulas don’t: each "
            "head is narrower by as much as there are more of them.",
        ),
    )  # fmt: skip


PATCH_SIZES = DIALS["patch"].options


def fewer_tokens(image: int, most_tokens: int) -> When:
    """The states in which this image is cut into at most `most_tokens` tokens."""
    return When({"image": [image], "patch": [side for side in PATCH_SIZES if Case(image, side).tokens <= most_tokens]})


# FLOPs by formula -----------------------------------------------------------------------------------------------------


def share_question(n: int, d: int, flops: Sequence[int]) -> Question:
    """The question about the share of a layer's FLOPs that grows with the square of the tokens. `flops`: FLOPs of the
    MLP, of attention's four matrices, and of QKᵀ and × V together."""
    shares = tuple(100 * part / sum(flops) for part in flops)
    return Question(
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
    )  # fmt: skip


def formulas(subject: Subject, settings: Settings) -> Iterator[Part]:
    n, d = SMALL_CASE.tokens, SMALL_CASE.width
    pair_flops = cost.pair_flops(n, d)
    yield Ask(share_question(n, d, (cost.mlp_flops(n, d), cost.attention_flops(n, d) - pair_flops, pair_flops)))
    yield After(
        "cost_share",
        drawing("dials", "table", "switches", "ratio", "flops"),
        Exercise(
            f"A textbook says that attention costs {n / 9:.1f} times as much as a 3×3 convolution at {n} tokens. The "
            f"page says {SMALL_CASE.attention_flops / SMALL_CASE.convolution_flops:.2f}. Who is right?",
            "Both. The textbook counts QKᵀ alone against a depthwise convolution: 2N²D / 2k²ND = N / k². The page "
            "begins with the whole attention, its four matrices included, against a dense convolution.",
            hint="Two switches: what is counted, and against which convolution.",
            id="cost_textbook",
            done=When({"count": [cost.SCORES], "other": [cost.DEPTHWISE], "mlp": ["no"]}),
            answers=(
                ("the textbook", "It counts the scores alone. Turn the switches back: the page counts more."),
                ("the page", "It counted the four matrices too, and another convolution. Now it says N / k² as well."),
                ("both: they count different things", ""),
            ),
            tempting=[
                (When({"count": [count], "other": [other]}), "Only one of the two is as the textbook has it.")
                for count, other in ((cost.SCORES, cost.DENSE), (cost.ATTENTION, cost.DEPTHWISE))
            ],
        ),
    )


# Memory ---------------------------------------------------------------------------------------------------------------


def doubled_question() -> Question:
    return choice_question(
        "cost_memory",
        "With twice as many tokens, how much more memory do all weights take, and how much more do queries and keys "
        "take?",
        {
            "four": "the weights 4 times, queries and keys twice",
            "two": "both twice",
            "square": "both 4 times",
        },
        "four",
        "A weight belongs to a pair of tokens, a query and a key to one token. So this playground keeps queries and "
        "keys.",
        {
            "two": "Each token has a weight *for each other one*: with twice the tokens a row is twice as long, too.",
            "square": "Only what is kept for pairs grows so. A token has one query and one key in each head.",
        },
    )  # fmt: skip


def memory(subject: Subject, settings: Settings) -> Iterator[Part]:
    yield drawing("dials", "bytes", "kept")
    yield Ask(doubled_question())


# Measured -------------------------------------------------------------------------------------------------------------


def fewer_question() -> Question:
    return choice_question(
        "cost_measured", "With many tokens the fused kernel is faster than attention by hand. Does it compute less?",
        {
            "same": "no: the same products, but hardly anything goes to memory and back",
            "less": "yes: it leaves out small weights",
            "half": "yes: it makes each score once for both directions",
        },
        "same",
        "FlashAttention and its like make a block of scores, use it and forget it. The N × N table never goes to "
        "memory, and that is what by-hand attention waits for.",
        {
            "less": "There are approximations that do. This one gives the same numbers, but for rounding (*Code*, step "
            "2).",
            "half": "The score of A with B is not that of B with A: q and k are different vectors.",
        },
    )  # fmt: skip


def measured_here(subject: Subject, settings: Settings) -> Iterator[Part]:
    yield Words(
        "One layer of this width, one image, one core: attention that makes its N × N weights, in a fused kernel, in "
        "windows of 4 × 4 tokens; linear attention; a convolution. Half a minute or so."
    )
    yield Workbench("measure", "Measure it on this machine", NEEDS_TEXT)
    yield drawing("flops", "dials", flops="Counted, until it is measured: FLOPs of a layer")
    yield Ask(fewer_question())


NEEDS_TEXT = (
    "**Only the app measures:** it runs such layers on your own machine. Below stands how to get it. Here is what the "
    "formulas say."
)


SETTINGS: dict[str, Setting] = DIALS | SWITCHES
LESSON = Lesson(
    "cost",
    "In attention every token is compared with every token: twice the image side makes four times as many tokens and "
    "*sixteen times* as many scores. A convolution reads a fixed number of neighbours: its cost grows in proportion to "
    "the number of tokens.",
    SETTINGS,
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
)
