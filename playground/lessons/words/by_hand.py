"""What the page By hand says and asks."""

from __future__ import annotations

import math

from playground.lessons.questions import Bars, Number, Question, of_choice
from playground.lessons.texts import Exercise, Step, Text

TEXT = Text(
    "by_hand",
    "Attention needs no training to be understood. Give each token two arrows: a **query**, what it looks for, "
    "and a **key**, what it offers. Where a query points the way a key points, the weight is large. One idea at "
    "a time:",
    {
        "arrows": Step(
            "1 · Queries and keys",
            "by_hand_query",
            settings=("arrows",),
            exercises=(
                Exercise(
                    "Make A listen to everybody equally. How many ways are there?",
                    "Infinitely many. Set A’s **query** to 0, 0: all its scores are 0, and softmax makes ninths "
                    "of them. Or make all keys the same, whatever A’s query is: *equal* scores are enough, they "
                    "need not be 0; then all other rows are even too. Or let the keys differ only at a right "
                    "angle to A’s query: a step in that direction changes no score of A.",
                    hint="Which scores make all nine powers of e equal? They need not be 0.",
                    id="by_hand_even",
                ),
                Exercise(
                    "Press *Queries = keys*: now one vector has both roles. What do you see in the scores?",
                    "They are symmetric: A’s score with B is B’s score with A, and among vectors of one length "
                    "each token scores highest with itself. With one role a token can only look for its like. "
                    "With **two** matrices, W_Q and W_K, it can look for something other than what it is; with a "
                    "third, W_V, it gives something other than what it is found by.",
                    hint="Turn the tab above the matrix from weights to scores. Compare row A, column B with row "
                    "B, column A.",
                    id="by_hand_one_role",
                ),
                Exercise(
                    "Make A give B more than half of its weight, while B gives A less than a tenth. Is that possible?",
                    "Yes. The score of A with B comes from A’s query and B’s key, that of B with A from B’s "
                    "query and A’s key: four different arrows. At the start, A gives B {A_to_B:.0%}, and B "
                    "gives A {B_to_A:.0%}: the matrix is not symmetric.",
                    hint="Choose A, and turn its query to where B’s key points. Make it longer, too.",
                    id="by_hand_one_way",
                    tempting={
                        "back": "A does so, but B gives A as much as a tenth, too. Turn B’s query away from A’s key."
                    },
                ),
            ),
        ),
        "values": Step(
            "2 · Values",
            "by_hand_values",
            "Weights alone move nothing. Each token also has a **value**, here one number. What a token receives "
            "is the mean of all values, weighted by its row. Drag an arrow, and what is received changes with it.",
            ("arrows",),
            (
                Exercise(
                    "Make A receive more than {nearly}. Can it receive more than {most}?",
                    "A has to give nearly all of its weight to I, the token with the value {most}. It can’t "
                    "receive more than {most}: weights are positive and sum to 1, so what is received lies "
                    "between the smallest and the largest value.",
                    hint="Which token has the largest value? Turn A’s query to where its key points, and make it long.",
                    id="by_hand_receive",
                    tempting={"other": "Another token receives so much. What A receives is decided by A’s own query."},
                ),
            ),
            "It looks like a layer of **neurons**, with two differences. A neuron holds one number, a token a whole "
            "vector: here one number stands for it. And a network *learns* its 81 lines and keeps them; attention "
            "*computes* them from the tokens, anew for each picture: drag an arrow, and the lines change, with no "
            "parameter changed. The bend that a neuron has comes later, token by token: the MLP.",
        ),
        "colours": Step(
            "3 · On a picture",
            "by_hand_dark",
            "Now a patch of the picture is a token. Its query and its key are both its mean colour, as a vector "
            "of length one. Point at a patch: patches of similar colour light up. The scores are divided by the "
            "**temperature** before the softmax; at 1 every patch gets almost the same weight.",
            ("patch", "temperature", "hidden", "at"),
            (
                Exercise(
                    "Turn the temperature until the row is nearly even. Why does it become so?",
                    "Two vectors of length one have a dot product of at most 1, and no less than 0 here, "
                    "because no colour has a negative number. Divided by a temperature of 1, all scores lie "
                    f"between 0 and 1. Then no weight is more than e¹ = {math.e:.1f} times another one. A small "
                    "temperature spreads the scores: it does what a *longer* query does.",
                    hint="To which end? The line below the pictures says to how many patches it listens.",
                    id="by_hand_hot",
                    tempting={"cold": "That is the other end: nearly all of the weight goes to the very same colour."},
                ),
            ),
        ),
        "masks": Step(
            "4 · Masks",
            "by_hand_mask",
            "Hide a token, and no token may listen to it: **−∞** is added to its score before the softmax. e^−∞ "
            "is exactly 0, and the row still sums to one. Hide some of your nine tokens.",
            ("mask",),
            (
                Exercise(
                    "A text model predicts the next word: no word may listen to a later one. Set that mask.",
                    "Row A keeps one weight, its own: 100 %. Row I keeps all nine. A picture has no “later”, so "
                    "a ViT has no such mask.",
                    hint="One button above the matrices says it in words.",
                    id="by_hand_causal",
                    tempting={"same": "These are hidden from all rows alike. A word may hear those before it."},
                ),
            ),
        ),
    },
)


def longer() -> Question:
    """Before anything is dragged: what does a longer query do?"""
    import torch

    from playground.lessons import by_hand, teaching

    arrows = by_hand.read(by_hand.start(), tokens=18)
    longer = torch.cat([arrows[:9] * 2, arrows[9:]])
    before, after = (100 * by_hand.weights(a)[0] for a in (arrows, longer))
    at, now = int(before.argmax()), float(before.max())
    return Question(
        "by_hand_query",
        "A’s query keeps its direction and becomes **twice as long**. A’s largest weight is then ▢.",
        Number(0, 100, " %"), float(after[at]),
        "Twice the query makes all its scores twice as large, so their *differences* too, and the softmax makes "
        "ratios of differences: each weight’s ratio to another is squared. All together still make 100 %: what it "
        "gains, the other eight lose.",
        picture=Bars(
            tuple(teaching.TOKENS), tuple(before.tolist()), 100, at=at, later=tuple(after.tolist()),
            title="Whom A listens to", unit=" %",
        ),
        tempting=(
            ((now - 2, now + 2), "That is what it was. The length would not count if all queries were brought to "
             "length one."),
            ((99, 100), "All of it would need scores that are infinitely far apart."),
            ((0, now - 2), "A longer query makes the row sharper: the largest weight grows, and the others shrink."),
        ),
    )  # fmt: skip


def mean() -> Question:
    from playground.lessons.teaching import VALUES as values

    return Question(
        "by_hand_values",
        f"The nine values are {', '.join(map(str, values))}. If all weights of a token are equal, it receives ▢.",
        Number(min(values), max(values)), sum(values) / len(values),
        "Equal weights are ninths: it receives the plain mean of all values.",
        tempting=(
            ((75, 80), "The largest value is received only by a token that gives it all its weight."),
            ((0, 10), "A ninth of a value is little, but nine such ninths are added: that is the mean."),
        ),
    )  # fmt: skip


def dark() -> Question:
    return of_choice(
        "by_hand_dark", "Point at a bright patch. Why does a *dark* patch of the same colour light up as well?",
        {
            "direction": "a vector of length one has forgotten how bright the colour was",
            "near": "dark and bright patches are neighbours here",
            "softmax": "the softmax makes all weights alike",
        },
        "direction",
        "A vector of length one keeps the direction of a colour: a dark green and a bright green have the same one, "
        "and so have grey and white. Pure black, 0, 0, 0, has no direction at all; here it counts as grey. The right "
        "picture shows what is left. A trained model learns which differences count.",
        {
            "near": "Often they are, but places play no part here: the queries and keys are colours alone.",
            "softmax": "A softmax of equal scores does. But these scores differ, and the low temperature spreads them.",
        },
    )  # fmt: skip


def mask() -> Question:
    return of_choice(
        "by_hand_mask", "B must not be heard, and each row shall still sum to 1. What is done?",
        {
            "minus": "−∞ is added to B’s scores before the softmax",
            "zero": "B’s scores are set to 0 before the softmax",
            "after": "B’s weights are set to 0 after the softmax",
            "value": "B’s value is set to 0",
        },
        "minus",
        "e^−∞ is exactly 0, so B gets no weight, and the softmax shares out 1 among the others. Do not make the −∞ "
        "by multiplying, (1 − mask)·(−∞): where the mask is 1, 0·(−∞) is not a number. Code fills it in "
        "(`masked_fill`).",
        {
            "zero": "A score of 0 is an ordinary score: e⁰ = 1, and B gets a weight.",
            "after": "Then B is not heard, but the row sums to less than 1: what B had is lost, not shared out.",
            "value": "Then nothing arrives from B, yet B still takes its share of the weight from the others.",
        },
    )  # fmt: skip
