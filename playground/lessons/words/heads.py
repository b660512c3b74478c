"""What the page Heads says and asks."""

from __future__ import annotations

from collections.abc import Sequence

from playground.lessons.questions import Bars, Number, Painting, Photo, Question, of_choice
from playground.lessons.texts import Exercise, Step, Text

ASKS = "the patch that asks, enlarged"
TEXT = Text(
    "heads",
    "A layer asks several questions at once: every **head** has its own queries, keys and values. One idea at a time:",
    {
        "row": Step("1 · Where will it look?", "heads_row"),
        "atlas": Step(
            "2 · All heads",
            "heads_entropy",
            "One cell is one head, averaged over patches. Point at a cell to read what the head mostly does; click "
            "it to see it in the microscope.",
            ("measure", "over"),
            said={
                "entropy": "**Entropy**, in bits: 0 if one token gets all the weight, and largest if all tokens get "
                "the same.",
                "distance": "**Mean attention distance**: how many patches away the places lie that a patch listens "
                "to.",
                "self": "**Share to itself**: the weight that a patch gives to itself.",
                "class": "**Share to CLS**: the weight that the patches give to the class token.",
                "registers": "**Share to registers**: the weight that the patches give to tokens without a place in "
                "the picture.",
            },
        ),
        "far": Step(
            "3 · Near first, far later?",
            "heads_far",
            "A figure of the ViT paper. Each mark is a head: across, its layer; upwards, its mean attention distance. "
            "A head that gave a patch and its eight neighbours a ninth each would lie on the pink line. Here the "
            "nearest layer on average is layer {near} ({near_by:.1f} patches), the farthest layer {far} "
            "({far_by:.1f}): {verdict}.",
        ),
        "off": Step(
            "4 · Switch a head off",
            "heads_off",
            "The result of a head is replaced by zeros, for all tokens, in a second pass. How do the tokens after "
            "every layer differ from those of the first pass?",
            ("off",),
            (
                Exercise(
                    "Switch off one head alone: the one that adds most to the tokens, compared with the average of its "
                    "layer.",
                    "Head {head} of layer {layer}: it adds {most:.2f} × the average of its layer. What adds much need "
                    "not matter most for the answer: look at what changes beside the switches.",
                    hint="Point at the switches: each says what its head adds. Or colour *All heads* and read the "
                    "cards.",
                    id="heads_strongest",
                    tempting={
                        "several": "It is among them. Switch it off alone.",
                        "other": "Another head adds more, compared with the average of its layer.",
                    },
                ),
                Exercise(
                    "Switch off all heads of one layer. What do the tokens still get from it?",
                    "What its MLP adds, and the constant vector of W_O’s bias. The token itself goes past on the skip "
                    "connection, so nothing is lost of what the layers below have made.",
                    hint="Click each switch in one row.",
                    id="heads_layer_off",
                    tempting={"column": "These are heads of several layers. The heads of one layer stand in one row."},
                ),
            ),
            said={
                "names_none": "This model names no classes.",
                "no_classifier": "This model has no classifier, or none that is sure: no label is shown.",
                "turned": "The vector that sums the picture up has turned: its cosine with what it was is "
                "{cosine:.3f}.",
                "untouched": "Switch a head off, and see how far its summary turns.",
            },
        ),
        "sum": Step("5 · Is a layer the sum of its heads?", "heads_sum"),
    },
)


def row(layer: int, head: int, share: float, largest: float, shown: Photo) -> Question:
    """`share`: what the brightest 2 % of the patches hold."""
    return Question(
        "heads_row", f"Paint where the outlined patch will look, in head {head} of layer {layer}.", Painting(), None,
        f"The brightest 2 % of the patches hold {share:.0%} of the row, its largest weight is {largest:.1%}. For the "
        "overlap, what you painted counts as a row, too, with equal weights: of each patch the smaller of its two "
        "weights is taken, and all are added up.",
        shown,
    )  # fmt: skip


def entropy() -> Question:
    return of_choice(
        "heads_entropy", "A head’s rows have an entropy of 6 bits. Over how many tokens does an even row of 6 bits "
        "spread?",
        {"six": "6", "twelve": "12", "sixtyfour": "64"},
        "sixtyfour",
        "2⁶ = 64. One bit more is twice as many tokens, so the colours of the cells count in doublings.",
        {
            "six": "Bits count doublings, not tokens: 6 tokens alike are 2.6 bits.",
            "twelve": "Twice as many tokens are one bit more, not twice the bits.",
        },
    )  # fmt: skip


def far() -> Question:
    return of_choice(
        "heads_far", "A mark lies high up, at the line of an even row. Does this head fetch something from far away?",
        {
            "no": "not necessarily: a row that is the same everywhere lies there too",
            "yes": "yes: its distance is large",
            "edge": "yes: it looks at the edges of the picture",
        },
        "no",
        "A mean distance says how far, not how pointedly. An even row has a large one, because most patches are far "
        "away. Look at the entropy, too: a head that is far *and* sharp fetches something.",
        {
            "yes": "The distance is large, but nothing is picked out: each patch gets the same small share.",
            "edge": "Then the mark would lie above that line: the edges are farther away than patches are on average.",
        },
    )  # fmt: skip


def off(sharpest: tuple[int, int, float, float], least: tuple[int, int, float, float]) -> Question:
    """Of the sharpest head, and of the one that adds the least: layer, head, what it adds, × the average of its layer,
    and its rows' entropy."""
    of_sharpest = "head {1} of layer {0}, adds {2:.2f} × the average of its layer, with rows of {3:.1f} bits"
    of_least = "head {1} of layer {0}, {2:.2f} ×, with rows of {3:.1f} bits"
    return of_choice(
        "heads_off", "A head’s weights are very sharp. Does much change when it is switched off?",
        {
            "may": "that can’t be told from its weights",
            "yes": "yes: sharp weights carry more",
            "no": "no: it hears few tokens only",
        },
        "may",
        "Its weights say how values are mixed; but the values may be short, or W_O (and LayerScale) may make them "
        f"short. Here the sharpest, {of_sharpest.format(*sharpest)}; the one that adds least is "
        f"{of_least.format(*least)}. That is why the card says what a head *adds* beside whom it *listens* to.",
        {
            "yes": "All rows sum to 1, sharp or even. What arrives depends on the values and on W_O.",
            "no": "One token may be all that is needed, if its value is long.",
        },
    )  # fmt: skip


def layer_sum(layer: int, single: Sequence[float], together: float, whole: float, cosine: float) -> Question:
    """How far tokens move without each head, the sum of that, and without all at once; `cosine`: between what two heads
    add."""
    digits = 1 if together > 0.02 else 2
    parts = [round(100 * loss, digits) for loss in single]
    sums, high = sum(parts), 100 * max(2 * together, 1.2 * whole)
    percent = (*parts, sums, 100 * whole)
    compared = "more" if whole > together else "less"
    return Question(
        "heads_sum",
        f"One after the other, that adds up to {sums:.0f} %. Switch off **all heads of layer {layer} at once**, and "
        "the tokens move by ▢.",
        Number(0, round(high, 1), " %", step=round(sums / 50, 2) or 0.01), percent[-1],
        f"One head of layer {layer} after the other is switched off: after the last layer the patches’ tokens move by "
        f"{' + '.join(f'{part:.{digits}f}%' for part in parts)} = {sums:.{digits}f}%. Without all at once they move by "
        f"{whole:.1%}, {compared} than the sum. There is no rule: the vectors that two heads add to a patch have a "
        f"mean cosine of {cosine:.2f} here (0: at right angles), and the norms and MLPs above are not linear. Other "
        "layers and pictures answer differently.",
        Bars(
            (*(f"head {head}" for head in range(len(single))), "their sum", "all at once"), percent, high,
            at=len(percent) - 1, unit=" %", title="How far the patches’ tokens move after the last layer",
        ),
        prose="The heads of a layer are a **committee**: each writes an opinion of its own, none hears another’s, and "
        f"W_O adds them up. Each bar: how far tokens move when one head of layer {layer} is silent.",
        tempting=(((0.97 * sums, 1.03 * sums), "So it would be if all that follows were linear, and all heads pushed a "
                   "token in the same direction."),),
    )  # fmt: skip
