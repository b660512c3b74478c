"""Plays any lesson in the app: shows each part of a step as soon as the lesson yields it, and each run with a button
and its progress."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import count

import streamlit as st

from playground.errors import PlaygroundError
from playground.lessons.lesson import Lesson, Settings, Subject
from playground.lessons.parts import (
    After,
    Ask,
    Chart,
    Choice,
    Code,
    Column,
    Drawing,
    Exercise,
    Fold,
    Part,
    Pick,
    Picture,
    Row,
    Run,
    Slider,
    Stays,
    Table,
    Wait,
    Words,
    plain_parts,
)
from playground.lessons.pictures import at_map_size
from playground.lessons.registry import LESSONS
from playground.pack import pack, unpack
from playground.pictures.jpegs import as_jpeg
from playground.serving import queue
from playground.serving.here import Here, Work
from playground.ui import lesson as page
from playground.ui import messages
from playground.ui.components import SCRIPTS, as_dict, lesson_component, picture, spot
from playground.ui.navigation import bring_back_settings, detach_settings, tell_settings
from playground.ui.pages import PAGES

state = st.session_state
VISIBLE_PARTS = (Ask, Chart, Drawing, Picture, Row, Table)
CONTROL_WIDTH = 420  # pixels: the width of a slider or of a drop-down list


def show(name: str) -> None:
    lesson = LESSONS[name]
    subject = page.begin(lesson.name, lesson.idea, lesson.settings, first_step=next(iter(lesson.steps)))
    step = page.steps(lesson.titles)
    at_work = poll_runs(subject)
    st.fragment(_play, run_every=POLL_SECONDS if at_work else None)(lesson, step, subject, at_work)
    page.end()


def _play(lesson: Lesson, step: str, subject: Here, at_work: bool) -> None:
    """Shows a step as a fragment: after a change of a setting, or a poll of a run, only the step is drawn again."""
    if poll_runs(subject) != at_work:
        st.rerun()  # runs the whole page, because a fragment can't start or stop its own polling
    with queue.page():
        _draw(lesson, step, subject)


def _draw(lesson: Lesson, step: str, subject: Here) -> None:
    bring_back_settings()
    settings = Settings(**{name: state[name] for name in lesson.choices})
    player = _Player(lesson, subject)
    try:
        player.play(with_opening_picture(f"{lesson.name} {step}", lesson.steps[step].parts(subject, settings), subject))
        state.offered = player.offered
        state.messages = player.messages
        detach_settings(lesson.choices.keys() - player.offered)
    except PlaygroundError as error:
        st.error(messages.escape_markdown(str(error)))
    tell_settings("step")


def with_opening_picture(name: str, parts: Iterator[Part], subject: Subject) -> Iterator[Part]:
    """Yields the parts of the step `name`. When the step is first opened, a model may have to load. Until the first
    drawing is ready, a picture is shown in place of the parts."""
    key = ("opened", name)
    if not subject.has_cached(key):
        small_picture = Picture(as_jpeg(at_map_size(subject.image)))
        yield Wait(f"Asking {subject.model} …", small_picture)
        first_parts = []
        for part in parts:
            if isinstance(part, Wait):
                yield replace(part, meanwhile=part.meanwhile or small_picture)
                continue
            first_parts.append(part)
            if isinstance(part, VISIBLE_PARTS):
                break
        yield from first_parts
        subject.cached(key, lambda: True)
    yield from parts


def take_settings(key: str, lesson: Lesson, drawing: Drawing) -> None:
    """Takes over the settings that a drawing reports, which are unchecked input from a browser."""
    settings = as_dict(state[key].settings)
    message = state.get("messages", {}).get(key)
    for name in drawing.settings:
        if name in settings:
            state[name] = lesson.choices[name].take(settings[name])
            if message:
                message.settings_now[name] = state[name]


@dataclass
class _Message:
    """The last message to a drawing; the session keeps only its digest. If the drawing itself has reported a setting,
    the message stays the same and is not sent again. Streamlit may recreate a drawing: the new drawing sees from the
    message's number that the message is old, and keeps the settings that were reported since."""

    digest: bytes
    sent_settings: dict[str, object]  # the values of the settings in the message
    settings_now: dict[str, object]  # their present values, as the drawing has reported

    @staticmethod
    def of(data: bytes, settings: dict[str, object]) -> _Message:
        return _Message(sha256(data).digest(), settings, dict(settings))


MESSAGE_NUMBERS = count(1)


class _Player:
    def __init__(self, lesson: Lesson, subject: Here):
        self.lesson, self.here = lesson, subject
        self.key_numbers = count()  # gives each part a number for its key
        self.offered: set[str] = set()  # settings that have a control on the page
        self.messages: dict[str, _Message] = {}  # key of a drawing -> the last message to the drawing

    def play(self, parts: Iterable[Part]) -> None:
        """Shows the parts. Successive Waits are shown in one place on the page, which the next part clears."""
        part_iterator = iter(parts)
        placeholder, part = None, next(part_iterator, None)
        while part is not None:
            if isinstance(part, Wait):
                placeholder = placeholder or st.empty()
                with placeholder.container():
                    if part.meanwhile:
                        self.show_part(part.meanwhile)
                    with st.spinner(part.words):
                        part = next(part_iterator, None)
                continue
            if placeholder:
                placeholder.empty()
            self.show_part(part)
            placeholder, part = None, next(part_iterator, None)

    def show_part(self, part: Part) -> None:
        match part:
            case Words():
                (st.caption if part.small else st.markdown)(page.mathematics(page.with_minus_signs(part.says)))
            case Ask(question, context, afresh):
                page.ask(question, context, afresh)
            case After():
                with page.after_question(part.question):
                    self.play(part)
            case Column() | Stays():
                self.play(part)
            case Row():
                visible_parts = [
                    (inner_part, share)
                    for inner_part, share in zip(part, part.shares, strict=True)
                    if not _is_settled(inner_part)
                ]
                for column, (inner_part, _) in zip(
                    st.columns([share for _, share in visible_parts]), visible_parts, strict=True
                ):
                    with column:
                        self.show_part(inner_part)
            case Fold():
                with st.expander(page.mathematics(part.title)):
                    self.play(part)
            case Choice() if _is_settled(part):
                pass
            case Choice():
                self.show_choice(part)
            case Drawing():
                self.show_drawing(part)
            case Picture(data, caption, width, kind):
                picture(data, kind, caption=caption or None, width=width or "content")
            case Chart(figure, name, height):
                page.chart(figure, f"chart_{next(self.key_numbers)}_{name}", height, name)
            case Table(head, rows):
                lines = [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows)]
                st.markdown(page.mathematics(page.with_minus_signs("\n".join(lines))))
            case Code(text, language):
                st.code(text, language=language, wrap_lines=True, height="stretch")  # as high as code beside it
            case Exercise():
                self.show_exercise(part)
            case Run():
                offer_run(part)

    def show_choice(self, choice: Choice) -> None:
        setting, options = choice.setting, choice.options
        self.bring_back(choice)
        widget_options = {"label": page.mathematics(choice.label), "options": list(options), "format_func": options.get}
        if isinstance(choice, Slider):
            st.select_slider(**widget_options, key=setting, width=CONTROL_WIDTH)
        elif isinstance(choice, Pick):
            st.selectbox(**widget_options, key=setting, width=CONTROL_WIDTH)
        else:
            st.segmented_control(**widget_options, key=setting, required=True)

    def bring_back(self, choice: Choice) -> None:
        """Restores a control's value, because Streamlit forgets the value of a control that was not drawn. A value that
        is no longer offered, such as a layer of a deeper model, becomes the default."""
        setting = choice.setting
        is_valid = state[setting] in choice.options
        if not is_valid or setting not in state.get("offered", ()):
            state[setting] = state[setting] if is_valid else self.lesson.choices[setting].default
        self.offered.add(setting)

    def show_drawing(self, drawing: Drawing) -> None:
        """Mounts a drawing. The settings that it reports go into session state, and from there into the address."""
        script = SCRIPTS[drawing.name]
        settings_now = {name: state[name] for name in drawing.settings}
        settings_now |= {"view_id": self.here.view_id, "microscope": "./?"}
        key = f"drawing_{drawing.name}"
        if isinstance(drawing.data, bytes):
            message, former_message = _Message.of(drawing.data, settings_now), state.get("messages", {}).get(key)
            is_same = former_message and (former_message.digest, former_message.settings_now) == (
                message.digest,
                settings_now,
            )
            if script.settles:
                message = (
                    former_message
                    if is_same
                    else replace(message, sent_settings=settings_now | {"message": next(MESSAGE_NUMBERS)})
                )
            self.messages[key] = message
            header, arrays = unpack(drawing.data)
            data = pack(header | message.sent_settings, arrays)
        else:
            data = dict(drawing.data) | settings_now
        mount = lesson_component(drawing.name)
        result = mount(
            key=key, data=data, default={"settings": None}, on_open_change=lambda: None,
            on_settings_change=partial(take_settings, key, self.lesson, drawing),
        )  # fmt: skip
        if spot_clicked := result.get("open"):
            self.open_head(spot_clicked)

    def open_head(self, clicked: object) -> None:
        """Opens a head in the microscope. `clicked` is unchecked input from a browser."""
        config = self.here.vit.config
        if head := spot(clicked, config.depth, config.heads):
            view_words = {"layer": str(head[0]), "head": str(head[1])}
            st.switch_page(PAGES["microscope"].file, query_params=self.here.words(view=True) | view_words)

    def show_exercise(self, exercise: Exercise) -> None:
        (record,) = plain_parts([replace(exercise, own={})], bytes.hex)  # `own` is for a site without a server
        settings = {name: str(state[name]) for name in self.lesson.choices}
        lesson_component("exercise")(
            key=f"exercise_{exercise.id or exercise.asks[:40]}", data=record | {"settings": settings}
        )


def _is_settled(part: Part) -> bool:
    """Whether the part is a choice among fewer than two options, which is not shown."""
    return isinstance(part, Choice) and len(part.options) < 2


# A lesson's Run is shown as a button, then as its progress with a button that stops the run.

POLL_SECONDS = 0.7  # seconds between two polls of a run
DROPPED_RESULT = "Your result was dropped: the newer results of other people needed the memory. Run it again."


def poll_runs(subject: Here) -> bool:
    """Stores the session's runs in `subject`, and returns whether one is at work. Also polls each run: a run that
    is not polled loses its place in the queue."""
    subject.works = state.setdefault("works", {})
    for work in subject.works.values():
        work.look()
    return not all(work.is_over for work in subject.works.values())


def offer_run(run: Run) -> None:
    work: Work | None = state.works.get(run.id)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(_progress_sentence(work), width="content") if work else None
        if work and not work.is_over:
            label = "Stop" if work.has_begun else "Leave the queue"
            st.button(label, icon=":material/stop:", key="stop_work", on_click=work.stop)
        elif st.button(run.label, icon=":material/play_arrow:", key=f"run_{run.id}", type="primary"):
            state.works[run.id] = Work(run, work)
            st.rerun()


def _progress_sentence(work: Work) -> str:
    if work.is_over:
        if work.trouble:
            return f"It broke off: {work.trouble}"
        return DROPPED_RESULT if work.was_dropped else ""
    if not work.has_begun:
        ahead = work.look()
        sentence = {0: "It waits for its turn.", 1: "**One is before you.**"}.get(ahead, f"**{ahead} are before you.**")
        return f"{sentence} They come one after the other; yours begins by itself."
    return work.progress or "Beginning…"
