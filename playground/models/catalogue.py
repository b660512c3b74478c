"""Implements the commands `models` and `download`. Modules that import torch are imported only when needed: `make run`
calls `download` at every start, and mostly there is nothing to download."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from playground.assets import OFFERS, SHIPPED_MODELS
from playground.errors import PlaygroundError
from playground.models import borrowed
from playground.models.hub import bar

if TYPE_CHECKING:
    from playground.vit import Config


@cache
def short_list() -> dict[str, dict[str, Any]]:
    """The models that are listed first, each with the facts that people read before a download, and what it is good
    for. They lie in a file because importing timm to list them would take seconds."""
    return json.loads(OFFERS.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Offer:
    name: str
    config: Config
    megabytes: float  # size of the download
    licence: str

    @property
    def good_for(self) -> str:
        return short_list().get(self.name, {}).get("good_for", "")


def card(name: str) -> Offer | None:
    """The facts to show about a model before it is downloaded; None if it can't be loaded."""
    import torch

    from playground.models import timm_models

    if name == "dinov2-small":
        dinov2 = borrowed.DINOV2
        return Offer(name, timm_models.DINOV2_SMALL, borrowed.PACKAGE_BYTES[dinov2.package] / 1e6, dinov2.licence)
    import timm

    with torch.device("meta"):
        model: Any = timm.create_model(name)
    if timm_models.why_not(model):
        return None
    megabytes = sum(p.numel() for p in model.parameters()) * 4 / 1e6
    licence = model.pretrained_cfg.get("license") or "not stated"
    return Offer(name, timm_models.read_config(model, name), megabytes, licence)


def list_models(pattern: str | None) -> None:
    """Prints the short list, or all of timm's models that match the pattern and can be loaded."""
    from playground.models import timm_models

    names = list(short_list()) if pattern is None else timm_models.matching_names(pattern)
    progress = tqdm(names, desc="looking", unit="model", leave=False, disable=not sys.stderr.isatty())
    cards = [entry for name in progress if (entry := card(name))]
    if not cards:
        raise PlaygroundError(f"No model that loads is called {pattern!r}; try a part of a name, such as dino.")
    if pattern is None:
        for name, file in SHIPPED_MODELS.items():
            print(f"{name:50} ships with the playground{'' if file.exists() else ' (not in this copy)'}")
        print(f"{'untrained':50} a small one with random weights")
        print(f"{'ViT-Ti/16, -S/16, -B/16, -L/16, -H/14':50} the paper's architectures, with random weights\n")
    print(f"{'name':50} layers heads patch   input     MB  {'licence':30} good for")
    for entry in cards:
        c, side = entry.config, f"{entry.config.image_size[0]}²"
        is_borrowed = entry.name in borrowed.GROUPS
        here = borrowed.is_here(entry.name) if is_borrowed else borrowed.hub_weights(f"timm/{entry.name}")
        sizes = f"{c.depth:6} {c.heads:5} {c.patch_size:5} {side:>7} {entry.megabytes:6,.0f}"
        place = "on this machine" if here else "to fetch"
        print(f"{entry.name:50} {sizes}  {entry.licence:14} {place:15} {entry.good_for}".rstrip())
    if pattern is None:
        print("\nEvery other plain ViT of timm loads as well; to list them all, give the pattern '*'.")


def download(names: list[str]) -> None:
    from_hub = [name for name in names if name not in borrowed.GROUPS and name != "cifar-10"]
    if from_hub:
        from playground.models import loading, timm_models

        for name in from_hub:  # a wrong name is refused before anything is downloaded
            if not loading.repository(name):
                timm_models.timm_config(name)
    for i, name in enumerate(names, start=1):
        print(f"[{i}/{len(names)}] {name}", file=sys.stderr)
        if name in from_hub:
            loading.load(name, device="cpu")  # fetches it, and finds out at once whether it works
        elif name == "cifar-10":
            borrowed.fetch_cifar()
        else:
            fetch(name)
        print(f"on this machine: {name}")


def fetch(name: str, report: type | None = None, offline: bool = False) -> None:
    """Fetches what is not on this machine, or with `offline=True` raises. `report` is a class like tqdm."""
    if name in borrowed.GROUPS:
        return borrowed.fetch(borrowed.GROUPS[name], report or bar(), offline)
    from playground.models import timm_models

    timm_models.check_name(name)
    timm_models.hub_file(name, offline, report)
