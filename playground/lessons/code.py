"""The lesson that reads vit.py: a listing with formulas, attention by hand and by a fused kernel, and attention as a
library of books."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from playground.lessons import parts as p
from playground.lessons.lesson import Lesson, Setting, Settings, Step, Subject, in_turn
from playground.lessons.questions import Number, Photo, Question, choice_question
from playground.numbers import percent

if TYPE_CHECKING:
    from playground.tracing import Trace

MOST_TOKENS = 1024  # number of first tokens that are compared: memory grows with the square of this number
PART_TITLES = {  # titles as in lessons/listing.py, whose import of torch would delay the page
    "patches": "Patches", "positions": "Positions", "attention": "Attention", "heads": "Heads",
    "mlp": "MLP", "layer": "Layer", "answer": "Answer", "torch": "Words of PyTorch",
}  # fmt: skip

MODULE_TITLES = {
    "parameter": "Parameter", "tensor": "a plain tensor", "sequential": "Sequential", "list": "ModuleList",
}  # fmt: skip
LINE_NAMES = ("scores", "powers", "weights", "mixture")


def file(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    from playground.lessons.listing import PARTS

    yield p.Choice("part", "Part", PART_TITLES)
    yield p.Words(PARTS[settings.part].says)
    yield p.Drawing("read", {"parts": [asdict(listing) for listing in PARTS[settings.part].read()]})
    yield try_it(settings.module)
    yield p.Exercise(
        "Open the part in which W_O is applied. What is it called there?",
        "`self.proj`, in *Heads*. It takes the heads’ results, side by side in one vector, and mixes them.",
        hint="Attention gives a result for every head. Where are they put together again?",
        id="code_output",
        done=p.When({"part": ["heads"]}),
        answers=(
            ("`self.qkv`", "That makes queries, keys and values, before the heads have anything to say."),
            ("`self.proj`", ""),
            ("`self.attn`", "That is attention as a whole; W_O is inside of it."),
        ),
        tempting=[
            (p.When({"part": ["layer"]}), "Here the heads are used as a whole: `self.attn`. W_O is inside of it.")
        ],
    )
    yield p.Ask(choice_question(
        "code_column", "What would go wrong if the softmax ran over dim=-2 instead of dim=-1?",
        {
            "columns": ("the columns would sum to 1, and the rows would not", ""),
            "nothing": ("nothing: the table is square",
              "Square, but not symmetric: row i is what i asks, column i is what others ask of i."),
            "heads": ("the heads would be mixed",
              "Heads lie along dim=-3. The last two are who asks, and who is asked."),
        },
        "Every token would *give away* the same total, and what a token receives would be no weighted mean of values.",
    ))  # fmt: skip


def try_it(module_name: str) -> p.Fold:
    from playground.lessons import listing

    trial = listing.try_module(module_name)
    return p.Fold(
        "Try it: Parameter, Sequential, ModuleList",
        p.Choice("module", "The module holds", MODULE_TITLES),
        p.Code.of(listing.MODULE_MAKERS[module_name]),
        p.Table(
            ("", "is"),
            [
                ("found by `parameters()`", ", ".join(trial.parameter_names) or "nothing"),
                ("kept by `state_dict()`", ", ".join(trial.state_names) or "nothing"),
                ("changed by one step of training", ", ".join(trial.changed_names) or "nothing"),
                ("`module(x)`", trial.call_words),
            ],
        ),
    )


def attention_twice(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    from playground.lessons.listing import listing
    from playground.vit import attention, attention_by_hand

    listings = (listing(function).lines for function in (attention_by_hand, attention))
    yield p.Row(*(p.Code("\n".join(line.text for line in lines)) for lines in listings))
    yield p.Ask(choice_question(
        "code_fused", "The fused kernel never holds the table of all weights. What does it compute?",
        {
            "same": ("the same numbers, but for rounding", ""),
            "near": ("an approximation",
              "To be so much quicker it seems to have to leave something out. It only keeps less: block by block, "
              "with a running sum for the softmax."),
            "part": ("the largest weights only",
              "A softmax needs the sum over *all* keys. The kernel adds them up, block by block."),
        },
        "The difference on this picture stands below: it is that of 32-bit sums.",
    ))  # fmt: skip
    yield p.Wait("Comparing both on this picture …")
    numbers = picture_numbers(subject)
    yield p.After(
        "code_fused",
        p.Words(
            f"Their largest difference on this picture{numbers['some']}, all layers and heads: "
            f"**{numbers['apart']:.1e}**. *Cost*, step 4, measures how long each takes."
        ),
    )
    yield blocks_fold(numbers)
    yield julia_fold(settings.line)


def blocks_fold(numbers: dict[str, Any]) -> p.Fold:
    from playground.lessons.experiments import BLOCK, in_blocks

    return p.Fold(
        "In blocks, as FlashAttention does it",
        p.Code.of(in_blocks),
        p.Words(
            "**FlashAttention** (Dao et al., 2022) is this, in the fast memory of a chip. Of each row it keeps the "
            "largest score so far, the sum of the powers, the mixture; when a larger score comes, sum and mixture "
            "shrink. Our forward pass calls such a kernel, keeps queries and keys, and makes a row when you point at a "
            f"patch. In layer {numbers['layer']} on your picture{numbers['some']}, {BLOCK} keys at a time, the "
            f"largest difference from the whole table is **{numbers['blocks']:.0e}**."
        ),
    )


def julia_fold(line: str) -> p.Fold:
    from playground.lessons.experiments import JULIA, PYTHON, STEP_TITLES, line_by_line

    python, julia, numbers = line_by_line(line)
    rows = [[f"{number:.2f}".replace("-", "−") for number in row] for row in numbers.tolist()]
    return p.Fold(
        "In Julia, beside Python",
        p.Row(p.Code(PYTHON.strip()), p.Code(JULIA.strip(), "julia")),
        p.Choice("line", "One line", STEP_TITLES),
        p.Row(p.Code(python), p.Code(julia, "julia")),
        p.Table((f"{STEP_TITLES[line]}, of 3 tokens", *[""] * (len(rows[0]) - 1)), rows),
        p.Words(
            "Julia writes `*` for the product of matrices, `'` for the transpose, and a dot where Python "
            "broadcasts: `exp.(x)`, `.-`. It counts from 1, so `dims=2` is Python’s axis 1."
        ),
    )


def picture_numbers(subject: Subject) -> dict[str, Any]:
    return in_turn(subject, "measured", measured_numbers)


def measured_numbers(trace: Trace, give_way: Callable[[], None]) -> dict[str, Any]:
    from playground.analysis import heads
    from playground.analysis.heads import disagreement
    from playground.lessons.experiments import block_difference, change_by_rotation, largest_difference
    from playground.vit import QKV

    difference, largest_gap = disagreement(trace, give_way), 0.0
    layers = [QKV(*(t[:, :MOST_TOKENS] for t in layer)) for layer in trace.record.values()]
    middle_layer = len(layers) // 2
    for layer in layers:
        largest_gap = max(largest_gap, largest_difference(layer, trace.scale))
        give_way()
    return {
        "apart": largest_gap,
        "layer": middle_layer,
        "blocks": block_difference(layers[middle_layer], trace.scale),
        "turned": change_by_rotation(layers[middle_layer], trace.scale),
        "some": f" (its first {MOST_TOKENS:,} tokens)" if trace.tokens > MOST_TOKENS else "",
        "differs": difference.overall,
        "rows": difference.rows,
        "drawn": heads.sampling_note(trace),
        "breadth": difference.breadth,
        "tokens": trace.tokens,
    }


def library(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    yield p.Wait("Measuring all rows of this picture …")
    numbers = picture_numbers(subject)
    yield p.Words(
        "In a library, a :blue[**query**] is what you ask at the desk, a :orange[**key**] is the label on a spine, "
        "a :green[**value**] is what stands in the book."
    )
    trace = subject.trace()
    breadth, layer, head, patch = subject.cached("typical row", lambda: row_like(trace, numbers["breadth"]))
    rows, columns = trace.grid
    row = trace.on_grid(trace.row(layer, head, divmod(patch, columns))).flatten()
    yield p.Ask(Question(
        "code_library",
        f"A library lends one book at a time. On this picture a row of weights takes from about ▢ of {trace.tokens} "
        "tokens.",
        Number(1, trace.tokens), numbers["breadth"],
        "That is 2 to the power of the entropy, averaged over all rows. Drawn is a row from about "
        f"{breadth:.0f}, of head {head} in layer {layer}: a few get much, and many a little.",
        tempting=(
            ((1, 3), "So it is at the desk of a library. The softmax gives nobody exactly 0, and most rows are wide."),
            ((0.95 * trace.tokens, trace.tokens), "So it would be if all scores were equal. Most models start close to "
             "that."),
        ),
        picture=Photo(
            subject.photo(), (rows, columns), columns / rows, mark=patch, heat=tuple(row.tolist()), height=360,
            words=f"layer {layer}, head {head}: a row",
        ),
    ), subject.identity)  # fmt: skip
    yield p.Words(
        "Where it breaks:\n\n"
        "- A book may be **easy to find, with little inside**: a large weight on a short value. In "
        f"{percent(numbers['differs'])} of {numbers['rows']:,} rows of this picture the patch with the largest weight "
        f"is not the one that adds most. {numbers['drawn']}\n"
        "- A library lends one book. Here everyone takes a little of each.\n"
        "- Nobody is only a reader: each token asks, is labelled and is read, in the same moment.\n"
        "- A label means nothing by itself. Turn all queries and keys by one random rotation, and the weights of "
        f"layer {numbers['layer']} on this picture{numbers['some']} change by at most **{numbers['turned']:.0e}**: "
        "only their products count."
    )


def row_like(trace: Trace, breadth: float) -> tuple[float, int, int, int]:
    """(breadth, layer, head, patch) of a row that spreads over about `breadth` tokens."""
    from playground.tracing import entropy

    tokens, candidates = trace.some_patches(12), []
    for layer in range(trace.layers):
        breadths = 2 ** entropy(trace.weights(layer, tokens))  # (heads, tokens)
        head, index = divmod(int((breadths - breadth).abs().argmin()), len(tokens))
        candidates.append((float(breadths[head, index]), layer, head, tokens[index] - len(trace.prefix)))
    return min(candidates, key=lambda row: abs(row[0] - breadth))


LESSON = Lesson(
    "code",
    "This is the file that runs once for every new picture, and it keeps the queries and keys. When you point at a "
    "patch, nothing of it runs again: the browser repeats one row, softmax(q·Kᵀ/√d_k), from what was kept.",
    {
        "part": Setting.in_python("attention", PART_TITLES), "module": Setting.in_python("parameter", MODULE_TITLES),
        "line": Setting.in_python("scores", LINE_NAMES),
    },
    {
        "file": Step("1 · The file", file, "code_column", ("code_output",), ("part", "module"), picture=False),
        "twice": Step("2 · Twice the same attention", attention_twice, "code_fused", settings=("line",)),
        "library": Step("3 · A library, and where the picture breaks", library, "code_library"),
    },
    outcomes={
        "code_column": "find the axis along which the softmax runs",
        "code_fused": "say what a fused kernel leaves out, and what it returns",
    },
)  # fmt: skip
