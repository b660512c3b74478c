"""Reads the words of an address as a Spec of a figure.

The words of the view are those of the microscope's address (figures/drawing/view.py). The words of the look are names
of a Spec's fields (figures/drawing/spec.py). Other words are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

from playground.figures import command_line, layouts
from playground.figures.drawing.spec import POOLINGS, Spec, read_query
from playground.figures.drawing.view import FIGURE_CHOICES, VIEW_CHOICES, as_in_address
from playground.figures.drawing.ways import FIRST_WAY
from playground.figures.layouts.compare import NOTHING_TO_COMPARE
from playground.serving import chosen, models, own_models, traces
from playground.serving.answering import Refused
from playground.serving.people import Person
from playground.serving.pictures import Picture
from playground.serving.traces import Setup

SUBJECT_WORDS = ("sample", "mine", "model", "detail", "with")  # words of picture and model, which chosen.py reads
UNSETTABLE = (  # fields that an address can't set
    "model", "weights", "size", "other_image", "other_model", "view", "rows", "columns",
)  # fmt: skip
LOOK_FIELDS = tuple(
    name
    for name in command_line.FLAGS
    if name not in UNSETTABLE and name not in {choice.field for choice in FIGURE_CHOICES}
)
SHARED_COLOURS = ("shared", "own")  # `colours` of a view: how its maps share an exposure. A figure's is a colour map
# words of the view that no field of a Spec holds
SCREEN_WORDS = tuple(choice.key for choice in VIEW_CHOICES if not choice.field)
LONGEST_VALUE = 200  # most characters of a word's value
MOST_DOTS = 5000  # most dots across
FIELD_DEFAULTS = {field.name: field.default for field in fields(Spec)}
CHOICES_OF_VIEW = {choice.key: choice for choice in VIEW_CHOICES}
WORD_OF_FIELD = {choice.field: choice.key for choice in FIGURE_CHOICES}  # field of Spec -> word of the address


@dataclass(frozen=True)
class FigureSubject:
    """A picture in a model, and possibly another picture or model for a comparison."""

    picture: Picture
    setup: Setup
    compared: tuple[Picture, Setup] | None = None

    @property
    def pairs(self) -> list[tuple[Picture, Setup]]:
        return [(self.picture, self.setup), *([] if self.compared is None else [self.compared])]

    @property
    def is_private(self) -> bool:
        return not all(picture.is_sample for picture, _ in self.pairs)


def read(words: Mapping[str, str], kind: str, person: Person | None) -> tuple[FigureSubject, Spec]:
    """Reads the shown picture and model, and the Spec of a figure about them in a file of this kind."""
    check_lengths(words)
    look_values = {name: _field_value(name, words[name]) for name in LOOK_FIELDS if name in words}
    if words.get("colours") in SHARED_COLOURS:
        del look_values["colours"]
    layout = look_values.pop("layout", FIELD_DEFAULTS["layout"])
    subject, view = figure_subject(words, person), view_of(words)
    spec = description(subject, view, layout, **look_values)
    if kind == "html":
        screen_view = urlencode({key: view[key] for key in SCREEN_WORDS if key in view})
        spec = replace(spec, view=screen_view)
    _check(spec, kind)
    return subject, spec


def _check(spec: Spec, kind: str) -> None:
    if kind == "html":
        from playground.figures import html

        return html.check(spec)
    layout = layouts.of(spec)
    layout.check(spec)
    if layout.beside == "many":
        raise Refused("A grid may be of many pictures and models: the command makes it on your own machine.")
    width_dots = spec.paper.width * spec.dots
    if width_dots > MOST_DOTS:
        raise Refused(
            f"This would be {width_dots:,.0f} dots across, and this server draws {MOST_DOTS:,} at most: the command "
            "makes larger ones on your own machine."
        )
    if layout.beside == "other" and spec.other_image is None and spec.other_model is None:
        raise Refused(f"{NOTHING_TO_COMPARE[:-1]}: with=sample:NAME or with=model:NAME.")


def check_lengths(words: Mapping[str, str]) -> None:
    for name, value in words.items():
        if len(value) > LONGEST_VALUE:
            raise Refused(f"{name[:60]} has {len(value):,} letters; {LONGEST_VALUE} are enough for every figure.")


def figure_subject(words: Mapping[str, str], person: Person | None) -> FigureSubject:
    # `scale` is left out: in a figure's address it belongs to the view
    place_words = {key: words[key] for key in SUBJECT_WORDS if key in words}
    return FigureSubject(*chosen.read(place_words, person), chosen.compared_pair(place_words, person))


def known(words: Mapping[str, str]) -> dict[str, str]:
    """The words that say which picture and view a figure shows."""
    return {key: words[key] for key in (*SUBJECT_WORDS, *CHOICES_OF_VIEW) if key in words}


def view_of(words: Mapping[str, str]) -> dict[str, str]:
    """The view that these words describe. An impossible value is refused."""
    view = {key: words[key] for key in CHOICES_OF_VIEW if key in words}
    for key, value in view.items():
        choice = CHOICES_OF_VIEW[key]
        is_pooled, is_colour_map = key == "head" and value in POOLINGS, key == "colours"
        if not (re.fullmatch(choice.text, value, re.ASCII) or is_pooled or is_colour_map):
            options = (True, False) if isinstance(choice.default, bool) else choice.options
            allowed = ", ".join(map(as_in_address, options)) or choice.text
            raise Refused(f"{key} can't be {value!r}: {allowed}.")
    return view


def _field_value(name: str, text: str) -> Any:
    """Parses the value of a Spec's field. The Spec itself says which values are allowed."""
    is_switch = isinstance(FIELD_DEFAULTS[name], bool)
    try:
        return {"true": True, "false": False}[text] if is_switch else int(text) if name == "dpi" else text
    except (KeyError, ValueError):
        raise Refused(f"{name} is {'true or false' if is_switch else 'a number'}; given was {text!r}.") from None


# A description --------------------------------------------------------------------------------------------------------


def description(subject: FigureSubject, view: Mapping[str, str], layout: str = "head", **look: Any) -> Spec:
    """The Spec of what a view shows."""
    if not {"layer", "head"} & view.keys():
        view = {**view, **chosen.opening_view(subject.picture.sample_name, subject.setup)}
    compares = layouts.of(Spec(layout=layout)).beside == "other" or Spec(cut=view.get("cut", "")).takes_another
    # whether the command would take this size by default
    is_usual_size = subject.setup.detail == 1 and subject.setup.model != models.PHOTOGRAPH_MODEL
    head = view.get("head", "0")
    return Spec(
        image=subject.picture.name,
        repeatable=all(picture.is_found for picture, _ in subject.pairs),
        layout=layout,
        model=subject.setup.model,
        size=None if is_usual_size else traces.size(subject.picture, subject.setup),
        layer=int(view["layer"]) if "layer" in view else None,
        head=head if head in POOLINGS else int(head),
        query=read_query(view.get("query")),
        scale=view.get("scale", "on"),
        whole=view.get("pass") == "whole" and view.get("scale", "on") != "on",
        cut=view.get("cut", ""),
        label=view.get("label", ""),
        text=view.get("text", ""),
        blank=view.get("blank", "mean"),
        what=view.get("what", FIRST_WAY),
        direction=view.get("direction", "row"),
        ceiling=None if view.get("ceiling", "auto") == "auto" else float(view["ceiling"]),
        **(_compared_names(subject.picture, subject.setup, *subject.compared) if compares and subject.compared else {}),
        **look,
    )


def _compared_names(picture: Picture, setup: Setup, other: Picture, other_setup: Setup) -> dict[str, Any]:
    return {
        "other_image": None if other.id == picture.id else other.name,
        "other_model": None if other_setup.model == setup.model else other_setup.model,
    }


def as_typed(spec: Spec) -> Spec:
    """The Spec with file names in place of the names of own models, because the command is typed in the operator's
    folder."""
    model, other_model = own_models.name_in_folder(spec.model), own_models.name_in_folder(spec.other_model)
    return replace(spec, model=model or spec.model, other_model=other_model)
