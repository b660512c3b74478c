"""What Python's `load` and the command line take: a name, a file, a folder, a repository on the hub, or a model itself.

A server asks zoo.load, which knows names alone: nothing that is typed there can reach a folder or a pickled file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import torch
from torch import nn

from playground.errors import PlaygroundError
from playground.models import borrowed, hub, known, pickled, timm_models, zoo
from playground.models.timm_models import WEIGHTS
from playground.vit import VisionTransformer

HUB, FOLDER = "hf-hub:", "local-dir:"  # as timm writes them
ON_THE_HUB = re.compile(r"\w[\w.-]*/[\w.-]+(@[\w.-]+)?", re.ASCII)
PICKLED_WEIGHTS = "pytorch_model.bin"
ALSO_HERE = {"facebook/dinov2-small": "dinov2-small"}  # the same weights, which this playground borrows elsewhere


def load(
    model: str | os.PathLike[str] | nn.Module,
    *,
    pretrained: bool = True,
    weights: str | os.PathLike[str] | None = None,
    device: str | torch.device | None = None,
    seed: int = 0,
    offline: bool = False,
) -> VisionTransformer:
    """A ViT in evaluation mode. `model` is one of these:

    - a name: "bundled", "bundled-taught", "untrained", "dinov2-small", "ViT-B/16", or one of timm's;
    - a file of weights: .safetensors, or .pth and the like, which torch reads without running anything in it;
    - a folder that `transformers` or timm's save_for_hf wrote, or "local-dir:FOLDER";
    - a repository on the Hugging Face hub: "facebook/dinov2-small", "hf-hub:timm/vit_small_patch16_224.dino";
    - a model of timm or of `transformers` itself, whose device and dtype are kept.

    `pretrained=False` gives the architecture with random weights (`seed` chooses them) and `weights` takes them from a
    file; neither touches the network. A model of timm may have been changed before it was trained: classes, input size,
    pooling, prefix tokens, depth and width are told by the file. `offline=True` takes published weights only from this
    machine. Without a `device`, the best there is.

    >>> playground.load("ViT-S/16", seed=1).config.heads
    6
    """
    if isinstance(model, nn.Module):
        return _of_object(model, pretrained, weights, device)
    vit = _load(model, pretrained, weights, device, seed, offline)
    again = not seed and (pretrained or weights is not None)
    known.remember(vit, (os.fspath(model), None if weights is None else os.fspath(weights)) if again else None)
    return vit


def _load(model: object, pretrained: bool, weights, device, seed: int, offline: bool) -> VisionTransformer:
    if not isinstance(model, str | os.PathLike):
        raise PlaygroundError(
            f"load takes a model's name, such as 'dinov2-small', a file, a folder or a model; given was "
            f"{type(model).__name__}."
        )
    name = os.fspath(model)
    if weights is not None and _is_pickled(Path(weights)):
        with _readable(Path(weights)) as made:
            return zoo.load(name, weights=made, device=device)
    place = _place(name)
    if name and (place.is_dir() or name.startswith(FOLDER)):
        vit = _from_folder(place)
    elif _is_pickled(place):
        vit = _from_pickled(place)
    elif repository(name):
        vit = _from_hub(name.removeprefix(HUB), pretrained, seed, offline)
    else:
        return zoo.load(name, pretrained=pretrained, weights=weights, device=device, seed=seed, offline=offline)
    if weights is not None:
        zoo.fill_from(vit, weights)
    return zoo.placed(vit, device)


def repository(name: str) -> bool:
    """Whether this is a repository's name on the hub."""
    return ON_THE_HUB.fullmatch(name.removeprefix(HUB)) is not None and not name.startswith("ViT-")


def _of_object(
    model: nn.Module, pretrained: bool, weights: object, device: str | torch.device | None
) -> VisionTransformer:
    from playground.models.in_memory import from_object

    if not pretrained or weights is not None:
        raise PlaygroundError("A model that is given itself has weights: leave pretrained= and weights= out.")
    vit = from_object(model)
    return vit if device is None else zoo.placed(vit, device)


# Files and folders ----------------------------------------------------------------------------------------------------


def _place(name: str) -> Path:
    """The file or folder that a name may be."""
    place = Path(name.removeprefix(FOLDER)).expanduser()
    try:
        place.stat()
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:  # longer than a name can be, a byte that no name has, a folder of others
        why = getattr(error, "strerror", None) or error
        raise PlaygroundError(f"There is no model called {name[:60]!r}: as a file it can't be read ({why}).") from None
    return place


def _is_pickled(path: Path) -> bool:
    """Whether it is a file of torch's; PlaygroundError if it is called so and is none."""
    if path.suffix not in pickled.SUFFIXES or pickled.is_pickled(path):
        return path.suffix in pickled.SUFFIXES
    raise PlaygroundError(
        f"{path} is no file of weights that torch wrote." if path.exists() else f"There is no file {path}."
    )


def _from_folder(folder: Path) -> VisionTransformer:
    if not folder.is_dir():
        raise PlaygroundError(f"There is no folder {folder}.")
    if (folder / WEIGHTS).is_file():
        return zoo.from_file(folder / WEIGHTS, folder)
    if (folder / PICKLED_WEIGHTS).is_file():
        return _from_pickled(folder / PICKLED_WEIGHTS)
    if list(folder.glob("*.index.json")):
        raise PlaygroundError(
            f"The weights in {folder} lie in several files: save them as one, by "
            "model.save_pretrained(folder, max_shard_size='100GB')."
        )
    here = sorted(file for file in folder.iterdir() if file.suffix in (".safetensors", *pickled.SUFFIXES))
    if len(here) != 1:
        found = f"; give one of its files: {', '.join(file.name for file in here[:5])}" if here else ""
        raise PlaygroundError(f"{folder} holds no {WEIGHTS} and no {PICKLED_WEIGHTS}{found}.")
    return _from_pickled(here[0]) if pickled.is_pickled(here[0]) else zoo.from_file(here[0], folder)


def _from_pickled(path: Path) -> VisionTransformer:
    with _readable(path) as made:
        vit = zoo.from_file(made, path.parent)
    vit.name = path.parent.resolve().name if path.name == PICKLED_WEIGHTS else path.name.split(".")[0]
    return vit


@contextmanager
def _readable(path: Path) -> Iterator[Path]:
    """A safetensors file of it; sentences about that are about the file that was given."""
    with pickled.as_safetensors(path) as made:
        try:
            yield made
        except PlaygroundError as error:
            raise PlaygroundError(str(error).replace(str(made), str(path))) from None


# The hub --------------------------------------------------------------------------------------------------------------


def _from_hub(repository: str, pretrained: bool, seed: int, offline: bool) -> VisionTransformer:
    """Of timm by its own name; of others the folder in the hub's cache, fetched once."""
    account, _, name = repository.partition("/")
    if account == "timm":
        return zoo.load(name.split("@")[0], pretrained=pretrained, device="cpu", seed=seed, offline=offline)
    if not pretrained:
        raise PlaygroundError(f"{repository} is a repository of weights: pretrained=False would leave nothing of it.")
    here = borrowed.hub_weights(repository.split("@")[0]) if "@" not in repository else None
    if here is None and repository in ALSO_HERE and borrowed.is_here(ALSO_HERE[repository]):
        vit = zoo.load(ALSO_HERE[repository], device="cpu")
    else:
        here = here or _fetched(repository, offline or borrowed.asked_offline())
        vit = _from_pickled(here) if here.name == PICKLED_WEIGHTS else zoo.from_file(here, here.parent)
    vit.name = repository
    return vit


def _fetched(repository: str, offline: bool) -> Path:
    from huggingface_hub import hf_hub_download

    if not offline:
        hub.check(repository)
    name, _, revision = repository.partition("@")
    problem: Exception | None = None
    for file in (WEIGHTS, PICKLED_WEIGHTS):
        try:
            path = hf_hub_download(name, file, revision=revision or None, local_files_only=offline)
            for beside in ("config.json", "preprocessor_config.json"):
                with suppress(Exception):  # not every repository has both
                    hf_hub_download(name, beside, revision=revision or None, local_files_only=offline)
            return Path(path)
        except Exception as error:  # the hub's library and its client each raise exceptions of their own
            problem = problem or error
    raise timm_models.unreachable(repository, problem or OSError("nothing there"))
