"""The step “The whole model” of the lesson on the rest of a layer: the model as boxes, with the work and the number of
parameters of each box."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from playground.lessons.lesson import Settings, Subject
from playground.lessons.parts import After, Ask, Choice, Exercise, Part, Row, Wait, When, Words, think
from playground.lessons.questions import Bars, Number, Question
from playground.numbers import percent

if TYPE_CHECKING:
    from torch import nn

    from playground.vit import VisionTransformer

BOX_NAMES = (
    "Picture", "Patches", "Extra tokens", "Positions", "Norm", "Attention", "Add", "MLP", "Last norm", "Answer",
)  # fmt: skip
IN_LAYERS = ("Norm", "Attention", "Add", "MLP")  # boxes that are in every layer


def weights_question(model: str, counts: Mapping[str, int], layers: int, widening: float) -> Question:
    """The question about the share of the MLP's parameters. `counts`: the number of parameters of each box; `widening`:
    the MLP's hidden width divided by the width of a token."""
    total, mlp_count, attention_count = sum(counts.values()), counts["MLP"], counts["Attention"]
    in_layers = sum(counts[name] for name in IN_LAYERS if name in counts)
    return Question(
        "block_weights",
        f"Of all parameters of {model}, its MLPs have ▢.",
        Number(0, 100, " %"), 100 * mlp_count / total,
        f"The MLPs have {mlp_count:,} of {total:,} parameters, attention {attention_count:,}: the matrices of an MLP "
        f"are D × {widening:.3g}D; attention has four, D × D.",
        tempting=(
            ((0, 35), "Attention is what Transformers are known for. Most of what is learned lies elsewhere."),
            ((85, 100), "Attention has four matrices, too."),
        ),
        picture=Bars(
            tuple(counts), tuple(100 * count / total for count in counts.values()), 100, at=[*counts].index("MLP"),
            across=True, unit=" %", title=f"{total:,} parameters, {percent(in_layers / total)} in the {layers} layers",
        ),
    )  # fmt: skip


def whole_model(subject: Subject, settings: Settings) -> Iterator[Part]:
    yield Wait(f"Counting the parameters of {subject.model} …")
    boxes = subject.cached("boxes", lambda: boxes_by_name(subject))
    config = subject.vit.config
    counts = {name: box.parameter_count for name, box in boxes.items()}
    yield Ask(
        weights_question(subject.model, counts, config.depth, config.mlp_width / config.width), subject.model_name
    )
    yield Choice("box", "Open a box", {name: name for name in boxes})
    box = boxes.get(settings.box, boxes["Attention"])
    layer_words = f" × {config.depth} layers" if box.name in IN_LAYERS else ""
    formula = f"\n\n`{box.formula}`" if box.formula else ""
    yield Row(
        Words(f"**{box.name}{layer_words}.** {box.says}{formula}"),
        Words(f"what leaves it: **{box.shape}** numbers"),
        shares=(3, 2),
    )
    share = box.parameter_count / sum(counts.values())
    largest_box = max(boxes.values(), key=lambda box: box.parameter_count)
    D = config.width
    gain_sentence = (
        f" (This model also learns a gain for what is added, LayerScale: D = {D}.)" if config.layer_scale else ""
    )
    yield After(
        "block_weights",
        Words(
            f"learned in it: **{box.parameter_count:,}** parameters, {percent(share)} of all"
            if box.parameter_count
            else "learned in it: nothing"
        ),
        Exercise(
            "Open the box that has most of the parameters.",
            f"{largest_box.name}: {largest_box.parameter_count:,}. {largest_box.says}",
            hint="The longest bar.",
            id="block_largest",
            done=When({"box": [largest_box.name]}),
        ),
        think(
            "Which of the nine steps on the page Shapes have parameters?",
            f"Three, here with D = {D}. The norm of step 1 has 2D = {2 * D:,}. The matrix that makes Q, K and V has "
            f"3D² + 3D = {3 * D * (D + 1):,}. W_O has D² + D = {D * (D + 1):,}. The split into heads, the scores, the "
            "softmax, × V, the concatenation and the sum only calculate: nothing in them is learned." + gain_sentence,
        ),
    )


@dataclass(frozen=True)
class Box:
    """A part of the network."""

    name: str
    says: str
    shape: str  # of the box's output, for one picture
    parameter_count: int  # summed over all layers
    formula: str = ""


def boxes_by_name(subject: Subject) -> dict[str, Box]:
    config = subject.vit.config
    rows, columns = (side // config.patch_size for side in subject.size)
    return {box.name: box for box in boxes(subject.vit, rows * columns + len(config.prefix), subject.size)}


def boxes(vit: VisionTransformer, tokens: int, image_size: tuple[int, int]) -> list[Box]:
    """The model's boxes from the picture to the answer. image_size: (H, W)"""
    config, block = vit.config, vit.blocks[0]
    D, L, prefix_count = config.width, config.depth, len(config.prefix)
    patches = tokens - prefix_count
    prefix_says = {
        "cls": "a class token, in which the model can collect what the whole picture shows",
        "dist": "a distillation token, which was taught by another network",
        "reg": f"{config.registers} registers, spare tokens without a place in the picture",
    }
    prefix_words = " and ".join(
        words for key, words in prefix_says.items() if any(name.startswith(key) for name in config.prefix)
    )
    shape = f"{tokens} × {D}"
    model_boxes = [
        Box("Picture", "Three numbers for each pixel: red, green, blue.", f"{image_size[0]} × {image_size[1]} × 3", 0),
        Box(
            "Patches",
            f"Each patch of {config.patch_size} × {config.patch_size} pixels is one row of "
            f"{3 * config.patch_size**2:,} numbers; one matrix turns it into a token of {D} numbers.",
            f"{patches} × {D}",
            _parameter_count(vit.patch_embed),
            "x_p E + b",
        ),
    ]
    if prefix_count:
        prefix_parameters = sum(t.numel() for t in (vit.cls_token, vit.dist_token, vit.reg_token) if t is not None)
        model_boxes.append(
            Box(
                "Extra tokens",
                f"Learned vectors are put before the patches: {prefix_words}. {patches} become {tokens}.",
                shape,
                prefix_parameters,
            )
        )
    model_boxes += [
        Box(
            "Positions", _positions_text(config.positions), shape, 0 if vit.pos_embed is None else vit.pos_embed.numel()
        ),
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
    return model_boxes


def _positions_text(kind: str) -> str:
    return {
        "learned": "A learned vector for each place is added: without it, attention could not know where a patch was.",
        "patches": "A learned vector for each place is added to the patches.",
        "sinusoidal": "A fixed pattern of sines and cosines, another one for each place, is added.",
        "rotary": "Nothing is added: queries and keys are rotated by angles that the place gives.",
        "none": "This model is told nothing about places.",
    }[kind]


def _parameter_count(*modules: nn.Module) -> int:
    return sum(p.numel() for module in modules for p in module.parameters())
