"""The lesson on shapes: one attention layer in nine steps, one head's whole table of weights, and shapes as other texts
have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import permutations
from typing import Any

from playground import samples
from playground.lessons import parts as p
from playground.lessons.layers import LAYER, UPPER, choice_of_layer, layer_of
from playground.lessons.lesson import Lesson, Setting, Settings, Step, Subject, TextSetting
from playground.lessons.pictures import colour_scale_end, table_of
from playground.lessons.questions import Question, choice_question, made
from playground.numbers import percent
from playground.pack import pack

STEP_COUNT = 9
MOST_HEADS = 64
MOST_TABLE_TOKENS = 1100  # tokens; with more, the whole table of weights is not drawn
EXAMPLES = {
    "picture": "This picture",
    "sentence": "4 tokens × 512, 8 heads",
    "one-head": "13 × 100 × 49 → 64, 1 head",
    "four-heads": "13 × 100 × 49 → 64, 4 heads",
    "vit-b": "A ViT-B, random parameters",
    "own": "Your own numbers",
}
NUMBER_FIELDS = {  # name -> (label, largest value, default)
    "batch": ("Batch", 64, 1),
    "tokens": ("Tokens", 1024, 4),
    "dim": ("Width in", 1536, 512),
    "chan": ("Width out", 1536, 512),
    "heads": ("Heads", 24, 8),
}
EXAMPLE_SIZES = {  # example of a textbook -> its sizes, in the order of NUMBER_FIELDS
    "sentence": (1, 4, 512, 512, 8),
    "one-head": (13, 100, 49, 64, 1),
    "four-heads": (13, 100, 49, 64, 4),
    "vit-b": (1, 197, 768, 768, 12),
}
EXERCISE_NUMBERS = {"batch": 2, "heads": 8, "tokens": 10}  # the numbers that solve the exercise


def scores_question(subject: Subject, example: str) -> Question:
    """The question about the shape of the scores. A size that the reader can change is a letter."""
    config, name = subject.vit.config, EXAMPLES[example]
    batch, tokens, heads, d = "1", f"{token_count(subject):,}", f"{config.heads}", f"{config.width // config.heads}"
    full_width = f"{config.width:,}"
    if example in EXAMPLE_SIZES:
        *sizes, width, head_count = EXAMPLE_SIZES[example]
        batch, tokens, heads, d = (f"{n:,}" for n in (*sizes[:2], head_count, width // head_count))
        full_width = f"{width:,}"
    elif example == "own":
        batch, tokens, heads, d, full_width = "B", "N", "h", "d", "hd"
    return choice_question(
        "shapes_scores", f"{name}: {tokens} tokens, {heads} heads of {d} numbers, a batch of {batch}. What is "
        "the shape of the scores?",
        {
            "d": (f"{batch} × {heads} × {tokens} × {d}",
              "That is the shape of Q, of K and of V in the heads. A score is what is left of a query and a key: one "
              "number."),
            "square": (f"{batch} × {heads} × {tokens} × {tokens}", ""),
            "flat": (f"{batch} × {tokens} × {tokens}",
              "That would be one table for all heads. Each head makes a table of its own."),
            "wide": (f"{batch} × {tokens} × {full_width}",
              f"That is what leaves the layer, {heads} × {d} numbers a token: heads side by side."),
        },
        f"Every head has a number for each pair of tokens. The {d} numbers of a query and a key are used up by the "
        "product.",
    )  # fmt: skip


def shapes_table(stages: list[tuple[str, tuple[int, ...]]]) -> p.Table:
    return p.Table(("", "shape"), [(name, " × ".join(f"{n:,}" for n in shape)) for name, shape in stages])


def sums_table(weights: Any, title: str = "softmax(X Xᵀ / √d)") -> p.Table:
    """A table of weights (N, N) with the sum of each row and of each column."""
    names, rows = [*"abcd", "sum of the column"], [*weights.tolist(), weights.sum(0).tolist()]
    cells = [[name, *(f"{x:.2f}" for x in row), f"**{sum(row):.2f}**"] for name, row in zip(names, rows, strict=True)]
    cells[-1][-1] = ""
    return p.Table((title, *names[:-1], "sum of the row"), cells)


BIAS_TARGETS = {"none": "nothing", "query": "the queries", "key": "the keys", "value": "the values"}
SECOND_PICTURES = {sample.name: sample.title for sample in samples.samples()}
HEAD_WIDTHS = {"q": (4, 6), "k": (4, 6), "v": (2, 4, 6)}
WIDE_HEAD_COUNTS = (1, 2, 5, 8)  # numbers of heads of full width
PICTURE_SIDES, PATCH_SIDES = (64, 128, 224), (8, 16, 32)  # sides of a picture and of a patch, in pixels


def names_in_other_code(settings: Settings) -> p.Fold:
    from playground.lessons import experiments

    key_change, query_change = (experiments.change_by_bias(target) for target in ("key", "query"))
    plain_results, biased_results = experiments.biased_attention("none"), experiments.biased_attention(settings.biased)
    changes = [float((new - old).abs().max()) for old, new in zip(plain_results, biased_results, strict=True)]
    plain_largest, unscaled_largest = experiments.mean_largest_weight(None), experiments.mean_largest_weight(1.0)
    return p.Fold(
        "Names in other code: qkv_bias and qk_scale",
        p.Choice("biased", "A bias is added to", BIAS_TARGETS),
        sums_table(biased_results[0], "weights of four random tokens"),
        p.Words(
            f"With a bias on *{BIAS_TARGETS[settings.biased]}* a weight changes by at most **{changes[0]:.2g}**, a "
            f"number of a mixture by at most **{changes[1]:.2g}**."
        ),
        p.Words(
            "`qkv_bias=True` adds a learned vector to all queries, one to all keys, one to all values: 3 × width "
            "more parameters. The one of the *keys* changes no weight (measured: at most "
            f"{key_change:.0e}), for q·b is the same for every key, and only differences count; that of the queries "
            f"does ({query_change:.2f}).\n\n`qk_scale=None` means 1/√d_k; a number stands in its place. With 100 "
            f"random tokens and one head of 64 the largest weight of a row is {percent(plain_largest)} on average; "
            f"with `qk_scale=1` it is {percent(unscaled_largest)}."
        ),
    )


def other_texts(settings: Settings) -> Iterator[p.Part]:
    from playground.lessons import experiments

    yield p.Words("**The shapes of other texts**")
    weights = experiments.rows_without_matrices()
    yield p.Fold(
        "The shortest attention: Q = K = V = X, without a matrix",
        shapes_table(experiments.shapes_without_matrices()),
        sums_table(weights),
        p.Words(
            "The scores X Xᵀ are symmetric; the weights are not, for each row is divided by its own sum. Each token "
            f"scores high with itself: the diagonal holds {percent(float(weights.diagonal().mean()))} on average."
        ),
    )
    yield p.Fold(
        "Q, K and V out of one matrix, shared out among 4 heads by one view",
        shapes_table(experiments.fused_shapes()),
        p.Words(f"The scale is 1/√16 = {16**-0.5:g}; with one head of 64 it would be 1/√64 = {64**-0.5:g}."),
    )
    q, k, v = settings.q_wide, settings.k_wide, settings.v_wide
    stages, refusal = experiments.shapes_of_widths(q, k, v)
    yield p.Fold(
        "q and k must be equally wide, v need not",
        p.Row(*(
            p.Choice(f"{name}_wide", f"Width of {name}", {width: str(width) for width in widths})
            for name, widths in HEAD_WIDTHS.items()
        )),
        shapes_table(stages),
        p.Words(
            f"q · k multiplies number by number: with {q} and {k} it is **not defined**. torch says: *{refusal}*"
            if refusal
            else f"q · k multiplies the {q} numbers of q with the {k} of k, pair by pair. What is mixed "
            f"is as wide as v, {v}; W_O, {v} × 8, brings it back to the width of the tokens."
        ),
    )  # fmt: skip
    full_count, shared_count = experiments.parameters_of_heads(settings.wide)
    yield p.Fold(
        "Heads of full width: 5 heads on 5 tokens of 3 numbers",
        p.Slider("wide", "Heads", {heads: str(heads) for heads in WIDE_HEAD_COUNTS}),
        shapes_table(experiments.full_head_shapes(heads=settings.wide)),
        p.Words(
            f"Here every head has matrices of the full width, so each more head costs more: **{full_count}** "
            f"parameters. Most code, this one too, shares the width among the heads: {shared_count}, however many "
            "there are."
        ),
    )
    stages = experiments.patch_shapes(settings.side, settings.cut)
    tokens, width = stages[-1][1]
    yield p.Fold(
        "A picture of 128 pixels as tokens of 32 numbers",
        p.Row(
            p.Choice("side", "Picture", {side: f"{side} pixels" for side in PICTURE_SIDES}),
            p.Choice("cut", "Patch", {cut: f"{cut} pixels" for cut in PATCH_SIDES}),
        ),
        shapes_table(stages),
        p.Words(
            f"({settings.side} ÷ {settings.cut})² = {tokens} patches, whatever is in them: (**{tokens}, {width}**). "
            "Only E knows how large a patch is."
        ),
    )
    yield names_in_other_code(settings)


def walk(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    yield p.Choice("example", "Example", EXAMPLES)
    yield p.Ask(scores_question(subject, settings.example), settings.example)  # above the drawing, which has the answer
    yield p.Wait("Walking through the layer …")
    if settings.example == "picture":
        note = f"The tokens of this picture in {subject.model}, and its trained parameters."
        yield p.Row(p.Words(note, small=True), choice_of_layer(subject, "at"))
        yield p.Drawing("steps", packed_walk(subject, layer_of(settings.at, subject)), DRAWN_SETTINGS)
    else:
        note = "Random tokens and random parameters: the shapes are real, the pattern in the numbers means nothing."
        yield p.Row(p.Words(note, small=True), p.Slider("at", "Layer", {UPPER: ""}))
        yield p.Drawing("steps", packed_random_walk(), DRAWN_SETTINGS)
    yield from exercises()
    yield whole_table(subject, layer_of(settings.table_layer, subject), settings.table_head)
    yield cross_attention(subject, settings.second)
    yield from other_texts(settings)


def packed_walk(subject: Subject, layer: int) -> bytes:
    from playground.lessons.walk import steps_to_bytes, walk_picture

    def work() -> bytes:
        with subject.turns():
            return steps_to_bytes(walk_picture(subject.vit, subject.image, layer), f"{subject.identity} {layer}")

    return subject.cached(("walk", layer), work)


def token_count(subject: Subject) -> int:
    """The number of tokens in the drawing's walk, whose input size differs from the microscope's."""
    from playground.lessons.walk import size_of_walk

    config, (height, width) = subject.vit.config, size_of_walk(subject.vit, subject.image)
    return (height // config.patch_size) * (width // config.patch_size) + len(config.prefix)


@cache
def packed_random_walk() -> bytes:
    """The steps' words for random tokens. The browser computes the tensors, for any sizes."""
    from playground.lessons.walk import teaching_steps, vit_steps

    header = {
        "fields": [[name, label, largest] for name, (label, largest, _) in NUMBER_FIELDS.items()],
        "sizes": {example: dict(zip(NUMBER_FIELDS, sizes, strict=True)) for example, sizes in EXAMPLE_SIZES.items()},
        "vit": [step.as_record() for step in vit_steps()],
        "teaching": [step.as_record() for step in teaching_steps()],
    }
    return pack(header, {})


def exercises() -> Iterator[p.Part]:
    solution = tuple(EXERCISE_NUMBERS.values())
    misplaced = "The right numbers at other places: the scores are batch × heads × tokens × tokens."
    yield p.Exercise(
        "Choose numbers so that the scores are 2 × 8 × 10 × 10.",
        "Batch 2, 8 heads, 10 tokens. The width does not stand in the shape of the scores: any width will do that 8 "
        "heads can share evenly.",
        hint="*Your own numbers*. Which of the four is which?",
        id="shapes_numbers",
        done=entered_state(*solution),
        tempting=[(entered_state(*order), misplaced) for order in permutations(solution) if order != solution],
    )
    yield p.think(
        "With width 512 and 8 heads, why are the scores divided by √64 and not by √512?",
        "A head’s query has d_k = 512 / 8 = 64 numbers. A sum of 64 independent products has √64 = 8 times the "
        "standard deviation of one.",
    )
    yield p.think(
        "Which numbers of a shape are the same in every step? And in which steps does one token’s result depend on "
        "other tokens?",
        "The batch and the tokens. Tokens meet in three steps: QKᵀ compares each query with every key; the softmax "
        "makes the scores of a row compete; × V mixes values.",
    )


def entered_state(*numbers: int) -> p.When:
    """The state in which the reader has entered these numbers, in the order of EXERCISE_NUMBERS."""
    return p.When({"example": ["own"]} | {name: [n] for name, n in zip(EXERCISE_NUMBERS, numbers, strict=True)})


def cross_attention(subject: Subject, second: str) -> p.Fold:
    layer, head = subject.shown_head
    return p.Fold(
        "Cross-attention: a second picture asks this one",
        p.Words(
            "The same block, with queries of one sequence, keys and values of another: so a text steers a generator of "
            f"images. {subject.model} never learned to ask another picture; its q·k, in layer {layer}, head {head}, "
            "answers all the same. Point at a patch. Where a picture asks itself, it is self-attention."
        ),
        p.Pick("second", "Asks", SECOND_PICTURES),
        p.Drawing("crossed", made("crossed", layer=layer, head=head, sample=second), ("asks",)),
    )


def whole_table(subject: Subject, layer: int, head: int) -> p.Fold:
    """All N × N weights of one head; the drawing of the nine steps shows 64 rows of it."""
    trace = subject.trace()
    title = f"The whole table: {trace.tokens:,} × {trace.tokens:,} weights of one head"
    choices = p.Row(
        choice_of_layer(subject, "table_layer", "Layer of the table"),
        p.Slider("table_head", "Head of the table", {n: str(n) for n in range(trace.heads)}),
    )
    if trace.tokens > MOST_TABLE_TOKENS:
        note = f"More than {MOST_TABLE_TOKENS:,} tokens make a table larger than a screen; choose a coarser grid."
        return p.Fold(title, choices, p.Words(note))
    head = min(head, trace.heads - 1)
    scale_end, table = subject.cached(("whole table", layer, head), lambda: drawn_table(subject, layer, head))
    prefix_sentence = f"The first {len(trace.prefix)} rows and columns belong to no patch. " if trace.prefix else ""
    note = (
        f"A row asks, a column is asked. Every row sums to 1; brightest: {percent(scale_end)} and more. "
        f"{prefix_sentence}Stripes beside the diagonal are neighbours above and below, one row of the picture apart."
    )
    width = min(760, max(392, trace.tokens))
    picture = p.Picture(table, width=width, kind="png", words=f"layer {layer}, head {head}")
    return p.Fold(title, choices, p.Words(note, small=True), picture)


def drawn_table(subject: Subject, layer: int, head: int) -> tuple[float, bytes]:
    """The end of the colour scale, and the table as a PNG."""
    trace = subject.trace()
    with subject.turns():
        weights = trace.matrix(layer, head)  # (tokens, tokens)
    return colour_scale_end(weights), table_of(weights)


DRAWN_SETTINGS = ("example", *NUMBER_FIELDS, "walk")  # settings that the drawing shows and changes
SETTINGS = {
    "example": Setting.in_python("picture", EXAMPLES),
    "at": replace(LAYER, played=(UPPER,)),
    "walk": Setting(1, range(1, STEP_COUNT + 1)),
    **{name: TextSetting(str(default), pattern=r"[1-9]\d{0,3}") for name, (_, _, default) in NUMBER_FIELDS.items()},
    "table_layer": replace(LAYER, played=(UPPER,)),
    "table_head": Setting(0, range(MOST_HEADS), range(3)),
    "second": Setting.in_python([*SECOND_PICTURES][2], SECOND_PICTURES),
    "asks": TextSetting("", pattern=r"\d{1,2},\d{1,2}"),
    **{f"{name}_wide": Setting.in_python(4, widths) for name, widths in HEAD_WIDTHS.items()},
    "biased": Setting.in_python("none", BIAS_TARGETS),
    "wide": Setting.in_python(5, WIDE_HEAD_COUNTS),
    "side": Setting.in_python(128, PICTURE_SIDES),
    "cut": Setting.in_python(16, PATCH_SIDES),
}
LESSON = Lesson(
    "shapes",
    "Follow one layer from the tokens that enter it to those that leave it. Every number of a shape has a name and a "
    "colour. Below the picture stands the code of each step.",
    SETTINGS,
    {"walk": Step("Nine steps", walk, "shapes_scores", ("shapes_numbers",), tuple(SETTINGS))},
    outcomes={
        "shapes_scores": "name the shape of each tensor of attention, from batch, heads, tokens and width",
    },
)  # fmt: skip
