"""One attention layer, step by step: at each step the formula, the line of code that does it, and the tensor.

A layer as wide as its input is vit.py's own; one of another width is the teaching layer, whose skip carries the values.
All tensors are computed with the layer's weights, which are random unless the layer is a trained network's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import torch
from PIL import Image
from torch import Tensor, nn

from playground.errors import PlaygroundError
from playground.lessons.listing import Line, find, listing
from playground.lessons.teaching_layer import TeachingAttention
from playground.pictures import images
from playground.vit import Attention, Block, Config, VisionTransformer, attention_by_hand

MOST_NUMBERS = 8_000_000  # in one tensor
MOST_SIDE = 28  # patches along a picture's side: the scores of 785 tokens in all heads fit in memory


@dataclass(frozen=True)
class Sizes:
    """The free sizes of a layer, from which all shapes follow."""

    batch: int
    tokens: int
    dim: int  # width of the tokens that come in
    chan: int  # and of those that go out
    heads: int

    def check(self) -> None:
        if self.chan % self.heads:
            raise PlaygroundError(self._uneven())
        scores, tokens = self.batch * self.heads * self.tokens**2, self.batch * self.tokens * max(self.dim, self.chan)
        if max(scores, tokens) > MOST_NUMBERS:
            raise PlaygroundError(
                f"That makes a tensor of {max(scores, tokens):,} numbers; at most {MOST_NUMBERS:,} are computed here. "
                "Take fewer tokens or a smaller batch."
            )

    def _uneven(self) -> str:
        below, above = self.chan // self.heads * self.heads, (self.chan // self.heads + 1) * self.heads
        widths = f"a width of {above}" if below == 0 else f"a width of {below} or {above}"
        divisors = [n for n in range(1, self.chan + 1) if self.chan % n == 0]
        fewer = max(n for n in divisors if n < self.heads)
        more = min((n for n in divisors if n > self.heads), default=None)
        heads = f"{fewer} head{'s' * (fewer > 1)}" if more is None else f"{fewer} or {more} heads"
        return (
            f"{self.chan} columns can't be shared out evenly among {self.heads} heads: {self.chan % self.heads} left "
            f"over. Possible are {widths}, or {heads}."
        )


EXAMPLES = {  # those of textbooks
    "sentence": Sizes(1, 4, 512, 512, 8),
    "one-head": Sizes(13, 100, 49, 64, 1),
    "four-heads": Sizes(13, 100, 49, 64, 4),
    "vit-b": Sizes(1, 197, 768, 768, 12),
}


@dataclass(frozen=True, eq=False)
class Step:
    name: str
    says: str
    formula: str  # _ subscript, ^ superscript
    axes: tuple[str, ...]  # the name of each number of the shape
    reckoning: str  # how the shape is computed; the page replaces names of axes by numbers
    file: str
    lines: tuple[Line, ...]
    tensors: dict[str, Tensor]  # name -> tensor, all of this shape; the last is the result
    joined: bool = False  # the heads' columns are concatenated

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(next(reversed(self.tensors.values())).shape)


DEEP, SQUARE = ("batch", "heads", "tokens", "d_k"), ("batch", "heads", "tokens", "tokens")


def _step(name, says, formula, axes, reckoning, home: Callable, pieces: tuple[str, ...], tensors, joined=False) -> Step:
    """`pieces` identify the lines of `home` that compute this step."""
    lines = tuple(find(home, piece) for piece in pieces)
    return Step(name, says, formula, axes, reckoning, listing(home).file, lines, tensors, joined)


def walk(sizes: Sizes, seed: int = 0) -> list[Step]:
    """Runs random tokens through a layer of random parameters; torch's global generator is not used."""
    sizes.check()
    random = torch.Generator().manual_seed(seed)
    x = torch.randn(sizes.batch, sizes.tokens, sizes.dim, generator=random)
    layer = make_layer(sizes, random)
    with torch.no_grad():
        return walk_block(layer, x) if isinstance(layer, Block) else walk_teaching(layer, x)


def make_layer(sizes: Sizes, random: torch.Generator) -> Block | TeachingAttention:
    """A layer whose random parameters preserve variance: queries, keys and values have about unit variance, as the
    tokens."""
    with torch.device("meta"):  # without memory: PyTorch's own first parameters would be overwritten anyway
        if sizes.chan == sizes.dim:  # the walk ends before the MLP, so it is as small as possible
            layer: nn.Module = Block(Config(width=sizes.dim, heads=sizes.heads, mlp_width=1))
        else:
            layer = TeachingAttention(sizes.dim, sizes.chan, sizes.heads)
    layer.to_empty(device="cpu")
    with torch.no_grad():
        for name, p in layer.named_parameters():
            if p.dim() == 2:
                p.normal_(std=p.shape[1] ** -0.5, generator=random)
            else:
                p.fill_(0 if name.endswith("bias") else 1)  # the gains of norms
    return layer.eval()


def walk_picture(vit: VisionTransformer, picture: Image.Image, layer: int) -> tuple[list[Step], list[str]]:
    """Runs a picture's tokens through a layer of the network; returns the steps and the tokens' names."""
    c = vit.config
    native = tuple(min(side, MOST_SIDE * c.patch_size) for side in c.image_size)
    size = images.fit(picture.size, c.patch_size, native)
    pixels = images.model_input(picture, size, c.mean, c.std, c.interpolation)
    with torch.no_grad():
        x, rotation = vit.embed(pixels.to(vit.patch_embed.proj.weight.device))
        if layer:
            x, _ = next(islice(vit.layers(x, rotation), layer - 1, None))
        steps = walk_block(vit.blocks[layer], x, rotation)
    columns = size[1] // c.patch_size
    patches = (f"patch ({i // columns}, {i % columns})" for i in range(x.shape[1] - len(c.prefix)))
    return steps, [*map(_called, c.prefix), *patches]


def _called(prefix: str) -> str:
    return {"cls": "class token", "dist": "distillation token"}.get(prefix, prefix.replace("reg", "register "))


def walk_block(block: Block, x: Tensor, rotation: tuple[Tensor, Tensor] | None = None) -> list[Step]:
    """The attention half of a layer of vit.py."""
    attn, normed = block.attn, block.norm1(x)
    flat = dict(zip("QKV", attn.qkv(normed).chunk(3, dim=-1), strict=True))  # (B, N, D) each
    mixture, qkv = attn(normed, None, rotation)
    split = dict(zip("QKV", qkv, strict=True))  # (B, h, N, d) each
    extra = "".join(
        word for word, is_so in (
            (" Queries and keys are then normalised, head by head.", attn.q_norm.__class__ is not nn.Identity),
            (" Queries and keys are then rotated by an angle that their patch's place gives.", rotation is not None),
        ) if is_so
    )  # fmt: skip
    gain = "γ " if hasattr(block.ls1, "gamma") else ""
    first = _step(
        "Tokens",
        "Each row is one token. Before attention reads it, LayerNorm (LN) rescales each token to mean 0 and variance "
        "1, then applies a learned gain and shift.",
        "x, read as LN(x)",
        ("batch", "tokens", "width"),
        "batch × tokens rows of width numbers",
        Block.forward,
        ("self.norm1(x)",),
        {"x": x},
    )
    last = _step(
        "Skip",
        "The result is added to the tokens that came in; it does not replace them. Both have the same width.",
        f"x + {gain}heads W_O",
        ("batch", "tokens", "width"),
        "(tokens × width) + (tokens × width) = (tokens × width)",
        Block.forward,
        ("x = x + self.ls1(mixture)",),
        {"x": x, "answer": block.ls1(mixture), "sum": x + block.ls1(mixture)},
    )
    return [first, *_middle(Attention, attn, "LN(x)", ("width", "width"), flat, split, extra), last]


def walk_teaching(layer: TeachingAttention, x: Tensor) -> list[Step]:
    """The teaching layer: dim columns in, chan columns out."""
    B, N, dim = x.shape
    flat = dict(zip("QKV", layer.qkv(x).chunk(3, dim=-1), strict=True))  # (B, N, chan) each
    split = {name: t.view(B, N, layer.heads, -1).transpose(1, 2) for name, t in flat.items()}  # (B, h, N, d) each
    middle = _middle(TeachingAttention, layer, "x", ("dim", "chan"), flat, split, "")
    answer = middle[-1].tensors["answer"]
    first = _step(
        "Tokens",
        "Each row is one token.",
        "x",
        ("batch", "tokens", "dim"),
        "batch × tokens rows of dim numbers",
        TeachingAttention.forward,
        ("B, N, _ = x.shape",),
        {"x": x},
    )
    last = _step(
        "Skip",
        f"The tokens came in {dim} wide, the answer is {answer.shape[-1]}: they can't be added. V has the new width "
        "already, so V is carried past instead.",
        "V + heads W_O",
        ("batch", "tokens", "chan"),
        "(tokens × chan) + (tokens × chan) = (tokens × chan)",
        TeachingAttention.forward,
        ("carried + self.proj(mixed)",),
        {"V": flat["V"], "answer": answer, "sum": flat["V"] + answer},
    )
    return [first, *middle, last]


def _middle(home: type, layer: nn.Module, x: str, widths: tuple[str, str], flat: dict, split: dict, extra: str):
    """From Q, K, V to W_O: the same seven steps in both layers. `home` holds the lines of code."""
    weighing = _weigh(split, layer.scale)
    together = weighing[-1].tensors["A V"].transpose(1, 2).flatten(2)  # (B, N, D)
    return [*_share_out(home, x, widths, flat, split, extra), *weighing, *_bring_back(home, layer, widths[1], together)]


def _share_out(home: type, x: str, widths: tuple[str, str], flat: dict, split: dict, extra: str) -> list[Step]:
    W, C = widths
    project, divide = {
        Attention: ("qkv = self.qkv(x)", "q, k, v = qkv.permute(2, 0, 3, 1, 4)"),
        TeachingAttention: ("self.qkv(x)", ".permute(2, 0, 3, 1, 4)"),
    }[home]
    return [
        _step(
            "Q, K, V",
            "Three matrices make three vectors of every token: its query (what it looks for), its key (what it can be "
            "found by) and its value (what it gives).",
            f"Q = {x} W_Q    K = {x} W_K    V = {x} W_V",
            ("batch", "tokens", C),
            f"(tokens × {W}) · ({W} × {C}) = (tokens × {C}), three times",
            home.forward,
            (project,),
            flat,
            joined=True,
        ),
        _step(
            "Heads",
            f"Nothing is computed here: the columns are shared out, and every head gets a part of each row. "
            f"In the code Q, K and V are one tensor, {_fused(split)}.{extra}",
            "Q → Q_1 … Q_h,  K and V alike",
            DEEP,
            f"{C} = heads × d_k",
            home.forward,
            (divide,),
            split,
        ),
    ]


def _fused(split: dict[str, Tensor]) -> str:
    """ "13 × 100 × 192, viewed as 13 × 100 × 3 × 4 × 16 and permuted to 3 × 13 × 4 × 100 × 16" """
    B, h, N, d = split["Q"].shape
    return f"{B} × {N} × {3 * h * d}, viewed as {B} × {N} × 3 × {h} × {d} and permuted to 3 × {B} × {h} × {N} × {d}"


def _weigh(split: dict[str, Tensor], scale: float) -> list[Step]:
    q, k, v = split.values()
    scores = q @ k.transpose(-2, -1) * scale
    weights = scores.softmax(dim=-1)
    return [
        _step(
            "Scores",
            "Every query meets every key: one number per pair, a sum of d_k products. Dividing by √d_k keeps these "
            f"sums from growing with d_k; here the scale is {scale:.3g}.",
            "QK^T / √d_k",
            SQUARE,
            "(tokens × d_k) · (d_k × tokens) = (tokens × tokens), in each head",
            attention_by_hand,
            ("scores = q @ k.transpose(-2, -1)", "(scores * scale)"),
            {"scores": scores},
        ),
        _step(
            "Softmax",
            "Each row becomes shares that sum to 1: how much this token takes from each token. So tokens compete: "
            "what one gains, the others lose.",
            "A = softmax(QK^T / √d_k)",
            SQUARE,
            "(tokens × tokens) stays (tokens × tokens), each row sums to 1",
            attention_by_hand,
            (".softmax(dim=-1)",),
            {"weights": weights},
        ),
        _step(
            "× V",
            "Each token receives a weighted mean of all values; the weights are its shares.",
            "A V",
            DEEP,
            "(tokens × tokens) · (tokens × d_k) = (tokens × d_k), in each head",
            attention_by_hand,
            ("weights @ v",),
            {"A V": weights @ v},
        ),
    ]


def _bring_back(home: type, layer: nn.Module, C: str, together: Tensor) -> list[Step]:
    join = {
        Attention: "mixed = mixed.transpose(1, 2).reshape(B, N, D)",
        TeachingAttention: "t.transpose(1, 2).reshape(B, N, -1)",
    }[home]
    return [
        _step(
            "Concatenate",
            "The results of the heads are put side by side: the full width is back.",
            "[head_1 … head_h]",
            ("batch", "tokens", C),
            f"heads × d_k = {C}",
            home.forward,
            (join,),
            {"heads": together},
            joined=True,
        ),
        _step(
            "W_O",
            "Until now each head kept to its own columns. One last matrix mixes them.",
            "[head_1 … head_h] W_O",
            ("batch", "tokens", C),
            f"(tokens × {C}) · ({C} × {C}) = (tokens × {C})",
            home.forward,
            ("self.proj(mixed)",),
            {"answer": layer.proj(together)},
        ),
    ]
