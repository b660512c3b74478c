"""What vit.py uses and the paper does not have: other positions, parts of few models, interventions, and facts about a
model's weights. N tokens, D width, h heads, d the width of one head."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

# Positions. Attention treats tokens as a set: without positions it can't tell left from right. There are three kinds:
# fixed sines, rotations of queries and keys, and a learned vector for each place, which is interpolated for another
# grid.

Rotation = tuple[Tensor, Tensor] | None  # sine and cosine of each patch's angles


def sinusoidal(tokens: int, width: int) -> Tensor:
    """Fixed positions (Attention Is All You Need): sines and cosines of falling frequency, side by side."""
    position = torch.arange(tokens)[:, None]  # (N, 1)
    frequency = 10_000 ** (-torch.arange(0, width, 2) / width)  # (D/2,)
    angle = position * frequency  # (N, D/2)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :width]  # (N, D): sin, cos, sin, cos, …


def rotary(grid: tuple[int, int], d: int) -> tuple[Tensor, Tensor]:
    """Rotary positions as in DINOv3: a patch's queries and keys are rotated by angles that depend on its place."""
    rows, columns = ((torch.arange(n) + 0.5) / n * 2 - 1 for n in grid)  # centres of the patches, from -1 to 1
    place = torch.cartesian_prod(rows, columns)  # (patches, 2)
    periods = 100 ** (torch.arange(d // 4) / (d // 4))  # (d/4,)
    angle = (2 * math.pi * place[:, :, None] / periods).flatten(1).tile(2)  # (patches, d)
    return angle.sin(), angle.cos()


def rotate(x: Tensor, sin: Tensor, cos: Tensor) -> Tensor:
    """Rotates the vectors of the patches, the last tokens. Prefix tokens have no place and are not rotated. A number
    of the first half turns together with one of the second half."""
    prefix, patches = x.split([x.shape[2] - sin.shape[0], sin.shape[0]], dim=2)  # (B, h, ., d)
    first, second = patches.chunk(2, dim=-1)
    turned = torch.cat([-second, first], dim=-1)
    return torch.cat([prefix, patches * cos + turned * sin], dim=2)


def rotation_of(c: Any, grid: tuple[int, int], x: Tensor) -> Rotation:
    """The angles of a grid's patches, where the positions of the Config are angles; in the type of x, on its device."""
    if c.positions != "rotary":
        return None
    sin, cos = rotary(grid, c.width // c.heads)
    return sin.to(x), cos.to(x)


def stretched(
    positions: Tensor, old_grid: tuple[int, int], new_grid: tuple[int, int], way: str = "antialiased"
) -> Tensor:
    """Interpolates learned positions (1, N, D) from one grid to another, like an image. Positions of the prefix tokens,
    the first ones, stay as they are. Each library has its way: timm's is "antialiased", that of `transformers` "plain",
    and Meta's DINOv2 adds a tenth of a patch, "offset"."""
    prefix, patches = positions.tensor_split([positions.shape[1] - old_grid[0] * old_grid[1]], dim=1)
    picture = patches.transpose(1, 2).unflatten(2, old_grid)  # (1, D, rows, columns)
    precise = picture.to(torch.promote_types(picture.dtype, torch.float32))  # not every device interpolates halves
    if way == "offset":
        to: Any = {"scale_factor": tuple((new + 0.1) / old for new, old in zip(new_grid, old_grid, strict=True))}
    else:
        to = {"size": new_grid, "antialias": way == "antialiased"}
    picture = F.interpolate(precise, mode="bicubic", align_corners=False, **to).to(picture)
    return torch.cat([prefix, picture.flatten(2).transpose(1, 2)], dim=1)


# Parts that few models have


class QuickGELU(nn.Module):
    """OpenAI's first CLIP models were trained with this cheaper GELU."""

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.sigmoid(1.702 * x)


ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "relu": nn.ReLU,
    "gelu": nn.GELU,
    "gelu_tanh": lambda: nn.GELU(approximate="tanh"),
    "quick_gelu": QuickGELU,
    "silu": nn.SiLU,
}


class LayerScale(nn.Module):
    def __init__(self, c: Any):
        super().__init__()
        self.gamma = nn.Parameter(torch.full((c.width,), 1e-5))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gamma


class AttentionPool(nn.Module):
    """SigLIP's pool: one learned query reads all tokens."""

    def __init__(self, c: Any, mlp: nn.Module):
        super().__init__()
        self.heads = c.heads
        self.scale = (c.width // self.heads) ** -0.5
        self.latent = nn.Parameter(torch.zeros(1, 1, c.width))
        self.q = nn.Linear(c.width, c.width)
        self.kv = nn.Linear(c.width, 2 * c.width)
        self.proj = nn.Linear(c.width, c.width)
        self.norm = nn.LayerNorm(c.width, c.eps)
        self.mlp = mlp

    def forward(self, x: Tensor) -> Tensor:
        B, N, D = x.shape
        q = self.q(self.latent).view(1, 1, self.heads, -1).transpose(1, 2).expand(B, -1, -1, -1)  # (B, h, 1, d)
        k, v = self.kv(x).view(B, N, 2, self.heads, -1).permute(2, 0, 3, 1, 4)  # (B, h, N, d) each
        x = self.proj(F.scaled_dot_product_attention(q, k, v, scale=self.scale).transpose(1, 2).reshape(B, 1, D))
        return (x + self.mlp(self.norm(x)))[:, 0]  # (B, D)


def pooled(x: Tensor, c: Any, attention_pool: Any) -> Tensor:
    """What the classifier reads of the tokens (B, N, D), by Config.pool: the class "token", the mean of the patches
    ("avg"), or an attention pool of the patches ("map"): (B, D). "token+avg" is two of them side by side, (B, 2 D)."""
    patches = x[:, len(c.prefix) :]
    pools = {"token": lambda: x[:, 0], "avg": lambda: patches.mean(1), "map": lambda: attention_pool(patches)}
    return torch.cat([pools[name]() for name in c.pool.split("+")], dim=-1)


# Interventions: at the points of a pass, a function may replace the tensor.

At = Callable[[str, Tensor], Tensor]  # a point and the tensor there -> the tensor to go on with
LAYER_POINTS = (
    "attention.queries", "attention.keys", "attention.values", "attention.heard", "attention.heads", "attention",
    "residual.middle", "mlp.hidden", "mlp", "residual",
)  # fmt: skip


def untouched(point: str, x: Tensor) -> Tensor:
    return x


def within(at: At, layer: int) -> At:
    """The same function, for points named without their layer."""
    return like(at, lambda point, x: at(f"layers.{layer}.{point}", x))


def like(at: At, function: At) -> At:
    """The function, which leaves an MLP's hidden numbers as they are if `at` does."""
    function.leaves_hidden = leaves_hidden(at)  # type: ignore[attr-defined]
    return function


def leaves_hidden(at: At) -> bool:
    """Whether it is known that `at` leaves an MLP's hidden numbers as they are. Else it gets all tokens at once."""
    return getattr(at, "leaves_hidden", at is untouched)


def attention_mask(at: At, device: torch.device) -> Tensor | None:
    """Which keys each query hears, (B or 1, h or 1, N, N). None: every query hears every key."""
    mask = at("attention.heard", torch.ones(1, 1, 1, 1, dtype=torch.bool, device=device))
    return None if mask.numel() == 1 else mask


# Facts about a model's weights

Function = TypeVar("Function", bound=Callable[..., Any])


def plainly(function: Function) -> Function:
    """The same function, which torch.autocast and torch.inference_mode around it do not change: all numbers of a trace
    have the precision of its model's weights, and can be differentiated later."""

    @wraps(function)
    def run_plainly(*arguments: Any, **options: Any) -> Any:
        with ExitStack() as stack:
            for device in ("cpu", "cuda", "mps"):
                if torch.is_autocast_enabled(device):
                    stack.enter_context(torch.autocast(device, enabled=False))
            if torch.is_inference_mode_enabled():
                stack.enter_context(torch.inference_mode(False))
            return function(*arguments, **options)

    return run_plainly  # type: ignore[return-value]


WeightVersions = tuple[tuple[object, ...], ...]


def weight_versions(model: nn.Module) -> WeightVersions:
    """A value that changes when a tensor is trained, written or replaced, but not when the model moves to another
    device. torch counts the changes of each tensor, except those through `.data`."""
    tensors = [*model.named_parameters(), *model.named_buffers()]
    return tuple((name, id(t), 0 if t.is_inference() else t._version, t.dtype) for name, t in tensors)


class GuidedHead(NamedTuple):
    """A head whose attention weights a loss steered during training: see analysis/heads.py."""

    layer: int
    head: int
    query: str  # the rows that the loss read: of every "patch", or of a prefix token such as "cls"
    what: str  # the end of the sentence "this head was told to …"


class Assumption(NamedTuple):
    """A fact about a model that its file lacks."""

    word: str  # the option of `load` that states the fact
    value: str  # the assumed value, such as "mean 0.5 0.5 0.5"


class Weights(nn.Module):
    """Facts about a model's weights: where they are from, and what is assumed of them. vit.py has the model itself."""

    config: Any  # a Config of vit.py
    blocks: Any  # its layers, each a Block
    pos_embed: Any  # its positions, None without

    def __init__(self) -> None:
        super().__init__()
        self.name = "untrained"
        self.random_weights = True  # until trained ones are loaded
        self.file: Path | None = None  # the file of the weights, if a person gave one
        self.told_heads: tuple[GuidedHead, ...] = ()
        self.assumed: tuple[Assumption, ...] = ()
        self.no_answer = ""  # why its classifier may be wrong, so that no label is shown; "" where it is right

    @property
    def classes(self) -> int:
        """The number of labels that are shown: 0 where the classifier may be wrong."""
        return 0 if self.no_answer else self.config.classes

    def load_state_dict(self, *arguments: Any, **options: Any) -> Any:
        self.random_weights = False
        return super().load_state_dict(*arguments, **options)

    def weight_versions(self) -> WeightVersions:
        return weight_versions(self)

    def initialise(self, seed: int) -> None:
        """Random weights from a generator of their own, so that a seed gives the same weights in any thread."""
        random = torch.Generator().manual_seed(seed)
        for name, p in self.named_parameters():
            if p.is_meta:  # only a shape: its weights are loaded later
                continue
            if name.endswith(".bias"):
                nn.init.zeros_(p)
            elif p.dim() > 1:  # matrices, tokens and positions; the gains of norms stay at one
                nn.init.trunc_normal_(p, std=0.02, generator=random)


def why_not_weights(model: nn.Module) -> str:
    """Why a model's weights are nothing to compute with; "" if they are."""
    for part in model.modules():
        weight = getattr(part, "weight", None)
        if weight is None:
            continue
        if not isinstance(weight, Tensor) or weight.is_quantized or not weight.is_floating_point():
            kind = "quantised"  # torch's quantised parts have a method of this name
        elif weight.is_meta:
            kind = "on the device meta, which has shapes alone"
        else:
            continue
        name = getattr(model, "name", type(model).__name__)
        return f"The weights of {name} are {kind}: load it in float32, float16 or bfloat16."
    return ""


def by_head(matrix: Tensor, heads: int) -> Tensor:
    """(D, D) -> (h, D, d): each head's columns of the matrix."""
    return matrix.detach().float().unflatten(1, (heads, -1)).transpose(0, 1)


def output_matrices(block: Any) -> Tensor:
    """(h, D, d): each head's columns of W_O, with the gain of LayerScale."""
    gain = block.ls1.gamma[:, None] if isinstance(block.ls1, LayerScale) else 1
    return by_head(gain * block.attn.proj.weight, block.attn.heads)


def value_norms(block: Any, v: Tensor) -> Tensor:
    """(h, N, d) -> (h, N): ‖W_O v‖, the length of the vector that a token adds to the residual stream at a weight of 1.
    The gain of LayerScale is included."""
    matrices = output_matrices(block)
    return lengths_after(matrices, v.to(matrices))


def lengths_after(matrices: Tensor, v: Tensor) -> Tensor:
    """(h, D, d), (h, N, d) -> (h, N): the lengths of each head's values after its matrix."""
    gram = matrices.mT @ matrices  # (h, d, d): ‖W v‖² = vᵀ(WᵀW)v, with no (N, D) for each head
    return ((v @ gram) * v).sum(-1).clamp(min=0).sqrt()
