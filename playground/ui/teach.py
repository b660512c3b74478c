"""Draws the page for teachers, whose text is in playground/lessons/teaching.py, and makes slides of a plan."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from hashlib import sha256

import streamlit as st

from playground import samples
from playground.figures import teaching as printed
from playground.figures.bundle import drawing_module, stylesheet
from playground.lessons import teaching
from playground.lessons.lesson import Setting, TextSetting
from playground.lessons.registry import LESSONS
from playground.serving import figure_words, ledger, queue, site_files
from playground.serving.here import Here
from playground.ui.components import SCRIPTS
from playground.ui.lesson import mathematics

state = st.session_state

PART_TITLES = {"plan": "A plan", "notes": "What students say", "print": "To print", "quiz": "Quiz"}
SETTINGS = {
    "part": Setting.of("plan", PART_TITLES),
    "minutes": Setting.of(45, (*teaching.PLANS, teaching.OWN_PLAN)),
    "scenes": TextSetting("-".join(teaching.PLANS[45]), pattern=teaching.PLAN_PATTERN),
    "links": Setting.of("full", ("full", "class")),
}
SHEET_TITLES = {
    "handout": "Nine tokens by hand: one sheet",
    "handout-key": "… with the numbers filled in",
    "quiz": "Quiz of thirteen questions",
    "quiz-key": "… with the answers",
}


CLASS_ADDRESS = "./?story=1#lecture=new"  # the address that starts a class; shell/storyway.js reads it


@st.fragment(run_every=5)
def show_people() -> None:
    """Shows how many people are on the server and how many wait. Screen readers don't announce changes."""
    st.caption(people_sentence(ledger.seats.people(), queue.passes().waiting_count))


def people_sentence(people: int, waiting: int) -> str:
    verb = "wait" if waiting > 1 else "waits"
    return f"{_counted(people)} on this server, {_counted(waiting) if waiting else 'nobody'} {verb}."


def _counted(people: int) -> str:
    return "1 person" if people == 1 else f"{people} people"


def choose_part() -> None:
    st.pills("Part", PART_TITLES, format_func=PART_TITLES.get, key="part", label_visibility="collapsed", required=True)


def plan(subject: Here) -> None:
    left_column, right_column = st.columns(2)
    left_column.segmented_control(
        "Minutes", (*teaching.PLANS, teaching.OWN_PLAN), key="minutes", required=True,
        format_func=lambda minutes: str(minutes or "your own"),
    )  # fmt: skip
    right_column.segmented_control(
        "Links open", ("full", "class"), key="links", required=True,
        format_func={"full": "the whole page", "class": "the scene alone, for a class"}.get,
    )  # fmt: skip
    if state.minutes == teaching.OWN_PLAN:
        offer_own_plan()
    scenes = teaching.plan(state.minutes, state.scenes)
    lines, minute = [], 0
    for scene in scenes:
        lines.append(
            f"| {minute}–{minute + scene.minutes} | [{mathematics(scene.title)}]({scene.link(state.links == 'class')}) "
            f"| {mathematics(scene.do)} |"
        )
        minute += scene.minutes
    st.markdown("\n".join(["| minutes | scene | what to do |", "|---|---|---|", *lines]))
    st.caption(
        "A **class link** opens the same model, picture, view and step for everybody and hides the row on top: "
        "pictures, models, other pages. Any address of the app becomes one with *class=yes* behind it."
    )
    st.link_button("Start a class that guesses together", CLASS_ADDRESS, icon=":material/groups:")
    st.caption(
        "The story with a code for phones: they guess, without an account, and nobody’s guess has a name. *Reveal* "
        "shows all of them, then the truth. It is in memory only, and ends with *End* or after four hours."
    )
    offer_slides(subject, scenes)


def offer_own_plan() -> None:
    """Lets the lecturer pick scenes for an own plan, which keeps the order of picking and stands in the address."""
    st.multiselect(
        "Scenes, in your order", teaching.SCENES, [name for name in state.scenes.split("-") if name in teaching.SCENES],
        key="picked", format_func=title_of, on_change=keep_picked_scenes,
    )  # fmt: skip
    minutes = sum(scene.minutes for scene in teaching.plan(teaching.OWN_PLAN, state.scenes))
    st.caption(f"{minutes} minutes. The address of this page keeps the plan: send it, or set a bookmark.")


def title_of(key: str) -> str:
    scene = teaching.SCENES[key]
    return f"Story {scene.story}: {scene.title}" if scene.story else scene.title


def keep_picked_scenes() -> None:
    state.scenes = "-".join(state.picked) or "1"


def notes() -> None:
    for note in teaching.MISCONCEPTIONS:
        with st.expander(mathematics(f"“{note.heard}”"), icon=":material/record_voice_over:"):
            st.markdown(f"{mathematics(note.true)} [Show it]({note.show.link()})")


def sheets() -> None:
    for name, title in SHEET_TITLES.items():
        row = st.columns([3, 1, 1], vertical_alignment="center")
        row[0].markdown(title)
        for column, paper in zip(row[1:], printed.PAPERS, strict=True):
            file = f"{name}-{paper}.pdf"
            column.download_button(
                f"PDF, {paper}", partial(printed.pdf, name, paper), file, "application/pdf", key=file,
                on_click="ignore", icon=":material/download:",
            )  # fmt: skip
    st.caption("`python -m playground.figures.teaching FOLDER` prints all of them.")


def quiz() -> None:
    right_count = answered_count = 0
    questions = teaching.quiz()
    for number, question in enumerate(questions, start=1):
        answer = st.radio(
            f"**{number}. {mathematics(question.asks)}**", range(len(question.options)), index=None,
            key=f"quiz_{number}", format_func=[mathematics(option) for option in question.options].__getitem__,
        )  # fmt: skip
        if answer is None:
            continue
        answered_count += 1
        right_count += answer == question.right
        answer_sentence = (
            "Right." if answer == question.right else f"No: {mathematics(question.options[question.right])}."
        )
        st.markdown(
            f":{'green' if answer == question.right else 'orange'}[**{answer_sentence}**] {mathematics(question.why)}"
        )
    st.markdown(
        f"**{right_count} of {answered_count} right**, {len(questions)} questions in all. Nothing is kept or sent."
    )


# The slides of a plan are one file: the interactive story about the chosen picture, drawings and questions of lessons,
# and questions of the quiz.

QUIZ_SLIDES = 5  # number of quiz questions on the slides, as the plan's text says
SHOWN_KINDS = ("ask", "drawing", "choice", "slider")  # kinds of a lesson's parts that slides show
MOST_BYTES = 12 * 2**20  # if all layers have more bytes, the file holds only the layer at which the picture opens


def quiz_step(number: int, question: teaching.QuizQuestion) -> dict:
    """A quiz question in the form that lessons/host.js shows."""
    options = [(str(n), words) for n, words in enumerate(question.options)]
    guess = {
        "id": f"quiz_{number}", "asks": question.asks, "prose": "", "picture": None, "says": question.why,
        "guess": {"kind": "Choice", "options": options}, "truth": str(question.right), "tempting": [],
    }  # fmt: skip
    return {"settings": {}, "parts": [{"kind": "ask", "question": guess, "context": "slides", "afresh": True}]}


def lesson_step(subject: Here, scene: teaching.Scene, files: dict[str, str]) -> dict:
    """A lesson's step in the form that slides show. Adds the files that its drawings read to `files`."""
    lesson = LESSONS[scene.page]
    name = scene.words.get("step", next(iter(lesson.steps)))

    def keep(data: bytes) -> str:
        file = f"{sha256(data).hexdigest()[:16]}.bin"
        files[file] = b64encode(data).decode()
        return file

    settings = site_files.settings_of(lesson)
    for setting, record in settings.items():
        record["now"] = scene.words.get(setting, record["default"])
    played = site_files.played_ahead(lesson, lesson.steps[name], subject, keep)
    return {"settings": settings, "parts": [part for part in without_rows(played) if kind_of(part) in SHOWN_KINDS]}


def mounted_scripts() -> dict[str, printed.MountedScript]:
    """For each script of a lesson, what slides need to mount it."""
    return {
        name: printed.MountedScript(
            drawing_module(script.file, script.mounts), stylesheet(script.styles), script.box, script.look
        )
        for name, script in SCRIPTS.items()
    }


def without_rows(parts: Iterable[dict]) -> Iterator[dict]:
    """The parts, with each row replaced by the parts in it."""
    for part in parts:
        if part["kind"] == "row":
            question_before = {name: part[name] for name in ("after",) if name in part}
            yield from (inner_part | question_before for inner_part in without_rows(part["parts"]))
        else:
            yield part


def kind_of(part: dict) -> str:
    return next(iter(part["of"].values()))["kind"] if part["kind"] == "each" else part["kind"]


def living_page(subject: Here) -> str:
    """The HTML of the interactive story about the person's picture, in the view in which the picture opens."""
    from playground.figures import html

    trace, sample = subject.trace(), subject.sample_name
    opening_view = figure_words.as_typed(
        figure_words.description(figure_words.FigureSubject(subject.picture, subject.setup), {})
    )
    all_layers_fit = 2 * len(trace.record) * trace.heads * trace.tokens * trace.head_dim <= MOST_BYTES
    story = {
        "place": {"model": subject.model_name} | ({"sample": sample} if sample else {}), "model": subject.model_name,
        "parts": [{"kind": region.kind, "box": region.box} for region in samples.named(sample).parts] if sample else [],
    }  # fmt: skip
    with queue.drawing():
        spec = replace(opening_view, layers="all") if all_layers_fit else html.with_layers_that_fit(opening_view, trace)
        return html.story(spec, trace, subject.picture.image, story)


def slides(subject: Here, scenes: Iterable[teaching.Scene], title: str) -> str:
    deck, minute, files = [], 0, {}
    scenes = list(scenes)
    for scene in scenes:
        minutes = f"minute {minute} to {minute + scene.minutes}"
        minute += scene.minutes
        if scene.story:
            deck.append(printed.Slide(scene.title, minutes, scene.do, story=scene.story))
        elif scene.page == "teach":
            quiz = teaching.quiz()
            chosen_questions = [quiz[round(n * (len(quiz) - 1) / (QUIZ_SLIDES - 1))] for n in range(QUIZ_SLIDES)]
            for number, question in enumerate(chosen_questions, start=1):
                name, lesson = f"{scene.title}: {number} of {QUIZ_SLIDES}", quiz_step(number, question)
                deck.append(printed.Slide(name, minutes, scene.do, lesson=lesson))
        else:
            deck.append(printed.Slide(scene.title, minutes, scene.do, lesson=lesson_step(subject, scene, files)))
    story = living_page(subject) if any(scene.story for scene in scenes) else ""
    return printed.page(title, printed.Deck(deck, mounted_scripts(), story, files))


def offer_slides(subject: Here, scenes: list[teaching.Scene]) -> None:
    slides_key = (tuple(scene.title for scene in scenes), subject.picture.id, subject.setup)
    minutes = sum(scene.minutes for scene in scenes)
    if st.button("Make slides of this plan", icon=":material/slideshow:", key="make_slides", disabled=not scenes):
        with st.spinner("Playing the scenes of the plan on your picture"):
            state.slides = (slides_key, slides(subject, scenes, f"Attention in {minutes} minutes").encode())
    if state.get("slides", (None,))[0] == slides_key:
        data = state.slides[1]
        st.download_button(
            f"One file, {len(data) / 2**20:.1f} MB", data, f"attention-{minutes}.html", "text/html",
            on_click="ignore", icon=":material/download:",
        )  # fmt: skip
    st.caption(
        "Each slide holds its living scene, about your picture. Any browser shows them, also without a network: → or a "
        "clicker goes on, N shows notes for who speaks."
    )
