"""Defines Source, the description of a model before it is built: its Config, the place of its weights, and assumptions.
Callers pass it on, so that no Source is made twice."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from playground.errors import PlaygroundError
from playground.models.given import BOUNDS, POOL_WORDS, Options, check, config_fields
from playground.vit import Config, VisionTransformer, parts


@dataclass(frozen=True)
class Source:
    name: str
    config: Config
    weights: Callable[[], dict[str, Tensor]] | None = None  # reads the weights, under our names; None: random ones
    where: str = ""  # where the weights are, for messages
    shapes: dict[str, Tensor] | None = None  # the weights' shapes, if known before the weights are read
    assumed: tuple[parts.Assumption, ...] = ()
    readout_difference: str = ""  # how the classifier's input differs from ours, as the end of a sentence
    told_heads: tuple[parts.GuidedHead, ...] = ()
    file: Path | None = None  # the weights' file, if the user gave one


def checked(entries: Any) -> Config:
    """The Config that a file describes. Raises ValueError if it is impossible: the file may come from anybody."""
    if not isinstance(entries, dict):
        raise ValueError("it is no list of names and values")
    defaults = {field.name: field.default for field in dataclasses.fields(Config)}
    if unknown := sorted(name for name, value in entries.items() if value and name not in defaults):
        raise ValueError(f"there is no {unknown[0]!r}")
    known = {name: value for name, value in entries.items() if name in defaults}  # what is unknown here is off there
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in known.items()}
    for name, value in fields.items():
        if name in BOUNDS:
            check(name, value)
        elif type(value) is not bool:
            raise ValueError(f"{name} is true or false, not {value!r:.60}")
    config = Config(**fields)
    if config.labels and len(config.labels) != config.classes:
        raise ValueError(f"{len(config.labels)} labels stand there for {config.classes} classes")
    if any(side % config.patch_size for side in config.image_size):
        raise ValueError(f"patches of {config.patch_size} pixels don't fill {config.image_size}")
    return config


def assumed_facts(config: Config, known_words: Collection[str] = ()) -> tuple[parts.Assumption, ...]:
    """The facts that must be assumed because a file of weights lacks them. Facts in `known_words` are left out."""
    values = {
        "mean": f"mean {' '.join(f'{number:.6g}' for number in config.mean)}",
        "std": f"std {' '.join(f'{number:.6g}' for number in config.std)}",
        "num_heads": f"{config.heads} heads of {config.width // config.heads}",
        "act_layer": f"the activation {config.activation}",
    }
    if config.classes and config.pool in POOL_WORDS and not config.dist_token:
        values["global_pool"] = f"{POOL_WORDS[config.pool]} read out"
    return tuple(parts.Assumption(word, value) for word, value in values.items() if word not in known_words)


def pool_difference(pool: str | None) -> str:
    if pool in (None, "token", "avg", "map"):
        return ""
    return f"they are read out by {pool!r:.30}, which the playground's ViT does not compute"


def with_options(source: Source, options: Options) -> Source:
    """The Source with the options that a user gave."""
    return replace(
        source,
        config=replace(source.config, **config_fields(options)),
        assumed=tuple(assumption for assumption in source.assumed if assumption.word not in options),
        readout_difference=pool_difference(options.get("global_pool")) or source.readout_difference,
    )


def why_no_answer(source: Source) -> str:
    """Why labels may be wrong: the pooling or the activation is only assumed. "" if labels can be trusted."""
    if source.readout_difference or not source.config.classes:
        return source.readout_difference
    assumed_words = {assumption.word for assumption in source.assumed}
    used = {"act_layer": source.config.activation, "global_pool": source.config.pool}
    unstated = {word: value for word, value in used.items() if word in assumed_words}
    if not unstated:
        return ""
    example = ", ".join(f"{word}={value!r}" for word, value in unstated.items())
    options = " and ".join(f"{word}=" for word in unstated)
    return f"they depend on {options}, which no weight tells; say it, such as {example}"


def notice(vit: VisionTransformer) -> str:
    """A text about the assumed values, the options that change them, and why there are no labels; "" without any."""
    sentences = []
    if vit.assumed:
        values = ", ".join(assumption.value for assumption in vit.assumed)
        words = ", ".join(f"{assumption.word}=" for assumption in vit.assumed)
        sentences.append(f"Assumed of {vit.name}: {values}. {words} say otherwise.")
    if vit.no_answer:
        sentences.append(f"Its rows are shown, its labels are not: {vit.no_answer}.")
    return " ".join(sentences)


def meta_model(source: Source) -> VisionTransformer:
    """The model with the shapes of its weights, without memory for them."""
    with torch.device("meta"):
        return VisionTransformer(source.config)


def build(source: Source, seed: int = 0) -> VisionTransformer:
    if source.weights is None:
        vit = VisionTransformer(source.config, seed)
    else:
        vit = meta_model(source)
        if source.shapes is not None:
            check_fit(vit, source.shapes, source.where)  # before any data is read
        fill(vit, source.weights(), source.where)
        vit.assumed, vit.no_answer = source.assumed, why_no_answer(source)
    vit.name, vit.told_heads, vit.file = source.name, source.told_heads, source.file
    return vit


def on_device(vit: VisionTransformer, device: str | torch.device | None) -> VisionTransformer:
    """The model in evaluation mode, on the device (default: the best there is)."""
    try:
        return vit.eval().to(best_device() if device is None else device)
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise PlaygroundError(f"{vit.name} can't be put on the device {device!r} ({reason}): say 'cpu'.") from None


def best_device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def fill(vit: VisionTransformer, state: dict[str, Tensor], where: str) -> None:
    """Loads a state dict into the model. The tensors are not copied."""
    check_fit(vit, state, where)
    vit.load_state_dict(state, strict=True, assign=True)


def check_fit(vit: VisionTransformer, state: dict[str, Tensor], where: str) -> None:
    """Raises a PlaygroundError that names the weights that don't fit the model."""
    ours = {key: tuple(value.shape) for key, value in vit.state_dict().items()}
    theirs = {key: tuple(value.shape) for key, value in state.items()}
    both = sorted(ours.keys() & theirs.keys())
    for verb, names in {
        "lacks": sorted(ours.keys() - theirs.keys()),
        "has, and the model has not,": sorted(theirs.keys() - ours.keys()),
        "holds other shapes:": [f"{key} {theirs[key]} for {ours[key]}" for key in both if ours[key] != theirs[key]],
    }.items():
        if names:
            rest = f" and {len(names) - 3} more" if len(names) > 3 else ""
            raise PlaygroundError(f"{where} doesn't fit this model: it {verb} {', '.join(names[:3])}{rest}.")


# The app prints commands that load a model again by the same arguments of `load`. A model whose weights were changed
# after loading, for example by training, has no such command.


class LoadArguments(NamedTuple):
    model: str
    weights: str | None
    given_options: Options


_loaded: WeakKeyDictionary[VisionTransformer, tuple[parts.WeightVersions, LoadArguments | None]] = WeakKeyDictionary()


def remember(vit: VisionTransformer, model: Any, weights: Any, options: Options, loads_again: bool) -> None:
    """Remembers the arguments of `load`, and whether they give the same weights again."""
    arguments = LoadArguments(os.fspath(model), None if weights is None else os.fspath(weights), options)
    _loaded[vit] = vit.weight_versions(), arguments if loads_again else None


def load_arguments(vit: VisionTransformer | None) -> LoadArguments | None:
    """The arguments by which a command loads the model again; None if no command can."""
    return None if vit is None or vit not in _loaded or is_changed(vit, vit.weight_versions()) else _loaded[vit][1]


def is_changed(vit: VisionTransformer, versions: parts.WeightVersions) -> bool:
    """Whether these versions of the weights differ from those that `load` gave; () means that they are unknown."""
    return vit in _loaded and versions not in ((), _loaded[vit][0])
