"""The page for the one who teaches; what it says stands in playground/lessons/teaching.py."""

from __future__ import annotations

from functools import partial

import streamlit as st

from playground.figures import teaching as printed
from playground.lessons import teaching
from playground.lessons.settings import Setting, Written
from playground.serving import ledger, queue
from playground.serving.here import Here
from playground.ui import teach_slides
from playground.ui.lesson import mathematics

state = st.session_state

PARTS = {"plan": "A plan", "notes": "What students say", "print": "To print", "quiz": "Quiz"}
SETTINGS = {
    "part": Setting.of("plan", PARTS),
    "minutes": Setting.of(45, (*teaching.PLANS, teaching.OWN)),
    "scenes": Written("-".join(teaching.PLANS[45]), pattern=teaching.WRITTEN),
    "links": Setting.of("full", ("full", "class")),
}
SHEETS = {
    "handout": "Nine tokens by hand: one sheet",
    "handout-key": "… with the numbers filled in",
    "quiz": "Quiz of thirteen questions",
    "quiz-key": "… with the answers",
}


CLASS = "./?story=1#lecture=new"  # shell/classway.js reads it


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
    left.segmented_control(
        "Minutes", (*teaching.PLANS, teaching.OWN), key="minutes", required=True,
        format_func=lambda minutes: str(minutes or "your own"),
    )  # fmt: skip
    right.segmented_control(
        "Links open", ("full", "class"), key="links", required=True,
        format_func={"full": "the whole page", "class": "the scene alone, for a class"}.get,
    )  # fmt: skip
    if state.minutes == teaching.OWN:
        pick()
    scenes = teaching.plan(state.minutes, state.scenes)
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
    teach_slides.offer(here, scenes)


def pick() -> None:
    """A plan of one's own: its scenes, in the order in which they are picked. The address keeps it."""
    st.multiselect(
        "Scenes, in your order", teaching.SCENES, [one for one in state.scenes.split("-") if one in teaching.SCENES],
        key="picked", format_func=title_of, on_change=take,
    )  # fmt: skip
    minutes = sum(scene.minutes for scene in teaching.plan(teaching.OWN, state.scenes))
    st.caption(f"{minutes} minutes. The address of this page keeps the plan: send it, or set a bookmark.")


def title_of(key: str) -> str:
    scene = teaching.SCENES[key]
    return f"Story {scene.story}: {scene.title}" if scene.story else scene.title


def take() -> None:
    state.scenes = "-".join(state.picked) or "1"


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
