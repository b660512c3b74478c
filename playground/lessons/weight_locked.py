"""The step “not always about the picture” of the lesson on weights: a head whose rows are alike whichever patch asks,
and tokens whose vectors are unusually long."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from urllib.parse import urlencode

import numpy as np
import plotly.graph_objects as go

from playground.assets import PROGRAM
from playground.lessons import measures, pictures
from playground.lessons.heads_numbers import measure_habits, spot_of
from playground.lessons.lesson import Settings, Subject
from playground.lessons.measures import (
    LOCKED_SHARE,
    Measured,
    key_of_agreeing,
    mean_row,
    number_of_agreeing_head,
    place_of_agreeing,
    shares_of_one_place,
)
from playground.lessons.parts import (
    VALUE,
    After,
    Ask,
    Chart,
    Column,
    Fold,
    Maker,
    Part,
    Picture,
    Row,
    Stays,
    Table,
    Words,
    think,
)
from playground.lessons.pictures import lit_picture, outlined_picture
from playground.lessons.questions import Beside, Number, Photo, Question
from playground.models.names import plain_name
from playground.numbers import percent

LOUD_RATIO = 1.3  # a key that is longer than this multiple of the median key is called long
OUTLIER_RATIO = 3  # a token that is longer than this multiple of the median token stands out
REGISTER_PAIRS = tuple(  # (model without registers, the same model trained with four registers), the largest first
    (f"vit_{size}_patch14_dinov2.lvd142m", f"vit_{size}_patch14_reg4_dinov2.lvd142m")
    for size in ("giant", "large", "base", "small")
)
SINK_WORDS = {"model": "dinov2-small", "sample": "coffee"}  # here layer 0, head 5 is a sink


def locked_rows(subject: Subject, settings: Settings) -> Iterator[Part]:
    habits = yield from measure_habits(subject)
    yield replace(locked_question_about(subject, habits), context=subject.identity)
    yield After("weight_locked", heads_table(habits), key_length_words(subject.trace(), habits), *lengths(subject))
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


def about_agreeing(trace, habits, text: str, which: str = "most") -> Words:
    """The text with the numbers of one head in its blanks: the head whose rows agree "most" or "least" (`which`)."""
    shares = shares_of_one_place(habits)
    values = {
        value: Measured("agreeing", number_of_agreeing_head(shares, which, value), {"which": which, "what": value})
        for value in ("layer", "head", "share")
    } | {
        "place": Measured("agreed_place", place_of_agreeing(trace, habits)),
        "even": Measured("even_share", 1 / trace.tokens),
        "carried": Measured("carried", measures.carried_by_agreeing(trace, habits)),
        "many": Measured("locked_heads", int((shares > LOCKED_SHARE).sum())),
        "heads": Measured("all_heads", shares.size),
    }
    return Words(text, values={name: measured for name, measured in values.items() if re.search(rf"{{{name}\b", text)})


def locked_question_about(subject: Subject, habits) -> Ask:
    from playground.analysis import heads

    trace, shares = subject.trace(), shares_of_one_place(habits)
    asks, sentences = (
        about_agreeing(trace, habits, QUESTION_TEXT),
        {name: about_agreeing(trace, habits, COUNT_TEXTS[name]) for name in COUNT_TEXTS},
    )
    most_words, least_words = (
        about_agreeing(trace, habits, MOST_TEXT),
        about_agreeing(trace, habits, LEAST_TEXT, "least"),
    )
    verdict = sentences[count_key(int((shares > LOCKED_SHARE).sum()))].says
    sinks = {kind: about_agreeing(trace, habits, text) for kind, text in SINK_TEXTS.items()}
    if shares.max() > LOCKED_SHARE:
        verdict += f" {sinks['little' if measures.carried_by_agreeing(trace, habits) < 1 else 'same'].says}"
    (layer, head), least_head = (spot_of(index, shares) for index in (shares.argmax(), shares.argmin()))
    rows, columns = trace.grid
    heat = trace.on_grid(mean_row(trace, layer, head)).flatten()
    photo = Photo(
        subject.photo(), (rows, columns), columns / rows, heat=tuple(heat.tolist()), lines=True, words=most_words.says,
        beside=least_picture(subject, least_head, least_words.says),
    )  # fmt: skip
    truth = Measured("agreeing_percent", 100 * float(shares[layer, head]))
    picture = Maker("agreed_rows", {"words": most_words, "least": least_words, "brightest": LOCKED_SHARE / 3})
    tempting = Maker("even_tempting", {"even": percent(1 / trace.tokens)})
    question = locked_question(asks.says, truth.value, verdict, trace.tokens, heads.sampling_note(trace), photo)
    return Ask(question, own={
        "asks": asks, "truth": truth, "says": Maker("by_count", sentences | sinks), "picture": picture,
        "tempting": tempting,
    })  # fmt: skip


def locked_question(
    asks: str, truth: float, says: str, tokens: int, sampling_note: str, photo: Photo | None
) -> Question:
    """`sampling_note`: a sentence for a model with so many patches that only some of their rows were measured, else
    empty."""
    return Question(
        "weight_locked", asks, Number(0, 100, " %"), truth, says + (sampling_note and f" {sampling_note}"),
        prose="The class token has query, key and value like every token. But some heads give much of every row to one "
        "token, whatever the patch shows.",
        tempting=(
            ((0, 0), f"Each row sums to 1, so some token gets at least {percent(1 / tokens)} of it."),
            ((0, 100 / tokens + 1), "That is an even row’s share: it would mean that no place is special."),
            ((99.9, 100), "Then no other token would be heard at all, by whoever asks."),
        ),
        picture=photo,
    )  # fmt: skip


def count_key(heads: int) -> str:
    return {0: "none", 1: "one"}.get(heads, "several")


def least_picture(subject: Subject, spot: tuple[int, int], words: str) -> Beside:
    """A picture of the mean row of the head that agrees least, `spot`: (layer, head). The colour scale ends at
    LOCKED_SHARE / 3 or above, so that an even row stays dark."""
    trace = subject.trace()
    mean_weights = trace.on_grid(mean_row(trace, *spot))
    return pictures.row(
        pictures.at_map_size(subject.image), mean_weights, None, words, max(LOCKED_SHARE / 3, float(mean_weights.max()))
    )


def heads_table(habits) -> Table:
    share, rows = shares_of_one_place(habits), []
    for layer, head in (spot_of(index, share) for index in np.argsort(-share, axis=None)[:5]):
        shares = (table[layer, head] for table in (habits.to_one, habits.to_class, habits.to_registers))
        rows.append(
            (
                f"layer {layer}, head {head}",
                *(percent(share) for share in shares),
                f"{habits.entropy[layer, head]:.1f} bits",
                f"{habits.effect[layer, head]:.2f}",
            )
        )
    return Table(
        ("the five heads that agree most", "to one patch", "to the class token", "to registers",
         "entropy of its rows", "adds, × its layer's average"),
        rows, {"rows": Maker("agreeing_heads")},
    )  # fmt: skip


LONG_TEXT = "The key of that one token is **{times:.2f} ×** as long as the median key of this head. "
MEGAPHONE_TEXT = (
    LONG_TEXT + "It has a **megaphone**: whoever’s query points a little its way hears it above all others."
)
NO_MEGAPHONE_TEXT = (
    LONG_TEXT + "So it has no **megaphone**; it is heard because most queries point to where its key points."
)


def key_length_words(trace, habits) -> Words:
    """Tells whether all patches attend to the token because its key is long."""
    ratio_values = {"times": Measured("key_length", key_of_agreeing(trace, habits))}
    long_key_words, usual_key_words = (Words(text, values=ratio_values) for text in (MEGAPHONE_TEXT, NO_MEGAPHONE_TEXT))
    chosen_words = long_key_words if ratio_values["times"].value > LOUD_RATIO else usual_key_words
    return Words(
        chosen_words.says,
        own={"text": Maker("megaphone", {"loud": LOUD_RATIO, "has": long_key_words, "none": usual_key_words})},
    )


# Tokens with unusually long vectors -----------------------------------------------------------------------------------


def lengths(subject: Subject) -> Iterator[Part]:
    outliers = Fold(
        "More: tokens that stand out, outliers and registers",
        Words(lengths_in_words(subject)),
        Words(
            "In large models the vector of some patches of even ground becomes about ten times as long: there the "
            "model keeps what belongs to no place. **Registers**, spare tokens without a place, take that over (Darcet "
            "and others, 2024)."
        ),
    )
    yield Stays(outliers)
    if (subject.model_name, subject.name) != tuple(SINK_WORDS.values()) and (
        sink_subject := subject.with_other(**SINK_WORDS)
    ):
        link = urlencode(sink_subject.words() | {"layer": 0, "head": 5})
        yield Words(f"[The sharpest sink of DINOv2 S: layer 0, head 5 on the coffee](./?{link})")
    pairs = (tuple(subject.with_other(model=name) for name in names) for names in REGISTER_PAIRS)
    names = next((names for names in pairs if all(names)), None)
    if names is None:
        yield Words(
            "Where a DINOv2 and its twin with registers are on this machine, both are measured here: "
            f"`{PROGRAM} download {' '.join(REGISTER_PAIRS[1])}`.",
            small=True,
        )
        return
    columns = (length_card(answer) for answer in names if answer)
    yield Stays(Column(*(Row(*row_parts) for row_parts in zip_longest(*columns, fillvalue=Words("")))))


def measured_lengths(subject: Subject):
    from playground.analysis import token_norms

    def measure() -> token_norms.Lengths:
        trace = subject.trace()
        with subject.turns() as give_way:
            return token_norms.lengths(trace, give_way)

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
        f"After the last layer of {plain_name(subject.trace().model)} the longest patch is "
        f"**{lengths.largest_ratio(last_layer):.1f} ×** as long as the median one, at most "
        f"{lengths.largest_ratio(worst_layer):.1f} × (after layer {worst_layer}); {stand_words} beyond Tukey’s bound. "
        f"{remark}."
    )


def length_card(subject: Subject) -> Iterator[Part]:
    """A map of the tokens' lengths after the last layer, a row of the last layer, a histogram, and the numbers."""
    if reason := subject.why_too_long(1):
        yield Words(reason)
        return
    trace, lengths = subject.trace(), measured_lengths(subject)
    image = subject.image.convert("RGB")
    image.thumbnail((320, 320))
    last_lengths = lengths.patches[-1]  # (rows, columns)
    longest_patch = divmod(int(last_lengths.argmax()), trace.grid[1])
    query = (trace.grid[0] // 2, trace.grid[1] // 2)
    yield Words(f"**{plain_name(trace.model)}**, {sum(name.startswith('reg') for name in trace.prefix)} registers")
    yield Picture(lit_picture(image, last_lengths, longest_patch), "lengths of tokens; the longest in white")
    row = trace.on_grid(trace.rows(len(lengths.patches) - 1, query).mean(0))
    yield Picture(lit_picture(image, row, query), "whom the patch in white listens to, last layer, mean of heads")
    yield Picture(outlined_picture(image, trace.grid, longest_patch), "the longest token’s patch")
    figure = go.Figure()
    figure.add_histogram(x=last_lengths.flatten().tolist(), marker_color=VALUE, nbinsx=60)
    figure.update_yaxes(type="log", title="patches")
    figure.update_xaxes(title="length")
    yield Chart(figure, f"token-lengths-{trace.model}", height=220)
    yield Words(lengths_in_words(subject))
