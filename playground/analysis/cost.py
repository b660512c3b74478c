"""The cost of attention compared with a convolution: tokens, score entries, FLOPs and bytes, as exact integers.

N tokens of width D. One layer of attention multiplies every token with four D × D matrices (queries, keys, values and
the output) and every token with every other, twice (scores and mixing):

    8 N D² + 4 N² D        against        2 k² N D²        of a k × k convolution from D to D channels.

A FLOP is one multiplication or one addition, as torch counts them; the softmax and the biases are left out, as torch
leaves them out. Bytes are of float32.
"""

from __future__ import annotations

from dataclasses import dataclass

from playground.errors import PlaygroundError

FLOAT = 4  # bytes


@dataclass(frozen=True)
class Case:
    """A square image and a ViT; by default a ViT-B/16 and its 3×3 convolution."""

    image: int = 224  # pixels along a side
    patch: int = 16
    width: int = 768  # D
    heads: int = 12
    layers: int = 12
    kernel: int = 3

    def __post_init__(self):
        if self.image < self.patch:
            raise PlaygroundError(
                f"A patch of {self.patch} pixels does not fit into an image of {self.image}: "
                "choose a larger image or smaller patches."
            )
        if self.width % self.heads:
            raise PlaygroundError(
                f"A width of {self.width} can't be shared out evenly among {self.heads} heads "
                f"({self.width} ÷ {self.heads} leaves {self.width % self.heads}): choose another width or other heads."
            )

    @property
    def side(self) -> int:
        """Patches along a side."""
        return self.image // self.patch

    @property
    def rest(self) -> int:
        """Pixels along a side that are left over beside whole patches."""
        return self.image % self.patch

    @property
    def tokens(self) -> int:
        return self.side**2

    @property
    def entries(self) -> int:
        """Entries of one head's score matrix, N²."""
        return self.tokens**2

    @property
    def all_entries(self) -> int:
        return self.entries * self.heads * self.layers

    @property
    def attention_flops(self) -> int:
        """Of all layers, like the following numbers."""
        return self.layers * attention_flops(self.tokens, self.width)

    @property
    def convolution_flops(self) -> int:
        return self.layers * convolution_flops(self.tokens, self.width, self.kernel)

    @property
    def matrices_bytes(self) -> int:
        """The N × N weights of every head in every layer."""
        return FLOAT * self.all_entries

    @property
    def kept_bytes(self) -> int:
        """Queries and keys of every layer, from which any row of weights can be computed."""
        return FLOAT * 2 * self.tokens * self.width * self.layers


PRESETS = {
    "224 px, patch 16": Case(),
    "384 px, patch 16": Case(image=384),
    "384 px, patch 48": Case(image=384, patch=48),
    "1,024 px, patch 16": Case(image=1024),
}

# One layer ------------------------------------------------------------------------------------------------------------


def attention_flops(tokens: int, width: int) -> int:
    return projection_flops(tokens, width) + pair_flops(tokens, width)


def projection_flops(tokens: int, width: int) -> int:
    """Queries, keys, values and the output: grows with the tokens."""
    return 8 * tokens * width**2


def pair_flops(tokens: int, width: int) -> int:
    """QKᵀ and A·V: grows with the square of the tokens."""
    return 4 * tokens**2 * width


def convolution_flops(tokens: int, width: int, kernel: int) -> int:
    """k × k, from width to width channels, on the same grid."""
    return 2 * kernel**2 * tokens * width**2


def crossing(width: int, kernel: int) -> int:
    """The smallest number of tokens at which attention costs more FLOPs: above (k² − 4)·D/2."""
    return max(0, (kernel**2 - 4) * width // 2) + 1


def attention_bytes(tokens: int, width: int, heads: int) -> int:
    """The activations of a layer that training has to keep: its input, queries, keys, values, the weights, the mixed
    values and the output."""
    return fused_bytes(tokens, width) + FLOAT * heads * tokens**2


def fused_bytes(tokens: int, width: int) -> int:
    """The same without the weights: a fused kernel computes them in blocks and never stores them."""
    return FLOAT * 6 * tokens * width


def convolution_bytes(tokens: int, width: int) -> int:
    """Its input and its output."""
    return FLOAT * 2 * tokens * width
