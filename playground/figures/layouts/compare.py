"""Two maps side by side: two pictures or two models, asked the same; or with 1/√dₖ and without."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath

from playground.errors import PlaygroundError
from playground.figures.drawing import captions, maps, naming
from playground.figures.drawing.maps import Domain
from playground.figures.drawing.one_map import OneMap, Other, Shown, Subject
from playground.figures.drawing.option_words import OptionError
from playground.figures.drawing.spec import ALONE, POOLED, Spec
from playground.figures.layouts.layout import Drawn, Layout, headed, layer_scale, outside_of_each


def panels(spec: Spec, subject: Subject, other: Other) -> list[OneMap]:
    if other is None:
        raise OptionError(ALONE)
    scale = layer_scale(spec)
    if spec.way.resembles and subject.seen.model == other.seen.model:  # of one patch, in both pictures
        return [OneMap(subject, spec, scale), OneMap(other, spec, scale, asker=subject.seen)]
    query = maps.same_place(spec.query, subject.seen, other.seen)
    layer = maps.same_layer(spec.layer, subject.seen, other.seen)
    head = spec.head if spec.head in POOLED else min(spec.head, other.seen.heads - 1)
    label = maps.same_label(spec.label, subject.seen, other.seen)
    theirs = replace(spec, query=query, layer=layer, head=head, label=label)
    return [OneMap(subject, spec, scale), OneMap(other, theirs, scale)]


def names(shown: list[Shown]) -> list[tuple[str, str]]:
    """(heading, what stands beneath it)"""
    models = [naming.model(one.seen) for one in shown]
    pictures = [PurePath(one.subject.name).stem for one in shown]
    headings = models if models[0] != models[1] else pictures
    places = [captions.place(one.spec) for one in shown]
    if shown[0].spec.query != shown[1].spec.query:
        places = [f"{captions.asked(one.spec.query)}, {place}" for place, one in zip(places, shown, strict=True)]
    return list(zip(headings, places, strict=True))


def match(shown: list[Shown]) -> tuple[int, int] | None:
    """The patch of the second picture that resembles the asking one most, and the other way round."""
    first, second = shown
    here = maps.patch_of(first.seen, first.spec.query)
    row, column = first.seen.match(second.seen)[here].tolist()
    return None if row < 0 else (row, column)


def _is_matched(shown: list[Shown]) -> bool:
    first, second = shown
    return second.one.asker is not None and maps.patch_of(first.seen, first.spec.query) is not None


def draw(spec: Spec, shown: list[Shown], spans: list[Domain]) -> Drawn:
    drawn = headed(shown, spans, names(shown))
    there = match(shown) if _is_matched(shown) else None
    return drawn if there is None else _with_line(spec, shown, drawn, there)


def _with_line(spec: Spec, shown: list[Shown], drawn: Drawn, there: tuple[int, int]) -> Drawn:
    """A line from the patch that asks to its match in the other picture, as on the screen."""
    first, second = drawn.body.panels
    here = maps.patch_of(shown[0].seen, spec.query)
    left: list = []

    def begin(sheet, axes, box) -> None:
        first.draw(sheet, axes, box)
        left.append(axes)

    def end(sheet, axes, box) -> None:
        second.draw(sheet, axes, box)
        sheet.mark(axes, there, box, colour="black")
        if spec.marker:
            sheet.line(left[0], here, axes, there)

    return replace(drawn, body=type(drawn.body)([replace(first, draw=begin), replace(second, draw=end)]))


def caption(spec: Spec, shown: list[Shown], span: Domain) -> str:
    made = dict.fromkeys(captions.made_with(one.seen, spec, captions.place(one.spec)) for one in shown)
    sentences = captions.sentences(spec, shown, span, captions.say("and", "models").join(made))
    if not _is_matched(shown):
        return sentences
    layer = shown[0].seen.upper_layer
    if match(shown) is None:
        return f"{sentences} {captions.say('match', 'none', layer=layer)}"
    return f"{sentences} {captions.say('match', layer=layer)}"


COMPARE = Layout(
    "compare",
    "two pictures or two models",
    panels,
    draw,
    caption,
    outside=lambda spec, shown: outside_of_each(spec, shown, names(shown)),
    uses=("other_image", "other_model", "colours"),
    beside=lambda spec: "other",
)


# With 1/√dₖ and without: of one layer, or of two whole passes.


def scale_panels(spec: Spec, subject: Subject, other: Other) -> list[OneMap]:
    on = OneMap(subject, replace(spec, scale="on"), "on")
    if not spec.whole:
        return [on, OneMap(subject, spec, spec.scale)]
    if other is None:
        raise PlaygroundError("To set the scale of the whole pass beside the trained one, give both traces.")
    return [on, OneMap(other, spec, None)]


def scale_names(spec: Spec, shown: list[Shown]) -> list[tuple[str, str]]:
    """(heading, what stands beneath it)"""
    seen = shown[0].seen
    trained = captions.say("scaled_in", "trained" if seen.scale == seen.native_scale else "")
    where = captions.say("scaled_in", "pass" if spec.whole else "")
    return [(captions.scaled(seen, "on"), trained), (captions.scaled(seen, spec.scale), where)]


def draw_scale(spec: Spec, shown: list[Shown], spans: list[Domain]) -> Drawn:
    return headed(shown, spans, scale_names(spec, shown))


def scale_caption(spec: Spec, shown: list[Shown], span: Domain) -> str:
    return captions.caption(replace(spec, scale="on"), shown, span, captions.place(spec))


SCALE = Layout(
    "scale",
    "with 1/√dₖ and without",
    scale_panels,
    draw_scale,
    scale_caption,
    outside=lambda spec, shown: outside_of_each(spec, shown, scale_names(spec, shown)),
    prepared=lambda spec: replace(spec, scale="off" if spec.scale == "on" else spec.scale),
    uses=("colours",),
    beside=lambda spec: "pass" if spec.whole else "",
)
