"""What the page Weight says and asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from playground.lessons.questions import Choice, Number, Photo, Pictures, Question, of_choice
from playground.lessons.texts import Exercise, Step, Text

LOCKED = 0.3  # a share of all rows; as in analysis/heads.py
MEAN_ROW = "layer {layer}, head {head}: what each patch gets on average"
LEAST = "layer {layer}, head {head} agrees least: {share:.1%} to one place"
MAPS = {  # name -> (words, why it is tempting where it is not the best)
    "weight": (
        "weight, last layer",
        "It says what is mixed in in one layer. The layers below have mixed before, and the patch’s own vector goes "
        "past attention.",
    ),
    "arrives": (
        "weight × ‖W_O v‖, last layer",
        "It knows how long the values are, which weights alone do not. But it is one layer of many.",
    ),
    "rollout": (
        "rollout, all layers",
        "It multiplies the attention weights of all layers, and leaves out values and MLPs. A sink, to which "
        "many heads listen, then looks like a source of everything.",
    ),
    "gradient": (
        "gradient × weight, all layers",
        "It follows the answer through all layers. But a gradient speaks of very small changes, and blanking is a "
        "large one.",
    ),
    "colour": (
        "colour and nearness, no network",
        "Near patches of one colour often belong together, so it is hard to beat. But it knows nothing of this model.",
    ),
}
TEXT = Text(
    "weight",
    "A weight is a share: how much of one token’s value goes into the mixture that another token receives. It is easy "
    "to read more into a bright patch than that.",
    {
        "carries": Step(
            "1 · It is not what arrives",
            "weight_differs",
            "What arrives is the weight times the value, after W_O (and LayerScale, where a model has it): a vector. "
            "At the same weight, a short value adds less than a long one. Point at a patch: the tags show the patch "
            "with the largest weight and the patch that adds the longest vector.",
            ("look",),
            (
                Exercise(
                    "Click a patch for which the two tags stand on different patches. What makes the difference?",
                    "The length of W_O v. A patch with a smaller weight and a longer value may add the longer vector.",
                    hint="Try patches of an even ground: many of them have much the same weight.",
                    id="weight_differs",
                    tempting={"same": "Here both tags stand on the same patch."},
                ),
            ),
            said={
                "desk": "A head is a **mixing desk**. Its {tokens:,} faders sum to 100 %; drawn are the {channels} "
                "that are furthest up for patch ({row}, {column}) in layer {layer}, head {head}. The fader does not "
                "say how loud the singer is.",
            },
        ),
        "scores": Step(
            "2 · It is not the score",
            "weight_scores",
            "The softmax takes e to the power of every score, and divides by the sum. So a *difference* of scores is a "
            "*ratio* of weights: 8 more is e⁸ = {more:,.0f} times the weight, 8 less is e⁻⁸ = {less:.5f} times. A "
            "weight of nearly 0 does not mean that a score is small: it means that another is much larger. Move the "
            "scores.",
            exercises=(
                Exercise(
                    "Let A and B share the weight evenly, while C gets less than 1 %. Which scores do that?",
                    "Two equal scores, and a third that is at least 4 lower: e⁻⁴ is 0.018, and a little less than half "
                    "of that is the weight. The equal scores may be any number: −50 and −50 do as well as 8 and 8.",
                    hint="Only differences count.",
                    id="weight_share",
                    tempting={"third": "A and B are even, but C still has more than 1 %."},
                ),
                Exercise(
                    "Break the softmax that does not subtract the largest score.",
                    "One score above 88.7 is enough: its power is infinite for 32-bit numbers, and the column holds "
                    "nan. Three scores of 88 break it too: each power is finite, their sum is not, and the weights are "
                    "0, 0, 0. The last column is not harmed: there the largest power is e⁰ = 1, and the sum is at most "
                    "3.",
                    hint="How large may a 32-bit number be?",
                    id="weight_overflow",
                    tempting={
                        "small": "A power of nearly 0 breaks nothing, as long as another one is left to divide by."
                    },
                ),
            ),
            after="32-bit numbers end at 3.4 · 10³⁸, which is e^88.7: a larger power, or a larger *sum* of powers, is "
            "infinite. ∞ ÷ ∞ is not a number (nan), and anything smaller ÷ ∞ is 0. {broken} So every real softmax "
            "subtracts the largest score first. That changes no weight, for only differences count.",
            said={
                "broken": "**The fourth column sums to {sum}, not to 1.**",
                "whole": "Set A to 89 to see it, or all three to 88.",
            },
        ),
        "locked": Step(
            "3 · It is not always about the picture",
            "weight_locked",
            exercises=(
                Exercise(
                    "“The bright patches are those that the model decided by.” What is wrong with it?",
                    "A weight says how values are mixed in one head of one layer. What the answer depends on is "
                    "another question: later layers may ignore the mixture, and the token itself goes on past "
                    "attention. To find out, change something and look at the answer: *Heads* switches a head off.",
                ),
            ),
            said={
                "megaphone": "The key of that one token is **{times:.2f} ×** as long as the median key of this head. "
                "It has a **megaphone**: whoever’s query points a little its way hears it above all others.",
                "no_megaphone": "The key of that one token is **{times:.2f} ×** as long as the median key of this "
                "head. So it has no **megaphone**; it is heard because most queries point to where its key points.",
                "lengths": "**Tokens that stand out.** ",
                "far_out": "After the last layer of {model} the longest patch is **{largest:.1f} ×** as long as the "
                "median one, at most {most:.1f} × (after layer {worst}); {stand} beyond Tukey’s bound. {has}: patches "
                "of even ground whose vector becomes about ten times as long, in which a model keeps what belongs to "
                "no place. **Registers**, spare tokens without a place, take that over (Darcet and others, 2024).",
                "outliers": "It has the outliers that large models grow",
                "no_outliers": "It does *not* have the outliers of large models",
                "sink": "[The sharpest sink of DINOv2 S: layer 0, head 5 on the coffee]({link})",
                "no_pair": "Where a DINOv2 and its twin with registers are on this machine, both are measured here: "
                "`{program} download {pair}`.",
            },
        ),
        "explain": Step(
            "4 · Does the map explain?",
            "weight_explain",
            "Each map says, in its way, what matters for one patch. To know, blank a part of the picture and look at "
            "how far the patch’s feature moves.",
            after="{blocks} blocks of {side} × {side} patches were blanked with the picture’s mean colour. Outside of "
            "its own block, rollout gives most to row {row}, column {column}, {share:.1%}; blanking the block around "
            "that patch moves the feature by {moves:.0%} of its length: place {rank} of {others}. The block of the "
            "patch itself is left out of the scores: every map knows that one.\n\n"
            "Does rollout find what the model *names*? On {scenes} drawn scenes whose things are known, our small "
            "model’s class token: rollout puts {rollout:.0%} of itself on the things that it names, which cover "
            "{area:.1%} of the patches: hardly more than chance. Gradient × weight puts {gradient:.0%} there.",
            said={
                "coarse": "Blocks of {side} × {side} patches would need {passes} passes, more than {seconds:.0f} "
                "seconds of this server: larger ones are blanked, and the measurement is coarser.",
                "no_edge": "This step also cuts an edge, so that one patch no longer hears another one. At this grid "
                "it would take this server too long: choose a coarser grid or a smaller model to see it.",
                "edge": "**The cut edge.** The far patch that is most like patch ({row}, {column}) is ({far_row}, "
                "{far_column}). Cut it: in no layer does patch ({row}, {column}) hear it or those around it. Its "
                "feature moves by {by:.1%} of its length, **{times:.1f} × as far** as when another such block is cut "
                "({others:.2%}, the mean of {blocks}). The cosine of the two features was {before:.3f}; now it is "
                "**{after:.3f}**. What is left did not come through this edge: it comes through other patches, and "
                "from what each of the two shows by itself. [See the cut in the microscope]({link}).",
                "ends": "in white who asks, in orange whom it no longer hears",
            },
        ),
    },
)


def differs(share: float, rows: int, drawn: str) -> Question:
    """`share`: of all rows, in per cent; `drawn`: a sentence where they are those of some patches."""
    return Question(
        "weight_differs",
        "In ▢ of 100 rows the patch with the largest weight is **not** the patch that adds the longest vector.",
        Number(0, 100), share,
        f"Counted over {rows:,} rows of patches, in all layers and heads on your picture. {drawn}".rstrip(),
        tempting=(
            ((0, 3), "So it would be if all values were equally long."),
            ((97, 100), "So it would be if what a patch adds had nothing to do with its weight: but a weight far ahead "
             "of all others is hard to overtake."),
        ),
    )  # fmt: skip


def grown() -> Question:
    return of_choice(
        "weight_scores", "All three scores grow by 50. What happens to the weights?",
        {"same": "nothing", "sharper": "the largest takes more", "larger": "all become larger"},
        "same",
        "e^(s + 50) = e⁵⁰ · eˢ: each power becomes e⁵⁰ times as large, and so does their sum. Only "
        "*differences* of scores count. That is why subtracting the largest score is allowed.",
        {
            "sharper": "That happens when all scores are *multiplied*: then their differences grow, too.",
            "larger": "They still sum to 1: they can’t all grow.",
        },
    )  # fmt: skip


def locked(
    layer: int, head: int, most: float, place: str, many: int, heads: int, tokens: int, drawn: str, shown: Photo
) -> Question:
    """`most`: the share of its rows that goes to `place`; `many` of all `heads` give more than LOCKED; `drawn`: a
    sentence where the rows are those of some patches."""
    return Question(
        "weight_locked",
        f"Head {head} of layer {layer} agrees most: on average its rows give ▢ of their weight to one place, the same "
        "whoever asks.",
        Number(0, 100, " %"), 100 * most,
        f"That place is {place}. In an even row every token would get {1 / tokens:.2%}. {many or 'None'} of {heads} "
        f"heads give{'s' if many == 1 else ''} more than {LOCKED:.0%} to one patch, or to tokens without a place. "
        + (
            "Such a row says little about the patch that asks: a *sink*, where a head puts weight that it has no use "
            "for."
            if many
            else "So here even the head that agrees most depends mostly on who asks. Larger models have *sinks*, heads "
            "that give nearly all to one token."
        )
        + (drawn and f" {drawn}"),
        prose="The class token has a query, a key and a value like every token; it has no special way to “see "
        "everything”. But some heads give much of every row to one token, whatever the patch shows.",
        tempting=(((0, 100 / tokens + 1), "That is an even row’s share: it would mean that no place is special."),)
        if most > 0.1 else (),
        picture=shown,
    )  # fmt: skip


def explain(best: str, scores: Mapping[str, float], drawn: Sequence[str], plain: str, aspect: float) -> Question:
    """`drawn`: the maps as data URLs, and last what blanking changes, for which `plain` stands before the answer."""
    return Question(
        "weight_explain",
        "Blank a part of the picture, and the outlined patch’s feature changes. Which of the five maps foretells best "
        "how much?",
        Choice.of({name: words for name, (words, _) in MAPS.items()}), best,
        "Rank correlation with what blanking changes, 1 is perfect: "
        + ", ".join(f"{MAPS[name][0]} **{score:.2f}**" for name, score in scores.items())
        + ". One patch of one picture: another one has another order.",
        Pictures(
            (*drawn[:-1], plain), tuple(drawn),
            (*(words for words, _ in MAPS.values()), "measured: what blanking changes"), aspect, 400,
        ),
        prose=TEXT.steps["explain"].prose,
        tempting=tuple((name, why) for name, (_, why) in MAPS.items() if name != best),
    )  # fmt: skip
