"""The guesses of a class, counted, as a table (CSV). A round that is still open is left out."""

from __future__ import annotations

import csv
import io

from playground.serving.classes import ASKS, Class, Question


def counts_table(group: Class, language: str) -> str:
    file = io.StringIO()
    table = csv.writer(file)
    table.writerow(("scene", "question", "picture", "round", "guess", "people", "answer"))
    for question in sorted([*group.earlier_questions, *group.questions.values()], key=lambda asked: asked.number):
        answer = "" if question.truth is None else _words(question, str(question.truth), language)
        counts = question.counts()
        for round_number, people_of_guess in enumerate(counts[:-1] if question.phase == ASKS else counts, 1):
            for guess, people in sorted(people_of_guess.items(), key=lambda pair: (len(pair[0]), pair[0])):
                asks = _in_language(question.for_phones.get("asks"), language)
                words = _words(question, guess, language)
                table.writerow((question.scene, asks, question.about, round_number, words, people, answer))
    return file.getvalue()


def _words(question: Question, guess: str, language: str) -> str:
    """A guess as people read it; a place is (row, column), counted from 0."""
    if question.kind == "Place":
        return str(divmod(int(guess), question.asked("columns")))
    options = question.asked("options")
    return _in_language(dict(options)[guess], language) if isinstance(options, list) else guess


def _in_language(texts: object, language: str) -> str:
    return str(texts.get(language) or texts.get("en") or "") if isinstance(texts, dict) else str(texts or "")
