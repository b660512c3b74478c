"""Composes a figure: its body, which is the panels, and its band: the colour bar, the caption and the footer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from matplotlib.patches import Rectangle
from PIL import Image

from playground.figures import layouts
from playground.figures.drawing import captions, naming
from playground.figures.drawing.maps import Domain
from playground.figures.drawing.one_map import Other, Subject
from playground.figures.drawing.panels import GAP, TITLE_HEIGHT, Grid, Matrix, Panel, draw_with_heading
from playground.figures.drawing.prints import bar as bar_colours
from playground.figures.drawing.sheet import Box, Drawing, Sheet, house_style, small_size, text_width, wrap
from playground.figures.drawing.spec import Spec
from playground.figures.layouts import Content
from playground.figures.provenance import facts, footer, metadata

if TYPE_CHECKING:
    from playground.tracing import Trace

CAPTION_SIZE, TICK_SIZE, FOOTER_SIZE = (
    0.8,
    0.72,
    0.55,
)  # shares of the font size: for the caption, the colour bar, the footer
GAP_BENEATH, GAP_BESIDE = 0.9, 1.6  # em: the gap between body and band, if the band is beneath, or beside
LEAST_BAR_WIDTH = 13.5  # em: the least width of the colour bar and its words
LEAST_PICTURE_HEIGHT = 6  # em: smallest height of a picture above a caption


def draw(
    spec: Spec,
    trace: Trace | None = None,
    image: Image.Image | None = None,
    *,
    other: Trace | None = None,
    other_image: Image.Image | None = None,
    more: dict[tuple[str, str], tuple[Trace, Image.Image]] | None = None,
    lines: int = 0,
) -> Drawing:
    """The figure that `spec` describes, of a trace and its picture: a matplotlib Figure to go on editing.

    `other`: the trace that the layout compares with (see Layout.beside), of another picture or model or at another
    scale; `other_image`: the picture of that trace. `more`: the traces of all pictures and models of a grid, by their
    names. `lines`: the number of lines for which the caption keeps room.
    """
    with house_style(spec.font):
        spec, subject, second = subjects(spec, trace, image, other, other_image, more)
        content = layouts.content(spec, subject, second)
        plan = _plan(spec, content, footer(spec, subject, second), lines)
        figure = _compose(layouts.of(spec).settled(spec), plan)
    figure.spec, figure.facts = spec, facts(spec, subject, second)
    figure.metadata = partial(metadata, spec, figure.facts)
    return figure


def caption_lines(spec: Spec, trace: Trace, image: Image.Image, **draw_arguments) -> int:
    """The number of lines in the figure's caption. All frames of an animation keep room for the same number."""
    spec, subject, second = subjects(spec, trace, image, **draw_arguments)
    with house_style(spec.font):
        content = layouts.content(spec, subject, second)
        return len(_plan(spec, content, "", 0).band.caption)


def metadata_facts(spec: Spec, trace: Trace, image: Image.Image, **draw_arguments) -> dict[str, str]:
    """The figure's facts for metadata, without drawing it."""
    return facts(*subjects(spec, trace, image, **draw_arguments))


def subjects(
    spec: Spec, first_trace=None, image=None, other=None, other_image=None, more=None
) -> tuple[Spec, Subject | None, Other]:
    """(the spec with its defaults filled in, the first subject, the rest). The rest is the second subject,
    {key: subject} of a grid, or None. In a layout without pictures both are None."""
    if not layouts.of(spec).of_pictures:
        return replace(spec, layer=None, query=None, size=None), None, None
    public_spec = naming.published_spec(spec)
    image = first_trace.shown if image is None else image
    first_subject = Subject(naming.published_trace(spec, first_trace), image, captions.picture(public_spec.image))
    if more:
        subjects_by_name = {
            key: Subject(
                naming.published_trace(spec, trace), picture, captions.picture(naming.published_name(spec, key[0]))
            )
            for key, (trace, picture) in more.items()
        }
        return layouts.settled(spec, first_trace), subjects_by_name[next(iter(subjects_by_name))], subjects_by_name
    if other is None:
        return layouts.settled(spec, first_trace), first_subject, None
    name = captions.picture(public_spec.other_image) if public_spec.other_image else first_subject.name
    second_subject = Subject(
        naming.published_trace(spec, other, True), image if other_image is None else other_image, name
    )
    return layouts.settled(spec, first_trace), first_subject, second_subject


@dataclass(frozen=True)
class Band:
    """The parts around the body: colour bar, legend, caption and footer, laid out for one width."""

    width: float
    em: float
    bar: Domain | None
    bar_width: float
    words: list[str]  # lines of text above the bar
    caption_x: float  # x where a caption beside the bar begins; 0: the caption is beneath the bar
    legend: list[list[tuple[float, str, str, str]]]  # lines of (x, colour, words, shape)
    caption: list[str]
    footer: list[str]

    @property
    def font(self) -> float:
        return 72 * self.em

    @property
    def pitch(self) -> float:
        """Line height of the caption, in em."""
        return 1.4 * small_size(self.font, CAPTION_SIZE) / self.font

    @property
    def foot(self) -> float:
        """Line height of the footer, in em."""
        return 1.36 * small_size(self.font, FOOTER_SIZE) / self.font

    @property
    def tick(self) -> float:
        """Line height of the words above the bar, in em."""
        return 1.25 * small_size(self.font, TICK_SIZE) / self.font

    @property
    def bar_height(self) -> float:
        """Height of the bar with its words and numbers, in em; 0 without a bar."""
        return 1.75 + self.tick * len(self.words) if self.bar else 0.0

    @property
    def height(self) -> float:
        bar, lines, legend, foot = (
            self.bar_height,
            self.pitch * len(self.caption),
            1.5 * len(self.legend),
            self.foot / 0.75 * len(self.footer),
        )
        total = max(bar, lines) if self.caption_x else bar + lines + 0.6 * bool(bar and lines)
        total += legend + 0.5 * bool(legend and total)
        return self.em * (total + 0.75 * foot + 0.55 * bool(foot and total))


def _band(spec: Spec, content: Content, footer: str, width: float, align_x: float, lines: int) -> Band:
    """The layout of the band. `align_x`: the left edge of a panel with which the caption can line up."""
    em = spec.made_for.font / 72
    has_caption = spec.caption and spec.made_for.captioned
    caption_words = (
        " ".join(filter(None, [content.caption, content.prefix if spec.prefix else ""])) if has_caption else ""
    )
    bar = content.domain if spec.bar else None
    caption_x = 0.0
    if bar and width > 34 * em:
        caption_x = align_x if 0 < align_x < width - 16 * em else 17 * em
    bar_width = min(15 * em, width, caption_x - GAP * em) if caption_x else min(18 * em, width)
    font = spec.made_for.font
    bar_words = wrap(bar.words, bar_width, small_size(font, TICK_SIZE)) if bar else []
    caption = wrap(caption_words, width - caption_x, small_size(font, CAPTION_SIZE)) if caption_words else []
    caption += [""] * (lines - len(caption))
    foot = wrap(footer, width, small_size(font, FOOTER_SIZE)) if footer else []
    return Band(width, em, bar, bar_width, bar_words, caption_x, _flow(content.legend, width, em), caption, foot)


def _flow(legend: tuple[tuple[str, str, str], ...], width: float, em: float) -> list[list[tuple[float, str, str, str]]]:
    lines: list[list[tuple[float, str, str, str]]] = []
    x = width
    for colour, words, shape in legend:
        entry_width = 1.3 * em + text_width(words, small_size(em * 72, CAPTION_SIZE))
        if x + entry_width > width:
            lines.append([])
            x = 0.0
        lines[-1].append((x, colour, words, shape))
        x += entry_width + 1.4 * em
    return lines


@dataclass(frozen=True)
class Plan:
    content: Content
    band: Band
    beside: bool  # whether the band stands to the right of the body
    room: float | None  # the body's largest height
    inner_width: float  # the body's largest width
    width: float  # the body's width
    height: float  # the body's height
    picture: Panel | None = None  # the picture by itself, if it stands above the band or left of the band
    picture_height: float = 0.0  # the height of `picture`

    @property
    def panel_area(self) -> float:
        """The area of the panels, in square inches."""
        body_area = self.content.body.panel_area(self.inner_width, self.room, self.band.em)
        return body_area + (self.picture_height**2 * self.picture.aspect if self.picture else 0.0)


def _plan(spec: Spec, content: Content, footer: str, least_lines: int) -> Plan:
    """Places body and band. On a slide, the band stands where the panels become larger."""
    plan = _band_beneath(spec, content, footer, least_lines)
    if spec.made_for.height and spec.made_for.roomy and plan.band.height:
        candidates = [_band_beside(spec, content, footer, least_lines)]
        if isinstance(content.body, Grid | Matrix) and content.body.picture:
            picture_plans = [
                _band_below_picture(spec, content, footer, least_lines),
                _band_beside_picture(spec, content, footer, least_lines),
            ]
            candidates += [plan for plan in picture_plans if plan.picture_height >= LEAST_PICTURE_HEIGHT * plan.band.em]
        best_plan = max(candidates, key=lambda other: other.panel_area)
        if best_plan.panel_area > 1.2 * plan.panel_area:
            return best_plan
    return plan


def _room(spec: Spec) -> tuple[float, float | None, float]:
    """(width without margins, height without margins, margin), in inches. Height None: as high as the contents."""
    purpose, em = spec.made_for, spec.made_for.font / 72
    margin = 1.9 * em if purpose.height else 0.35 * em
    return purpose.width - 2 * margin, purpose.height and purpose.height - 2 * margin, margin


def _band_beneath(spec: Spec, content: Content, footer: str, least_lines: int) -> Plan:
    em, (inner_width, inner_height, _) = spec.made_for.font / 72, _room(spec)
    width, room, align_x = inner_width, inner_height, 0.0
    for _ in range(8):  # the caption's height depends on the body's width, which depends on the caption's height
        band = _band(
            spec, content, footer, width if width > 30 * em else min(inner_width, 38 * em), align_x, least_lines
        )
        room = None if inner_height is None else inner_height - band.height - GAP_BENEATH * em * bool(band.height)
        width, height = content.body.size(inner_width, room, em)
        align_x = content.body.alignment_x(inner_width, room, em, LEAST_BAR_WIDTH * em)
    return Plan(content, band, False, room, inner_width, width, height)


def _band_beside(spec: Spec, content: Content, footer: str, least_lines: int) -> Plan:
    em, (inner_width, inner_height, _) = spec.made_for.font / 72, _room(spec)
    band = _band(spec, content, footer, 15 * em, 0.0, least_lines)
    inner_width -= band.width + GAP_BESIDE * em
    return Plan(content, band, True, inner_height, inner_width, *content.body.size(inner_width, inner_height, em))


def _band_below_picture(spec: Spec, content: Content, footer: str, least_lines: int) -> Plan:
    """Plans a slide: on the left the picture with the band beneath it, on the right the grid."""
    picture, em = content.body.picture, spec.made_for.font / 72
    plan = _band_beside(spec, replace(content, body=replace(content.body, picture=None)), footer, least_lines)
    room = plan.height - TITLE_HEIGHT * em - plan.band.height - GAP_BENEATH * em * bool(plan.band.height)
    return replace(plan, picture=picture, picture_height=min(plan.band.width / picture.aspect, room))


def _band_beside_picture(spec: Spec, content: Content, footer: str, least_lines: int) -> Plan:
    """Plans a slide: at the top the body, over the whole width; beneath it the small picture, left of the band."""
    em, (inner_width, inner_height, _) = spec.made_for.font / 72, _room(spec)
    body, picture = replace(content.body, picture=None), content.body.picture
    room = inner_height - (GAP_BENEATH + TITLE_HEIGHT + LEAST_PICTURE_HEIGHT) * em
    width, height = body.size(inner_width, room, em)
    side = inner_height - height - (GAP_BENEATH + TITLE_HEIGHT) * em
    band = _band(
        spec,
        content,
        footer,
        max(LEAST_BAR_WIDTH * em, width - side * picture.aspect - GAP_BESIDE * em),
        0.0,
        least_lines,
    )
    return Plan(replace(content, body=body), band, False, room, inner_width, width, height, picture, side)


def _compose(spec: Spec, plan: Plan) -> Drawing:
    em, margin, band = spec.made_for.font / 72, _room(spec)[2], plan.band
    gap = GAP_BENEATH * em * bool(band.height)
    height_below = max(band.height, plan.picture_height + TITLE_HEIGHT * em) if plan.picture else band.height
    total_height = plan.height if plan.beside else plan.height + gap + height_below
    sheet = Sheet(spec, total_height + 2 * margin)
    side_width = band.width + GAP_BESIDE * em if plan.beside else 0.0
    top, left = (sheet.height - total_height) / 2, (sheet.width - plan.width - side_width) / 2
    if plan.picture and not plan.beside:
        y, picture_width = top + plan.height + gap + TITLE_HEIGHT * em, plan.picture_height * plan.picture.aspect
        draw_with_heading(sheet, plan.picture, Box(left, y, picture_width, plan.picture_height))
        corner = left + picture_width + GAP_BESIDE * em, y
    elif plan.picture:
        draw_with_heading(
            sheet,
            plan.picture,
            Box(left, top + TITLE_HEIGHT * em, plan.picture_height * plan.picture.aspect, plan.picture_height),
        )
        corner = left, top + plan.height - band.height
        left += side_width
    elif plan.beside:
        corner = left + plan.width + GAP_BESIDE * em, top + plan.height - band.height
    else:
        corner = (sheet.width - band.width) / 2, top + plan.height + gap
    plan.content.body.place(sheet, Box(left, top, plan.inner_width, plan.height), plan.room)
    _write_band(sheet, band, *corner)
    return sheet.figure


def _write_band(sheet: Sheet, band: Band, x: float, y: float) -> None:
    em, bottom = band.em, y + band.height
    if band.legend:
        y = _write_legend(sheet, band, x, y)
    if band.bar:
        _colour_bar(sheet, band, Box(x, y, band.bar_width, band.bar_height * em))
        y += 0 if band.caption_x else (band.bar_height + 0.6) * em
    for i, line in enumerate(band.caption):
        sheet.text(x + band.caption_x, y + (0.72 + band.pitch * i) * em, line, small_size(sheet.font, CAPTION_SIZE))
    for i, line in enumerate(reversed(band.footer)):
        points = small_size(sheet.font, FOOTER_SIZE)
        sheet.text(x, bottom - (0.2 + band.foot * i) * em, line, points, colour=sheet.theme.muted)


def _write_legend(sheet: Sheet, band: Band, x: float, y: float) -> float:
    """Writes the legend and returns the y where it ends."""
    em = band.em
    for line in band.legend:
        for offset, colour, words, shape in line:
            swatch = sheet.axes(Box(x + offset, y + 0.1 * em, 0.8 * em, 0.8 * em))
            edge_style = {"edgecolor": sheet.theme.line, "linewidth": 0.4}  # makes a white swatch visible
            swatch.add_patch(Rectangle((0, 0), 1, 1, facecolor=colour, **edge_style))
            sheet.shape(swatch, 0.5, 0.5, shape, 72 * 0.45 * em)
            sheet.text(x + offset + 1.3 * em, y + 0.78 * em, words, small_size(sheet.font, CAPTION_SIZE))
        y += 1.5 * em
    return y + 0.5 * em


def _colour_bar(sheet: Sheet, band: Band, box: Box) -> None:
    domain, em, size = band.bar, sheet.font / 72, small_size(sheet.font, TICK_SIZE)
    for i, line in enumerate(band.words):
        sheet.text(box.x, box.y + (0.7 + band.tick * i) * em, line, size, colour=sheet.theme.muted)
    top = box.y + (0.13 + band.tick * len(band.words)) * em
    axes = sheet.axes(Box(box.x, top, box.width, 0.5 * em))
    axes.set_xlim(0, 1)
    axes.set_ylim(1, 0)
    sheet.layer(axes, bar_colours(sheet.spec, domain))
    y = top + 1.32 * em
    for position, label, alignment in zip((0, 0.5, 1), _ticks(domain), ("left", "center", "right"), strict=True):
        sheet.text(box.x + position * box.width, y, label, size, colour=sheet.theme.muted, ha=alignment)


def _ticks(domain: Domain) -> tuple[str, str, str]:
    """The numbers at the bar's ends and middle. The last one is the exposure: the value drawn brightest."""
    if domain.own:
        return "", "", "its brightest"
    middle = (domain.low * domain.high) ** 0.5 if domain.log else (domain.low + domain.high) / 2
    numbers = [(100 if domain.percent else 1) * x for x in (domain.low, middle, domain.high)]
    low, middle, high = (captions.number(x).replace("-", "−") for x in numbers)
    low = f"≤ {low}" if domain.log else low
    return low, middle, f"{'≥ ' if domain.open_end else ''}{high}{' %' if domain.percent else ''}"
