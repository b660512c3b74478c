"""The lesson on convolution and attention: how far each sees, a shifted picture, inductive biases, cheaper variants."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from playground import samples
from playground.assets import APPETITE
from playground.lessons import parts as p
from playground.lessons.lesson import Lesson, Setting, Settings, Step, Subject, TextSetting
from playground.lessons.pictures import lit_picture, outlined_picture
from playground.lessons.questions import (
    Bars,
    Lines,
    Number,
    Pictures,
    Question,
    Series,
    choice_question,
    made,
    made_words,
)
from playground.numbers import percent
from playground.pictures.jpegs import data_url

if TYPE_CHECKING:
    from playground.analysis.two_ways import ShiftedCrops

KERNELS = (3, 5, 7)
MOST_TOKENS = 16384
TOKEN_COUNTS = (64, 196, 576, 1024, 4096, MOST_TOKENS)
MOST_MOVED = 3  # most patches by which the picture is moved


def how_far(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    k, layers, heads = settings.kernel, subject.vit.config.depth, subject.vit.config.heads
    yield p.Words(
        "A convolution reads k × k patches. A stack of convolutions reads 1 + layers · (k − 1) patches across: its "
        "**receptive field**. Attention may look at every patch in the first layer. The dots say how far heads look."
    )
    yield p.Choice("kernel", "Kernel", {size: f"{size} × {size}" for size in KERNELS})
    figure = p.figure_record(distance_figure(layers, heads, k))
    yield p.Chart(made("distances_chart", figure=figure, kernel=k), "how-far", 320)
    yield p.Ask(choice_question(
        "two_ways_far", "Two 3 × 3 convolutions, one after the other. How many patches can the answer at a place "
        "know?",
        {
            "nine": ("9",
              "That is what the second layer reads. But what it reads are answers of the first, each of which knows "
              "nine patches."),
            "twentyfive": ("25", ""),
            "eightyone": ("81", "9 × 9 would count the same patches again and again: the nine neighbourhoods overlap."),
        },
        "Each of the nine places that the second reads has seen its own nine: together 5 × 5. Every further layer "
        "adds a ring of one patch.",
    ))  # fmt: skip
    yield any_convolution(subject)
    yield p.Words(made_words(
        f"This picture is {{side}} patches long. A {k}×{k} stack needs **{{layers}} layers** until one edge can hear "
        f"of the other; attention needs one. In layer 0 the heads of {subject.model} look {{distance:.1f}} patches "
        "away on average; an even row would look {even:.1f} patches away.",
        side=made("longer_side"), layers=made("layers_needed", kernel=k), even=made("even_distance"),
        distance=made("mean_distance", layer=0),
    ))  # fmt: skip


def distance_figure(layers: int, heads: int, k: int) -> go.Figure:
    """The chart without its numbers: a dot for each head, and a line."""
    figure = go.Figure()
    figure.add_scatter(
        x=np.repeat(range(layers), heads), mode="markers", name="heads: mean distance",
        marker={"size": 8, "color": p.WEIGHTS}, hovertemplate="layer %{x}: %{y:.1f} patches<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=list(range(layers)), mode="lines+markers", name=f"{k}×{k} convolutions: farthest",
        line={"color": p.CONVOLUTION, "width": 3}, hovertemplate="layer %{x}: %{y} patches<extra></extra>",
    )  # fmt: skip
    figure.update_layout(legend={"orientation": "h", "y": 1, "yanchor": "bottom"})
    figure.update_xaxes(title="layer", dtick=1 if layers <= 16 else 4)
    return figure.update_yaxes(title="patches away", rangemode="tozero")


def any_convolution(subject: Subject) -> p.Fold:
    from playground.analysis import two_ways

    rows = [
        (
            f"{case.kernel} × {case.kernel}, stride {case.stride}", f"{case.columns[0]} × {case.columns[1]:,}",
            f"{case.answer[0]} × {case.answer[1]}", f"{case.apart:.0e} of {case.typical:.2f}",
        )
        for case in subject.cached("unfolded", lambda: two_ways.unfolding_results(subject.image))
    ]  # fmt: skip
    return p.Fold(
        "Any convolution is unfold, multiply, fold",
        p.Code.of(two_ways.by_unfold_multiply_fold),
        p.Table((f"on {subject.name}", "unfolded", "answer", "largest difference from `conv2d`"), rows),
        p.Words(
            "At stride 1 the places overlap: each pixel is copied nine times. Where stride and kernel "
            "are equal nothing overlaps: that is the patch embedding (*Patches*, step 1)."
        ),
    )


def shift(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    layer, head = subject.shown_head
    yield p.Choice("moved", "Moved by so many patches", {by: str(by) for by in range(1, MOST_MOVED + 1)})
    yield p.Wait("Running the network on both pictures …")
    crops = shifted_crops(subject, settings.moved)
    context = f"{subject.identity} {crops.patches} {layer} {head}"
    yield p.Ask(Question(
        "two_ways_shift", "After the shift a patch gives ▢ of its weight to *other* places than before.",
        Number(0, 100, " %"), 100 * crops.apart,
        f"That is the mean over all heads of layer {layer} and over all places that both pictures show. Below is one "
        f"row: head {head}, the outlined place. A convolution’s answers at these places {convolution_words(crops)}.",
        prose="Move the picture by whole patches. A convolution’s answer moves along and stays the same: **translation "
        "equivariance**, for one kernel is used everywhere. Most ViTs add a position to each patch, so the same patch "
        "at another place is another token.",
        tempting=(
            ((0, 0.4), "So it would be with a convolution, away from the edges."),
            ((90, 100), "Most of what a patch is compared with has moved along, so most of its weight stays."),
        ),
        picture=crop_pictures(crops),
    ), context)  # fmt: skip
    by_one, by_most = (shifted_crops(subject, patch_count).apart for patch_count in (1, MOST_MOVED))
    yield p.After(
        "two_ways_shift",
        p.Words(
            f"The same place asks (in white), layer {layer}, head {head}. After the last layer its features have a "
            f"cosine of **{float(crops.features.mean()):.3f}** on average, of {float(crops.features.min()):.3f} at "
            "worst: every patch has another position, and a column of patches leaves while another comes in."
        ),
        p.Fold(
            "More: and a convolution?",
            p.Words(
                f"Away from the edges its answers {convolution_words(crops)}: the picture moved by whole patches. "
                "Moved by a single pixel, the patch embedding, a convolution with a stride of a whole patch, changes "
                f"by {percent(crops.one_pixel)} of its length."
            ),
        ),
        p.Exercise(
            "Move the picture by 3 patches. Then guess again.",
            f"Moved by 1 it is {percent(by_one)}, by 3 it is {percent(by_most)} on this picture: each step brings in "
            "another column, and positions of places farther away.",
            hint="The choice above the question.",
            id="two_ways_moved",
            done=p.When({"moved": [MOST_MOVED]}),
        ),
    )


def shifted_crops(subject: Subject, patches: int) -> ShiftedCrops:
    from playground.analysis import two_ways

    layer, head = subject.shown_head

    def work() -> ShiftedCrops:
        with subject.turns():
            return two_ways.compare_shifted(subject.vit, subject.image, layer, head, patches)

    return subject.cached(("shifted", layer, head, patches), work)


def crop_pictures(shift: ShiftedCrops) -> Pictures:
    spots = [(shift.query[0], shift.query[1] + offset) for offset in (shift.patches, 0)]
    pairs = list(zip(shift.pictures, shift.rows, spots, strict=True))
    first, second = (data_url(outlined_picture(crop, shift.grid, spot)) for crop, _, spot in pairs)
    first_map, second_map = (data_url(lit_picture(crop, row, spot)) for crop, row, spot in pairs)
    aspect = shift.pictures[0].width / shift.pictures[0].height
    return Pictures((first, second), (first_map, second_map), ("as it was", f"moved by {shift.patches}"), aspect)


def convolution_words(shift: ShiftedCrops) -> str:
    return f"differ by {shift.convolution:.0e} of their size" if shift.convolution else "are exactly the same"


def inductive_biases(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    d = subject.vit.config.width
    yield p.Words(
        "The **inductive bias** of a network is what its architecture makes true, or likely, of its answers before "
        "it has seen a single picture."
    )
    yield p.Ask(Question(
        "two_ways_built",
        f"A 3 × 3 convolution from {d} to {d} channels learns 9D² numbers, biases aside. All of attention, W_Q, W_K, "
        "W_V and W_O, learns ▢.",
        Number(0, 10 * d * d, step=1000), 4 * d * d,
        "4D², whatever the picture’s size: attention has no parameter for a place. It mixes by weights that are "
        "computed anew for each picture, not learned.",
        tempting=(
            ((6 * d * d, 10 * d * d), "Attention may look at every patch, but no patch has parameters of its own: "
             "W_Q and W_K are the same at all places."),
            ((0, 1.5 * d * d), "That would be one matrix. Query, key, value and output have one each."),
        ),
        picture=Bars(
            ("1 × 1 convolution", "attention", "3 × 3 convolution", "5 × 5 convolution"),
            (d * d, 4 * d * d, 9 * d * d, 25 * d * d), 26 * d * d, at=1, across=True, height=380,
            title=f"Parameters, width {d}",
        ),
    ), str(d))  # fmt: skip
    yield p.Choice("reads", "Look at", READ_OPTIONS)
    yield from side_by_side(subject, settings.reads)
    yield p.Fold("More: bias by bias", p.Table(
        ("", "convolution", "attention"),
        (
            ("**locality**", "reads k × k neighbours, nothing else", "may read every patch"),
            ("**shared parameters** (“weight sharing”)", "one kernel at all places",
             "W_Q, W_K, W_V at all places; the *mixing* differs with the picture"),
            ("**order**", "each parameter belongs to a direction", "none: a set; positions are added"),
            ("**a shifted picture**", "the answer shifts along (equivariance), but for edges",
             "without positions it shifts along too, if the same patches are there; with them this is not built in"),
            ("**shuffled patches**", "another answer", "without positions, the same answers, shuffled along"),
        ),
    ))  # fmt: skip
    measured = json.loads(APPETITE.read_text(encoding="utf-8"))
    yield p.Chart(appetite_figure(measured), "appetite-for-data", 300)
    vit, convolution = (measured["nets"][net] for net in ("vit", "convolution"))
    known = [percent(float(np.mean(net["learned"][-1]))) for net in (vit, convolution)]
    yield p.Words(
        f"A ViT and convolutions, of {vit['parameters']:,} and {convolution['parameters']:,} parameters, name the "
        f"backdrop, of {measured['kinds']} kinds, of {measured['tested']:,} new drawings of ours. In training each saw "
        f"{measured['seen']:,}, out of as many as the axis says. Bars: the best and the worst of three runs."
    )
    yield p.Words(
        "100 drawings both know by heart, and convolutions know more of new ones: a bias helps if it is true of the "
        f"pictures. Of its own 10,000 the ViT knows only {known[0]}, convolutions {known[1]}: there it lacks training, "
        "not drawings. The ViT paper shows its **appetite for data**: with ImageNet’s 1.3 million pictures alone ViTs "
        "stay below convolutional networks of their size, with 300 million they are ahead."
    )
    yield p.Exercise(
        "Look at another picture. What has changed?",
        "Attention’s shares: they are computed of what the tokens hold (*content dependence*). The kernel’s are "
        "parameters, the same for every picture.",
        id="two_ways_content",
        done=p.When({"reads": ["other"]}),
        answers=(
            ("attention’s shares", ""),
            ("the kernel’s shares", "They were learned, and stay what they are."),
            ("both", "The kernel’s were learned, and stay what they are."),
        ),
    )
    yield p.think(
        "A network must count the windows of a house, wherever they are. Which bias helps?",
        "Sharing parameters over all places. Both have it, in the kernel or in W_Q, W_K, W_V. Locality helps to find a "
        "window; to *count*, far places have to be brought together.",
    )


def appetite_figure(measured: dict) -> go.Figure:
    figure, counts = go.Figure(), measured["counts"]
    for net, name, colour in (("convolution", "convolutions", p.CONVOLUTION), ("vit", "ViT", p.QUERY)):
        shares = 100 * np.array(measured["nets"][net]["tested"])  # (counts, runs)
        mean = shares.mean(1)
        bars = {"array": shares.max(1) - mean, "arrayminus": mean - shares.min(1)}
        figure.add_scatter(x=counts, y=mean.tolist(), error_y=bars, name=name, line={"color": colour, "width": 3})
    figure.update_layout(legend={"orientation": "h", "y": 1, "yanchor": "bottom"})
    figure.update_xaxes(
        type="log", tickvals=counts, ticktext=[f"{n:,}" for n in counts], title="drawings to learn from"
    )
    return figure.update_yaxes(title="right about new drawings", ticksuffix=" %", range=[0, 100])


READ_OPTIONS = {"may": "what may be read", "here": "what is mixed", "other": "what is mixed, on another picture"}


def side_by_side(subject: Subject, reads: str) -> Iterator[p.Part]:
    """Two maps of one place: the patches that a 3 × 3 kernel may read, or mixes, and those of attention."""
    layer, head = subject.shown_head
    other_sample = next(sample.name for sample in samples.samples() if sample.name != subject.sample_name)
    picture = {"sample": other_sample} if reads == "other" else {}
    verb, row = ("may read", "even") if reads == "may" else ("mixes", "head")
    kernel_row, attention_row = (
        made("lit", row="kernel", **picture),
        made("lit", row=row, layer=layer, head=head, **picture),
    )
    yield p.Row(
        p.Picture(kernel_row, f"a 3 × 3 kernel {verb} nine patches, with the same nine numbers everywhere"),
        p.Picture(attention_row, f"attention, layer {layer}, head {head}, {verb} all patches"),
    )


SWIN_SIDE, SWIN_WINDOW = 16, 4  # patches along a side of a square picture, and along a side of a window
WINDOW_SIZE, D_K = 49, 64  # tokens in a window, width of a head


KEEP_OPTIONS = {"0.5": "half", "0.9": "90 %", "0.99": "99 %", "chosen": "what matters, as Mamba chooses"}


def memory_figure(keeps: str) -> go.Figure:
    from playground.analysis import two_ways

    figure = go.Figure()
    for name, words in KEEP_OPTIONS.items():
        is_chosen = name == keeps
        figure.add_scatter(
            y=[100 * part for part in two_ways.parts_of_first_token(name)], name=words, showlegend=is_chosen,
            line={"width": 4 if is_chosen else 1, "color": p.QUERY if is_chosen else "gray"},
            hovertemplate=f"{words}, after %{{x}} tokens: %{{y:.1f}} %<extra></extra>",
        )  # fmt: skip
    figure.update_layout(title="What is left of the first token")
    figure.update_xaxes(title=f"tokens read since; another one that matters comes at {two_ways.SECOND_INDEX}")
    return figure.update_yaxes(ticksuffix=" %", rangemode="tozero")


def cheaper_ways(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    from playground.analysis import two_ways

    counts = (64, 256, 1024, 4096, 16384)
    all_pairs, windows, linear = zip(*(two_ways.product_flops(n, WINDOW_SIZE, D_K) for n in counts), strict=True)
    yield p.Ask(Question(
        "two_ways_cheaper",
        f"Linear attention never makes the N × N table: at {counts[-1]:,} tokens its first product costs ▢ FLOPs.",
        Number(1e5, 1e11, log=True), linear[-1],
        f"2Nd² = 2 · {counts[-1]:,} · {D_K}²: it grows with N, not N², and is 1/{all_pairs[-1] // linear[-1]} of all "
        f"pairs. At N = d = {D_K} tokens the two cost the same, and below that it costs more. Counted, not measured: "
        "what is quickest also depends on memory: *Cost*, step 4.",
        prose=f"One head of {D_K} numbers. Full attention compares all pairs. Attention in windows of {WINDOW_SIZE} "
        "tokens compares only those in a window.",
        tempting=(
            ((2e10, 1e11), "That counts all pairs. Linear attention multiplies keys and values first: d × d."),
            ((1e5, 1e7), f"Each token still takes d × d = {D_K**2:,} products."),
        ),
        picture=Lines(
            counts,
            (
                Series("all pairs", all_pairs, p.WEIGHTS),
                Series(f"windows of {WINDOW_SIZE}", windows, p.VALUE, dash=True),
                Series("linear attention", linear, p.QUERY, shown=1, below=True),
            ),
            1e5, 1e11, "tokens", at=(2, len(counts) - 1), title="FLOPs of the first product", log_x=True, log_y=True,
            x_ticks=counts,
        ),
    ))  # fmt: skip
    yield p.Words(
        "Attention costs N² because each token may look at each. Three ways around that, each with its price; none is "
        "simply better."
    )
    yield p.Words(
        "**Windows (Swin).** Softmax over the w² tokens of a window, not all N: N · w² scores instead of N². Point at "
        "a patch, and go through the layers."
    )
    yield p.Drawing("windows", made("windows", side=SWIN_SIDE, window=SWIN_WINDOW), ("spot", "deep", "shifts"))
    yield p.Words(
        "Far tokens meet only after several layers: locality is back. (Swin itself has 56 × 56 patches in windows of "
        "7 × 7, and merges 2 × 2 patches three times on its way, which brings far ones together sooner.)",
        small=True,
    )
    yield p.Fold(
        "Linear attention",
        p.Words(
            "Replace exp(q·k) by φ(q)·φ(k). Then (φ(Q) φ(K)ᵀ) V = φ(Q) (φ(K)ᵀ V), and the right side needs no N × N "
            "table: N · d² instead of N² · d. (Each row is still divided by its sum.) But φ(q)·φ(k) can't single out "
            "one key as sharply as exp can."
        ),
    )
    yield p.Fold(
        "State spaces (S4, Mamba)",
        p.Words(
            "Read the tokens in a row and keep a state, hₜ = A hₜ₋₁ + B xₜ, yₜ = C hₜ: N steps; in Mamba, A, B and C "
            "depend on xₜ, so that it chooses what to keep. What is far back has to fit into the state, and a picture "
            "needs an order in which it is read."
        ),
        p.Choice("keeps", "The state keeps", KEEP_OPTIONS),
        p.Chart(memory_figure(settings.keeps), "what-a-state-keeps", 280),
        p.Words(
            f"In the end it holds **{percent(two_ways.parts_of_first_token(settings.keeps)[-1])}** of the first token. "
            "Attention reads the first token itself, however far back it is."
        ),
    )
    yield p.Slider("cheap_tokens", "Tokens", {count: f"{count:,}" for count in TOKEN_COUNTS})
    names = ("all pairs, 2 N² d", f"windows of {WINDOW_SIZE} tokens, 2 N w² d", "linear attention, 2 N d²")
    flops = two_ways.product_flops(settings.cheap_tokens, WINDOW_SIZE, D_K)
    rows = [(name, f"{n:,}", f"{n / flops[0]:.3g} ×") for name, n in zip(names, flops, strict=True)]
    yield p.Table((f"one head of {D_K}, the first product", "FLOPs", ""), rows)
    yield p.Exercise(
        "Choose the number of tokens with which linear attention costs as much as all pairs.",
        "With as many as a head has numbers: N = d, for 2N²d = 2Nd² there. Below that it costs *more*. All "
        "pairs grow with the square of the tokens, linear attention with the tokens alone.",
        hint="When do two lines of the table say 1 ×?",
        id="two_ways_linear",
        done=p.When({"cheap_tokens": [D_K]}),
        tempting=[
            (p.When({"cheap_tokens": [MOST_TOKENS]}),
             "Here linear attention saves most. Look for the place where it saves nothing."),
        ],
    )  # fmt: skip


LESSON = Lesson(
    "two_ways",
    "A convolution always reads the same neighbours with the same parameters. Attention reads whatever the picture "
    "makes it read.",
    {
        "kernel": Setting.in_python(3, KERNELS),
        "moved": Setting.in_python(1, range(1, MOST_MOVED + 1)),
        "reads": Setting.in_python("here", READ_OPTIONS),
        "cheap_tokens": Setting.in_python(1024, TOKEN_COUNTS),
        "keeps": Setting.in_python("0.9", KEEP_OPTIONS),
        "spot": TextSetting("", pattern=r"\d{1,2},\d{1,2}"),
        "deep": Setting(1, range(1, 7)),
        "shifts": Setting("yes", ("yes", "no")),
    },
    {
        "far": Step("1 · How far", how_far, "two_ways_far", (), ("kernel",)),
        "shift": Step("2 · A shifted picture", shift, "two_ways_shift", ("two_ways_moved",), ("moved",)),
        "built": Step("3 · What is built in", inductive_biases, "two_ways_built", ("two_ways_content",), ("reads",)),
        "cheaper": Step("4 · Cheaper ways", cheaper_ways, "two_ways_cheaper", ("two_ways_linear",),
                        ("cheap_tokens", "keeps", "spot", "deep", "shifts")),
    },
    outcomes={
        "two_ways_far": "compare how far convolutions and attention look",
        "two_ways_built": "compare what the two learn",
    },
)  # fmt: skip
