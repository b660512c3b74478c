"""Measures the lengths of tokens after each layer and finds outliers; adds test-time registers, which remove outliers.

The registers follow Jiang, Dravid, Efros & Gandelsman, 2025: Vision Transformers Don't Need Trained Registers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from playground.errors import PlaygroundError
from playground.tracing import Trace, trace
from playground.vit import MLP, Config, VisionTransformer, within

# microscope/core/features.js computes the same bound.


def outlier_bound(values: np.ndarray) -> float:
    """Tukey's bound, above which a length is an outlier: the upper quartile plus three times the interquartile
    range."""
    lower_quartile, upper_quartile = np.quantile(values, [0.25, 0.75])
    return float(upper_quartile + 3 * (upper_quartile - lower_quartile))


@dataclass(frozen=True)
class Lengths:
    patches: Tensor  # (layers, rows, columns): ‖x‖ after each layer
    prefix: Tensor  # (layers, prefix tokens)

    def largest_ratio(self, layer: int) -> float:
        """The length of the longest patch divided by the median length."""
        return float(self.patches[layer].max() / self.patches[layer].median())

    def outlier_count(self, layer: int) -> int:
        """The number of patches whose tokens are longer than Tukey's bound."""
        lengths = self.patches[layer].flatten()
        lower_quartile, upper_quartile = (float(lengths.quantile(share)) for share in (0.25, 0.75))
        return int((lengths > upper_quartile + 3 * (upper_quartile - lower_quartile)).sum())

    @property
    def worst_layer(self) -> int:
        """The layer after which the longest patch stands out most."""
        return max(range(len(self.patches)), key=self.largest_ratio)


def lengths(trace: Trace, give_way: Callable[[], object] = lambda: None) -> Lengths:
    first_patch, patches, prefix = len(trace.prefix), [], []
    with torch.no_grad():
        vit, x, rotation = trace.entering()
        at = trace.intervening()
        for layer, block in enumerate(vit.blocks):
            x, _ = block(x, trace.scale, rotation, within(at, layer))
            norms = x[0].float().norm(dim=-1).cpu()
            patches.append(norms[first_patch:].view(trace.grid))
            prefix.append(norms[:first_patch])
            give_way()
    return Lengths(torch.stack(patches), torch.stack(prefix))


# Registers at test time
#
# Large models that were trained without registers store facts about the whole picture in a few patches of plain
# background. The vectors of these patches become very long, and every other patch attends to these patches. A few
# neurons of the MLPs write the long vectors. A register can take the long vectors without any training: the model gets
# one more token of zeros, and the activations of these neurons are moved from patches to that token.
#
#     neurons = register_neurons(vit, images)           # the neurons that write the long vectors
#     seen = playground.trace(with_register(vit, neurons), image)
#
# DINOv2 S has no outliers, so only the sizes B, L and g of DINOv2 need such a register.

MOST_NEURONS = 50

Neuron = tuple[int, int]  # (layer, the neuron's index in that layer's MLP)


def register_neurons(vit: VisionTransformer, images: Sequence[Image.Image], most: int = 10) -> list[Neuron]:
    """The neurons that write most into the outliers after the last layer, in descending order. A neuron adds to a
    token a vector as long as its activation times the length of its column in the MLP's second matrix. Neurons are
    ranked by the mean of this length over the outliers, minus the mean over the other patches."""
    if not 1 <= most <= MOST_NEURONS:
        raise PlaygroundError(f"Of neurons 1 to {MOST_NEURONS} are moved, not {most}.")
    outputs, picture_count = torch.zeros(vit.config.depth, vit.config.mlp_width), 0
    for image in images:
        model_trace = trace(vit, image)
        first_patch = len(model_trace.prefix)
        lengths = model_trace.features().norm(dim=-1)[first_patch:]
        is_outlier = lengths > outlier_bound(lengths.numpy())
        if is_outlier.any():
            activations = torch.stack(
                [hidden[first_patch:].abs() for hidden in _hidden(model_trace)]
            )  # (layers, patches, neurons)
            outputs += activations[:, is_outlier].mean(1) - activations[:, ~is_outlier].mean(1)
            picture_count += 1
    if not picture_count:
        raise PlaygroundError(
            f"No patch of these pictures stands apart in {vit.name}: there is nothing that a register could take. "
            "Small models, and those with registers of their own, have no such patches."
        )
    outputs *= torch.stack([_neuron_lengths(block) for block in vit.blocks])
    neuron_numbers = outputs.flatten().topk(most).indices.tolist()
    return [divmod(number, vit.config.mlp_width) for number in neuron_numbers]


def with_register(vit: VisionTransformer, neurons: Sequence[Neuron]) -> VisionTransformer:
    """The model with one more register, sharing the given model's weights. In each layer the register gets each
    neuron's largest activation over all tokens; all other tokens get 0 from these neurons."""
    c = vit.config
    for layer, number in neurons:
        if not (0 <= layer < c.depth and 0 <= number < c.mlp_width):
            raise PlaygroundError(
                f"{vit.name} has no neuron {number} in layer {layer}: layers count from 0 to {c.depth - 1}, neurons to "
                f"{c.mlp_width - 1}."
            )
    if c.positions == "sinusoidal":
        raise PlaygroundError(f"{vit.name} counts all tokens to know their places: one more would move every patch.")
    register_index = len(c.prefix)
    config = replace(c, registers=c.registers + 1)
    with torch.device("meta"):
        enlarged_model = VisionTransformer(config)
        for layer, block in enumerate(enlarged_model.blocks):
            if neuron_numbers := [number for neuron_layer, number in neurons if neuron_layer == layer]:
                block.mlp = RegisterMLP(config, neuron_numbers, register_index)
    enlarged_model.load_state_dict(_with_zero_token(vit, register_index), assign=True)
    enlarged_model.name, enlarged_model.told_heads = f"{vit.name} with a register at test time", vit.told_heads
    enlarged_model.random_weights = vit.random_weights
    return enlarged_model.eval()


class RegisterMLP(MLP):
    """An MLP in which some neurons write into one token only."""

    def __init__(self, c: Config, neurons: Sequence[int], to_token: int):
        super().__init__(c)
        self.neurons, self.to_token = list(neurons), to_token

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(self.hidden(x))  # `hidden` needs all tokens at once, for the maximum over tokens

    def hidden(self, x: Tensor) -> Tensor:
        hidden = super().hidden(x)  # (B, N, mlp_width)
        largest = hidden[..., self.neurons].amax(1, keepdim=True)  # (B, 1, neurons)
        is_register = torch.arange(x.shape[1], device=x.device)[:, None] == self.to_token  # (N, 1)
        return hidden.index_copy(-1, torch.tensor(self.neurons, device=x.device), torch.where(is_register, largest, 0))


def _hidden(seen) -> list[Tensor]:
    """The input of the MLP's second matrix in each layer: (tokens, mlp_width)."""
    vit, x, rotation = seen.entering()
    hidden_layers, at = [], seen.intervening()
    with torch.no_grad():
        for layer, block in enumerate(vit.blocks):
            after_attention = x + block.ls1(block.attn(block.norm1(x), seen.scale, rotation, within(at, layer))[0])
            hidden = block.mlp.hidden(block.norm2(after_attention))
            x = after_attention + block.ls2(block.mlp.fc2(hidden))
            hidden_layers.append(hidden[0].float().cpu())
    return hidden_layers


def _neuron_lengths(block) -> Tensor:
    """(mlp_width,): the length of the vector that each neuron adds to a token at an activation of 1."""
    return block.ls2(block.mlp.fc2.weight.detach().mT).norm(dim=-1).float().cpu()


def _with_zero_token(vit: VisionTransformer, register_index: int) -> dict[str, Tensor]:
    """The weights with a token of zeros at `register_index`, and zeros as its position."""
    state = dict(vit.state_dict())
    zero_token = torch.zeros_like(vit.patch_embed.proj.weight[:1, 0, 0, 0]).expand(1, 1, vit.config.width).clone()
    registers = state.get("reg_token")
    state["reg_token"] = zero_token if registers is None else torch.cat([registers, zero_token], dim=1)
    if vit.config.positions == "learned":
        prefix_positions, patch_positions = (
            state["pos_embed"][:, :register_index],
            state["pos_embed"][:, register_index:],
        )
        state["pos_embed"] = torch.cat([prefix_positions, zero_token, patch_positions], dim=1)
    return state
