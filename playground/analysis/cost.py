"""Compares the cost of attention with that of a convolution: tokens, score entries and FLOPs, as exact integers. What
else the lesson counts, microscope/core/costs.js computes.

N tokens of width D. One layer of attention multiplies every token with four D × D matrices (queries, keys, values and
the output) and every token with every other, twice (scores and mixing):

    attention              8 N D² + 4 N² D          of which the scores QKᵀ are 2 N² D
    its MLP, 4 D wide      16 N D²
    k × k convolution      2 k² N D² from D to D channels (dense), 2 k² N D with one filter a channel (depthwise)

The ratio of the two costs depends on what is counted. The scores alone cost N / k² times a depthwise convolution, as
textbooks say; a whole attention may cost less than a dense convolution. A FLOP is one multiplication or
one addition, as torch counts them; softmax and biases are left out, as torch does."""

from __future__ import annotations

from dataclasses import dataclass

from playground.errors import PlaygroundError

FLOAT_BYTES = 4  # bytes
NO_PATCH = "A patch of {patch} pixels does not fit into an image of {image}: choose a larger image or smaller patches."
NO_HEADS = (
    "A width of {width} can't be shared out evenly among {heads} heads ({width} ÷ {heads} leaves {remainder}): choose "
    "another width or other heads."
)
TABLE_COUNT = 3  # N × N tables that a forward pass by hand holds at once: scores, scaled scores, weights


@dataclass(frozen=True)
class Case:
    """A square image and a ViT; by default a ViT-B/16 and its 3×3 convolution."""

    image: int = 224  # pixels along a side
    patch: int = 16
    width: int = 768  # D
    heads: int = 12
    layers: int = 12
    kernel: int = 3

    def __post_init__(self) -> None:
        if self.image < self.patch:
            raise PlaygroundError(NO_PATCH.format(patch=self.patch, image=self.image))
        if remainder := self.width % self.heads:
            raise PlaygroundError(NO_HEADS.format(width=self.width, heads=self.heads, remainder=remainder))

    @property
    def side(self) -> int:
        """Patches along a side."""
        return self.image // self.patch

    @property
    def tokens(self) -> int:
        return self.side**2

    @property
    def entries(self) -> int:
        """Entries of one head's score matrix, N²."""
        return self.tokens**2

    @property
    def attention_flops(self) -> int:
        """FLOPs of attention in all layers."""
        return self.layers * attention_flops(self.tokens, self.width)

    @property
    def convolution_flops(self) -> int:
        return self.layers * convolution_flops(self.tokens, self.width, self.kernel)

    @property
    def parameters(self) -> int:
        """Parameters of a ViT with class token and 1,000 classes, whose MLP is four times as wide as its tokens."""
        d = self.width
        layer_parameters = 4 * (d * d + d) + (4 * d * d + 4 * d) + (4 * d * d + d) + 4 * d  # attention, MLP, two norms
        embedding_parameters = 3 * self.patch**2 * d + d
        return (
            embedding_parameters + d + (self.tokens + 1) * d + self.layers * layer_parameters + 2 * d + 1000 * (d + 1)
        )


PRESETS = {
    "224 px, patch 16": Case(),
    "384 px, patch 16": Case(image=384),
    "384 px, patch 48": Case(image=384, patch=48),
    "1,024 px, patch 16": Case(image=1024),
}

SIZES = {  # B, L and H are the ViT paper's; Ti and S were published later
    "Ti/16": Case(width=192, heads=3),
    "S/16": Case(width=384, heads=6),
    "B/16": Case(),
    "L/16": Case(width=1024, heads=16, layers=24),
    "H/14": Case(patch=14, width=1280, heads=16, layers=32),
}


def attention_flops(tokens: int, width: int) -> int:
    """FLOPs of queries, keys, values and the output, and of the pairs."""
    return 8 * tokens * width**2 + pair_flops(tokens, width)


def pair_flops(tokens: int, width: int) -> int:
    """FLOPs of QKᵀ and A·V, which grow with the square of the number of tokens."""
    return 4 * tokens**2 * width


def mlp_flops(tokens: int, width: int) -> int:
    """FLOPs of the MLP, which goes from the width to four times the width, and back."""
    return 16 * tokens * width**2


def convolution_flops(tokens: int, width: int, kernel: int) -> int:
    """FLOPs of a dense k × k convolution from `width` to `width` channels on the same grid."""
    return 2 * kernel**2 * tokens * width**2


ATTENTION, SCORES = "attention", "scores"  # the parts of attention whose cost can be counted
DENSE, DEPTHWISE = "dense", "depthwise"  # convolutions to compare with
