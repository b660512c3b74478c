"""Runs the training loop.

All randomness depends on the seed and the step only: the same command gives the same weights on the same machine, and a
run that was stopped continues where it was. The folder of a run holds
  recipe.json               the settings
  snapshot-000531.safetensors   the model at about a dozen steps, spaced logarithmically
  checkpoint.pt             everything that is needed to continue
  model.safetensors         the latest model, for playground.load
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from playground.errors import PlaygroundError
from playground.models import model_file, source
from playground.vit import VisionTransformer, attention_by_hand
from workshop.losses import Scenes, Teachers
from workshop.recipe import Course, kept_steps, pace


def half_precision(device: str) -> torch.autocast:
    """Multiplies matrices in bfloat16 if that is faster: on GPUs, and on processors with AMX (a training step is 3 × as
    fast) or AVX-512 BF16 (2 ×). On other processors bfloat16 is slower than float32."""
    device_type = torch.device(device).type
    is_fast = torch.cpu._is_amx_tile_supported() or torch.cpu._is_avx512_bf16_supported()
    return torch.autocast(device_type, torch.bfloat16, enabled=device_type != "cpu" or is_fast)


TELL_EVERY = 20  # steps between two calls of train's `tell`
KEEP_EVERY = 180  # seconds between two checkpoints

Tell = Callable[[int, dict[str, float], VisionTransformer], None]


def train(
    recipe: Course,
    folder: Path,
    *,
    data: Dataset | None = None,
    teachers: Callable[[Any], nn.Module] = Teachers,
    device: str | None = None,
    tell: Tell | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> VisionTransformer:
    """Starts or continues the run in `folder`, until its end or until `stopped` returns True. The folder holds the
    run's state.

    Example number `step * batch + i` of `data` (by default scenes) is the i-th in a step's batch. `teachers` makes a
    module that turns a model, a batch and the step into losses by name; the module's `told_heads` lists the heads whose
    weights these losses read. Every TELL_EVERY steps `tell` is called with the step, the losses and the averaged
    model."""
    run = Run(recipe, folder, teachers, device)
    loader = _loader(Scenes(recipe) if data is None else data, recipe, run.step, run.device)
    steps_to_keep, last_saved = set(kept_steps(recipe)), time.monotonic()
    try:
        for batch in loader:
            if stopped():
                break
            losses = run.learn(batch)
            if run.step % TELL_EVERY == 0:
                values = {name: value.item() for name, value in losses.items()}
                run.history.append([run.step, *(round(value, 4) for value in values.values())])
                if tell:
                    tell(run.step, values, run.mean)
            if run.step in steps_to_keep:
                run.snapshot()
            if time.monotonic() > last_saved + KEEP_EVERY:
                run.save_checkpoint()
                last_saved = time.monotonic()
    finally:  # saves the state after an error or Ctrl-C too
        run.save_checkpoint()
    run.mean.name = recipe.name
    model_file.save(run.mean, folder / "model.safetensors")
    return run.mean.eval()


class Run:
    """The state of a run, and the folder in which it is saved."""

    def __init__(
        self, recipe: Course, folder: Path, teachers: Callable[[Any], nn.Module] = Teachers, device: str | None = None
    ):
        self.recipe, self.folder = recipe, folder
        self.device = checked_device(device)
        _check_recipe(recipe, folder)
        with torch.random.fork_rng(devices=[]):  # does not change the global random state, which other threads use
            torch.manual_seed(recipe.seed)
            self.vit = recipe.untrained().to(self.device)
            self.mean = recipe.untrained().to(self.device).requires_grad_(False)
            self.teachers = teachers(recipe).to(self.device)
        self.mean.told_heads = self.teachers.told_heads
        if self.device == "cpu":  # on a CPU, the fused kernel's backward pass is three times slower
            for block in self.vit.blocks:
                block.attn.mix = attention_by_hand
        self.trained_parameters = [*self.vit.parameters(), *self.teachers.parameters()]
        self.thirds = _thirds(self.vit) if recipe.apart else {}
        self.optimisers = _optimisers(self.vit, self.teachers, recipe, self.thirds)
        self.step, self.history, self.loss_names = 0, [], []  # in the order of the history's columns
        if (folder / "checkpoint.pt").exists():
            self._resume()
        else:
            self.snapshot()

    def learn(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """One training step; returns the losses before the update."""
        highest_rates = {"muon": self.recipe.matrix_rate, "adamw": self.recipe.rate}
        for name, optimiser in self.optimisers.items():
            for group in optimiser.param_groups:
                group["lr"] = highest_rates[name] * pace(self.step, self.recipe)
        batch = {name: value.to(self.device, non_blocking=True) for name, value in batch.items()}
        with half_precision(self.device):
            losses = self.teachers(self.vit, batch, self.step)
        self.loss_names = list(losses)
        loss = sum(losses.values())
        for parameter in self.trained_parameters:
            parameter.grad = None
        loss.backward()
        nn.utils.clip_grad_norm_(self.trained_parameters, 1.0)
        for matrix, thirds in self.thirds.items():
            for third, gradient in zip(thirds, matrix.grad.chunk(3), strict=True):
                third.grad = gradient
        for optimiser in self.optimisers.values():
            optimiser.step()
        self.step += 1
        kept_share = min(self.recipe.average, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.mean.parameters()), list(self.vit.parameters()), 1 - kept_share)
        return losses

    def snapshot(self) -> None:
        model_file.save(self.mean, self.folder / f"snapshot-{self.step:06}.safetensors")

    def save_checkpoint(self) -> None:
        state = {name: module.state_dict() for name, module in self._parts().items()}
        file = self.folder / "checkpoint.pt"
        torch.save(
            {**state, "step": self.step, "history": self.history, "losses": self.loss_names}, file.with_suffix(".new")
        )
        file.with_suffix(".new").replace(file)

    def _resume(self) -> None:
        state = read_checkpoint(self.folder, self.device)
        try:
            for name, module in self._parts().items():
                module.load_state_dict(state[name])
        except (KeyError, RuntimeError, ValueError):
            raise _settings_error(self.folder) from None
        self.step, self.history, self.loss_names = state["step"], state["history"], state["losses"]

    def _parts(self) -> dict[str, nn.Module | torch.optim.Optimizer]:
        return {"vit": self.vit, "mean": self.mean, "teachers": self.teachers, **self.optimisers}


def steps_done(folder: Path) -> int:
    """The number of steps that the run in a folder has done."""
    return read_checkpoint(folder)["step"] if (folder / "checkpoint.pt").exists() else 0


def read_checkpoint(folder: Path, device: str = "cpu") -> dict:
    """Reads the checkpoint. Only tensors and plain values are loaded (weights_only), so a checkpoint can't run code."""
    try:
        return torch.load(folder / "checkpoint.pt", map_location=device, weights_only=True)
    except Exception as error:  # a damaged file fails in many ways
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        raise PlaygroundError(f"{folder / 'checkpoint.pt'} can't be read: {first_line}") from None


def checked_device(device: str | None) -> str:
    if device is None:
        return source.best_device()
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):
        raise PlaygroundError(f"This machine has no device {device!r} for torch; leave --device out.") from None
    return device


def _check_recipe(recipe: Course, folder: Path) -> None:
    """Raises an error if the folder belongs to another recipe, because a mixed run could not be reproduced."""
    settings = dataclasses.asdict(recipe)
    del settings["workers"]
    settings = json.loads(json.dumps(settings))  # tuples become lists, as in the file
    file = folder / "recipe.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            file.write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise PlaygroundError(f"{folder} can't be written to: {error.strerror or error}.") from None
    try:
        stored_settings = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise PlaygroundError(f"{file} can't be read: {error.strerror or error}.") from None
    except ValueError:
        raise PlaygroundError(f"{file} is damaged; remove it.") from None
    if stored_settings != settings:
        raise _settings_error(folder)


def _settings_error(folder: Path) -> PlaygroundError:
    return PlaygroundError(
        f"{folder} holds a run with other settings; give another folder with --out, or the settings it began with."
    )


def _loader(data: Dataset, recipe: Course, step: int, device: str) -> DataLoader:
    """A loader that yields the batches from this step on."""
    batch_size = None if getattr(data, "whole_steps", False) else recipe.batch  # None: each item is a whole batch
    indices = range(step * (batch_size or 1), recipe.total * (batch_size or 1))
    workers = recipe.workers if indices else 0
    return DataLoader(
        data, batch_size=batch_size, sampler=indices, num_workers=workers, prefetch_factor=6 if workers else None,
        persistent_workers=workers > 0, pin_memory=device.startswith("cuda"), worker_init_fn=_leave_ctrl_c_to_the_run,
        generator=torch.Generator(),  # else DataLoader draws from torch's global generator
    )  # fmt: skip


def _leave_ctrl_c_to_the_run(_: int) -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _thirds(vit: VisionTransformer) -> dict[nn.Parameter, list[nn.Parameter]]:
    """Each layer's matrix of queries, keys and values as three matrices that share its memory. Muon makes all
    directions of a matrix's update equally strong. At the beginning the gradient of the values is fifteen times as
    large as those of queries and keys, so in a single matrix the values' directions would take the whole update."""
    matrices = [block.attn.qkv.weight for block in vit.blocks]
    return {matrix: [nn.Parameter(third) for third in matrix.data.chunk(3)] for matrix in matrices}


def _optimisers(
    vit: nn.Module, teachers: nn.Module, recipe: Course, thirds: dict[nn.Parameter, list[nn.Parameter]]
) -> dict[str, torch.optim.Optimizer]:
    """Muon for the matrices of the layers, because a step of Muon achieves as much as more than 1.5 steps of AdamW.
    AdamW for all other parameters, with weight decay for matrices but not for gains, biases, tokens and positions."""
    layer_matrices = [p for p in vit.blocks.parameters() if p.dim() == 2]
    all_parameters = [*vit.named_parameters(), *teachers.named_parameters()]
    other_parameters = [(name, p) for name, p in all_parameters if not any(p is m for m in layer_matrices)]
    matrices_for_muon = [part for p in layer_matrices for part in thirds.get(p, [p])]
    decayed_parameters = [
        p for name, p in other_parameters if p.dim() > 1 and not name.endswith(("token", "pos_embed"))
    ]
    adamw_groups = [
        {"params": decayed_parameters, "weight_decay": recipe.decay},
        {
            "params": [p for _, p in other_parameters if not any(p is m for m in decayed_parameters)],
            "weight_decay": 0.0,
        },
    ]
    return {
        "muon": torch.optim.Muon(
            matrices_for_muon, lr=recipe.matrix_rate, weight_decay=recipe.decay, adjust_lr_fn="match_rms_adamw"
        ),
        "adamw": torch.optim.AdamW(adamw_groups, lr=recipe.rate, betas=(0.9, 0.98)),
    }
