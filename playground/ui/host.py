"""Plays a lesson in the app: each part with Streamlit as it comes. No lesson's name stands in here."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import count

import streamlit as st

from playground.lessons.lesson import Lesson, Settings
from playground.lessons.parts import (
    After,
    Ask,
    Chart,
    Choice,
    Code,
    Drawing,
    Exercise,
    Part,
    Row,
    Slider,
    Table,
    Wait,
    Words,
    plain_parts,
)
from playground.lessons.scripts import SCRIPTS
from playground.lessons.words import LESSONS
from playground.pack import pack, unpack
from playground.serving.here import Here
from playground.ui import guess
from playground.ui import lesson as page
from playground.ui.components import component, words
from playground.ui.navigation import tell_settings

state = st.session_state


def show(name: str) -> None:
    lesson = LESSONS[name]
    here = page.begin(lesson.name, lesson.idea, lesson.settings)
    step = page.steps(lesson.titles)
    _play(lesson, step, here)
    page.end()


@st.fragment
def _play(lesson: Lesson, step: str, here: Here) -> None:
    """A fragment: a choice in the step draws nothing else again."""
    chosen = Settings(**{name: state[name] for name in lesson.choices})
    _Player(lesson, here).play(lesson.steps[step].parts(here, chosen))
    tell_settings("step")


def hear(key: str, lesson: Lesson, drawing: Drawing) -> None:
    """What a drawing tells of its settings. A browser may say anything."""
    told = words(state[key].settings)
    for name in drawing.settings:
        if name in told:
            state[name] = lesson.choices[name].take(told[name])


class _Player:
    def __init__(self, lesson: Lesson, here: Here):
        self.lesson, self.here = lesson, here
        self.numbers = count()  # of parts, for keys

    def play(self, parts: Iterable[Part]) -> None:
        coming, waits = iter(parts), ""
        while True:
            with _waiting(waits):
                part = next(coming, None)
            if part is None:
                return
            waits = part.words if isinstance(part, Wait) else ""
            self.part(part)

    def part(self, part: Part) -> None:
        match part:
            case Wait():
                pass
            case Words(text, small):
                (st.caption if small else st.markdown)(page.mathematics(page.minus(text)))
            case Ask(question, context):
                guess.ask(question, context)
            case After():
                with guess.after(part.question):
                    self.play(part)
            case Row():
                for column, one in zip(st.columns(len(part)), part, strict=True):
                    with column:
                        self.part(one)
            case Slider(setting, label, options):
                st.select_slider(page.mathematics(label), list(options), key=setting, format_func=options.get)
            case Choice(setting, label, options):
                label = page.mathematics(label)
                st.segmented_control(label, list(options), key=setting, format_func=options.get, required=True)
            case Drawing():
                self.drawing(part)
            case Chart(figure, name, height):
                page.chart(figure, f"chart_{next(self.numbers)}_{name}", height, name)
            case Table(head, rows):
                lines = [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows)]
                st.markdown(page.mathematics(page.minus("\n".join(lines))))
            case Code(text, language):
                st.code(text, language=language, wrap_lines=True)
            case Exercise():
                self.exercise(part)

    def drawing(self, drawing: Drawing) -> None:
        """What it tells of its settings goes into session state, and with that into the address."""
        script = SCRIPTS[drawing.name]
        begins = {name: state[name] for name in drawing.settings} | {"view_id": self.here.view_id}
        if isinstance(drawing.data, bytes):
            header, arrays = unpack(drawing.data)
            data = pack(header | begins, arrays)
        else:
            data = dict(drawing.data) | begins
        key = f"drawing_{drawing.name}"
        mount = component(drawing.name, f"lessons/{drawing.name}.js", *script.styles, box=script.html)
        mount(
            key=key, data=data, default={"settings": None}, on_settings_change=partial(hear, key, self.lesson, drawing)
        )

    def exercise(self, exercise: Exercise) -> None:
        (told,) = plain_parts([exercise], bytes.hex)
        now = {name: str(state[name]) for name in self.lesson.choices}
        script = SCRIPTS["exercise"]
        component("exercise", "lessons/exercise.js", *script.styles)(
            key=f"exercise_{exercise.id or exercise.asks[:40]}", data=told | {"settings": now}
        )


@contextmanager
def _place(words: str):
    place = st.empty()
    with place, st.spinner(words):
        yield
    place.empty()


def _waiting(words: str) -> AbstractContextManager:
    return _place(words) if words else nullcontext()
