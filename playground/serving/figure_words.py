"""Reads the words of an address as a Spec of a figure, and writes a Spec as words.

The words of the view are those of the microscope's address (figures/drawing/view.py). The words of the look are names
of a Spec's fields (figures/drawing/spec.py). A word is refused if the command line would refuse the flag of this name.
"""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from urllib.parse import parse_qsl, urlencode

from playground.figures import command_line, layouts
from playground.figures.command_line import unused_reasons
from playground.figures.drawing import option_words
from playground.figures.drawing.option_words import Words
from playground.figures.drawing.spec import NOTHING_TO_COMPARE, POOLINGS, Spec, query_words
from playground.figures.drawing.view import FIGURE_CHOICES, VIEW_CHOICES, as_in_address
from playground.figures.drawing.ways import FIRST_WAY
from playground.figures.layouts import Layout
from playground.serving import chosen, models, own_models, traces
from playground.serving.answering import Refused
from playground.serving.people import Person
from playground.serving.pictures import Picture
from playground.serving.traces import Setup

SUBJECT_WORDS = ("sample", "mine", "model", "detail", "with")  # words of picture and model, which chosen.py reads
UNSETTABLE = ("model", "weights", "size", "other_image", "other_model", "view")  # fields that an address can't set
LOOK_FIELDS = tuple(
    name
    for name in command_line.FLAGS
    if name not in UNSETTABLE and name not in {choice.field for choice in FIGURE_CHOICES}
)
HELD_LAYERS = {"all": "all layers", "layer": "this layer"}  # value of the word `held` -> layers in an interactive file
# words of the view that no field of a Spec holds
SCREEN_WORDS = tuple(choice.key for choice in VIEW_CHOICES if not choice.field)
INTERACTIVE_WORDS = ("locked", "grid")  # words of the view that only an interactive figure has
SWEEP_TITLES = {"layers": "through the layers", "scale": "the scale taken away"}
LONGEST_VALUE = 200  # most characters of a word's value
MOST_DOTS, MOST_MOVING_DOTS = 5000, 1920  # most dots across: in a still; in an animation, whose frames take memory
FIELD_DEFAULTS = {field.name: field.default for field in fields(Spec)}
VIEW_CHOICES = {choice.key: choice for choice in VIEW_CHOICES}
WORD_OF_FIELD = {choice.field: choice.key for choice in FIGURE_CHOICES}  # field of Spec -> word of the address
ADDRESS_NAMES = Words(
    lambda option: WORD_OF_FIELD.get(option, option),
    lambda key, value: f"{key}={value.lower() if value in ('True', 'False') else value}",
    {
        "size": "detail", "whole": "pass=whole", "other_image": "with=sample:NAME", "other_model": "with=model:NAME",
    },
)  # fmt: skip


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
    check_names(words, (*SUBJECT_WORDS, *VIEW_CHOICES, *LOOK_FIELDS, "held"))
    look_values = {name: _field_value(name, words[name]) for name in LOOK_FIELDS if name in words}
    layout = _layout(look_values.get("layout", FIELD_DEFAULTS["layout"]))
    if not layout.of_pictures and (
        unusable := next((name for name in (*SUBJECT_WORDS, *VIEW_CHOICES) if name in words), None)
    ):
        raise Refused(f"The layout {layout.name} shows random rows: it takes no picture. Leave {unusable} out.")
    subject, view = figure_subject(words, person), view_of(words)
    spec = description(subject, view, **look_values)
    spec = replace(spec, view=urlencode({key: view[key] for key in SCREEN_WORDS if key in view}))
    if layout.of_pictures:  # `description`, which Export uses too, adapts these two fields to the layout
        spec = replace(spec, whole=view.get("pass") == "whole", colours=view.get("colours", "shared"))
    if subject.compared is not None:
        spec = replace(spec, **_compared_names(subject))
    if kind == "html":
        spec = replace(spec, layers=_held_axis(words.get("held", "layer")))
    elif "held" in words:
        raise Refused("held belongs to an .html: leave it out.")
    _check(spec, kind, {**view, **look_values})
    return subject, spec


def _check(spec: Spec, kind: str, words: Mapping[str, str]) -> None:
    """Refuses a Spec as figures/batch.py does for flags."""
    if kind == "html":
        from playground.figures import html

        return html.check(spec)
    if spec.sweep and kind != "webp":
        raise Refused("A sweep is made as a .webp: ask for figure.webp, or leave sweep out.")
    if kind == "webp" and not spec.sweep:
        raise Refused("A .webp moves: add sweep=layers or sweep=scale, or ask for figure.png.")
    if spec.sweep and spec.sweep not in SWEEP_TITLES:
        raise Refused(f"What moves here goes through {' or '.join(SWEEP_TITLES)}; the command makes other sweeps.")
    layouts.of(spec).check(spec)
    width_dots, limit = spec.made_for.width * spec.dots, MOST_MOVING_DOTS if spec.sweep else MOST_DOTS
    if width_dots > limit:
        raise Refused(
            f"This would be {width_dots:,.0f} dots across, and this server draws {limit:,} at most: the command makes "
            "larger ones on your own machine."
        )
    if layouts.of(spec).beside(spec) == "other" and spec.other_image is None and spec.other_model is None:
        raise Refused(ADDRESS_NAMES.put_into(NOTHING_TO_COMPARE))
    given_fields = {VIEW_CHOICES[key].field or "view" if key in VIEW_CHOICES else key for key in words}
    for name, reason in unused_reasons(spec, f".{kind}").items():
        is_compared_name = name in ("other_image", "other_model")
        if (name in given_fields or is_compared_name) and getattr(spec, name) != FIELD_DEFAULTS[name]:
            raise Refused(f"{word(spec, name)} would change nothing here: {ADDRESS_NAMES.put_into(reason)}.")


def word(spec: Spec, name: str) -> str:
    """The word of an address for this field."""
    if name == "view":
        return ", ".join(dict(parse_qsl(spec.view)))
    if name in ("other_image", "other_model"):
        return "with"
    return format(ADDRESS_NAMES[name])


def check_names(words: Mapping[str, str], valid_words: tuple[str, ...]) -> None:
    for name in words:
        if name not in valid_words:
            similar = difflib.get_close_matches(name[:LONGEST_VALUE], valid_words, n=1, cutoff=0.5)
            advice = f"did you mean {similar[0]}?" if similar else f"there are {', '.join(dict.fromkeys(valid_words))}."
            raise Refused(f"A figure knows no word {name[:60]!r}; {advice}")
        if len(words[name]) > LONGEST_VALUE:
            raise Refused(f"{name} has {len(words[name]):,} letters; {LONGEST_VALUE} are enough for every figure.")


def figure_subject(words: Mapping[str, str], person: Person | None) -> FigureSubject:
    # `scale` is left out: in a figure's address it belongs to the view
    place_words = {key: words[key] for key in SUBJECT_WORDS if key in words}
    return FigureSubject(*chosen.read(place_words, person), chosen.compared_pair(place_words, person))


def view_of(words: Mapping[str, str]) -> dict[str, str]:
    """The view that these words describe. An impossible value is refused."""
    view = {key: words[key] for key in VIEW_CHOICES if key in words}
    for key, value in view.items():
        choice = VIEW_CHOICES[key]
        if re.fullmatch(choice.text, value, re.ASCII) or (key == "head" and value in POOLINGS):
            continue
        options = (True, False) if isinstance(choice.default, bool) else choice.options
        allowed = ", ".join(map(as_in_address, options)) or ADDRESS_NAMES.put_into(choice.help) or choice.text
        raise Refused(f"{key} can't be {value!r}: {allowed}.")
    return view


def _field_value(name: str, text: str) -> object:
    """Parses the value of a Spec's field. The Spec itself says which values are allowed."""
    default = FIELD_DEFAULTS[name]
    try:
        if isinstance(default, bool) or name in command_line.TRISTATE_FIELDS:
            return {"true": True, "false": False}[text]
        if name == "width":
            return option_words.read_length(text)
        return {"dpi": int, "mass": float}.get(name, str)(text)
    except argparse.ArgumentTypeError as error:
        raise Refused(f"{error}.") from None
    except (KeyError, ValueError):
        kind = "true or false" if isinstance(default, bool) or name in command_line.TRISTATE_FIELDS else "a number"
        raise Refused(f"{name} is {kind}; given was {text!r}.") from None


def _held_axis(text: str) -> str | None:
    if text not in HELD_LAYERS:
        raise Refused(f"held is {' or '.join(HELD_LAYERS)}; given was {text!r}.")
    return "all" if text == "all" else None


# A description --------------------------------------------------------------------------------------------------------


def description(subject: FigureSubject, view: Mapping[str, str], layout: str = "head", **look) -> Spec:
    """The Spec of what a view shows."""
    layout_record = _layout(layout)
    if not layout_record.of_pictures:
        return Spec(layout=layout, **look)
    if not {"layer", "head"} & view.keys():
        view = {**view, **chosen.opening_view(subject.picture.sample_name, subject.setup)}
    compares = "other_image" in layout_record.uses or Spec(cut=view.get("cut", "")).takes_another
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
        query=option_words.read_query(view.get("query")),
        scale=view.get("scale", "on"),
        whole=view.get("pass") == "whole" and (layout_record.alters_scale or view.get("scale", "on") != "on"),
        cut=view.get("cut", ""),
        label=view.get("label", ""),
        text=view.get("text", ""),
        blank=view.get("blank", "mean"),
        typical=view.get("typical") == "true",
        what=view.get("what", FIRST_WAY),
        direction=view.get("direction", "row"),
        kernel=int(view.get("k", 3)),
        depth=view.get("depth", "follow"),
        draw=view.get("draw", "heat"),
        # a comparison shares its colours, as on the screen
        colours="shared" if "other_image" in layout_record.uses else view.get("colours", "shared"),
        ceiling=None if view.get("ceiling", "auto") == "auto" else float(view["ceiling"]),
        log=True if view.get("log") == "true" else None,
        smooth=view.get("smooth") == "true",
        **(_compared_names(subject) if compares and subject.compared is not None else {}),
        **look,
    )


def _layout(name: str) -> Layout:
    return layouts.of(Spec(layout=name))


def _compared_names(subject: FigureSubject) -> dict[str, str | None]:
    picture, setup = subject.compared
    return {
        "other_image": None if picture.id == subject.picture.id else picture.name,
        "other_model": None if setup.model == subject.setup.model else setup.model,
    }


def as_typed(spec: Spec) -> Spec:
    """The Spec with file names in place of the names of own models, because the command is typed in the operator's
    folder."""
    return replace(
        spec, model=own_models.name_in_folder(spec.model), other_model=own_models.name_in_folder(spec.other_model)
    )


# From a Spec to words -------------------------------------------------------------------------------------------------


def address_words(subject: FigureSubject, compares: bool) -> dict[str, str]:
    words = {"sample" if subject.picture.is_sample else "mine": _name(subject.picture), "model": subject.setup.model}
    if subject.setup.detail > 1:
        words["detail"] = str(subject.setup.detail)
    if compares and subject.compared is not None:
        picture, setup = subject.compared
        same_picture = picture.id == subject.picture.id
        compared_word = (
            f"model:{setup.model}" if same_picture else f"{'sample' if picture.is_sample else 'mine'}:{_name(picture)}"
        )
        words["with"] = compared_word
    return words


def _name(picture: Picture) -> str:
    return picture.name if picture.is_sample else picture.id


def words_of(subject: FigureSubject, spec: Spec, kind: str) -> dict[str, str]:
    """The words from which `read` makes this figure, without defaults and without words that do not affect it."""
    layout = layouts.of(spec)
    words = address_words(subject, layout.beside(spec) == "other" or spec.takes_another) if layout.of_pictures else {}
    unused_fields = {} if kind == "html" else unused_reasons(spec)
    for choice in FIGURE_CHOICES:
        value = getattr(spec, choice.field)
        if (
            choice.field in unused_fields
            or value is None
            or (value == FIELD_DEFAULTS[choice.field] and choice.key != "head")
        ):
            continue
        words[choice.key] = _value(choice.key, value)
    for name in LOOK_FIELDS:
        if name not in unused_fields and (value := getattr(spec, name)) != FIELD_DEFAULTS[name]:
            words[name] = f"{value:.6g}in" if name == "width" else as_in_address(value)
    if kind == "html":
        words |= dict(parse_qsl(spec.view)) | ({"held": "all"} if spec.layers == "all" else {})
    return words


def _value(key: str, value: object) -> str:
    if key == "pass":
        return "whole"
    if key == "query":
        return query_words(value)
    if key == "ceiling":
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return as_in_address(value)
