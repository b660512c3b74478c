"""Loads a model for Python's `load` and the command line. A server uses zoo.resolve instead, which accepts only names,
so that a visitor's text never reaches a folder or a pickled file."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn

from playground.errors import PlaygroundError, warn
from playground.models import architecture, borrowed, checking, hub, layouts, model_file, timm_models, weights_file, zoo
from playground.models.given import Options, read_options
from playground.models.model_file import PICKLED_WEIGHTS
from playground.models.registers import SUFFIX, with_register
from playground.models.source import Source, assumed_facts, build, notice, on_device, remember, with_options
from playground.models.timm_models import WEIGHTS_FILE
from playground.vit import Config, VisionTransformer, parts
from playground.vit_parts import plainly, why_not_weights

# Models in memory. Our VisionTransformer shares their tensors unless these need rearranging; device and dtype stay.


def source_of(model: nn.Module) -> Source:
    """The Source of a model in memory. Mean and deviation are reported as assumed, because a model of these libraries
    states the values of the published weights, even if it was trained with others."""
    model = _vit_in(model)
    state, library, name = model.state_dict(), _library(model), type(model).__name__
    layouts.refuse_adapters(state)
    if why := why_not_weights(model):
        raise PlaygroundError(why)
    if not library and not type(model).__module__.startswith("timm."):
        raise PlaygroundError(
            "playground.load takes a model's name, a file, a folder, a Vision Transformer of timm or torchvision, the "
            "ViT, DeiT, DINOv2, DINOv3, CLIP or SigLIP of transformers, or a module that holds one; given was "
            f"{name}."
        )
    if library in ("transformers", "torchvision"):
        config = _read_config(model, state)
    elif timm_models.why_not(model):
        raise PlaygroundError(timm_models.refusal(model))
    else:
        name = timm_models.name_of(model)
        config = timm_models.read_config(model, name)
    tensors = {key: x.clone() if x.is_inference() else x.detach() for key, x in layouts.our_weights(state).items()}
    unstated = assumed_facts(config, ("num_heads", "act_layer", "global_pool"))
    difference = layouts.OWN_HEAD_REASON if layouts.has_own_head(state) else ""
    return Source(name, config, lambda: tensors, f"This {name}", assumed=unstated, readout_difference=difference)


def _read_config(model: Any, state: dict[str, Any]) -> Config:
    """The Config of a model of `transformers` or torchvision."""
    if layouts.is_torchvision(state):
        heads = model.encoder.layers[0].num_heads
        description = {"num_attention_heads": heads, "image_size": model.image_size}
    else:
        description = model.config.to_dict()
    with model_file.about(f"This {type(model).__name__}"):
        weights = layouts.our_weights(state)
        start = architecture.family_config(state, weights, description, {}, {})
        return architecture.shown(start, weights, description, {})


def _vit_in(model: nn.Module) -> nn.Module:
    """The model itself if it is a ViT, else the only ViT inside it, such as its `backbone`. In the second case the
    answer of the larger model is not shown."""
    vits: dict[str, nn.Module] = {"": model} if _library(model) else {}
    for name, module in {} if vits else model.named_modules():
        if _library(module) and not any(name.startswith(f"{outer}.") for outer in vits):
            vits[name] = module
    if len(vits) > 1:
        raise PlaygroundError(f"This {type(model).__name__} holds {len(vits)} Vision Transformers: give one of them.")
    return next(iter(vits.values()), model)


def _library(model: nn.Module) -> str:
    """The library whose Vision Transformer this is, as far as its parts tell; "" if it is none."""
    if all(hasattr(model, name) for name in ("patch_embed", "blocks", "pretrained_cfg")):
        return "timm"
    if all(hasattr(model, name) for name in ("conv_proj", "encoder", "class_token")):
        return "torchvision"
    is_of_transformers = type(model).__module__.startswith("transformers.") and hasattr(model, "config")
    return "transformers" if is_of_transformers and layouts.is_hugging_face(model.state_dict()) else ""


def unwrapped(model: nn.Module) -> nn.Module:
    """The model inside the wrappers of torch.compile and DataParallel."""
    while isinstance(wrapped := getattr(model, "_orig_mod", None) or getattr(model, "module", None), nn.Module):
        model = wrapped
    return model


HUB_PREFIX, FOLDER_PREFIX = "hf-hub:", "local-dir:"  # prefixes of names, as timm writes them
REPOSITORY_PATTERN = re.compile(r"\w[\w.-]*/[\w.-]+", re.ASCII)
OUR_NAMES = {"facebook/dinov2-small": "dinov2-small"}  # repository -> our name for the same weights


@plainly
def load(
    model: str | os.PathLike[str] | nn.Module,
    *,
    pretrained: bool = True,
    weights: str | os.PathLike[str] | None = None,
    device: str | torch.device | None = None,
    seed: int = 0,
    offline: bool = False,
    mean: Sequence[float] | str | None = None,
    std: Sequence[float] | str | None = None,
    num_heads: int | None = None,
    act_layer: str | None = None,
    global_pool: str | None = None,
    registers: int = 0,
) -> VisionTransformer:
    """A ViT in evaluation mode. `model` is one of these:

    - a name: "bundled", "bundled-taught", "untrained", "dinov2-small", "ViT-B/16", or one of timm's;
    - a file of weights: .safetensors, or .pth and the like, which torch reads without running anything in it;
    - a folder that `transformers` or timm's save_for_hf wrote, or "local-dir:FOLDER";
    - a repository on the Hugging Face hub: "facebook/dinov2-small", "hf-hub:timm/vit_small_patch16_224.dino";
    - a model of timm or of `transformers` itself, whose device and dtype are kept.

    `pretrained=False` gives random weights, which `seed` chooses; `weights` names a file of weights. Neither uses the
    network. If a timm model was changed before training, the file of weights shows its classes, input size, pooling,
    prefix tokens, depth and width. `offline=True` takes published weights only from this machine. The default `device`
    is the best there is.

    Facts that a file of weights lacks are given by `mean` and `std` (the normalisation in training: three numbers
    each), `num_heads`, `act_layer` ("gelu", "relu", …) and `global_pool` ("token", "avg", …), under timm's names. Facts
    that are not given are assumed: a PlaygroundWarning states the assumed values, and `load(…).assumed` lists them.
    Labels that may be wrong are not shown.

    `registers=1`, or "+registers" after a name, adds a token to a model with outliers, patches of background whose
    vectors are many times as long as others', and moves there what its few neurons write (models/registers.py).

    >>> playground.load("ViT-S/16", seed=1).config.heads
    6
    """
    options = read_options(locals())
    if registers not in (0, 1):
        raise PlaygroundError(f"registers= is 0, or 1 for one register at test time; given was {registers!r:.40}.")
    if isinstance(model, str) and model.endswith(SUFFIX):
        model, registers = model.removesuffix(SUFFIX), 1
    if isinstance(model, nn.Module):
        vit = _from_object(model, pretrained, weights, device, options)
        vit = with_register(vit) if registers else vit
    else:
        vit = on_device(build(resolve(model, pretrained, weights, offline, options), seed), device)
        vit = with_register(vit) if registers else vit
        name = f"{os.fspath(model)}{SUFFIX}" if registers else model
        remember(vit, name, weights, options, loads_again=not seed and (pretrained or weights is not None))
    if message := notice(vit):
        warn(message)
    return vit


def resolve(model: str | os.PathLike[str], pretrained: bool, weights: Any, offline: bool, options: Options) -> Source:
    """The Source of a model."""
    if not isinstance(model, str | os.PathLike):
        raise PlaygroundError(
            f"load takes a model's name, a file, a folder or a model; given was {type(model).__name__}."
        )
    name = os.fspath(model)
    path = _path(name)
    if name and (path.is_dir() or name.startswith(FOLDER_PREFIX)):
        source = model_file.from_file(_file_of(path), options)
    elif path.suffix == ".safetensors" or weights_file.is_pickled(path):
        source = model_file.from_file(path, options)
    elif repository(name):
        source = _from_hub(name.removeprefix(HUB_PREFIX), pretrained, offline, options)
    else:
        source = zoo.resolve(name, pretrained and weights is None, offline)
        source = source if weights is not None else with_options(source, options)
    return source if weights is None else model_file.with_weights(source, Path(weights), options)


def repository(name: str) -> bool:
    """Whether the text is the name of a repository on the hub."""
    return REPOSITORY_PATTERN.fullmatch(name.removeprefix(HUB_PREFIX)) is not None and not name.startswith("ViT-")


def _from_object(
    model: nn.Module, pretrained: bool, weights: object, device: str | torch.device | None, options: Options
) -> VisionTransformer:
    if not pretrained or weights is not None:
        raise PlaygroundError("A model that is given itself has weights: leave pretrained= and weights= out.")
    model = unwrapped(model)
    if not isinstance(model, VisionTransformer):
        their_model, model = _vit_in(model), build(with_options(source_of(model), options)).eval()
        model.no_answer = _compared(their_model, model) or model.no_answer
    elif options:
        raise PlaygroundError(f"{min(options)}= is said where a model is loaded, and this one is loaded already.")
    if why := why_not_weights(model):
        raise PlaygroundError(why)
    return model if device is None else on_device(model, device)


_comparisons: WeakKeyDictionary[nn.Module, tuple[tuple[parts.WeightVersions, Config], str]] = WeakKeyDictionary()


def _compared(their_model: nn.Module, our_model: VisionTransformer) -> str:
    """Why the model's own answer is another one than ours, or "". It is compared again only after a change."""
    compared = parts.weight_versions(their_model), our_model.config
    if their_model not in _comparisons or _comparisons[their_model][0] != compared:
        _comparisons[their_model] = compared, _compare_outputs(their_model, our_model)
    return _comparisons[their_model][1]


def _compare_outputs(their_model: nn.Module, our_model: VisionTransformer) -> str:
    """Compares our model with `their_model` at its own grid and at another one: raises if tokens differ."""
    rows, columns = our_model.native_grid
    no_answer = ""
    for grid in ((rows, columns), (rows + 1, max(1, columns // 2))):
        size = grid[0] * our_model.config.patch_size, grid[1] * our_model.config.patch_size
        try:
            check = checking.check(our_model, their_model, checking.noise(size))
        except PlaygroundError:  # it needs more than a picture, such as a text, or takes pictures of its own size alone
            break
        if check.parts is not None:
            difference = f"our pass is another one at {grid[0]} × {grid[1]} patches: {check}"
            raise PlaygroundError(f"This {our_model.name} can't be shown, for {difference}.")
        no_answer = no_answer or (f"this model's own answer is another one ({check})" if check.differs else "")
    return no_answer


def _path(name: str) -> Path:
    """The text as a path, with ~ expanded."""
    path = Path(name.removeprefix(FOLDER_PREFIX)).expanduser()
    try:
        path.stat()
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:  # an impossible name, or a folder that may not be read
        raise PlaygroundError(f"There is no model called {name[:60]!r} ({str(error)[:40]}).") from None
    return path


def _file_of(folder: Path) -> Path:
    """The file of weights in a folder."""
    if not folder.is_dir():
        raise PlaygroundError(f"There is no folder {folder}.")
    for name in (WEIGHTS_FILE, PICKLED_WEIGHTS, "*.safetensors", *(f"*{suffix}" for suffix in weights_file.PICKLED)):
        if len(files := list(folder.glob(name))) == 1:
            return files[0]
    raise PlaygroundError(f"{folder} holds no {WEIGHTS_FILE} and no {PICKLED_WEIGHTS}: name the file of weights.")


def _from_hub(repository: str, pretrained: bool, offline: bool, options: Options) -> Source:
    """The Source of a repository on the hub: for a timm model by its name, else from files in the hub's cache."""
    account, _, name = repository.partition("/")
    if account == "timm":
        return with_options(zoo.resolve(name, pretrained, offline), options)
    if not pretrained:
        raise PlaygroundError(f"{repository} is a repository of weights: pretrained=False would leave nothing of it.")
    file = borrowed.hub_weights(repository)
    if file is None and repository in OUR_NAMES and borrowed.is_here(OUR_NAMES[repository]):
        source = with_options(zoo.resolve(OUR_NAMES[repository]), options)
        source = replace(source, config=replace(source.config, stretching="plain"))  # as `transformers` does
    else:
        file = file or _fetch(repository, offline or borrowed.asked_offline())
        source = model_file.from_file(file, options)
    return replace(source, name=repository)


def _fetch(repository: str, offline: bool) -> Path:
    try:
        path = hub.fetch(repository, WEIGHTS_FILE, repository, offline=offline)
    except PlaygroundError as refusal:
        try:
            path = hub.fetch(repository, PICKLED_WEIGHTS, repository, offline=offline)
        except PlaygroundError:
            raise refusal from None
    for name in ("config.json", "preprocessor_config.json"):
        with suppress(PlaygroundError):  # a repository may lack one of these files
            hub.fetch(repository, name, repository, offline=offline)
    return path
