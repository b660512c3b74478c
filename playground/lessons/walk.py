"""The nine steps of one attention layer, each with its formula, its line of code and its tensor.

The layer is vit.py's Block if input and output are equally wide; else it is `TeachingAttention`.
A picture's tensors are computed here, with the model's parameters. Tensors of random tokens and random parameters are
computed in the browser (microscope/lessons/walknumbers.js), which also fills the numbers into the sentences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

from playground.errors import PlaygroundError
from playground.lessons.listing import find, listing
from playground.pack import pack
from playground.pictures import images
from playground.vit import Attention, Block, VisionTransformer, attention, attention_by_hand

MOST_SIDE = 28  # patches along a picture's side: the scores of 785 tokens in all heads fit in memory
ROLE_OF_TENSOR = {"Q": "query", "K": "key", "V": "value", "A V": "value", "heads": "value", "weights": "weight"}


@dataclass(frozen=True)
class WalkStep:
    name: str
    says: str  # {names} in braces are replaced by numbers
    formula: str  # _ subscript, ^ superscript
    axes: tuple[str, ...]  # names of the shape's numbers
    reckoning: str  # how the shape is computed, in names of axes, which the page replaces by numbers
    home: Callable  # the code that computes the step
    pieces: tuple[str, ...]  # of the lines that do
    tensors: tuple[str, ...]  # names of the step's tensors, all of one shape; the last is the result
    joined: bool = False  # the heads' columns are concatenated

    def as_record(self) -> dict:
        """The step for JSON; its tensors become "groups", which are drawn."""
        record = {name: getattr(self, name) for name in ("name", "says", "formula", "axes", "reckoning", "joined")}
        lines = [asdict(find(self.home, piece)) for piece in self.pieces]
        groups = [{"name": name, "role": ROLE_OF_TENSOR.get(name, "plain")} for name in self.tensors]
        return record | {"file": listing(self.home).file, "lines": lines, "groups": groups}


FUSED_SHAPES = (  # Q, K and V side by side, then in heads; qkv = 3 · heads · d_k
    "{batch} × {tokens} × {qkv}, viewed as {batch} × {tokens} × 3 × {heads} × {d_k} and permuted to "
    "3 × {batch} × {heads} × {tokens} × {d_k}"
)


@dataclass(frozen=True, eq=False)
class Walk:
    steps: list[WalkStep]
    tensors: list[dict[str, Tensor]]  # for each step {name: tensor}
    tokens: list[str]  # their names
    scale: float

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return [tuple(tensors[step.tensors[-1]].shape) for step, tensors in zip(self.steps, self.tensors, strict=True)]


def size_of_walk(vit: VisionTransformer, picture: Image.Image) -> tuple[int, int]:
    """(H, W) of the model input, in pixels."""
    config = vit.config
    native_size = tuple(min(side, MOST_SIDE * config.patch_size) for side in config.image_size)
    return images.fit(picture.size, config.patch_size, native_size)


def walk_picture(vit: VisionTransformer, picture: Image.Image, layer: int) -> Walk:
    config, size = vit.config, size_of_walk(vit, picture)
    pixels = images.model_input(picture, size, config.mean, config.std, config.interpolation)
    with torch.no_grad():
        x, rotation = vit.embed(pixels.to(vit.patch_embed.proj.weight.device))
        if layer:
            x, _ = next(islice(vit.layers(x, rotation), layer - 1, None))
        tensors = tensors_of(vit.blocks[layer], x, rotation)
    columns, block = size[1] // config.patch_size, vit.blocks[layer]
    names = {"cls": "class token", "dist": "distillation token"}
    prefix = [names.get(token, token.replace("reg", "register ")) for token in config.prefix]
    patches = (f"patch ({i // columns}, {i % columns})" for i in range(x.shape[1] - len(config.prefix)))
    return Walk(vit_steps(block, rotation), tensors, [*prefix, *patches], block.attn.scale)


def tensors_of(block: Block, x: Tensor, rotation: tuple[Tensor, Tensor] | None = None) -> list[dict[str, Tensor]]:
    """The tensors of each of the nine steps, in the attention half of a layer of vit.py."""
    attn, normed_x = block.attn, block.norm1(x)
    flat_qkv = dict(zip("QKV", attn.qkv(normed_x).chunk(3, dim=-1), strict=True))  # (B, N, D) each
    _, (q, k, v) = attn(normed_x, None, rotation)  # (B, h, N, d) each
    scores = q @ k.transpose(-2, -1) * attn.scale  # (B, h, N, N)
    weights = scores.softmax(dim=-1)
    mixed = weights @ v  # (B, h, N, d)
    concatenated = mixed.transpose(1, 2).flatten(2)  # (B, N, D)
    answer = attn.proj(concatenated)  # (B, N, D)
    return [
        {"x": x},
        flat_qkv,
        {"Q": q, "K": k, "V": v},
        {"scores": scores},
        {"weights": weights},
        {"A V": mixed},
        {"heads": concatenated},
        {"answer": answer},
        {"x": x, "answer": block.ls1(answer), "sum": x + block.ls1(answer)},
    ]


def vit_steps(block: Block | None = None, rotation: tuple[Tensor, Tensor] | None = None) -> list[WalkStep]:
    """The steps through the attention half of a layer of vit.py; without a `block`, of a layer without QK norm."""
    extra_sentences = ""
    if block is not None and block.attn.q_norm.__class__ is not nn.Identity:
        extra_sentences += " Queries and keys are then normalised, head by head."
    if rotation is not None:
        extra_sentences += " Queries and keys are then rotated by an angle that their patch's place gives."
    gain = "γ " if block is not None and hasattr(block.ls1, "gamma") else ""
    axes = ("batch", "tokens", "width")
    first_step = WalkStep(
        "Tokens",
        "Each row is one token. Before attention reads it, LayerNorm (LN) rescales each token to mean 0 and variance "
        "1, then applies a learned gain and shift.",
        "x, read as LN(x)",
        axes,
        "batch × tokens rows of width numbers",
        Block.forward,
        ("self.norm1(x)",),
        ("x",),
    )
    last_step = WalkStep(
        "Skip",
        "The result is added to the tokens that came in; it does not replace them. Both have the same width.",
        f"x + {gain}heads W_O",
        axes,
        "(tokens × width) + (tokens × width) = (tokens × width)",
        Block.forward,
        ('x + at("attention", self.ls1(mixture))',),
        ("x", "answer", "sum"),
    )
    return [first_step, *_middle_steps(Attention.forward, "LN(x)", "width", "width", extra_sentences), last_step]


class TeachingAttention(nn.Module):
    """(batch, tokens, dim) -> (batch, tokens, chan): an attention layer for teaching, whose output may be wider or
    narrower than its input.

    Tutorials on the T2T-ViT (Yuan et al., 2021) walk through this one: the first layers of that network squeeze wide
    tokens into `chan` channels. A residual connection needs equal widths on both sides, so here the values, which
    already have the new width, are carried past the attention instead of the input.
    """

    def __init__(self, dim: int, chan: int, heads: int = 1, qkv_bias: bool = False, qk_scale: float | None = None):
        super().__init__()
        if min(dim, chan, heads) < 1 or chan % heads:
            raise PlaygroundError(
                f"{chan} channels can't be shared out evenly among {heads} heads; make chan a multiple of heads."
            )
        self.heads = heads
        self.scale = (chan // heads) ** -0.5 if qk_scale is None else qk_scale  # 1/√d_k
        self.qkv = nn.Linear(dim, 3 * chan, bias=qkv_bias)
        self.proj = nn.Linear(chan, chan)  # W_O

    def forward(self, x: Tensor) -> Tensor:
        B, N, _ = x.shape
        q, k, v = self.qkv(x).view(B, N, 3, self.heads, -1).permute(2, 0, 3, 1, 4)  # (B, heads, N, d) each
        mixed = attention(q, k, v, self.scale)  # (B, heads, N, d)
        mixed, carried = (t.transpose(1, 2).reshape(B, N, -1) for t in (mixed, v))  # (B, N, chan) each
        return carried + self.proj(mixed)


def teaching_steps() -> list[WalkStep]:
    home = TeachingAttention.forward
    first_step = WalkStep(
        "Tokens",
        "Each row is one token.",
        "x",
        ("batch", "tokens", "dim"),
        "batch × tokens rows of dim numbers",
        home,
        ("B, N, _ = x.shape",),
        ("x",),
    )
    last_step = WalkStep(
        "Skip",
        "The tokens came in {dim} wide, the answer is {chan}: they can't be added. V has the new width "
        "already, so V is carried past instead.",
        "V + heads W_O",
        ("batch", "tokens", "chan"),
        "(tokens × chan) + (tokens × chan) = (tokens × chan)",
        home,
        ("carried + self.proj(mixed)",),
        ("V", "answer", "sum"),
    )
    return [first_step, *_middle_steps(home, "x", "dim", "chan"), last_step]


def _middle_steps(home: Callable, x: str, W: str, C: str, extra_sentences: str = "") -> list[WalkStep]:
    """The seven steps from Q, K, V to W_O, which are the same in both layers. `home`: the function whose source is
    shown; `W`, `C`: names of the width before and after."""
    row_axes, head_axes = ("batch", "tokens", C), ("batch", "heads", "tokens", "d_k")
    score_axes = ("batch", "heads", "tokens", "tokens")
    return [
        WalkStep(
            "Q, K, V",
            "Three matrices make three vectors of every token: its query (what it looks for), its key (what it can be "
            "found by) and its value (what it gives).",
            f"Q = {x} W_Q    K = {x} W_K    V = {x} W_V",
            row_axes,
            f"(tokens × {W}) · ({W} × {C}) = (tokens × {C}), three times",
            home,
            ("self.qkv(x)",),
            ("Q", "K", "V"),
            joined=True,
        ),
        WalkStep(
            "Heads",
            "Nothing is computed here: the columns are shared out, and every head gets a part of each row. "
            f"In the code Q, K and V are one tensor, {FUSED_SHAPES}.{extra_sentences}",
            "Q → Q_1 … Q_h,  K and V alike",
            head_axes,
            f"{C} = heads × d_k",
            home,
            (".permute(2, 0, 3, 1, 4)",),
            ("Q", "K", "V"),
        ),
        WalkStep(
            "Scores",
            "Every query meets every key: one number per pair, a sum of d_k products. Dividing by √d_k keeps these "
            "sums from growing with d_k; here the scale is {scale}.",
            "QK^T / √d_k",
            score_axes,
            "(tokens × d_k) · (d_k × tokens) = (tokens × tokens), in each head",
            attention_by_hand,
            ("scores = q @ k.transpose(-2, -1)", "(scores * scale)"),
            ("scores",),
        ),
        WalkStep(
            "Softmax",
            "Each row becomes shares that sum to 1: how much this token takes from each token. So tokens compete: "
            "what one gains, the others lose.",
            "A = softmax(QK^T / √d_k)",
            score_axes,
            "(tokens × tokens) stays (tokens × tokens), each row sums to 1",
            attention_by_hand,
            (".softmax(dim=-1)",),
            ("weights",),
        ),
        WalkStep(
            "× V",
            "Each token receives a weighted mean of all values; the weights are its shares.",
            "A V",
            head_axes,
            "(tokens × tokens) · (tokens × d_k) = (tokens × d_k), in each head",
            attention_by_hand,
            ("weights @ v",),
            ("A V",),
        ),
        WalkStep(
            "Concatenate",
            "The results of the heads are put side by side: the full width is back.",
            "[head_1 … head_h]",
            row_axes,
            f"heads × d_k = {C}",
            home,
            (".transpose(1, 2).reshape(B, N, ",),
            ("heads",),
            joined=True,
        ),
        WalkStep(
            "W_O",
            "Until now each head kept to its own columns. One last matrix mixes them.",
            "[head_1 … head_h] W_O",
            row_axes,
            f"(tokens × {C}) · ({C} × {C}) = (tokens × {C})",
            home,
            ("self.proj(mixed)",),
            ("answer",),
        ),
    ]


# As bytes for the browser; large tensors are cut to what the page shows

MOST_ROWS, WHOLE_ROWS = 64, 100  # up to 100 tokens all rows are shown, beyond that the first 64
MOST_COLUMNS, MOST_HEADS = 768, 12  # most columns of all heads together; most heads


def steps_to_bytes(walk: Walk, id: str) -> bytes:
    """Packs the first item of the batch. A tensor that several steps share is packed once."""
    sections: dict[bytes, str] = {}  # a tensor's bytes -> the name of its section
    arrays: dict[str, Any] = {}
    steps = []
    heads = walk.shapes[2][1]
    numbers: dict[str, Any] = {
        axis: size
        for step, shape in zip(walk.steps, walk.shapes, strict=True)
        for axis, size in zip(step.axes, shape, strict=True)
    }
    for i, (step, tensors, shape) in enumerate(zip(walk.steps, walk.tensors, walk.shapes, strict=True)):
        record = step.as_record()
        for group in record["groups"]:
            matrices = shown_part(panels(step, tensors[group["name"]], heads), square=step.axes[-1] == "tokens")
            half_floats = matrices.numpy().astype(np.float16)
            group["section"] = sections.setdefault(half_floats.tobytes(), f"{i}-{group['name']}")
            arrays.setdefault(group["section"], half_floats)
            group |= dict(zip(("panels", "rows", "columns"), matrices.shape, strict=True))
        steps.append(record | {"shape": shape, **_number_range(tensors)})
    numbers |= {"qkv": 3 * heads * numbers["d_k"], "scale": float(f"{walk.scale:.3g}")}
    rows = visible_rows(len(walk.tokens))
    return pack({"id": id, "numbers": numbers, "steps": steps, "tokens": walk.tokens[:rows]}, arrays)


def panels(step: WalkStep, tensor: Tensor, heads: int) -> Tensor:
    """The matrices that are drawn side by side, of the first item of the batch: (panels, rows, columns). Concatenated
    heads become one panel each, so that the page can show where each head ends."""
    matrix = tensor[0].float().cpu()
    if matrix.dim() == 3:
        return matrix
    return matrix.unflatten(1, (heads, -1)).transpose(0, 1) if step.joined else matrix[None]


def shown_part(matrices: Tensor, square: bool) -> Tensor:
    heads, rows, columns = matrices.shape
    heads, rows = min(heads, MOST_HEADS), visible_rows(rows)
    return matrices[:heads, :rows, : rows if square else min(columns, MOST_COLUMNS // heads)]


def visible_rows(tokens: int) -> int:
    return tokens if tokens <= WHOLE_ROWS else MOST_ROWS


def _number_range(tensors: dict[str, Tensor]) -> dict[str, float]:
    """The smallest and largest number of the whole tensors, and the end of the colour scale. Except for weights, the
    scale ends at the 99th percentile of the absolute values, because one outlier would make everything else pale."""
    tensor_values = [tensor[0].float().cpu().flatten() for tensor in tensors.values()]
    low, high = min(float(t.min()) for t in tensor_values), max(float(t.max()) for t in tensor_values)
    magnitudes = np.concatenate([t.abs().numpy() for t in tensor_values])
    scale_end = high if "weights" in tensors else float(np.percentile(magnitudes, 99))
    return {"low": low, "high": high, "end": scale_end or 1.0}
