"""Decides which models this server allows and offers, fetches their weights and keeps them in memory.

torch is imported when a model is first loaded, so that the first picture does not wait for the import.
"""

from __future__ import annotations

import logging
import math
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from playground.assets import BUNDLED_MODEL, SHIPPED_MODELS
from playground.errors import PlaygroundError
from playground.models import borrowed, catalogue, hub
from playground.models.names import plain_name, training_pictures
from playground.serving import app, effort, own_models, queue, settings
from playground.serving.cache import MB, Cache

if TYPE_CHECKING:
    from playground.models.source import Source
    from playground.vit import VisionTransformer

MOST_PATCHES = 4200  # a pass over more would take minutes and gigabytes while everybody waits
PAPER_NAME = r"ViT-\w+/(\d+)"  # pattern: names of the ViT paper's architectures, which get random weights
PAPER_PATCH_SIDES = range(4, 33)  # pixels along a patch's side: the weights of the patch embedding grow with its square
MOST_RANDOM_MB = 500  # limit for models with random weights: a larger one shows nothing new. ViT-B takes 350
LONGEST_NAME = 80  # characters of a model's name in an address
OUR_MODELS = {
    "bundled": "learned here, from DINOv2's features",
    "bundled-taught": "learned from drawings and their masks",
    "untrained": "what attention is before any training",
}
PHOTOGRAPH_MODEL = "dinov2-small"  # the model for photographs
PATCH_AND_INPUT = {  # patch size and input size of the models that are shown before torch is imported
    "bundled": (8, (112, 112)),
    "bundled-taught": (8, (112, 112)),
    PHOTOGRAPH_MODEL: (14, (392, 392)),  # 28 × 28 patches: crisp, three times as fast as the 37 × 37 of its training
}

log = logging.getLogger("playground")


@app.part
def loaded_models() -> Cache:
    return Cache(settings.now().model_mb * MB, _bytes)


@app.part
def _one_at_a_time() -> threading.Lock:
    return threading.Lock()


def _bytes(vit: VisionTransformer) -> int:
    return sum(p.numel() for p in vit.parameters()) * 4


@app.part
def _files_of_models() -> dict[str, tuple]:
    """Model of the owner's folder -> its files when it was last asked for."""
    return {}


def _drop_if_changed(name: str) -> None:
    """Drops a loaded model whose files the owner has changed, so that it is loaded again."""
    files = own_models.files_of(name)
    if _files_of_models().get(name, files) != files:
        loaded_models().drop_where(lambda key: key == name)
        loaded_models().on_drop(name)
    _files_of_models()[name] = files


def assumption_line(name: str) -> str:
    """A line about what was assumed to load a model of the owner's folder; "" if nothing was."""
    vit = loaded_models().peek(name) if own_models.is_own(name) else None
    return "" if vit is None else own_models.assumption_line(name, vit)


@contextmanager
def _without_folders() -> Iterator[None]:
    """Removes paths from errors that strangers see; the log has them."""
    try:
        yield
    except PlaygroundError as error:
        message = str(error)
        if (public_message := own_models.without_folder(borrowed.without_folders(message))) == message:
            raise
        log.warning("%s", message)
        raise PlaygroundError(public_message) from None


@_without_folders()
def load(name: str) -> VisionTransformer:
    """Loads the model of this name. A file's path is not a name."""
    check_name(name)
    if own_models.is_own(name):
        _drop_if_changed(name)
    return loaded_models().get(name, lambda: _load(name))


def _load(name: str) -> VisionTransformer:
    """Loads one model at a time and evicts others first: two large models would not fit into memory together."""
    from playground.models.source import build, on_device

    with _one_at_a_time():
        source = _resolve(name, offline=settings.now().offline or is_here(name))
        loaded_models().make_room(_check_size(name, source))
        return on_device(build(source), settings.now().device)


def _resolve(name: str, offline: bool) -> Source:
    """Describes the model of this name."""
    from playground.models import model_file, zoo

    if not own_models.is_own(name):
        return zoo.resolve(name, offline=offline)
    own_models.check(name)
    return model_file.from_file(own_models.files()[name])


@_without_folders()
def fetch(name: str, report: type | None = None) -> None:
    """Fetches the weights to this machine, outside the queue of computations."""
    offline = settings.now().offline
    if name not in borrowed.GROUPS:
        check_name(name)
        if name in OUR_MODELS or own_models.is_own(name) or re.fullmatch(PAPER_NAME, name):
            return
        source = _resolve(name, offline)  # raises for a wrong name before the first byte arrives
        if not offline and not is_here(name):
            hub.check(name)
        _check_size(name, source)
    catalogue.fetch(name, report, offline)


def check_name(name: str) -> None:
    if len(name) > LONGEST_NAME:
        raise PlaygroundError(f"No model has a name of {len(name):,} characters.")
    if name.endswith(".safetensors"):
        raise PlaygroundError("A file of weights is loaded by playground.load(file) in Python, not here.")
    if own_models.is_own(name):
        return own_models.check(name)
    if not settings.now().open and name not in {**OUR_MODELS, **offers()}:
        raise PlaygroundError(f"This server offers no {name}; choose one of the models in the list.")
    if (paper := re.fullmatch(PAPER_NAME, name)) and int(paper[1]) not in PAPER_PATCH_SIDES:
        smallest, largest = PAPER_PATCH_SIDES[0], PAPER_PATCH_SIDES[-1]
        raise PlaygroundError(
            f"{name} asks for patches of {int(paper[1]):,} pixels, and this server cuts patches of {smallest} to "
            f"{largest}: choose one such as ViT-S/16."
        )


def _check_size(name: str, source: Source) -> int:
    """Refuses a model that is too large, before a byte of it is fetched. Returns its bytes in memory."""
    from playground.models.source import meta_model

    vit, shown_name = meta_model(source), plain_name(name) if own_models.is_own(name) else name
    if (patch_count := math.prod(vit.native_grid)) > MOST_PATCHES:
        raise PlaygroundError(
            f"{plain_name(name)} cuts a picture into {patch_count:,} patches, and this server looks at "
            f"{MOST_PATCHES:,} at most: choose a model with larger patches."
        )
    megabytes = _bytes(vit) / MB
    is_random = re.fullmatch(PAPER_NAME, name) is not None
    limit = min(settings.now().model_mb, MOST_RANDOM_MB) if is_random else settings.now().model_mb
    if megabytes > limit:
        kind = "models with random weights" if is_random else "models"
        raise PlaygroundError(
            f"{shown_name} takes {megabytes:,.0f} MB, and this server keeps {limit:,} MB for {kind}: choose a smaller "
            "one."
        )
    return _bytes(vit)


def patch_and_input(name: str) -> tuple[int, tuple[int, int]]:
    """(patch size, input size in pixels) of this model by default."""
    if name in PATCH_AND_INPUT:
        return PATCH_AND_INPUT[name]
    c = load(name).config
    return c.patch_size, c.image_size


def details(name: str) -> list[int]:
    """The factors by which this model's grid can be refined along each side: up to MOST_PATCHES patches, and up to
    effort.MOST_SECONDS for a pass."""
    patch_side, (height, width) = patch_and_input(name)
    patch_count = (height // patch_side) * (width // patch_side)
    factors = [d for d in (2, 3, 4) if patch_count * d * d <= MOST_PATCHES]
    if name not in PATCH_AND_INPUT:  # models in PATCH_AND_INPUT are small, and torch may not be imported yet
        vit = load(name)
        factors = [d for d in factors if effort.seconds(vit, patch_count * d * d) <= effort.MOST_SECONDS]
    return [1, *factors]


def check_offered(name: str) -> None:
    """Raises if the operator can't offer a model of this name. Imports torch for a model that is not in our list."""
    check_name(name)
    if name not in OUR_MODELS and name not in catalogue.short_list():
        _check_size(name, _resolve(name, offline=True))


# What is offered ------------------------------------------------------------------------------------------------------


def default() -> str:
    return "bundled" if BUNDLED_MODEL.exists() else "untrained"


def offers() -> dict[str, dict]:
    """timm's models on offer, each with the facts that people read before a download."""
    names = settings.now().models
    return catalogue.short_list() if names is None else {name: catalogue.short_list().get(name, {}) for name in names}


@dataclass(frozen=True)
class Card:
    """A model as the browser's list shows it."""

    name: str
    title: str
    good_for: str
    suits: str  # the kinds of pictures that the model suits; "" for an untrained model
    megabytes: int  # to fetch; 0 for a model that comes with the playground
    licence: str
    here: bool
    assumed: str = ""  # assumptions about a model of the operator


def _card(
    name: str, good_for: str, megabytes: float = 0, licence: str = "MIT", suits: str | None = None, assumed: str = ""
) -> Card:
    suits, licence = training_pictures(name) if suits is None else suits, licence.replace("apache", "Apache")
    return Card(name, plain_name(name), good_for, suits, round(megabytes), licence, is_here(name), assumed)


def cards() -> list[Card]:
    """All models on offer; those on this machine come first."""
    all_cards = [
        _card(name, "of this server's own", own_models.megabytes(file), "", "", assumption_line(name))
        for name, file in own_models.files().items()
    ]
    for name, fact in offers().items():
        all_cards.append(_card(name, fact.get("good_for", ""), fact.get("megabytes", 0), fact.get("licence", "")))
    for name, good_for in OUR_MODELS.items():
        if name not in SHIPPED_MODELS or SHIPPED_MODELS[name].exists():
            all_cards.append(_card(name, good_for, suits=None if name in SHIPPED_MODELS else ""))
    return sorted(all_cards, key=lambda card: (not card.here, card.name == "untrained"))


def search(text: str, limit: int = 12) -> list[Card]:
    """The plain ViTs of timm whose name or title holds these words."""
    from playground.models import timm_models

    words = text.lower().split()
    names = [
        n for n in timm_models.matching_names("*") if all(word in f"{n} {plain_name(n)}".lower() for word in words)
    ]
    cards_found: list[Card] = []
    for name in sorted(names, key=lambda name: (not is_here(name), len(name))):
        if len(cards_found) == limit:
            break
        queue.current().raise_if_left()  # raises if the person has left or typed another letter
        if card := _timm_card(name):  # None for a timm model that can't be loaded
            cards_found.append(_card(name, card.good_for, card.megabytes, card.licence))
    return cards_found


@cache
def _timm_card(name: str) -> catalogue.Offer | None:
    """timm's description of a model, cached: building the network without weights takes tenths of a second."""
    return catalogue.card(name)


def megabytes(name: str) -> int:
    """The size of a model's download in megabytes; 0 if unknown."""
    if name in borrowed.GROUPS:
        packages = {item.package for item in borrowed.GROUPS[name]}
        return round(sum(borrowed.PACKAGE_BYTES[package] for package in packages) / 1e6)
    return catalogue.short_list().get(name, {}).get("megabytes", 0)


def fetched_with(name: str) -> tuple[str, ...]:
    """Names of all that is fetched with this model: the model for photographs comes with the sample photographs."""
    with_photographs = name == PHOTOGRAPH_MODEL and not borrowed.is_here("photographs")
    return (name, "photographs") if with_photographs else (name,)


def may_fetch(name: str) -> bool:
    is_offered = settings.now().open or name in offers()
    return is_offered and not settings.now().offline and not borrowed.asked_offline()


def is_here(name: str) -> bool:
    """Whether the model can be shown without a download."""
    if name in OUR_MODELS or re.fullmatch(PAPER_NAME, name) or name in loaded_models():
        return True
    if own_models.is_own(name):
        return name in own_models.files()
    if name in borrowed.GROUPS and borrowed.is_here(name):
        return True
    return borrowed.hub_weights(catalogue.short_list().get(name, {}).get("hub", f"timm/{name}")) is not None


def naming_model() -> str | None:
    """The smallest model on this machine whose labels name everyday things; None if there is no such model."""
    labelling_models = [card for card in cards() if card.here and offers().get(card.name, {}).get("labels")]
    return min(labelling_models, key=lambda card: card.megabytes).name if labelling_models else None


def has_photographs() -> bool:
    """Whether the sample photographs and their model are here."""
    return (settings.now().open or PHOTOGRAPH_MODEL in offers()) and is_here(PHOTOGRAPH_MODEL)
