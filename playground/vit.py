"""The Vision Transformer, from scratch: An Image is Worth 16x16 Words (Dosovitskiy et al., 2021).

Read it from top to bottom. An image is cut into patches, every patch becomes a vector (a token), and then, layer
after layer, every token compares its query with all keys and takes in a mixture of the values:

    attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

Shapes stand behind the lines: B images, N tokens (the prefix tokens first, then the patches, row by row), D width,
h heads, d = D / h (the d_k of the formula). Parameters carry timm's names, so timm's trained weights fit into it.
What later ViTs added is in vit_parts.py (`parts`). At named points a pass calls `at(point, x)`: it gives x itself or,
in an experiment, another tensor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from playground import vit_parts as parts
from playground.errors import PlaygroundError
from playground.vit_parts import At, Rotation, untouched, within


@dataclass(frozen=True)
class Config:
    """One kind of ViT. Three groups of fields: the paper's sizes, what later ViTs changed, the data."""

    image_size: tuple[int, int] = (224, 224)  # height and width that it was trained on
    patch_size: int = 16
    depth: int = 12  # layers
    width: int = 768  # D
    mlp_width: int = 3072
    heads: int = 12  # h
    classes: int = 1000  # 0: no classifier

    cls_token: bool = True
    dist_token: bool = False  # DeiT's second token, taught by another network
    registers: int = 0  # tokens with no content of their own, DINOv2 and later
    positions: str = "learned"  # or "patches" (learned, none for the prefix), "sinusoidal", "rotary", "none"
    stretching: str = "antialiased"  # of learned positions to another grid: see vit_parts.stretched
    pool: str = "token"  # what the classifier reads: see vit_parts.pooled
    norm_place: str = "tokens"  # the last norm: of all "tokens", of the "pooled" vector, or "nowhere"
    pre_norm: bool = False  # one more norm before the first layer (CLIP)
    qk_norm: bool = False  # queries and keys normalised, head by head
    qkv_bias: bool = True
    layer_scale: bool = False  # a learned gain on what attention and MLP add
    activation: str = "gelu"
    gated_mlp: bool = False  # SwiGLU
    eps: float = 1e-6  # of every norm

    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)  # how pixels become the input
    std: tuple[float, float, float] = (0.5, 0.5, 0.5)
    interpolation: str = "bicubic"
    labels: tuple[str, ...] = ()  # what the classes are called
    multi_label: bool = False  # classes that don't exclude each other (sigmoid, not softmax)

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise PlaygroundError(
                f"A width of {self.width} can't be shared out evenly among {self.heads} heads; "
                f"choose a width that is a multiple of {self.heads}."
            )

    @property
    def prefix(self) -> tuple[str, ...]:
        """The tokens that stand before the patches, in their order."""
        named = ("cls",) * self.cls_token + ("dist",) * self.dist_token
        return named + tuple(f"reg{i}" for i in range(self.registers))

    @property
    def scale(self) -> float:
        return (self.width // self.heads) ** -0.5  # 1/√d_k

    def shares(self, logits: Tensor) -> Tensor:
        """The probability of each label; they sum to 1 unless several labels may be true at once."""
        return logits.sigmoid() if self.multi_label else logits.softmax(dim=-1)


PAPER = {  # Config(**PAPER["B"], patch_size=16) is the paper's ViT-B/16
    "Ti": {"depth": 12, "width": 192, "mlp_width": 768, "heads": 3},
    "S": {"depth": 12, "width": 384, "mlp_width": 1536, "heads": 6},
    "B": {"depth": 12, "width": 768, "mlp_width": 3072, "heads": 12},
    "L": {"depth": 24, "width": 1024, "mlp_width": 4096, "heads": 16},
    "H": {"depth": 32, "width": 1280, "mlp_width": 5120, "heads": 16},
}


class QKV(NamedTuple):
    """Queries, keys and values of one layer. softmax(q @ kᵀ * scale) is its attention, exactly."""

    q: Tensor  # (B, h, N, d)
    k: Tensor  # (B, h, N, d)
    v: Tensor  # (B, h, N, d)


def attention(q: Tensor, k: Tensor, v: Tensor, scale: float, mask: Tensor | None = None) -> Tensor:
    """softmax(q kᵀ · scale) v, by torch's fused kernel, which never holds the (N, N) weights."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)  # (B, h, N, d)


def attention_by_hand(q: Tensor, k: Tensor, v: Tensor, scale: float, mask: Tensor | None = None) -> Tensor:
    """The same, step by step as in the formula. A query takes nothing from a key where the mask is False."""
    scores = q @ k.transpose(-2, -1)  # (B, h, N, N): how well each query matches each key
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))  # e^−∞ = 0: a weight of zero
    weights = (scores * scale).softmax(dim=-1)  # (B, h, N, N): every row sums to one
    return weights @ v  # (B, h, N, d): a mixture of values


class Patches(nn.Module):
    """Cuts the image into patches and multiplies each with the same matrix: one vector a patch."""

    def __init__(self, c: Config):
        super().__init__()
        self.proj = nn.Conv2d(3, c.width, c.patch_size, stride=c.patch_size, bias=not c.pre_norm)

    def forward(self, image: Tensor) -> Tensor:
        """A convolution whose stride is its size reads every patch once: the same matrix times each patch's pixels."""
        return self.proj(image).flatten(2).transpose(1, 2)  # (B, 3, H, W) -> (B, patches, D)


class Attention(nn.Module):
    """Multi-head self-attention: h small attentions side by side, each with queries, keys and values of its own."""

    def __init__(self, c: Config):
        super().__init__()
        self.heads = c.heads
        self.scale = c.scale
        self.qkv = nn.Linear(c.width, 3 * c.width, bias=c.qkv_bias)
        self.q_norm = nn.LayerNorm(c.width // c.heads, c.eps) if c.qk_norm else nn.Identity()
        self.k_norm = nn.LayerNorm(c.width // c.heads, c.eps) if c.qk_norm else nn.Identity()
        self.proj = nn.Linear(c.width, c.width)  # W_O
        self.mix = attention  # training and ablation replace it

    def forward(self, x: Tensor, scale: float | None, rotation: Rotation, at: At = untouched) -> tuple[Tensor, QKV]:
        B, N, D = x.shape
        qkv = self.qkv(x).view(B, N, 3, self.heads, D // self.heads)  # (B, N, 3, h, d)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)  # (B, h, N, d) each
        q, k = self.q_norm(q), self.k_norm(k)
        if rotation is not None:
            q, k = parts.rotate(q, *rotation), parts.rotate(k, *rotation)
        q, k, v = at("attention.queries", q), at("attention.keys", k), at("attention.values", v)
        mask = parts.attention_mask(at, x.device)  # (B or 1, h or 1, N, N), or None
        mixed = at("attention.heads", self.mix(q, k, v, self.scale if scale is None else scale, mask))  # (B, h, N, d)
        mixed = mixed.transpose(1, 2).reshape(B, N, D)  # (B, N, D): the heads' results side by side
        return self.proj(mixed), QKV(q, k, v)


class MLP(nn.Module):
    """The same small network applied to each token separately: to mlp_width numbers, an activation, and back to D."""

    def __init__(self, c: Config):
        super().__init__()
        self.gated = c.gated_mlp
        self.fc1 = nn.Linear(c.width, c.mlp_width * (2 if c.gated_mlp else 1))
        self.act = parts.ACTIVATIONS[c.activation]()
        self.fc2 = nn.Linear(c.mlp_width, c.width)

    def forward(self, x: Tensor, at: At = untouched) -> Tensor:
        # Each token is computed separately, so many tokens go through in groups: the same numbers in less memory.
        groups = x.split(512, dim=1) if x.shape[1] > 1024 and parts.leaves_hidden(at) else [x]
        return torch.cat([self.fc2(at("mlp.hidden", self.hidden(tokens))) for tokens in groups], dim=1)  # (B, N, D)

    def hidden(self, x: Tensor) -> Tensor:
        x = self.fc1(x)  # (B, N, mlp_width), twice that when gated
        if self.gated:
            gate, x = x.chunk(2, dim=-1)
            return self.act(gate) * x
        return self.act(x)  # (B, N, mlp_width)


class Block(nn.Module):
    """One layer: attention mixes the tokens, the MLP changes each token. Both add to the tokens (the residual)."""

    def __init__(self, c: Config):
        super().__init__()
        self.norm1 = nn.LayerNorm(c.width, c.eps)
        self.attn = Attention(c)
        self.ls1 = parts.LayerScale(c) if c.layer_scale else nn.Identity()
        self.norm2 = nn.LayerNorm(c.width, c.eps)
        self.mlp = MLP(c)
        self.ls2 = parts.LayerScale(c) if c.layer_scale else nn.Identity()

    def forward(self, x: Tensor, scale: float | None, rotation: Rotation, at: At = untouched) -> tuple[Tensor, QKV]:
        mixture, qkv = self.attn(self.norm1(x), scale, rotation, at)
        x = at("residual.middle", x + at("attention", self.ls1(mixture)))
        x = at("residual", x + at("mlp", self.ls2(self.mlp(self.norm2(x), at))))
        return x, qkv


class VisionTransformer(parts.Weights):
    """image -> patches -> tokens with positions -> layers -> pool -> classes."""

    def __init__(self, c: Config, seed: int = 0):
        super().__init__()
        self.config = c
        self.native_grid = (c.image_size[0] // c.patch_size, c.image_size[1] // c.patch_size)  # (rows, columns)
        patches = self.native_grid[0] * self.native_grid[1]

        self.patch_embed = Patches(c)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, c.width)) if c.cls_token else None
        self.dist_token = nn.Parameter(torch.zeros(1, 1, c.width)) if c.dist_token else None
        self.reg_token = nn.Parameter(torch.zeros(1, c.registers, c.width)) if c.registers else None
        rows = {"learned": len(c.prefix) + patches, "patches": patches}.get(c.positions)
        self.pos_embed = nn.Parameter(torch.zeros(1, rows, c.width)) if rows else None
        self.norm_pre = nn.LayerNorm(c.width, c.eps) if c.pre_norm else nn.Identity()
        self.blocks = nn.ModuleList(Block(c) for _ in range(c.depth))
        self.norm = nn.LayerNorm(c.width, c.eps) if c.norm_place == "tokens" else nn.Identity()
        self.attn_pool = parts.AttentionPool(c, MLP(c)) if c.pool == "map" else None
        self.fc_norm = nn.LayerNorm(c.width, c.eps) if c.norm_place == "pooled" else nn.Identity()
        read_width = c.width * (2 if c.pool == "token+avg" else 1)
        self.head = nn.Linear(read_width, c.classes) if c.classes else nn.Identity()
        self.head_dist = nn.Linear(c.width, c.classes) if c.classes and c.dist_token else nn.Identity()
        self.initialise(seed)

    def forward(self, image: Tensor, scale: float | None = None) -> Tensor:
        """The logits, (B, classes); of a model without a classifier the pooled features, (B, D)."""
        return self.classify(self.features(image, self.config.depth - 1, scale))

    def points(self) -> list[str]:
        """The points where a pass calls `at`, in its order: such as "layers.6.attention.values"."""
        return ["embedding", *(f"layers.{i}.{point}" for i in range(self.config.depth) for point in parts.LAYER_POINTS)]

    def features(self, image: Tensor, layer: int, scale: float | None = None, at: At = untouched) -> Tensor:
        """The tokens as they leave a layer, (B, N, D)."""
        return next(islice(self.layers(*self.embed(image, at), scale, at=at), layer, None))[0]

    def record(self, image: Tensor, scale: float | None = None, at: At = untouched) -> tuple[Tensor, list[QKV]]:
        """The logits, and every layer's queries, keys and values."""
        record = []
        for x, qkv in self.layers(*self.embed(image, at), scale, at=at):  # noqa: B007
            record.append(qkv)
        return self.classify(x), record

    def layers(
        self, x: Tensor, rotation: Rotation, scale: float | None = None, first: int = 0, at: At = untouched
    ) -> Iterator[tuple[Tensor, QKV]]:
        """One layer after the other: the tokens as they leave it, (B, N, D), and its queries, keys and values."""
        for layer, block in enumerate(self.blocks[first:], first):
            x, qkv = block(x, scale, rotation, within(at, layer))
            yield x, qkv
            del qkv  # frees their memory for the next layer, unless the caller keeps them

    def embed(self, image: Tensor, at: At = untouched) -> tuple[Tensor, Rotation]:
        """Pixels to tokens with positions; if positions are rotations, also their angles."""
        c = self.config
        grid = (image.shape[2] // c.patch_size, image.shape[3] // c.patch_size)  # (rows, columns)
        tokens = (self.cls_token, self.dist_token, self.reg_token)
        prefix = [t.expand(len(image), -1, -1) for t in tokens if t is not None]
        x = self.patch_embed(image)  # (B, patches, D)
        if c.positions == "patches":
            x = x + self.positions(grid)
        x = torch.cat([*prefix, x], dim=1)  # (B, N, D)
        if c.positions == "learned":
            x = x + self.positions(grid)
        if c.positions == "sinusoidal":
            x = x + parts.sinusoidal(x.shape[1], c.width).to(x)
        return at("embedding", self.norm_pre(x)), parts.rotation_of(c, grid, x)

    def positions(self, grid: tuple[int, int]) -> Tensor:
        """The learned positions for any grid, (1, N, D)."""
        if grid == self.native_grid:
            return self.pos_embed
        return parts.stretched(self.pos_embed, self.native_grid, grid, self.config.stretching)

    def classify(self, x: Tensor) -> Tensor:
        c = self.config
        x = self.norm(x)  # (B, N, D)
        if c.dist_token:  # DeiT has two classifiers
            return (self.head(x[:, 0]) + self.head_dist(x[:, 1])) / 2
        read = x[:, 0] if c.pool == "token" else parts.pooled(x, c, self.attn_pool)  # (B, D)
        return self.head(self.fc_norm(read))  # (B, classes)
