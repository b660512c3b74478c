"""An attention layer for teaching, whose output may be wider or narrower than its input.

Tutorials on the T2T-ViT (Yuan et al., 2021) walk through this one: the first layers of that network squeeze wide tokens
into `chan` channels. A residual connection needs equal widths on both sides, so here the values, which already have
the new width, are carried past the attention instead of the input.
"""

from __future__ import annotations

from torch import Tensor, nn

from playground.errors import PlaygroundError
from playground.vit import attention


class TeachingAttention(nn.Module):
    """(batch, tokens, dim) -> (batch, tokens, chan)."""

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
