"""Training the bundled model from nothing, on scenes that this repository draws.

Three teachers at once, each a small head that is thrown away afterwards (the first is kept):
  class      the class token says what the picture shows: shapes, materials, kind of backdrop
  dense      every patch says what it is a part of, and where the sides of its object lie
  affinity   patches of one object should be alike, those of others unlike (contrastive); this one is asked of a
             middle layer as well, and it is what makes heads gather objects

Everything follows from the seed and the step: the same command gives the same weights on the same machine, and a run
that was stopped goes on where it was.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from playground import scenes, zoo
from playground.backdrops import GROUNDS
from playground.silhouettes import SHAPES
from playground.targets import LABELS, patch_targets, presence
from playground.textures import MATERIALS
from playground.vit import Config, VisionTransformer, attention_by_hand

BUNDLED = Config(
    image_size=(112, 112), patch_size=8, depth=6, width=192, mlp_width=768, heads=6, registers=4,
    classes=len(LABELS), labels=LABELS, multi_label=True,
)  # fmt: skip


@dataclass(frozen=True)
class Recipe:
    steps: int = 9000
    batch: int = 32
    rate: float = 1e-3  # of learning, at its highest
    warm_up: int = 400
    decay: float = 0.05  # of weights
    average: float = 0.998  # of the running mean of the weights, which is what is kept
    seed: int = 0
    temperature: float = 0.1  # of the affinity
    middle: int = 2  # the layer whose patches the affinity also teaches
    small_side: int = 80  # pixels of the pictures in the first part of the run, which is twice as fast for it
    small_share: float = 0.55  # how long that part is
    workers: int = 1
    config: Config = BUNDLED


# What there is to learn from ------------------------------------------------------------------------------------------


class Scenes(Dataset):
    """Scene number i of this seed, with its targets."""

    def __init__(self, recipe: Recipe):
        self.recipe = recipe

    def __len__(self) -> int:
        return self.recipe.steps * self.recipe.batch

    def __getitem__(self, i: int) -> dict[str, np.ndarray]:
        r = self.recipe
        small = i // r.batch < r.small_share * r.steps
        side = r.small_side if small else r.config.image_size[0]
        return example(scenes.scene(r.seed * 2**32 + i, side), r.config.patch_size)


def example(scene, patch: int) -> dict[str, np.ndarray]:
    t = patch_targets(scene, patch)
    inside = t.objects > 0
    return {
        "image": scene.image,  # (H, W, 3) uint8
        "present": presence(scene),  # (labels,)
        "shape": np.where(inside, t.shapes, len(SHAPES)).ravel(),  # (patches,), the last number is background
        "material": np.where(inside, t.materials, len(MATERIALS)).ravel(),
        "ground": np.where(inside, -100, t.grounds).ravel(),  # −100: not asked
        "segment": np.where(inside, t.objects, -1 - t.regions).ravel(),  # an object, or a part of the background
        "box": t.boxes.reshape(-1, 4),
    }


def pixels(images: Tensor, config: Config) -> Tensor:
    """(B, H, W, 3) bytes -> (B, 3, H, W), as the model wants them."""
    mean, std = (torch.tensor(t, device=images.device) for t in (config.mean, config.std))
    return ((images.float() / 255 - mean) / std).permute(0, 3, 1, 2).contiguous()


# The teachers ---------------------------------------------------------------------------------------------------------


class Teachers(nn.Module):
    """Small heads on the patches; only the training knows them."""

    def __init__(self, recipe: Recipe):
        super().__init__()
        width = recipe.config.width
        self.recipe = recipe
        self.says = nn.ModuleDict(
            {"shape": nn.Linear(width, len(SHAPES) + 1), "material": nn.Linear(width, len(MATERIALS) + 1)}
            | {"ground": nn.Linear(width, len(GROUNDS)), "box": nn.Linear(width, 4)}
        )
        self.alike = nn.ModuleList(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 64)) for _ in range(2))

    def forward(self, vit: VisionTransformer, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """The losses by name."""
        x, rotation = vit.embed(pixels(batch["image"], vit.config))
        first = len(vit.config.prefix)
        for i, block in enumerate(vit.blocks):
            x, _ = block(x, None, rotation)
            if i == self.recipe.middle:
                middle = x[:, first:]
        last = vit.norm(x)[:, first:]  # (B, patches, D)
        inside = batch["box"].abs().sum(-1) > 0  # (B, patches)
        says = {name: head(last).float() for name, head in self.says.items()}
        return {
            "class": 10 * F.binary_cross_entropy_with_logits(vit.classify(x).float(), batch["present"]),
            "shape": F.cross_entropy(says["shape"].flatten(0, 1), batch["shape"].flatten()),
            "material": F.cross_entropy(says["material"].flatten(0, 1), batch["material"].flatten()) / 2,
            "ground": F.cross_entropy(says["ground"].flatten(0, 1), batch["ground"].flatten()) / 2,
            "box": F.smooth_l1_loss(says["box"][inside], batch["box"][inside], beta=0.1),
            "alike": self.affinity(self.alike[0](last), batch["segment"]),
            "alike early": self.affinity(self.alike[1](middle), batch["segment"]) / 2,
        }

    def affinity(self, z: Tensor, segment: Tensor) -> Tensor:
        """−log of how much of a patch's likeness falls on its own segment. Every segment counts the same."""
        z = F.normalize(z.float(), dim=-1)
        like = z @ z.mT / self.recipe.temperature  # (B, patches, patches)
        like.diagonal(dim1=1, dim2=2).fill_(-math.inf)  # a patch is no news to itself
        same = segment[:, :, None] == segment[:, None]  # (B, patches, patches)
        size = same.sum(-1)  # (B, patches)
        own = like.masked_fill(~same, -math.inf).logsumexp(-1) - like.logsumexp(-1)  # (B, patches), log of the share
        counted = size > 2
        weight = counted / size.clamp(min=1) ** 0.75
        return -(own.masked_fill(~counted, 0) * weight).sum() / weight.sum()


# The run --------------------------------------------------------------------------------------------------------------


def snapshot_steps(steps: int, count: int = 12) -> list[int]:
    """0 and about a dozen moments, spaced by their logarithm up to the end."""
    return [0, *sorted({round(10 * (steps / 10) ** (i / (count - 2))) for i in range(count - 1)})]


def train(
    recipe: Recipe,
    folder: Path,
    device: str | None = None,
    tell: Callable[[int, dict[str, float], VisionTransformer], None] | None = None,
) -> VisionTransformer:
    """Runs to the end, or on from where `folder` stopped; leaves snapshots and the finished model there.
    `tell` hears the step, the losses and the averaged model now and then."""
    device = device or zoo.best_device()
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(recipe.seed)
    vit = VisionTransformer(recipe.config, recipe.seed).to(device)
    if device == "cpu":  # there the fused kernel's way back is three times slower than the formula written out
        for block in vit.blocks:
            block.attn.mix = attention_by_hand
    mean = VisionTransformer(recipe.config, recipe.seed).to(device).requires_grad_(False)
    teachers = Teachers(recipe).to(device)
    optimiser = torch.optim.AdamW(_groups(vit, teachers, recipe.decay), lr=recipe.rate, betas=(0.9, 0.98))
    step, history, saved = 0, [], folder / "checkpoint.pt"
    if saved.exists():
        state = torch.load(saved, map_location=device, weights_only=True)
        for name, part in (("vit", vit), ("mean", mean), ("teachers", teachers), ("optimiser", optimiser)):
            part.load_state_dict(state[name])
        step, history = state["step"], state["history"]
    elif step == 0:
        zoo.save(mean, folder / "snapshot-000000.safetensors")
    left = range(step * recipe.batch, recipe.steps * recipe.batch)
    loader = DataLoader(
        Scenes(recipe), batch_size=recipe.batch, sampler=left, num_workers=recipe.workers,
        prefetch_factor=6 if recipe.workers else None, persistent_workers=recipe.workers > 0,
    )  # fmt: skip
    moments = set(snapshot_steps(recipe.steps))

    def keep() -> None:
        parts = {"vit": vit, "mean": mean, "teachers": teachers, "optimiser": optimiser}
        state = {name: part.state_dict() for name, part in parts.items()}
        torch.save({**state, "step": step, "history": history}, saved.with_suffix(".new"))
        saved.with_suffix(".new").replace(saved)

    try:
        for batch in loader:
            for group in optimiser.param_groups:
                group["lr"] = recipe.rate * _pace(step, recipe)
            batch = {name: value.to(device) for name, value in batch.items()}
            with torch.autocast(torch.device(device).type, torch.bfloat16):
                losses = teachers(vit, batch)
            loss = sum(losses.values())
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([*vit.parameters(), *teachers.parameters()], 1.0)
            optimiser.step()
            step += 1
            blend = min(recipe.average, (1 + step) / (10 + step))
            with torch.no_grad():
                torch._foreach_lerp_(list(mean.parameters()), list(vit.parameters()), 1 - blend)
            if step % 20 == 0:
                history.append([step, *(round(value.item(), 4) for value in losses.values())])
                if tell:
                    tell(step, {name: value.item() for name, value in losses.items()}, mean)
            if step in moments:
                zoo.save(mean, folder / f"snapshot-{step:06}.safetensors")
            if step % 500 == 0:
                keep()
    finally:  # Ctrl-C keeps what there is
        keep()
    mean.name = "bundled"
    zoo.save(mean, folder / "model.safetensors")
    return mean.eval()


def _groups(vit: nn.Module, teachers: nn.Module, decay: float) -> list[dict]:
    """Weights of matrices decay; gains, biases, tokens and positions don't."""
    named = [*vit.named_parameters(), *teachers.named_parameters()]
    matrices = [p for name, p in named if p.dim() > 1 and not name.endswith(("token", "pos_embed"))]
    rest = [p for name, p in named if not any(p is m for m in matrices)]
    return [{"params": matrices, "weight_decay": decay}, {"params": rest, "weight_decay": 0.0}]


def _pace(step: int, recipe: Recipe) -> float:
    """Up in a straight line, then down along a cosine to a hundredth."""
    if step < recipe.warm_up:
        return (step + 1) / recipe.warm_up
    done = (step - recipe.warm_up) / max(1, recipe.steps - recipe.warm_up)
    return 0.01 + 0.99 * (1 + math.cos(math.pi * done)) / 2
