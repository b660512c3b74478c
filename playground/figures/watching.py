"""Fine-tuning over time: one picture traced now and then while a model learns, into one file.

    with playground.watch(model, "cat.jpg", every=100, out="run.trace"):
        for batch in batches: ...            # a plain loop, or trainer.train() of `transformers`

    playground.watched("run.trace").row(layer=8, head=3, query=(7, 5))   # (moments, tokens)

The file is a zip whose members are packs (playground/pack), step-000100.pack and so on. What goes wrong while a model
learns, a full disk or a model that is another one now, is said once, and the training goes on.
"""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor, nn

from playground import tracing
from playground.errors import PlaygroundError, PlaygroundWarning
from playground.models.loading import load, source_of, unwrapped
from playground.models.source import build
from playground.pictures import images
from playground.samples import named
from playground.tracing import Query, Trace

MEMBER = re.compile(r"step-(\d{1,12})\.pack")


class watch:
    """Traces `image` before every `every`-th step of the model that learns, and once at the end. A step is a call of
    the model while it is in training mode, or of `step()` where `count` is False. `out` is a new file; `watched` reads
    it. `transform` is your own way from a picture to what the model gets.

    >>> import os, tempfile, timm, torch
    >>> model = timm.create_model("vit_tiny_patch16_224", img_size=64, depth=2, num_classes=3).train()
    >>> out = os.path.join(tempfile.mkdtemp(), "run.trace")
    >>> with playground.watch(model, "meadow", every=2, out=out):
    ...     for _ in range(4):
    ...         _ = model(torch.rand(1, 3, 64, 64))
    >>> playground.watched(out).steps
    (0, 2, 4)
    """

    def __init__(
        self, model: nn.Module, image: images.Source, every: int = 100, out: str | Path = "run.trace", *,
        transform: Callable[[Image.Image], Any] | None = None, numbers: str = "int8", count: bool = True,
    ):  # fmt: skip
        self.model, self.every, self.out, self.numbers, self.count = model, every, Path(out), numbers, count
        if not isinstance(every, int) or every < 1:
            raise PlaygroundError(f"watch looks before every 1st, 2nd, … step; given was every={every!r:.40}.")
        if self.out.exists():
            raise PlaygroundError(f"{self.out} is there already: choose another name, or remove it.")
        sample = named(image) if isinstance(image, str) and not Path(image).exists() else None
        picture = images.open_image(sample.path if sample else image)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PlaygroundWarning)  # of mean and std, which matter little to a comparison
            self.vit = load(model)  # holds our pass against the model's own, once
        c = self.vit.config
        if transform is None:
            self.pixels = images.model_input(picture, c.image_size, c.mean, c.std, c.interpolation)
        else:
            pixels = transform(picture)
            self.pixels = images.given_input(pixels[None] if getattr(pixels, "ndim", 0) == 3 else pixels)
        self.steps = 0
        self.trouble = ""  # why it looks no longer
        try:
            zipfile.ZipFile(self.out, "x").close()
        except OSError as error:
            raise PlaygroundError(f"{self.out} can't be written: {error.strerror or error}.") from None

    def __enter__(self) -> watch:
        self.hook = self.model.register_forward_pre_hook(self._called) if self.count else None
        return self

    def __exit__(self, *error: object) -> None:
        if self.hook is not None:
            self.hook.remove()
        self._look()

    def _called(self, model: nn.Module, given: Any) -> None:
        if model.training and torch.is_grad_enabled():
            self.step()

    def step(self) -> None:
        """Says that the next step of training begins."""
        if self.steps % self.every == 0:
            self._look()
        self.steps += 1

    def _look(self) -> None:
        if self.trouble:
            return
        try:
            seen = self._trace()
            with zipfile.ZipFile(self.out, "a") as file:
                file.writestr(f"step-{self.steps:06}.pack", seen.to_bytes(numbers=self.numbers))
        except (PlaygroundError, OSError) as error:
            self.trouble = str(getattr(error, "strerror", None) or error)
            warnings.warn(
                f"watch stops looking at step {self.steps}, and the training goes on: {self.trouble.rstrip('.')}.",
                PlaygroundWarning, stacklevel=3,
            )  # fmt: skip

    def _trace(self) -> Trace:
        source = source_of(unwrapped(self.model))
        before = self.vit.config
        if (source.config.depth, source.config.width, source.config.patch_size) != (
            before.depth, before.width, before.patch_size,
        ):  # fmt: skip
            raise PlaygroundError("the model has another depth, width or patch size than when it began")
        vit = build(source).eval()
        with torch.no_grad(), torch.autocast(self.pixels.device.type, enabled=False):
            return tracing.trace_input(vit, self.pixels)


@dataclass(frozen=True)
class Watched:
    """What `watch` wrote."""

    steps: tuple[int, ...]
    traces: tuple[Trace, ...]

    def row(self, layer: int, head: int | str, query: Query) -> Tensor:
        """(moments, tokens): one patch's row over time."""
        return torch.stack([seen.row(layer, head, query) for seen in self.traces])


def watched(path: str | Path) -> Watched:
    """The traces of a file that `watch` wrote, with their steps. A run that was killed leaves those that it made."""
    try:
        with zipfile.ZipFile(path) as file:
            names = sorted((int(found[1]), name) for name in file.namelist() if (found := MEMBER.fullmatch(name)))
            traces = tuple(Trace.from_bytes(file.read(name)) for _, name in names)
    except (OSError, zipfile.BadZipFile) as error:
        raise PlaygroundError(f"{path} is no file that watch wrote: {error}.") from None
    if not traces:
        raise PlaygroundError(f"{path} holds no trace.")
    return Watched(tuple(step for step, _ in names), traces)
