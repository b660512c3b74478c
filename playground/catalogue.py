"""What the commands `models` and `download` do: list what loads, and fetch weights ahead of time."""

from __future__ import annotations

import sys

from tqdm import tqdm

from playground import borrowed, zoo
from playground.errors import PlaygroundError


def list_models(pattern: str | None) -> None:
    """The short list, or every name of timm that fits the pattern and loads."""
    names = list(zoo.CURATED) if pattern is None else zoo.matching(pattern)
    looking = tqdm(names, desc="looking", unit="model", leave=False, disable=not sys.stderr.isatty())
    cards = [card for name in looking if (card := zoo.card(name))]
    if not cards:
        raise PlaygroundError(f"No model that loads is called {pattern!r}; try a part of a name, such as dino.")
    if pattern is None:
        print(f"{'bundled':50} ships with the playground" + ("" if zoo.BUNDLED.exists() else " (not in this copy)"))
        print(f"{'untrained':50} a small one with random weights")
        print(f"{'ViT-Ti/16, -S/16, -B/16, -L/16, -H/14':50} the paper's architectures, with random weights\n")
    print(f"{'name':50} {'layers':>6} {'heads':>5} {'patch':>5} {'input':>7} {'MB':>6}  {'licence':14} good for")
    for card in cards:
        side = f"{card.config.image_size[0]}²"
        print(
            f"{card.name:50} {card.config.depth:6} {card.config.heads:5} {card.config.patch_size:5} {side:>7} "
            f"{card.megabytes:6,.0f}  {card.licence:14} {card.good_for}".rstrip()
        )
    if pattern is None:
        print("\nEvery other plain ViT of timm loads as well; to list them all, give the pattern '*'.")


def download(names: list[str]) -> None:
    for name in set(names) - set(borrowed.GROUPS):
        zoo.timm_config(name)  # all names are checked before the first byte comes
    for i, name in enumerate(names, start=1):
        print(f"[{i}/{len(names)}] {name}", file=sys.stderr)
        zoo.download(name)
        if name != "photographs":
            zoo.load(name, device="cpu")
        print(f"{name} is on this machine")
