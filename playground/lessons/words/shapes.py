"""What the page Shapes says and asks. What it says of each of the nine steps stands in lessons/shapes.py."""

from __future__ import annotations

from playground.lessons.questions import Question, of_choice
from playground.lessons.texts import Exercise, Step, Text

TEXT = Text(
    "shapes",
    "Follow one layer from the tokens that enter it to those that leave it. Every number of a shape has a name and a "
    "colour. Below the picture stands the code of each step.",
    {
        "walk": Step(
            "Nine steps",
            "shapes_scores",
            settings=("example", "at", "batch", "tokens", "dim", "chan", "heads"),
            exercises=(
                Exercise(
                    "Choose numbers so that the scores are 2 × 8 × 10 × 10.",
                    "Batch 2, 8 heads, 10 tokens. The width does not stand in the shape of the scores: any width will "
                    "do that 8 heads can share evenly.",
                    hint="*Your own numbers*. Which of the four is which?",
                    id="shapes_numbers",
                    tempting={
                        "other": "The right numbers at other places: the scores are batch × heads × tokens × tokens."
                    },
                ),
                Exercise(
                    "With width 512 and 8 heads, why are the scores divided by √64 and not by √512?",
                    "A score is a sum of as many products as a head’s query has numbers: d_k = 512 / 8 = 64. A sum of "
                    "64 independent products has a standard deviation √64 = 8 times that of one product, and dividing "
                    "by √64 takes that away.",
                ),
                Exercise(
                    "Which numbers of a shape are the same in every step? And in which steps does one token’s result "
                    "depend on other tokens?",
                    "The batch and the tokens: as many come out as went in. Tokens meet in three steps: in QKᵀ each "
                    "query is compared with every key; in the softmax the scores of a row compete, for they have to "
                    "sum to 1; in × V the values are mixed. All other steps treat every token by itself.",
                ),
            ),
            said={
                "picture": "The tokens of your picture in {model}, and its trained parameters.",
                "random": "Random tokens and random parameters: the shapes are real, the pattern in the numbers means "
                "nothing.",
                "others": "The shapes of other texts",
                "without_matrices": "The scores X Xᵀ are symmetric; the weights are not, for each row is divided by "
                "its own sum. Each token scores high with itself: the diagonal holds {diagonal:.0%} on average.",
                "fused": "The scale is 1/√16 = {four:g}; with one head of 64 it would be 1/√64 = {one:g}.",
                "full_heads": "Here every head has matrices of the full width, so each more head costs more. Most "
                "code, this one too, shares the width among the heads.",
                "names": "**`qkv_bias=True`** adds a learned vector to all queries, one to all keys, one to all "
                "values: 3 × width more parameters. The one of the *keys* changes no weight (measured: at most "
                "{key:.0e}), for q·b is the same for every key, and only differences count; that of the queries does "
                "({query:.2f}).\n\n**`qk_scale=None`** means 1/√d_k; a number stands in its place. With 100 random "
                "tokens and one head of 64 the largest weight of a row is {plain:.0%} on average; with `qk_scale=1` "
                "it is {off:.0%}.",
                "table": "The whole table: {tokens:,} × {tokens:,} weights of one head",
                "too_many": "With more than {most:,} tokens it would be larger than a screen; choose a coarser grid.",
                "rows": "A row asks, a column is asked. Every row sums to 1; brightest: {end:.1%} and more. {front}"
                "Stripes beside the diagonal are neighbours above and below, one row of the picture apart.",
                "front": "The first {front} rows and columns belong to no patch. ",
            },
        )
    },
)
OTHERS = {
    "without_matrices": "The shortest of all: Q = K = V = X, without any matrix",
    "fused": "Q, K and V out of one matrix, shared out among 4 heads by one view",
    "full_heads": "Heads of full width: 5 heads on 5 tokens of 3 numbers",
    "patches": "A picture of 128 pixels as tokens of 32 numbers",
    "names": "Names in other code: qkv_bias and qk_scale",
}


def scores() -> Question:
    return of_choice(
        "shapes_scores", "13 pictures of 100 tokens, 4 heads of 16 numbers. What is the shape of the scores?",
        {
            "d": "13 × 4 × 100 × 16", "square": "13 × 4 × 100 × 100", "flat": "13 × 100 × 100", "wide": "13 × 100 × 64",
        },
        "square",
        "Every head has a number for each pair of tokens. The 16 numbers of a query and a key are used up by the "
        "product.",
        {
            "d": "That is the shape of Q, of K and of V in the heads. A score is what is left of a query and a key: "
            "one number.",
            "flat": "That would be one table for all heads. Each head makes a table of its own.",
            "wide": "That is what leaves the layer, 4 × 16 = 64 numbers a token: heads side by side.",
        },
    )  # fmt: skip
