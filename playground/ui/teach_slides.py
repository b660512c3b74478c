"""A plan's scenes as slides in one file: the questions that its pages ask, about one's own picture, and the living
microscope."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from playground.lessons import shapes, teaching
from playground.lessons.lesson import Lesson
from playground.lessons.parts import questions_of
from playground.lessons.registry import LESSONS
from playground.serving import figure_words, queue
from playground.serving.here import Here
from playground.ui import guess

QUIZ = 5  # questions of the quiz: the plan speaks of so many
state = st.session_state


def asked(page: str) -> Callable[[Here], object]:
    """What asks the questions of a scene on this page."""
    return {
        "by_hand": lambda here: _ask_of(LESSONS["by_hand"], here, "arrows", "values"),
        "patches": lambda here: _ask_of(LESSONS["patches"], here, "cut"),
        "shapes": lambda here: guess.ask(shapes.asked_about(here, "picture")),
        "block": lambda here: _ask_of(LESSONS["block"], here, "stream"),
        "scale": lambda here: _ask_of(LESSONS["scale"], here, "row"),
        "heads": lambda here: _ask_of(LESSONS["heads"], here, "row"),
        "weight": lambda here: _ask_of(LESSONS["weight"], here, "carries"),
        "cost": lambda here: _ask_of(LESSONS["cost"], here, "formulas"),
        "two_ways": lambda here: _ask_of(LESSONS["two_ways"], here, "shift"),
    }[page]


def _ask_of(lesson: Lesson, here: Here, *steps: str) -> None:
    """What these steps of the lesson ask."""
    for name in steps:
        one = next(questions_of(lesson.steps[name].parts(here, lesson.defaults())))
        guess.ask(one.question, one.context)


def of_the_quiz(number: int, question: teaching.Question) -> dict:
    """As guess.js reads one."""
    options = [(str(n), words) for n, words in enumerate(question.options)]
    return {
        "id": f"quiz_{number}", "asks": question.asks, "prose": "", "picture": None, "says": question.why,
        "guess": {"kind": "Choice", "options": options}, "truth": str(question.right), "tempting": [],
    }  # fmt: skip


def living(here: Here) -> str:
    """The microscope as it opens for whoever has turned nothing yet."""
    from playground.figures import html

    seen = here.trace()
    opens = figure_words.as_typed(figure_words.description(figure_words.Shown(here.picture, here.wish), {}))
    with queue.drawing():
        return html.page(html.light(opens, seen), seen, here.picture.image)


def made(here: Here, minutes: int) -> str:
    from playground.figures import teaching as printed
    from playground.figures.bundle import bundle

    found, at = [], 0
    for scene in teaching.PLANS[minutes]:
        time, alive = f"minute {at} to {at + scene.minutes}", ""
        at += scene.minutes
        if scene.page == "teach":
            quiz = teaching.quiz()
            chosen = [quiz[round(n * (len(quiz) - 1) / (QUIZ - 1))] for n in range(QUIZ)]
            for number, question in enumerate(chosen, start=1):
                title = f"{scene.title}: {number} of {QUIZ}"
                found.append(printed.Slide(title, time, scene.do, (of_the_quiz(number, question),)))
            continue
        with guess.gathered() as questions:
            if scene.page == "microscope":
                alive = living(here)
            else:
                asked(scene.page)(here)
        for n, question in enumerate(questions or [None]):
            several = f": {n + 1} of {len(questions)}" if len(questions) > 1 else ""
            found.append(printed.Slide(
                scene.title + several, time, scene.do, (question,) if question else (), alive,
            ))  # fmt: skip
    return printed.page(f"Attention in {minutes} minutes", found, [bundle("shell/alone.js")])


def offer(here: Here) -> None:
    minutes = state.minutes
    about = (minutes, here.picture.id, here.wish)
    if st.button("Make slides of this plan", icon=":material/slideshow:", key="make_slides"):
        with st.spinner("Asking the questions of the plan"):
            state.slides = (about, made(here, minutes).encode())
    if state.get("slides", (None,))[0] == about:
        data = state.slides[1]
        st.download_button(
            f"One file, {len(data) / 2**20:.1f} MB", data, f"attention-{minutes}.html", "text/html",
            on_click="ignore", icon=":material/download:",
        )  # fmt: skip
    st.caption(
        "The slides hold your picture, the living microscope and the plan’s questions, which a room guesses. Any "
        "browser shows them, also without a network: → goes on, N shows what to do."
    )
