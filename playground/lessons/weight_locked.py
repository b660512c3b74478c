"""Heads that lock on: the one whose rows agree most, whoever asks; and tokens that stand far out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from urllib.parse import urlencode

import numpy as np
import plotly.graph_objects as go

from playground.assets import PROGRAM
from playground.lessons import pictures
from playground.lessons.heads_numbers import measuring, spot_of
from playground.lessons.lesson import Settings, Subject
from playground.lessons.parts import VALUE, After, Ask, Chart, Fold, Part, Picture, Row, Table, Words, think
from playground.lessons.pictures import lit, outlined
from playground.lessons.questions import Beside, Number, Photo, Question
from playground.models.names import plain_name
from playground.numbers import percent

LOUD = 1.3  # × the median key's length
FAR = 3  # × the median token's length
PAIRS = tuple(  # without registers, and the same training with four of them; the largest first
    (f"vit_{size}_patch14_dinov2.lvd142m", f"vit_{size}_patch14_reg4_dinov2.lvd142m")
    for size in ("giant", "large", "base", "small")
)
SINK = {"model": "dinov2-small", "sample": "coffee"}  # its layer 0, head 5


def locked(subject: Subject, chosen: Settings) -> Iterator[Part]:
    mean = yield from measuring(subject)
    seen = subject.trace()
    share = np.maximum(mean.to_one, mean.to_class + mean.to_registers)  # (layers, heads), to one place
    layer, head = spot_of(share.argmax(), share)
    crowd = mean_row(seen, layer, head)  # (tokens,)
    to_patch = mean.to_one[layer, head] >= share[layer, head]
    yield Ask(which_head(subject, share, crowd, to_patch), subject.about)
    front = len(seen.prefix)
    token = int(crowd[front:].argmax()) + front if to_patch else 0
    yield After("weight_locked", five(mean, share), megaphone(seen, layer, head, token), *lengths(subject))
    yield think(
        "“The bright patches are those that the model decided by.” What is wrong with it?",
        "A weight says how one head of one layer mixes values. Later layers may ignore the mixture, and the token "
        "itself goes past attention. To find out, change something: *Heads* switches a head off.",
    )


def mean_row(seen, layer: int, head: int):
    """(tokens,): what each gets on average, of the same rows as the head's numbers."""
    from playground.analysis import heads

    return seen.weights(layer, heads.asking(seen))[head].mean(dim=0)


LOCKED = 0.3  # a share of all rows; as in analysis/heads.py


def locked_question(
    layer: int, head: int, most: float, place: str, many: int, heads: int, tokens: int, drawn: str, shown: Photo
) -> Question:
    """`most`: the share of its rows that goes to `place`; `many` of all `heads` give more than LOCKED; `drawn`: a
    sentence where the rows are those of some patches."""
    return Question(
        "weight_locked",
        f"Head {head} of layer {layer} agrees most: on average its rows give ▢ of their weight to one place, the same "
        "whoever asks.",
        Number(0, 100, " %"), 100 * most,
        f"That place is {place}. In an even row every token would get {percent(1 / tokens)}. {many or 'None'} of "
        f"{heads} heads give{'s' if many == 1 else ''} more than {percent(LOCKED)} to one patch, or to tokens without "
        "a place. "
        + (
            "Such a row says little about the patch that asks: a *sink*, where a head puts weight that it has no use "
            "for."
            if many
            else "So here even the head that agrees most depends mostly on who asks. Larger models have *sinks*, heads "
            "that give nearly all to one token."
        )
        + (drawn and f" {drawn}"),
        prose="The class token has query, key and value like every token. But some heads give much of every row to one "
        "token, whatever the patch shows.",
        tempting=(
            ((0, 0), f"Each row sums to 1, so some token gets at least {percent(1 / tokens)} of it."),
            ((0, 100 / tokens + 1), "That is an even row’s share: it would mean that no place is special."),
            ((99.9, 100), "Then no other token would be heard at all, by whoever asks."),
        ),
        picture=shown,
    )  # fmt: skip


def which_head(subject: Subject, share: np.ndarray, crowd, to_patch: bool) -> Question:
    from playground.analysis import heads

    seen = subject.trace()
    (layer, head), least = spot_of(share.argmax(), share), spot_of(share.argmin(), share)
    heat, (rows, columns) = seen.on_grid(crowd).flatten(), seen.grid
    where = "{}, {}".format(*divmod(int(heat.argmax()), columns))
    place = f"one patch, at ({where})" if to_patch else " and ".join(seen.prefix)
    many = int((share > LOCKED).sum())
    shown = Photo(
        subject.photo(), (rows, columns), columns / rows, heat=tuple(heat.tolist()), lines=True,
        words=f"layer {layer}, head {head}: what each patch gets on average",
        beside=agrees_least(subject, least, share[least]),
    )  # fmt: skip
    most = float(share[layer, head])
    return locked_question(layer, head, most, place, many, share.size, seen.tokens, heads.words(seen), shown)


def agrees_least(subject: Subject, which: tuple[int, int], share: float) -> Beside:
    """The mean row of the head that agrees least, bright where a patch gets as much as the table calls a lot."""
    (layer, head), seen = which, subject.trace()
    mean = seen.on_grid(mean_row(seen, layer, head))
    words = f"layer {layer}, head {head} agrees least: {percent(share)} to one place"
    brightest = max(LOCKED / 3, float(mean.max()))
    return pictures.row(pictures.small(subject.image), mean, None, words, brightest)


def five(mean, share: np.ndarray) -> Table:
    rows = []
    for layer, head in (spot_of(index, share) for index in np.argsort(-share, axis=None)[:5]):
        shares = (of[layer, head] for of in (mean.to_one, mean.to_class, mean.to_registers))
        rows.append(
            (
                f"layer {layer}, head {head}",
                *(percent(one) for one in shares),
                f"{mean.entropy[layer, head]:.1f} bits",
                f"{mean.effect[layer, head]:.2f}",
            )
        )
    return Table(
        ("the five heads that agree most", "to one patch", "to the class token", "to registers",
         "entropy of its rows", "adds, × its layer's average"),
        rows,
    )  # fmt: skip


def megaphone(seen, layer: int, head: int, token: int) -> Words:
    """Is the token heard by all because its key is long?"""
    keys = seen.record[layer].k[head].norm(dim=-1)  # (tokens,)
    times = float(keys[token] / keys[len(seen.prefix) :].median())
    long = f"The key of that one token is **{times:.2f} ×** as long as the median key of this head. "
    if times > LOUD:
        return Words(
            long + "It has a **megaphone**: whoever’s query points a little its way hears it above all others."
        )
    return Words(long + "So it has no **megaphone**; it is heard because most queries point to where its key points.")


# Tokens that stand far out --------------------------------------------------------------------------------------------


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
    if (subject.model_name, subject.name) != tuple(SINK.values()) and (sink := subject.other(**SINK)):
        link = urlencode(sink.words() | {"layer": 0, "head": 5})
        yield Words(f"[The sharpest sink of DINOv2 S: layer 0, head 5 on the coffee](./?{link})")
    pairs = (tuple(subject.other(model=name) for name in pair) for pair in PAIRS)
    pair = next((pair for pair in pairs if all(pair)), None)
    if pair is None:
        yield Words(
            "Where a DINOv2 and its twin with registers are on this machine, both are measured here: "
            f"`{PROGRAM} download {' '.join(PAIRS[1])}`.",
            small=True,
        )
        return
    both = (card(one) for one in pair if one)
    yield from (Row(*across) for across in zip_longest(*both, fillvalue=Words("")))


def measured_lengths(subject: Subject):
    from playground.analysis import token_norms

    def measure() -> token_norms.Lengths:
        with subject.turns() as give_way:
            return token_norms.lengths(subject.trace(), give_way)

    return subject.kept("lengths", measure)


def lengths_in_words(subject: Subject) -> str:
    lengths = measured_lengths(subject)
    last, worst = len(lengths.patches) - 1, lengths.worst
    many = lengths.far_out(last)
    stand = "none stands" if not many else "1 stands" if many == 1 else f"{many} stand"
    has = (
        "It has the outliers that large models grow"
        if lengths.largest(worst) > FAR
        else "It does *not* have the outliers of large models"
    )
    return (
        f"After the last layer of {plain_name(subject.trace().model)} the longest patch is "
        f"**{lengths.largest(last):.1f} ×** as long as the median one, at most {lengths.largest(worst):.1f} × (after "
        f"layer {worst}); {stand} beyond Tukey’s bound. {has}."
    )


def card(subject: Subject) -> Iterator[Part]:
    """Lengths after the last layer on the picture, the map of the head that agrees most, and the numbers."""
    if why := subject.too_long(1):
        yield Words(why)
        return
    seen, lengths = subject.trace(), measured_lengths(subject)
    image = subject.image.convert("RGB")
    image.thumbnail((320, 320))
    after_all = lengths.patches[-1]  # (rows, columns)
    longest = divmod(int(after_all.argmax()), seen.grid[1])
    asks = (seen.grid[0] // 2, seen.grid[1] // 2)
    yield Words(f"**{plain_name(seen.model)}**, {sum(name.startswith('reg') for name in seen.prefix)} registers")
    yield Picture(lit(image, after_all, longest), "lengths of tokens; the longest in white")
    row = seen.on_grid(seen.rows(len(lengths.patches) - 1, asks).mean(0))
    yield Picture(lit(image, row, asks), "whom the patch in white listens to, last layer, mean of heads")
    yield Picture(outlined(image, seen.grid, longest), "the longest token’s patch")
    figure = go.Figure()
    figure.add_histogram(x=after_all.flatten().tolist(), marker_color=VALUE, nbinsx=60)
    figure.update_yaxes(type="log", title="patches")
    figure.update_xaxes(title="length")
    yield Chart(figure, f"token-lengths-{seen.model}", height=220)
    yield Words(lengths_in_words(subject))
