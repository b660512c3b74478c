"""What the page Cost says and asks. Its numbers are reckoned in analysis/cost.py."""

from __future__ import annotations

from collections.abc import Sequence

from playground.lessons.questions import Bars, Number, Question, Squares, of_choice
from playground.lessons.texts import Exercise, Step, Text

DIALS = ("image", "patch", "width", "heads", "layers", "kernel")  # above every step

TEXT = Text(
    "cost",
    "In attention every token is compared with every token: twice the image side makes four times as many tokens and "
    "*sixteen times* as many scores. A convolution reads a fixed number of neighbours: its cost grows in proportion to "
    "the number of tokens.",
    {
        "pairs": Step(
            "1 · Every pair",
            "cost_ratio",
            settings=DIALS,
            exercises=(
                Exercise(
                    "From 224 to 384 pixels at patch 16: by how much do the scores grow? Which patch takes the growth "
                    "back?",
                    "{small.tokens} tokens become {middle.tokens}, {more:.2f} times as many, and {small.entries:,} "
                    "scores become {middle.entries:,}: {scores:.1f} times, (384 / 224)⁴. Patches of 32 pixels make "
                    "{fine.tokens} tokens and {fine.entries:,} scores at 384 pixels, fewer than at the start; patches "
                    "of 48 make {coarse.tokens} and {coarse.entries:,}. But one vector then stands for four or nine "
                    "times as many pixels.",
                    hint="Set the image to 384, then try patch sizes until there are no more tokens than at 224.",
                    id="cost_back",
                    tempting={
                        "finer": "Smaller patches make *more* tokens.",
                        "small": "At 224 pixels nothing has grown. Set the image to 384.",
                    },
                ),
                Exercise(
                    "More heads: what changes, and what doesn’t?",
                    "The number of scores changes: every head has its own N × N. The FLOPs of the formulas don’t: each "
                    "head is narrower by as much as there are more of them.",
                ),
            ),
            said={
                "sides": "{image:,} ÷ {patch} = {side} patches a side. (A class token would be one token more.)",
                "rest": " The last {rest} pixels make no whole patch and are cut off.",
            },
        ),
        "formulas": Step(
            "2 · FLOPs by formula",
            "cost_share",
            settings=("count", "other", "mlp", *DIALS),
            exercises=(
                Exercise(
                    "A textbook says that attention costs {textbook:.1f} times as much as a 3×3 convolution at {n} "
                    "tokens. The page says {here:.2f}. Who is right?",
                    "Both; they count different things. The textbook counts QKᵀ alone against a depthwise convolution: "
                    "2N²D / 2k²ND = N / k². The page begins with the whole attention, its four matrices included, "
                    "against a dense convolution of the same width. Turn the two switches, and each number appears.",
                    hint="Two switches: what is counted, and against which convolution.",
                    id="cost_textbook",
                    tempting={"one": "Only one of the two is as the textbook has it."},
                ),
            ),
            after="Attention is **{attention:.0%}** of the layer, the MLP the rest. Of attention’s FLOPs {pairs:.0%} "
            "grow with N², the square of the tokens; the others are its four matrices.",
            said={
                "ratio": "**{what} ÷ {other} convolution{mlp}: {mine:,.0f} ÷ {theirs:,.0f} FLOPs = {ratio:.3g}.**"
                "{textbook} {crossing}",
                "textbook": " This is the textbook’s N / k².",
                "always": "Counted so, it costs more than a {k}×{k} convolution with any number of tokens.",
                "from": "From **{first:,} tokens** on, {side} × {side} patches or {pixels:,} px, it costs more than "
                "the convolution.",
            },
        ),
        "memory": Step(
            "3 · Memory",
            "cost_memory",
            settings=DIALS,
            after="**What this playground keeps.** All N × N weights of the {layers} layers are {all}. Their queries "
            "and keys, from which it makes any row when the cursor asks, are **{kept}**: {less}.",
            said={"less": "{times:.3g} times less", "more": "{times:.3g} times *more*, for so few tokens"},
        ),
        "measured": Step(
            "4 · Measured here",
            "cost_measured",
            "One layer of width {width} with {heads} heads, one image, one core, in a process of its own: attention "
            "that makes its N × N weights, attention in a fused kernel, attention in windows of 4 × 4 tokens, linear "
            "attention, a {k}×{k} convolution. Half a minute or so.",
            settings=DIALS,
            after="Time is the quickest of up to five passes; memory the highest point above what was there before. "
            "Step 3 counts what training keeps of a layer. This is a forward pass alone, which keeps nothing; but by "
            "hand it holds {tables} tables of N × N for each head at once: scores, scaled scores, weights.",
            said={
                "cheaper": "**At {tokens:,} tokens windows take {windows:.2f} × and linear attention {linear:.2f} × "
                "the time of fused attention over all pairs**, the four matrices included, which all have alike. They "
                "compute something else: in a window nobody hears the rest, and linear attention can’t single out one "
                "key as sharply.",
                "skipped": "**{kind} was not run with {tokens:,} tokens:** it would take about {much}.",
                "memory": "{bytes}, and this page takes at most a gigabyte",
                "time": "{seconds} a pass, and this page takes {most:.0f}",
                "no_peak": "This system does not tell a process its peak memory; Linux does.",
                "stopped": "Stopped before its end.",
                "no_room": "The measurement found no room on this machine: try again later.",
                "others": "Somebody else is measuring ({what}). One at a time.",
                "waits": "{before} before you. Yours begins by itself.",
            },
        ),
    },
)


def ratio(small: int, large: int) -> Question:
    """Of the patches of a picture of 224 and of 1,024 pixels."""
    scores, more = small**2, large**2
    return Question(
        "cost_ratio",
        f"224 × 224 pixels are {small} patches of 16 × 16. Leave the class token aside: from 1,024 × 1,024 pixels,"
        " a head makes ▢ as many scores.",
        Number(1, 1000, " ×"), more / scores,
        f"{large:,} patches instead of {small}, {large / small:.1f} times as many, and the square of that: {more:,} "
        f"scores instead of {scores:,}.",
        tempting=(
            ((4, 5), "So much longer is a side of the picture. Patches go with its square, scores with theirs."),
            ((18, 25), "So many times as many *patches* there are. Each asks each: take the square."),
        ),
        prose="The small square: a score for each pair of patches, to scale. Drag the corner of the large one.",
        picture=Squares(f"{scores:,} scores", f"{more:,} scores", "Scores of one head"),
    )  # fmt: skip


def share(n: int, d: int, flops: Sequence[int]) -> Question:
    """How much of a layer grows with the square of the tokens? `flops`: of its MLP, of the four matrices, of pairs."""
    shares = tuple(100 * part / sum(flops) for part in flops)
    return Question(
        "cost_share",
        f"{n} patches, width {d}: QKᵀ and × V, all that grows with the *square* of the tokens, are ▢ of a layer’s "
        "FLOPs.",
        Number(0, 100, " %", step=0.5), shares[-1],
        f"4N²D of 24ND² + 4N²D, that is N / (6D + N): with few tokens nearly nothing. They are half of it at N = 6D = "
        f"{6 * d:,} tokens. “Attention is quadratic” is true, and for small pictures it hardly matters.",
        tempting=(((30, 100), "Everybody speaks of the square. But the matrices work on each token, D × D at a time, "
                   "and N is still much smaller than D here."),),
        prose="What a layer of a ViT-B computes for 224 × 224 pixels: its MLP, the four matrices of attention, and "
        "what is done for each *pair* of tokens.",
        picture=Bars(
            ("MLP, 16ND²", "W_Q, W_K, W_V, W_O, 8ND²", "every pair, 4N²D"), shares, 100, at=2, across=True, unit=" %",
            title="FLOPs of one layer",
        ),
    )  # fmt: skip


def doubled() -> Question:
    return of_choice(
        "cost_memory", "Twice as many tokens. How much more do all weights take, and how much more queries and keys?",
        {
            "four": "the weights 4 times, queries and keys twice",
            "two": "both twice",
            "square": "both 4 times",
        },
        "four",
        "A weight belongs to a pair of tokens, a query and a key to one token. That is why the fused kernel’s line is "
        "straight and less steep, and why this playground keeps queries and keys.",
        {
            "two": "Each token has a weight *for each other one*: with twice the tokens a row is twice as long, too.",
            "square": "Only what is kept for pairs grows so. A token has one query and one key in each head.",
        },
    )  # fmt: skip


def fewer() -> Question:
    return of_choice(
        "cost_measured", "With many tokens the fused kernel is faster than attention by hand. Does it compute less?",
        {
            "same": "no: the same products, but hardly anything goes to memory and back",
            "less": "yes: it leaves out small weights",
            "half": "yes: it makes each score once for both directions",
        },
        "same",
        "FlashAttention and its like make a block of scores, use it and forget it. The N × N table never goes to "
        "memory, and that is what by-hand attention waits for. Our forward pass uses it too: it keeps queries and "
        "keys, and makes a row when it is asked for.",
        {
            "less": "There are approximations that do. This one gives the same numbers, but for rounding (*Code*, step "
            "2).",
            "half": "The score of A with B is not that of B with A: q and k are different vectors.",
        },
    )  # fmt: skip
