"""Measures whole layers: what the branches add to a token, what enters the MLP's activation, the loss of an answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from playground.models.registers import tukey_bound
from playground.tracing import Trace
from playground.vit import Block, Config, VisionTransformer, within

# The residual stream --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stream:
    """Lengths of each patch's token and of the vectors added to the token, layer by layer; (layers, patches) each."""

    before: Tensor  # ‖x‖ of the token that enters the layer
    attention_length: Tensor  # length of the vector that attention adds
    mlp_length: Tensor  # length of the vector that the MLP adds
    attention_cosine: Tensor  # cosine between the token and the vector that attention adds; 0: perpendicular
    layer_cosine: Tensor  # cosine of the token before and after the whole layer


def stream(trace: Trace, give_way: Callable[[], object] = lambda: None) -> Stream:
    """Measures all layers. `give_way` is called after every layer, so that a server can serve other people."""
    layer_rows = []
    for _, x, attention, mlp in _branches(trace, give_way):
        lengths = (added.norm(dim=-1) for added in (x, attention, mlp))
        cosines = (torch.cosine_similarity(y, x, dim=-1) for y in (attention, x + attention + mlp))
        layer_rows.append((*lengths, *cosines))
    first_patch = len(trace.prefix)
    return Stream(*(torch.cat(column)[:, first_patch:].float().cpu() for column in zip(*layer_rows, strict=True)))


def _branches(trace: Trace, give_way: Callable[[], object]) -> Iterator[tuple[Block, Tensor, Tensor, Tensor]]:
    """Yields each layer, the tokens that enter it, and what attention and the MLP add to them, (1, N, D) each."""
    with torch.no_grad():
        vit, x, rotation = trace.entering()
        at = trace.intervening()
        for layer, block in enumerate(vit.blocks):
            attention = block.ls1(block.attn(block.norm1(x), trace.scale, rotation, within(at, layer))[0])
            mlp = block.ls2(block.mlp(block.norm2(x + attention)))
            yield block, x, attention, mlp
            x = x + attention + mlp
            give_way()


@dataclass(frozen=True)
class Lengths:
    """Lengths of tokens, in which outliers stand out."""

    patches: Tensor  # (layers, rows, columns): ‖x‖ after each layer
    prefix: Tensor  # (layers, prefix tokens)

    def largest_ratio(self, layer: int) -> float:
        """The length of the longest patch divided by the median length."""
        return float(self.patches[layer].max() / self.patches[layer].median())

    def outlier_count(self, layer: int) -> int:
        """The number of patches whose tokens are longer than Tukey's bound: the upper quartile plus three times the
        interquartile range, as in microscope/core/features.js."""
        lengths = self.patches[layer].flatten()
        return int((lengths > tukey_bound(lengths)).sum())

    @property
    def worst_layer(self) -> int:
        """The layer after which the longest patch stands out most."""
        return max(range(len(self.patches)), key=self.largest_ratio)


def token_lengths(trace: Trace, give_way: Callable[[], object] = lambda: None) -> Lengths:
    _, *norms = (x[0].float().norm(dim=-1).cpu() for _, x in layer_by_layer(trace, give_way))
    patches = torch.stack([trace.on_grid(layer_norms) for layer_norms in norms])
    return Lengths(patches, torch.stack(norms)[:, : len(trace.prefix)])


# GELU -----------------------------------------------------------------------------------------------------------------


def gelu(x: Tensor) -> Tensor:
    """x · Φ(x): Φ is the share of a normal distribution that lies below x."""
    return x * (1 + torch.erf(x / math.sqrt(2))) / 2


def hidden(seen: Trace, give_way: Callable[[], object] = lambda: None) -> Iterator[Tensor]:
    """Yields, for each layer, the MLP's numbers before the activation: (patches, mlp_width)."""
    with torch.no_grad():
        for block, x, attention, _ in _branches(seen, give_way):
            yield block.mlp.fc1(block.norm2(x + attention))[0, len(seen.prefix) :].float().cpu()


# Where the norms stand ------------------------------------------------------------------------------------------------


DEPTHS = (2, 4, 8, 16, 32)
SEEDS = 5
SMALL_INITIAL_STD = 0.02  # the standard deviation of the initial parameters in most ViTs and in our models
# The gradient at the last layer of new networks of these DEPTHS, the median of SEEDS networks, with norms before the
# branches ("pre") or after the sums ("post"). tests/analysis/test_block.py measures them again.
LAST_GRADIENTS = {"pre": (0.372, 0.261, 0.198, 0.131, 0.090), "post": (0.437, 0.426, 0.440, 0.473, 0.436)}
LAST_GRADIENTS_SMALL = {"pre": (0.070, 0.067, 0.066, 0.067, 0.066), "post": (0.066, 0.066, 0.066, 0.066, 0.065)}


# The answer -----------------------------------------------------------------------------------------------------------


def cross_entropy(c: Config, logits: Tensor, label: int) -> float:
    """The loss if `label` is right: −log of the label's probability."""
    return float(F.binary_cross_entropy_with_logits(logits[label], torch.ones(())) if c.multi_label else
                 F.cross_entropy(logits, torch.tensor(label)))  # fmt: skip


def costs(logits: Tensor, true_numbers: Collection[int]) -> Tensor:
    """The binary cross-entropy of each label, (classes,): −log p for a true label, −log (1 − p) for a false one."""
    targets = torch.zeros_like(logits).index_fill(0, torch.tensor(list(true_numbers), dtype=torch.long), 1)
    return F.binary_cross_entropy_with_logits(logits, targets, reduction="none")


def one_of_all(logits: Tensor, label: int) -> tuple[Tensor, Tensor]:
    """(softmax over the classes, gradient of its cross-entropy by the logits if `label` is right), (classes,) each."""
    shares = logits.softmax(-1)
    return shares, shares - F.one_hot(torch.tensor(label), len(logits))


def look_up(matrix: Tensor, number: int) -> Tensor:
    """Row `number` of the matrix, as the product of a one-hot vector and the matrix."""
    return F.one_hot(torch.tensor(number), len(matrix)).to(matrix) @ matrix


DROP_SHARE = 0.1


def drop(x: Tensor, is_training: bool, generator: torch.Generator, share: float = DROP_SHARE) -> Tensor:
    """Does what nn.Dropout does in training: sets a random share of the numbers to 0 and scales the others up, so that
    their expected sum stays the same."""
    return x * (torch.rand(x.shape, generator=generator) >= share) / (1 - share) if is_training else x


def two_passes(trace: Trace, is_training: bool) -> tuple[float, float]:
    """The likeliest class's logit in two passes. In training, as after .train(), dropout follows the last layer."""
    vit, generator = trace._need_vit(), torch.Generator().manual_seed(0)
    x = trace.features()[None]
    likeliest = int(trace.logits.argmax())  # type: ignore[union-attr]
    with torch.no_grad():
        passes = (drop(x, is_training, generator).to(vit.patch_embed.proj.weight) for _ in range(2))
        first, second = (float(vit.classify(tokens)[0, likeliest]) for tokens in passes)
    return first, second


def pretraining_head(width: int, classes: int) -> tuple[int, int]:
    """Parameters of the ViT paper's classifier (in pre-training, with a hidden layer, and in fine-tuning)."""
    matrix = width * classes + classes
    return width * width + width + matrix, matrix


# LayerNorm ------------------------------------------------------------------------------------------------------------


def normed(trace: Trace, token: int, factor: float) -> tuple[Tensor, Tensor]:
    """(a token that enters layer 0, multiplied by `factor`; the product after LayerNorm without gain and shift), (D,)
    each."""
    with torch.no_grad():
        vit, x, _ = trace.entering()
        scaled_token = factor * x[0, token].float()
        return scaled_token.cpu(), F.layer_norm(scaled_token, scaled_token.shape, eps=vit.blocks[0].norm1.eps).cpu()


# What each layer would answer -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LogitLens:
    """A label's probability after each layer, if the last norm and the classifier read the tokens there."""

    label: int
    pooled: tuple[float, ...]  # read from the pooled token, before the first layer and after each layer
    patches: Tensor  # (layers + 1, rows, columns): read from each patch alone


def read_stream(trace: Trace, label: int | None = None, give_way: Callable[[], object] = lambda: None) -> LogitLens:
    """The logit lens for a label, by default the likeliest label after the last layer."""
    label = int(trace.logits.argmax()) if label is None else label  # type: ignore[union-attr]
    first_patch, patch_shares, pooled_shares = len(trace.prefix), [], []
    with torch.no_grad():
        for vit, x in layer_by_layer(trace, give_way):
            # The classifier reads sequences of tokens, so each patch is repeated to a sequence
            single_patches = x[0, first_patch:, None].expand(-1, first_patch + 1, -1)
            shares = [class_probabilities(vit, chunk) for chunk in single_patches.split(512)]
            patch_shares.append(torch.cat(shares)[:, label].view(trace.grid))
            pooled_shares.append(float(class_probabilities(vit, x)[0, label]))
    return LogitLens(label, tuple(pooled_shares), torch.stack(patch_shares))


def layer_by_layer(trace: Trace, give_way: Callable[[], object]) -> Iterator[tuple[VisionTransformer, Tensor]]:
    """Yields the model and the tokens, (1, N, D), before the first layer and after each layer."""
    with torch.no_grad():
        vit, x, rotation = trace.entering()
        yield vit, x
        for x, _ in vit.layers(x, rotation, trace.scale, at=trace.intervening()):  # noqa: B020
            give_way()
            yield vit, x


def class_probabilities(vit: VisionTransformer, x: Tensor) -> Tensor:
    """(B, classes): probabilities, by the last norm and the classifier."""
    return vit.config.shares(vit.classify(x).float().cpu())


# A lesson needs a sample that a model labels correctly. The true labels of a sample are known (`Sample.labels`). A
# model with a sigmoid for each label should say yes to the true labels and no to all others; the likeliest label of a
# model with a softmax should be true.

YES_THRESHOLD = 0.5  # a label with a larger probability counts as yes
# {model: a sample that it labels rightly, with a true label that gains probability through the layers}
BEST_SAMPLES = {"bundled": "portrait", "bundled-taught": "one-colour"}


@dataclass(frozen=True)
class Example:
    label: int  # a true label, if possible among those that the model answers: the one that gains most by layers
    wrong_count: int  # number of wrong answers


def true_labels(c: Config, true_names: Collection[str]) -> list[int]:
    """The numbers of the labels that are true of a picture."""
    return [number for number, name in enumerate(c.labels) if name in true_names]


def wrong_answers(c: Config, logits: Tensor, shows: Collection[str]) -> list[int]:
    """The numbers of the labels that are answered wrongly."""
    true_numbers, shares = set(true_labels(c, shows)), c.shares(logits)
    if c.multi_label:
        answers = enumerate((shares > YES_THRESHOLD).tolist())
        return [number for number, says_yes in answers if says_yes != (number in true_numbers)]
    likeliest = int(shares.argmax())
    return [] if likeliest in true_numbers else [likeliest]


def layer_probabilities(trace: Trace, give_way: Callable[[], object] = lambda: None) -> Tensor:
    """(layers, classes): the probabilities that the last norm and the classifier read from the tokens of each layer."""
    with torch.no_grad():
        _, *layer_shares = (class_probabilities(vit, x)[0] for vit, x in layer_by_layer(trace, give_way))
        return torch.stack(layer_shares)


def example_of(trace: Trace, shows: Collection[str], give_way: Callable[[], object] = lambda: None) -> Example | None:
    """Compares a model's answer with the true labels; None if no label of the model is known to be true."""
    c, true_numbers = trace.vit.config, true_labels(trace.vit.config, shows)  # type: ignore[union-attr]
    if not true_numbers:
        return None
    wrong_numbers, likeliest = wrong_answers(c, trace.logits, shows), int(trace.logits.argmax())  # type: ignore[arg-type,union-attr]
    layer_shares = layer_probabilities(trace, give_way)
    gains = layer_shares[-1] - layer_shares.amin(0)  # (classes,)
    candidates = [number for number in true_numbers if number not in wrong_numbers] if c.multi_label else [likeliest]
    label = max(set(candidates) & set(true_numbers) or true_numbers, key=lambda number: float(gains[number]))
    return Example(label, len(wrong_numbers))
