"""The page on convolution and attention: how far each sees, a shifted picture, what is built in, cheaper ways."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from playground.lessons.questions import Bars, Lines, Number, Pictures, Series
from playground.models.names import plain_name
from playground.serving import models, queue, traces
from playground.serving.pictures import data_url
from playground.ui import guess, lesson
from playground.ui.here import Here
from playground.ui.lessons.drawings import body_of, lit, outlined
from playground.ui.navigation import Setting

state = st.session_state

STEPS = {
    "far": "1 · How far",
    "shift": "2 · A shifted picture",
    "built": "3 · What is built in",
    "cheaper": "4 · Cheaper ways",
}
SETTINGS = {
    "step": Setting.of("far", STEPS),
    "kernel": Setting.of(3, (3, 5, 7)),
    "moved": Setting.of(1, (1, 2, 3)),
}


# How far --------------------------------------------------------------------------------------------------------------


def far(here: Here) -> None:
    from playground.lessons import two_ways
    from playground.ui.lessons import heads_numbers

    seen = traces.trace(here.picture, here.wish, here.own)
    side = max(seen.grid)
    st.markdown(
        "After one layer, a convolution knows its k × k neighbours. A stack of them sees further with each layer: "
        "1 + layers · (k − 1) patches across, its **receptive field**. Attention may look at every patch in the first "
        "layer. Whether it does is another question: the dots say how far the heads of this model really look."
    )
    st.segmented_control("Kernel", (3, 5, 7), key="kernel", format_func=lambda k: f"{k} × {k}", required=True)
    mean = heads_numbers.habits_here(here)
    layers = np.arange(seen.layers)
    half = [min(side, two_ways.field(state.kernel, int(n) + 1) // 2) for n in layers]
    figure = go.Figure()
    figure.add_scatter(
        x=np.repeat(layers, seen.heads), y=mean.distance.ravel(), mode="markers", name="heads: mean distance",
        marker={"size": 8, "color": "#B63679"}, hovertemplate="layer %{x}: %{y:.1f} patches<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=layers, y=half, mode="lines+markers", name=f"{state.kernel}×{state.kernel} convolutions: farthest",
        line={"color": lesson.CONVOLUTION, "width": 3}, hovertemplate="layer %{x}: %{y} patches<extra></extra>",
    )  # fmt: skip
    figure.update_layout(legend={"orientation": "h", "y": -0.25})
    figure.update_xaxes(title="layer", dtick=1 if seen.layers <= 16 else 4)
    figure.update_yaxes(title="patches away", rangemode="tozero")
    lesson.chart(figure, "far", height=320, name="how-far")
    guess.choice(
        "two_ways_far", "Two 3 × 3 convolutions, one after the other. How many patches can the answer at a place know?",
        {"nine": "9", "twentyfive": "25", "eightyone": "81"},
        "twentyfive",
        "Each of the nine places that the second reads has seen its own nine: together 5 × 5. Every further layer "
        "adds a "
        "ring of one patch, so the side grows evenly, by 2 a layer.",
        {
            "nine": "That is what the second layer reads. But what it reads are answers of the first, each of which "
            "knows nine patches.",
            "eightyone": "9 × 9 would count the same patches again and again: the nine neighbourhoods overlap.",
        },
    )  # fmt: skip
    any_convolution(here)
    needed = two_ways.layers_needed(side, state.kernel)
    st.markdown(
        f"This picture is {side} patches long. A {state.kernel}×{state.kernel} stack needs **{needed} layers** until "
        f"one edge can hear of the other; attention needs one. In layer 0 the heads of {plain_name(here.wish.model)} "
        f"look {mean.distance[0].mean():.1f} patches away on average."
    )


def any_convolution(here: Here) -> None:
    """Unfold, multiply, fold."""
    from playground.lessons import two_ways

    found = here.kept("unfolded", lambda: two_ways.unfolded(here.picture.image))
    with st.expander("Any convolution is unfold, multiply, fold", icon=":material/grid_view:"):
        st.code(body_of(two_ways.by_unfold_multiply_fold), language="python", wrap_lines=True)
        lines = [
            f"| {one.kernel} × {one.kernel}, stride {one.stride} | {one.columns[0]} × {one.columns[1]:,} "
            f"| {one.answer[0]} × {one.answer[1]} | {one.apart:.0e} of {one.typical:.2f} |"
            for one in found
        ]
        head = "| on your picture | unfolded | answer | largest difference from `conv2d` |"
        st.markdown("\n".join([head, "|---|---|---|---|", *lines]))
        st.markdown(
            "At stride 1 the places overlap: each pixel is copied nine times. Where stride and kernel are equal nothing"
            " overlaps: that is the patch embedding (*Patches*, step 1)."
        )


# A shifted picture ----------------------------------------------------------------------------------------------------


def shift(here: Here) -> None:
    layer, head = _shown(here)
    st.markdown(
        "Move the picture by whole patches. A convolution's answer moves along and stays the same: **translation "
        "equivariance**, which follows from one kernel being used everywhere. A ViT adds a position to each patch, so "
        "the same patch at another place is another token."
    )
    st.segmented_control("Moved by so many patches", (1, 2, 3), key="moved", required=True)

    found = _moved(here, layer, head, state.moved)

    _guess_shift(here, found, layer, head)
    with guess.after("two_ways_shift"):
        _shift_words(found, layer, head, _moved(here, layer, head, 1).apart)


def guess_shift(here: Here) -> None:
    """The question alone, moved by one patch."""
    layer, head = _shown(here)
    _guess_shift(here, _moved(here, layer, head, 1), layer, head)


def _guess_shift(here: Here, found, layer: int, head: int) -> None:
    spots = [(found.query[0], found.query[1] + moved) for moved in (found.patches, 0)]
    pairs = [list(zip(found.pictures, spots, strict=True)), list(zip(found.pictures, found.rows, spots, strict=True))]
    guess.number(
        "two_ways_shift", "After the shift a patch gives ▢ of its weight to *other* places than before.",
        Number(0, 100, " %"), 100 * found.apart,
        f"Layer {layer}, mean over all heads and places, on the places that both cuts show. Now the row of the "
        f"outlined "
        f"place is drawn, of head {head}. A convolution: {_small(found.convolution)}.",
        (here.picture.id, here.wish.model, found.patches, layer, head),
        tempting=(((0, 0.4), "So it would be with a convolution, away from the edges."),),
        picture=Pictures(
            tuple(data_url(outlined(cut, found.grid, spot)) for cut, spot in pairs[0]),
            tuple(data_url(lit(cut, row, spot)) for cut, row, spot in pairs[1]),
            ("as it was", f"moved by {found.patches}"), found.pictures[0].width / found.pictures[0].height,
        ),
    )  # fmt: skip


def _shown(here: Here) -> tuple[int, int]:
    """The layer and head that the microscope shows."""
    from playground.pack import upper_layer

    c = models.load(here.wish.model).config
    return min(int(here.view.get("layer", upper_layer(c.depth))), c.depth - 1), int(here.view.get("head", 0)) % c.heads


def _moved(here: Here, layer: int, head: int, patches: int):
    from playground.lessons import two_ways

    def work() -> two_ways.Shifted:
        with queue.turn():
            return two_ways.shifted(models.load(here.wish.model), here.picture.image, layer, head, patches)

    return here.kept(("shifted", layer, head, patches), work)


def _shift_words(found, layer: int, head: int, by_one: float) -> None:
    st.markdown(
        f"The same place of the picture asks (outlined in white), layer {layer}, head {head}. After the last layer the "
        f"features of the same place have a cosine of **{float(found.features.mean()):.3f}** on average, of "
        f"{float(found.features.min()):.3f} at worst. Away from the edges a convolution's answers differ by "
        f"**{_small(found.convolution)}** of their size, because the patches themselves are the same: the picture "
        f"moved "
        f"by whole patches. Moved by a single pixel, the patch embedding, a convolution with a stride of a whole "
        f"patch, "
        f"changes by {found.one_pixel:.0%} of its length. Two things change for the ViT: the positions, and a column "
        f"of "
        "patches that leaves while another one comes in, which every row listens to."
    )
    lesson.exercise(
        "Move the picture by 3 patches. Guess again: do more weights go elsewhere than with 1?",
        f"Moved by 1 it is {by_one:.0%}, by {state.moved} it is {found.apart:.0%} on your picture. Each step takes "
        f"one more column away and "
        f"brings a new one, and every "
        "patch gets the position of a place farther away. For the convolution nothing changes away from the edges: the "
        "same kernel is used at every place.",
        hint="The choice above the question.",
        done=state.moved == 3, id="two_ways_moved",
    )  # fmt: skip


WINDOW, HEAD = 49, 64  # tokens of a window, numbers of a head


def _small(x: float) -> str:
    return f"{x:.0e}" if x else "exactly 0"


# What is built in -----------------------------------------------------------------------------------------------------


def built(here: Here) -> None:
    c = models.load(here.wish.model).config
    d = c.width
    st.markdown(
        "The **inductive bias** of a network is what its architecture makes true, or likely, of its answers before it "
        "has seen a single picture."
    )
    guess.number(
        "two_ways_built",
        f"A 3 × 3 convolution from {d} to {d} channels learns 9D² numbers. All of attention, W_Q, W_K, W_V and W_O, "
        "learns ▢.",
        Number(0, 10 * d * d, step=1000), 4 * d * d,
        "4D², whatever the picture’s size: attention has no parameter for a place. It mixes by weights that are "
        "computed "
        "anew for each picture, not learned.",
        c.width,
        tempting=(
            ((6 * d * d, 10 * d * d), "It may look at every patch, but has no parameter for any: W_Q and W_K are used "
             "at all places."),
            ((0, 1.5 * d * d), "That would be one matrix. Query, key, value and output have one each."),
        ),
        picture=Bars(
            ("1 × 1 convolution", "attention", "3 × 3 convolution", "5 × 5 convolution"),
            (d * d, 4 * d * d, 9 * d * d, 25 * d * d), 26 * d * d, at=1, across=True, height=380,
            title=f"Parameters, width {d}",
        ),
    )  # fmt: skip
    rows = (
        "| | convolution | attention |",
        "|---|---|---|",
        "| **locality** | reads k × k neighbours, nothing else | may read every patch |",
        "| **shared parameters** (“weight sharing”) | one kernel at all places | W_Q, W_K, W_V at all places; the "
        "*mixing* differs with the picture |",
        "| **order** | each parameter belongs to a direction | none: a set; positions are added |",
        "| **a shifted picture** | the answer shifts along (equivariance), but for edges | without positions it shifts "
        "along too, if the same patches are there; with them this is not built in |",
        "| **shuffled patches** | another answer | without positions, the same answers, shuffled along |",
    )
    st.markdown(lesson.mathematics("\n".join(rows)))
    st.markdown(
        "A bias is help if it is true of the pictures, and a limit where it is not. With few pictures the "
        "convolution's helps: in the ViT paper, trained on ImageNet's 1.3 million pictures alone, ViTs stay below "
        "convolutional networks of their size; with 300 million pictures they are ahead. That is what is meant by "
        "attention's **appetite for data**."
    )
    lesson.exercise(
        "A network must count the windows of a house, wherever they are. Which bias helps?",
        "Sharing parameters over all places: a window is the same at the left and at the right. Both have it, in the "
        "kernel or in W_Q, W_K, W_V. Locality helps to find a window; to *count*, far places have to be brought "
        "together.",
    )


# Cheaper ways ---------------------------------------------------------------------------------------------------------


def cheaper() -> None:
    from playground.lessons import two_ways

    counts = (64, 256, 1024, 4096, 16384)
    every, windows, linear = zip(*(two_ways.products(n, WINDOW, HEAD) for n in counts), strict=True)
    guess.number(
        "two_ways_cheaper",
        f"Linear attention never makes the N × N table: at {counts[-1]:,} tokens its first product costs ▢ FLOPs.",
        Number(1e5, 1e11, log=True), linear[-1],
        f"2Nd² = 2 · {counts[-1]:,} · {HEAD}²: it is a straight line, {every[-1] // linear[-1]} times below all "
        f"pairs. At "
        f"N = d = {HEAD} tokens the two cost the same, and below that it costs more. Counted, not measured: what is "
        "quickest also depends on memory: *Cost*, step 4.",
        prose=f"One head of {HEAD} numbers. Full attention compares all pairs. Attention in windows of {WINDOW} tokens "
        "compares only those in a window.",
        tempting=(((2e10, 1e11), "That is all pairs. Linear attention multiplies keys and values first: d × d."),),
        picture=Lines(
            counts,
            (
                Series("all pairs", every, "#B63679"), Series(f"windows of {WINDOW}", windows, "#009E73", dash=True),
                Series("linear attention", linear, lesson.QUERY, shown=1, below=True),
            ),
            1e5, 1e11, "tokens", at=(2, len(counts) - 1), title="FLOPs of the first product", log_x=True, log_y=True,
            x_ticks=counts,
        ),
    )  # fmt: skip
    st.markdown(
        "Attention costs N² because each token may look at each. Three ways around that, each with its price:\n\n"
        "- **Windows** (Swin): softmax over the w² tokens of a window instead of all N: N · w² scores instead of N². "
        "Far tokens meet only after several layers, in which the windows are shifted; locality is back.\n"
        "- **Linear attention**: replace exp(q·k) by φ(q)·φ(k). Then (φ(Q) φ(K)ᵀ) V = φ(Q) (φ(K)ᵀ V), and the right "
        "side needs no N × N table: N · d² instead of N² · d. (Each row is still divided by its sum.) But φ(q)·φ(k) "
        "can't single out one key as sharply as exp can.\n"
        "- **State spaces** (S4, Mamba): read the tokens in a row and keep a state, hₜ = A hₜ₋₁ + B xₜ, yₜ = C hₜ: N "
        "steps; in Mamba, A and B depend on xₜ, so that it can choose what to keep. What is far back has to fit into "
        "the state, and a picture needs an order in which it is read.\n\n"
        "None of them is simply better: a fused kernel makes full attention cheap in *memory*, and with a few "
        "hundred tokens there is little to gain: the four matrices cost most. *Cost*, step 4, measures windows and "
        "linear attention beside it on this machine; here their first product is counted."
    )
    tokens = st.select_slider("Tokens", (64, 196, 576, 1024, 4096, 16384), 1024, key="cheap_tokens", width=420)
    window, d = WINDOW, HEAD
    names = ("all pairs, 2 N² d", f"windows of {window} tokens, 2 N w² d", "linear attention, 2 N d²")
    rows = list(zip(names, two_ways.products(tokens, window, d), strict=True))
    lines = [f"| {name} | {flops:,} | {flops / rows[0][1]:.3g} × |" for name, flops in rows]
    st.markdown("\n".join([f"| one head of {d}, the first product | FLOPs | |", "|---|---|---|", *lines]))
    lesson.exercise(
        "With how many tokens does linear attention cost as much as all pairs?",
        "With as many as a head has numbers: N = d, for 2N²d = 2Nd² there. Below that it costs *more*. All pairs grow "
        "with the square of the tokens, linear attention with the tokens alone.",
        hint="When do two lines of the table say 1 ×?",
        done=tokens == d, id="two_ways_linear",
    )  # fmt: skip
