"""The lesson on the cost of attention: every pair of tokens, counted by formula, kept in memory, and measured on this
machine."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import plotly.graph_objects as go

from playground.analysis import cost
from playground.analysis.cost import PRESETS, Case
from playground.errors import PlaygroundError
from playground.lessons import parts
from playground.lessons.benchmark import (
    CONVOLUTION,
    FUSED,
    GROWTH_POWERS,
    LINEAR,
    MATERIALISED,
    MOST_PASS_SECONDS,
    STEP_COUNT,
    WINDOWS,
    Measurement,
    Point,
    Series,
)
from playground.lessons.cost_case import DIALS, SWITCHES, drawing
from playground.lessons.lesson import Lesson, Setting, Settings, Step, Subject
from playground.lessons.parts import After, Ask, Chart, Exercise, Part, Row, Run, Wait, When, Words, think
from playground.lessons.questions import Bars, Number, Question, Squares, choice_question

SMALL_CASE, MIDDLE_CASE, LARGE_CASE = (
    PRESETS[name] for name in ("224 px, patch 16", "384 px, patch 16", "1,024 px, patch 16")
)


# Every pair -----------------------------------------------------------------------------------------------------------


def ratio_question(small_count: int, large_count: int) -> Question:
    """The question about the ratio of scores. `small_count`, `large_count`: the number of patches of a picture with 224
    pixels a side, and of one with 1,024."""
    small_scores, large_scores = small_count**2, large_count**2
    return Question(
        "cost_ratio",
        f"224 × 224 pixels are {small_count} patches of 16 × 16. Leave the class token aside: from 1,024 × 1,024 "
        "pixels, a head makes ▢ as many scores.",
        Number(1, 1000, " ×"), large_scores / small_scores,
        f"{large_count:,} patches instead of {small_count}, {large_count / small_count:.1f} times as many, and the "
        f"square of that: {large_scores:,} scores instead of {small_scores:,}.",
        tempting=(
            ((4, 5), "So much longer is a side of the picture. Patches go with its square, scores with theirs."),
            ((18, 25), "So many times as many *patches* there are. Each asks each: take the square."),
            ((1, 3), "Each side alone is 4.6 times as long."),
            ((900, 1000), "A side is 4.6 times as long, and it counts four times: 4.6⁴."),
        ),
        prose="The small square: a score for each pair of patches, to scale. Drag the corner of the large one.",
        picture=Squares(f"{small_scores:,} scores", f"{large_scores:,} scores", "Scores of one head"),
    )  # fmt: skip


def pairs(subject: Subject, settings: Settings) -> Iterator[Part]:
    yield Ask(ratio_question(SMALL_CASE.tokens, LARGE_CASE.tokens))
    fine_case, coarse_case = (replace(MIDDLE_CASE, patch=side) for side in (32, 48))
    token_ratio, score_ratio = MIDDLE_CASE.tokens / SMALL_CASE.tokens, MIDDLE_CASE.entries / SMALL_CASE.entries
    yield After(
        "cost_ratio",
        drawing("dials", "square"),
        Exercise(
            "At 384 pixels, choose a patch size that makes no more scores than patches of 16 make at 224.",
            f"{SMALL_CASE.tokens} tokens become {MIDDLE_CASE.tokens}, {token_ratio:.2f} times as many, and "
            f"{SMALL_CASE.entries:,} scores {MIDDLE_CASE.entries:,}: {score_ratio:.1f} times, (384 / 224)⁴. Patches of "
            f"32 pixels make {fine_case.tokens} tokens and {fine_case.entries:,} scores, patches of 48 "
            f"{coarse_case.tokens} and {coarse_case.entries:,}. But one vector then "
            "stands for four or nine times as many pixels.",
            hint="Set the image to 384, then try patch sizes until there are no more tokens than at 224.",
            id="cost_back",
            done=fewer_tokens(MIDDLE_CASE.image, SMALL_CASE.tokens),
            tempting=[
                (When({"image": [MIDDLE_CASE.image],
                       "patch": [side for side in PATCH_SIZES if side < MIDDLE_CASE.patch]}),
                 "Smaller patches make *more* tokens."),
                (fewer_tokens(SMALL_CASE.image, SMALL_CASE.tokens - 1),
                 "At 224 pixels nothing has grown. Set the image to 384."),
            ],
        ),
        think(
            "More heads: what changes, and what doesn’t?",
            "The number of scores changes: every head has its own N × N. The FLOPs of the formulas don’t: each "
            "head is narrower by as much as there are more of them.",
        ),
    )  # fmt: skip


PATCH_SIZES = DIALS["patch"].options


def fewer_tokens(image: int, most_tokens: int) -> When:
    """The states in which this image is cut into at most `most_tokens` tokens."""
    return When({"image": [image], "patch": [side for side in PATCH_SIZES if Case(image, side).tokens <= most_tokens]})


# FLOPs by formula -----------------------------------------------------------------------------------------------------


def share_question(n: int, d: int, flops: Sequence[int]) -> Question:
    """The question about the share of a layer's FLOPs that grows with the square of the tokens. `flops`: FLOPs of the
    MLP, of attention's four matrices, and of QKᵀ and × V together."""
    shares = tuple(100 * part / sum(flops) for part in flops)
    return Question(
        "cost_share",
        f"{n} patches, width {d}: QKᵀ and × V, all that grows with the *square* of the tokens, are ▢ of a layer’s "
        "FLOPs.",
        Number(0, 100, " %", step=0.5), shares[-1],
        f"4N²D of 24ND² + 4N²D, that is N / (6D + N): with few tokens nearly nothing. They are half of it at N = 6D = "
        f"{6 * d:,} tokens. “Attention is quadratic” is true, and for small pictures it hardly matters.",
        tempting=(
            ((30, 100), "Everybody speaks of the square. But the matrices work on each token, D × D at a time, "
             "and N is still much smaller than D here."),
            ((0, 0.5), "It is little, but not so little: there is a score for each pair of tokens."),
        ),
        prose="What a layer of a ViT-B computes for 224 × 224 pixels: its MLP, the four matrices of attention, and "
        "what is done for each *pair* of tokens.",
        picture=Bars(
            ("MLP, 16ND²", "W_Q, W_K, W_V, W_O, 8ND²", "every pair, 4N²D"), shares, 100, at=2, across=True, unit=" %",
            title="FLOPs of one layer",
        ),
    )  # fmt: skip


def formulas(subject: Subject, settings: Settings) -> Iterator[Part]:
    n, d = SMALL_CASE.tokens, SMALL_CASE.width
    pair_flops = cost.pair_flops(n, d)
    yield Ask(share_question(n, d, (cost.mlp_flops(n, d), cost.attention_flops(n, d) - pair_flops, pair_flops)))
    yield After(
        "cost_share",
        drawing("dials", "table", "switches", "ratio", "flops"),
        Exercise(
            f"A textbook says that attention costs {n / 9:.1f} times as much as a 3×3 convolution at {n} tokens. The "
            f"page says {SMALL_CASE.attention_flops / SMALL_CASE.convolution_flops:.2f}. Who is right?",
            "Both. The textbook counts QKᵀ alone against a depthwise convolution: 2N²D / 2k²ND = N / k². The page "
            "begins with the whole attention, its four matrices included, against a dense convolution.",
            hint="Two switches: what is counted, and against which convolution.",
            id="cost_textbook",
            done=When({"count": [cost.SCORES], "other": [cost.DEPTHWISE], "mlp": ["no"]}),
            answers=(
                ("the textbook", "It counts the scores alone. Turn the switches back: the page counts more."),
                ("the page", "It counted the four matrices too, and another convolution. Now it says N / k² as well."),
                ("both: they count different things", ""),
            ),
            tempting=[
                (When({"count": [count], "other": [other]}), "Only one of the two is as the textbook has it.")
                for count, other in ((cost.SCORES, cost.DENSE), (cost.ATTENTION, cost.DEPTHWISE))
            ],
        ),
    )


# Memory ---------------------------------------------------------------------------------------------------------------


def doubled_question() -> Question:
    return choice_question(
        "cost_memory",
        "With twice as many tokens, how much more memory do all weights take, and how much more do queries and keys "
        "take?",
        {
            "four": "the weights 4 times, queries and keys twice",
            "two": "both twice",
            "square": "both 4 times",
        },
        "four",
        "A weight belongs to a pair of tokens, a query and a key to one token. So this playground keeps queries and "
        "keys.",
        {
            "two": "Each token has a weight *for each other one*: with twice the tokens a row is twice as long, too.",
            "square": "Only what is kept for pairs grows so. A token has one query and one key in each head.",
        },
    )  # fmt: skip


def memory(subject: Subject, settings: Settings) -> Iterator[Part]:
    yield drawing("dials", "bytes", "kept")
    yield Ask(doubled_question())


# Measured -------------------------------------------------------------------------------------------------------------

COLOURS = {MATERIALISED: parts.WEIGHTS, FUSED: parts.CHANGED, CONVOLUTION: parts.CONVOLUTION,
           WINDOWS: parts.VALUE, LINEAR: parts.QUERY}  # fmt: skip


def fewer_question() -> Question:
    return choice_question(
        "cost_measured", "With many tokens the fused kernel is faster than attention by hand. Does it compute less?",
        {
            "same": "no: the same products, but hardly anything goes to memory and back",
            "less": "yes: it leaves out small weights",
            "half": "yes: it makes each score once for both directions",
        },
        "same",
        "FlashAttention and its like make a block of scores, use it and forget it. The N × N table never goes to "
        "memory, and that is what by-hand attention waits for.",
        {
            "less": "There are approximations that do. This one gives the same numbers, but for rounding (*Code*, step "
            "2).",
            "half": "The score of A with B is not that of B with A: q and k are different vectors.",
        },
    )  # fmt: skip


def measured_here(subject: Subject, settings: Settings) -> Iterator[Part]:
    case = Case(**{name: getattr(settings, name) for name in DIALS}) if is_possible_case(settings) else None
    yield Words(
        "One layer of this width, one image, one core: attention that makes its N × N weights, in a fused kernel, in "
        "windows of 4 × 4 tokens; linear attention; a convolution. Half a minute or so."
    )
    result = result_of(settings)
    if case:
        label = "Measure again" if result.points else "Measure"
        yield Run("layer", label, lambda former: measure_points(subject, settings), NEEDS_TEXT)
    if case and result.points:
        yield Row(*result_charts(result, case.heads))
        yield Words(" ".join(remarks(result)), small=True)
        yield drawing("dials")
    else:
        if result.no_room:
            yield Words("**The measurement found no room on this machine:** try again later.")
        yield drawing("flops", "dials", flops="Counted, until it is measured: FLOPs of a layer")
    yield Ask(fewer_question())


NEEDS_TEXT = (
    "**Only the app measures:** it runs such layers on your own machine. Below stands how to get it. Here is what the "
    "formulas say."
)


def is_possible_case(settings: Settings) -> bool:
    try:
        Case(**{name: getattr(settings, name) for name in DIALS})
    except PlaygroundError:
        return False
    return True


@lru_cache(maxsize=16)
def measurement_of(width: int, heads: int, kernel: int) -> Measurement:
    """This machine's measurement of a case, the same for all visitors."""
    return Measurement()


def result_of(settings: Settings) -> Measurement:
    return measurement_of(settings.width, settings.heads, settings.kernel)


def measure_points(subject: Subject, settings: Settings) -> Generator[Wait, None, None]:
    """Measures one point after the other. Points measured before a stop are kept."""
    yield Wait("Measuring: starting")
    result = result_of(settings)
    with subject.turns() as give_way:
        series = Series(settings.width, settings.heads, settings.kernel)
        try:
            for _ in series.each_moment(give_way):
                yield Wait(f"Measuring: {progress_words(series.points)}")
            result.no_room = not series.points
        finally:
            if series.points:
                result.points[:], result.stopped = series.points, len(series.points) < STEP_COUNT


def progress_words(points: list[Point]) -> str:
    return f"{points[-1].kind}, {points[-1].tokens:,} tokens, {len(points)} of {STEP_COUNT}" if points else "starting"


# The results ----------------------------------------------------------------------------------------------------------


def result_charts(result: Measurement, heads: int) -> Iterator[Chart]:
    time_figure = log_log_figure("Time of a layer")
    add_points(time_figure, result, lambda p: p.seconds, seconds_text)
    time_figure.update_yaxes(
        tickvals=[10.0**p for p in range(-4, 2)], ticktext=["0.1 ms", "1 ms", "10 ms", "0.1 s", "1 s", "10 s"]
    )
    yield Chart(time_figure, "measured time", 340)
    memory_figure = log_log_figure("Peak memory of a layer")
    add_points(memory_figure, result, lambda p: p.bytes, bytes_text)
    if tables := [
        (p.tokens, cost.TABLE_COUNT * cost.FLOAT_BYTES * heads * p.tokens**2) for p in result.of(MATERIALISED)
    ]:
        tokens, values = zip(*tables, strict=True)
        name = f"{cost.TABLE_COUNT} tables of N × N"
        memory_figure.add_scatter(
            x=tokens, y=values, name=name, mode="lines", line={"color": "gray", "width": 3, "dash": "dot"},
            text=[f"{name}, {n:,} tokens: {bytes_text(size)}" for n, size in tables],
            hovertemplate="%{text}<extra></extra>",
        )  # fmt: skip
    memory_figure.update_yaxes(tickvals=BYTE_TICKS, ticktext=[bytes_text(n) for n in BYTE_TICKS])
    yield Chart(memory_figure, "measured peak memory", 340)


def log_log_figure(title: str) -> go.Figure:
    figure = go.Figure()
    legend = {"x": 1, "xanchor": "right", "y": 0.02, "yanchor": "bottom", "bgcolor": "rgba(0,0,0,0)"}
    figure.update_layout(title={"text": title, "font": {"size": 15}}, legend=legend)
    ticks = [16, 64, 256, 1024, 4096, 16384]
    figure.update_xaxes(type="log", title="tokens", tickvals=ticks, ticktext=[f"{t:,}" for t in ticks], tickangle=0)
    figure.update_yaxes(type="log", exponentformat="SI")
    return figure


def add_points(
    figure: go.Figure, result: Measurement, value_of: Callable[[Point], float | None], text_of: Callable[[float], str]
) -> None:
    for kind in GROWTH_POWERS:
        numbers_by_tokens = {p.tokens: number for p in result.of(kind) if (number := value_of(p))}
        figure.add_scatter(
            x=[*numbers_by_tokens], y=[*numbers_by_tokens.values()], name=kind, mode="lines+markers",
            line={"color": COLOURS[kind], "width": 3}, marker={"size": 7},
            text=[f"{kind}, {tokens:,} tokens: {text_of(number)}" for tokens, number in numbers_by_tokens.items()],
            hovertemplate="%{text}<extra></extra>",
        )  # fmt: skip


def remarks(result: Measurement) -> Iterator[str]:
    yield (
        "Time is the quickest of up to five passes; memory the highest point above what was there before. Step 3 "
        "counts what training keeps of a layer. This is a forward pass alone, which keeps nothing; but by hand it "
        f"holds {cost.TABLE_COUNT} tables of N × N for each head at once: scores, scaled scores, weights."
    )
    for kind in GROWTH_POWERS:
        if skipped_points := result.of(kind, skipped=True):
            amount = skipped_words(skipped_points[0])
            yield (
                f"**{kind.capitalize()} was not run with {skipped_points[0].tokens:,} tokens:** it would take {amount}."
            )
    yield cheaper_words(result)
    if result.points and all(p.bytes is None for p in result.points):
        yield "This system does not tell a process its peak memory; Linux does."
    if result.stopped:
        yield "Stopped before its end."


def skipped_words(point: Point) -> str:
    if point.skip_reason == "time":
        return f"about {seconds_text(point.seconds)} a pass, and this page takes {MOST_PASS_SECONDS:.0f}"
    amount = f"about {bytes_text(point.bytes)}" if point.bytes else "more memory"
    return f"{amount}, and this page takes at most a gigabyte"


def cheaper_words(result: Measurement) -> str:
    """Compares windows and linear attention with the fused kernel, at the most tokens that all three ran."""
    seconds = [{p.tokens: p.seconds for p in result.of(kind)} for kind in (FUSED, WINDOWS, LINEAR)]
    if not (shared_counts := set.intersection(*map(set, seconds))):
        return ""
    most_tokens = max(shared_counts)
    fused, windows, linear = (by_tokens[most_tokens] for by_tokens in seconds)
    return (
        f"**At {most_tokens:,} tokens windows take {windows / fused:.2f} × and linear attention {linear / fused:.2f} × "
        "the time of fused attention over all pairs**, the four matrices included, which all have alike. They compute "
        "something else: in a window nobody hears the rest, and linear attention can’t single out one key as sharply."
    )


# Bytes and seconds in words -------------------------------------------------------------------------------------------

BYTE_TICKS = [10.0**p for p in range(3, 13)]  # ticks of axes


def bytes_text(size: float) -> str:
    """Bytes in words, with units of powers of ten as on disks and in the documentation."""
    power, units = 0, (" B", " KB", " MB", " GB", " TB")
    while size >= 1000 and power < len(units) - 1:
        size, power = size / 1000, power + 1
    return f"{size:.3g}{units[power]}" if power else f"{size:.0f}{units[power]}"


def seconds_text(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


SETTINGS: dict[str, Setting] = DIALS | SWITCHES
LESSON = Lesson(
    "cost",
    "In attention every token is compared with every token: twice the image side makes four times as many tokens and "
    "*sixteen times* as many scores. A convolution reads a fixed number of neighbours: its cost grows in proportion to "
    "the number of tokens.",
    SETTINGS,
    {
        "pairs": Step("1 · Every pair", pairs, "cost_ratio", ("cost_back",), (*DIALS,), own=None),
        "formulas": Step(
            "2 · FLOPs by formula", formulas, "cost_share", ("cost_textbook",), (*SWITCHES, *DIALS), own=None
        ),
        "memory": Step("3 · Memory", memory, "cost_memory", settings=(*DIALS,), own=None),
        "measured": Step("4 · Measured here", measured_here, "cost_measured", settings=(*SWITCHES, *DIALS), own=None),
    },
)
