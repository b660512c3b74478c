"""What the page Two ways says and asks."""

from __future__ import annotations

from collections.abc import Sequence

from playground.lessons.colours import QUERY, VALUE, WEIGHTS
from playground.lessons.questions import Bars, Lines, Number, Pictures, Question, Series, of_choice
from playground.lessons.texts import Exercise, Step, Text

WINDOW, HEAD = 49, 64  # tokens of a window, numbers of a head

TEXT = Text(
    "two_ways",
    "A convolution always reads the same neighbours with the same parameters. Attention reads whatever the picture "
    "makes it read. One idea at a time:",
    {
        "far": Step(
            "1 · How far",
            "two_ways_far",
            "After one layer, a convolution knows its k × k neighbours. A stack of them sees further with each layer: "
            "1 + layers · (k − 1) patches across, its **receptive field**. Attention may look at every patch in the "
            "first layer. Whether it does is another question: the dots say how far the heads of this model really "
            "look.",
            ("kernel",),
            after="This picture is {side} patches long. A {k}×{k} stack needs **{needed} layers** until one edge can "
            "hear of the other; attention needs one. In layer 0 the heads of {model} look {far:.1f} patches away on "
            "average; an even row would look {even:.1f} patches away.",
            said={
                "unfold": "Any convolution is unfold, multiply, fold",
                "overlap": "At stride 1 the places overlap: each pixel is copied nine times. Where stride and kernel "
                "are equal nothing overlaps: that is the patch embedding (*Patches*, step 1).",
            },
        ),
        "shift": Step(
            "2 · A shifted picture",
            "two_ways_shift",
            "Move the picture by whole patches. A convolution’s answer moves along and stays the same: **translation "
            "equivariance**, for one kernel is used everywhere. Most ViTs add a position to each patch, so the same "
            "patch at another place is another token.",
            ("moved",),
            (
                Exercise(
                    "Move the picture by 3 patches. Guess again: does more weight go elsewhere than with 1?",
                    "Moved by 1 it is {by_one:.0%}, by 3 it is {by_most:.0%} on your picture. Each step takes "
                    "another column away and brings in a new one, and every patch gets the position of a place "
                    "farther away. For the convolution nothing changes away from the edges: the same kernel is used at "
                    "every place.",
                    hint="The choice above the question.",
                    id="two_ways_moved",
                ),
            ),
            "The same place of the picture asks (outlined in white), layer {layer}, head {head}. After the last layer "
            "the features of the same place have a cosine of **{mean:.3f}** on average, of {least:.3f} at worst. Away "
            "from the edges a convolution’s answers {convolution}, because the patches "
            "themselves are the same: the picture moved by whole patches. Moved by a single pixel, the patch "
            "embedding, a convolution with a stride of a whole patch, changes by {pixel:.0%} of its length. Two things "
            "change for the ViT: every patch has another position; and a column of patches leaves while another one "
            "comes in, and each row may listen to those.",
            said={"same": "are exactly the same", "differ": "differ by {by:.0e} of their size"},
        ),
        "built": Step(
            "3 · What is built in",
            "two_ways_built",
            "The **inductive bias** of a network is what its architecture makes true, or likely, of its answers before "
            "it has seen a single picture.",
            exercises=(
                Exercise(
                    "A network must count the windows of a house, wherever they are. Which bias helps?",
                    "Sharing parameters over all places: a window is the same at the left and at the right. Both have "
                    "it, in the kernel or in W_Q, W_K, W_V. Locality helps to find a window; to *count*, far places "
                    "have to be brought together.",
                ),
            ),
            after="\n".join(
                (
                    "| | convolution | attention |",
                    "|---|---|---|",
                    "| **locality** | reads k × k neighbours, nothing else | may read every patch |",
                    "| **shared parameters** (“weight sharing”) | one kernel at all places | W_Q, W_K, W_V at all "
                    "places; the *mixing* differs with the picture |",
                    "| **order** | each parameter belongs to a direction | none: a set; positions are added |",
                    "| **a shifted picture** | the answer shifts along (equivariance), but for edges | without "
                    "positions it shifts along too, if the same patches are there; with them this is not built in |",
                    "| **shuffled patches** | another answer | without positions, the same answers, shuffled along |",
                    "",
                    "A bias is help if it is true of the pictures, and a limit where it is not. With few pictures the "
                    "convolution’s helps: in the ViT paper, trained on ImageNet’s 1.3 million pictures alone, ViTs "
                    "stay below convolutional networks of their size; with 300 million pictures they are ahead. That "
                    "is what is meant by attention’s **appetite for data**.",
                )
            ),
        ),
        "cheaper": Step(
            "4 · Cheaper ways",
            "two_ways_cheaper",
            exercises=(
                Exercise(
                    "With how many tokens does linear attention cost as much as all pairs?",
                    "With as many as a head has numbers: N = d, for 2N²d = 2Nd² there. Below that it costs *more*. All "
                    "pairs grow with the square of the tokens, linear attention with the tokens alone.",
                    hint="When do two lines of the table say 1 ×?",
                    id="two_ways_linear",
                    tempting={"most": "Here linear attention saves most. Look for the place where it saves nothing."},
                ),
            ),
            after="Attention costs N² because each token may look at each. Three ways around that, each with its "
            "price:\n\n"
            "- **Windows** (Swin): softmax over the w² tokens of a window instead of all N: N · w² scores instead of "
            "N². Far tokens meet only after several layers, in which the windows are shifted; locality is back.\n"
            "- **Linear attention**: replace exp(q·k) by φ(q)·φ(k). Then (φ(Q) φ(K)ᵀ) V = φ(Q) (φ(K)ᵀ V), and the "
            "right side needs no N × N table: N · d² instead of N² · d. (Each row is still divided by its sum.) But "
            "φ(q)·φ(k) can't single out one key as sharply as exp can.\n"
            "- **State spaces** (S4, Mamba): read the tokens in a row and keep a state, hₜ = A hₜ₋₁ + B xₜ, yₜ = C hₜ: "
            "N steps; in Mamba, A, B and C depend on xₜ, so that it chooses what to keep. What is far back has to fit "
            "into the state, and a picture needs an order in which it is read.\n\n"
            "None of them is simply better: a fused kernel makes full attention cheap in *memory*, and with a few "
            "hundred tokens there is little to gain: the matrices cost most. *Cost*, step 4, measures windows and "
            "linear attention beside it on this machine; here their first product is counted.",
        ),
    },
)


def field() -> Question:
    return of_choice(
        "two_ways_far", "Two 3 × 3 convolutions, one after the other. How many patches can the answer at a place know?",
        {"nine": "9", "twentyfive": "25", "eightyone": "81"},
        "twentyfive",
        "Each of the nine places that the second reads has seen its own nine: together 5 × 5. Every further layer "
        "adds a ring of one patch, so the side grows evenly, by 2 a layer.",
        {
            "nine": "That is what the second layer reads. But what it reads are answers of the first, each of which "
            "knows nine patches.",
            "eightyone": "9 × 9 would count the same patches again and again: the nine neighbourhoods overlap.",
        },
    )  # fmt: skip


def shift(apart: float, layer: int, head: int, convolution: str, shown: Pictures) -> Question:
    """`apart` in per cent; `convolution`: what becomes of its answers, in words."""
    return Question(
        "two_ways_shift", "After the shift a patch gives ▢ of its weight to *other* places than before.",
        Number(0, 100, " %"), apart,
        f"Layer {layer}, mean over all heads and places, on the places that both cuts show. Now the row of the "
        f"outlined place is drawn, of head {head}. A "
        f"convolution’s answers at these places {convolution}.",
        prose=TEXT.steps["shift"].prose,
        tempting=(((0, 0.4), "So it would be with a convolution, away from the edges."),),
        picture=shown,
    )  # fmt: skip


def parameters(d: int) -> Question:
    return Question(
        "two_ways_built",
        f"A 3 × 3 convolution from {d} to {d} channels learns 9D² numbers, biases aside. All of attention, W_Q, W_K, "
        "W_V and W_O, learns ▢.",
        Number(0, 10 * d * d, step=1000), 4 * d * d,
        "4D², whatever the picture’s size: attention has no parameter for a place. It mixes by weights that are "
        "computed anew for each picture, not learned.",
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


def linear(counts: Sequence[int], products: Sequence[tuple[int, int, int]]) -> Question:
    """`products`: of each count of tokens, the FLOPs of all pairs, in windows, and of linear attention."""
    every, windows, straight = (tuple(column) for column in zip(*products, strict=True))
    return Question(
        "two_ways_cheaper",
        f"Linear attention never makes the N × N table: at {counts[-1]:,} tokens its first product costs ▢ FLOPs.",
        Number(1e5, 1e11, log=True), straight[-1],
        f"2Nd² = 2 · {counts[-1]:,} · {HEAD}²: it grows with N, not N², and is 1/{every[-1] // straight[-1]} of all "
        f"pairs. At N = d = {HEAD} tokens the two cost the same, and below that it costs more. Counted, not measured: "
        "what is quickest also depends on memory: *Cost*, step 4.",
        prose=f"One head of {HEAD} numbers. Full attention compares all pairs. Attention in windows of {WINDOW} tokens "
        "compares only those in a window.",
        tempting=(((2e10, 1e11), "That is all pairs. Linear attention multiplies keys and values first: d × d."),),
        picture=Lines(
            tuple(counts),
            (
                Series("all pairs", every, WEIGHTS), Series(f"windows of {WINDOW}", windows, VALUE, dash=True),
                Series("linear attention", straight, QUERY, shown=1, below=True),
            ),
            1e5, 1e11, "tokens", at=(2, len(counts) - 1), title="FLOPs of the first product", log_x=True, log_y=True,
            x_ticks=tuple(counts),
        ),
    )  # fmt: skip
