"""Models, traces and packs for all sessions of this server, each shelf with a bound in bytes.

torch is imported when the first forward pass asks for it; the samples' packs for the bundled model are files, so that
the first picture waits for neither.
"""

from __future__ import annotations

import io
import json
import logging
import math
import os
import re
import threading
import time
import weakref
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path

from PIL import Image

from playground.assets import BUNDLED, OFFERS
from playground.errors import PlaygroundError
from playground.samples import named
from playground.serving import settings
from playground.serving.cache import Shelf, trim
from playground.serving.prepared import prepared_pack
from playground.serving.turns import Turns
from playground.ui.components import thumbnail
from playground.ui.waiting import Waiting, said

MB = 2**20
SETTINGS = settings.read()
if SETTINGS.offline:
    os.environ["HF_HUB_OFFLINE"] = "1"  # the hub's library reads it when it is imported, which is later
WHOLE_PACK = 12 * MB  # a larger one goes to the browser layer by layer
SHOWN_SIDE = 1024  # the picture in the browser
MOST_PATCHES = 4200  # more than that takes minutes and gigabytes, which everybody would wait for
LONGEST_NAME = 80  # of a model, as in an address

OWN_PACKS = 400 * MB  # of one person's uploads; of all together see the settings

log = logging.getLogger("playground")
_models = Shelf(SETTINGS.model_mb * MB, size=lambda vit: sum(p.numel() for p in vit.parameters()) * 4)
_sample_traces = Shelf(SETTINGS.sample_mb * MB, size=lambda seen: trace_bytes(seen))
_own: weakref.WeakSet[Shelf] = weakref.WeakSet()  # the shelves of all sessions' uploads
_turns = Turns(SETTINGS.at_once)


def turn() -> AbstractContextManager[None]:
    """Whoever computes waits for it: `with engine.turn(): …`. The page says how many come first."""
    return _turns.take(Waiting())


@dataclass(frozen=True)
class Picture:
    """An image that a person chose: a sample, or an upload that lives as long as their session."""

    name: str  # a sample's name, or what the upload's file was called
    sample: bool
    jpeg: bytes  # what the browser shows
    image: Image.Image

    @cached_property
    def thumbnail(self) -> str:
        """As a data URL."""
        return thumbnail(self.image)

    @cached_property
    def id(self) -> str:
        return sha256(self.jpeg).hexdigest()[:16]


@dataclass(frozen=True)
class Wish:
    """What is to be traced, except for the picture."""

    model: str
    detail: int = 1  # how many times finer than native, along each side
    scale: float | None = None  # of the whole forward pass


@cache
def sample(name: str) -> Picture:
    jpeg = named(name).path.read_bytes()
    return Picture(name, True, jpeg, Image.open(io.BytesIO(jpeg)).convert("RGB"))


def upload(data: bytes, name: str) -> Picture:
    """PlaygroundError says what is wrong with a file."""
    from playground.images import open_image

    image = open_image(data)
    shown = image.copy()
    shown.thumbnail((SHOWN_SIDE, SHOWN_SIDE))
    out = io.BytesIO()
    shown.save(out, "JPEG", quality=90)
    image.thumbnail((2 * SHOWN_SIDE, 2 * SHOWN_SIDE))  # no model looks at more
    return Picture(name, False, out.getvalue(), image)


def model(name: str):
    """Names only: a path typed as a model is no name."""
    from playground import zoo

    _may_be_asked_for(name)

    def load():
        _check_size(name)
        return zoo.load(name, device=SETTINGS.device)

    return _models.get(name, load)


def _check_size(name: str) -> None:
    """Of the model and of what it computes, before the first byte of it is asked for."""
    import torch

    from playground import zoo

    with torch.device("meta"):
        vit = zoo.load(name, pretrained=False, device="meta")
    if (patches := math.prod(vit.native_grid)) > MOST_PATCHES:
        raise PlaygroundError(
            f"{name} cuts a picture into {patches:,} patches, and this server looks at {MOST_PATCHES:,} at most: "
            "choose a model with larger patches."
        )
    megabytes = sum(p.numel() for p in vit.parameters()) * 4 / MB
    if megabytes > SETTINGS.model_mb:
        raise PlaygroundError(
            f"{name} takes {megabytes:,.0f} MB, and this server keeps {SETTINGS.model_mb:,} MB for models: "
            "choose a smaller one."
        )


def _may_be_asked_for(name: str) -> None:
    if len(name) > LONGEST_NAME:
        raise PlaygroundError(f"No model has a name of {len(name):,} characters.")
    if name.endswith(".safetensors"):
        raise PlaygroundError("A file of weights is loaded by playground.load(file) in Python, not here.")
    if not SETTINGS.open and name not in ("bundled", "untrained", *offers()):
        raise PlaygroundError(f"This server offers no {name}; choose one of the models in the list.")


def trace(picture: Picture, wish: Wish, own: Shelf):
    """The trace, from the shared shelf for samples and from the session's `own` for uploads."""
    if picture.sample:
        return _sample_traces.get((picture.id, wish), lambda: _run(picture, wish))
    seen = own.get((picture.id, wish), lambda: _run(picture, wish))
    trim(_own, SETTINGS.upload_mb * MB)
    return seen


def own_shelf() -> Shelf:
    shelf = Shelf(OWN_PACKS, size=trace_bytes)
    _own.add(shelf)
    return shelf


def trace_bytes(seen) -> int:
    return sum(3 * layer.q.numel() * 4 for layer in seen.record.values())  # q, k and v


def _run(picture: Picture, wish: Wish):
    import torch

    from playground.images import fit
    from playground.tracing import trace

    vit = model(wish.model)
    c = vit.config
    native = tuple(side * wish.detail for side in c.image_size)
    size = fit(picture.image.size, c.patch_size, native)
    with turn():
        began = time.perf_counter()
        try:
            seen = trace(vit, picture.image, size=size, scale=wish.scale)
        except torch.OutOfMemoryError:  # of a graphics card
            log.warning("out of memory on %s: %s goes on on the CPU", next(vit.parameters()).device, wish.model)
            said("The graphics card's memory is full: this model goes on on the CPU, which takes longer.")
            vit.to("cpu")
            torch.cuda.empty_cache()
            seen = trace(vit, picture.image, size=size, scale=wish.scale)
    log.info("trace model=%s tokens=%d ms=%.0f", wish.model, seen.tokens, (time.perf_counter() - began) * 1e3)
    return seen


def answer(picture: Picture, wish: Wish, own: Shelf) -> bool:
    """What a person chose: as `look`, and a line in the log, which says of the picture only whether it is a sample."""
    began = time.perf_counter()
    complete = look(picture, wish, own)
    ms = (time.perf_counter() - began) * 1e3
    kind = "sample" if picture.sample else "own"
    log.info("answer model=%s picture=%s detail=%d ms=%.0f cache=%s", wish.model, kind, wish.detail, ms, ms < 1)
    return complete


def look(picture: Picture, wish: Wish, own: Shelf) -> bool:
    """Has it traced, unless that was done ahead; gives whether all layers go to the browser at once."""
    if picture.sample and wish == Wish("bundled") and prepared_pack(picture.name):
        return True
    return _is_small(trace(picture, wish, own))


def _is_small(seen) -> bool:
    return trace_bytes(seen) / 3 <= WHOLE_PACK  # q and k at two bytes a number are a third of q, k and v at four


def pack(picture: Picture, wish: Wish, own: Shelf, layer: int | None) -> bytes:
    """The bytes for the browser. Of a large trace it is only `layer`: the others are sent when they are asked for."""
    if picture.sample and wish == Wish("bundled") and (data := prepared_pack(picture.name)):
        return data
    seen = trace(picture, wish, own)
    if _is_small(seen):
        return seen.to_bytes()
    return seen.to_bytes([seen.upper_layer if layer is None else min(seen.layers - 1, layer)])


def layers(picture: Picture, wish: Wish, own: Shelf, wanted: list[int]) -> bytes:
    seen = trace(picture, wish, own)
    return seen.to_bytes([i for i in wanted if 0 <= i < seen.layers] or [0])


@cache
def offers() -> dict[str, dict]:
    """The models of timm that are offered, with what to know before fetching one."""
    known = json.loads(OFFERS.read_text(encoding="utf-8"))
    if SETTINGS.models is None:
        return known
    return {name: known.get(name, {}) for name in SETTINGS.models}


def offer_line(name: str) -> str:
    if name == "bundled":
        return "bundled ViT"
    if name == "untrained":
        return "untrained ViT · random weights"
    fact = offers().get(name)
    if not fact:
        return name
    here = "on this machine" if _is_here(fact["hub"]) else f"{fact['megabytes']} MB"
    return f"{name} · {fact['good_for']} · {here} · {fact['licence']}"


def _is_here(hub: str) -> bool:
    """Whether the hub's cache holds the weights. By hand: asking the hub's library costs half a second of imports."""
    home = Path(os.environ.get("HF_HOME", "~/.cache/huggingface")).expanduser()
    cache = Path(os.environ.get("HF_HUB_CACHE", home / "hub"))
    return any(cache.glob(f"models--{hub.replace('/', '--')}/snapshots/*/model.safetensors"))


def fetch(name: str, report: type | None = None) -> None:
    """Weights come down outside the turn, so that nobody waits for somebody else's network."""
    from playground import zoo

    _may_be_asked_for(name)
    if name not in ("bundled", "untrained") and not re.fullmatch(r"ViT-\w+/\d+", name):
        zoo.timm_config(name)  # says what is wrong with a name before the first byte comes
        _check_size(name)
        zoo.download(name, report)


def has_bundled() -> bool:
    return BUNDLED.exists()


def details(name: str) -> list[int]:
    """By how much this model's grid can be refined, up to about 4,096 patches."""
    if name == "bundled":
        native = 14 * 14  # known without torch
    else:
        rows, columns = model(name).native_grid
        native = rows * columns
    return [d for d in (1, 2, 3, 4) if d == 1 or native * d * d <= MOST_PATCHES]


def warm_up() -> None:
    """Imports torch and loads the bundled model behind the first picture, once that has had time to be painted."""

    def work() -> None:
        import playground.tracing  # noqa: F401

        if has_bundled():
            model("bundled")

    timer = threading.Timer(2.0, work)
    timer.daemon = True
    timer.start()
