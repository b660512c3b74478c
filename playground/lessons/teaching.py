"""What a lecturer needs, in one place: plans, the usual misconceptions, a sheet to compute by hand, and a quiz.

The page Teach shows it, and `python -m playground.figures.teaching` prints it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from urllib.parse import urlencode

from playground.analysis import by_hand
from playground.lessons.by_hand import TOKENS, VALUES, at_first

ASKS = 0  # the token of the handout whose row is computed

# Plans ----------------------------------------------------------------------------------------------------------------


FIXED = {"model": "bundled", "sample": "meadow"}
SHARED_OUT = "each pair of seats computes one row"  # of the handout


@dataclass(frozen=True)
class Scene:
    minutes: int
    title: str
    do: str
    page: str
    words: dict[str, str] = field(default_factory=dict)

    def link(self, lean: bool = False) -> str:
        """Relative to any page of the app. `lean` hides what a class does not need, and fixes model and sample, so that
        all see the same, whatever each looked at before."""
        words = (FIXED if lean else {}) | self.words | ({"class": "yes"} if lean else {})
        page = "" if self.page == "microscope" else self.page
        return f"./{page}" + (f"?{urlencode(words)}" if words else "")


_LOOK = Scene(
    5, "A patch asks everybody",
    "Say nothing. Move the cursor over the picture. Ask what the light means. Only then read the sentence above it.",
    "microscope", {"layer": "4", "head": "0", "query": "8,5"},
)  # fmt: skip
_HANDS = Scene(
    12, "By hand",
    f"Hand out the sheet; {SHARED_OUT}. Guess on the screen, then drag an arrow and compare.",
    "by_hand", {"step": "arrows"},
)  # fmt: skip
_SCALE = Scene(
    6, "Why √d_k", "Lock a guess for 64 numbers. Turn d_k up without the scale, then switch it on.", "scale",
    {"step": "row", "dk": "64", "power": "0.0"},
)  # fmt: skip
_WEIGHT = Scene(
    6, "What a weight is not", "Let the room guess in how many rows the brightest patch is not the one that adds most.",
    "weight", {"step": "carries"},
)  # fmt: skip
_END = Scene(
    6, "Questions of the quiz", "Five of the thirteen questions by show of hands. The rest is for home.", "teach",
    {"part": "quiz"},
)  # fmt: skip
_PATCHES = Scene(10, "From pixels to tokens", "Guess the number of patches. Let the picture fall apart.", "patches",
                 {"step": "cut", "patch": "16"})  # fmt: skip
_HEADS = Scene(
    10, "Heads", "Somebody paints where a patch will look. Reveal. Then read three cells of the atlas.", "heads",
    {"step": "row"},
)  # fmt: skip

PLANS = {
    45: (_LOOK, _HANDS, _PATCHES, _SCALE, _WEIGHT, _END),
    90: (
        _LOOK,
        _HANDS,
        _PATCHES,
        Scene(
            12, "One layer, step by step",
            "Guess the shape of the scores. Step through all nine; stop at softmax.", "shapes", {"example": "picture"},
        ),
        Scene(
            10, "What a layer adds", "Guess the length of the push, then open layer after layer.", "block",
            {"step": "stream"},
        ),
        _SCALE,
        _HEADS,
        _WEIGHT,
        Scene(
            7, "What it costs", "Guess the share of the pairs. Then both ratios out of one figure: turn the switches.",
            "cost", {"step": "formulas", "count": "scores", "other": "depthwise"},
        ),
        Scene(
            6, "A shifted picture", "Who expects the ViT to answer the same? Reveal.", "two_ways",
            {"step": "shift", "moved": "1"},
        ),
        _END,
    ),
}  # fmt: skip

# Misconceptions -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Note:
    heard: str  # what students say
    true: str
    show: Scene


NOTES = (
    Note(
        "The weight says how important a patch is.",
        "It says which share of the patch's value is mixed in. A short value adds little at any weight; what the "
        "answer depends on is found out by changing something.",
        _WEIGHT,
    ),
    Note(
        "The class token sees everything.",
        "It has one query in each head, as every token has, and its weights sum to 1 as well. What it holds in the end "
        "went through all layers.",
        Scene(0, "", "", "weight", {"step": "locked"}),
    ),
    Note(
        "Heads have jobs by design.",
        "They start with random parameters and differ by what training makes of them. Names such as “fixed offset” are "
        "given afterwards, from averages. If a head was told where to look, the page Training says so.",
        Scene(0, "", "", "training"),
    ),
    Note(
        "The map explains the decision.",
        "One map is one head in one layer. Later layers mix it further, and the token also goes past attention on the "
        "skip connection. To know, blank parts of the picture and measure what changes.",
        Scene(0, "", "", "weight", {"step": "explain"}),
    ),
    Note(
        "Dividing by √d_k only makes numbers smaller.",
        "It keeps the softmax from giving nearly everything to one key. Trained scores may still lie far apart: the "
        "scale sets where they start.",
        _SCALE,
    ),
    Note(
        "Attention always costs more than a convolution.",
        "It depends on what is counted and on the number of tokens. QKᵀ alone against a depthwise convolution is N / "
        "k²; the whole attention against a dense convolution of the same width is below 1 for a few hundred tokens.",
        Scene(0, "", "", "cost", {"step": "formulas"}),
    ),
    Note(
        "A Vision Transformer does not care where a patch is.",
        "Attention alone does not: without positions, shuffled patches give shuffled answers. That is why positions "
        "are added.",
        Scene(0, "", "", "patches", {"positions": "off"}),
    ),
)

# The quiz -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    asks: str
    options: tuple[str, ...]
    right: int
    why: str


def quiz() -> tuple[Question, ...]:
    tokens, wider = (224 // 16) ** 2, (384 // 16) ** 2
    return (
        Question(
            "A picture of 224 × 224 pixels is cut into patches of 16 × 16. How many patches are that?",
            ("14", "196", "256", "3,136"), 1, f"224 ÷ 16 = 14 along each side, and 14 × 14 = {tokens}.",
        ),
        Question(
            "What is compared with what to give a score?",
            ("a query with a key", "a query with a value", "a key with a value", "two patches' pixels"), 0,
            "Score = q·k. The value only comes in when the weights are known.",
        ),
        Question(
            "What do the weights of one row sum to?",
            ("1", "the number of tokens", "d_k", "it depends on the picture"), 0,
            "The softmax divides by the sum of the row.",
        ),
        Question(
            "One key's score is 8 higher than another's. How do their weights compare?",
            ("8 times", "64 times", "about 3,000 times", "they differ by 8 %"), 2,
            f"The ratio of two weights is e to the difference of their scores: e⁸ = {math.exp(8):,.0f}.",
        ),
        Question(
            "Without 1/√d_k, what happens to a row of random scores when d_k grows?",
            ("nothing", "it becomes even", "one key takes nearly all", "all weights become 0"), 2,
            "The scores' standard deviation grows like √d_k, and the softmax of widely spread scores picks one key.",
        ),
        Question(
            "A width of 512 is shared among 8 heads. By what are the scores divided?",
            ("√512", "√64", "64", "512"), 1, "Each head has 512 ÷ 8 = 64 numbers, so d_k = 64.",
        ),
        Question(
            "In which step do tokens not influence each other?",
            ("QKᵀ", "softmax", "× V", "the MLP"), 3, "The MLP is applied to each token separately.",
        ),
        Question(
            "From 224 to 384 pixels at patch 16, the number of scores between patches grows by about",
            ("1.7 times", "2.9 times", "8.6 times", "16 times"), 2,
            f"{tokens} patches become {wider}, and scores go with the square: {(wider / tokens) ** 2:.1f} times.",
        ),
        Question(
            "To hide a token from all others, one",
            ("sets its scores to 0", "adds −∞ to all scores with its key", "sets its value to 0", "deletes its "
            "query"), 1,
            "e to the power of −∞ is 0, and each row still sums to 1. A score of 0 gives e⁰ = 1 before the division; a "
            "value of 0 still takes its share of the weight; and its query only says whom the token itself hears.",
        ),
        Question(
            "The brightest patch in a map of weights is the patch that",
            ("the answer depends on most", "has the largest share in this head's mixture", "has the longest value",
             "looks most like the query patch"), 1,
            "A weight is a share. Importance, length and likeness are other questions.",
        ),
        Question(
            "The patches of a picture are shuffled, and no positions are added. Attention then",
            ("gives random answers", "gives the same answers, shuffled along", "gives the same answers in their order",
             "fails"),
            1,
            "A score is q·k of two tokens, and neither says where it stands. Positions are added because of that.",
        ),
        Question(
            "What attention returns for a token",
            ("replaces the token", "is added to the token", "is multiplied with the token", "goes to the next one"), 1,
            "x + push: the residual stream. What the token was stays in the sum, and goes past attention.",
        ),
        Question(
            "Where do the class token’s numbers come from, before the first layer?",
            ("the mean of all patches", "the patch in the middle", "they were learned, the same for every picture",
             "the label of the picture"), 2,
            "It hears of this picture in the layers, from the patches, as every token does.",
        ),
    )  # fmt: skip


# The handout ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sheet:
    """Nine tokens, two numbers a query and a key, one number a value; the row of one token is computed by hand."""

    queries: list[list[float]]
    keys: list[list[float]]
    products: list[float]  # q·k of the token that asks
    scores: list[float]  # ÷ √2
    powers: list[float]  # e to the scores
    weights: list[float]
    all: list[list[float]]  # the rows of all tokens
    mixture: float  # of the values


def sheet() -> Sheet:
    arrows = by_hand.read(at_first(), tokens=2 * len(TOKENS))
    assert arrows is not None
    queries, keys = (part.round(decimals=1).tolist() for part in arrows.chunk(2))
    queries, keys = ([[round(x, 1) for x in row] for row in part] for part in (queries, keys))
    products = [round(sum(a * b for a, b in zip(queries[ASKS], key, strict=True)), 2) for key in keys]
    scores = [product / math.sqrt(2) for product in products]
    powers = [math.exp(score) for score in scores]
    weights = [power / sum(powers) for power in powers]
    table = by_hand.weights(arrows).tolist()
    return Sheet(
        queries, keys, products, scores, powers, weights, table,
        sum(weight * value for weight, value in zip(weights, VALUES, strict=True)),
    )  # fmt: skip
