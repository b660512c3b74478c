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
from playground.lessons import pictures
from playground.lessons.heads_numbers import measuring, spot_of
from playground.lessons.lesson import Settings, Subject
from playground.lessons.measures import (
    LOCKED,
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
    Made,
    Part,
    Picture,
    Row,
    Stays,
    Table,
    Words,
    think,
)
from playground.lessons.pictures import lit, outlined
from playground.lessons.questions import Beside, Number, Photo, Question
from playground.models.names import plain_name
from playground.numbers import percent

LOUD = 1.3  # a key that is longer than this multiple of the median key is called long
FAR = 3  # a token that is longer than this multiple of the median token stands out
PAIRS = tuple(  # (model without registers, the same model trained with four registers), the largest first
    (f"vit_{size}_patch14_dinov2.lvd142m", f"vit_{size}_patch14_reg4_dinov2.lvd142m")
    for size in ("giant", "large", "base", "small")
)
SINK = {"model": "dinov2-small", "sample": "coffee"}  # here layer 0, head 5 is a sink


def locked(subject: Subject, settings: Settings) -> Iterator[Part]:
    habits = yield from measuring(subject)
    yield replace(which_head(subject, habits), context=subject.about)
    yield After("weight_locked", heads_table(habits), key_length_words(subject.trace(), habits), *lengths(subject))
    yield think(
        "“The bright patches are those that the model decided by.” What is wrong with it?",
        "A weight says how one head of one layer mixes values. Later layers may ignore the mixture, and the token "
        "itself goes past attention. To find out, change something: *Heads* switches a head off.",
    )


ASKS = (
    "Head {head} of layer {layer} agrees most: on average its rows give ▢ of their weight to one place, the same "
    "whoever asks."
)
PLACE = "That place is {place}. In an even row every token would get {even:%}. {many} of {heads} heads "
GIVES = f" more than {percent(LOCKED)} to one patch, or to tokens without a place. "
SINK_SAYS = (
    "Such a row says little about the patch that asks: a *sink*, where a head puts weight that it has no use for."
)
NO_SINK = (
    "So here even the head that agrees most depends mostly on who asks. Larger models have *sinks*, heads that give "
    "nearly all to one token."
)
SAYS = {  # how many heads give more than LOCKED to one place -> sentences
    "none": PLACE.replace("{many}", "None") + "give" + GIVES + NO_SINK,
    "one": PLACE + "gives" + GIVES + SINK_SAYS,
    "several": PLACE + "give" + GIVES + SINK_SAYS,
}
MOST, LEAST = (
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
        "many": Measured("locked_heads", int((shares > LOCKED).sum())),
        "heads": Measured("all_heads", shares.size),
    }
    return Words(text, values={name: measured for name, measured in values.items() if re.search(rf"{{{name}\b", text)})


def which_head(subject: Subject, habits) -> Ask:
    from playground.analysis import heads

    trace, shares = subject.trace(), shares_of_one_place(habits)
    asks, sentences = (
        about_agreeing(trace, habits, ASKS),
        {name: about_agreeing(trace, habits, SAYS[name]) for name in SAYS},
    )
    most_words, least_words = about_agreeing(trace, habits, MOST), about_agreeing(trace, habits, LEAST, "least")
    verdict = sentences[count_key(int((shares > LOCKED).sum()))]
    (layer, head), least_head = (spot_of(index, shares) for index in (shares.argmax(), shares.argmin()))
    rows, columns = trace.grid
    heat = trace.on_grid(mean_row(trace, layer, head)).flatten()
    photo = Photo(
        subject.photo(), (rows, columns), columns / rows, heat=tuple(heat.tolist()), lines=True, words=most_words.says,
        beside=agrees_least(subject, least_head, least_words.says),
    )  # fmt: skip
    truth = Measured("agreeing_percent", 100 * float(shares[layer, head]))
    picture = Made("agreed_rows", {"words": most_words, "least": least_words, "brightest": LOCKED / 3})
    tempting = Made("even_tempting", {"even": percent(1 / trace.tokens)})
    question = locked_question(asks.says, truth.value, verdict.says, trace.tokens, heads.sampling_note(trace), photo)
    return Ask(question, own={
        "asks": asks, "truth": truth, "says": Made("by_count", sentences), "picture": picture, "tempting": tempting,
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


def agrees_least(subject: Subject, spot: tuple[int, int], words: str) -> Beside:
    """A picture of the mean row of the head that agrees least, `spot`: (layer, head). The colour scale ends at LOCKED /
    3 or above, so that an even row stays dark."""
    trace = subject.trace()
    mean_weights = trace.on_grid(mean_row(trace, *spot))
    return pictures.row(
        pictures.small(subject.image), mean_weights, None, words, max(LOCKED / 3, float(mean_weights.max()))
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
        rows, {"rows": Made("agreeing_heads")},
    )  # fmt: skip


LONG = "The key of that one token is **{times:.2f} ×** as long as the median key of this head. "
HAS = LONG + "It has a **megaphone**: whoever’s query points a little its way hears it above all others."
HAS_NONE = LONG + "So it has no **megaphone**; it is heard because most queries point to where its key points."


def key_length_words(trace, habits) -> Words:
    """Tells whether all patches attend to the token because its key is long."""
    ratio_values = {"times": Measured("key_length", key_of_agreeing(trace, habits))}
    long_key_words, usual_key_words = (Words(text, values=ratio_values) for text in (HAS, HAS_NONE))
    chosen_words = long_key_words if ratio_values["times"].value > LOUD else usual_key_words
    return Words(
        chosen_words.says,
        own={"text": Made("megaphone", {"loud": LOUD, "has": long_key_words, "none": usual_key_words})},
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
    if (subject.model_name, subject.name) != tuple(SINK.values()) and (sink_subject := subject.other(**SINK)):
        link = urlencode(sink_subject.words() | {"layer": 0, "head": 5})
        yield Words(f"[The sharpest sink of DINOv2 S: layer 0, head 5 on the coffee](./?{link})")
    pairs = (tuple(subject.other(model=name) for name in names) for names in PAIRS)
    names = next((names for names in pairs if all(names)), None)
    if names is None:
        yield Words(
            "Where a DINOv2 and its twin with registers are on this machine, both are measured here: "
            f"`{PROGRAM} download {' '.join(PAIRS[1])}`.",
            small=True,
        )
        return
    columns = (card(answer) for answer in names if answer)
    yield Stays(Column(*(Row(*row_parts) for row_parts in zip_longest(*columns, fillvalue=Words("")))))


def measured_lengths(subject: Subject):
    from playground.analysis import token_norms

    def measure() -> token_norms.Lengths:
        trace = subject.trace()
        with subject.turns() as give_way:
            return token_norms.lengths(trace, give_way)

    return subject.kept("lengths", measure)


def lengths_in_words(subject: Subject) -> str:
    lengths = measured_lengths(subject)
    last_layer, worst_layer = len(lengths.patches) - 1, lengths.worst_layer
    outlier_count = lengths.outlier_count(last_layer)
    stand_words = "none stands" if not outlier_count else "1 stands" if outlier_count == 1 else f"{outlier_count} stand"
    remark = (
        "It has the outliers that large models grow"
        if lengths.largest_ratio(worst_layer) > FAR
        else "It does *not* have the outliers of large models"
    )
    return (
        f"After the last layer of {plain_name(subject.trace().model)} the longest patch is "
        f"**{lengths.largest_ratio(last_layer):.1f} ×** as long as the median one, at most "
        f"{lengths.largest_ratio(worst_layer):.1f} × (after layer {worst_layer}); {stand_words} beyond Tukey’s bound. "
        f"{remark}."
    )


def card(subject: Subject) -> Iterator[Part]:
    """A map of the tokens' lengths after the last layer, a row of the last layer, a histogram, and the numbers."""
    if reason := subject.too_long(1):
        yield Words(reason)
        return
    trace, lengths = subject.trace(), measured_lengths(subject)
    image = subject.image.convert("RGB")
    image.thumbnail((320, 320))
    last_lengths = lengths.patches[-1]  # (rows, columns)
    longest_patch = divmod(int(last_lengths.argmax()), trace.grid[1])
    query = (trace.grid[0] // 2, trace.grid[1] // 2)
    yield Words(f"**{plain_name(trace.model)}**, {sum(name.startswith('reg') for name in trace.prefix)} registers")
    yield Picture(lit(image, last_lengths, longest_patch), "lengths of tokens; the longest in white")
    row = trace.on_grid(trace.rows(len(lengths.patches) - 1, query).mean(0))
    yield Picture(lit(image, row, query), "whom the patch in white listens to, last layer, mean of heads")
    yield Picture(outlined(image, trace.grid, longest_patch), "the longest token’s patch")
    figure = go.Figure()
    figure.add_histogram(x=last_lengths.flatten().tolist(), marker_color=VALUE, nbinsx=60)
    figure.update_yaxes(type="log", title="patches")
    figure.update_xaxes(title="length")
    yield Chart(figure, f"token-lengths-{trace.model}", height=220)
    yield Words(lengths_in_words(subject))
