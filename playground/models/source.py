"""Defines Source, the description of a model before it is built: its Config, the place of its weights, and assumptions.
zoo.py makes the Source of a name, model_file.py that of a file, and loading.py that of anything that `load` takes.
Callers pass the Source on, so that no Source is made twice."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from playground.errors import PlaygroundError
from playground.models.given import NO_OPTIONS, POOL_WORDS, GivenOptions
from playground.vit import Config, VisionTransformer, parts

CONFIG_FIELDS = {"mean": "mean", "std": "std", "num_heads": "heads", "act_layer": "activation", "global_pool": "pool"}


# Facts that are not stated anywhere -----------------------------------------------------------------------------------


def assumed_facts(config: Config, known_words: Collection[str] = ()) -> tuple[parts.Assumption, ...]:
    """The facts that must be assumed because a file of weights lacks them. Facts in `known_words` are left out."""
    assumptions = [
        parts.Assumption("mean", f"mean {colours_text(config.mean)}"),
        parts.Assumption("std", f"std {colours_text(config.std)}"),
        parts.Assumption("num_heads", f"{config.heads} heads of {config.width // config.heads}"),
        parts.Assumption("act_layer", f"the activation {config.activation}"),
    ]
    if config.classes and config.pool in POOL_WORDS and not config.dist_token:
        assumptions.append(parts.Assumption("global_pool", f"{POOL_WORDS[config.pool]} read out"))
    return tuple(assumption for assumption in assumptions if assumption.word not in known_words)


def colours_text(colours: Sequence[float]) -> str:
    return " ".join(f"{number:.6g}" for number in colours)


def pool_difference(pool: object) -> str:
    if pool in (None, "", "token", "avg", "map"):
        return ""
    return f"they are read out by {pool!r:.30}, which the playground's ViT does not compute"


def why_no_answer(source: Source) -> str:
    """Why labels may be wrong: the pooling or the activation is only assumed. "" if labels can be trusted."""
    if source.readout_difference or not source.config.classes:
        return source.readout_difference
    used_options = {"act_layer": source.config.activation, "global_pool": source.config.pool}
    assumed_options = {assumption.word for assumption in source.assumed}
    unstated = {option: value for option, value in used_options.items() if option in assumed_options}
    if not unstated:
        return ""
    example = ", ".join(f"{word}={value!r}" for word, value in unstated.items())
    options = " and ".join(f"{word}=" for word in unstated)
    return f"they depend on {options}, which no weight tells; say it, such as {example}"


def notice(vit: VisionTransformer) -> str:
    """A text about the assumptions: the assumed values, the options of `load` that change them, and why there are no
    labels; "" if nothing was assumed."""
    sentences = []
    if vit.assumed:
        values, words = (
            [assumption.value for assumption in vit.assumed],
            [f"{assumption.word}=" for assumption in vit.assumed],
        )
        sentences.append(f"Assumed of {vit.name}: {', '.join(values)}. {', '.join(words)} say otherwise.")
    if vit.no_answer:
        sentences.append(f"Its rows are shown, its labels are not: {vit.no_answer}.")
    return " ".join(sentences)


# The model ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    name: str
    config: Config
    weights: Callable[[], dict[str, Tensor]] | None = None  # reads the weights, under our names; None: random ones
    where: str = ""  # where the weights are, for messages
    shapes: dict[str, Tensor] | None = None  # the weights' shapes, if known before the weights are read
    assumed: tuple[parts.Assumption, ...] = ()
    readout_difference: str = ""  # how the classifier's input differs from ours, as the end of a sentence
    given_options: GivenOptions = NO_OPTIONS
    told_heads: tuple[parts.GuidedHead, ...] = ()
    file: Path | None = None  # the weights' file, if the user gave one


def with_options(source: Source, given_options: GivenOptions) -> Source:
    """The Source with the options that a user gave."""
    fields = {CONFIG_FIELDS[word]: getattr(given_options, word) for word in given_options.words}
    if fields.get("pool") not in POOL_WORDS:  # "map" is visible in the weights; with other kinds no labels are shown
        fields.pop("pool", None)
    return replace(
        source,
        config=replace(source.config, **fields),
        assumed=tuple(assumption for assumption in source.assumed if assumption.word not in given_options.words),
        readout_difference=pool_difference(given_options.global_pool) or source.readout_difference,
        given_options=given_options.with_defaults(source.given_options),
    )


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
        first_line = str(error).splitlines()[0]
        raise PlaygroundError(
            f"{vit.name} can't be put on the device {device!r} ({first_line}); leave it out, or say 'cpu'."
        ) from None


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
    our_shapes = {key: tuple(value.shape) for key, value in vit.state_dict().items()}
    their_shapes = {key: tuple(value.shape) for key, value in state.items()}
    misshapen = [key for key in our_shapes.keys() & their_shapes.keys() if our_shapes[key] != their_shapes[key]]
    for wrong_names, verb in (
        (sorted(our_shapes.keys() - their_shapes.keys()), "lacks"),
        (sorted(their_shapes.keys() - our_shapes.keys()), "has, and the model has not,"),
        ([f"{key} {their_shapes[key]} for {our_shapes[key]}" for key in sorted(misshapen)], "holds other shapes:"),
    ):
        if wrong_names:
            rest_words = f" and {len(wrong_names) - 3} more" if len(wrong_names) > 3 else ""
            raise PlaygroundError(
                f"{where} doesn't fit this model: it {verb} {', '.join(wrong_names[:3])}{rest_words}."
            )


# The app prints commands that load a model again by the same arguments of `load`. A model whose weights were changed
# after loading, for example by training, has no such command.


class LoadArguments(NamedTuple):
    """The arguments by which a command loads a model again."""

    model: str
    weights: str | None
    given_options: GivenOptions


_loaded: WeakKeyDictionary[VisionTransformer, tuple[parts.WeightVersions, LoadArguments | None]] = WeakKeyDictionary()


def remember(vit: VisionTransformer, arguments: LoadArguments | None) -> None:
    _loaded[vit] = vit.weight_versions(), arguments


def load_arguments(vit: VisionTransformer | None) -> LoadArguments | None:
    """The arguments by which a command loads the model again; None if no command can."""
    return None if vit is None or vit not in _loaded or is_changed(vit, vit.weight_versions()) else _loaded[vit][1]


def is_changed(vit: VisionTransformer, versions: parts.WeightVersions) -> bool:
    """Whether these versions of the weights differ from those that `load` gave; () means that they are unknown."""
    return vit in _loaded and versions not in ((), _loaded[vit][0])
