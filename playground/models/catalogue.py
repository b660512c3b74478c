"""Implements the commands `models` and `download`, which list the loadable models and download weights ahead of time.

Modules that import torch are imported only when needed: `make run` calls `download` at every start, and mostly there is
nothing to download.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from playground.assets import SHIPPED_MODELS
from playground.errors import PlaygroundError
from playground.models import borrowed
from playground.models.hub import bar

if TYPE_CHECKING:
    from playground.models.source import Source
    from playground.vit import Config

CURATED_MODELS = {  # models that are listed first -> what each is good for
    "dinov2-small": "eyes find eyes: the clearest parts",
    "vit_small_patch14_reg4_dinov2.lvd142m": "clean maps: registers absorb the noise",
    "vit_base_patch14_reg4_dinov2.lvd142m": "the same, larger and sharper",
    "vit_small_patch16_dinov3.lvd1689m": "crisp similarity, positions as rotations",
    "vit_small_patch8_224.dino": "fine maps from very small patches",
    "vit_small_patch16_224.dino": "the DINO paper's class-token maps",
    "deit_small_patch16_224.fb_in1k": "learned from ImageNet-1k's labels only",
    "vit_tiny_patch16_224.augreg_in21k_ft_in1k": "the smallest and quickest classifier",
    "vit_small_patch16_224.augreg_in21k_ft_in1k": "a classifier: predictions without √d_k",
    "vit_base_patch16_224.augreg_in21k_ft_in1k": "the paper's own size, well trained",
    "vit_base_patch16_224.mae": "learned by filling in hidden patches",
    "vit_base_patch16_clip_224.openai": "learned from pictures with their captions",
    "vit_base_patch16_siglip_224.webli": "learned from captions, without class token",
}


@dataclass(frozen=True)
class Card:
    name: str
    config: Config
    megabytes: float  # size of the download
    licence: str
    good_for: str


def card(name: str) -> Card | None:
    """The facts to show about a model before it is downloaded; None if it can't be loaded."""
    import torch

    from playground.models import timm_models

    if name == "dinov2-small":
        return Card(
            name, timm_models.DINOV2_SMALL, borrowed.DINOV2.megabytes, borrowed.DINOV2.licence, CURATED_MODELS[name]
        )
    import timm

    with torch.device("meta"):
        model: Any = timm.create_model(name)
    if timm_models.why_not(model):
        return None
    megabytes = sum(p.numel() for p in model.parameters()) * 4 / 1e6
    licence = model.pretrained_cfg.get("license") or "not stated"
    return Card(name, timm_models.read_config(model, name), megabytes, licence, CURATED_MODELS.get(name, ""))


def list_models(pattern: str | None) -> None:
    """Prints the curated models, or all of timm's that match the pattern and can be loaded."""
    from playground.models import timm_models

    names = list(CURATED_MODELS) if pattern is None else timm_models.matching_names(pattern)
    progress = tqdm(names, desc="looking", unit="model", leave=False, disable=not sys.stderr.isatty())
    cards = [entry for name in progress if (entry := card(name))]
    if not cards:
        raise PlaygroundError(f"No model that loads is called {pattern!r}; try a part of a name, such as dino.")
    if pattern is None:
        for name, file in SHIPPED_MODELS.items():
            kind = ", told where to look" if name == "bundled-taught" else ""
            print(f"{name:50} ships with the playground{kind}" + ("" if file.exists() else " (not in this copy)"))
        print(f"{'untrained':50} a small one with random weights")
        print(f"{'ViT-Ti/16, -S/16, -B/16, -L/16, -H/14':50} the paper's architectures, with random weights\n")
    print(
        f"{'name':50} {'layers':>6} {'heads':>5} {'patch':>5} {'input':>7} {'MB':>6}  {'licence':14} {'':15} good for"
    )
    for entry in cards:
        side = f"{entry.config.image_size[0]}²"
        print(
            f"{entry.name:50} {entry.config.depth:6} {entry.config.heads:5} {entry.config.patch_size:5} {side:>7} "
            f"{entry.megabytes:6,.0f}  {entry.licence:14} {_location_words(entry.name):15} {entry.good_for}".rstrip()
        )
    if pattern is None:
        print("\nEvery other plain ViT of timm loads as well; to list them all, give the pattern '*'.")


def _location_words(name: str) -> str:
    location = borrowed.hub_weights(f"timm/{name}") if name != "dinov2-small" else borrowed.is_here(name)
    return "on this machine" if location else "to fetch"


def download(names: list[str]) -> None:
    sources = _sources([name for name in names if name not in borrowed.GROUPS])  # before anything is downloaded
    for i, name in enumerate(names, start=1):
        print(f"[{i}/{len(names)}] {name}", file=sys.stderr)
        if name in borrowed.GROUPS:
            fetch(name, bar())
        else:
            _from_the_hub(name, sources.get(name))
        print(f"on this machine: {name}")


def fetch(name: str, report: type | None = None, offline: bool = False) -> None:
    """Fetches the weights and files of a name that are not on this machine. `report` is a class like tqdm, for the
    progress bar. With `offline=True` nothing is fetched, and missing files raise an error."""
    if name in borrowed.GROUPS:
        return borrowed.fetch(borrowed.GROUPS[name], report or bar(), offline)
    from playground.models import timm_models

    timm_models.check_name(name)
    timm_models.hub_file(name, offline, report)


def _sources(names: list[str]) -> dict[str, Source]:
    """{name: Source}. A repository of the hub can only be judged by its files, so these files are fetched."""
    if not names:
        return {}
    from playground.models import loading, timm_models, zoo

    timm_names = [name for name in names if not loading.repository(name)]
    for name in timm_names:
        timm_models.check_name(name)
    return {name: zoo.resolve(name) for name in timm_names}


def _from_the_hub(name: str, source: Source | None) -> None:
    """Fetches a model from the hub and loads it at once, to find out whether it works."""
    from playground.models.loading import load
    from playground.models.source import build

    if source is None:
        load(name, device="cpu")
    else:
        fetch(name, bar())
        build(source)
