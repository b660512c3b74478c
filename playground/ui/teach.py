"""The page for the one who teaches; what it says stands in playground/lessons/teaching.py. A plan is also
written as slides."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from playground.figures import teaching as printed
from playground.lessons import shapes, teaching
from playground.lessons.lesson import Lesson, Setting
from playground.lessons.parts import questions_of
from playground.lessons.registry import LESSONS
from playground.serving import figure_words, ledger, queue
from playground.serving.here import Here
from playground.ui.lesson import ask, gathered, mathematics

state = st.session_state

PARTS = {"plan": "A plan", "notes": "What students say", "print": "To print", "quiz": "Quiz"}
SETTINGS = {
    "part": Setting.of("plan", PARTS),
    "minutes": Setting.of(45, teaching.PLANS),
    "links": Setting.of("full", ("full", "class")),
}
SHEETS = {
    "handout": "Nine tokens by hand: one sheet",
    "handout-key": "… with the numbers filled in",
    "quiz": "Quiz of thirteen questions",
    "quiz-key": "… with the answers",
}


CLASS = "./?story=1#lecture=new"  # shell/storyway.js reads it


@st.fragment(run_every=5)
def present() -> None:
    """How the class is served. A line that changes under way is no news to a screen reader: it is read when somebody
    comes to it."""
    st.caption(sentence(ledger.seats.people(), queue.passes().waiting))


def sentence(people: int, waiting: int) -> str:
    verb = "wait" if waiting > 1 else "waits"
    return f"{_counted(people)} on this server, {_counted(waiting) if waiting else 'nobody'} {verb}."


def _counted(people: int) -> str:
    return "1 person" if people == 1 else f"{people} people"


def parts() -> None:
    st.pills("Part", PARTS, format_func=PARTS.get, key="part", label_visibility="collapsed", required=True)


def plan(here: Here) -> None:
    left, right = st.columns(2)
    left.segmented_control("Minutes", teaching.PLANS, key="minutes", required=True)
    right.segmented_control(
        "Links open", ("full", "class"), key="links", required=True,
        format_func={"full": "the whole page", "class": "the scene alone, for a class"}.get,
    )  # fmt: skip
    scenes = teaching.PLANS[state.minutes]
    lines, at = [], 0
    for scene in scenes:
        lines.append(
            f"| {at}–{at + scene.minutes} | [{mathematics(scene.title)}]({scene.link(state.links == 'class')}) "
            f"| {mathematics(scene.do)} |"
        )
        at += scene.minutes
    st.markdown("\n".join(["| minutes | scene | what to do |", "|---|---|---|", *lines]))
    st.caption(
        "A **class link** opens the same model, picture, view and step for everybody and hides the row on top: "
        "pictures, models, other pages. Any address of the app becomes one with *class=yes* behind it."
    )
    st.link_button("Start a class that guesses together", CLASS, icon=":material/groups:")
    st.caption(
        "The story with a code for phones: they guess, without an account, and nobody’s guess has a name. *Reveal* "
        "shows all of them, then the truth. It is in memory only, and ends with *End* or after four hours."
    )
    offer_slides(here)


def notes() -> None:
    for note in teaching.NOTES:
        with st.expander(mathematics(f"“{note.heard}”"), icon=":material/record_voice_over:"):
            st.markdown(f"{mathematics(note.true)} [Show it]({note.show.link()})")


def sheets() -> None:
    for name, words in SHEETS.items():
        row = st.columns([3, 1, 1], vertical_alignment="center")
        row[0].markdown(words)
        for column, paper in zip(row[1:], printed.PAPERS, strict=True):
            file = f"{name}-{paper}.pdf"
            column.download_button(
                f"PDF, {paper}", partial(printed.pdf, name, paper), file, "application/pdf", key=file,
                on_click="ignore", icon=":material/download:",
            )  # fmt: skip
    st.caption("`python -m playground.figures.teaching FOLDER` prints all of them.")


def quiz() -> None:
    right = answered = 0
    questions = teaching.quiz()
    for number, question in enumerate(questions, start=1):
        said = st.radio(
            f"**{number}. {mathematics(question.asks)}**", range(len(question.options)), index=None,
            key=f"quiz_{number}", format_func=[mathematics(option) for option in question.options].__getitem__,
        )  # fmt: skip
        if said is None:
            continue
        answered += 1
        right += said == question.right
        verdict = "Right." if said == question.right else f"No: {mathematics(question.options[question.right])}."
        st.markdown(f":{'green' if said == question.right else 'orange'}[**{verdict}**] {mathematics(question.why)}")
    st.markdown(f"**{right} of {answered} right**, {len(questions)} questions in all. Nothing is kept or sent.")


# A plan's scenes as slides in one file: the questions that its pages ask, about one's own picture, and the living
# microscope.

QUIZ = 5  # questions of the quiz: the plan speaks of so many


def asked(page: str) -> Callable[[Here], object]:
    """What asks the questions of a scene on this page."""
    return {
        "by_hand": lambda here: _ask_of(LESSONS["by_hand"], here, "arrows", "values"),
        "patches": lambda here: _ask_of(LESSONS["patches"], here, "cut"),
        "shapes": lambda here: ask(shapes.asked_about(here, "picture")),
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
        ask(one.question, one.context)


def of_the_quiz(number: int, question: teaching.Question) -> dict:
    """As guess.js reads one."""
    options = [(str(n), words) for n, words in enumerate(question.options)]
    return {
        "id": f"quiz_{number}", "asks": question.asks, "prose": "", "picture": None, "says": question.why,
        "guess": {"kind": "Choice", "options": options}, "truth": str(question.right), "tempting": [],
    }  # fmt: skip


def living_page(here: Here) -> str:
    """The microscope as it opens for whoever has turned nothing yet."""
    from playground.figures import html

    seen = here.trace()
    opens = figure_words.as_typed(figure_words.description(figure_words.Shown(here.picture, here.wish), {}))
    with queue.drawing():
        return html.page(html.light(opens, seen), seen, here.picture.image)


def slides(here: Here, minutes: int) -> str:
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
        with gathered() as questions:
            if scene.page == "microscope":
                alive = living_page(here)
            else:
                asked(scene.page)(here)
        for n, question in enumerate(questions or [None]):
            several = f": {n + 1} of {len(questions)}" if len(questions) > 1 else ""
            found.append(printed.Slide(
                scene.title + several, time, scene.do, (question,) if question else (), alive,
            ))  # fmt: skip
    return printed.page(f"Attention in {minutes} minutes", found, [bundle("shell/alone.js")])


def offer_slides(here: Here) -> None:
    minutes = state.minutes
    about = (minutes, here.picture.id, here.wish)
    if st.button("Make slides of this plan", icon=":material/slideshow:", key="make_slides"):
        with st.spinner("Asking the questions of the plan"):
            state.slides = (about, slides(here, minutes).encode())
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
