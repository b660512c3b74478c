"""A plan's scenes as slides in one file: the living story on one's own picture, what lessons draw and ask of it, and
questions of the quiz."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256

import streamlit as st

from playground import samples
from playground.figures import teaching as printed
from playground.lessons import teaching
from playground.lessons.registry import LESSONS
from playground.serving import figure_words, lesson_files, queue
from playground.serving.here import Here

QUIZ = 5  # questions of the quiz: the plan speaks of so many
SHOWN = ("ask", "drawing", "choice", "slider")  # of a lesson's step: what a room sees of it
MOST_BYTES = 12 * 2**20  # of all layers' numbers in the file; more of them than that: the opening one alone
state = st.session_state


def of_the_quiz(number: int, question: teaching.Question) -> dict:
    """As lessons/host.js plays it."""
    options = [(str(n), words) for n, words in enumerate(question.options)]
    asked = {
        "id": f"quiz_{number}", "asks": question.asks, "prose": "", "picture": None, "says": question.why,
        "guess": {"kind": "Choice", "options": options}, "truth": str(question.right), "tempting": [],
    }  # fmt: skip
    return {"settings": {}, "parts": [{"kind": "ask", "question": asked, "context": "slides", "afresh": True}]}


def of_a_lesson(here: Here, scene: teaching.Scene, files: dict[str, str]) -> dict:
    """What the step of a lesson draws and asks; the `files` that its drawings read are added."""
    lesson = LESSONS[scene.page]
    name = scene.words.get("step", next(iter(lesson.steps)))

    def keep(data: bytes) -> str:
        file = f"{sha256(data).hexdigest()[:16]}.bin"
        files[file] = b64encode(data).decode()
        return file

    settings = lesson_files.settings_of(lesson)
    for setting, told in settings.items():
        told["now"] = scene.words.get(setting, told["default"])
    played = lesson_files.played_ahead(lesson, lesson.steps[name], here, keep)
    return {"settings": settings, "parts": [part for part in flat(played) if kind_of(part) in SHOWN]}


def flat(parts: Iterable[dict]) -> Iterator[dict]:
    """Without rows: what stands in one comes one after the other."""
    for part in parts:
        if part["kind"] == "row":
            held = {name: part[name] for name in ("after",) if name in part}  # until its question was guessed
            yield from (one | held for one in flat(part["parts"]))
        else:
            yield part


def kind_of(part: dict) -> str:
    return next(iter(part["of"].values()))["kind"] if part["kind"] == "each" else part["kind"]


def living(here: Here) -> str:
    """The story about the picture, as it opens for whoever has turned nothing yet."""
    from playground.figures import html

    seen, named = here.trace(), here.sample_name
    opens = figure_words.as_typed(figure_words.description(figure_words.Shown(here.picture, here.wish), {}))
    fits = 2 * len(seen.record) * seen.heads * seen.tokens * seen.head_dim <= MOST_BYTES
    told = {
        "place": {"model": here.model_name} | ({"sample": named} if named else {}), "model": here.model_name,
        "parts": [{"kind": one.kind, "box": one.box} for one in samples.named(named).parts] if named else [],
    }  # fmt: skip
    with queue.drawing():
        spec = replace(opens, layers="all") if fits else html.light(opens, seen)
        return html.story(spec, seen, here.picture.image, told)


def made(here: Here, scenes: Iterable[teaching.Scene], title: str) -> str:
    slides, at, files = [], 0, {}
    scenes = list(scenes)
    for scene in scenes:
        minutes = f"minute {at} to {at + scene.minutes}"
        at += scene.minutes
        if scene.story:
            slides.append(printed.Slide(scene.title, minutes, scene.do, story=scene.story))
        elif scene.page == "teach":
            quiz = teaching.quiz()
            chosen = [quiz[round(n * (len(quiz) - 1) / (QUIZ - 1))] for n in range(QUIZ)]
            for number, question in enumerate(chosen, start=1):
                name, lesson = f"{scene.title}: {number} of {QUIZ}", of_the_quiz(number, question)
                slides.append(printed.Slide(name, minutes, scene.do, lesson=lesson))
        else:
            slides.append(printed.Slide(scene.title, minutes, scene.do, lesson=of_a_lesson(here, scene, files)))
    story = living(here) if any(scene.story for scene in scenes) else ""
    return printed.page(title, printed.Deck(slides, story, files))


def offer(here: Here, scenes: list[teaching.Scene]) -> None:
    about = (tuple(scene.title for scene in scenes), here.picture.id, here.wish)
    minutes = sum(scene.minutes for scene in scenes)
    if st.button("Make slides of this plan", icon=":material/slideshow:", key="make_slides", disabled=not scenes):
        with st.spinner("Playing the scenes of the plan on your picture"):
            state.slides = (about, made(here, scenes, f"Attention in {minutes} minutes").encode())
    if state.get("slides", (None,))[0] == about:
        data = state.slides[1]
        st.download_button(
            f"One file, {len(data) / 2**20:.1f} MB", data, f"attention-{minutes}.html", "text/html",
            on_click="ignore", icon=":material/download:",
        )  # fmt: skip
    st.caption(
        "Each slide holds its living scene, about your picture. Any browser shows them, also without a network: → or a "
        "clicker goes on, N shows notes for who speaks."
    )
