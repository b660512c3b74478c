"""The lesson on what a weight is not: what arrives, a score, always about the picture, an explanation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import numpy as np

from playground.lessons import pictures
from playground.lessons.lesson import (
    LAYER,
    UPPER,
    Lesson,
    Setting,
    Settings,
    Step,
    Subject,
    TextSetting,
    choice_of_layer,
    layer_of,
)
from playground.lessons.made import made, made_words
from playground.lessons.parts import (
    After,
    Ask,
    Choice,
    Drawing,
    Exercise,
    Fold,
    Part,
    Picture,
    Reported,
    Row,
    Table,
    Wait,
    Words,
)
from playground.lessons.pictures import lit_picture, outlined_picture, webp_url
from playground.lessons.questions import Choice as Options
from playground.lessons.questions import Number, Pictures, Question, choice_question
from playground.lessons.weight_locked import locked_rows
from playground.numbers import percent
from playground.samples import start_patch

if TYPE_CHECKING:
    from torch import Tensor

    from playground.analysis.explain import Explanation

# What arrives ---------------------------------------------------------------------------------------------------------


def differs_question() -> Question:
    """The question in how many rows one patch has the largest weight and another adds the longest vector."""
    return Question(
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
    )  # fmt: skip


def what_arrives(subject: Subject, settings: Settings) -> Iterator[Part]:
    yield Words(
        "What arrives is the weight times the value, after W_O (and LayerScale, where a model has it). A short value "
        "adds less than a long one. Point at a patch: two tags show the largest weight and the longest vector."
    )
    layer = wanted_layer(subject, settings)
    yield choice_of_layer(subject)
    yield Drawing("carried", made("layer", layer=layer, desk=DESK_TEXT), ("look",))
    yield Exercise(
        "Click a patch for which the two tags stand on different patches. What makes the difference?",
        "The length of W_O v. A patch with a smaller weight and a longer value may add the longer vector.",
        hint="Try patches of a plain background: there many weights are nearly equal.",
        id="weight_differs",
        done=Reported("carried", "tags_apart"),
        answers=(
            ("the length of what the value becomes", ""),
            ("the scores", "They made the weights. The weight is the same for both tags."),
        ),
        tempting=[(Reported("carried", "tags_together"), "Here both tags stand on the same patch.")],
    )
    yield Ask(differs_question())


def wanted_layer(subject: Subject, settings: Settings) -> int:
    """The layer in the address: from the setting `layer`, or else from `look`, which names a layer, head and patch."""
    layer_key = int(settings.look.split(".")[0]) if settings.look else UPPER
    return layer_of(layer_key if settings.layer == UPPER else settings.layer, subject)


DESK_TEXT = (
    "A head is a **mixing desk**. Its {tokens} faders sum to 100 %; drawn are the {channels} that are furthest up for "
    "patch ({row}, {column}) in layer {layer}, head {head}. The fader does not say how loud the singer is."
)

# Scores ---------------------------------------------------------------------------------------------------------------


def grown_question() -> Question:
    return choice_question(
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


def scores(subject: Subject, settings: Settings) -> Iterator[Part]:
    yield Words(
        "The softmax takes e to the power of every score, and divides by the sum. A *difference* of scores is a "
        f"*ratio* of weights: 8 more is e⁸ = {np.exp(8):,.0f} times the weight, 8 less is e⁻⁸ = {np.exp(-8):.5f} "
        "times. A weight of nearly 0 means that another score is much larger. Move the scores."
    )
    yield Drawing("scores", {"says": POWERS_TEXT, "broken": BROKEN_TEXT, "whole": UNBROKEN_TEXT}, ("scores",))
    yield Ask(grown_question())
    yield Exercise(
        "Let A and B share the weight evenly, while C gets less than 1 %.",
        "Two equal scores, whatever they are, and a third that is at least 4 lower: e⁻⁴ is 0.018, and a little less "
        "than half of that is the weight.",
        hint="Only differences count.",
        id="weight_share",
        done=Reported("scores", "two_share"),
        tempting=[(Reported("scores", "three_share"), "A and B are even, but C still has more than 1 %.")],
    )
    yield Exercise(
        "Break the softmax that does not subtract the largest score.",
        "One score above 88.7: its power is infinite for 32-bit numbers, and the column holds nan. Or three scores of "
        "88: their sum is infinite, and the weights are 0, 0, 0. In the last column the largest power is e⁰ = 1.",
        hint="How large may a 32-bit number be?",
        id="weight_overflow",
        done=Reported("scores", "broken"),
        tempting=[
            (Reported("scores", "tiny_power"),
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


# Does the map explain? ------------------------------------------------------------------------------------------------

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
    means = {
        name: sum(scene_shares[name] for scene_shares in shares.values()) / len(shares) for name in (*MAPS, *CONTROLS)
    }
    ranges = {
        name: (
            min(scene_shares[name] for scene_shares in shares.values()),
            max(scene_shares[name] for scene_shares in shares.values()),
        )
        for name in MAPS
    }
    best_map = max(MAPS, key=means.__getitem__)
    patch_count, image_urls = askers * len(shares), (*map_urls,)
    return Question(
        "weight_explain",
        f"In our small model, for {patch_count} patches of {len(shares)} drawings: which of the five maps foretells "
        "best how far blanking moves the feature?",
        Options.of({name: words for name, (words, _) in MAPS.items()}), best_map,
        "Rank correlation, 1 is perfect (mean, and from drawing to drawing): "
        + ", ".join(
            f"{MAPS[name][0]} **{means[name]:.2f}** ({ranges[name][0]:.2f} to {ranges[name][1]:.2f})" for name in MAPS
        )
        + f". To compare: {' and '.join(f'{words} {means[name]:.2f}' for name, words in CONTROLS.items())}.",
        Pictures(image_urls, image_urls, (*(words for words, _ in MAPS.values()), "who asks"), aspect, 400),
        prose=BLANK_PROSE,
        tempting=tuple((name, reason) for name, (_, reason) in MAPS.items() if name != best_map),
    )  # fmt: skip


def explain(subject: Subject, settings: Settings) -> Iterator[Part]:
    from playground.analysis import cutting
    from playground.analysis import explain as blanking
    from playground.analysis.occlusion import blocks, side_of

    trace = subject.trace()
    query, maps = start_patch(subject.name, trace.grid), maps_of(subject, start_patch(subject.name, trace.grid))
    finest_side, side = side_of(trace.grid), side_of(trace.grid, subject.passes_in_time - cutting.PASSES)
    yield Ask(map_question_about(subject.with_other(model="bundled", sample=ASKED_SAMPLE) or subject))
    passes = len(blocks(trace.grid, side)) + cutting.PASSES
    if reason := subject.why_too_long(passes):
        yield Words(reason)
        return
    if trace.tokens > MOST_TOKENS_AT_ONCE and settings.blank != "yes":
        yield Choice("blank", f"Blank the picture, block by block: {passes} passes", {"no": "not now", "yes": "blank"})
        return
    yield Wait("Blanking one block after the other …")
    moves = blank_blocks(subject, query, side)

    def cut_it() -> Any:
        with subject.turns() as give_way:  # not taken around `cached`, which may wait for another thread
            return cutting.cut_edge(trace, query, give_way)

    edge_cut = subject.cached(("cut", query), cut_it)
    yield After(
        "weight_explain",
        *(coarser_note(finest_side, len(blocks(trace.grid, finest_side))) if side > finest_side else ()),
        *comparison_parts(subject, query, blanking.explain(maps, query, side, moves)),
        *(cut_parts(subject, query, edge_cut) if edge_cut else ()),
    )


def maps_of(subject: Subject, query: tuple[int, int]) -> dict[str, Tensor]:
    from playground.analysis import explain as blanking
    from playground.pictures.images import displayed

    def make_maps() -> dict[str, Tensor]:
        trace = subject.trace()
        with subject.turns():
            return blanking.maps(trace, np.asarray(displayed(subject.image, trace.size)), query)

    return subject.cached(("maps", query), make_maps)


def blank_blocks(subject: Subject, query: tuple[int, int], side: int) -> list[float]:
    """How far each block moves the feature when it is blanked."""
    from playground.analysis import explain as blanking

    def work() -> list[float]:
        trace = subject.trace()
        with subject.turns() as give_way:
            return blanking.moves_of(trace, query, side, give_way)

    return subject.cached(("moves", query, side), work)


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


def coarser_note(side: int, passes: int) -> Iterator[Part]:
    yield Words(
        f"Blocks of {side} × {side} patches would need {passes} passes, more than this server has time for: larger "
        "ones are blanked, and the measurement is coarser."
    )


def comparison_parts(subject: Subject, query: tuple[int, int], maps: Explanation) -> Iterator[Part]:
    from playground.analysis.explain import NAMED_SCENES, SHARES_ON_NAMED

    row, column = maps.top
    yield Row(
        Picture(
            lit_picture(pictures.at_map_size(subject.image), maps.moved, query), "measured here: what blanking moves"
        ),
        Table(
            ("on this picture", "rank correlation"),
            [(words, f"{maps.scores[name]:.2f}") for name, words in MAP_NAMES.items()],
        ),
        Fold(
            "More: how it was measured",
            Words(
                f"{maps.blocks} blocks of {maps.side} × {maps.side} patches were blanked with the picture’s mean "
                f"colour. Of each map a block’s mean is compared, over {maps.compared} equal blocks. The patch’s own "
                f"block stays out: every map knows it. Rollout gives most to row {row}, column {column}, "
                f"{percent(maps.top_share)}; blanking there moves the feature by {percent(maps.top_move)} of its "
                f"length: place {maps.top_rank} of {maps.blocks - 1}."
            ),
        ),
        shares=(3, 4, 4),
    )
    yield Fold(
        "More: does rollout find what the model names?",
        Words(
            f"On {NAMED_SCENES} drawn scenes our small model’s class token puts {percent(SHARES_ON_NAMED['rollout'])} "
            f"of its rollout on the things that it names, which cover {percent(SHARES_ON_NAMED['area'])} of the "
            f"patches: hardly more than chance. Gradient × weight puts {percent(SHARES_ON_NAMED['gradient'])} there."
        ),
    )


def cut_parts(subject: Subject, query: tuple[int, int], edge: Any) -> Iterator[Part]:
    """The picture with both ends of the cut edge outlined; beside it, what the cut changes."""
    (row, column), (far_row, far_column) = query, edge.twin
    outlined_image = outlined_picture(
        pictures.at_map_size(subject.image), subject.trace().grid, query, edge.twin, edge.cut_radius
    )
    link = urlencode(subject.words() | {"query": f"{row},{column}", "locked": "true", "cut": edge.cut})
    yield Fold(
        "More: one edge, cut",
        Row(
            Picture(outlined_image, "in white who asks, in orange whom it no longer hears"),
            Words(
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


LESSON = Lesson(
    "weight",
    "A weight is a share: how much of one token’s value goes into the mixture that another token receives. It is easy "
    "to read more into a bright patch than that.",
    {
        "layer": LAYER,
        "look": TextSetting("", pattern=r"\d{1,2}(\.\d{1,3}){3}"),  # layer, head, row, column
        "scores": TextSetting("8_0_-8", pattern=r"-?\d{1,4}(_-?\d{1,4}){2}"),
        "blank": Setting.of("no", ("no", "yes")),
    },
    {
        "carries": Step(
            "1 · It is not what arrives", what_arrives, "weight_differs", ("weight_differs",), ("layer", "look"),
        ),
        "scores": Step(
            "2 · It is not the score", scores, "weight_scores", ("weight_share", "weight_overflow"), ("scores",),
            picture=False,
        ),
        "locked": Step(
            "3 · It is not always about the picture", locked_rows, "weight_locked"
        ),
        "explain": Step("4 · Does the map explain?", explain, "weight_explain"),
    },
)  # fmt: skip
