"""Fine-tuning over time: traces one picture at regular steps while a model learns (docs/pages/own_model.md), into a zip
of the picture and a pack for each trace, such as step-000100.pack. A failure during training, such as a full disk or a
replaced model, is reported once, and the training goes on."""

from __future__ import annotations

import inspect
import io
import os
import re
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor, nn

from playground import tracing
from playground.errors import PlaygroundError, PlaygroundWarning, needed, warn
from playground.models.loading import load, source_of, unwrapped
from playground.models.source import build
from playground.numbers import index
from playground.pictures import images
from playground.samples import find
from playground.tracing import Query, Trace
from playground.vit import VisionTransformer

PICTURE_NAME = "picture.png"  # the picture as the model sees it
MOST_QUERIES = 256  # most patches whose rows are measured for `log`
MEMBER_NAME = re.compile(r"step-(\d{1,12})\.pack")


class watch:
    """Traces `image` before every `every`-th step of the model that learns, and once at the end. A step is a call of
    the model while it is in training mode. `out` is a new file; `watched` reads it. `transform` is your own way from a
    picture to what the model gets. Of several processes the first one looks and writes.

    `log` gets two numbers of each layer's rows at each of these steps, means over heads and patches:
    "attention/layer 3/entropy", in bits, and "…/prefix", the share of the tokens before the patches. It is a function
    of (name, value, step), or what TensorBoard, Lightning and W&B have: a SummaryWriter, a logger, a run, `wandb.log`,
    or `self.log` of a LightningModule, which is not called at the end, after the training.

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
        transform: Callable[[Image.Image], Any] | None = None, log: Any = None,
    ):  # fmt: skip
        self.model, self.every, self.out = model, every, Path(out)
        if index(every) is None or every < 1:
            raise PlaygroundError(f"watch looks before every 1st, 2nd, … step; given was every={every!r:.40}.")
        self.send = None if log is None else _sender(log)
        self.steps = 0
        self.trouble = ""  # why tracing stopped; "": it goes on
        if _process_number():
            self.trouble = "another process writes"
            return
        if self.out.exists():
            raise PlaygroundError(f"{self.out} is there already: choose another name, or remove it.")
        sample = find(image) if isinstance(image, str) and not Path(image).exists() else None
        picture = images.open_image(sample.path if sample else image)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PlaygroundWarning)  # it warns about mean and std, which matter little here
            self.vit = load(model)  # it compares its pass with the model's own, once
        config = self.vit.config
        if transform is None:
            self.pixels = images.model_input(picture, config.image_size, config.mean, config.std, config.interpolation)
        else:
            pixels = transform(picture)
            self.pixels = images.given_input(pixels[None] if getattr(pixels, "ndim", 0) == 3 else pixels)
        self.shared = self._parameters()
        try:
            with zipfile.ZipFile(self.out, "x") as file, file.open(PICTURE_NAME, "w") as member:
                tracing.denormalised(self.pixels[0], config.mean, config.std).save(member, "PNG")
        except OSError as error:
            raise PlaygroundError(f"{self.out} can't be written: {error.strerror or error}.") from None

    def __enter__(self) -> watch:
        self.hook = self.model.register_forward_pre_hook(self._before_forward)
        return self

    def __exit__(self, *error: object) -> None:
        self.hook.remove()
        self._write_trace(is_end=True)

    def _before_forward(self, model: nn.Module, inputs: Any) -> None:
        if model.training and torch.is_grad_enabled():
            self.step()

    def step(self) -> None:
        if self.steps % self.every == 0:
            self._write_trace()
        self.steps += 1

    def _write_trace(self, is_end: bool = False) -> None:
        if self.trouble:
            return
        try:
            vit = self._current_model()
            with torch.no_grad(), torch.autocast(self.pixels.device.type, enabled=False):
                trace = tracing.trace_input(vit, self.pixels)
            with zipfile.ZipFile(self.out, "a") as file:
                file.writestr(f"step-{self.steps:06}.pack", trace.to_bytes(numbers="int8"))
        except (PlaygroundError, OSError) as error:
            self.trouble = str(getattr(error, "strerror", None) or error)
            warn(f"watch stops looking at step {self.steps}, and the training goes on: {self.trouble.rstrip('.')}.")
            return
        try:
            if self.send:
                self.send(_numbers(trace), self.steps, is_end)
        except Exception as error:  # what others' loggers raise
            self.send = None
            warn(f"watch stops logging at step {self.steps}, and the training goes on: {error!s:.200}")

    def callback(self) -> Any:
        """A callback for the Trainer of `transformers`, whose steps are the optimizer's."""
        needed("transformers", "attention-playground[trainer]")
        from transformers import TrainerCallback

        watcher = self

        class TraceCallback(TrainerCallback):
            def on_step_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
                watcher.steps = state.global_step  # so a resumed run continues the count
                watcher.step()

            def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
                watcher._write_trace(is_end=True)

        return TraceCallback()

    def _parameters(self) -> tuple[tuple[Any, ...], ...]:
        """Identifies the model's tensors: another value if they are replaced, not if they are trained."""
        return tuple((name, p.data_ptr(), p.shape) for name, p in unwrapped(self.model).named_parameters())

    def _current_model(self) -> VisionTransformer:
        """Our model with the weights of this step. It usually shares its tensors with theirs, so nothing is built."""
        parameters = self._parameters()
        our_pointers = {parameter.data_ptr() for parameter in self.vit.parameters()}
        if parameters == self.shared and our_pointers <= {pointer for _, pointer, _ in parameters}:
            return self.vit
        self.shared = parameters
        source, shape = source_of(unwrapped(self.model)), attrgetter("depth", "width", "patch_size")
        if shape(source.config) != shape(self.vit.config):
            raise PlaygroundError("the model has another depth, width or patch size than when it began")
        self.vit = build(source).eval()
        return self.vit


def _process_number() -> int:
    """The number of this process in a training on several, also before the process group is there; else 0."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank()
    return int(os.environ.get("RANK") or os.environ.get("LOCAL_RANK") or 0)


def _numbers(trace: Trace) -> dict[str, float]:
    numbers, queries = {}, trace.some_patches(MOST_QUERIES)
    for layer in trace.record:
        weights = trace.weights(layer, queries)  # (heads, queries, tokens)
        numbers[f"attention/layer {layer}/entropy"] = float(tracing.entropy(weights).mean())
        numbers[f"attention/layer {layer}/prefix"] = float(weights[..., : len(trace.prefix)].sum(-1).mean())
    return numbers


def _sender(log: Any) -> Callable[[dict[str, float], int, bool], object]:
    """A function of the numbers, the step, and whether the training is over, that calls `log` as it is called."""
    if hasattr(log, "log_metrics"):  # a logger of Lightning
        return lambda numbers, step, is_end: log.log_metrics(numbers, step)
    call = getattr(log, "add_scalar", None) or (log if callable(log) else getattr(log, "log", None))
    if not callable(call):
        raise PlaygroundError(
            "log= is a function of (name, value, step), a SummaryWriter, a logger of Lightning or a run of W&B; given "
            f"was {type(log).__name__}."
        )
    parameters = inspect.signature(call).parameters.values()
    required_count = sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
    has_step = any(p.name == "step" for p in parameters)

    def send(numbers: dict[str, float], step: int, is_end: bool) -> None:
        if required_count == 1:  # a dict: wandb.log
            call(numbers, **{"step": step} if has_step else {})
            return
        for name, value in numbers.items():
            if required_count != 2 or hasattr(log, "add_scalar"):
                call(name, value, step)
            elif not is_end:  # LightningModule.log, which knows the step
                call(name, value)

    return send


@dataclass(frozen=True)
class Watched:
    """The content of a file that `watch` wrote."""

    steps: tuple[int, ...]
    traces: tuple[Trace, ...]

    def row(self, layer: int, head: int | str, query: Query) -> Tensor:
        """(moments, tokens): one patch's row over time."""
        return torch.stack([trace.row(layer, head, query) for trace in self.traces])


def watched(path: str | Path) -> Watched:
    """Reads a file that `watch` wrote. The file of a killed run holds the traces made before."""
    try:
        with zipfile.ZipFile(path) as file:
            members = sorted(
                (int(match[1]), name) for name in file.namelist() if (match := MEMBER_NAME.fullmatch(name))
            )
            picture = Image.open(io.BytesIO(file.read(PICTURE_NAME))).convert("RGB")
            traces = tuple(
                replace(Trace.from_bytes(file.read(name)), picture=picture, picture_name=f"step {step}")
                for step, name in members
            )
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise PlaygroundError(f"{path} is no file that watch wrote: {error}.") from None
    if not traces:
        raise PlaygroundError(f"{path} holds no trace.")
    return Watched(tuple(step for step, _ in members), traces)
