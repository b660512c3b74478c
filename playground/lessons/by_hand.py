"""The lesson on attention by hand: queries and keys that nobody trained."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

from playground.lessons import parts as p
from playground.lessons.lesson import Lesson, Setting, Settings, Step, Subject, TextSetting
from playground.lessons.questions import Bars, Number, Question, choice_question, made
from playground.numbers import percent

TOKENS = "ABCDEFGHI"
VALUES = (0, 10, 20, 30, 40, 50, 60, 70, 80)  # the value of each token, a single number
TEMPERATURES = (1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
EVEN_TEMPERATURE = 0.5  # at this temperature or above, all patches of a picture get nearly equal weights
PATCH_SIZES = (4, 8, 14, 16, 32)
LARGEST_VALUE = max(VALUES)
NEAR_LARGEST = LARGEST_VALUE - 10  # a token whose new value is larger counts as near the largest value


def arrows(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    from playground.analysis import by_hand

    start: Any = by_hand.arrows_from_text(first_arrows(), tokens=18)
    weights = by_hand.weights(start)
    a_to_b, b_to_a = (percent(float(weights[place])) for place in ((0, 1), (1, 0)))
    yield p.Words(
        "Nine tokens, each with two arrows. A’s query times B’s key is a **score**: how well the two agree. The "
        "softmax makes **weights** of a row of scores: shares that sum to 1. Drag an arrow, and watch A’s row."
    )
    yield p.Drawing("arrows", {"start": first_arrows()}, ("arrows",))
    longer_arrows = start.clone()
    longer_arrows[:9] *= 2
    old_row, new_row = (100 * by_hand.weights(a)[0] for a in (start, longer_arrows))
    index, largest_weight = int(old_row.argmax()), float(old_row.max())
    yield p.Ask(Question(
        "by_hand_query",
        "A’s query keeps its direction and becomes **twice as long**. A’s largest weight is then ▢.",
        Number(0, 100, " %"), float(new_row[index]),
        "Its scores become twice as large, and so do their *differences*: each weight’s ratio to another is squared. "
        "What the largest gains, the other eight lose.",
        picture=Bars(
            tuple(TOKENS), tuple(old_row.tolist()), 100, at=index, later=tuple(new_row.tolist()),
            title="Whom A listens to", unit=" %",
        ),
        tempting=(
            ((largest_weight - 2, largest_weight + 2), "That is what it was. The length would not count if "
             "all queries were brought to length one."),
            ((99, 100), "All of it would need scores that are infinitely far apart."),
            ((0, largest_weight - 2), "A longer query makes the row sharper: the largest weight grows, and the others "
             "shrink."),
        ),
    ))  # fmt: skip
    yield p.After(
        "by_hand_query",
        p.Exercise(
            "Make A listen to everybody equally. How many ways are there?",
            "Infinitely many. Set A’s **query** to 0, 0. Or make all keys the same: *equal* scores are enough, they "
            "need not be 0. Or let the keys differ only at a right angle to A’s query: that changes no score of A.",
            hint="Which scores make all nine powers of e equal? They need not be 0.",
            id="by_hand_even",
            done=p.Reported("arrows", "even"),
            answers=(
                ("one: A’s query is 0, 0", "That is one. What if all nine keys are the same?"),
                ("nine, one for each key", "No key of its own makes a row even: all scores have to be equal."),
                ("infinitely many", ""),
            ),
        ),
        p.Exercise(
            "Press *Queries = keys*: now one vector has both roles. What do you see in the scores?",
            "They are symmetric, and among vectors of one length each token scores highest with itself: it can only "
            "look for its like. With **two** matrices, W_Q and W_K, it can look for something other than what it is; "
            "with a third, W_V, it gives something other than what it is found by.",
            hint="Turn the tab above the matrix from weights to scores. Compare row A, column B with row "
            "B, column A.",
            id="by_hand_one_role",
            done=p.Reported("arrows", "one_role"),
            answers=(
                ("they are symmetric", ""),
                ("they are all equal", "Only rows of equal tokens are. Compare row A, column B with row B, column A."),
                ("each row sums to 1", "So do weights. Scores may sum to anything."),
            ),
        ),
        p.Exercise(
            "Make A give B more than half of its weight, while B gives A less than a tenth.",
            "One score comes from A’s query and B’s key, the other from B’s query and A’s key: four arrows. At the "
            f"start A gives B {a_to_b}, and B gives A {b_to_a}: the matrix is not symmetric.",
            hint="Choose A, and turn its query to where B’s key points. Make it longer, too.",
            id="by_hand_one_way",
            done=p.Reported("arrows", "one_way"),
            tempting=[
                (p.Reported("arrows", "both_ways"),
                 "A does so, but B gives A as much as a tenth, too. Turn B’s query away from A’s key."),
            ],
        ),
    )  # fmt: skip


@cache
def first_arrows() -> str:
    """The arrows before any is dragged, as text: x and y of each in tenths, first of all queries, then of all keys. The
    keys lie in equal steps on a circle; each token's query equals the next token's key."""
    angles = [token * 2 * math.pi / len(TOKENS) for token in range(len(TOKENS))]
    keys = [round(20 * number) for angle in angles for number in (math.cos(angle), math.sin(angle))]
    return "_".join(map(str, keys[2:] + keys[:2] + keys))


def values(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    yield p.Words(
        "Weights alone move nothing. Each token also has a **value**, here one number. A token receives the mean of "
        "all values, weighted by its row. Drag an arrow."
    )
    yield p.Drawing("arrows", {"start": first_arrows()}, ("arrows",))
    yield p.Ask(Question(
        "by_hand_values",
        f"The nine values are {', '.join(map(str, VALUES))}. If all weights of a token are equal, it receives ▢.",
        Number(min(VALUES), max(VALUES)), sum(VALUES) / len(VALUES),
        "Equal weights are ninths: it receives the plain mean of all values.",
        tempting=(
            ((75, 80), "The largest value is received only by a token that gives it all its weight."),
            ((0, 10), "A ninth of a value is little, but nine such ninths are added: that is the mean."),
        ),
    ))  # fmt: skip
    yield p.After(
        "by_hand_values",
        p.Drawing("received", {"values": VALUES, "letters": list(TOKENS), "nearly": NEAR_LARGEST}, ("arrows",)),
        p.Exercise(
            f"Make A receive more than {NEAR_LARGEST}. Can it receive more than {LARGEST_VALUE}?",
            f"A gives nearly all of its weight to I, whose value is {LARGEST_VALUE}. It can’t receive more: weights "
            "are positive and sum to 1.",
            hint="Which token has the largest value? Turn A’s query to where its key points, and make it long.",
            id="by_hand_receive",
            done=p.Reported("received", "a_receives"),
            answers=(
                ("yes", f"What is received is a mean, and no mean is larger than the largest value, {LARGEST_VALUE}."),
                ("no", ""),
            ),
            tempting=[
                (p.Reported("received", "another_receives"),
                 "Another token receives so much. What A receives is decided by A’s own query."),
            ],
        ),
        p.Words(
            "It looks like a layer of **neurons**. But a neuron holds one number, a token a whole vector. And a "
            "network *learns* its 81 lines; attention *computes* them from the tokens, anew for each picture. The bend "
            "that a neuron has comes later: the MLP."
        ),
    )  # fmt: skip


def colours(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    yield p.Words(
        "Now a patch is a token. Its query and its key are both its mean colour, as a vector of length one. Point at a "
        "patch: similar colours light up. The scores are divided by the **temperature** before the softmax."
    )
    picture = made("colours", patch=settings.patch, temperatures=TEMPERATURES)
    yield p.Drawing("friends", picture, ("temperature", "at"))
    yield p.Choice("patch", "Patch size", {size: f"{size} × {size} pixels" for size in PATCH_SIZES})
    yield p.Exercise(
        "Turn the temperature until the row is nearly even. Why does it become so?",
        "The dot product of two colours of length one lies between 0 and 1. Divided by a temperature of 1, no weight "
        f"is more than e¹ = {math.e:.1f} times another one. A small temperature spreads the scores, as a *longer* "
        "query does.",
        hint="To which end? The line below the pictures says to how many patches it listens.",
        id="by_hand_hot",
        done=p.When({"temperature": [temperature for temperature in TEMPERATURES if temperature >= EVEN_TEMPERATURE]}),
        answers=(
            ("all scores become nearly equal", ""),
            ("all colours become alike", "The colours stay: the temperature divides their scores alone."),
        ),
        tempting=[
            (p.When({"temperature": TEMPERATURES[-1:]}),
             "That is the other end: nearly all of the weight goes to the very same colour."),
        ],
    )  # fmt: skip
    yield p.Ask(choice_question(
        "by_hand_dark", "Point at a bright patch. Why does a *dark* patch of the same colour light up as well?",
        {
            "direction": ("a vector of length one has forgotten how bright the colour was", ""),
            "near": ("dark and bright patches are neighbours here",
              "Often they are, but places play no part here: the queries and keys are colours alone."),
            "softmax": ("the softmax makes all weights alike",
              "A softmax of equal scores does. But these scores differ, and the low temperature spreads them."),
        },
        "It keeps the direction of a colour: dark and bright green have the same one, and so have grey and white. "
        "Pure black, 0, 0, 0, has none; here it counts as grey. The right picture shows what is left.",
    ))  # fmt: skip


def masks(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    yield p.Words(
        "Hide a token: **−∞** is added to its score before the softmax. e^−∞ is exactly 0, and the row still sums to "
        "one."
    )
    yield p.Drawing("masks", {}, ("arrows", "mask"))
    yield p.Ask(choice_question(
        "by_hand_mask", "B must not be heard, and each row must still sum to 1. What do you do?",
        {
            "minus": ("−∞ is added to B’s scores before the softmax", ""),
            "zero": ("B’s scores are set to 0 before the softmax",
              "A score of 0 is an ordinary score: e⁰ = 1, and B gets a weight."),
            "after": ("B’s weights are set to 0 after the softmax",
              "Then B is not heard, but the row sums to less than 1: what B had is lost, not shared out."),
            "value": ("B’s value is set to 0",
              "Then nothing arrives from B, yet B still takes its share of the weight from the others."),
        },
        "e^−∞ is exactly 0: the softmax shares out 1 among the others. Code fills −∞ in (`masked_fill`); multiplying, "
        "(1 − mask)·(−∞), makes 0·(−∞), which is not a number.",
    ))  # fmt: skip
    yield p.Exercise(
        "A text model predicts the next word: no word may listen to a later one. Set that mask.",
        "Row A keeps one weight, its own: 100 %. Row I keeps all nine. A picture has no “later”, so "
        "a ViT has no such mask.",
        hint="One button above the matrices says it in words.",
        id="by_hand_causal",
        done=p.When({"mask": ["causal"]}),
        tempting=[
            (p.Reported("masks", "some_hidden"),
             "These are hidden from all rows alike. A word may hear those before it."),
        ],
    )  # fmt: skip


TENTHS_PATTERN = r"-?([0-3]?\d|40)"
SETTINGS = {
    "arrows": TextSetting(first_arrows(), pattern=rf"{TENTHS_PATTERN}(_{TENTHS_PATTERN}){{35}}"),
    "patch": Setting(8, PATCH_SIZES, (8, 16, 32)),
    "temperature": Setting(0.002, TEMPERATURES),
    "at": TextSetting("", pattern=r"\d{1,2},\d{1,2}"),
    "mask": TextSetting("", pattern=r"causal|(?!ABCDEFGHI)A?B?C?D?E?F?G?H?I?"),
}
LESSON = Lesson(
    "by_hand",
    "Attention needs no training to be understood. Give each token two arrows: a **query**, what it looks for, "
    "and a **key**, what it offers. Where a query points the way a key points, the weight is large.",
    SETTINGS,
    {
        "arrows": Step(
            "1 · Queries and keys", arrows, "by_hand_query",
            ("by_hand_even", "by_hand_one_role", "by_hand_one_way"), ("arrows",), picture=False,
        ),
        "values": Step("2 · Values", values, "by_hand_values", ("by_hand_receive",), ("arrows",), picture=False),
        "colours": Step(
            "3 · On a picture", colours, "by_hand_dark", ("by_hand_hot",), ("patch", "temperature", "at"),
        ),
        "masks": Step("4 · Masks", masks, "by_hand_mask", ("by_hand_causal",), ("arrows", "mask"), picture=False),
    },
    outcomes={
        "by_hand_query": "say how a row of weights changes when a query turns or grows",
        "by_hand_mask": "hide a token so that every row still sums to 1",
    },
)  # fmt: skip
