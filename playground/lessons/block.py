"""The lesson on the rest of a layer: what attention and the MLP add to a token, the activation function (the “bend”),
and where norms stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from playground.lessons import parts as p
from playground.lessons import pictures
from playground.lessons.block_answer import HEAD_KINDS, answer, logit_lens
from playground.lessons.layers import LAYER, choice_of_layer, layer_of, setting_of_layer
from playground.lessons.lesson import Lesson, Setting, Settings, Step, Subject, TextSetting, in_turn
from playground.lessons.questions import Bars, Lines, Number, Question, Series, choice_question
from playground.numbers import percent
from playground.pack import pack, upper_layer
from playground.pictures.jpegs import as_jpeg
from playground.samples import start_patch

if TYPE_CHECKING:
    from torch import Tensor, nn

    from playground.analysis.block import Stream
    from playground.vit import VisionTransformer


def push_question(
    token_lengths: Sequence[float], attention_lengths: Sequence[float], mlp_lengths: Sequence[float]
) -> Question:
    """The question about the length of what attention adds. Each argument holds median lengths by layer: of the token
    that enters, of what attention adds, of what the MLP adds."""
    last_layer, axis_end = len(token_lengths) - 1, 1.15 * max(*token_lengths, *attention_lengths, *mlp_lengths)
    return Question(
        "block_push",
        f"In layer 0 attention’s push has a length of {attention_lengths[0]:.2g}. In the last layer, {last_layer}, "
        "its length is ▢.",
        Number(0, round(axis_end, 2), step=0.01), attention_lengths[-1],
        f"Compared with the token that it is added to: {attention_lengths[0] / token_lengths[0]:.2f} × in layer 0, "
        f"{attention_lengths[-1] / token_lengths[-1]:.2f} × in layer {last_layer}. Medians over the patches of this "
        "picture.",
        prose="Attention does not replace a token: what it returns is *added*, like a **push**. The MLP then adds a "
        "second push. All layers write into the same vector, the **residual stream**.",
        tempting=(
            ((0, 0.02), "A push of length 0 adds nothing: then this layer’s attention could be left out."),
            ((axis_end / 1.1, round(axis_end, 2)), "Nothing that is drawn here is so long."),
        ),
        picture=Lines(
            tuple(range(last_layer + 1)),
            (
                Series("token, as it enters", tuple(token_lengths), p.TOKEN),
                Series("the MLP’s push", tuple(mlp_lengths), p.MLP, below=True),
                Series("attention’s push", tuple(attention_lengths), p.WEIGHTS, shown=1, dots=True, below=True),
            ),
            0, axis_end, "layer", at=(2, last_layer), title="Lengths",
        ),
    )  # fmt: skip


def stream(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    yield p.Wait("Measuring what each layer adds to the tokens …")
    lengths = pushes(subject)
    token_lengths, attention_pushes, mlp_pushes = (
        t.median(dim=1).values for t in (lengths.before, lengths.attention_length, lengths.mlp_length)
    )
    yield p.Ask(push_question(token_lengths.tolist(), attention_pushes.tolist(), mlp_pushes.tolist()), subject.identity)
    ratios, longest_push_layer = attention_pushes / token_lengths, int(attention_pushes.argmax())  # (layers,)
    longest_layer, shortest_layer = int(ratios.argmax()), int(ratios.argmin())
    yield p.After(
        "block_push",
        choice_of_layer(subject),
        p.Drawing("push", packed_arrows(subject, lengths), ("layer", "patch")),
        p.Exercise(
            "Go to the layer in which attention’s push is longest, compared with the token that it is added to.",
            f"Layer {longest_layer}: the median push is {float(ratios.max()):.2f} × as long as the median token. In "
            f"layer {shortest_layer} it is {float(ratios.min()):.2f} ×.",
            hint="In the chart above, compare two lines, not one.",
            id="block_push",
            done=p.When({"layer": [setting_of_layer(longest_layer, subject)]}),
            tempting=[
                (p.When({"layer": [setting_of_layer(longest_push_layer, subject)]}),
                 "Here the push itself is longest. But the token is long here, too: compare both."),
            ],
        ),
    )  # fmt: skip


def pushes(subject: Subject) -> Stream:
    from playground.analysis.block import stream

    return in_turn(subject, "stream", stream)


def packed_arrows(subject: Subject, lengths: Stream) -> bytes:
    """Packs the drawing: for each layer and patch, lengths and cosines of the token and of what attention adds."""
    import torch

    (height, width), patch = subject.size, subject.vit.config.patch_size
    grid = height // patch, width // patch
    header = {
        "id": subject.identity, "grid": grid, "size": subject.size, "start": start_patch(subject.name, grid),
        "layers": len(lengths.before), "upper": upper_layer(len(lengths.before)),
        "title": "In the plane of token and push", "names": ["token before", "attention's push", "token after"],
        "says": "Layer {layer}, patch ({row}, {column}): the token has a length of {length}, attention’s push of "
        "{push}, and the cosine between them is {cosine} (0: a push to the side, −1: against it). After the whole "
        "layer, MLP included, the token still has a cosine of **{kept}** with what it was.",
    }  # fmt: skip
    numbers = torch.stack(
        [lengths.before, lengths.attention_length, lengths.attention_cosine, lengths.layer_cosine]
    )  # (4, layers, patches)
    image = as_jpeg(pictures.at_map_size(subject.image))
    return pack(header, {"moves": numbers.half().numpy(), "image": image})


REACH = 5.0  # the chart shows numbers from −REACH to REACH; those beyond are counted but not drawn
BARS = 80


@dataclass(frozen=True)
class BendFacts:
    counts: np.ndarray  # a histogram of the numbers that enter one layer's activation function
    negative: float  # shares of all numbers
    small: float  # share of the outputs between −0.1 and 0.1
    outside: float


def mlp(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    import torch

    from playground.analysis.block import gelu, hidden

    yield p.Wait("Running the network, and counting what enters the bend …")
    facts_by_layer = in_turn(
        subject, "bent", lambda trace, give_way: [bend_facts(inputs) for inputs in hidden(trace, give_way)]
    )
    config = subject.vit.config
    has_other_bend = config.activation != "gelu" or config.gated_mlp
    yield p.Words(
        f"The MLP is the same small network for each token: {config.width} numbers → {config.mlp_width} → "
        f"{config.width}. The bend between its two matrices, the **activation function**, is **GELU**: x · Φ(x), where "
        "Φ(x) is the share of the standard normal distribution below x. It stops very negative numbers, and is smooth "
        "at 0, which ReLU is not."
    )
    if has_other_bend:
        bend_words = f"{config.activation}{', gated' if config.gated_mlp else ''}"
        yield p.Words(f"This model has another bend ({bend_words}); the curve is GELU’s.", small=True)
    yield choice_of_layer(subject)
    layer = layer_of(settings.layer, subject)
    facts = facts_by_layer[layer]
    yield p.Chart(curves(f"What enters the bend in layer {layer}", facts.counts), "gelu", 290)
    yield p.Ask(choice_question(
        "block_bend", "Leave the bend out: x W₁ W₂ for each token. What can the two matrices do that one could not?",
        {
            "nothing": ("nothing: their product is one matrix", ""),
            "more": ("more, for they have more numbers",
              "More numbers, but not more functions: many pairs have the same product."),
            "wide": (f"more, for {config.mlp_width} numbers lie in between",
              f"The width in between matters only with the bend. Without it, at most {config.width} directions come "
              "through."),
        },
        f"(x W₁) W₂ = x (W₁ W₂), and W₁ W₂ is one matrix of {config.width} × {config.width}. Only the bend, which "
        "treats large and small numbers differently, makes a new function of it.",
    ))  # fmt: skip
    if has_other_bend:
        return
    x = torch.linspace(-REACH, REACH, 201)
    curve = gelu(x)
    yield p.Words(
        f"In layer {layer}, {percent(facts.negative)} of the numbers that reach the bend are negative; "
        f"{percent(facts.small)} of those that leave it lie between −0.1 and 0.1. The smallest value of GELU is "
        f"−{-float(curve.min()):.2f}, at x = −{-float(x[curve.argmin()]):.2f}. {percent(facts.outside)} of the numbers "
        f"lie beyond ±{REACH:.0f} and are not drawn."
    )


def bend_facts(inputs: Tensor) -> BendFacts:
    """Facts about the numbers that enter the activation function. inputs: (patches, mlp_width)"""
    from playground.analysis.block import gelu

    counts, _ = np.histogram(inputs.numpy(), bins=BARS, range=(-REACH, REACH))
    masks = (inputs < 0, gelu(inputs).abs() < 0.1, inputs.abs() > REACH)
    return BendFacts(counts, *(float(mask.float().mean()) for mask in masks))


def curves(title: str, counts: np.ndarray) -> go.Figure:
    """The curves of GELU and ReLU, over a histogram of the numbers that enter the activation function."""
    import torch

    from playground.analysis.block import gelu

    x = torch.linspace(-REACH, REACH, 201)
    figure, edges = go.Figure(), np.linspace(-REACH, REACH, BARS + 1, dtype=np.float32)
    figure.add_bar(
        x=(edges[:-1] + edges[1:]) / 2, y=(counts / counts.max() * 3).astype(np.float32),
        marker_color="rgba(122,81,190,0.35)", name="how often, on this picture", hoverinfo="skip",
    )  # fmt: skip
    for name, y, style in (
        ("GELU", gelu(x), {"color": p.MLP, "width": 4}),
        ("ReLU", x.relu(), {"color": "gray", "width": 2, "dash": "dot"}),
    ):
        figure.add_scatter(x=x.numpy(), y=y.numpy(), name=name, line=style)
    figure.update_layout(title={"text": title}, legend={"orientation": "h", "y": -0.12, "yanchor": "top"})
    figure.update_yaxes(range=[-0.5, REACH])
    return figure


def norms(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    from playground.analysis.block import DEPTHS, LAST_GRADIENTS, LAST_GRADIENTS_SMALL, SEEDS, SMALL_INITIAL_STD

    pre, post, small_start = LAST_GRADIENTS["pre"], LAST_GRADIENTS["post"], LAST_GRADIENTS_SMALL
    yield p.Ask(Question(
        "block_norms",
        f"With post-norm and {DEPTHS[0]} layers the gradient is {post[0]:.2f}. With {DEPTHS[-1]} layers it is ▢.",
        Number(0.02, 2, step=0.01, log=True), post[-1],
        f"Post-norm’s hardly depends on the depth: {post[-1]:.2f} with {DEPTHS[-1]} layers, {post[-1] / post[0]:.1f} × "
        f"what it was with {DEPTHS[0]}. Pre-norm’s falls to {pre[-1]:.2f}, {pre[-1] / pre[0]:.2f} × what it was. "
        "Post-norm therefore needed a **warm-up**: a learning rate that starts near 0 (Xiong et al., 2020). Pre-norm "
        "can train without one, but most recipes, ours too, keep a short one. Where parameters start much smaller, as "
        f"a ViT’s do (grey: deviation {SMALL_INITIAL_STD}), both are alike, {small_start['pre'][-1]:.3f} and "
        f"{small_start['post'][-1]:.3f}.",
        prose="The first transformers put the norm *after* each sum: norm(x + branch(x)), **post-norm**. A ViT puts it "
        "*into the branch*: x + branch(norm(x)), **pre-norm**; the stream is a plain sum. "
        f"Drawn: the gradient at the last layer of new networks, the median of {SEEDS}.",
        tempting=(
            ((pre[-1] * 0.7, pre[-1] * 1.3), "That is pre-norm’s. There every layer adds to the stream, and the last "
             "one is a smaller and smaller part of what the last norm sees."),
            ((0.7, 2), "Many layers lie between the loss and the *first* layers. The last layer is next to the loss, "
             "however deep the network is."),
            ((0.02, pre[-1] * 0.6), "The last layer stands beside the loss: that much always reaches it."),
        ),
        picture=Lines(
            tuple(DEPTHS),
            (
                Series("pre-norm", pre, p.QUERY, dots=True),
                Series("both, small start", small_start["post"], p.QUIET, dash=True, below=True),
                Series("post-norm", post, p.KEY, shown=1, dots=True),
            ),
            0.02, 1, "layers of the network", at=(2, len(DEPTHS) - 1), title="Gradient of the last MLP’s second matrix",
            log_x=True, log_y=True, x_ticks=tuple(DEPTHS),
        ),
    ))  # fmt: skip
    yield p.Row(
        p.Column(
            p.Words(":blue[**pre-norm**], a ViT: the stream is never rescaled"),
            p.Code("x = x + attention(norm(x))\nx = x + mlp(norm(x))"),
        ),
        p.Column(
            p.Words(":orange[**post-norm**], the first transformer: every sum is"),
            p.Code("x = norm(x + attention(x))\nx = norm(x + mlp(x))"),
        ),
    )
    yield from one_norm(subject, settings.times)


FACTORS = (1, 10, 100)
DRAWN_COUNT = 48  # how many of a token's numbers are drawn


def one_norm(subject: Subject, factor: int) -> Iterator[p.Part]:
    """One token, multiplied by `factor`, before and after LayerNorm, which undoes the factor."""
    from playground.analysis import block

    trace = subject.trace()
    token = trace.token(start_patch(subject.name, trace.grid))
    (before_norm, after_norm), (_, unscaled_norm) = block.normed(trace, token, factor), block.normed(trace, token, 1)
    yield p.Choice("times", "A token of this picture, times", {n: f"{n}" for n in FACTORS})
    shown_bars = [numbers[:DRAWN_COUNT].tolist() for numbers in (before_norm, after_norm)]
    figure = pictures.two_bar_charts(
        ("before", shown_bars[0], p.TOKEN), ("after the norm", shown_bars[1], p.QUERY),
        hover="number %{x}: %{y:.2f}<extra></extra>", title=f"Its first {DRAWN_COUNT} numbers",
    )  # fmt: skip
    yield p.Chart(figure, "layer-norm", 260)
    mean = f"{float(before_norm.mean()):.2g}".replace("-", "−")
    yield p.Words(
        f"**LayerNorm** takes the mean, {mean}, from each number and divides by the deviation, "
        f"{float(before_norm.std(correction=0)):.3g}: mean 0, deviation {float(after_norm.std(correction=0)):.2f}. "
        f"Times {factor}, a number after it differs by at most {float((after_norm - unscaled_norm).abs().max()):.1g}."
    )


BOX_NAMES = (
    "Picture", "Patches", "Extra tokens", "Positions", "Norm", "Attention", "Add", "MLP", "Last norm", "Answer",
)  # fmt: skip
IN_LAYERS = ("Norm", "Attention", "Add", "MLP")  # boxes that are in every layer


def whole_model(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    yield p.Wait(f"Counting the parameters of {subject.model} …")
    config = subject.vit.config
    rows, columns = (side // config.patch_size for side in subject.size)
    boxes = {box.name: box for box in boxes_of(subject.vit, rows * columns + len(config.prefix), subject.size)}
    counts = {name: box.parameter_count for name, box in boxes.items()}
    total, in_layers = sum(counts.values()), sum(counts[name] for name in IN_LAYERS)
    yield p.Ask(Question(
        "block_weights",
        f"Of all parameters of {subject.model}, its MLPs have ▢.",
        Number(0, 100, " %"), 100 * counts["MLP"] / total,
        f"The MLPs have {counts['MLP']:,} of {total:,} parameters, attention {counts['Attention']:,}: the matrices of "
        f"an MLP are D × {config.mlp_width / config.width:.3g}D; attention has four, D × D.",
        tempting=(
            ((0, 35), "Attention is what Transformers are known for, but most of the parameters lie elsewhere."),
            ((85, 100), "Attention has four matrices, too."),
        ),
        picture=Bars(
            tuple(counts), tuple(100 * count / total for count in counts.values()), 100, at=[*counts].index("MLP"),
            across=True, unit=" %",
            title=f"{total:,} parameters, {percent(in_layers / total)} in the {config.depth} layers",
        ),
    ), subject.model_name)  # fmt: skip
    yield p.Choice("box", "Open a box", {name: name for name in boxes})
    box = boxes.get(settings.box, boxes["Attention"])
    layer_words = f" × {config.depth} layers" if box.name in IN_LAYERS else ""
    formula = f"\n\n`{box.formula}`" if box.formula else ""
    yield p.Row(
        p.Words(f"**{box.name}{layer_words}.** {box.says}{formula}"),
        p.Words(f"what leaves it: **{box.shape}** numbers"),
        shares=(3, 2),
    )
    share = box.parameter_count / total
    largest_box = max(boxes.values(), key=lambda box: box.parameter_count)
    D = config.width
    gain_sentence = (
        f" (This model also learns a gain for what is added, LayerScale: D = {D}.)" if config.layer_scale else ""
    )
    yield p.After(
        "block_weights",
        p.Words(
            f"learned in it: **{box.parameter_count:,}** parameters, {percent(share)} of all"
            if box.parameter_count
            else "learned in it: nothing"
        ),
        p.Exercise(
            "Open the box that has most of the parameters.",
            f"{largest_box.name}: {largest_box.parameter_count:,}. {largest_box.says}",
            hint="The longest bar.",
            id="block_largest",
            done=p.When({"box": [largest_box.name]}),
        ),
        p.think(
            "Which of the nine steps on the page Shapes have parameters?",
            f"Three, here with D = {D}. The norm of step 1 has 2D = {2 * D:,}. The matrix that makes Q, K and V has "
            f"3D² + 3D = {3 * D * (D + 1):,}. W_O has D² + D = {D * (D + 1):,}. The split into heads, the scores, the "
            "softmax, × V, the concatenation and the sum only calculate: nothing in them is learned." + gain_sentence,
        ),
    )


@dataclass(frozen=True)
class Box:
    name: str
    says: str
    shape: str  # of the box's output, for one picture
    parameter_count: int  # summed over all layers
    formula: str = ""


def boxes_of(vit: VisionTransformer, tokens: int, image_size: tuple[int, int]) -> list[Box]:
    """The model's boxes from the picture to the answer. image_size: (H, W)"""
    config, block = vit.config, vit.blocks[0]
    D, L, patches = config.width, config.depth, tokens - len(config.prefix)
    prefix_says = {
        "cls": "a class token, in which the model can collect what the whole picture shows",
        "dist": "a distillation token, which was taught by another network",
        "reg": f"{config.registers} registers, spare tokens without a place in the picture",
    }
    prefix_words = " and ".join(
        words for key, words in prefix_says.items() if any(name.startswith(key) for name in config.prefix)
    )
    shape = f"{tokens} × {D}"
    prefix_parameters = sum(t.numel() for t in (vit.cls_token, vit.dist_token, vit.reg_token) if t is not None)
    boxes = [
        Box("Picture", "Three numbers for each pixel: red, green, blue.", f"{image_size[0]} × {image_size[1]} × 3", 0),
        Box(
            "Patches",
            f"Each patch of {config.patch_size} × {config.patch_size} pixels is one row of "
            f"{3 * config.patch_size**2:,} numbers; one matrix turns it into a token of {D} numbers.",
            f"{patches} × {D}",
            _parameter_count(vit.patch_embed),
            "x_p E + b",
        ),
        Box(
            "Extra tokens",
            f"Learned vectors are put before the patches: {prefix_words}. {patches} become {tokens}.",
            shape,
            prefix_parameters,
        ),
        Box("Positions", POSITIONS[config.positions], shape, 0 if vit.pos_embed is None else vit.pos_embed.numel()),
        Box(
            "Norm",
            "Each token is rescaled to mean 0 and variance 1; then a learned gain and shift. The sum that flows "
            "past is not touched: the norm stands in the branch (pre-norm).",
            shape,
            2 * L * _parameter_count(block.norm1) + _parameter_count(vit.norm_pre),
            "γ (x − mean) / deviation + β",
        ),
        Box(
            "Attention",
            f"The only part in which tokens meet: {config.heads} heads, each with queries, keys and values of "
            f"{D // config.heads} numbers.",
            shape,
            L * _parameter_count(block.attn),
            "softmax(QKᵀ / √d_k) V, then W_O",
        ),
        Box(
            "Add",
            "What the branch returns is added to the token: a push. What the token was stays in the sum."
            + (" A learned gain (layer scale) makes the push smaller or larger." if config.layer_scale else ""),
            shape,
            2 * L * _parameter_count(block.ls1),
            "x + push",
        ),
        Box(
            "MLP",
            f"The same small network for each token: {D} numbers become {config.mlp_width}, GELU bends each of them, "
            f"and {D} come back. No token sees another one here.",
            shape,
            L * _parameter_count(block.mlp),
            "GELU(x W_1 + b_1) W_2 + b_2",
        ),
        Box(
            "Last norm",
            "After the last layer the tokens are rescaled once more.",
            shape,
            _parameter_count(vit.norm, vit.fc_norm),
        ),
        Box(
            "Answer",
            f"One vector of {D} numbers is read out and multiplied by a matrix: a number for each of {config.classes} "
            "classes."
            if config.classes
            else f"This model names nothing: one vector of {D} numbers is its answer, for others to use.",
            str(config.classes or D),
            _parameter_count(vit.head, vit.head_dist, *filter(None, [vit.attn_pool])),
            "y W + b" if config.classes else "",
        ),
    ]
    return [box for box in boxes if box.name != "Extra tokens" or config.prefix]


POSITIONS = {
    "learned": "A learned vector for each place is added: without it, attention could not know where a patch was.",
    "patches": "A learned vector for each place is added to the patches.",
    "sinusoidal": "A fixed pattern of sines and cosines, another one for each place, is added.",
    "rotary": "Nothing is added: queries and keys are rotated by angles that the place gives.",
    "none": "This model is told nothing about places.",
}


def _parameter_count(*modules: nn.Module) -> int:
    return sum(tensor.numel() for module in modules for tensor in module.parameters())


LESSON = Lesson(
    "block",
    "Attention is one part of a layer. Around it stand two sums, two norms and a small network, the MLP.",
    {
        "box": Setting.in_python("Attention", BOX_NAMES),
        "layer": LAYER,
        "patch": TextSetting("", pattern=r"\d{1,3},\d{1,3}"),
        # number of the label that counts as right; "": Answered.label
        "supposed": TextSetting("", played=("", *map(str, range(13))), pattern=r"\d{1,5}"),
        "mode": Setting.in_python("train", ("train", "eval")),
        "times": Setting.in_python(1, FACTORS),
        "top": Setting.in_python("fine", HEAD_KINDS),
    },
    {
        "whole": Step("1 · The whole model", whole_model, "block_weights", ("block_largest",), ("box",), picture=False),
        "stream": Step("2 · A layer adds", stream, "block_push", ("block_push",), ("layer", "patch")),
        "mlp": Step("3 · The MLP and GELU", mlp, "block_bend", settings=("layer",)),
        "norms": Step("4 · Where norms stand", norms, "block_norms", settings=("times",)),
        "answer": Step("5 · The answer", answer, "block_loss", ("block_dear",), ("supposed", "mode", "top")),
        "read": Step("6 · Read the stream", logit_lens, "block_read"),
    },
    outcomes={
        "block_push": "say what a layer adds to a token, and that the token stays in the sum",
        "block_weights": "say which part of a layer has most parameters",
    },
)  # fmt: skip
