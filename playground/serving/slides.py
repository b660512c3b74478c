"""Makes slides of a plan: one file with the interactive story about the chosen picture, drawings and questions of
lessons, and questions of the quiz."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from typing import Any

from playground import samples
from playground.figures import teaching as printed
from playground.figures.bundle import drawing_module, stylesheet
from playground.lessons import teaching
from playground.lessons.registry import LESSONS
from playground.serving import figure_words, queue, site_files
from playground.serving.here import Here
from playground.serving.lesson_scripts import SCRIPTS

QUIZ_SLIDES = 5  # number of quiz questions on the slides, as the plan's text says
SHOWN_KINDS = ("ask", "drawing", "choice", "slider")  # kinds of a lesson's parts that slides show
MOST_BYTES = 12 * 2**20  # if all layers have more bytes, the file holds only the layer at which the picture opens


def quiz_step(number: int, question: teaching.QuizQuestion) -> dict[str, Any]:
    """A quiz question in the form that lessons/host.js shows."""
    options = [(str(n), words) for n, words in enumerate(question.options)]
    guess: dict[str, object] = {
        "id": f"quiz_{number}", "asks": question.asks, "prose": "", "picture": None, "says": question.why,
        "guess": {"kind": "Choice", "options": options}, "truth": str(question.right), "tempting": [],
    }  # fmt: skip
    return {"settings": {}, "parts": [{"kind": "ask", "question": guess, "context": "slides", "afresh": True}]}


def lesson_step(subject: Any, scene: teaching.Scene, files: dict[str, str]) -> dict[str, Any]:
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
            drawing_module(script.file, script.mounts), stylesheet(*script.styles), script.box, script.look
        )
        for name, script in SCRIPTS.items()
    }


def without_rows(parts: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The parts, with each row replaced by the parts in it."""
    for part in parts:
        if part["kind"] == "row":
            question_before = {name: part[name] for name in ("after",) if name in part}
            yield from (inner_part | question_before for inner_part in without_rows(part["parts"]))
        else:
            yield part


def kind_of(part: dict[str, Any]) -> str:
    return next(iter(part["of"].values()))["kind"] if part["kind"] == "each" else part["kind"]


def living_page(subject: Here) -> str:
    """The HTML of the interactive story about the person's picture, in the view in which the picture opens."""
    from playground.figures import html

    trace, sample = subject.trace(), samples.find(subject.sample_name or "")
    opening_view = figure_words.as_typed(
        figure_words.description(figure_words.FigureSubject(subject.picture, subject.setup), {})
    )
    all_layers_fit = 2 * len(trace.record) * trace.heads * trace.tokens * trace.head_dim <= MOST_BYTES
    story = {
        "place": {"model": subject.model_name} | ({"sample": sample.name} if sample else {}),
        "model": subject.model_name,
        "parts": [{"kind": region.kind, "box": region.box} for region in sample.parts] if sample else [],
    }  # fmt: skip
    with queue.figures().take():
        spec = html.with_layers_that_fit(replace(opening_view, all_layers=all_layers_fit), trace)
        return html.story(spec, trace, subject.picture.image, story)


def trace_files(subject: Here) -> dict[str, str]:
    """The files from which slides compute what lessons say of the picture (the source in lessons/slides.js)."""
    trace, sample = subject.trace(), samples.find(subject.sample_name or "")
    record: dict[str, object] = {"id": subject.identity, "model": subject.model_name, "grid": trace.grid}
    record["picture"] = {"start": sample and sample.start}
    files = {f"layer {layer}": trace.to_bytes([layer]) for layer in range(trace.layers)}
    files |= {"picture": subject.jpeg, "trace": json.dumps(record).encode()}
    return {name: b64encode(data).decode() for name, data in files.items()}


def slides(subject: Here, scenes: Iterable[teaching.Scene], title: str) -> str:
    deck, minute = list[printed.Slide](), 0
    files: dict[str, str] = {}
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
    if '"made":' in json.dumps([slide.lesson for slide in deck]):
        files |= trace_files(subject)
    story = living_page(subject) if any(scene.story for scene in scenes) else ""
    sample = samples.find(subject.sample_name or "")
    return printed.page(title, printed.Deck(deck, mounted_scripts(), story, files, sample.credit if sample else ""))
