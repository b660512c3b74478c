"""The lesson on what a weight is not: what arrives, a score, always about the picture, an explanation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import numpy as np

from playground.assets import PROGRAM
from playground.lessons import parts as p
from playground.lessons import pictures
from playground.lessons.layers import LAYER, UPPER, choice_of_layer, layer_of
from playground.lessons.lesson import Lesson, Setting, Settings, Step, Subject, TextSetting, in_turn
from playground.lessons.pictures import lit_picture, outlined_picture, webp_url
from playground.lessons.questions import Made, Number, Pictures, Question, choice_question, made, made_words
from playground.models.names import plain_name
from playground.numbers import percent
from playground.samples import start_patch

if TYPE_CHECKING:
    from torch import Tensor

    from playground.analysis.explain import Explanation


def what_arrives(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    yield p.Words(
        "What arrives is the weight times the value, after W_O (and LayerScale, where a model has it). A short value "
        "adds less than a long one. Point at a patch: two tags show the largest weight and the longest vector."
    )
    layer = wanted_layer(subject, settings)
    yield choice_of_layer(subject)
    yield p.Drawing("carried", made("layer", layer=layer, desk=DESK_TEXT), ("look",))
    yield p.Exercise(
        "Click a patch for which the two tags stand on different patches. What makes the difference?",
        "The length of W_O v. A patch with a smaller weight and a longer value may add the longer vector.",
        hint="Try patches of a plain background: there many weights are nearly equal.",
        id="weight_differs",
        done=p.Reported("carried", "tags_apart"),
        answers=(
            ("the length of what the value becomes", ""),
            ("the scores", "They made the weights. The weight is the same for both tags."),
        ),
        tempting=[(p.Reported("carried", "tags_together"), "Here both tags stand on the same patch.")],
    )
    yield p.Ask(Question(
        "weight_differs",
        "In ▢ of 100 rows the patch with the largest weight is **not** the patch that adds the longest vector.",
        Number(0, 100), made("differing"),
        made_words(
            "Counted over {rows:,} rows of patches, in all layers and heads on this picture.{note}",
            rows=made("rows_asked"), note=made("sampling_note"),
        ),
        tempting=(
            ((0, 3), "So it would be if all values were equally long."),
            ((97, 100), "So it would be if what a patch adds had nothing to do with its weight: but a weight far ahead "
             "of all others is hard to overtake."),
        ),
    ))  # fmt: skip


def wanted_layer(subject: Subject, settings: Settings) -> int:
    """The layer in the address: from the setting `layer`, or else from `look`, which names a layer, head and patch."""
    layer_key = int(settings.look.split(".")[0]) if settings.look else UPPER
    return layer_of(layer_key if settings.layer == UPPER else settings.layer, subject)


DESK_TEXT = (
    "A head is a **mixing desk**. Its {tokens} faders sum to 100 %; drawn are the {channels} that are furthest up for "
    "patch ({row}, {column}) in layer {layer}, head {head}. The fader does not say how loud the singer is."
)


def scores(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    yield p.Words(
        "The softmax takes e to the power of every score, and divides by the sum. A *difference* of scores is a "
        f"*ratio* of weights: 8 more is e⁸ = {np.exp(8):,.0f} times the weight, 8 less is e⁻⁸ = {np.exp(-8):.5f} "
        "times. A weight of nearly 0 means that another score is much larger. Move the scores."
    )
    yield p.Drawing("scores", {"says": POWERS_TEXT, "broken": BROKEN_TEXT, "whole": UNBROKEN_TEXT}, ("scores",))
    yield p.Ask(choice_question(
        "weight_scores", "All three scores grow by 50. What happens to the weights?",
        {
            "same": ("nothing", ""),
            "sharper": ("the largest takes more",
              "That happens when all scores are *multiplied*: then their differences grow, too."),
            "larger": ("all become larger", "They still sum to 1: they can’t all grow."),
        },
        "e^(s + 50) = e⁵⁰ · eˢ: each power becomes e⁵⁰ times as large, and so does their sum. Only *differences* of "
        "scores count. That is why subtracting the largest score is allowed.",
    ))  # fmt: skip
    yield p.Exercise(
        "Let A and B share the weight evenly, while C gets less than 1 %.",
        "Two equal scores, whatever they are, and a third that is at least 4 lower: e⁻⁴ is 0.018, and a little less "
        "than half of that is the weight.",
        hint="Only differences count.",
        id="weight_share",
        done=p.Reported("scores", "two_share"),
        tempting=[(p.Reported("scores", "three_share"), "A and B are even, but C still has more than 1 %.")],
    )
    yield p.Exercise(
        "Break the softmax that does not subtract the largest score.",
        "One score above 88.7: its power is infinite for 32-bit numbers, and the column holds nan. Or three scores of "
        "88: their sum is infinite, and the weights are 0, 0, 0. In the last column the largest power is e⁰ = 1.",
        hint="How large may a 32-bit number be?",
        id="weight_overflow",
        done=p.Reported("scores", "broken"),
        tempting=[
            (p.Reported("scores", "tiny_power"),
             "A power of nearly 0 breaks nothing, as long as another one is left to divide by."),
        ],
    )  # fmt: skip


POWERS_TEXT = (
    "32-bit numbers end at 3.4 · 10³⁸, which is e^88.7: a larger power, or a larger *sum* of powers, is infinite. "
    "∞ ÷ ∞ is not a number (nan), and anything smaller ÷ ∞ is 0. {broken} So every real softmax subtracts the largest "
    "score first. That changes no weight, for only differences count."
)
BROKEN_TEXT = "**The fourth column sums to {sum}, not to 1.**"
UNBROKEN_TEXT = "Set A to 89 to see it, or all three to 88."


MOST_TOKENS_AT_ONCE = 400  # with more tokens, the measurement starts only when the reader asks for it
MAPS = {  # name of a map -> (words, the reply to a reader who wrongly guesses this map)
    "weight": (
        "weight, last layer",
        "One layer: those below have mixed before, and the patch’s own vector goes past attention.",
    ),
    "arrives": ("weight × ‖W_O v‖, last layer", "It knows how long values are. But it is one layer of many."),
    "rollout": (
        "rollout, all layers",
        "It leaves out values and MLPs: a sink, to which many heads listen, looks like a source of everything.",
    ),
    "gradient": (
        "gradient × weight, all layers",
        "It follows the answer through all layers. But a gradient speaks of small changes; blanking is a large one.",
    ),
    "colour": (
        "colour and nearness, no network",
        "Near patches of one colour often belong together. But this map is made without the model.",
    ),
}
CONTROLS = {"random": "a map drawn at random", "constant": "a map that is the same everywhere"}
MAP_NAMES = {name: words for name, (words, _) in MAPS.items()} | CONTROLS
ASKED_SAMPLE = "meadow"  # the drawing beside the question
BLANK_PROSE = (
    "Each map says, in its way, what matters for one patch. To know, blank a block of the picture and see how far the "
    "patch’s feature moves."
)


def explain_question(
    shares: Mapping[str, Mapping[str, float]], askers: int, map_urls: Sequence[str], aspect: float
) -> Question:
    """`shares`: for each scene the mean score of each map; `map_urls`: data URLs of the maps and, last, the picture."""
    scores = {name: [scene_shares[name] for scene_shares in shares.values()] for name in (*MAPS, *CONTROLS)}
    means = {name: sum(of_map) / len(of_map) for name, of_map in scores.items()}
    best_map = max(MAPS, key=means.__getitem__)
    map_texts = (
        f"{words} **{means[name]:.2f}** ({min(scores[name]):.2f} to {max(scores[name]):.2f})"
        for name, (words, _) in MAPS.items()
    )
    image_urls = (*map_urls,)
    return choice_question(
        "weight_explain",
        f"In our small model, for {askers * len(shares)} patches of {len(shares)} drawings: which of the five maps "
        "foretells best how far blanking moves the feature?",
        MAPS | {best_map: (MAPS[best_map][0], "")},
        f"Rank correlation, 1 is perfect (mean, and from drawing to drawing): {', '.join(map_texts)}. "
        f"To compare: {' and '.join(f'{words} {means[name]:.2f}' for name, words in CONTROLS.items())}.",
        picture=Pictures(image_urls, image_urls, (*(words for words, _ in MAPS.values()), "who asks"), aspect, 400),
        prose=BLANK_PROSE,
    )


def explain(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    from playground.analysis import cutting
    from playground.analysis import explain as blanking
    from playground.analysis.occlusion import blocks, side_of

    trace = subject.trace()
    query = start_patch(subject.name, trace.grid)
    maps = maps_of(subject, query)
    finest_side, side = side_of(trace.grid), side_of(trace.grid, subject.passes_in_time - cutting.PASSES)
    yield p.Ask(map_question_about(subject.with_other(model="bundled", sample=ASKED_SAMPLE) or subject))
    passes = len(blocks(trace.grid, side)) + cutting.PASSES
    if reason := subject.why_too_long(passes):
        yield p.Words(reason)
        return
    if trace.tokens > MOST_TOKENS_AT_ONCE and settings.blank != "yes":
        yield p.Choice(
            "blank", f"Blank the picture, block by block: {passes} passes", {"no": "not now", "yes": "blank"}
        )
        return
    yield p.Wait("Blanking one block after the other …")
    moves = in_turn(subject, ("moves", query, side), lambda trace, turn: blanking.moves_of(trace, query, side, turn))
    edge_cut = in_turn(subject, ("cut", query), lambda trace, turn: cutting.cut_edge(trace, query, turn))
    coarser_note = p.Words(
        f"Blocks of {finest_side} × {finest_side} patches would need {len(blocks(trace.grid, finest_side))} passes, "
        "more than this server has time for: larger ones are blanked, and the measurement is coarser."
    )
    yield p.After(
        "weight_explain",
        *([coarser_note] if side > finest_side else []),
        *comparison_parts(subject, query, blanking.explain(maps, query, side, moves)),
        *(cut_parts(subject, query, edge_cut) if edge_cut else ()),
    )


def maps_of(subject: Subject, query: tuple[int, int]) -> dict[str, Tensor]:
    from playground.analysis import explain as blanking
    from playground.pictures.images import displayed

    return in_turn(
        subject,
        ("maps", query),
        lambda trace, _: blanking.maps(trace, np.asarray(displayed(subject.image, trace.size)), query),
    )


def map_question_about(subject: Subject) -> Question:
    """The question about our small model, beside its own maps of one of the drawings. The block around the query's
    patch stays dark, because all maps contain it."""
    from playground.analysis import explain as blanking
    from playground.analysis.explain import QUERY_PLACES, RANK_CORRELATIONS
    from playground.analysis.occlusion import side_of

    image, grid = pictures.at_map_size(subject.image), subject.trace().grid
    query = start_patch(subject.name, grid)
    own_block, maps = blanking.block_of_query(grid, side_of(grid), query), maps_of(subject, query)
    map_urls = [webp_url(lit_picture(image, maps[name].masked_fill(own_block, 0), query)) for name in MAPS]
    plain_url = webp_url(outlined_picture(image, grid, query))
    return explain_question(RANK_CORRELATIONS, len(QUERY_PLACES), (*map_urls, plain_url), image.width / image.height)


def comparison_parts(subject: Subject, query: tuple[int, int], maps: Explanation) -> Iterator[p.Part]:
    from playground.analysis.explain import NAMED_SCENES, SHARES_ON_NAMED

    row, column = maps.top
    yield p.Row(
        p.Picture(
            lit_picture(pictures.at_map_size(subject.image), maps.moved, query), "measured here: what blanking moves"
        ),
        p.Table(
            ("on this picture", "rank correlation"),
            [(words, f"{maps.scores[name]:.2f}") for name, words in MAP_NAMES.items()],
        ),
        p.Fold(
            "More: how it was measured",
            p.Words(
                f"{maps.blocks} blocks of {maps.side} × {maps.side} patches were blanked with the picture’s mean "
                f"colour. Of each map a block’s mean is compared, over {maps.compared} equal blocks. The patch’s own "
                f"block stays out: every map knows it. Rollout gives most to row {row}, column {column}, "
                f"{percent(maps.top_share)}; blanking there moves the feature by {percent(maps.top_move)} of its "
                f"length: place {maps.top_rank} of {maps.blocks - 1}."
            ),
        ),
        shares=(3, 4, 4),
    )
    yield p.Fold(
        "More: does rollout find what the model names?",
        p.Words(
            f"On {NAMED_SCENES} drawn scenes our small model’s class token puts {percent(SHARES_ON_NAMED['rollout'])} "
            f"of its rollout on the things that it names, which cover {percent(SHARES_ON_NAMED['area'])} of the "
            f"patches: hardly more than chance. Gradient × weight puts {percent(SHARES_ON_NAMED['gradient'])} there."
        ),
    )


def cut_parts(subject: Subject, query: tuple[int, int], edge: Any) -> Iterator[p.Part]:
    """The picture with both ends of the cut edge outlined; beside it, what the cut changes."""
    (row, column), (far_row, far_column) = query, edge.twin
    outlined_image = outlined_picture(
        pictures.at_map_size(subject.image), subject.trace().grid, query, edge.twin, edge.cut_radius
    )
    link = urlencode(subject.words() | {"query": f"{row},{column}", "locked": "true", "cut": edge.cut})
    yield p.Fold(
        "More: one edge, cut",
        p.Row(
            p.Picture(outlined_image, "in white who asks, in orange whom it no longer hears"),
            p.Words(
                f"**The cut edge.** The far patch that is most like patch ({row}, {column}) is ({far_row}, "
                f"{far_column}). Cut it: in no layer does the first hear it or those around it. Its feature moves by "
                f"{percent(edge.move)} of its length, **{edge.times:.1f} × as far** as without another such block "
                f"({percent(sum(edge.control_moves) / len(edge.control_moves))}, the mean of "
                f"{len(edge.control_moves)}). Their cosine was {edge.cosine_before:.3f}; now it is "
                f"**{edge.cosine_after:.3f}**: the rest comes through other patches, and from what each shows by "
                f"itself. [See the cut in the microscope](./?{link})."
            ),
            shares=(1, 3),
        ),
    )


LOCKED_SHARE = 0.3  # a head with a larger mean share on one place is locked, as in microscope/core/measures.js
LOUD_RATIO = 1.3  # a key that is longer than this multiple of the median key is called long
OUTLIER_RATIO = 3  # a token that is longer than this multiple of the median token stands out
SINK_WORDS = {"model": "dinov2-small", "sample": "coffee"}  # here layer 0, head 5 is a sink


def locked_rows(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    sentences = {name: about_agreeing(text) for name, text in (COUNT_TEXTS | SINK_TEXTS).items()}
    yield p.Ask(Question(
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
    ))  # fmt: skip
    head = (
        "the five heads that agree most",
        "to one patch",
        "to the class token",
        "to registers",
        "entropy of its rows",
    )
    long, usual = (made_words(text, times=made("key_length")) for text in (MEGAPHONE_TEXT, NO_MEGAPHONE_TEXT))
    yield p.After(
        "weight_locked",
        p.Table(head, made("agreeing_heads")),
        p.Words(made("all_sinks", text=SINKS_TEXT, unknown="")),
        p.Words(made("megaphone", loud=LOUD_RATIO, has=long, none=usual)),
    )
    yield p.Wait("Measuring how long the tokens’ vectors are …")
    yield p.After("weight_locked", *lengths(subject))
    yield p.think(
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
    "Such a row says little about the patch that asks: its place is a *sink*. The place’s value after W_O is "
    "**{carried:.2f} ×** as long as the median token’s"
)
SINK_TEXTS = {
    "little": SINK_TEXT + ": it carries next to nothing, and the head rests there.",
    "same": SINK_TEXT + ", and what the head writes has nearly one direction: it carries one thing to all.",
    "plain": SINK_TEXT + ".",
}
SINKS_TEXT = (
    "Of {all} heads {sinks} have a sink, a token that takes a fifth of the weight or more on average: {nothing} "
    "of these carry next to nothing, {one} one thing to all, {neither} neither. What the one thing is, it does "
    "not say (Fesser and others, 2026)."
)
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


LONG_TEXT = "The key of that one token is **{times:.2f} ×** as long as the median key of this head. "
MEGAPHONE_TEXT = (
    LONG_TEXT + "It has a **megaphone**: whoever’s query points a little its way hears it above all others."
)
NO_MEGAPHONE_TEXT = (
    LONG_TEXT + "So it has no **megaphone**; it is heard because most queries point to where its key points."
)


def lengths(subject: Subject) -> Iterator[p.Part]:
    yield p.Fold(
        "More: tokens that stand out, outliers and registers",
        p.Words(lengths_in_words(subject)),
        p.Words(
            "In large models the vector of some patches of even ground becomes about ten times as long: there the "
            "model keeps what belongs to no place. **Registers**, spare tokens without a place, take that over (Darcet "
            "and others, 2024)."
        ),
    )
    if (subject.model_name, subject.name) != tuple(SINK_WORDS.values()) and (
        sink_subject := subject.with_other(**SINK_WORDS)
    ):
        link = urlencode(sink_subject.words() | {"layer": 0, "head": 5})
        yield p.Words(f"[The sharpest sink of DINOv2 S: layer 0, head 5 on the coffee](./?{link})")
    yield p.Words(
        "Outliers come with size: open this step in `vit_large_patch14_dinov2.lvd142m` and in its twin with registers, "
        f"`vit_large_patch14_reg4_dinov2.lvd142m`; `{PROGRAM} download NAME` fetches each.",
        small=True,
    )


def lengths_in_words(subject: Subject) -> str:
    from playground.analysis import block

    lengths = in_turn(subject, "lengths", block.token_lengths)
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


LESSON = Lesson(
    "weight",
    "A weight is a share: how much of one token’s value goes into the mixture that another token receives. It is easy "
    "to read more into a bright patch than that.",
    {
        "layer": LAYER,
        "look": TextSetting("", pattern=r"\d{1,2}(\.\d{1,3}){3}"),  # layer, head, row, column
        "scores": TextSetting("8_0_-8", pattern=r"-?\d{1,4}(_-?\d{1,4}){2}"),
        "blank": Setting("no", ("no", "yes")),
    },
    {
        "carries": Step(
            "1 · It is not what arrives", what_arrives, "weight_differs", ("weight_differs",), ("layer", "look"),
        ),
        "scores": Step(
            "2 · It is not the score", scores, "weight_scores", ("weight_share", "weight_overflow"), ("scores",),
            picture=False,
        ),
        "locked": Step("3 · It is not always about the picture", locked_rows, "weight_locked"),
        "explain": Step("4 · Does the map explain?", explain, "weight_explain"),
    },
    outcomes={
        "weight_differs": "tell a weight from what arrives with it",
        "weight_explain": "say how a map is tested against what it should explain",
    },
)  # fmt: skip
