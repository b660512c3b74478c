"""What the page Code says and asks. What it says of each part of the file stands in lessons/listing.py."""

from __future__ import annotations

from playground.lessons.questions import Number, Photo, Question, of_choice
from playground.lessons.texts import Exercise, Step, Text

ROW = "layer {layer}, head {head}: a row of about the mean breadth"
NARROW = "layer {layer}, head {head}: a narrow row, from about {breadth:.1f} tokens"
TEXT = Text(
    "code",
    "This is the file that runs once for every new picture, and it keeps the queries and keys. When you point at a "
    "patch, nothing of it runs again: the browser repeats one row, softmax(q·Kᵀ/√d_k), from what was kept. One idea at "
    "a time:",
    {
        "file": Step(
            "1 · The file",
            "code_column",
            settings=("part",),
            exercises=(
                Exercise(
                    "Open the part in which W_O is applied. What is it called there?",
                    "`self.proj`, in *Heads*. It takes the heads’ results, side by side in one vector, and mixes them.",
                    hint="Attention gives a result for every head. Where are they put together again?",
                    id="code_output",
                    tempting={"layer": "Here the heads are used as a whole: `self.attn`. W_O is inside of it."},
                ),
            ),
        ),
        "twice": Step(
            "2 · Twice the same attention",
            "code_fused",
            after="**FlashAttention** (Dao et al., 2022) is this, in the fast memory of a chip. Of each row it keeps "
            "three things: the largest score so far, the sum of the powers, the mixture. When a larger score comes, "
            "sum and mixture shrink. So no N × N table is ever held. Our forward pass calls such a kernel, keeps "
            "queries and keys, and makes a row when you point at a patch. In layer {layer} on your picture{some}, "
            "{keys} keys at a time, the largest difference from the whole table is **{blocks:.0e}**.",
            said={
                "apart": "Their largest difference on your picture{some}, all layers and heads: **{apart:.1e}**.",
                "some": " (its first {most:,} tokens)",
                "times": "At {tokens:,} tokens the fused kernel takes **{times:.2f} ×** the time of the one by hand; "
                "their largest difference is {apart:.1e}.",
                "julia": "Julia writes `*` for the product of matrices, `'` for the transpose, and a dot where Python "
                "broadcasts: `exp.(x)`, `.-`. It counts from 1, so `dims=2` is Python’s axis 1.",
            },
        ),
        "library": Step(
            "3 · A library, and where the picture breaks",
            "code_library",
            "In a library, a :blue[**query**] is what you ask at the desk, a :orange[**key**] is the label on a spine, "
            "a :green[**value**] is what stands in the book.",
            after="Where it breaks:\n"
            "- A book may be **easy to find, with little inside**: a large weight on a short value. In "
            "{differs:.0%} of {rows:,} rows of your picture the patch with the largest weight is not the one that adds "
            "most. {drawn}\n"
            "- A library lends one book. Here everyone takes a little of each.\n"
            "- Nobody is only a reader: each token asks, is labelled and is read, in the same moment.\n"
            "- A label means nothing by itself. Turn all queries and keys by one random rotation, and the weights of "
            "layer {layer} on your picture{some} change by at most **{turned:.0e}**: only their products count.",
        ),
    },
)


def column() -> Question:
    return of_choice(
        "code_column", "What would go wrong if the softmax ran over dim=-2 instead of dim=-1?",
        {
            "columns": "the columns would sum to 1, and the rows would not",
            "nothing": "nothing: the table is square",
            "heads": "the heads would be mixed",
        },
        "columns",
        "Every token would *give away* the same total, and what a token receives would no longer be a weighted mean of "
        "values: some would be flooded, others get next to nothing.",
        {
            "nothing": "Square, but not symmetric: row i is what i asks, column i is what others ask of i.",
            "heads": "Heads lie along dim=-3. The last two are who asks, and who is asked.",
        },
    )  # fmt: skip


def fused() -> Question:
    return of_choice(
        "code_fused",
        "The fused kernel never holds the table of all weights. What does it compute?",
        {"same": "the same numbers, but for rounding", "near": "an approximation", "part": "the largest weights only"},
        "same", "The difference on your picture stands below: it is that of 32-bit sums.",
        {
            "near": "To be so much quicker it seems to have to leave something out. It only keeps less: block by "
            "block, with a running sum for the softmax.",
            "part": "A softmax needs the sum over *all* keys; it adds them up in blocks.",
        },
    )  # fmt: skip


def breadth(tokens: int, truth: float, layer: int, head: int, shown: Photo) -> Question:
    """`truth`: over how many tokens a row of the picture spreads, on average; `shown`: one that spreads about so."""
    return Question(
        "code_library",
        f"A library lends one book at a time. On your picture a row of weights takes from about ▢ of {tokens} tokens.",
        Number(1, tokens), truth,
        "That is 2 to the power of the entropy, averaged over all rows: a row spread evenly over so many tokens has "
        f"the same entropy. Drawn is a row that spreads about so, of head {head} in layer {layer}.",
        tempting=(
            ((1, 3), "So it is at the desk of a library. The softmax gives nobody exactly 0, and most rows are wide."),
            ((0.95 * tokens, tokens), "So it would be if all scores were equal. Most models start close to that."),
        ),
        picture=shown,
    )  # fmt: skip
