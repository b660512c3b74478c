"""A register at test time (Jiang, Dravid, Efros & Gandelsman, 2025: Vision Transformers Don't Need Trained Registers).

Large models that were trained without registers keep what they know of the whole picture in a few patches of plain
background: their vectors become very long, and all others attend to them. A few neurons of the MLPs write these
vectors. Here the model gets one more token, of zeros, and what these neurons say of patches is said of that token
alone. No weight changes.

It does not show what the model would be if it had been trained with registers: only that these neurons write the
outliers. Where the neurons also say something of the picture, the patches lose that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from playground.assets import SAMPLES
from playground.errors import PlaygroundError, warn
from playground.pictures import images
from playground.vit import MLP, At, Block, Config, VisionTransformer, untouched

SUFFIX = "+registers"  # of a model's name: load("NAME+registers") is load("NAME", registers=1)
COUNTS = (1, 2, 5, 10, 20, 50)  # of neurons that are moved: the fewest that leave no outlier
LEAST_RATIO = 2  # an outlier is at least this many times as long as the median patch
LEAST_SHARE = 0.5  # outliers form in the first layer after which at least this share of them stands apart

Neuron = tuple[int, int]  # (layer, the neuron's number in that layer's MLP)


def tukey_bound(lengths: Tensor) -> float:
    lower_quartile, upper_quartile = (float(lengths.quantile(share)) for share in (0.25, 0.75))
    return upper_quartile + 3 * (upper_quartile - lower_quartile)


def outliers(lengths: Tensor) -> Tensor:
    """Whether each patch stands apart by its length, (patches,)."""
    return lengths > max(tukey_bound(lengths), LEAST_RATIO * float(lengths.median()))


def with_register(vit: VisionTransformer, pictures: Sequence[Tensor] = ()) -> VisionTransformer:
    """The model with one register more, on the same weights. `pictures`: inputs (1, 3, H, W) whose outliers show the
    neurons; by default the drawings that come along."""
    c = vit.config
    if c.positions == "sinusoidal":
        raise PlaygroundError(f"{vit.name} counts all tokens to know their places: one more would move every patch.")
    if not pictures:
        opened = (images.open_image(file) for file in images.in_folder(SAMPLES))
        sizes = {"size": c.image_size, "mean": c.mean, "std": c.std, "interpolation": c.interpolation}
        pictures = [images.model_input(picture, **sizes) for picture in opened]
    neurons = register_neurons(vit, pictures)
    left: dict[int, int] = {}
    for count in COUNTS:
        changed = moving(vit, neurons[:count])
        left[count] = sum(int(outliers(lengths).sum()) for *_, (_, lengths) in (_walk(changed, x) for x in pictures))
        if not left[count]:
            return changed
    best = min(left, key=left.__getitem__)
    warn(
        f"With {best} neurons moved, {left[best]} patches of {len(pictures)} pictures still stand apart in {vit.name}."
    )
    return moving(vit, neurons[:best])


@torch.no_grad()
def register_neurons(vit: VisionTransformer, pictures: Sequence[Tensor]) -> list[Neuron]:
    """The neurons that write most into the outliers, the first ones first, of the layers up to the one in which the
    outliers form. What a neuron writes is as long as its activation times its column of the second matrix; it counts as
    the mean over the outliers, minus the mean over the other patches."""
    written = torch.zeros(vit.config.depth, vit.config.mlp_width)
    for pixels in pictures:
        layers = list(_walk(vit, pixels))
        is_outlier = outliers(layers[-1][1])
        if not is_outlier.any():
            continue
        for number, (hidden, lengths) in enumerate(layers):
            written[number] += hidden[is_outlier].abs().mean(0) - hidden[~is_outlier].abs().mean(0)
            if outliers(lengths)[is_outlier].float().mean() >= LEAST_SHARE:
                break
    if not written.any():
        raise PlaygroundError(
            f"No patch of these {len(pictures)} pictures stands apart in {vit.name}: there is nothing that a register "
            "could take. Small models, and those with registers of their own, have no such patches."
        )
    written *= torch.stack([_neuron_lengths(block) for block in vit.blocks])
    numbers = written.flatten().topk(min(max(COUNTS), written.numel())).indices.tolist()
    return [divmod(number, vit.config.mlp_width) for number in numbers]


def _walk(vit: VisionTransformer, pixels: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """For each layer its MLP's numbers after the activation, (patches, mlp_width), and ‖x‖ after it, (patches,)."""
    first_patch = len(vit.config.prefix)
    with torch.no_grad():
        x, rotation = vit.embed(pixels.to(vit.patch_embed.proj.weight))
        for block in vit.blocks:
            stream = x + block.ls1(block.attn(block.norm1(x), None, rotation)[0])
            hidden = block.mlp.hidden(block.norm2(stream))
            x = stream + block.ls2(block.mlp.fc2(hidden))
            yield hidden[0, first_patch:].float().cpu(), x[0, first_patch:].float().norm(dim=-1).cpu()


def _neuron_lengths(block: Block) -> Tensor:
    """(mlp_width,): the length of what each neuron adds to a token at an activation of 1."""
    return block.ls2(block.mlp.fc2.weight.detach().mT).norm(dim=-1).float().cpu()


def moving(vit: VisionTransformer, neurons: Sequence[Neuron]) -> VisionTransformer:
    """The model with one register more, which gets each neuron's largest activation over all tokens; all other tokens
    get 0 of these neurons."""
    register = len(vit.config.prefix)
    config = replace(vit.config, registers=vit.config.registers + 1)
    with torch.device("meta"):
        enlarged = VisionTransformer(config)
        for layer, block in enumerate(enlarged.blocks):
            if numbers := [number for of_layer, number in neurons if of_layer == layer]:
                block.mlp = RegisterMLP(config, numbers, register)
    state = dict(vit.state_dict())
    zero = vit.patch_embed.proj.weight.new_zeros(1, 1, config.width)
    state["reg_token"] = torch.cat([state["reg_token"], zero], dim=1) if vit.config.registers else zero
    if config.positions == "learned":
        of_prefix, of_patches = state["pos_embed"].tensor_split([register], dim=1)
        state["pos_embed"] = torch.cat([of_prefix, zero, of_patches], dim=1)
    enlarged.load_state_dict(state, assign=True)
    enlarged.name, enlarged.told_heads, enlarged.file = f"{vit.name}{SUFFIX}", vit.told_heads, vit.file
    enlarged.random_weights, enlarged.assumed = vit.random_weights, vit.assumed
    enlarged.no_answer = vit.no_answer
    return enlarged.eval()


class RegisterMLP(MLP):
    """An MLP in which some neurons write into one token alone."""

    def __init__(self, c: Config, neurons: Sequence[int], token: int):
        super().__init__(c)
        self.neurons, self.token = list(neurons), token

    def forward(self, x: Tensor, at: At = untouched) -> Tensor:
        return self.fc2(at("mlp.hidden", self.hidden(x)))  # of all tokens at once: the largest is one of them

    def hidden(self, x: Tensor) -> Tensor:
        hidden = super().hidden(x)  # (B, N, mlp_width)
        largest = hidden[..., self.neurons].amax(1, keepdim=True)  # (B, 1, neurons)
        is_register = torch.arange(x.shape[1], device=x.device)[:, None] == self.token  # (N, 1)
        return hidden.index_copy(-1, torch.tensor(self.neurons, device=x.device), torch.where(is_register, largest, 0))
