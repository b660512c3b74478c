"""The step “not always about the picture” of the lesson on weights: a head whose rows are alike whichever patch asks,
and tokens whose vectors are unusually long."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from playground.assets import PROGRAM
from playground.lessons.lesson import Settings, Subject
from playground.lessons.made import Made, made, made_words
from playground.lessons.parts import After, Ask, Fold, Part, Table, Wait, Words, think
from playground.lessons.questions import Number, Question
from playground.models.names import plain_name
from playground.numbers import percent

LOCKED_SHARE = 0.3  # a head with a larger mean share on one place is locked, as in microscope/core/measures.js
LOUD_RATIO = 1.3  # a key that is longer than this multiple of the median key is called long
OUTLIER_RATIO = 3  # a token that is longer than this multiple of the median token stands out
SINK_WORDS = {"model": "dinov2-small", "sample": "coffee"}  # here layer 0, head 5 is a sink


def locked_rows(subject: Subject, settings: Settings) -> Iterator[Part]:
    yield Ask(locked_question())
    yield After("weight_locked", heads_table(), key_length_words())
    yield Wait("Measuring how long the tokens’ vectors are …")
    yield After("weight_locked", *lengths(subject))
    yield think(
        "“The bright patches are those that the model decided by.” What is wrong with it?",
        "A weight says how one head of one layer mixes values. Later layers may ignore the mixture, and the token "
        "itself goes past attention. To find out, change something: *Heads* switches a head off.",
    )


QUESTION_TEXT = (
    "Head {head} of layer {layer} agrees most: on average its rows give ▢ of their weight to one place, the same "
    "whoever asks."
)
PLACE_TEXT = "That place is {place}. In an even row every token would get {even:%}. {many} of {heads} heads "
GIVES_TEXT = f" more than {percent(LOCKED_SHARE)} to one patch, or to tokens without a place. "
SINK_TEXT = (
    "Such a row says little about the patch that asks: its place is a *sink*. What the place carries, its value after "
    "W_O, tells two kinds apart: here it is **{carried:.2f} ×** as long as the median token’s, "
)
SINK_TEXTS = {
    "little": SINK_TEXT + "so the head rests there, and little arrives.",
    "same": SINK_TEXT + "so the head sends one vector to all, whoever asks.",
}
NO_SINK_TEXT = (
    "So here even the head that agrees most depends mostly on who asks. Larger models have *sinks*, heads that give "
    "nearly all to one token."
)
COUNT_TEXTS = {  # how many heads give more than LOCKED_SHARE to one place -> sentences
    "none": PLACE_TEXT.replace("{many}", "None") + "give" + GIVES_TEXT + NO_SINK_TEXT,
    "one": PLACE_TEXT + "gives" + GIVES_TEXT.rstrip(),
    "several": PLACE_TEXT + "give" + GIVES_TEXT.rstrip(),
}
MOST_TEXT, LEAST_TEXT = (
    "layer {layer}, head {head}: what each patch gets on average",
    ("layer {layer}, head {head} agrees least: {share:%} to one place"),
)


def about_agreeing(text: str, which: str = "most") -> Made:
    """The text with the numbers of one head in its blanks: the head whose rows agree "most" or "least" (`which`)."""
    values = {value: made("agreeing", which=which, what=value) for value in ("layer", "head", "share")} | {
        "place": made("agreed_place"), "even": made("even_share"), "carried": made("carried"),
        "many": made("locked_heads"), "heads": made("all_heads"),
    }  # fmt: skip
    return made_words(text, **{name: value for name, value in values.items() if re.search(rf"\{{{name}\b", text)})


def locked_question() -> Question:
    sentences = {name: about_agreeing(text) for name, text in (COUNT_TEXTS | SINK_TEXTS).items()}
    return Question(
        "weight_locked", about_agreeing(QUESTION_TEXT), Number(0, 100, " %"), made("agreeing_percent"),
        made_words("{verdict}{note}", verdict=made("by_count", **sentences), note=made("sampling_note")),
        prose="The class token has query, key and value like every token. But some heads give much of every row to one "
        "token, whatever the patch shows.",
        tempting=(
            ((0, 0), made_words("Each row sums to 1, so some token gets at least {even:%} of it.",
                                even=made("even_share"))),
            ((0, made("even_end")), "That is an even row’s share: it would mean that no place is special."),
            ((99.9, 100), "Then no other token would be heard at all, by whoever asks."),
        ),
        picture=made(
            "agreed_rows", words=about_agreeing(MOST_TEXT), least=about_agreeing(LEAST_TEXT, "least"),
            brightest=LOCKED_SHARE / 3,  # the end of the colour scale or less, so that an even row stays dark
        ),
    )  # fmt: skip


def heads_table() -> Table:
    return Table(
        ("the five heads that agree most", "to one patch", "to the class token", "to registers", "entropy of its rows"),
        made("agreeing_heads"),
    )


LONG_TEXT = "The key of that one token is **{times:.2f} ×** as long as the median key of this head. "
MEGAPHONE_TEXT = (
    LONG_TEXT + "It has a **megaphone**: whoever’s query points a little its way hears it above all others."
)
NO_MEGAPHONE_TEXT = (
    LONG_TEXT + "So it has no **megaphone**; it is heard because most queries point to where its key points."
)


def key_length_words() -> Words:
    """Tells whether all patches attend to the token because its key is long."""
    long, usual = (made_words(text, times=made("key_length")) for text in (MEGAPHONE_TEXT, NO_MEGAPHONE_TEXT))
    return Words(made("megaphone", loud=LOUD_RATIO, has=long, none=usual))


# Tokens with unusually long vectors -----------------------------------------------------------------------------------


def lengths(subject: Subject) -> Iterator[Part]:
    yield Fold(
        "More: tokens that stand out, outliers and registers",
        Words(lengths_in_words(subject)),
        Words(
            "In large models the vector of some patches of even ground becomes about ten times as long: there the "
            "model keeps what belongs to no place. **Registers**, spare tokens without a place, take that over (Darcet "
            "and others, 2024)."
        ),
    )
    if (subject.model_name, subject.name) != tuple(SINK_WORDS.values()) and (
        sink_subject := subject.with_other(**SINK_WORDS)
    ):
        link = urlencode(sink_subject.words() | {"layer": 0, "head": 5})
        yield Words(f"[The sharpest sink of DINOv2 S: layer 0, head 5 on the coffee](./?{link})")
    yield Words(
        "Outliers come with size: open this step in `vit_large_patch14_dinov2.lvd142m` and in its twin with registers, "
        f"`vit_large_patch14_reg4_dinov2.lvd142m`; `{PROGRAM} download NAME` fetches each.",
        small=True,
    )


def measured_lengths(subject: Subject) -> Any:
    from playground.analysis import block

    def measure() -> block.Lengths:
        trace = subject.trace()
        with subject.turns() as give_way:
            return block.token_lengths(trace, give_way)

    return subject.cached("lengths", measure)


def lengths_in_words(subject: Subject) -> str:
    lengths = measured_lengths(subject)
    last_layer, worst_layer = len(lengths.patches) - 1, lengths.worst_layer
    outlier_count = lengths.outlier_count(last_layer)
    stand_words = "none stands" if not outlier_count else "1 stands" if outlier_count == 1 else f"{outlier_count} stand"
    remark = (
        "It has the outliers that large models grow"
        if lengths.largest_ratio(worst_layer) > OUTLIER_RATIO
        else "It does *not* have the outliers of large models"
    )
    return (
        f"On {subject.name}, after the last layer of {plain_name(subject.trace().model)}, the longest patch is "
        f"**{lengths.largest_ratio(last_layer):.1f} ×** as long as the median one, at most "
        f"{lengths.largest_ratio(worst_layer):.1f} × (after layer {worst_layer}); {stand_words} beyond Tukey’s bound. "
        f"{remark}."
    )
