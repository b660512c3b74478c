"""Reads the picture, the model and the detail from an address; computes a digest of everything that a trace depends on;
and gives the view in which a picture opens.

Addresses may be hostile. A request that can't be met is refused with a sentence and a status.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from hashlib import sha256

from playground.figures.drawing import view
from playground.models.names import plain_name
from playground.samples import PHOTOGRAPHS, SAMPLES, Look, find, named
from playground.serving import models, pictures, traces
from playground.serving.answering import Refused
from playground.serving.people import Person
from playground.serving.pictures import Picture
from playground.serving.prepared import FINER_GRIDS, model_digest, sample_digest
from playground.serving.traces import Setup
from playground.version import __version__

# The page's address. An unexpected value is dropped, and the page shows its default.

PAGE_PATTERNS = {  # the page's setting -> pattern of its values; for the view's settings see figures/drawing/view.py
    "model": r"[A-Za-z0-9_./-]{1,80}",
    "mine": r"[0-9a-f]{16}",
    "sample": "|".join(re.escape(s.name) for s in (*PHOTOGRAPHS, *SAMPLES)),
    "detail": r"[1-4]",
    "with": r"[A-Za-z0-9_./:-]{1,90}",  # what the picture is compared with: sample:NAME or model:NAME
}


def read_address(address: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Returns the page's settings and the microscope's view that an address holds."""
    return view.with_allowed_values(address, PAGE_PATTERNS), view.allowed_words(address)


def picture_word(picture: Picture) -> dict[str, str]:
    """The word of an address that names the picture."""
    return {"sample": picture.name} if picture.is_sample else {"mine": picture.id}


LONGEST_CUT = 1000  # characters of the cuts' text; figures/drawing/view.py has the same limit
LARGEST_SCALE = 8.0  # the largest scale on the microscope's dial


def read(words: Mapping[str, str], person: Person | None) -> tuple[Picture, Setup]:
    picture = _picture(words, person)
    return picture, _setup_of(words, picture)


def _picture(words: Mapping[str, str], person: Person | None) -> Picture:
    if picture_id := words.get("mine"):
        return own_picture(picture_id, person)
    name = words.get("sample") or first_sample(words.get("model"))
    if find(name) is None:
        raise Refused(f"There is no sample called {name[:60]!r}; choose one in the strip.", 404)
    try:
        return pictures.sample(name)
    except models.PlaygroundError as error:  # the sample's photograph is not on this machine
        raise Refused(str(error), 404) from None


def own_picture(picture_id: str, person: Person | None) -> Picture:
    picture = person and person.pictures.get(picture_id)
    if not picture:
        raise Refused("Your photograph is not on the server any more: it is sent again.", 404, forgotten=picture_id)
    picture.asked_at = time.monotonic()
    return picture


def _setup_of(words: Mapping[str, str], picture: Picture) -> Setup:
    default_setup = usual_setup(picture.sample_name)
    model = words.get("model") or default_setup.model
    check_model(model)
    default_detail = default_setup.detail if model == default_setup.model and "model" not in words else 1
    detail, scale = _detail(words.get("detail"), model, default_detail), _scale(words.get("scale"))
    cut = _cut(words.get("cut"))
    return Setup(model, detail, scale, cut, _other_sample(cut, words.get("with", "")))


def check_model(model: str) -> None:
    try:
        models.check_name(model)
    except models.PlaygroundError as error:
        raise Refused(str(error), 404) from None
    if models.is_here(model):
        return
    if not models.may_fetch(model):
        raise Refused(f"{plain_name(model)} is not on this server, and it fetches no models.", 404)
    card = {"model": model, "title": plain_name(model), "megabytes": models.megabytes(model), "may_fetch": True}
    raise Refused(f"{plain_name(model)} is not on this machine yet.", 404, missing=card)


def _detail(text: str | None, model: str, usual_detail: int) -> int:
    if text is None:
        return usual_detail
    details = models.details(model)
    if text not in map(str, details):
        factors = ", ".join(map(str, details))
        raise Refused(f"{plain_name(model)} has the grids {factors} times as fine as usual; asked was {text[:20]!r}.")
    return int(text)


def _scale(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        scale = 1.0 if text == "off" else float(text)
    except ValueError:
        scale = float("nan")
    if not 0 <= scale <= LARGEST_SCALE:  # also false for NaN
        raise Refused(f"The scale of a pass is off or a number from 0 to {LARGEST_SCALE:g}; asked was {text[:20]!r}.")
    return scale


def _cut(text: str | None) -> tuple[str, ...]:
    """Splits a text into its cuts. The trace checks each of them and says what is wrong."""
    if text and len(text) > LONGEST_CUT:
        raise Refused(f"Cuts are said in at most {LONGEST_CUT:,} letters; these have {len(text):,}.")
    return tuple(text.split(";")) if text else ()


def _other_sample(cut: tuple[str, ...], compared_words: str) -> str:
    """The sample whose values a cut puts into the pass; "" without such a cut. A person's own picture is refused."""
    if not cut:
        return ""
    from playground.tracing import needs_other_picture  # imported late, with torch

    if not any(map(needs_other_picture, cut)):
        return ""
    kind, _, name = compared_words.partition(":")
    if kind != "sample" or find(name) is None:
        raise Refused("What is put into this pass is taken from a sample's: say with=sample:NAME.")
    return name


def compared_pair(words: Mapping[str, str], person: Person | None) -> tuple[Picture, Setup] | None:
    """The compared picture and setup: `with=sample:NAME`, `with=mine:ID` or `with=model:NAME`."""
    if not words.get("with"):
        return None
    kind, _, name = words["with"].partition(":")
    picture, setup = read(words, person)
    if kind == "model":
        check_model(name)
        return picture, Setup(name, setup.detail if name == setup.model else 1)
    if kind in ("sample", "mine") and name:
        return _picture({kind: name}, person), Setup(setup.model, setup.detail)
    raise Refused(f"What is compared is sample:NAME, mine:ID or model:NAME; asked was {words['with'][:60]!r}.")


def number(words: Mapping[str, str], name: str, count: int) -> int:
    """Parses the word `name` as a whole number from 0 to `count` - 1."""
    text = words.get(name, "")
    if not (re.fullmatch("0|[1-9][0-9]{0,4}", text) and int(text) < count):
        raise Refused(f"The {name} is a number from 0 to {count - 1}; asked was {text[:20]!r}.")
    return int(text)


def numbers(words: Mapping[str, str], name: str, count: int) -> list[int]:
    parts = words.get(name, "").split(",")
    if len(parts) > count:
        raise Refused(f"The {name} are at most {count} numbers; asked were {len(parts):,}.")
    singular = name.removesuffix("s")
    return [number({singular: part}, singular, count) for part in dict.fromkeys(parts)]


# What the numbers of a trace depend on --------------------------------------------------------------------------------


def digest(picture: Picture, setup: Setup) -> str:
    """A digest of the inputs of a trace. The computed numbers are left out, because their last digits depend on the
    processor."""
    size = traces.size(picture, setup)
    others = (sample_digest(setup.other_sample),) if setup.other_sample else ()
    picture_digest = sample_digest(picture.name) if picture.is_sample else picture.id
    inputs = (picture_digest, model_digest(setup.model), size, setup.scale, setup.cut, __version__, *others)
    return sha256(repr(inputs).encode()).hexdigest()[:16]


def check_digest(asked_digest: str, picture: Picture, setup: Setup) -> None:
    if asked_digest != digest(picture, setup):
        raise Refused("This page is older than the server: reload it.", 410)


# How a picture opens: the first sample, its model and detail, and its layer and head.
#
# Photographs open in DINOv2 if its weights are on this machine, drawings in our own model, which was trained on
# drawings. A sample that has a pack (see prepared.py) is shown without torch.


def first_sample(model: str | None = None) -> str:
    """The sample that opens first: a photograph, if the model for photographs is on this machine and `model` is none of
    models.OUR_MODELS; else a drawing."""
    if model in models.OUR_MODELS or not models.has_photographs():
        return SAMPLES[0].name
    return next((sample.name for sample in PHOTOGRAPHS if sample.is_here), SAMPLES[0].name)


def usual_setup(sample: str | None) -> Setup:
    """The model and the detail in which a picture opens. None means a person's own picture, treated as a photograph."""
    is_photograph = sample is None or named(sample).kind == "photograph"
    model = models.PHOTOGRAPH_MODEL if is_photograph and models.has_photographs() else models.default()
    return Setup(model, detail(sample, model))


def detail(sample: str | None, model: str) -> int:
    return FINER_GRIDS.get(sample or "", 1) if model == "bundled" else 1


def opening_view(sample: str | None, setup: Setup) -> dict[str, str]:
    """The layer and head at which a sample opens; empty for the microscope's default."""
    look: Look | None = named(sample).look if sample else None
    if look is None or setup.model != look.model or setup.detail != 1:
        return {}
    return {"layer": str(look.layer), "head": str(look.head)}
