"""What the page Block says and asks. Its numbers are measured in lessons/block.py."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from playground.lessons.colours import KEY, MLP, QUERY, QUIET, TOKEN, WEIGHTS
from playground.lessons.questions import Bars, Lines, Mark, Number, Question, Series, of_choice
from playground.lessons.texts import Exercise, Step, Text

READ = {
    "token": "the class token",
    "avg": "the mean of the patches",
    "token+avg": "the class token and the mean of the patches, one behind the other",
    "map": "what a query of its own collects",
}  # by Config.pool
IN_LAYERS = ("Norm", "Attention", "Add", "MLP")  # boxes that every layer has
ANSWERED = {  # of the picture on which an answer is explained
    "ours": "{model} learned from drawn scenes, so here is one.",
    "other": "This step looks at a photograph in which {model} names something that is there.",
    "yes or no": "Of {labels} labels these are true of *{title}*: **{shows}**. To each the model says yes, more than "
    "50 %, or no; {all}.",
    "one of many": "Of {labels:,} labels these are true of *{title}*: **{shows}**. The model shares 100 % out among "
    "all, and the likeliest is true.",
    "all": "every answer is right",
    "some": "{right} of its answers are right",
    "nobody": "This is what {model} says of your picture. Whether it is right, only you can tell.",
}

TEXT = Text(
    "block",
    "Attention is one part of a layer. Around it stand two sums, two norms and a small network, the MLP. One idea at "
    "a time:",
    {
        "whole": Step(
            "1 · The whole model",
            "block_weights",
            settings=("box",),
            exercises=(
                Exercise(
                    "Open the box that has most of the parameters. Why does it have so many?",
                    "{largest}: {most:,}. {why}",
                    hint="The longest bar.",
                    id="block_largest",
                ),
                Exercise(
                    "Which of the nine steps on the page Shapes have parameters?",
                    "Three, here with D = {D}. The norm of step 1 has 2D = {norm:,}. The matrix that makes Q, K and V "
                    "has 3D² + 3D = {qkv:,}. W_O has D² + D = {out:,}. The split into heads, the scores, the softmax, "
                    "× V, the concatenation and the sum only calculate: nothing in them is learned.{gain}",
                ),
            ),
            said={
                "learned": "learned in it: **{parameters:,}** parameters, {share:.1%} of all",
                "nothing": "learned in it: nothing",
                "leaves": "what leaves it: **{shape}** numbers",
                "gain": " (This model also learns a gain for what is added, LayerScale: D = {D}.)",
            },
        ),
        "stream": Step(
            "2 · A layer adds",
            "block_push",
            settings=("layer", "patch"),
            exercises=(
                Exercise(
                    "Go to the layer in which attention’s push is longest, compared with the token that it is added "
                    "to.",
                    "Layer {longest}: the median push is {most:.2f} × as long as the median token. In layer "
                    "{shortest} it is {least:.2f} ×.",
                    hint="In the chart above, compare two lines, not one.",
                    id="block_push",
                    tempting={
                        "longest": "Here the push itself is longest. But the token is long here, too: compare both."
                    },
                ),
            ),
            after="Layer {layer}, patch ({row}, {column}): the token has a length of {length:.1f}, attention’s push of "
            "{push:.1f}, and the cosine between them is {cosine:.2f} (0: a push to the side, −1: against it). After "
            "the whole layer, MLP included, the token still has a cosine of **{kept:.2f}** with what it was.",
        ),
        "mlp": Step(
            "3 · The MLP and GELU",
            "block_bend",
            "The MLP is the same small network for each token: {D} numbers → {hidden} → {D}. Without the bend between "
            "the two matrices they would be one matrix. The bend, the **activation function**, is **GELU**: x · Φ(x), "
            "where Φ(x) is the share of the standard normal distribution below x. It lets large numbers through, stops "
            "very negative ones, and is smooth at 0, which ReLU is not.",
            ("layer",),
            after="In layer {layer}, {negative:.0%} of the numbers that reach the bend are negative; {small:.0%} of "
            "those that leave it lie between −0.1 and 0.1. The smallest value of GELU is −{lowest:.2f}, at x = "
            "−{at:.2f}. {outside:.1%} of the numbers lie beyond ±5 and are not drawn.",
            said={"other": "This model has another bend ({bend}); the curve is GELU’s."},
        ),
        "norms": Step(
            "4 · Where norms stand",
            "block_norms",
            said={
                "pre": ":blue[**pre-norm**], a ViT: the stream is never rescaled",
                "post": ":orange[**post-norm**], the first transformer: every sum is",
            },
        ),
        "answer": Step(
            "5 · The answer",
            "block_loss",
            exercises=(
                Exercise(
                    "Choose the class that would cost most. How do its logit and its loss go together?",
                    "{dear}: {label}, with the smallest logit of all, {logit:.2f}. A smaller logit is a smaller "
                    "probability, and −log of a smaller probability is a larger loss.",
                    hint="It has the smallest logit. Choose another label, and watch the loss.",
                    id="block_dear",
                ),
                Exercise(
                    "A program calls `model.eval()` before it shows a picture. Why?",
                    "While training, dropout sets random numbers to 0 (and some layers use statistics of the batch), "
                    "so two passes over one picture differ. `eval()` switches that off. It does not switch off "
                    "gradients: `torch.no_grad()` does that.",
                ),
            ),
            said={
                "no_head": "{model} was trained without labels, so it has no head that names classes: here is {other}.",
                "read": "After the last layer one vector is read out, here {read}, and a matrix turns it into one "
                "number a class: the **logits**.",
                "suppose": "A **label**: suppose that the picture shows it",
                "label": "The picture’s **label**: what somebody says that it shows",
                "sigmoid": "If the picture shows *{label}*, this answer costs −log of its probability, "
                "**{cross:.2f}**; if not, −log(1 − its probability), **{other:.2f}**. The loss is the "
                "**binary cross-entropy**, the mean of what all {labels} answers cost{whole}.",
                "whole": ": **{mean:.3f}** on this picture",
                "softmax": "If its label is *{label}*, the **cross-entropy** is **{cross:.2f}**: −log of its "
                "probability.",
                "price": " A sure and right answer costs nearly nothing, a sure and wrong one much.",
                "look_up": "The label itself is the number {label}. As a vector it is **one-hot**: 1 at place {label}, "
                "0 elsewhere. One-hot times a matrix is nothing but a *look-up* of one row: of the head’s {rows} × "
                "{columns} matrix it gives row {label}, which begins with {begins}. A patch’s position is such a row, "
                "too: the one of its place.",
                "pretraining": "**The pre-training head.** For pre-training the paper put a hidden layer with tanh "
                "before the matrix: here {hidden:,} parameters instead of {matrix:,}. For fine-tuning both are thrown "
                "away, and a new matrix begins at 0. {has}",
                "both": "This model still has it.",
                "alone": "This model has the matrix alone.",
                "passes": "The likeliest class’s logit, with a dropout of {drop:.0%} after the last layer: "
                "**{first:.3f}**, and once more **{second:.3f}**. {why}",
                "dropped": "Dropout sets other numbers to 0 each time.",
                "equal": "Nothing is dropped: they are equal.",
            },
        ),
        "read": Step(
            "6 · Read the stream",
            "block_read",
            after="After the last layer {last:.0%} of the patches give *{label}* more than 50 %{peak}. In "
            "training the classifier never read a patch alone.",
            said={
                "peak": "; most do so {when}, {most:.0%}",
                "no_head": "{model} has no classifier to read with: here is {other}.",
                "patches": "**By patch.** How likely *{label}* is if each patch alone is read; bright is 100 %.",
            },
        ),
    },
)


def weights(model: str, counts: Mapping[str, int], layers: int, wider: float) -> Question:
    """`counts`: the parameters of each box; `wider`: the MLP's hidden numbers, × those of a token."""
    total, mlp, attention = sum(counts.values()), counts["MLP"], counts["Attention"]
    inside = sum(counts[name] for name in IN_LAYERS if name in counts)
    return Question(
        "block_weights",
        f"Of all parameters of {model}, its MLPs have ▢.",
        Number(0, 100, " %"), 100 * mlp / total,
        f"The MLPs have {mlp:,} of {total:,} parameters, attention {attention:,}: the matrices of an MLP are D × "
        f"{wider:.3g}D; attention has four, D × D.",
        tempting=(
            ((0, 35), "Attention is what Transformers are known for. Most of what is learned lies elsewhere."),
            ((85, 100), "Attention has four matrices, too."),
        ),
        picture=Bars(
            tuple(counts), tuple(100 * count / total for count in counts.values()), 100, at=[*counts].index("MLP"),
            across=True, unit=" %", title=f"{total:,} parameters, {inside / total:.0%} in the {layers} layers",
        ),
    )  # fmt: skip


def push(token: Sequence[float], heard: Sequence[float], thought: Sequence[float]) -> Question:
    """Of each layer, the median lengths of what enters it and of what attention and the MLP add."""
    last, high = len(token) - 1, 1.15 * max(*token, *heard, *thought)
    return Question(
        "block_push",
        f"In layer 0 attention’s push has a length of {heard[0]:.2g}. In the last layer, {last}, its length is ▢.",
        Number(0, round(high, 2), step=0.01), heard[-1],
        f"Compared with the token that it is added to: {heard[0] / token[0]:.2f} × in layer 0, "
        f"{heard[-1] / token[-1]:.2f} × in layer {last}. Medians over the patches of your picture.",
        prose="Attention does not replace a token: what it returns is *added*, like a **push**. The MLP then adds a "
        "second push. All layers write into the same vector, the **residual stream**.",
        tempting=(((0, 0.02), "A push of length 0 adds nothing: then this layer’s attention could be left out."),),
        picture=Lines(
            tuple(range(last + 1)),
            (
                Series("token, as it enters", tuple(token), TOKEN),
                Series("the MLP’s push", tuple(thought), MLP, below=True),
                Series("attention’s push", tuple(heard), WEIGHTS, shown=1, dots=True, below=True),
            ),
            0, high, "layer", at=(2, last), title="Lengths",
        ),
    )  # fmt: skip


def bend(width: int, hidden: int) -> Question:
    return of_choice(
        "block_bend", "Leave the bend out: x W₁ W₂ for each token. What can the two matrices do that one could not?",
        {
            "nothing": "nothing: their product is one matrix",
            "more": "more, for they have more numbers",
            "wide": f"more, for {hidden} numbers lie in between",
        },
        "nothing",
        f"(x W₁) W₂ = x (W₁ W₂), and W₁ W₂ is one matrix of {width} × {width}. Only the bend, which treats large and "
        "small numbers differently, makes a new function of it.",
        {
            "more": "More numbers, but not more functions: many pairs have the same product.",
            "wide": f"The width in between matters with the bend. Without it, at most {width} directions come through.",
        },
    )  # fmt: skip


def norms() -> Question:
    from playground.lessons.block import DEPTHS, LAST_GRADIENTS, LAST_GRADIENTS_SMALL, SEEDS, SMALL_START

    pre, post, small = LAST_GRADIENTS["pre"], LAST_GRADIENTS["post"], LAST_GRADIENTS_SMALL
    return Question(
        "block_norms",
        f"With post-norm and {DEPTHS[0]} layers the gradient is {post[0]:.2f}. With {DEPTHS[-1]} layers it is ▢.",
        Number(0.02, 2, step=0.01, log=True), post[-1],
        f"Post-norm’s hardly depends on the depth: {post[-1]:.2f} with {DEPTHS[-1]} layers, {post[-1] / post[0]:.1f} × "
        f"what it was with {DEPTHS[0]}. Pre-norm’s falls to {pre[-1]:.2f}, {pre[-1] / pre[0]:.2f} × what it was. So "
        "the deeper the network, the larger are post-norm’s first gradients at its last layers, compared with "
        "pre-norm’s. "
        "Post-norm transformers needed a **warm-up**, a learning rate that starts near 0 (Xiong et al., 2020). "
        "Pre-norm can do without, but most recipes, ours too, keep a short one. Where parameters start much smaller, "
        f"as a ViT’s do (grey: deviation {SMALL_START}), both are alike, {small['pre'][-1]:.3f} and "
        f"{small['post'][-1]:.3f}: the branches add next to nothing yet.",
        prose="The first transformers put the norm *after* each sum: norm(x + branch(x)), **post-norm**. A ViT puts it "
        "*into the branch*: x + branch(norm(x)), **pre-norm**, and the stream is a plain sum from first to last. "
        f"Drawn: how large the gradient is at the last layer of new networks, before they learn: the median of "
        f"{SEEDS}.",
        tempting=(
            ((pre[-1] * 0.7, pre[-1] * 1.3), "That is pre-norm’s. There every layer adds to the stream, and the last "
             "one is a smaller and smaller part of what the last norm sees."),
            ((0.7, 2), "It is the first layers that gradients have to reach through many others. The last is near the "
             "loss, however deep the network is."),
        ),
        picture=Lines(
            tuple(DEPTHS),
            (
                Series("pre-norm", pre, QUERY, dots=True),
                Series("both, small start", small["post"], QUIET, dash=True, below=True),
                Series("post-norm", post, KEY, shown=1, dots=True),
            ),
            0.02, 1, "layers of the network", at=(2, len(DEPTHS) - 1), title="Gradient of the last MLP’s second matrix",
            log_x=True, log_y=True, x_ticks=tuple(DEPTHS),
        ),
    )  # fmt: skip


def passed(layers: int) -> str:
    return "before the first layer" if not layers else f"after {layers} layer{'s' * (layers > 1)}"


def loss(label: str, share: float, likeliest: str, likely: float, multi: bool) -> Question:
    """On the curve of −log p: what would it cost if an unlikely label was right? `multi`: each label is answered by
    itself. Every sum is of the digits that are shown."""
    p, high = max(round(share, 3), 0.001), max(round(likely, 3), 0.001)
    points = np.unique(np.concatenate([np.linspace(1, 0.0005, 200), [p]]))[::-1]
    known = int((points > 0.55).sum())
    if multi:
        no, not_so = round(1 - p, 3), -math.log(1 - p)
        asks = f"This model gives *{label}* a probability of {p:.1%}. If the picture showed that, it would cost ▢."
        says = (
            "**Binary cross-entropy** asks of each label by itself: −log p, with the natural logarithm, if the picture "
            f"shows it, −log (1 − p) if not: −log {p:.3f} = {-math.log(p):.2f} or −log {no:.3f} = {not_so:.2f}."
        )
        prose = (
            "The logits say how much speaks for each class. Several may be true at once, so a **sigmoid** makes a "
            "probability of each by itself; they need not sum to 1. The loss is the price of the probability that "
            "the *truth* got: nothing for 100 %, more and more towards 0."
        )
    else:
        asks = f"A softmax gives *{label}* a share of {p:.1%}. If that was right, the loss would be ▢."
        says = (
            f"**Cross-entropy** is −log p of the right class, with the natural logarithm: −log {p:.3f} = "
            f"{-math.log(p):.2f}. For *{likeliest}*, {high:.1%}, it would be {abs(math.log(high)):.2f}."
        )
        prose = (
            "The logits say how much speaks for each class. A softmax makes shares of them, and the loss is the "
            "price of the share that the *right* class got: nothing for 100 %, more and more towards 0."
        )
    return Question(
        "block_loss", asks, Number(0, 8, step=0.05), -math.log(p),
        f"{says} Half the {'probability' if multi else 'share'} costs {math.log(2):.2f} more, whatever it was.",
        prose=prose,
        tempting=(
            ((max(0, 1 - p - 0.15), 1 - p + 0.15), "That is 1 − p, what is missing to 1. It can never cost more than "
             "1; −log p grows without end."),
        ),
        picture=Lines(
            tuple(points.tolist()), (Series("−log p", tuple((-np.log(points)).tolist()), QUERY, shown=known),),
            0, 8, "p, the probability of what is true" if multi else "p, the share of the right class",
            at=(0, int(np.abs(points - p).argmin())), title="Loss",
            x_ticks=(1, 0.8, 0.6, 0.4, 0.2, 0), marks=(Mark(p, label),),
        ),
    )  # fmt: skip


def read(model: str, label: str, probabilities: Sequence[float], pool: str) -> Question:
    """The label's probability, in per cent, before the first layer and after each; the one half way is asked for."""
    said = tuple(probabilities)
    half = (len(said) - 1) // 2
    return Question(
        "block_read",
        f"In the end {model} gives *{label}* {per_cent(said[-1])} %. Read {passed(half)} of {len(said) - 1}, it is ▢.",
        Number(0, 100, " %"), said[half],
        "Before the first layer and after each, in per cent: " + ", ".join(map(per_cent, said)) + ". "
        + above_half(said) + (SAME if pool == "token" else "")
        + "Norm and classifier were trained for what the *last* layer gives. Before that they may misread: the "
        "number says when the answer stands in the stream **in the form in which they look for it**.",
        prose="All layers write into one stream, so it can be read at any place: the last norm and the classifier are "
        f"put behind an earlier layer (the *logit lens*). What is read here is {READ[pool]}.",
        tempting=(
            ((0.45 * said[-1], 0.55 * said[-1]), "Half of the layers, half of the answer? Layers do not share it out "
             "evenly."),
        ) if abs(said[half] - said[-1] / 2) > 0.06 * said[-1] else (),
        picture=Lines(
            tuple(range(len(said))), (Series(label, said, QUERY, shown=1, dots=True),),
            0, 100, "layers that it has passed", at=(0, half), title=f"Probability of “{label}”", unit=" %",
        ),
    )  # fmt: skip


SAME = "The first is the same for every picture: the class token has heard nothing yet. "


def per_cent(p: float) -> str:
    """Near none, half and all with a digit more, so that 50.4 is not called 50 and yet more than one half."""
    near = any(abs(p - n) < 0.5 for n in (0, 50, 100))
    return f"{p:.1f}" if near else f"{p:.0f}"


def above_half(said: Sequence[float]) -> str:
    """From where on the answer is yes, counted as the numbers are shown."""
    yes = [round(p, 1) > 50 for p in said]
    if not any(yes):
        return "It is never above one half. "
    if all(yes):
        return "It is above one half all the way. "
    if not yes[-1]:
        return "In the end it is not above one half. "
    last_no = len(yes) - 1 - yes[::-1].index(False)
    if last_no == len(yes) - 2:
        return "The last layer brings it above one half. "
    return f"It is above one half {passed(last_no + 1)} and stays there. "
